/**
 * Runs of the draft, one column per model. One request, whose answer is a stream of events, each with the index of its
 * model; stopping one model leaves the others at work.
 *
 * status:  waiting → streaming → done | failed | stopped
 */
import { ProblemError, type Problem } from '@parley/client';
import { frame } from '$/state/frame.svelte';
import { problemOf, server } from '$/state/server.svelte';
import { t } from '$/state/words.svelte';
import { countWords } from '../model/words';

export type RunStatus = 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';

export interface Column {
  model: string;
  status: RunStatus;
  runId: string | null;
  text: string;
  thinking: string;
  calls: string[];
  startedAt: number;
  firstMs: number | null;
  totalMs: number | null;
  thoughtMs: number | null;
  input: number | null;
  output: number | null;
  cached: number | null;
  cost: number | null;
  problem: Problem | null;
}

const fresh = (model: string): Column => ({
  model, status: 'waiting', runId: null, text: '', thinking: '', calls: [], startedAt: performance.now(), firstMs: null, totalMs: null, thoughtMs: null, input: null, output: null, cached: null, cost: null, problem: null,
});

interface Event { event: string; data: Record<string, unknown> }

/** Reads the events of a stream; the rest is cancelled when the consumer stops. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let text = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += read.value;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const lines = part.split('\n');
        const field = (name: string): string => lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n');
        if (field('event')) yield { event: field('event'), data: JSON.parse(field('data') || '{}') as Record<string, unknown> };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

export class Runner {
  columns: Column[] = $state([]);
  #abort: AbortController | null = null;
  /** Text received since the last frame, by column: one DOM update for many words. */
  #pending = new Map<number, { text: string; thinking: string }>();
  #frame = 0;

  readonly isRunning = $derived(this.columns.some((one) => one.status === 'waiting' || one.status === 'streaming'));

  /** Shows one column per chosen model; existing answers stay. */
  show(models: readonly string[]): void {
    if (this.isRunning) return;
    if (this.columns.length === models.length && this.columns.every((one, i) => one.model === models[i])) return;
    this.columns = models.map((model) => this.columns.find((one) => one.model === model) ?? { ...fresh(model), status: 'done' as RunStatus });
  }

  /** Runs the draft with the models; with `only`, the answers of the other models stay. */
  async run(body: Record<string, unknown>, models: readonly string[], only: readonly string[] = models): Promise<void> {
    await this.stop();
    const abort = new AbortController();
    this.#abort = abort;
    this.columns = models.map((model) => (only.includes(model) ? fresh(model) : this.columns.find((one) => one.model === model) ?? { ...fresh(model), status: 'done' as RunStatus }));
    const places = only.map((model) => models.indexOf(model));
    frame.say(t('a.generating'));
    try {
      const response = await fetch('/api/run', {
        method: 'POST', credentials: 'same-origin', signal: abort.signal,
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...(server.me?.csrf ? { 'x-parley-csrf': server.me.csrf } : {}) },
        body: JSON.stringify({ ...body, models: only, stream: true }),
      });
      if (!response.ok) throw new ProblemError(await response.json() as Problem);
      for await (const event of events(response.body!)) this.#take(event, places);
      this.#flush();
      this.#end(null);
    } catch (error) {
      this.#flush();
      if ((error as Error).name !== 'AbortError') this.#end(problemOf(error));
    } finally {
      if (this.#abort === abort) this.#abort = null;
      this.#tell();
    }
  }

  #end(problem: Problem | null): void {
    for (const one of this.columns) {
      if (one.status !== 'waiting' && one.status !== 'streaming') continue;
      one.status = 'failed';
      one.problem = problem ?? { type: 'about:blank', title: t('wb.run.cut'), status: 0, code: 'cut', retryable: true };
      one.totalMs ??= performance.now() - one.startedAt;
    }
  }

  #tell(): void {
    const done = this.columns.filter((one) => one.status === 'done' && one.text);
    if (!this.isRunning && done.length) {
      frame.say(t('a.done', { n: done.reduce((sum, one) => sum + countWords(one.text), 0), t: done.reduce((sum, one) => sum + one.calls.length, 0) }));
    }
  }

  #take({ event, data }: Event, places: readonly number[]): void {
    const place = places[numberOf(data.index) ?? -1];
    const column = place === undefined ? undefined : this.columns[place];
    if (!column || place === undefined) return;
    if (event === 'run:start') column.runId = String(data.run_id ?? '') || null;
    if (column.status === 'stopped') return;
    if (event === 'run:text') {
      const one = this.#pending.get(place) ?? { text: '', thinking: '' };
      one[data.kind === 'thinking' ? 'thinking' : 'text'] += String(data.text ?? '');
      this.#pending.set(place, one);
      column.firstMs ??= performance.now() - column.startedAt;
      this.#frame ||= requestAnimationFrame(() => this.#flush());
    } else if (event === 'run:call') {
      column.calls.push(String(data.tool_name ?? ''));
      column.status = 'streaming';
    } else if (event === 'run:end') {
      this.#flush();
      this.#finish(column, data);
    }
  }

  #flush(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    for (const [place, piece] of this.#pending) {
      const column = this.columns[place];
      if (!column || column.status === 'stopped') continue;
      if (piece.thinking) column.thinking += piece.thinking;
      if (piece.text) {
        if (column.thinking && column.thoughtMs === null) column.thoughtMs = performance.now() - column.startedAt - (column.firstMs ?? 0);
        column.text += piece.text;
      }
      column.status = 'streaming';
    }
    this.#pending.clear();
  }

  #finish(column: Column, data: Record<string, unknown>): void {
    const timing = (data.timing ?? {}) as Record<string, unknown>;
    const usage = (data.usage ?? {}) as Record<string, unknown>;
    column.firstMs = numberOf(timing.ttft_ms) ?? column.firstMs;
    column.totalMs = numberOf(timing.total_ms) ?? performance.now() - column.startedAt;
    column.input = numberOf(usage.input_tokens);
    column.output = numberOf(usage.output_tokens);
    column.cached = numberOf(usage.cached_tokens);
    column.cost = numberOf(timing.cost_usd);
    column.status = data.status === 'failed' ? 'failed' : data.status === 'stopped' ? 'stopped' : 'done';
    const told = data.error as { code?: string; detail?: string } | null | undefined;
    if (column.status === 'failed') {
      column.problem = { type: 'about:blank', title: t('wb.run.failed', { model: column.model }), status: 0, code: told?.code ?? 'failed', retryable: true, ...(told?.detail ? { detail: told.detail } : {}) };
    }
  }

  /** Stops all models, or that of one column. */
  async stop(index?: number): Promise<void> {
    this.#flush();
    const open = this.columns.filter((one, i) => (index === undefined || i === index) && (one.status === 'waiting' || one.status === 'streaming'));
    if (!open.length) return;
    for (const one of open) {
      one.status = 'stopped';
      one.totalMs = performance.now() - one.startedAt;
    }
    if (!this.isRunning) this.#abort?.abort();
    else await Promise.all(open.filter((one) => one.runId).map((one) => server.json('POST', `/api/runs/${encodeURIComponent(one.runId!)}/stop`).catch(() => undefined)));
  }
}

/** It is still writing, or has not begun. */
export const isOpen = (one: Column): boolean => one.status === 'waiting' || one.status === 'streaming';
/** The model's name without its provider. */
export const nameOf = (model: string): string => model.slice(model.indexOf('/') + 1);

export interface Row { label: string; cells: { text: string; share: number; isBest: boolean }[] }

/** Bars are shares of the largest value; the smallest value is the best. */
export function compareRow(label: string, values: readonly (number | null)[], say: (value: number, i: number) => string): Row {
  const known = values.filter((one): one is number => one !== null);
  const most = Math.max(0, ...known);
  const least = Math.min(...known);
  return {
    label,
    cells: values.map((value, i) => (value === null ? { text: '—', share: 0, isBest: false }
      : { text: say(value, i), share: most > 0 ? value / most : 0, isBest: known.length > 1 && value === least && least < most })),
  };
}
