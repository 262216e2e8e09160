// Old entries of queues, with a slow store: a table locked by another connection holds it up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Socket } from './live.mjs';
import { lockTable, skip, url } from './locked.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

function send(server, path, key) {
  const sent = { isAnswered: false };
  sent.answer = server.raw('GET', path, { key }).then((answer) => { sent.isAnswered = true; return answer; });
  return sent;
}

const metric = async (server, name) => Number((await server.raw('GET', '/metrics')).text.split('\n').find((line) => line.startsWith(`${name} `)).split(' ')[1]);
const waiting = (server) => metric(server, 'parley_queue_jobs{lane="store"}');

async function makeUsers(server, n) {
  const keys = [];
  for (let i = 0; i < n; i++) keys.push((await server.ask('POST', '/api/users', { body: { name: `user ${i}` } })).json.key.plaintext);
  return keys;
}

test('one whose requests the store holds up leaves room for others, and a queue that is old is told', { skip }, async (t) => {
  const server = await start({ args: ['--store', url], env: { PARLEY_QUEUE_WAIT_MS: '600000' } });
  const [stuck, other, third] = await makeUsers(server, 3);
  const { letGo } = await lockTable(t, 'prompts');
  // Each request to the store times out after 5 s, three at a time, so the last of many wait longer than that.
  const pending = Array.from({ length: 18 }, () => send(server, '/api/prompts', stuck));
  await until(async () => await waiting(server) === 15, 'three that are held and others that wait');
  assert.equal((await server.ask('GET', '/api/sessions', { key: other })).status, 200);
  assert.equal((await server.ask('GET', '/healthz', { key: null })).status, 200);
  let ready;
  await until(async () => (ready = await server.ask('GET', '/readyz', { key: null })).status === 503, 'a queue that is old');
  assert.match(ready.json.detail, /lane "store"/);
  assert.ok(Number(ready.headers['retry-after']) > 0);
  assert.equal((await server.ask('GET', '/healthz', { key: null })).status, 200);
  assert.equal((await server.ask('GET', '/api/sessions', { key: third })).status, 200);
  assert.ok(pending.some((sent) => !sent.isAnswered));
  await letGo();
  for (const { answer } of pending) assert.ok([200, 503].includes((await answer).status));
  assert.equal((await server.ask('GET', '/api/prompts', { key: stuck })).status, 200);
  assert.equal(await metric(server, 'parley_queue_oldest_seconds{lane="store"}'), 0);
  assert.equal((await server.ask('GET', '/readyz', { key: null })).status, 200);
  await server.stop();
});

test('a request that has waited too long is answered 503 with Retry-After, and did nothing', { skip }, async (t) => {
  const server = await start({ args: ['--store', url], login: false, env: { PARLEY_QUEUE_WAIT_MS: '100' } });
  const key = server.key ?? (await server.raw('POST', '/api/user/api-keys', { key: null, socketPath: `${server.data}/parley.sock`, body: { name: 'second' } })).json.plaintext;
  server.key = key;
  const { letGo } = await lockTable(t, 'prompts');
  const held = Array.from({ length: 4 }, () => send(server, '/api/prompts', key)); // three of them have a thread
  await until(async () => await metric(server, 'parley_jobs_refused_total{lane="store"}') >= 1, 'one that waited too long');
  await until(() => held.some((sent) => sent.isAnswered), 'its answer');
  const late = await held.find((sent) => sent.isAnswered).answer;
  assert.deepEqual([late.status, late.json.code], [503, 'overloaded']);
  assert.match(late.json.detail, /The server is busy/);
  assert.ok(Number(late.headers['retry-after']) > 0);
  await letGo();
  for (const { answer } of held) assert.ok([200, 503].includes((await answer).status));
  assert.equal((await server.ask('GET', '/api/prompts')).status, 200);
  await server.stop();
});

test('a snapshot that has waited too long for its turn is made when there is one', { skip }, async (t) => {
  const server = await start({ args: ['--store', url], login: false, env: { PARLEY_QUEUE_WAIT_MS: '100' } });
  server.key = (await server.raw('POST', '/api/user/api-keys', { key: null, socketPath: `${server.data}/parley.sock`, body: { name: 'third' } })).json.plaintext;
  const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
  const sockets = [];
  t.after(() => { for (const socket of sockets) socket.close(); });
  const subscribe = async () => {
    const socket = await new Socket(server).opened;
    sockets.push(socket);
    return { socket, ack: socket.ask('session:subscribe', { session_id: id }) };
  };
  assert.equal((await (await subscribe()).ack).ok, true); // from here on the session is loaded
  const { letGo } = await lockTable(t, 'turns');
  const others = await Promise.all(Array.from({ length: 6 }, subscribe));
  await until(async () => await metric(server, 'parley_jobs_refused_total{lane="store"}') >= 1, 'one that waited too long');
  await letGo();
  for (const { socket, ack } of others) {
    assert.equal((await ack).ok, true);
    await socket.next((frame) => frame.event === 'session:snapshot', 'its snapshot');
  }
  await server.stop();
});
