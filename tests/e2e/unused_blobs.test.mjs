// Blobs without references are deleted after a grace period, and not before. Also runs on PostgreSQL, with with_postgres.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { configure } from './gated.mjs';
import { clientOf, endsWell, serve, settled, until } from './live.mjs';

const HOUR = 3_600_000;
const url = process.env.PARLEY_TEST_POSTGRES;
const skip = noClock;

const text = (words) => `data:text/plain;base64,${Buffer.from(words).toString('base64')}`;
const filePart = (words) => ({ type: 'file', file: { filename: 'a.txt', file_data: text(words) } });
const figure = async (server, name) => Number((await server.ask('GET', '/metrics')).text.match(new RegExp(`^parley_${name} (\\d+)$`, 'm'))[1]);

// The tests share a PostgreSQL database with its first key; the clock of each test is later than that of the one before.
let firstKey, month = 0;

// Starts with a clock; `again` opens the same store later.
async function begin(t, config = '') {
  const data = mkdtempSync(join(tmpdir(), 'parley-unused-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const clock = new Clock(`2026-0${++month}-01T12:00:00Z`);
  let server, key = url && firstKey;
  const open = async (settings = config) => {
    configure(data, `probe: false\n${/deleted_days/.test(settings) ? '' : 'deleted_days: 0\n'}${settings}`);
    server = await serve({ data, env: clock.env, args: url ? ['--store', url] : [] });
    t.after(() => server.stop('SIGKILL'));
    key ??= server.key;
    firstKey ??= key;
    server.key = key;
    return server;
  };
  await open();
  return { clock, data, server, again: async (ms, settings) => { await endsWell(server); clock.put(ms); return open(settings); } };
}

async function said(server, message, key = server.key) {
  const client = clientOf(server, key);
  const { id } = await client.createSession({ model: 'demo/echo' });
  await client.chat(id, { message });
  await settled(client, id);
  const turns = await server.ask('GET', `/api/sessions/${id}/messages?limit=50`, { key });
  return { id, blob: JSON.stringify(turns.json).match(/blob_[0-9a-f-]{36}/)?.[0] };
}

const status = async (server, blob, key = server.key) => (await server.ask('GET', `/api/blobs/${blob}`, { key })).status;

test('what can be had back keeps its blobs; gone for good, they go at once', { skip }, async (t) => {
  let { server, again } = await begin(t, 'deleted_days: 30\n');
  const { id, blob } = await said(server, [filePart('w'.repeat(30))]);
  assert.equal((await server.ask('DELETE', `/api/sessions/${id}`)).status, 204);
  server = await again(48 * HOUR);
  assert.equal(await status(server, blob), 200);
  assert.equal((await server.ask('DELETE', `/api/deleted/${id}`)).status, 204);
  server = await again(HOUR);
  await until(async () => (await status(server, blob)) === 404, () => 'the blob is still there');
});

test('what only a deleted session used goes after a day, and the quota with it; the rest stays', { skip }, async (t) => {
  let { server, again } = await begin(t);
  const made = (await server.ask('POST', '/api/users', { body: { name: `ada-${Date.now()}` } })).json;
  const key = made.key.plaintext;
  assert.equal((await server.ask('PATCH', `/api/users/${made.id}`, { body: { limits: { max_blob_bytes: 100 } } })).status, 200);
  const gone = await said(server, [filePart('g'.repeat(60))], key);
  const kept = await said(server, [filePart('k'.repeat(20))], key);
  assert.ok(gone.blob && kept.blob);
  // Uploaded directly, and used by nothing.
  const own = (await server.ask('POST', '/api/blobs', { key, body: Buffer.from('own'), headers: { 'content-type': 'text/plain' } })).json.id;
  const both = (await server.ask('POST', '/api/blobs', { key, body: Buffer.from('both'), headers: { 'content-type': 'text/plain' } })).json.id;
  const first = await said(server, [{ type: 'media', content: { kind: 'file', blob: both } }], key);
  await said(server, [{ type: 'media', content: { kind: 'file', blob: both } }], key);
  const full = await server.ask('POST', '/api/blobs', { key, body: Buffer.from('x'.repeat(50)), headers: { 'content-type': 'text/plain' } });
  assert.equal(full.status, 409);
  assert.match(full.json.detail, /as many bytes as allowed/);
  for (const { id } of [gone, first]) assert.equal((await server.ask('DELETE', `/api/sessions/${id}`, { key })).status, 204);

  server = await again(23 * HOUR);
  assert.equal(await status(server, gone.blob, key), 200, 'within the grace it is there');
  server = await again(2 * HOUR);
  await until(async () => (await status(server, gone.blob, key)) === 404, () => 'the blob is still there');
  for (const blob of [kept.blob, own, both]) assert.equal(await status(server, blob, key), 200);
  assert.equal(await figure(server, 'blobs_collected_total'), 1);
  assert.equal(await figure(server, 'blobs_collected_bytes_total'), 60);
  await server.logged('deleted 1 blobs (60 bytes) that nothing referred to any more');
  assert.equal((await server.ask('POST', '/api/blobs', { key, body: Buffer.from('x'.repeat(50)), headers: { 'content-type': 'text/plain' } })).status, 201);
  server = await again(48 * HOUR);
  assert.equal(await figure(server, 'blobs_collected_total'), 0);
  await endsWell(server);
});

test('prompts, tasks and retention let go of blobs too; blob_grace: off keeps all', { skip }, async (t) => {
  let { server, again } = await begin(t, 'blob_grace: 2d\n');
  const upload = async (words) => (await server.ask('POST', '/api/blobs', { body: Buffer.from(words), headers: { 'content-type': 'text/plain' } })).json.id;
  const [ofPrompt, ofTask, ofBoth] = [await upload(`p${Date.now()}`), await upload(`t${Date.now()}`), await upload(`b${Date.now()}`)];
  const old = await said(server, [filePart(`old ${Date.now()}`)]);
  const prompt = (await server.ask('POST', '/api/prompts', { body: { name: `p ${Date.now()}`, type: 'text', content: `See /api/blobs/${ofPrompt} and /api/blobs/${ofBoth}.` } })).json;
  assert.ok(prompt.id, JSON.stringify(prompt));
  const task = (await server.ask('POST', '/api/scheduled-tasks', { body: { title: 't', prompt: `See /api/blobs/${ofTask} and /api/blobs/${ofBoth}.`, cron: '0 0 1 1 *' } })).json;
  assert.equal((await server.ask('DELETE', `/api/prompts/${prompt.id}`)).status, 204);

  server = await again(72 * HOUR, 'blob_grace: off\nretention_days: 2\n');
  await until(async () => (await server.ask('GET', `/api/sessions/${old.id}`)).status === 404, () => 'retention does nothing');
  for (const blob of [ofPrompt, ofTask, ofBoth, old.blob]) assert.equal(await status(server, blob), 200);
  server = await again(HOUR, 'blob_grace: 1h\n');
  await until(async () => (await status(server, ofPrompt)) === 404, () => 'the blob of the prompt is there');
  await until(async () => (await status(server, old.blob)) === 404, () => 'the blob of the expired session is there');
  for (const blob of [ofTask, ofBoth]) assert.equal(await status(server, blob), 200);
  assert.equal((await server.ask('DELETE', `/api/scheduled-tasks/${task.id}`)).status, 204);
  server = await again(2 * HOUR, 'blob_grace: 1h\n');
  for (const blob of [ofTask, ofBoth]) await until(async () => (await status(server, blob)) === 404, () => 'the blob of the task is there');
  await endsWell(server);
});

test('a blob that is named again in time stays', { skip }, async (t) => {
  let { server, again } = await begin(t);
  const words = `again ${Date.now()}`;
  const one = await said(server, [filePart(words)]);
  assert.equal((await server.ask('DELETE', `/api/sessions/${one.id}`)).status, 204);
  server = await again(23 * HOUR);
  // The same bytes are the same blob; a copy of the session refers to it, too.
  const two = await said(server, [filePart(words)]);
  assert.equal(two.blob, one.blob);
  const fork = await server.ask('POST', `/api/sessions/${two.id}/fork`, { body: {} });
  assert.equal(fork.status, 201, fork.text);
  assert.equal((await server.ask('DELETE', `/api/sessions/${two.id}`)).status, 204);
  server = await again(26 * HOUR);
  assert.equal(await status(server, one.blob), 200);
  server = await again(26 * HOUR);
  assert.equal(await status(server, one.blob), 200);
  assert.equal((await server.ask('DELETE', `/api/sessions/${fork.json.id}`)).status, 204);
  server = await again(26 * HOUR);
  await until(async () => (await status(server, one.blob)) === 404, () => 'the blob is still there');
  await endsWell(server);
});
