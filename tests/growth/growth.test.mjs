// Every operation scales in proportion to the document: four times as many elements take about four times the steps.
// The program counts its steps itself (steps.c), so a busy machine does not matter.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { conversations, prompts, streams } from './shapes.mjs';
import { put, run } from './steps.mjs';

const N = 1000; // large enough that one-time work does not count
const TIMES = 4, LIMIT = 5.5;
const formats = ['harmony', 'envelope', 'structured-chat', 'turns', 'openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss'];
const lists = { harmony: 'messages', envelope: 'messages', 'structured-chat': 'messages', turns: 'turns', 'openai-chat': 'messages', 'openai-responses': 'input', anthropic: 'messages', gemini: 'contents' };

// Runs the same operation on both documents; `args` gets the path of one. Returns the answers, smaller first.
async function compare(said, operation, pair, args) {
  const [small, large] = await Promise.all(pair.map((path) => run(args(path))));
  if (large.steps > LIMIT * small.steps)
    said.push(`${operation}: ${small.steps} steps became ${large.steps}, ${(large.steps / small.steps).toFixed(1)} times as many for ${TIMES} times as much`);
  return [small, large];
}

const pairOf = (make) => [put(make(N)), put(make(TIMES * N))];

// Converts with a carry, and back: unchanged, and with every second element changed or new.
async function thereAndBack(said, pair, from, to, isEdited) {
  const files = (path) => ['--carry', `${path}.${to}.carry`, '--report', `${path}.${to}.report`];
  const there = await compare(said, `convert to ${to}`, pair, (path) => ['convert', '--to', to, ...files(path), path]);
  if (there.some((answer) => answer.code !== 0) || from === to) return;
  const targets = there.map((answer) => put(answer.out));
  const home = (path) => ['convert', '--from', to, '--to', from, '--with-carry', `${path}.${to}.carry`];
  const back = await compare(said, `home from ${to}`, pair, (path) => [...home(path), targets[pair.indexOf(path)]]);
  assert.equal(back[0].out, readFileSync(pair[0], 'utf8'), `home from ${to}`);
  const edited = isEdited ? there.map((answer) => edit(answer.out, lists[to])) : [];
  if (edited.length && edited.every((text) => text))
    await compare(said, `home from an edited ${to}`, pair, (path) => [...home(path), put(edited[pair.indexOf(path)])]);
}

// Of every four elements one is removed and two are duplicated.
function edit(text, key) {
  const document = key ? JSON.parse(text) : undefined;
  const list = Array.isArray(document) ? document : document?.[key];
  if (!Array.isArray(list)) return undefined;
  const many = list.flatMap((element, i) => (i % 2 ? [element, element] : i % 4 ? [] : [element]));
  list.length = 0;
  for (const element of many) list.push(element);
  return JSON.stringify(document);
}

const looks = [
  ['lint'], ['lint', '--json', '--for', 'anthropic'], ['lint', '--json', '--for', 'gemini@2.5'], ['lint', '--fix'],
  ['tokens', '--json'], ['tokens', '--encoding', 'o200k_base'], ['trim', '--max-tokens', '200'], ['trim', '--max-tokens', '5000'],
  ['detect'], ['json'], ['json', '--canonical'], ['json', '--lenient', '--minify'], ['json', '--set', '/x_new', '1'], ['cite', '--json'], ['cite'],
  ['handoff', 'make', '--target', 'x'], ['handoff', 'check'], ['validate', '--as', 'envelope'], ['validate', '--as', 'openai-chat', '--json'],
];

// Not every shape takes every route that repairs or edits: the routes alternate, so that each is used often.
Object.entries(conversations).forEach(([shape, make], turn) =>
  test(`a conversation grows: ${shape}`, async () => {
    const isTurn = (i, every) => (i + turn) % every === 0;
    const said = [], pair = pairOf(make);
    const from = (await run(['detect', pair[0]])).out.trim();
    await Promise.all([
      ...formats.map((to, i) => thereAndBack(said, pair, from, to, isTurn(i, 3))),
      ...formats.flatMap((to, i) => ['repair', 'gateway'].filter((_, k) => isTurn(i + k, 4)).map((mode) =>
        compare(said, `convert to ${to} in mode ${mode}`, pair, (path) => ['convert', '--to', to, '--mode', mode, path]))),
      ...looks.map((args) => compare(said, args.join(' '), pair, (path) => [...args, path])),
    ]);
    assert.deepEqual(said, []);
  }));

// The result of a writer is read again, so that every reader is tested.
for (const shape of ['many messages', 'parts of one message', 'calls and results in turn', 'tools and their calls', 'images of one message'])
  test(`a conversation grows, from every format: ${shape}`, async () => {
    const said = [], first = pairOf(conversations[shape]);
    await Promise.all(formats.map(async (from, i) => {
      const pair = await Promise.all(first.map(async (path) => put((await run(['convert', '--to', from, '--mode', 'gateway', path])).out)));
      const to = [formats[(i + 1) % formats.length], formats[(i + 4) % formats.length]];
      for (const target of to)
        await compare(said, `from ${from} to ${target}`, pair, (path) => ['convert', '--from', from, '--to', target, path]);
      await compare(said, `lint of ${from}`, pair, (path) => ['lint', '--as', from, '--json', path]);
      await compare(said, `trim of ${from}`, pair, (path) => ['trim', '--as', from, '--max-tokens', '1000', path]);
    }));
    assert.deepEqual(said, []);
  });

for (const [shape, make] of Object.entries(prompts))
  test(`a prompt grows: ${shape}`, async () => {
    const said = [], pair = pairOf(make);
    await compare(said, 'render', pair, (path) => ['render', '--var', 'v=o1', path]);
    await compare(said, 'render --preview', pair, (path) => ['render', '--preview', path]);
    for (const kind of ['yaml', 'markdown', 'curl', 'claude']) {
      const made = await compare(said, `convert to ${kind}`, pair, (path) => ['convert', '--to', kind, path]);
      if (kind === 'yaml' || kind === 'markdown')
        await compare(said, `convert from ${kind}`, made.map((answer) => put(answer.out)), (path) => ['convert', '--from', kind, '--to', 'structured-chat', path]);
    }
    assert.deepEqual(said, []);
  });

const dialects = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'patches'];
for (const [shape, make] of Object.entries(streams))
  test(`a stream grows: ${shape}`, async () => {
    const said = [], first = pairOf(make);
    await Promise.all(dialects.map(async (from) => {
      const pair = await Promise.all(first.map(async (path) => put((await run(['stream', '--from', 'openai-chat', '--to', from, path])).out)));
      for (const to of dialects)
        await compare(said, `stream from ${from} to ${to}`, pair, (path) => ['stream', '--from', from, '--to', to, path]);
    }));
    assert.deepEqual(said, []);
  });
