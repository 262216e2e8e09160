/**
 * A prompt as blocks, which the workbench edits. The system text is separate and first; the messages are blocks in order.
 * Nothing here touches the DOM, so that every edit can be tested alone. Edits return a new document and leave the old one
 * unchanged; a block keeps its `key`, by which the page finds it again.
 */
export type Role = 'system' | 'user' | 'assistant' | 'tool';
export type VariableType = 'text' | 'textarea' | 'number' | 'select';

export interface Block {
  /** The key in this page: stable while the block exists, never stored. */
  key: string;
  /** The id in the document. */
  id: string;
  role: Role;
  text: string;
  /** Members of the message that blocks do not show: media, tool calls, names. */
  rest: Record<string, unknown>;
}

export interface Declared {
  name: string;
  type?: VariableType;
  label?: string;
  required?: boolean;
  default?: unknown;
  options?: unknown[];
  [more: string]: unknown;
}

export interface Doc {
  /** The prompt was a plain text. It stays one as long as a plain text can express it. */
  isText: boolean;
  system: string;
  blocks: Block[];
  config: Record<string, unknown>;
  variables: Declared[];
  rest: Record<string, unknown>;
}

export type Content = string | Record<string, unknown>;
export interface Stored { type: 'text' | 'structured'; content: Content }

let nextKey = 1;
export const newKey = (): string => `b${nextKey++}`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const emptyDoc = (): Doc =>
  ({ isText: false, system: '', blocks: [], config: {}, variables: [], rest: {} });

const KNOWN = new Set(['protocol', 'system_prompt', 'messages', 'config', 'variables']);
const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

const readMessage = (value: unknown): Block => {
  const message = isObject(value) ? value : {};
  const { id, role, content, ...rest } = message;
  return {
    key: newKey(),
    id: typeof id === 'string' && id ? id : freshId([]),
    role: (typeof role === 'string' && ROLES.has(role) ? role : 'user') as Role,
    text: typeof content === 'string' ? content : '',
    rest,
  };
};

export function read(stored: Stored): Doc {
  if (typeof stored.content === 'string') {
    return { ...emptyDoc(), isText: true, blocks: [{ key: newKey(), id: 'msg_1', role: 'user', text: stored.content, rest: {} }] };
  }
  const content = stored.content;
  const rest = Object.fromEntries(Object.entries(content).filter(([name]) => !KNOWN.has(name)));
  return {
    isText: false,
    system: typeof content.system_prompt === 'string' ? content.system_prompt : '',
    blocks: Array.isArray(content.messages) ? content.messages.map(readMessage) : [],
    config: isObject(content.config) ? { ...content.config } : {},
    variables: Array.isArray(content.variables) ? content.variables.filter(isObject).map((one) => ({ ...one }) as Declared) : [],
    rest,
  };
}

/** Whether a plain text can still express the document. */
const isPlain = (doc: Doc): boolean =>
  doc.isText && !doc.system && doc.blocks.length === 1 && doc.blocks[0]!.role === 'user' &&
  !Object.keys(doc.config).length && !doc.variables.length;

export function write(doc: Doc): Stored {
  if (isPlain(doc)) return { type: 'text', content: doc.blocks[0]!.text };
  return {
    type: 'structured',
    content: {
      protocol: 'structured-chat',
      ...(doc.system ? { system_prompt: doc.system } : {}),
      messages: doc.blocks.map((block) => ({ id: block.id, role: block.role, content: block.text, ...block.rest })),
      ...(Object.keys(doc.config).length ? { config: doc.config } : {}),
      ...(doc.variables.length ? { variables: doc.variables } : {}),
      ...doc.rest,
    },
  };
}

/** The document as a structured chat, the form that models and converters get. */
export const chatOf = (doc: Doc): Record<string, unknown> => write({ ...doc, isText: false }).content as Record<string, unknown>;

export function freshId(blocks: readonly Block[]): string {
  const taken = new Set(blocks.map((block) => block.id));
  let n = blocks.length + 1;
  while (taken.has(`msg_${n}`)) n++;
  return `msg_${n}`;
}

/** The same document with unique block ids: a file may repeat an id, and then a number is added. */
export function distinct(doc: Doc): Doc {
  const taken = new Set<string>();
  let isSame = true;
  const blocks = doc.blocks.map((block) => {
    let { id } = block;
    for (let n = 2; taken.has(id); n++) id = `${block.id}_${n}`;
    taken.add(id);
    if (id === block.id) return block;
    isSame = false;
    return { ...block, id };
  });
  return isSame ? doc : { ...doc, blocks };
}

/** Gives blocks the keys that they had in an older document, each key once. */
export function keyed(next: Doc, before: Doc): Doc {
  const keys = new Map(distinct(before).blocks.map((block) => [block.id, block.key]));
  const ids = distinct(next).blocks.map((block) => block.id);
  const used = new Set<string>();
  const own = (key: string): string => (used.size < used.add(key).size ? key : own(newKey()));
  return { ...next, blocks: next.blocks.map((block, i) => ({ ...block, key: own(keys.get(ids[i]!) ?? block.key) })) };
}

export const newBlock = (doc: Doc, role: Role, text = ''): Block =>
  ({ key: newKey(), id: freshId(doc.blocks), role, text, rest: {} });

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

export function insert(doc: Doc, at: number, block: Block): Doc {
  const blocks = [...doc.blocks];
  blocks.splice(clamp(at, 0, blocks.length), 0, block);
  return { ...doc, blocks };
}

export function remove(doc: Doc, key: string): Doc {
  return { ...doc, blocks: doc.blocks.filter((block) => block.key !== key) };
}

export function setText(doc: Doc, key: string, text: string): Doc {
  if (key === SYSTEM) return { ...doc, system: text };
  return { ...doc, blocks: doc.blocks.map((block) => (block.key === key ? { ...block, text } : block)) };
}

/** The key of the system text, which is not a message. */
export const SYSTEM = 'system';

export const textOf = (doc: Doc, key: string): string =>
  (key === SYSTEM ? doc.system : doc.blocks.find((block) => block.key === key)?.text ?? '');

export const other = (role: Role): Role => (role === 'user' ? 'assistant' : 'user');

export function swapRole(doc: Doc, key: string): Doc {
  const swapped = (block: Block): Block =>
    (block.key === key && (block.role === 'user' || block.role === 'assistant') ? { ...block, role: other(block.role) } : block);
  return { ...doc, blocks: doc.blocks.map(swapped) };
}

export function duplicate(doc: Doc, key: string): { doc: Doc; key: string } {
  const at = doc.blocks.findIndex((block) => block.key === key);
  if (at < 0) return { doc, key };
  const copy = { ...newBlock(doc, doc.blocks[at]!.role, doc.blocks[at]!.text), rest: structuredClone(doc.blocks[at]!.rest) };
  return { doc: insert(doc, at + 1, copy), key: copy.key };
}

/** Moves `count` blocks starting at `from`, so that the first of them gets the index `to` among all. */
export function move(doc: Doc, from: number, to: number, count = 1): Doc {
  const blocks = [...doc.blocks];
  if (from < 0 || from + count > blocks.length) return doc;
  const taken = blocks.splice(from, count);
  const place = clamp(to, 0, blocks.length);
  if (place === from) return doc;
  blocks.splice(place, 0, ...taken);
  return { ...doc, blocks };
}

/** The role for a block after `index`: user and assistant alternate. */
export const nextRole = (doc: Doc, index: number): Role => {
  const before = doc.blocks[index];
  return before && before.role === 'user' ? 'assistant' : 'user';
};

/** Appends a model's answer as an assistant message. */
export function adopt(doc: Doc, text: string): { doc: Doc; key: string } {
  const block = newBlock(doc, 'assistant', text);
  return { doc: insert(doc, doc.blocks.length, block), key: block.key };
}

export type Group =
  | { kind: 'example'; n: number; from: number; blocks: Block[] }
  | { kind: 'loose'; from: number; blocks: Block[] }
  | { kind: 'task'; from: number; blocks: Block[] };

/** User/assistant pairs before the last user block are examples; from that block on it is the task. */
export function groups(blocks: readonly Block[]): Group[] {
  const last = blocks.findLastIndex((block) => block.role === 'user');
  const end = last < 0 ? 0 : last;
  const result: Group[] = [];
  let n = 0;
  for (let i = 0; i < end;) {
    if (blocks[i]!.role === 'user' && i + 1 < end && blocks[i + 1]!.role === 'assistant') {
      result.push({ kind: 'example', n: ++n, from: i, blocks: blocks.slice(i, i + 2) });
      i += 2;
    } else {
      result.push({ kind: 'loose', from: i, blocks: [blocks[i]!] });
      i++;
    }
  }
  if (end < blocks.length) result.push({ kind: 'task', from: end, blocks: blocks.slice(end) });
  return result;
}

/** Equal as JSON; the order of members does not matter. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, i) => same(value, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]));
}

export const sameStored = (a: Stored, b: Stored): boolean => a.type === b.type && same(a.content, b.content);

/** Counts the differences: blocks added, removed, changed or moved, settings, variables. */
export function countChanges(was: Doc, now: Doc): number {
  const [from, to] = [distinct(was), distinct(now)];
  let n = from.system === to.system ? 0 : 1;
  const before = new Map(from.blocks.map((block, i) => [block.id, { block, i }]));
  const kept: number[] = [];
  for (const block of to.blocks) {
    const old = before.get(block.id);
    if (!old) { n++; continue; }
    before.delete(block.id);
    kept.push(old.i);
    if (old.block.text !== block.text || old.block.role !== block.role || !same(old.block.rest, block.rest)) n++;
  }
  n += before.size + kept.length - longestRise(kept);
  const names = new Set([...Object.keys(from.config), ...Object.keys(to.config)]);
  for (const name of names) if (!same(from.config[name], to.config[name])) n++;
  const variables = new Set([...from.variables, ...to.variables].map((one) => one.name));
  for (const name of variables) {
    if (!same(from.variables.find((one) => one.name === name), to.variables.find((one) => one.name === name))) n++;
  }
  return n;
}

/** The length of the longest increasing subsequence, which is the number of blocks that did not move. */
export function longestRise(values: readonly number[]): number {
  const ends: number[] = [];
  for (const value of values) {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < value) low = middle + 1; else high = middle;
    }
    ends[low] = value;
  }
  return ends.length;
}
