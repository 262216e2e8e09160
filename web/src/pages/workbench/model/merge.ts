/**
 * Merges two edits of one version, block by block. If only one of them changed a block, that change is taken. If both did, the
 * person chooses mine, theirs, or both merged line by line. Nothing is discarded automatically.
 */
import { distinct, newKey, same, SYSTEM, type Block, type Declared, type Doc } from './prompt';

export type Choice = 'mine' | 'theirs' | 'both';

export interface Row {
  /** A message's id, `system`, `config` or `variables`. */
  id: string;
  kind: 'system' | 'message' | 'config' | 'variables';
  base: string | null;
  mine: string | null;
  theirs: string | null;
  /** Both changed it, in different ways. */
  isConflict: boolean;
  choice: Choice;
}

const lines = (text: string): string[] => text.split(/(?<=\n)/);

/** Pairs of equal units, in order: the longest common subsequence. For long texts only the equal beginnings and ends. */
export function common(a: readonly string[], b: readonly string[]): [number, number][] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const pairs: [number, number][] = Array.from({ length: head }, (_, i) => [i, i]);
  const n = a.length - head - tail;
  const m = b.length - head - tail;
  if (n * m <= 4_000_000 && n && m) {
    const width = m + 1;
    const table = new Uint32Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        table[i * width + j] = a[head + i] === b[head + j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
      }
    }
    for (let i = 0, j = 0; i < n && j < m;) {
      if (a[head + i] === b[head + j]) { pairs.push([head + i, head + j]); i++; j++; }
      else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) i++;
      else j++;
    }
  }
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

/** Merges by lines against the common base; if both changed the same lines, mine come before theirs. */
export function merge3(base: string, mine: string, theirs: string): { text: string; conflicts: number } {
  if (mine === theirs || theirs === base) return { text: mine, conflicts: 0 };
  if (mine === base) return { text: theirs, conflicts: 0 };
  const [o, a, b] = [lines(base), lines(mine), lines(theirs)];
  const inMine = new Map(common(o, a));
  const inTheirs = new Map(common(o, b));
  let text = '';
  let conflicts = 0;
  let [i, j, k] = [0, 0, 0];
  const add = (part: string): void => {
    if (part && text && !text.endsWith('\n')) text += '\n';
    text += part;
  };
  while (i <= o.length) {
    // Finds the next base line that both kept; the lines before it were changed.
    let next = i;
    while (next < o.length && !(inMine.has(next) && inTheirs.has(next))) next++;
    const [endA, endB] = next < o.length ? [inMine.get(next)!, inTheirs.get(next)!] : [a.length, b.length];
    const [was, one, two] = [o.slice(i, next).join(''), a.slice(j, endA).join(''), b.slice(k, endB).join('')];
    if (one === two || two === was) add(one);
    else if (one === was) add(two);
    else { conflicts++; add(one); add(two); }
    if (next < o.length) add(o[next]!);
    [i, j, k] = [next + 1, endA + 1, endB + 1];
  }
  return { text, conflicts };
}

const told = (value: unknown): string => JSON.stringify(value, null, 2);
const blockText = (block: Block | undefined): string | null => (block ? block.text : null);

function row(id: string, kind: Row['kind'], base: string | null, mine: string | null, theirs: string | null): Row {
  const isConflict = mine !== theirs && mine !== base && theirs !== base;
  return { id, kind, base, mine, theirs, isConflict, choice: isConflict ? (kind === 'config' || mine === null || theirs === null ? 'mine' : 'both') : mine === base ? 'theirs' : 'mine' };
}

/** One row per place where mine and theirs differ. */
export function compare(...docs: [base: Doc, mine: Doc, theirs: Doc]): Row[] {
  const [base, mine, theirs] = docs.map(distinct) as typeof docs;
  const rows: Row[] = [];
  if (mine.system !== theirs.system) rows.push(row(SYSTEM, 'system', base.system, mine.system, theirs.system));
  const at = (doc: Doc): Map<string, Block> => new Map(doc.blocks.map((block) => [block.id, block]));
  const [b, m, t] = [at(base), at(mine), at(theirs)];
  for (const id of new Set([...mine.blocks, ...theirs.blocks].map((block) => block.id))) {
    if (blockText(m.get(id)) === blockText(t.get(id)) && m.get(id)?.role === t.get(id)?.role) continue;
    rows.push(row(id, 'message', blockText(b.get(id)), blockText(m.get(id)), blockText(t.get(id))));
  }
  if (!same(mine.config, theirs.config)) rows.push(row('config', 'config', told(base.config), told(mine.config), told(theirs.config)));
  if (!same(mine.variables, theirs.variables)) {
    rows.push(row('variables', 'variables', told(base.variables), told(mine.variables), told(theirs.variables)));
  }
  return rows;
}

const textOfChoice = (one: Row): string | null => {
  if (one.choice === 'mine') return one.mine;
  if (one.choice === 'theirs') return one.theirs;
  if (one.mine === null) return one.theirs;
  if (one.theirs === null) return one.mine;
  return merge3(one.base ?? '', one.mine, one.theirs).text;
};

const union = (mine: readonly Declared[], theirs: readonly Declared[]): Declared[] =>
  [...mine, ...theirs.filter((one) => !mine.some((other) => other.name === one.name))];

/** Builds the document from the choices: in my order; each block that only theirs has comes after its predecessor there. */
export function settle(from: Doc, ours: Doc, other: Doc, rows: readonly Row[]): Doc {
  const [base, mine, theirs] = [distinct(from), distinct(ours), distinct(other)];
  const chosen = new Map(rows.map((one) => [one.id, one]));
  const pick = (id: string, fallback: string): string => {
    const one = chosen.get(id);
    return one ? textOfChoice(one) ?? '' : fallback;
  };
  const blocks: Block[] = [];
  const keep = (block: Block): void => {
    const one = chosen.get(block.id);
    const text = one ? textOfChoice(one) : block.text;
    if (text === null) return;
    const from = one?.choice === 'theirs' ? theirs.blocks.find((other) => other.id === block.id) ?? block : block;
    blocks.push({ ...from, key: block.key, text });
  };
  mine.blocks.forEach(keep);
  theirs.blocks.forEach((block, i) => {
    if (mine.blocks.some((other) => other.id === block.id)) return;
    const one = chosen.get(block.id);
    const text = one ? textOfChoice(one) : null;
    if (text === null) return;
    const before = theirs.blocks.slice(0, i).findLast((other) => blocks.some((kept) => kept.id === other.id));
    blocks.splice(before ? blocks.findIndex((kept) => kept.id === before.id) + 1 : 0, 0, { ...block, key: newKey(), text });
  });
  const config = chosen.get('config');
  const variables = chosen.get('variables');
  return {
    ...mine,
    system: pick(SYSTEM, mine.system),
    blocks,
    config: config?.choice === 'theirs' ? theirs.config : config?.choice === 'both' ? { ...theirs.config, ...mine.config } : mine.config,
    variables: variables?.choice === 'theirs' ? theirs.variables : variables?.choice === 'both' ? union(mine.variables, theirs.variables) : mine.variables,
    isText: mine.isText && theirs.isText && base.isText,
  };
}
