// A request that is sent again with its Idempotency-Key: one deed and one answer, wherever the server was killed between
// the first byte of the request and the last byte of the answer.
import assert from 'node:assert/strict';
import test from 'node:test';
import { start } from './server.mjs';

const N_ROUNDS = 8;

// What each round makes, once: a route, its body, and how to count what it has made. `{x}` in a path is a thing made before.
const deeds = [
  { path: '/api/sessions', body: (n) => ({ intent: `made ${n}` }), status: 201 },
  { path: '/api/sessions/{session}/chat', body: (n) => ({ message: `said ${n}` }), status: 202 },
  { path: '/api/sessions/{session}/stop', body: () => undefined, status: 200 },
  { path: '/api/sessions/{session}/fork', body: () => ({}), status: 201 },
  { path: '/api/sessions/{session}/share', body: () => undefined, status: 201 },
  { path: '/api/user/api-keys', body: (n) => ({ name: `key ${n}` }), status: 201 },
  { path: '/api/users', body: (n) => ({ name: `user ${n}` }), status: 201 },
  { path: '/api/memories', body: (n) => ({ type: 'experience', content: `memory ${n}` }), status: 201 },
  { path: '/api/memories/batch', body: (n) => ({ create: [{ type: 'experience', content: `first ${n}` }, { type: 'experience', content: `second ${n}` }] }), status: 200 },
  { path: '/api/scheduled-tasks', body: (n) => ({ title: `task ${n}`, prompt: 'hello', cron: '0 0 1 1 *' }), status: 201 },
  { path: '/api/scheduled-tasks/{task}/stop', body: () => undefined, status: 200 },
  { path: '/api/scheduled-tasks/{task}/run', body: () => undefined, status: 202 },
  { path: '/api/prompts', body: (n) => ({ name: `prompt ${n}`, content: 'Hello {{name}}' }), status: 201 },
  { path: '/api/prompts/{prompt}/versions', body: (n) => ({ content: `Hello ${n}` }), status: 201 },
  { path: '/api/blobs', body: (n) => `bytes ${n}`, headers: { 'content-type': 'text/plain' }, status: 201 },
];

async function all(server, path) {
  const items = [];
  for (let offset = 0; ; offset += 100) {
    const { json } = await server.ask('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100&offset=${offset}`);
    items.push(...json.items);
    if (json.items.length < 100) return items;
  }
}

// Names that are there twice although each was given once.
function twice(names) {
  return names.filter((name, i) => names.indexOf(name) !== i);
}

async function send(server, deed, things, n, key) {
  const path = deed.path.replace(/\{(\w+)\}/, (_, name) => things[name]);
  return server.raw('POST', path, { body: deed.body(n), headers: { ...deed.headers, 'idempotency-key': key } });
}

// Secrets are in the first answer only.
function withoutSecrets(json) {
  return JSON.parse(JSON.stringify(json, (name, value) => (['plaintext', 'token', 'path'].includes(name) ? null : value)));
}

test('a request repeated after kill -9 has the answer of the first and is done once', async (t) => {
  let server = await start();
  const { data, key } = server;
  t.after(() => server.stop('SIGKILL'));
  let n = 0;
  for (let round = 0; round < N_ROUNDS; round++) {
    const things = {
      session: (await server.ask('POST', '/api/sessions', { body: {} })).json.id,
      task: (await server.ask('POST', '/api/scheduled-tasks', { body: { title: `t${round}`, prompt: 'hello', cron: '0 0 1 1 *' } })).json.id,
      prompt: (await server.ask('POST', '/api/prompts', { body: { name: `p${round}`, content: 'Hello' } })).json.id,
    };
    // Killed when so many of them were answered: from none, with all on their way, to nearly all.
    const nBefore = Math.floor((round * deeds.length) / N_ROUNDS);
    let nAnswered = 0;
    let kill;
    const isTime = new Promise((resolve) => { kill = resolve; });
    if (!nBefore) setImmediate(kill);
    const firsts = deeds.map(async (deed, i) => {
      const request = { deed, n: n + i, key: `round ${round} deed ${i}` };
      try {
        request.answer = await send(server, deed, things, request.n, request.key);
      } catch {
        return request; // killed before its answer
      }
      if (++nAnswered === nBefore) kill();
      return request;
    });
    n += deeds.length;
    await isTime;
    await server.stop('SIGKILL');
    const requests = await Promise.all(firsts);
    server = await start({ data, login: false });
    server.key = key;
    for (const { deed, n: number, key: name, answer } of requests) {
      const again = await send(server, deed, things, number, name);
      assert.equal(again.status, deed.status, `${deed.path}, round ${round}: ${again.text}`);
      const third = await send(server, deed, things, number, name);
      assert.equal(third.status, again.status);
      assert.equal(third.headers['idempotency-replayed'], 'true');
      assert.deepEqual(withoutSecrets(third.json), withoutSecrets(again.json), deed.path);
      for (const header of ['etag', 'location', 'x-stream-position', 'content-type']) assert.equal(third.headers[header], again.headers[header], `${deed.path} ${header}`);
      if (!answer) continue;
      assert.equal(answer.status, again.status, answer.text);
      assert.equal(again.headers['idempotency-replayed'], 'true');
      assert.deepEqual(withoutSecrets(again.json), withoutSecrets(answer.json), deed.path);
      for (const header of ['etag', 'location', 'x-stream-position']) assert.equal(again.headers[header], answer.headers[header], `${deed.path} ${header}`);
    }
  }
  assert.deepEqual(twice((await all(server, '/api/sessions?q=made')).map((item) => item.intent)), []);
  assert.deepEqual(twice((await all(server, '/api/user/api-keys')).map((item) => item.name)), []);
  assert.deepEqual(twice((await all(server, '/api/users')).map((item) => item.name)), []);
  assert.deepEqual(twice((await all(server, '/api/memories')).map((item) => item.content)), []);
  assert.deepEqual(twice((await all(server, '/api/scheduled-tasks')).map((item) => item.title)), []);
  assert.deepEqual(twice((await all(server, '/api/prompts')).map((item) => item.name)), []);
  for (const task of await all(server, '/api/scheduled-tasks?q=t')) if (/^t\d+$/.test(task.title)) assert.equal((await all(server, `/api/scheduled-tasks/${task.id}/runs`)).length, 1);
  await server.stop();
});
