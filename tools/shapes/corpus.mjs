// One document for every member, alternative and word of the vendors' types, and one with everything for every object.
import { makeDocument } from './documents.mjs';
import { makeSender } from './gemini_wire.mjs';
import { listPaths } from './paths.mjs';
import { settle } from './settle.mjs';
import { makeStream, prepareEvent } from './streams.mjs';

// { id, format, kind, text, without }: `without` is the text of the same document without the optional member in
// question, or null. Duplicate documents are removed.
export async function makeDocuments(roots) {
  const send = await makeSender();
  const made = new Map();
  for (const root of roots.filter((it) => it.kind !== 'stream')) {
    const write = async (steps, options) => {
      const built = makeDocument(root.shape, steps, options);
      const document = root.type === 'GenerateContentParameters' ? await send(built) : built;
      if (!document) return null; // the client refuses it
      return JSON.stringify(settle(root, document));
    };
    for (const it of listPaths(root.shape, root.reach)) {
      const text = await write(it.steps);
      const without = it.without && await write(it.without);
      add(made, root, it.label, text, without, { isSwitch: isSwitch(it.shape) });
      if (it.shape.kind === 'object')
        add(made, root, `${it.label} with all members`, await write(it.steps, { hasAll: true }), null);
    }
  }
  return [...made.values()];
}

// { id, format, kind, text, event }: streams with one event of a kind each. One event with all its members covers
// every member; the many names of models are skipped.
export function makeStreams(roots) {
  const made = new Map();
  for (const root of roots.filter((it) => it.kind === 'stream'))
    for (const it of listPaths(root.shape, root.reach)) {
      const isOther = it.kind === 'word' ? it.steps.at(-2) !== 'model' : it.kind === 'alternative' && it.shape.kind !== 'null';
      if (!isOther && it.shape.kind !== 'object') continue;
      const hasAll = it.shape.kind === 'object';
      const event = prepareEvent(root.format, makeDocument(root.shape, it.steps, { hasAll }));
      add(made, root, it.label, makeStream(root.format, event), null, { event });
    }
  return [...made.values()];
}

// An object that cannot have members has a meaning by its presence.
const isSwitch = (shape) => shape.kind === 'object' && shape.members.length === 0 && !shape.rest;

function add(made, { format, kind }, label, text, without, more = {}) {
  const key = `${format} ${kind} ${text}`;
  if (text === null || (made.has(key) && (!without || made.get(key).without))) return;
  made.set(key, { id: `${format} ${kind} ${label}`, format, kind, text, without: without === text ? null : without, ...more });
}
