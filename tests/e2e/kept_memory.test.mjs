// The memory that a request keeps while it waits (the tree of its body, and values made from it) counts for its user, like
// bodies. The request waits for a host that answers on command; the amount in use is the server's own count
// (parley_body_bytes).
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

test('what a waiting request keeps is its user\'s, holds up no other user, and is given back', async (t) => {
  const waiting = [];
  const host = http.createServer((request, response) => waiting.push(() => { response.writeHead(200, { 'content-type': 'image/png' }); response.end(png); }));
  await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
  t.after(() => { host.closeAllConnections(); host.close(); });
  const server = await start({ args: ['--body-memory', '16', '--allow-fetch', '127.0.0.1'] });
  t.after(() => server.stop('SIGKILL'));
  const [one, other] = await Promise.all(['one', 'other'].map(async (name) => (await server.ask('POST', '/api/users', { body: { name } })).json.key.plaintext));
  const counted = async () => Number((await server.raw('GET', '/metrics')).text.match(/^parley_body_bytes (\d+)$/m)[1]);
  const link = { type: 'image_url', image_url: { url: `http://127.0.0.1:${host.address().port}/a.png` } };
  // Many small values: the tree is larger than the text.
  const messages = Array.from({ length: 30_000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: 'x' }));
  const body = JSON.stringify({ from: 'openai-chat', media: 'store', document: { messages: [...messages, { role: 'user', content: [link] }] } });
  const send = (key, text = body) => server.raw('POST', '/api/sessions/import', { key, body: text });

  const first = send(one);
  await until(() => waiting.length === 1, 'the first waits for its picture');
  const held = await counted();
  assert.ok(held > 2 * body.length, `${held} bytes are counted for a body of ${body.length}`);
  const second = await send(one);
  assert.deepEqual([second.status, second.json.code], [429, 'rate_limited'], second.text);
  assert.match(second.json.detail, /your share of the memory/);
  assert.ok(Number(second.headers['retry-after']) > 0);
  assert.equal(waiting.length, 1, 'it did nothing');
  const small = JSON.stringify({ from: 'openai-chat', document: { messages: messages.slice(0, 5000) } });
  assert.equal((await send(other, small)).status, 201);
  waiting.shift()();
  assert.equal((await first).status, 201);
  await until(async () => await counted() === 0, 'nothing is held any more');
  const third = send(one);
  await until(() => waiting.length === 1, 'now there is room');
  waiting.shift()();
  assert.equal((await third).status, 201);
  await until(async () => await counted() === 0, 'nothing is held any more');
});
