/** Words of a text and the difference between two texts: for counts, and to compare two answers. */
import { common } from './merge';

const cutter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter(undefined, { granularity: 'word' }) : null;

/** Words and the text between them; joined they equal the text. */
export const cut = (text: string): string[] =>
  (cutter ? [...cutter.segment(text)].map((one) => one.segment) : text.split(/(?<=\s)|(?=\s)/));

export const countWords = (text: string): number =>
  (cutter ? [...cutter.segment(text)].filter((one) => one.isWordLike).length : (text.match(/\S+/g) ?? []).length);

export interface Part { op: 'same' | 'added' | 'removed'; text: string }

export function differ(from: string, to: string): Part[] {
  const [a, b] = [cut(from), cut(to)];
  const parts: Part[] = [];
  const push = (op: Part['op'], text: string): void => {
    if (!text) return;
    const last = parts.at(-1);
    if (last?.op === op) last.text += text; else parts.push({ op, text });
  };
  let [i, j] = [0, 0];
  for (const [x, y] of [...common(a, b), [a.length, b.length] as [number, number]]) {
    push('removed', a.slice(i, x).join(''));
    push('added', b.slice(j, y).join(''));
    if (x < a.length) push('same', a[x]!);
    [i, j] = [x + 1, y + 1];
  }
  return parts;
}

export const counts = (parts: readonly Part[]): { added: number; removed: number } => ({
  added: countWords(parts.filter((one) => one.op === 'added').map((one) => one.text).join(' ')),
  removed: countWords(parts.filter((one) => one.op === 'removed').map((one) => one.text).join(' ')),
});
