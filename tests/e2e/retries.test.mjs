// A request repeated with its Idempotency-Key is executed once and has one answer, wherever the server was killed
// between the first byte of the request and the last byte of the answer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Gated, configure } from './gated.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const N_ROUNDS = 8;

// The requests of each round: a route, its body, and how to count the objects made. `{x}` in a path is an object made earlier.
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
  { path: '/api/sessions/import', body: (n) => ({ format: 'openai-chat', intent: `made by import ${n}`, document: { messages: [{ role: 'user', content: 'hello' }] } }), status: 201 },
  { path: '/api/sessions/{played}/replay', body: (n) => ({ intent: `made by replay ${n}`, speed: 0 }), status: 201 },
  { path: '/api/handoffs', body: (n, { packet }) => ({ packet, agent: 'somebody' }), status: 201 },
  { path: '/api/sessions/{compacted}/compact', body: () => ({}), status: 202 },
  { path: '/api/sessions/{asking}/questions/{question}/answer', body: () => ({ answer: { answers: ['yes'] } }), status: 200 },
  { path: '/api/scheduled-tasks/{stopped}/start', body: () => undefined, status: 200 },
  { path: '/api/prompts/{older}/rollback', body: () => ({ version: 1 }), status: 201 },
  { path: '/api/prompts/import', body: (n) => ({ files: [{ path: `made/import ${n}.md`, text: 'Hello' }, { path: `made/second ${n}.md`, text: 'Hello' }], when_there: 'copy' }), status: 200 },
  { path: '/api/prompts/{older}/run', body: () => ({ models: ['demo/echo', 'demo/agent'] }), status: 201 },
  { path: '/api/prompts/{older}/run', body: () => ({ models: ['demo/echo', 'demo/agent'], mode: 'answer' }), status: 201 },
  { path: '/api/memories/{memory}/supersede', body: (n, { newer }) => ({ by: newer }), status: 200 },
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

// Names that exist twice although each was given once.
function twice(names) {
  return names.filter((name, i) => names.indexOf(name) !== i);
}

async function send(server, deed, things, n, key) {
  const path = deed.path.replace(/\{(\w+)\}/g, (_, name) => things[name]);
  return server.raw('POST', path, { body: deed.body(n, things), headers: { ...deed.headers, 'idempotency-key': key } });
}

async function made(server, path, body) {
  const { status, json, text } = await server.ask('POST', path, { body });
  assert.ok(status < 300, text);
  return json;
}

async function spoken(server, message, model, status) {
  const { id } = await made(server, '/api/sessions', {});
  await made(server, `/api/sessions/${id}/chat`, { message, model });
  await until(async () => (await server.ask('GET', `/api/sessions/${id}`)).json.status === status, `${id} is ${status}`);
  return id;
}

// Makes the objects that the requests of a round act on.
async function prepare(server, round) {
  const task = { prompt: 'hello', cron: '0 0 1 1 *' };
  const asking = await spoken(server, '#!demo\ncall AskUserQuestion {"questions":[{"question":"Really?","options":[{"label":"yes"},{"label":"no"}]}]}', 'demo/agent', 'waiting_for_input');
  const played = await spoken(server, 'hello', 'demo/echo', 'completed');
  const { id: older } = await made(server, '/api/prompts', { name: `older${round}`, content: 'Hello' });
  await made(server, `/api/prompts/${older}/versions`, { content: 'Hello again' });
  const things = {
    session: (await made(server, '/api/sessions', {})).id,
    task: (await made(server, '/api/scheduled-tasks', { ...task, title: `t${round}` })).id,
    stopped: (await made(server, '/api/scheduled-tasks', { ...task, title: `stopped${round}` })).id,
    prompt: (await made(server, '/api/prompts', { name: `p${round}`, content: 'Hello' })).id,
    memory: (await made(server, '/api/memories', { type: 'experience', content: `old${round}` })).id,
    newer: (await made(server, '/api/memories', { type: 'experience', content: `new${round}` })).id,
    compacted: await spoken(server, 'hello', 'demo/echo', 'completed'),
    question: (await server.ask('GET', `/api/sessions/${asking}/questions`)).json.items[0].tool_call_id,
    packet: await made(server, `/api/sessions/${played}/handoff`, { target: 'somebody', objective: `made by handoff ${round}`, status: 'half done', next: 'the rest', summary: 'short' }),
    asking, played, older,
  };
  await made(server, `/api/scheduled-tasks/${things.stopped}/stop`);
  return things;
}

// Only the first answer has secrets.
function withoutSecrets(json) {
  return JSON.parse(JSON.stringify(json, (name, value) => (['plaintext', 'token', 'path', 'page_path'].includes(name) ? null : value)));
}

test('a request repeated after kill -9 has the answer of the first and is done once', async (t) => {
  let server = await start();
  const { data, key } = server;
  t.after(() => server.stop('SIGKILL'));
  let n = 0;
  for (let round = 0; round < N_ROUNDS; round++) {
    const things = await prepare(server, round);
    // The kill comes after n answers: in the first round before any, with all requests in progress, in the last after nearly all.
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
  // Each prompt has its two versions and the restored one; sessions made only for a request are gone.
  for (const prompt of await all(server, '/api/prompts')) if (/^older\d+$/.test(prompt.name)) assert.equal(prompt.latest_version, 3, prompt.name);
  const kept = (await all(server, '/api/sessions')).filter((item) => /^older\d+$/.test(item.intent));
  assert.equal(kept.length, N_ROUNDS * 2);
  for (const task of await all(server, '/api/scheduled-tasks?q=t')) if (/^t\d+$/.test(task.title)) assert.equal((await all(server, `/api/scheduled-tasks/${task.id}/runs`)).length, 1);
  await server.stop();
});

// A server whose model waits at a gate, and a prompt.
async function gated(t) {
  const vendor = await new Gated().listen();
  t.after(() => vendor.close());
  const data = mkdtempSync(join(tmpdir(), 'parley-retries-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  configure(data, `probe: false\nproviders:\n  held:\n    dialect: openai-chat\n    base_url: ${vendor.url}\n`);
  const boot = () => start({ data, login: false });
  const server = await start({ data });
  const { id } = await made(server, '/api/prompts', { name: 'held prompt', content: 'Hello' });
  const again = async (before) => {
    await before.stop('SIGKILL');
    const next = await boot();
    t.after(() => next.stop('SIGKILL'));
    next.key = server.key;
    return next;
  };
  t.after(() => server.stop('SIGKILL'));
  return { vendor, server, again, path: `/api/prompts/${id}/run` };
}

const keyed = (server, path, body, name) => server.raw('POST', path, { body, headers: { 'idempotency-key': name } });

test('a run of a prompt that was killed while the model answered is said once more to those who had no answer', async (t) => {
  const { vendor, server, again, path } = await gated(t);
  const body = { models: ['held/one', 'held/two'], mode: 'answer' };
  const lost = keyed(server, path, body, 'answers').then(() => assert.fail('answered'), () => {});
  await until(() => vendor.waiting.length === 2, 'both are asked');
  const two = vendor.waiting.find((one) => JSON.parse(one.body).model === 'two');
  two.release();
  const asked = async (from) => (await all(from, '/api/sessions')).filter((item) => item.intent === 'held prompt');
  await until(async () => (await asked(server)).some((item) => item.status === 'completed'), 'the second has answered');
  let next = await again(server);
  await lost;
  vendor.waiting.length = 0;
  // Repeated, and killed again.
  const lostAgain = keyed(next, path, body, 'answers').then(() => assert.fail('answered'), () => {});
  await until(() => vendor.waiting.length === 1, 'the first is asked again');
  assert.equal(JSON.parse(vendor.waiting[0].body).model, 'one');
  next = await again(next);
  await lostAgain;
  vendor.waiting.length = 0;
  const last = keyed(next, path, body, 'answers');
  await until(() => vendor.waiting.length === 1, 'the first is asked a third time');
  vendor.open();
  const answer = await last;
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(answer.json.items.map((item) => [item.model, item.status, item.text]), [['held/one', 'completed', 'done'], ['held/two', 'completed', 'done']]);
  assert.equal(vendor.keys.length, 4);
  assert.deepEqual(await asked(next), []);
  next = await again(next);
  const replayed = await keyed(next, path, body, 'answers');
  assert.deepEqual([replayed.status, replayed.headers['idempotency-replayed'], replayed.json], [201, 'true', answer.json]);
  assert.equal(vendor.keys.length, 4);
});

test('a run of a prompt as sessions has the same sessions after a kill, of the version that was run, also when the prompt is gone', async (t) => {
  const { vendor, server, again, path } = await gated(t);
  const body = { models: ['held/one', 'held/two'] };
  const answer = await keyed(server, path, body, 'sessions');
  assert.equal(answer.status, 201, answer.text);
  await until(() => vendor.waiting.length === 2, 'both are asked');
  assert.equal((await server.raw('DELETE', path.replace('/run', ''))).status, 204);
  const next = await again(server);
  const replayed = await keyed(next, path, body, 'sessions');
  assert.deepEqual([replayed.status, replayed.json], [201, answer.json], replayed.text);
  assert.equal((await all(next, '/api/sessions')).length, 2);
});
