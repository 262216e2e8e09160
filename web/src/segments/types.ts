/** An envelope as in seed 000; unknown kinds are accepted. */
export interface Segment { kind: string; [member: string]: unknown }
export interface Message { id?: string; role: string; segments: Segment[]; timestamp?: number; [member: string]: unknown }
export interface Envelope { version?: string; model?: string; messages: Message[]; [member: string]: unknown }

export const kinds = ['text', 'static_var', 'system_prompt', 'memory', 'skills', 'tool_overview', 'tool_call_request', 'tool_call_result',
  'document', 'long_text', 'media'] as const;
export type Kind = typeof kinds[number] | 'unknown';
export const kindOf = (segment: Segment): Kind => ((kinds as readonly string[]).includes(segment.kind) ? segment.kind as Kind : 'unknown');

/** Which parts of a variable are shown; the V key cycles through them. */
export type VarMode = 'both' | 'names' | 'values';

/** Guesses the language of a piece of content for its `lang`, which selects the shapes of its characters. */
export function langOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const sample = text.slice(0, 400);
  if (/[\u3040-\u30ff]/.test(sample)) return 'ja';
  if (/[\uac00-\ud7af]/.test(sample)) return 'ko';
  return /[\u4e00-\u9fff]/.test(sample) ? 'zh-CN' : /[a-z]{3}/i.test(sample) ? 'en' : undefined;
}

export interface TextPiece { text: string; name?: string }

/** Splits a text at its `{{names}}`. */
export function cutVars(text: string): TextPiece[] {
  const out: TextPiece[] = [];
  let last = 0;
  for (const match of text.matchAll(/\{\{\s*([\p{L}\p{N}_.-]+)\s*\}\}/gu)) {
    if (match.index > last) out.push({ text: text.slice(last, match.index) });
    out.push({ text: match[0], name: match[1] });
    last = match.index + match[0].length;
  }
  if (last < text.length || !out.length) out.push({ text: text.slice(last) });
  return out;
}
