/** The server's diff of two versions as blocks to draw: in the new order, with removed blocks at their old places. */
import { counts, type Part } from '../model/words';
import type { Diff, DiffBlock } from '../model/types';

export interface Shown { id: string; role: string; change: DiffBlock['change']; from: number | null; to: number | null; parts: Part[]; added: number; removed: number }

export function shownBlocks(diff: Diff, textOf: (id: string) => string): Shown[] {
  const kept = diff.blocks.filter((one) => one.to_index !== null).sort((a, b) => a.to_index! - b.to_index!);
  const gone = diff.blocks.filter((one) => one.to_index === null).sort((a, b) => b.from_index! - a.from_index!);
  const order = [...kept];
  // Backwards, so that adjacent blocks keep their order: each goes after its nearest predecessor.
  for (const one of gone) {
    let at = 0;
    order.forEach((other, i) => {
      if (other.to_index !== null && other.from_index !== null && other.from_index < one.from_index!) at = i + 1;
    });
    order.splice(at, 0, one);
  }
  return order.map((one) => {
    const parts: Part[] = one.words ? one.words.map((word) => ({ op: word.op, text: word.text })) : [{ op: 'same', text: textOf(one.id) }];
    return { id: one.id, role: one.role ?? 'user', change: one.change, from: one.from_index, to: one.to_index, parts, ...counts(parts) };
  });
}

export const isText = (one: Shown): boolean => one.change !== 'same';

/** Settings and variables separately: members of the document by their pointers. */
export function members(diff: Diff): { settings: Diff['members']; variables: Diff['members'] } {
  const spread = (part: string): Diff['members'] => diff.members.filter((one) => one.pointer === `/${part}` || one.pointer.startsWith(`/${part}/`)).flatMap((one) => {
    if (one.pointer !== `/${part}`) return [one];
    const entries = (value: unknown): [string, unknown][] => (Array.isArray(value)
      ? value.map((item): [string, unknown] => [String((item as { name?: unknown })?.name ?? ''), item]) : Object.entries((value ?? {}) as object));
    const [from, to] = [new Map(entries(one.from)), new Map(entries(one.to))];
    return [...new Set([...from.keys(), ...to.keys()])].filter((name) => JSON.stringify(from.get(name)) !== JSON.stringify(to.get(name)))
      .map((name) => ({ pointer: `/${part}/${name}`, change: !from.has(name) ? 'added' as const : !to.has(name) ? 'removed' as const : 'changed' as const, from: from.get(name), to: to.get(name) }));
  });
  const variables = spread('variables');
  return { settings: diff.members.filter((one) => !/^\/variables(\/|$)/.test(one.pointer) && !/^\/config(\/|$)/.test(one.pointer)).concat(spread('config')), variables };
}

export const told = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));
