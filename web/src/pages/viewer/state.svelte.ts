/** The state of the Viewer: one text, what the server read from it, and the losses of its conversion. */
import type { Problem, Schemas } from '@parley/client';
import { indent, Lines, scan, type Scan } from '$/lib/json';
import { shownName } from '$/lib/names';
import type { Envelope, Message, Segment } from '$/segments/types';
import type { PdfSource } from '$/state/pdf.svelte';
import { keep } from '$/state/prefs.svelte';
import { problemOf, server } from '$/state/server.svelte';
import { t } from '$/state/words.svelte';
import { pdfIn } from './pdf';

export interface Loss { code: string; pointer: string; detail: string; [member: string]: unknown }
export interface LossGroup { key: string; code: string; detail: string; pattern: string; pointers: string[] }
export type Flaw = Omit<Schemas['Validated']['errors'][number], 'keyword'>;
type Converted = Omit<Schemas['Converted'], 'report'> & { report?: { losses: Loss[]; lossless: boolean } };

export const formats = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'harmony', 'envelope', 'structured-chat', 'turns'];

/** Replaces indices by `*`, so that the same loss at many places is one row. */
const pattern = (pointer: string): string => pointer.replace(/\/\d+(?=\/|$)/g, '/*');

/** Dropped values come first, added ones last. */
const weights = ['dropped', 'approximated', 'merged', 'reordered', 'moved', 'synthesised'];
const weight = (code: string): number => (weights.indexOf(code) + weights.length + 1) % (weights.length + 1);

export function group(losses: Loss[]): LossGroup[] {
  const rows = new Map<string, LossGroup>();
  for (const loss of losses) {
    const of = pattern(loss.pointer);
    const key = `${loss.code}\n${loss.detail}\n${of}`;
    const row = rows.get(key);
    if (row) row.pointers.push(loss.pointer);
    else rows.set(key, { key, code: loss.code, detail: loss.detail, pattern: of, pointers: [loss.pointer] });
  }
  return [...rows.values()].sort((a, b) => weight(a.code) - weight(b.code) || b.pointers.length - a.pointers.length);
}

/** Assigns counts to segments. Adjacent text and variables count as one part; tools are counted for the whole document. */
function perSegment(message: Message | undefined, parts: readonly number[]): (number | undefined)[] {
  let at = -1;
  let isText = false;
  const result = (message?.segments ?? []).map((segment) => {
    const wasText = isText;
    isText = segment.kind === 'text' || segment.kind === 'static_var';
    if (segment.kind === 'tool_overview') return undefined;
    if (!(isText && wasText)) at++;
    return parts[at];
  });
  return at + 1 === parts.length ? result : [];
}

interface Recent { name: string; text: string }

class Viewer {
  name = $state('');
  text = $state.raw('');
  /** The source as shown: on many lines. */
  shown = $state.raw('');
  lines: Lines = $state.raw(new Lines(''));
  scan: Scan = $state.raw(scan('null'));
  format: string | null = $state(null);
  flaws: Flaw[] = $state.raw([]);
  envelope: Envelope | null = $state.raw(null);
  isRest = $state(false);
  problem: Problem | null = $state.raw(null);
  isBusy = $state(false);
  target = $state(keep.get('viewer.target', 'anthropic'));
  converted: Converted | null = $state.raw(null);
  convertProblem: Problem | null = $state.raw(null);
  tokens: Schemas['Counted'] | null = $state.raw(null);
  /** Tokens of each segment of the envelope, message by message. */
  parts: (number | undefined)[][] = $state.raw([]);
  recent: Recent[] = $state.raw(keep.get<Recent[]>('viewer.recent', []));
  marked: string | null = $state(null);
  chosen: string | null = $state(null);
  #reading = 0;

  get groups(): LossGroup[] { return this.#groups; }
  #groups = $derived(group(this.converted?.report?.losses ?? []));
  /** Maps pointers of the source to places in the envelope; unused if the source is an envelope. */
  #envelopeMap: { from: string; to: string }[] = $state.raw([]);
  #toEnvelope = $derived(new Map(this.#envelopeMap.map(({ from, to }) => [from, to])));

  /** The place in the envelope that shows a pointer of the source: the nearest known place that contains it. */
  place(pointer: string): string | null {
    if (this.format === 'envelope') return pointer;
    for (let at = pointer; at; at = at.slice(0, at.lastIndexOf('/'))) {
      const to = this.#toEnvelope.get(at);
      if (to !== undefined) return to;
    }
    return null;
  }

  /** The source as data, for values that the envelope does not contain. */
  #data = $derived.by((): unknown => { try { return JSON.parse(this.isRest ? this.scan.rest : this.text); } catch { return null; } });
  #fromEnvelope = $derived(new Map(this.#envelopeMap.map(({ from, to }) => [to, from])));

  /** The PDF of a document segment: its bytes are only in the source. */
  pdfOf(pointer: string, segment: Segment): PdfSource | null {
    return pdfIn(this.#data, this.format === 'envelope' ? pointer : this.#fromEnvelope.get(pointer), segment);
  }

  /** Losses that belong to a segment of the envelope. */
  counts = $derived.by(() => {
    const counts = new Map<string, number>();
    for (const loss of this.converted?.report?.losses ?? []) {
      const at = /^\/messages\/\d+\/segments\/\d+/.exec(this.place(loss.pointer) ?? '')?.[0];
      if (at) counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    return counts;
  });

  open(text: string, name: string): void {
    this.name = shownName(name);
    this.text = text;
    this.envelope = null;
    this.format = null;
    this.converted = null;
    this.parts = [];
    this.marked = null;
    this.chosen = null;
    const found = scan(text);
    const isWide = found.brokenAt < 0 && text.length > 200 && Math.max(...text.split('\n', 50).map((l) => l.length)) > 400;
    this.shown = isWide ? indent(text) : text;
    this.lines = new Lines(this.shown);
    this.scan = isWide ? scan(this.shown) : found;
    if (text.length < 100_000) {
      this.recent = [{ name: this.name, text }, ...this.recent.filter((r) => r.name !== this.name)].slice(0, 8);
      keep.set('viewer.recent', this.recent);
    }
    void this.read();
  }

  /** Detects, validates, shows as an envelope, converts. Each step reports its own problem. */
  async read(from?: string): Promise<void> {
    const turn = ++this.#reading;
    this.isBusy = true;
    this.problem = null;
    this.flaws = [];
    this.isRest = false;
    let text = this.text;
    try {
      if (this.scan.brokenAt >= 0 && /^\s*[[{]/.test(text)) {
        /* not JSON: the server reports what it expected; the text before the error is shown */
        const { errors } = await server.json<{ errors: Flaw[] }>('POST', '/api/validate', { document: text, as: 'envelope' });
        const at = this.lines.of(this.scan.brokenAt);
        this.flaws = errors.length ? errors.slice(0, 1)
          : [{ line: at + 1, column: this.scan.brokenAt - this.lines.starts[at]! + 1, pointer: '', message: t('v.notjson') }];
        text = this.scan.rest;
        this.isRest = true;
      }
      const format = from ?? (await server.json<Schemas['Detected']>('POST', '/api/detect', { document: text })).format;
      if (turn !== this.#reading) return;
      this.format = format;
      if (!format) return;
      const [envelope, valid] = await Promise.all([
        this.#convert(text, 'envelope', { map: true }),
        /* gpt-oss text is not JSON and has no schema */
        format === 'gpt-oss' ? { errors: [] } : server.json<{ errors: Flaw[] }>('POST', '/api/validate', { document: text, as: format }).catch(() => ({ errors: [] })),
      ]);
      if (turn !== this.#reading) return;
      if (!this.isRest) this.flaws = valid.errors;
      this.envelope = envelope.document as Envelope;
      this.#envelopeMap = envelope.map ?? [];
      void this.convert();
      const [tokens, counted] = await Promise.all([
        server.json<Schemas['Counted']>('POST', '/api/tokens', { document: text, as: format }).catch(() => null),
        server.json<Schemas['Counted']>('POST', '/api/tokens', { document: envelope.document, as: 'envelope', messages: true }).catch(() => null),
      ]);
      if (turn !== this.#reading) return;
      this.tokens = tokens;
      this.parts = counted?.by_message?.map((one, i) => perSegment(this.envelope!.messages[i], one.parts)) ?? [];
    } catch (error) {
      if (turn === this.#reading) this.problem = problemOf(error);
    } finally {
      if (turn === this.#reading) this.isBusy = false;
    }
  }

  #convert(text: string, to: string, more: object = {}): Promise<Converted> {
    return server.json('POST', '/api/convert', { document: text, from: this.format, to, ...more });
  }

  async convert(): Promise<void> {
    keep.set('viewer.target', this.target);
    this.convertProblem = null;
    this.marked = null;
    this.chosen = null;
    try {
      this.converted = await this.#convert(this.isRest ? this.scan.rest : this.text, this.target);
    } catch (error) {
      this.converted = null;
      this.convertProblem = problemOf(error);
    }
  }

  async carry(): Promise<unknown> {
    return (await this.#convert(this.text, this.target, { carry: true })).carry;
  }

  choose(row: LossGroup | null, pointer?: string): void {
    this.chosen = row?.key ?? null;
    const at = pointer ?? row?.pointers[0];
    this.marked = at === undefined ? null : at;
  }

  /** The lines of the source that a pointer refers to. */
  linesOf(pointer: string): [number, number] | null {
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
      const range = this.scan.at.get(at);
      if (range) return [this.lines.of(range.from), this.lines.of(Math.max(range.from, range.to - 1))];
      if (!at) return null;
    }
  }

  close(): void {
    this.name = '';
    this.text = '';
    this.envelope = null;
    this.converted = null;
    this.problem = null;
    this.flaws = [];
    this.format = null;
  }
}

export const viewer = new Viewer();
