/**
 * The contents of the layer behind a block's text: variables, fenced code, inline code, and lint findings. The joined pieces
 * equal the text, character for character, because the layer must break lines where the field does.
 */
import { spots } from './variables';

export type Mark = 'text' | 'var' | 'missing' | 'fence' | 'code' | 'lint';
export interface Piece { mark: Mark; text: string; from: number; /** The index of its fenced block; -1: none. */ fence: number }

interface Span { from: number; to: number; mark: Mark }

/** Fenced code blocks including the end of the last line; an open one extends to the end of the text. */
function fences(text: string): Span[] {
  const result: Span[] = [];
  const fence = /^[ ]{0,3}(`{3,}|~{3,})[^\n]*$/gm;
  let open: { from: number; sign: string } | null = null;
  for (let found = fence.exec(text); found; found = fence.exec(text)) {
    const sign = found[1]!;
    if (!open) open = { from: found.index, sign };
    else if (sign[0] === open.sign[0] && sign.length >= open.sign.length) {
      result.push({ from: open.from, to: Math.min(text.length, found.index + found[0].length + 1), mark: 'fence' });
      open = null;
    }
  }
  if (open) result.push({ from: open.from, to: text.length, mark: 'fence' });
  return result;
}

const CODE = /`[^`\n]+`/g;

/** `isKnown` tells whether a variable has a value. */
export function pieces(text: string, isKnown: (name: string) => boolean = () => true, lint: readonly { from: number; to: number }[] = []): Piece[] {
  const spans: Span[] = [];
  const isFree = (from: number, to: number): boolean => spans.every((one) => to <= one.from || from >= one.to);
  for (const spot of spots(text)) spans.push({ from: spot.from, to: spot.to, mark: isKnown(spot.name) ? 'var' : 'missing' });
  for (const one of lint) if (one.to > one.from && isFree(one.from, one.to)) spans.push({ ...one, mark: 'lint' });
  const blocks = fences(text);
  for (const found of text.matchAll(CODE)) {
    const [from, to] = [found.index, found.index + found[0].length];
    if (isFree(from, to) && blocks.every((one) => to <= one.from || from >= one.to)) spans.push({ from, to, mark: 'code' });
  }
  // A fenced block is split around the variables and findings inside it.
  for (const one of blocks) {
    let at = one.from;
    for (const cut of spans.filter((other) => other.from >= one.from && other.to <= one.to).sort((x, y) => x.from - y.from)) {
      if (cut.from > at) spans.push({ from: at, to: cut.from, mark: 'fence' });
      at = cut.to;
    }
    if (one.to > at) spans.push({ from: at, to: one.to, mark: 'fence' });
  }
  spans.sort((x, y) => x.from - y.from);
  const result: Piece[] = [];
  let at = 0;
  const add = (mark: Mark, from: number, to: number): void => { result.push({ mark, text: text.slice(from, to), from, fence: blocks.findIndex((one) => from >= one.from && from < one.to) }); };
  for (const one of spans) {
    if (one.from < at) continue;
    if (one.from > at) add('text', at, one.from);
    add(one.mark, one.from, one.to);
    at = one.to;
  }
  if (at < text.length) add('text', at, text.length);
  return result;
}

/** Groups pieces into runs: each fenced block is drawn as one sheet, as wide as the block. */
export function runs(all: readonly Piece[]): { isSheet: boolean; pieces: Piece[] }[] {
  const result: { isSheet: boolean; pieces: Piece[] }[] = [];
  for (const piece of all) {
    const last = result.at(-1);
    if (last && last.pieces[0]!.fence === piece.fence) last.pieces.push(piece);
    else result.push({ isSheet: piece.fence >= 0, pieces: [piece] });
  }
  return result;
}

/** Whether a text contains Chinese or Japanese characters; its `lang` depends on this. */
export const isCjk = (text: string): boolean => /[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]/.test(text);
