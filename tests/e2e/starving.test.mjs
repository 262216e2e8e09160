// No user can starve others, neither with hosts that never answer nor with heavy work. The test checks the order of
// events: the other user's answer arrives while earlier requests still wait.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const metricsOf = async (server) => (await server.raw('GET', '/metrics')).text;
const metric = async (server, name) => Number((await metricsOf(server)).split('\n').find((line) => line.startsWith(`${name} `)).split(' ')[1]);

// A host that accepts connections and never answers.
async function openSilentHost() {
  const sockets = new Set();
  const host = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  return {
    url: `http://127.0.0.1:${host.address().port}/x`,
    get n() { return sockets.size; },
    hangUp() { for (const socket of sockets) socket.destroy(); },
    close() { this.hangUp(); host.close(); },
  };
}

async function makeUsers(server, n) {
  const keys = [];
  for (let i = 0; i < n; i++) {
    const { status, json, text } = await server.ask('POST', '/api/users', { body: { name: `user ${i}` } });
    assert.equal(status, 201, text);
    keys.push(json.key.plaintext);
  }
  return keys;
}

// A request in progress, and whether it was answered.
function send(server, method, path, options) {
  const sent = { isAnswered: false };
  sent.answer = server.raw(method, path, options).then((answer) => { sent.isAnswered = true; return answer; });
  return sent;
}
const fetchBy = (server, url, key) => send(server, 'POST', '/api/blobs/fetch', { body: { url }, key });

test('fetches of a host that says nothing delay nobody, and are capped for a user and in all', async () => {
  const host = await openSilentHost();
  const server = await start({ args: ['--allow-fetch', '127.0.0.1'], env: { PARLEY_FETCH_MS: '600000' } });
  const [other, ...users] = await makeUsers(server, 9);
  const pending = [0, 1, 2, 3].map(() => fetchBy(server, host.url, users[0]));
  await until(() => host.n === 4, 'four connections');
  assert.equal((await server.ask('GET', '/api/sessions', { key: other })).status, 200);
  assert.equal((await server.ask('GET', '/api/prompts', { key: users[0] })).status, 200);
  for (let i = 0; i < 4; i++) pending.push(fetchBy(server, host.url, users[0]));
  for (const key of users.slice(1, 5)) for (let i = 0; i < 8; i++) pending.push(fetchBy(server, host.url, key));
  await until(() => host.n === 40, 'forty connections');
  assert.equal((await server.ask('GET', '/api/sessions', { key: other })).status, 200);
  assert.equal((await server.ask('POST', '/api/convert', { key: other, body: { document: { messages: [{ role: 'user', content: 'hi' }] }, to: 'anthropic' } })).status, 200);
  const ninth = await server.ask('POST', '/api/blobs/fetch', { body: { url: host.url }, key: users[0] });
  assert.deepEqual([ninth.status, ninth.json.code], [429, 'rate_limited']);
  assert.ok(Number(ninth.headers['retry-after']) > 0);
  for (const key of users.slice(5)) for (let i = 0; i < 8; i++) pending.push(fetchBy(server, host.url, key));
  await until(() => host.n === 64, 'sixty-four connections');
  const full = await server.ask('POST', '/api/blobs/fetch', { body: { url: host.url }, key: other });
  assert.deepEqual([full.status, full.json.code], [503, 'overloaded']);
  assert.ok(Number(full.headers['retry-after']) > 0);
  assert.equal((await server.ask('GET', '/readyz', { key: null })).status, 200);
  assert.ok(pending.every((sent) => !sent.isAnswered));
  host.hangUp();
  for (const { answer } of pending) assert.equal((await answer).status, 502);
  const again = fetchBy(server, host.url, users[0]);
  await until(() => host.n === 1, 'a slot that was given back');
  host.close();
  assert.equal((await again.answer).status, 502);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('a server ends with a fetch under way', async () => {
  const host = await openSilentHost();
  const server = await start({ args: ['--allow-fetch', '127.0.0.1', '--drain', '0'] });
  const sent = fetchBy(server, host.url, server.key);
  sent.answer.catch(() => {});
  const document = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: host.url } }] }] };
  send(server, 'POST', '/api/sessions/import', { body: { document, media: 'store' } }).answer.catch(() => {});
  await until(() => host.n === 2, 'the connections');
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  host.close();
});

test('a fetch that takes too long is answered at its time, and its host is to blame', async () => {
  const host = await openSilentHost();
  const server = await start({ args: ['--allow-fetch', '127.0.0.1'], env: { PARLEY_FETCH_MS: '200' } });
  const late = await server.ask('POST', '/api/blobs/fetch', { body: { url: host.url } });
  assert.deepEqual([late.status, late.json.code], [502, 'upstream_failed'], late.text);
  assert.match(late.json.detail, /127\.0\.0\.1 is too slow/);
  host.close();
  await server.stop();
});

test('media of an import that nobody sends holds up no worker', async () => {
  const host = await openSilentHost();
  const server = await start({ args: ['--allow-fetch', '127.0.0.1', '--workers', '1'], env: { PARLEY_FETCH_MS: '600000' } });
  const document = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: host.url } }] }] };
  const pending = [0, 1, 2].map(() => send(server, 'POST', '/api/sessions/import', { body: { document, media: 'store' } }));
  await until(() => host.n === 3, 'the connections');
  assert.equal((await server.ask('GET', '/api/sessions')).status, 200);
  assert.equal((await server.ask('POST', '/api/sessions/import', { body: { document } })).status, 201);
  assert.ok(pending.every((sent) => !sent.isAnswered));
  host.close();
  for (const { answer } of pending) {
    const { status, headers } = await answer;
    assert.deepEqual([status, headers['x-media-stored'], headers['x-media-failed']], [201, '0', '1']);
  }
  await server.stop();
});

// Token counts of one user that take a while each, then a small conversion of another user. Two workers compute, so a queue
// without turns would answer the small one only when at most two of the earlier ones are left. A slow client may find all
// of them answered in any order: then it tries again.
test("one user's large documents do not keep another user waiting", async () => {
  const WORKERS = 2;
  // The length of the queue depends on the machine, and is not the subject of this test.
  const server = await start({ args: ['--workers', String(WORKERS)], env: { PARLEY_QUEUE_WAIT_MS: '600000' } });
  const [busy, other] = await makeUsers(server, 2);
  const letters = Array.from({ length: 1 << 19 }, (_, i) => String.fromCharCode(97 + ((i * 7919) % 26))).join('');
  const large = JSON.stringify({ model: 'gpt-4o', document: { messages: [{ role: 'user', content: letters }] } });
  const small = JSON.stringify({ to: 'anthropic', document: { messages: [{ role: 'user', content: 'x'.repeat(300_000) }] } });
  const all = [];
  const waiting = () => all.filter((sent) => !sent.isAnswered);
  await until(async () => {
    await until(async () => {
      while (waiting().length < 24) all.push(send(server, 'POST', '/api/tokens', { body: large, key: busy }));
      return await metric(server, 'parley_queue_jobs{lane="cpu"}') >= 12;
    }, 'a queue');
    const before = waiting();
    assert.equal((await server.raw('POST', '/api/convert', { body: small, key: other })).status, 200);
    return before.filter((sent) => !sent.isAnswered).length > WORKERS;
  }, 'a small one that is served before those that came earlier');
  for (const { answer } of all) assert.equal((await answer).status, 200);
  assert.ok(await metric(server, 'parley_jobs_total{lane="cpu"}') > all.length);
  assert.equal(await metric(server, 'parley_queue_jobs{lane="cpu"}'), 0);
  await server.stop();
});

// A name server that never answers: a socket on port 53 of loopback, which the system is configured to use.
const mounts = spawnSync('unshare', ['-m', 'sh', '-c', 'mount --bind /dev/null /etc/resolv.conf']).status === 0;

test('a name server that says nothing ends a fetch at its time and delays nobody', { skip: !mounts && 'no mounts of one\'s own' }, async (t) => {
  const silent = dgram.createSocket('udp4');
  let nAsked = 0;
  silent.on('message', () => { nAsked++; });
  const bound = await new Promise((resolve) => { silent.once('error', () => resolve(false)); silent.bind(53, '127.0.0.77', () => resolve(true)); });
  if (!bound) return t.skip('port 53 is not ours');
  const conf = join(directory, 'resolv.conf');
  writeFileSync(conf, 'nameserver 127.0.0.77\noptions timeout:30 attempts:5\n');
  const server = await start({
    env: { PARLEY_FETCH_MS: '3000', CONF: conf },
    before: ['unshare', '-m', 'sh', '-c', 'mount --bind "$CONF" /etc/resolv.conf && exec "$0" "$@"'],
  });
  const [attacker, other] = await makeUsers(server, 2);
  const pending = Array.from({ length: 8 }, (_, i) => fetchBy(server, `http://name${i}.example.com/`, attacker));
  await until(() => nAsked > 0, 'a question');
  assert.equal((await server.ask('GET', '/api/sessions', { key: other })).status, 200);
  assert.equal((await server.ask('GET', '/api/sessions', { key: attacker })).status, 200);
  for (const { answer } of pending) {
    const { status, json } = await answer;
    assert.deepEqual([status, json.code], [502, 'upstream_failed']);
    assert.match(json.detail, /^name\d\.example\.com is too slow: the DNS lookup timed out/);
  }
  assert.deepEqual(await server.stop(), { code: 0, signal: null }); // the look-ups still wait
  silent.close();
});
