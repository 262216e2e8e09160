/** The blocks of a turn as drawn: calls made together in one bracket, a result in the card of its call, a plan as one band. */
import type { ContentBlock, ToolCall, Turn } from '@parley/client';

export type Drawn =
  | { as: 'text' | 'thinking' | 'notification' | 'mode' | 'answer' | 'media' | 'unknown'; key: number; block: ContentBlock }
  | { as: 'tools'; key: number; calls: ToolCall[] }
  | { as: 'card' | 'bridge'; key: number; block: ContentBlock }
  | { as: 'plan'; key: number; items: { key: number; block: ContentBlock }[]; isOpen: boolean; inner: Drawn[] };

const simple: Record<string, 'text' | 'thinking' | 'notification' | 'mode' | 'answer' | 'media'> = {
  text: 'text', thinking: 'thinking', system_notification: 'notification', mode_change: 'mode', ask_user_answer: 'answer', media: 'media',
};
/** Tools whose effect is a block of its own (question, band, checklist), so they get no card. */
const silent = new Set(['AskUserQuestion', 'plan_status', 'planning_enter', 'planning_exit', 'PlanStatus', 'EnterPlanMode', 'ExitPlanMode']);

export function draw(turn: Turn): Drawn[] {
  const out: Drawn[] = [];
  let into = out;
  let plan: Extract<Drawn, { as: 'plan' }> | null = null;
  const drawnCalls = new Set<string>();
  const beginPlan = (key: number): Extract<Drawn, { as: 'plan' }> => {
    plan = { as: 'plan', key, items: [], isOpen: true, inner: [] };
    out.push(plan);
    into = plan.inner;
    return plan;
  };
  turn.blocks.forEach((block, key) => {
    const kind = simple[block.type];
    if (kind) {
      if (kind === 'text' && block.content === '') return;
      into.push({ as: kind, key, block });
    } else if (block.type === 'tool_use') {
      const id = block.tool_call_id ?? (block.content as { id?: string } | null)?.id ?? '';
      const call = turn.tool_calls.find((c) => c.id === id) ?? fromBlock(block, id);
      drawnCalls.add(id);
      if (silent.has(call.tool_name) && call.status !== 'error') return;
      const last = into[into.length - 1];
      if (last?.as === 'tools') last.calls.push(call);
      else into.push({ as: 'tools', key, calls: [call] });
    } else if (block.type === 'tool_result') {
      const id = block.tool_call_id ?? '';
      if (drawnCalls.has(id)) return;
      drawnCalls.add(id);
      into.push({ as: 'tools', key, calls: [turn.tool_calls.find((c) => c.id === id) ?? { ...fromBlock(block, id), status: 'done', result: block.content }] });
    } else if (block.type === 'tool_ui') into.push({ as: 'card', key, block });
    else if (block.type === 'tool_bridge') into.push({ as: 'bridge', key, block });
    else if (block.type === 'planning_enter') beginPlan(key);
    else if (block.type === 'planning_exit') {
      (plan ?? beginPlan(key)).isOpen = false;
      plan = null;
      into = out;
    } else if (block.type === 'plan_status') (plan ?? beginPlan(key)).items.push({ key, block });
    else into.push({ as: 'unknown', key, block });
  });
  /* calls that no block names: after the others, with keys that no block has */
  turn.tool_calls.forEach((call, i) => { if (!drawnCalls.has(call.id) && !silent.has(call.tool_name)) out.push({ as: 'tools', key: -1 - i, calls: [call] }); });
  return out;
}

function fromBlock(block: ContentBlock, id: string): ToolCall {
  const content = (block.content ?? {}) as { name?: string; input?: unknown };
  return {
    id, tool_name: block.tool_name ?? content.name ?? '?', display_name: block.display_name ?? block.tool_name ?? content.name ?? '?',
    arguments: JSON.stringify(content.input ?? {}), status: 'done', result: null, duration_ms: null, pending_question_ref: null,
  };
}

export interface Step { title: string; state: 'done' | 'now' | 'todo' | 'failed' }
const stepStates: Record<string, Step['state']> = {
  done: 'done', completed: 'done', complete: 'done', finished: 'done', in_progress: 'now', running: 'now', active: 'now', current: 'now', doing: 'now', failed: 'failed', error: 'failed', cancelled: 'failed',
};
export function planOf(content: unknown): { title: string; steps: Step[] } {
  const c = (content && typeof content === 'object' ? content : {}) as Record<string, unknown>;
  const list = [c.steps, c.items, c.todos, c.plan].find(Array.isArray) as unknown[] | undefined;
  return {
    title: String(c.title ?? c.name ?? ''),
    steps: (list ?? []).map((s) => {
      const step = (s && typeof s === 'object' ? s : { title: String(s) }) as Record<string, unknown>;
      return { title: String(step.title ?? step.content ?? step.text ?? step.step ?? step.id ?? ''), state: stepStates[String(step.status ?? step.state ?? '')] ?? 'todo' };
    }),
  };
}

export function firstArgument(call: ToolCall): string {
  try {
    const value = JSON.parse(call.arguments) as unknown;
    /* a call that delegates work describes it in a few words */
    const { description } = (value ?? {}) as { description?: unknown };
    const first = typeof description === 'string' && description ? description : value && typeof value === 'object' ? Object.values(value)[0] : value;
    return typeof first === 'string' ? first.replace(/\s+/g, ' ').slice(0, 160) : first === undefined ? '' : JSON.stringify(first).slice(0, 160);
  } catch {
    return call.arguments.slice(0, 160);
  }
}

/** The task of a helper, from the short description in its call. */
export function laneName(call: ToolCall): string {
  try {
    const { description, prompt } = JSON.parse(call.arguments) as { description?: string; prompt?: string };
    return (description || prompt || call.display_name).slice(0, 120);
  } catch {
    return call.display_name;
  }
}

export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** The known ones of ttft, total, tokens and cost of a turn. */
export function statsOf(turn: Turn): { ttft: number | null; total: number | null; input: number | null; output: number | null; cached: number | null; cost: number | null } {
  const timing = (turn.timing ?? {}) as Record<string, unknown>;
  const usage = (turn.usage ?? {}) as Record<string, unknown>;
  return {
    ttft: numberOf(timing.ttft_ms), total: numberOf(timing.total_ms), cost: numberOf(timing.cost_usd ?? timing.cost),
    input: numberOf(usage.input_tokens), output: numberOf(usage.output_tokens), cached: numberOf(usage.cached_tokens ?? usage.cache_read_input_tokens),
  };
}
