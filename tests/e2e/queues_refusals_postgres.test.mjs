// Work that waited too long for a thread: a request, an upload and a fetch are answered 503 with Retry-After, a socket
// message gets an error frame, and a task waits and then runs once. The threads of a user are blocked by reads of a
// table that another connection has locked, until the test releases them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { Socket, closing, endsWell, script, serve } from './live.mjs';
import { lockTable, skip, url } from './locked.mjs';
import { until } from './waiting.mjs';

const metric = async (server, name) => Number((await server.raw('GET', '/metrics')).text.split('\n').find((line) => line.startsWith(`${name} `)).split(' ')[1]);
const refused = (server, lane = 'store') => metric(server, `parley_jobs_refused_total{lane="${lane}"}`);

// A server whose store answers on command, with four threads for it, and a user.
async function begin(t, env = {}) {
  const server = await serve({ args: ['--store', url, '--workers', '4', '--allow-fetch', '127.0.0.1'], login: false, env: { PARLEY_STORE_ANSWER_MS: '600000', PARLEY_QUEUE_WAIT_MS: '200', ...env } });
  t.after(() => server.stop('SIGKILL'));
  const byControl = (path, body) => server.raw('POST', path, { key: null, socketPath: `${server.data}/parley.sock`, headers: { host: 'local' }, body });
  server.key = (await byControl('/api/user/api-keys', { name: 'admin' })).json.plaintext;
  const user = async (name) => (await byControl('/api/users', { name })).json.key.plaintext;
  return { server, user };
}

// Blocks `n` reads of prompts in the database for each key; resolves with a function that releases them and waits for their answers.
async function holdThreads(t, server, keys, n) {
  const { letGo, waiting } = await lockTable(t, 'prompts');
  const held = keys.flatMap((key) => Array.from({ length: n }, () => server.raw('GET', '/api/prompts', { key })));
  await until(async () => await waiting() === n * keys.length, 'the threads are held');
  return async () => {
    await letGo();
    for (const answer of held) assert.equal((await answer).status, 200);
  };
}

function isOverloaded({ status, json, headers, text }) {
  assert.deepEqual([status, json?.code, json?.retryable], [503, 'overloaded', true], text);
  assert.ok(Number(headers['retry-after']) > 0);
}

test('requests of a user whose queue is old are refused with 503, and nothing of them was done', { skip }, async (t) => {
  const { server, user } = await begin(t);
  const [key, other] = [await user('held'), await user('other')];
  const session = (await server.ask('POST', '/api/sessions', { key, body: {} })).json.id;
  const task = (await server.ask('POST', '/api/scheduled-tasks', { key, body: { title: 'A task', prompt: 'hello', cron: '0 0 1 1 *' } })).json.id;
  const letGo = await holdThreads(t, server, [key], 3);
  const asked = [
    ['GET', '/api/sessions'], ['GET', '/api/memories'], ['POST', '/api/memories', { content: 'x' }],
    ['POST', '/api/memories/search', { query: 'x' }], ['GET', '/api/usage'], ['GET', `/api/sessions/${session}/messages`],
    ['POST', `/api/sessions/${session}/chat`, { message: 'hello', client_message_id: 'one' }],
    ['POST', '/api/prompts', { name: 'p', content: 'x' }], ['POST', `/api/scheduled-tasks/${task}/run`, {}],
  ];
  for (const [method, path, body] of asked) isOverloaded(await server.raw(method, path, { key, body }));
  assert.equal((await server.ask('GET', '/api/sessions', { key: other })).status, 200, 'one thread is left for others');
  await letGo();
  for (const path of ['/api/memories', '/api/prompts', `/api/scheduled-tasks/${task}/runs`]) {
    assert.deepEqual((await server.ask('GET', path, { key })).json.items, [], path);
  }
  assert.deepEqual((await server.ask('GET', `/api/sessions/${session}/messages`, { key })).json, []);
  await endsWell(server);
});

test('whoever holds threads of every lane still leaves others a thread, and a connection to the database', { skip }, async (t) => {
  const { server, user } = await begin(t, { PARLEY_QUEUE_WAIT_MS: '600000' });
  const [key, other] = [await user('held'), await user('other')];
  const prompt = (await server.ask('POST', '/api/prompts', { key, body: { name: 'p', content: 'hello' } })).json.id;
  const { letGo, waiting } = await lockTable(t, 'prompts');
  const held = Array.from({ length: 3 }, () => [
    server.raw('GET', '/api/prompts', { key }), // reads
    server.raw('GET', '/api/prompts/files', { key }), // computes
    server.raw('POST', `/api/prompts/${prompt}/lint`, { key, body: {} }),
  ]).flat();
  held.push(server.raw('GET', '/metrics')); // measures the store
  await until(async () => await waiting() >= 6, 'three that read and three that compute');
  assert.equal((await server.ask('GET', '/api/sessions', { key: other })).status, 200);
  assert.equal((await server.ask('POST', '/api/memories', { key: other, body: { content: 'x' } })).status, 201);
  await letGo();
  for (const answer of held) assert.equal((await answer).status, 200);
  await endsWell(server);
});

async function openFile(t) {
  const file = http.createServer((request, response) => response.end('hello')).listen(0, '127.0.0.1');
  t.after(() => file.close());
  await once(file, 'listening');
  return `http://127.0.0.1:${file.address().port}/`;
}

test('what was stored before its queue grew old is never refused: it is answered when there is a thread', { skip }, async (t) => {
  const { server, user } = await begin(t);
  const key = await user('held');
  const file = await openFile(t);
  const letGo = await holdThreads(t, server, [key], 3);
  const before = await metric(server, 'parley_queue_jobs{lane="store"}');
  const sent = [
    server.raw('POST', '/api/blobs/fetch', { key, body: { url: file } }),
    server.raw('POST', '/api/blobs', { key, body: 'bytes', headers: { 'content-type': 'text/plain' } }),
  ];
  await until(async () => await metric(server, 'parley_queue_jobs{lane="store"}') === before + 2, 'both are stored and wait for a thread');
  const n = await refused(server);
  // It has waited longer than allowed: a later request has already been refused.
  isOverloaded(await server.raw('GET', '/api/memories', { key }));
  assert.equal(await refused(server), n + 1);
  await letGo();
  for (const answer of sent) assert.equal((await answer).status, 201, (await answer).text);
  assert.equal((await server.ask('GET', '/api/blobs', { key })).json.items.length, 2);
  await endsWell(server);
});

test('a fetch whose bytes cannot be looked at in time is refused with 503, and nothing is kept', { skip }, async (t) => {
  const { server, user } = await begin(t, { PARLEY_QUEUE_WAIT_MS: '1' });
  const key = await user('held');
  const file = await openFile(t);
  // Long words keep the user's computing threads busy.
  const letters = Array.from({ length: 1 << 19 }, (_, i) => String.fromCharCode(97 + ((i * 7919) % 26))).join('');
  const large = JSON.stringify({ model: 'gpt-4o', document: { messages: [{ role: 'user', content: letters }] } });
  let isOver = false;
  const busy = Array.from({ length: 4 }, async () => {
    while (!isOver) assert.ok([200, 503].includes((await server.raw('POST', '/api/tokens', { body: large, key })).status));
  });
  const late = await until(async () => {
    const answer = await server.raw('POST', '/api/blobs/fetch', { key, body: { url: file, name: 'x' } });
    if (answer.status === 201) await server.raw('DELETE', `/api/blobs/${answer.json.id}`, { key });
    return answer.status !== 201 && answer;
  }, 'a fetch that is refused');
  isOver = true;
  isOverloaded(late);
  await Promise.all(busy);
  await until(async () => (await server.raw('GET', '/api/blobs', { key })).json.items?.length === 0, 'nothing was kept');
  await endsWell(server);
});

test('a message of a socket that has waited too long gets an error frame, and may be sent again', { skip }, async (t) => {
  const { server, user } = await begin(t);
  const key = await user('held');
  const session = (await server.ask('POST', '/api/sessions', { key, body: {} })).json.id;
  const socket = await closing(t, new Socket(server, { key })).opened;
  const letGo = await holdThreads(t, server, [key], 3);
  const say = () => socket.ask('chat:send', { session_id: session, message: 'hello', client_message_id: 'one' });
  const late = await say();
  assert.equal(late.ok, false);
  assert.deepEqual([late.error.code, late.error.retryable], ['overloaded', true], JSON.stringify(late));
  await letGo();
  const again = await say();
  assert.equal(again.ok, true, JSON.stringify(again));
  await until(async () => (await server.ask('GET', `/api/sessions/${session}`, { key })).json.status === 'completed', 'its answer');
  const turns = (await server.ask('GET', `/api/sessions/${session}/messages`, { key })).json;
  assert.equal(turns.filter((turn) => turn.role === 'user').length, 1, 'it was said once');
  await endsWell(server);
});

test('a task whose time comes while all threads are held waits, and runs once', { skip: skip || noClock }, async (t) => {
  const clock = new Clock('2026-03-02T11:00:00Z');
  const { server, user } = await begin(t, clock.env);
  const [key, other] = [await user('held'), await user('other')];
  const make = async (of, cron) => (await server.ask('POST', '/api/scheduled-tasks', { key: of, body: { title: 'A task', prompt: 'hello', cron } })).json;
  const [task, theirs] = [await make(key, '0 12 * * *'), await make(other, '0 0 1 1 *')];
  // A change of the other user's task makes the scheduler read the clock.
  const nudge = () => server.ask('PATCH', `/api/scheduled-tasks/${theirs.id}`, { key: other, body: { title: theirs.title } });
  // The user's share of threads is blocked: the scheduler finds the task, but cannot prepare its run.
  let letGo = await holdThreads(t, server, [key], 3);
  let before;
  clock.set('2026-03-02T12:00:01Z');
  await until(async () => { before = await refused(server); return (await nudge()).status === 200; }, 'the one thread that is left');
  await until(async () => await refused(server) > before, 'a run that was refused');
  await letGo();
  const runs = async () => (await server.ask('GET', `/api/scheduled-tasks/${task.id}/runs`, { key })).json.items;
  await nudge();
  await until(async () => (await runs())[0]?.status === 'completed', 'it ran');
  assert.deepEqual((await runs()).map((run) => [run.due_at, run.status]), [['2026-03-02T12:00:00.000Z', 'completed']]);
  // All threads are blocked: even the list of due tasks cannot be read. The scheduler tries again.
  letGo = await holdThreads(t, server, [key, other], 2);
  before = await refused(server);
  clock.set('2026-03-03T12:00:01Z');
  await until(async () => await refused(server) > before, 'a look that was refused');
  await letGo();
  await nudge();
  await until(async () => (await runs())[0]?.due_at.startsWith('2026-03-03') && (await runs())[0].status === 'completed', 'it ran');
  assert.equal((await runs()).length, 2);
  await endsWell(server);
});

test('a subscription that has waited too long comes when there is a thread', { skip }, async (t) => {
  const { server, user } = await begin(t);
  const key = await user('held');
  const session = (await server.ask('POST', '/api/sessions', { key, body: {} })).json.id;
  const socket = await closing(t, new Socket(server, { key })).opened;
  const letGo = await holdThreads(t, server, [key], 3);
  const before = await refused(server);
  const ack = socket.ask('session:subscribe', { session_id: session });
  await until(async () => await refused(server) > before, 'one that waited too long');
  await letGo();
  assert.equal((await ack).ok, true);
  await socket.next((frame) => frame.event === 'session:snapshot', 'its snapshot');
  await endsWell(server);
});

test('runs that a server cannot read at its start are taken up when the store answers', { skip }, async (t) => {
  const first = await begin(t);
  const key = await first.user('asks');
  const prompt = script('call AskUserQuestion {"questions":[{"question":"Really?","options":[{"label":"yes"},{"label":"no"}]}]}');
  const task = (await first.server.ask('POST', '/api/scheduled-tasks', { key, body: { title: 'Asks', prompt, model: 'demo/agent', cron: '0 0 1 1 *' } })).json;
  const { session_id: session } = (await first.server.ask('POST', `/api/scheduled-tasks/${task.id}/run`, { key })).json;
  const questions = async (server) => (await server.ask('GET', `/api/sessions/${session}/questions`, { key })).json.items;
  await until(async () => (await questions(first.server)).length, 'its question');
  await first.server.stop('SIGKILL');
  const { letGo } = await lockTable(t, 'tasks');
  const server = await serve({ args: ['--store', url], login: false, env: { PARLEY_STORE_ANSWER_MS: '2000' } });
  t.after(() => server.stop('SIGKILL'));
  await server.logged('unfinished runs of tasks could not be read');
  await letGo();
  const [{ tool_call_id: call }] = await questions(server);
  assert.equal((await server.ask('POST', `/api/sessions/${session}/questions/${call}/answer`, { key, body: { answer: { answers: ['yes'] } } })).status, 200);
  const run = async () => (await server.ask('GET', `/api/scheduled-tasks/${task.id}/runs`, { key })).json.items[0];
  await until(async () => (await run()).finished_at, 'its run has ended');
  assert.equal((await run()).status, 'completed');
  await endsWell(server);
});
