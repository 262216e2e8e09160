// A server that shuts down with every kind of work in progress: it waits for running work, and also handles the
// results of that work. Builds with sanitizers detect uses after free.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { openModels, serve } from './gateway_upstream.mjs';
import { Socket } from './live.mjs';
import { sleep, until } from './waiting.mjs';

let up;
let silent; // accepts connections and never answers
let sized;  // answers every request in several pieces

before(async () => {
  up = await openModels();
  silent = net.createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  sized = http.createServer((_, response) => response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.alloc(3 << 20, 'x'))).listen(0, '127.0.0.1');
  await Promise.all([once(silent, 'listening'), once(sized, 'listening')]);
});
after(() => {
  up.close();
  silent.close();
  sized.closeAllConnections();
  sized.close();
});

const urlOf = (host) => `http://127.0.0.1:${host.address().port}/x`;
const said = (content) => [{ role: 'user', content }];
const large = 'x'.repeat(400_000);
const post = (path, make) => (server, n) => server.raw('POST', path, make(n));
const picture = () => [{ type: 'image_url', image_url: { url: urlOf(sized) } }];

// One request of a kind; the number makes each request different.
const kinds = {
  conversions: post('/api/convert', () => ({ body: { to: 'anthropic', document: { messages: said(large) } } })),
  counts: post('/api/tokens', () => ({ body: { model: 'gpt-4o', document: { messages: said('lorem ipsum '.repeat(30_000)) } } })),
  'fetches of a silent host': post('/api/blobs/fetch', () => ({ body: { url: urlOf(silent) } })),
  fetches: post('/api/blobs/fetch', () => ({ body: { url: urlOf(sized) } })),
  'media of imports': post('/api/sessions/import', () => ({ body: { media: 'store', document: { messages: said(picture()) } } })),
  'gateway calls kept as sessions': post('/v1/chat/completions', (n) => ({ body: { model: n % 2 ? 'up-anthropic/text' : 'demo/echo', stream: n % 3 === 0, messages: said(`${n} ${large}`) } })),
  'gateway calls that hang': post('/v1/messages', (n) => ({ body: { model: n % 2 ? 'up-anthropic/hang' : 'up-openai-chat/stall', max_tokens: 9, stream: true, messages: said(large) } })),
  responses: post('/v1/responses', (n) => ({ body: { model: 'up-gemini/text', input: `Hello ${n}` } })),
  uploads: post('/api/blobs', (n) => ({ body: Buffer.alloc(2 << 20, `${n} `), headers: { 'content-type': 'application/octet-stream' } })),
  backups: post('/api/admin/backup', () => ({ body: {} })),
  memories: post('/api/memories', (n) => ({ body: { content: `remember ${n}` } })),
  'prompts with keys': post('/api/prompts', (n) => ({ body: { name: `prompt ${n}`, content: 'Hello {{name}}' }, headers: { 'idempotency-key': `key-${n}` } })),
  async runs(server, n) {
    const { json } = await server.raw('POST', '/api/sessions', { body: { model: ['demo/slow', 'demo/echo', 'up-openai-chat/hang', 'up-gemini/text'][n % 4] } });
    await server.raw('POST', `/api/sessions/${json.id}/chat`, { body: { message: `hello ${n}` } });
    return server.raw('GET', `/api/sessions/${json.id}/messages`);
  },
  async 'sessions that are loaded'(server) {
    server.some ??= (await server.raw('GET', '/api/sessions?limit=50')).json.items;
    return (await Promise.all(server.some.map(({ id }) => server.raw('GET', `/api/sessions/${id}/context`)))).at(-1);
  },
  async tasks(server, n) {
    const { json } = await server.raw('POST', '/api/scheduled-tasks', { body: { title: `task ${n}`, cron: '0 3 * * *', prompt: 'report', model: 'demo/echo' } });
    return server.raw('POST', `/api/scheduled-tasks/${json.id}/run`, { body: {} });
  },
  async listeners(server) {
    const { json } = await server.raw('POST', '/api/sessions', { body: { model: 'demo/echo' } });
    const socket = await new Socket(server).opened;
    socket.send({ id: 1, event: 'session:subscribe', data: { session_id: json.id } });
    const answer = await server.raw('POST', `/api/sessions/${json.id}/chat`, { body: { message: 'hello' } });
    socket.close();
    return answer;
  },
};

const nOfKind = 3;

// Sends the next request as soon as one is answered, until the server is gone; it is told to shut down after some answers.
async function endUnder(names, nAnswers) {
  const server = await serve(up, { args: ['--shards', '3', '--drain', '1', '--allow-fetch', '127.0.0.1'], more: 'gateway_record: sessions\n', env: { ...up.env(), PARLEY_FETCH_MS: '600000' } });
  for (let i = 0; i < 5; i++) await server.raw('POST', '/api/sessions', { body: { model: 'demo/echo' } });
  let nGood = 0, nBegun = 0, hasGone = false, last;
  server.exited.then(() => { hasGone = true; });
  const hurry = async (name) => {
    while (!hasGone) {
      nBegun++;
      const answer = await kinds[name](server, nBegun).catch(() => sleep(1));
      if (answer) last = `${name}: ${answer.status} ${answer.text.slice(0, 300)}`;
      if (answer?.status < 300) nGood++;
    }
  };
  const all = names.flatMap((name) => Array.from({ length: nOfKind }, () => hurry(name)));
  await until(() => nGood >= nAnswers, () => `${nAnswers} are answered well; the last was ${last}`);
  const ended = await server.stop();
  assert.deepEqual(ended, { code: 0, signal: null }, server.err.slice(-9000));
  await Promise.all(all);
  const again = await serve(up, { data: server.data, login: false });
  assert.equal((await again.raw('GET', '/api/sessions', { key: server.key })).status, 200);
  assert.deepEqual(await again.stop(), { code: 0, signal: null }, again.err.slice(-9000));
}

describe('a server ends in order with', () => {
  const blobs = Object.keys(kinds).filter((name) => /fetch|media|upload|backup/.test(name));
  const models = Object.keys(kinds).filter((name) => /gateway|responses|runs|tasks|loaded|listeners/.test(name));
  test('fetches, uploads and backups under way', () => endUnder(blobs, 10));
  test('gateway calls and sessions under way', () => endUnder(models, 10));
  for (const n of [10, 40, 100]) test(`everything under way, after ${n} answers`, () => endUnder(Object.keys(kinds), n));
});
