/**
 * Applies patches to a turn. The result equals the server's turn, member by member. Patches alone report the end of a turn and
 * of its calls; turn:end adds usage, timing and the error.
 */
import type { ContentBlock, Patch, ToolCall, Turn } from './types.js';

const block = (
  type: string, content: unknown, call?: Pick<ToolCall, 'id' | 'tool_name' | 'display_name'>,
): ContentBlock => ({
  type,
  content,
  tool_call_id: call?.id ?? null,
  tool_name: call?.tool_name ?? null,
  display_name: call?.display_name ?? null,
});

const has = (data: object, key: string): boolean => Object.hasOwn(data, key);

/** Text extends the block that it names, or the last one if that has the same type; else it starts a new block. */
function addText(turn: Turn, data: Record<string, unknown>): void {
  const type = String(data.type);
  const index = typeof data.block_index === 'number' ? data.block_index : turn.blocks.length - 1;
  let open = turn.blocks[index];
  if (!open || open.type !== type) {
    open = block(type, '');
    turn.blocks.push(open);
  }
  open.content = has(data, 'content')
    ? data.content
    : String(open.content) + String(data.text_delta);
}

function addContent(turn: Turn, data: Record<string, unknown>): void {
  if (has(data, 'text_delta')) {
    addText(turn, data);
    return;
  }
  turn.blocks.push({
    type: String(data.type),
    content: data.content ?? null,
    tool_call_id: (data.tool_call_id as string | undefined) ?? null,
    tool_name: (data.tool_name as string | undefined) ?? null,
    display_name: (data.display_name as string | undefined) ?? null,
  });
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function addToolCall(turn: Turn, data: Record<string, unknown>): void {
  const id = String(data.id);
  const known = turn.tool_calls.find((call) => call.id === id);
  if (known) {
    Object.assign(known, data);
    return;
  }
  const call: ToolCall = {
    id,
    tool_name: String(data.tool_name),
    display_name: String(data.display_name ?? data.tool_name),
    arguments: String(data.arguments ?? ''),
    status: (data.status as ToolCall['status'] | undefined) ?? 'pending',
    result: data.result ?? null,
    duration_ms: (data.duration_ms as number | undefined) ?? null,
    pending_question_ref: data.pending_question_ref ?? null,
  };
  turn.tool_calls.push(call);
  turn.blocks.push(block('tool_use',
    { id, name: call.tool_name, input: parseArguments(call.arguments) }, call));
}

const isTerminal = (call: ToolCall): boolean =>
  call.status === 'done' || call.status === 'error' || call.status === 'cancelled';

/** The first terminal result counts; cards and page actions become separate blocks. */
function toolResult(turn: Turn, data: Record<string, unknown>): void {
  const call = turn.tool_calls.find((candidate) => candidate.id === data.tool_call_id);
  if (!call || isTerminal(call)) return;
  call.status = (data.status as ToolCall['status'] | undefined) ?? 'done';
  call.result = data.result ?? null;
  call.duration_ms = (data.duration_ms as number | undefined) ?? null;
  call.pending_question_ref = null;
  turn.blocks.push(block('tool_result', call.result, call));
  const meta = (call.result as { _meta?: { ui?: unknown; bridge?: unknown } } | null)?._meta;
  if (meta?.ui !== undefined) turn.blocks.push(block('tool_ui', meta.ui, call));
  if (meta?.bridge !== undefined) turn.blocks.push(block('tool_bridge', meta.bridge, call));
}

function setToolStatus(turn: Turn, data: Record<string, unknown>): void {
  const call = turn.tool_calls.find((candidate) => candidate.id === data.tool_call_id);
  if (!call || isTerminal(call)) return;
  call.status = data.status as ToolCall['status'];
  if (has(data, 'pending_question_ref')) call.pending_question_ref = data.pending_question_ref;
  if (data.runs === 'client') call.runs = 'client';
}

export function applyPatch(turn: Turn, patch: Patch): void {
  switch (patch.patch_type) {
    case 'add_content': return addContent(turn, patch.data);
    case 'add_tool_call': return addToolCall(turn, patch.data);
    case 'tool_result': return toolResult(turn, patch.data);
    case 'set_tool_status': return setToolStatus(turn, patch.data);
    case 'set_status': turn.status = patch.data.status as Turn['status'];
  }
}
