// Limits on the memory for request bodies, before and after authentication, and on the connections of an address. The
// amount in use is the server's own count (parley_body_bytes).
import assert from 'node:assert/strict';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { RawSocket, closing, endsWell, frame, serve, until } from './live.mjs';

const KIB = 1024, MIB = 1024 * KIB;

// A connection on which the test controls each write; `said` is the answer so far.
class Half {
  constructor(server) {
    this.said = '';
    this.isOver = false;
    this.net = net.connect(server.port, '127.0.0.1');
    this.net.on('data', (data) => { this.said += data.toString('latin1'); });
    this.net.on('error', () => {});
    this.net.on('close', () => { this.isOver = true; });
  }

  head(server, method, path, headers) {
    const lines = { Host: new URL(server.url).host, 'Content-Type': 'application/json', ...headers };
    this.net.write(`${method} ${path} HTTP/1.1\r\n${Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    return this;
  }

  send(bytes) {
    this.net.write(bytes);
    return this;
  }

  async status() {
    await until(() => /^HTTP\/1\.1 \d+ [\s\S]*\r\n\r\n/.test(this.said) || this.isOver, 'an answer');
    return Number(this.said.match(/^HTTP\/1\.1 (\d+) /)?.[1]);
  }

  retryAfter() { return Number(this.said.match(/\r\nRetry-After: (\d+)\r\n/)?.[1]); }
  close() { this.net.destroy(); }
}

async function metric(server, name) {
  const { text } = await server.raw('GET', '/metrics', { socketPath: join(server.data, 'parley.sock'), key: null, headers: { host: 'local' } });
  return Number(text.match(new RegExp(`^parley_${name} (\\d+)$`, 'm'))[1]);
}
const holds = (server, n) => until(async () => (await metric(server, 'body_bytes')) === n, `the server holds ${n} bytes of bodies`);

async function newUser(server, name) {
  const { json } = await server.ask('POST', '/api/users', { body: { name } });
  return json.plaintext ?? json.key?.plaintext ?? json.api_key?.plaintext;
}

// A valid body for POST /api/detect of exactly n bytes.
const bodyOf = (n) => {
  const text = '{"document":{"messages":[{"role":"user","content":""}]}}';
  return text.replace('"content":""', `"content":"${'c'.repeat(n - text.length)}"`);
};
const detect = (server, key, n) => new Half(server).head(server, 'POST', '/api/detect', { Authorization: `Bearer ${key}`, 'Content-Length': n });

test('a login has 4 KiB, and not a byte more, however it comes', async () => {
  const server = await serve({ login: false });
  const chunked = (n) => `${n.toString(16)}\r\n${' '.repeat(n)}\r\n0\r\n\r\n`;
  const cases = [
    [400, { 'Content-Length': 4096 }, ' '.repeat(4096)], [413, { 'Content-Length': 4097 }, ' '.repeat(4097)],
    [400, { 'Transfer-Encoding': 'chunked' }, chunked(4096)], [413, { 'Transfer-Encoding': 'chunked' }, chunked(4097)],
  ];
  for (const [status, headers, body] of cases) {
    const half = new Half(server).head(server, 'POST', '/api/login', headers).send(body);
    assert.equal(await half.status(), status, JSON.stringify(headers));
    half.close();
  }
  await endsWell(server);
});

test('two hundred strangers make the server hold 4 KiB each at most', async () => {
  const server = await serve();
  const promised = Array.from({ length: 100 }, () => new Half(server).head(server, 'POST', '/api/login', { 'Content-Length': 4 * MIB }).send(' '.repeat(64 * KIB)));
  for (const half of promised) assert.equal(await half.status(), 413);
  const dripping = Array.from({ length: 100 }, () => new Half(server).head(server, 'POST', '/api/login', { 'Content-Length': 4096 }).send(' '.repeat(4000)));
  await holds(server, 100 * 4000);
  for (const half of [...promised, ...dripping]) half.close();
  await holds(server, 0);
  await endsWell(server);
});

test('without a key nothing of a body is kept', async () => {
  const server = await serve();
  for (const path of ['/api/convert', '/v1/chat/completions', '/api/sessions', '/api/blobs', '/nowhere']) {
    const half = new Half(server).head(server, 'POST', path, { 'Content-Length': 200 * KIB }).send(' '.repeat(100 * KIB));
    await until(async () => (await metric(server, 'request_bytes_total')) >= 100 * KIB || half.said, 'the bytes came');
    assert.equal(await metric(server, 'body_bytes'), 0, path);
    half.send(' '.repeat(100 * KIB));
    assert.ok([401, 404].includes(await half.status()), path);
    half.close();
  }
  await endsWell(server);
});

test('a method without a body takes none', async () => {
  const server = await serve();
  const { json } = await server.ask('POST', '/api/sessions', { body: {} });
  const cases = [['GET', '/api/me'], ['GET', '/healthz'], ['HEAD', '/api/me'], ['DELETE', `/api/sessions/${json.id ?? json.session_id}`]];
  for (const [method, path] of cases) {
    const half = new Half(server).head(server, method, path, { Authorization: `Bearer ${server.key}`, 'Content-Length': 1 }).send(' ');
    assert.equal(await half.status(), 413, `${method} ${path}`);
    half.close();
  }
  // A route that reads no body accepts an empty object, and nothing large.
  assert.equal((await server.raw('POST', '/api/ws-tickets', { body: {} })).status, 201);
  assert.equal((await server.raw('POST', '/api/ws-tickets', { body: ' '.repeat(4097) })).status, 413);
  await endsWell(server);
});

test('memory for a body grows with what has come', async () => {
  const server = await serve();
  const half = detect(server, server.key, 4 * MIB).send('{');
  await holds(server, 1);
  half.send(' '.repeat(9999));
  await holds(server, 10_000);
  half.close();
  await holds(server, 0);
  await endsWell(server);
});

test('one user has a quarter of the memory for bodies, all have seven eighths, and small requests pass', async () => {
  const server = await serve({ args: ['--body-memory', '4'] });
  const [b, c, d, e] = await Promise.all(['b', 'c', 'd', 'e'].map((name) => newUser(server, name)));
  // A body larger than a quarter of the limit is never accepted.
  assert.equal((await server.raw('POST', '/api/detect', { body: bodyOf(MIB + 1) })).status, 413);
  assert.equal((await server.raw('POST', '/api/detect', { body: bodyOf(MIB) })).status, 200);

  const open = [detect(server, server.key, MIB).send(bodyOf(MIB).slice(0, -1))];
  await holds(server, MIB - 1);
  const second = detect(server, server.key, 70 * KIB).send(bodyOf(70 * KIB));
  assert.equal(await second.status(), 429);
  assert.ok(second.retryAfter() > 0);
  // A body without a declared length is refused once it exceeds the limit.
  const third = new Half(server).head(server, 'POST', '/api/detect', { Authorization: `Bearer ${server.key}`, 'Transfer-Encoding': 'chunked' })
    .send(`${(300 * KIB).toString(16)}\r\n${' '.repeat(300 * KIB)}\r\n`);
  assert.equal(await third.status(), 429);
  assert.equal((await server.raw('POST', '/api/detect', { body: bodyOf(60 * KIB) })).status, 200);

  for (const key of [b, c]) open.push(detect(server, key, MIB).send(bodyOf(MIB).slice(0, -1)));
  await holds(server, 3 * (MIB - 1));
  const fourth = detect(server, d, MIB);
  assert.equal(await fourth.status(), 503);
  assert.ok(fourth.retryAfter() > 0);
  // On a vendor's route the error has the vendor's format.
  const asked = new Half(server).head(server, 'POST', '/v1/chat/completions', { Authorization: `Bearer ${d}`, 'Content-Length': 600 * KIB });
  assert.equal(await asked.status(), 503);
  assert.ok(asked.retryAfter() > 0);
  assert.match(asked.said, /"error":\{/);
  // The reserve is for small bodies of every user, whatever the user already holds.
  for (const key of [server.key, d, e]) assert.equal((await server.raw('POST', '/api/detect', { key, body: bodyOf(60 * KIB) })).status, 200);

  // The remaining bytes arrive: each request is answered, and all memory is released.
  for (const half of open) half.send('}');
  for (const half of open) assert.equal(await half.status(), 200);
  await holds(server, 0);
  for (const half of [...open, second, third, fourth, asked]) half.close();
  await endsWell(server);
});

test('half a message on a socket counts, and one that goes over the share is told to come later', async (t) => {
  const server = await serve({ args: ['--body-memory', '4'] });
  const first = await closing(t, new RawSocket(server)).open();
  const text = Buffer.from(`{"id":1,"event":"ping","data":{"pad":"${'p'.repeat(600 * KIB)}"}}`);
  const whole = frame(1, text);
  first.net.write(whole.subarray(0, -1));
  await holds(server, text.length - 1);
  const second = await closing(t, new RawSocket(server)).open();
  second.net.write(whole.subarray(0, -1));
  assert.equal(await second.closeCode(), 1013);
  first.net.write(whole.subarray(-1));
  const said = await first.next(({ opcode }) => opcode === 1);
  assert.equal(JSON.parse(String(said.payload)).event, 'pong');
  await holds(server, 0);
  await endsWell(server);
});

test('a burst buys ten seconds of waiting and no more', async () => {
  const server = await serve();
  const half = detect(server, server.key, 4 * MIB).send(' '.repeat(2 * MIB));
  await holds(server, 2 * MIB);
  assert.equal(await half.status(), 408);
  await holds(server, 0);
  half.close();
  await endsWell(server);
});

test('an address has as many connections as it may, one more is told 429, and sockets count', async (t) => {
  const server = await serve({ args: ['--max-connections-per-address', '4'], login: false });
  const count = () => metric(server, 'http_connections');
  const quiet = Array.from({ length: 3 }, () => new Half(server));
  const socket = await closing(t, new RawSocket(server, { key: null })).open();
  await until(async () => (await count()) === 5, 'four, and the one that asks by the Unix socket');
  const over = new Half(server).head(server, 'GET', '/healthz', {});
  assert.equal(await over.status(), 429);
  assert.ok(over.retryAfter() > 0);
  await until(() => over.isOver || (over.net.end(), over.isOver), 'it is closed');
  socket.close();
  await until(async () => (await count()) === 4, 'the socket is gone');
  const next = new Half(server).head(server, 'GET', '/healthz', {});
  assert.equal(await next.status(), 200);
  for (const half of [...quiet, next]) half.close();
  await endsWell(server);
});

test('loopback may have as many as there are, unless a number is given', async () => {
  const server = await serve();
  const many = Array.from({ length: 1100 }, () => new Half(server));
  await until(async () => (await metric(server, 'http_connections')) > 1100, 'all are open');
  assert.equal(await metric(server, 'http_refused_total'), 0);
  for (const half of many) half.close();
  await endsWell(server);
});
