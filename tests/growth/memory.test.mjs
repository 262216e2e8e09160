// The memory of a conversion is bounded: by the document's length, and on a server by the number of its items. The
// program measures the heap itself (steps.c), in total and at its peak.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { start } from '../e2e/server.mjs';
import { figures, place, program, put, run } from './steps.mjs';

const MIB = 1 << 20;
const MAX_ITEMS = 100_000;
const repeat = (n, text) => Array(n).fill(text).join(',');
const chat = (messages) => `{"model":"gpt-4o","messages":[${messages}]}`;

// The shapes with the most items per byte, and the allowed bytes of heap per byte of each.
const shapes = {
  'short messages': [80, (n) => chat(repeat(n, '{"role":"user","content":"a"}'))],
  'parts of one message': [80, (n) => chat(`{"role":"user","content":[${repeat(n, '{"type":"text","text":"a"}')}]}`)],
  'calls without results': [80, (n) => chat(`{"role":"user","content":"a"},${repeat(n, '{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}')}`)],
  'unknown members': [80, (n) => `{"model":"gpt-4o","messages":[{"role":"user","content":"a"}],${Array.from({ length: n }, (_, i) => `"${i}":1`).join(',')}}`],
  'messages of nothing': [320, (n) => chat(repeat(n, '{}'))],
  'parts of Gemini': [130, (n) => `{"contents":[{"role":"user","parts":[${repeat(n, '{"text":""}')}]}]}`],
};

for (const [shape, [factor, make]] of Object.entries(shapes))
  test(`the heap of a conversion is at most ${factor} bytes for each byte: ${shape}`, async () => {
    const text = make(30_000), path = put(text), said = [];
    for (const to of ['anthropic', 'openai-responses', 'gemini', 'turns'])
      for (const mode of ['convert', 'gateway']) {
        const { heapPeak } = await run(['convert', '--to', to, '--mode', mode, path]);
        if (heapPeak > factor * text.length) said.push(`${to} in mode ${mode}: ${heapPeak} for ${text.length} bytes`);
      }
    assert.deepEqual(said, []);
  });

test('a body of hundreds of thousands of messages is refused before it takes the memory of the server', async () => {
  const counted = join(place, 'served');
  const server = await start({ command: program, env: { PARLEY_STEPS: counted }, args: ['--model', 'demo/echo'] });
  const document = (n) => chat(repeat(n, '{"role":"user","content":"a"}'));
  const before = figures(counted).heapPeak;
  const ask = (path, text) => server.ask('POST', path, { body: text, headers: { 'Content-Type': 'application/json' } });
  const many = JSON.parse(document(390_000));
  for (const [path, body] of [
    ['/api/convert', { document: many, to: 'anthropic' }],
    ['/api/lint', { document: many }],
    ['/api/tokens', { document: many }],
    ['/api/trim', { document: many, max_tokens: 1000 }],
    ['/api/sessions/import', { document: many }],
    ['/v1/chat/completions', { model: 'demo/echo', messages: many.messages }],
  ]) {
    const answer = await ask(path, body);
    assert.ok([400, 413].includes(answer.status), `${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    const taken = figures(counted).heapPeak - before;
    assert.ok(taken < 300 * MIB, `${path} took ${taken} bytes`);
  }
  // One item over the limit, and exactly the limit: a message and its text are two items.
  const convert = async (n) => (await ask('/api/convert', { document: JSON.parse(document(n)), to: 'anthropic', report: false }));
  const over = await convert(MAX_ITEMS / 2 + 1);
  assert.equal(over.status, 413, over.text.slice(0, 300));
  assert.match(over.json.detail, /more than 100000 messages, parts and tools/);
  assert.equal((await convert(MAX_ITEMS / 2)).status, 200);
  assert.ok(figures(counted).heapPeak - before < 300 * MIB, 'at the limit');
  await server.stop();
});
