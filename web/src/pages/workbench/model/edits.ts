/** Edits of a lint finding: add, replace and remove at pointers into the prompt (RFC 6902), applied to blocks. */
import { chatOf, read, type Doc } from './prompt';
import type { Edit } from './types';

const parts = (pointer: string): string[] => pointer.split('/').slice(1).map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Applies one edit in place; an edit that does not fit is skipped. */
export function edit(root: unknown, one: Edit): void {
  const path = parts(one.pointer);
  const name = path.pop();
  if (name === undefined || ['__proto__', 'constructor', 'prototype'].includes(name)) return;
  let at: unknown = root;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return;
    at = (at as Record<string, unknown>)[step];
  }
  if (Array.isArray(at)) {
    const index = name === '-' ? at.length : Number(name);
    if (!Number.isInteger(index) || index < 0 || index > at.length) return;
    if (one.op === 'remove') at.splice(index, 1);
    else if (one.op === 'add') at.splice(index, 0, one.value);
    else at[index] = one.value;
  } else if (typeof at === 'object' && at !== null) {
    const object = at as Record<string, unknown>;
    if (one.op === 'remove') delete object[name];
    else object[name] = one.value;
  }
}

/** Blocks that keep their id keep their key, and with it the focus. */
export function apply(doc: Doc, edits: readonly Edit[]): Doc {
  const content = structuredClone(chatOf(doc));
  for (const one of edits) edit(content, one);
  const next = read({ type: 'structured', content });
  const keys = new Map(doc.blocks.map((block) => [block.id, block.key]));
  return { ...next, isText: doc.isText, blocks: next.blocks.map((block) => ({ ...block, key: keys.get(block.id) ?? block.key })) };
}
