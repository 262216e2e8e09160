// The socket itself: who may open one, which input it accepts, and its close codes.
import assert from 'node:assert/strict';
import { readFileSync, existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { root } from './harness.mjs';
import { RawSocket, Socket, clientOf, closing, endsWell, frame, script, serve, until } from './live.mjs';

const corpora = process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora');

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const open = async (t, options) => closing(t, await new Socket(server, options).opened);
const raw = async (t, options) => closing(t, await new RawSocket(server, options).open());
const json = (value) => JSON.stringify(value);

async function refusal(options) {
  const response = await new Socket(server, options).opened.then(() => null, (error) => error);
  assert.ok(response?.statusCode, 'the handshake is refused');
  response.resume();
  return response.statusCode;
}

test('a key in the header opens a socket', async (t) => {
  const socket = await open(t);
  assert.equal(socket.ws.protocol, 'parley.v1');
  assert.equal((await socket.ask('ping')).ok, true);
  assert.equal(await refusal({ key: `${server.key.slice(0, -4)}0000` }), 401);
});

test('a ticket opens one socket, once', async (t) => {
  const ticket = await client.ticket();
  const socket = await open(t, { ticket });
  assert.equal((await socket.ask('session:unsubscribe', { session_id: 'sess_x' })).ok, true);
  assert.equal(await refusal({ ticket }), 401);
  assert.equal(await refusal({ ticket: 'nonsense' }), 401);
});

test('the first message may bring the key or a ticket', async (t) => {
  for (const data of [{ key: server.key }, { ticket: await client.ticket() }]) {
    const socket = await open(t, { key: null });
    assert.equal((await socket.ask('auth', data)).ok, true);
    const { id } = await client.createSession();
    assert.equal((await socket.ask('session:subscribe', { session_id: id })).ok, true);
  }
});

test('whoever does not say a valid key first is sent away with 4401', async (t) => {
  const wrong = [
    { event: 'auth', data: { key: 'sk-parley-v1-wrong' } },
    { event: 'auth', data: {} },
    { event: 'session:subscribe', data: { session_id: 'sess_x' } },
    { event: 'chat:send', data: {} },
  ];
  for (const message of wrong) {
    const socket = await open(t, { key: null });
    socket.send(message);
    assert.equal((await socket.closed).code, 4401);
  }
  const twice = await open(t);
  twice.send({ event: 'auth', data: { key: server.key } });
  assert.equal((await twice.closed).code, 4401);
});

test('revoking a key closes its sockets and event streams at once, and no others', async (t) => {
  const made = await (await client.request('POST', '/api/user/api-keys', { name: 'short' })).json();
  const { id } = await client.createSession();
  const sockets = [await open(t, { key: made.plaintext }), await open(t, { key: null }),
    await open(t, { ticket: await clientOf(server, made.plaintext).ticket() })];
  await sockets[1].ask('auth', { key: made.plaintext });
  const other = await open(t);
  await other.ask('session:subscribe', { session_id: id });
  const stream = await fetch(`${server.url}/api/sessions/${id}/events`,
    { headers: { authorization: `Bearer ${made.plaintext}` } });
  assert.equal(stream.status, 200);
  await client.request('DELETE', `/api/user/api-keys/${made.id}`);
  for (const socket of sockets) assert.equal((await socket.closed).code, 4401);
  assert.match(await stream.text(), /"close_code":4401/);
  assert.equal((await other.ask('ping')).ok, true);
  assert.equal(await refusal({ key: made.plaintext }), 401);
});

test('a ticket of a revoked key opens nothing', async () => {
  const made = await (await client.request('POST', '/api/user/api-keys', { name: 'short' })).json();
  const ticket = await clientOf(server, made.plaintext).ticket();
  await client.request('DELETE', `/api/user/api-keys/${made.id}`);
  assert.equal(await refusal({ ticket }), 401);
});

test('another Origin or Host is refused', async (t) => {
  assert.equal(await refusal({ headers: { origin: 'https://evil.example' } }), 403);
  assert.equal(await refusal({ headers: { origin: 'null' } }), 403);
  assert.ok([403, 421].includes(await refusal({ headers: { host: 'evil.example' } })));
  const own = await open(t, { headers: { origin: server.url } });
  assert.equal((await own.ask('ping')).ok, true);
});

test('what is no handshake is refused with a reason', async () => {
  const plain = await server.raw('GET', '/api/ws');
  assert.deepEqual([plain.status, plain.json.code], [400, 'invalid_request']);
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  for (const headers of [
    { ...upgrade },
    { ...upgrade, 'sec-websocket-key': 'short' },
  ]) {
    const lines = Object.entries({ host: new URL(server.url).host, ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const { said } = await server.bytes(`GET /api/ws HTTP/1.1\r\n${lines}\r\n`);
    assert.match(said, /^HTTP\/1\.1 400 /);
  }
});

test('frames that break the protocol end with the code that says so', async (t) => {
  const quarter = Buffer.alloc(262_144, 0x20);
  const cases = {
    'a binary message': [1003, frame(2, 'x')],
    'binary messages in a row': [1003, frame(2, 'x'), frame(2, 'y')],
    'an unmasked frame': [1002, frame(1, '{}', { masked: false })],
    'reserved bits': [1002, frame(1, '{}', { reserved: 4 })],
    'a reserved opcode': [1002, frame(3, '')],
    'a reserved control opcode': [1002, frame(11, '')],
    'a fragmented ping': [1002, frame(9, '', { fin: false })],
    'a ping of 126 bytes': [1002, frame(9, Buffer.alloc(126))],
    'a continuation of nothing': [1002, frame(0, 'x')],
    'a message inside a message': [1002, frame(1, '{', { fin: false }), frame(1, '}')],
    'a close of one byte': [1002, frame(8, 'x')],
    'a close code that is none': [1002, frame(8, Buffer.from([3, 236]))],
    'invalid UTF-8': [1007, frame(1, Buffer.from([0xc0, 0x80]))],
    'invalid UTF-8 in a close': [1007, frame(8, Buffer.from([3, 232, 0xff]))],
    'a message of one byte over 1 MiB in one frame': [1009, frame(1, Buffer.alloc(1_048_577, 0x20))],
    'a frame that says it is huge': [1009, frame(1, '', { length: 2 ** 40 })],
    'a message over 1 MiB': [1009, frame(1, quarter, { fin: false }),
      ...Array.from({ length: 3 }, () => frame(0, quarter, { fin: false })), frame(0, ' ')],
  };
  for (const [name, [code, ...frames]] of Object.entries(cases)) {
    const socket = await raw(t);
    socket.net.write(Buffer.concat(frames));
    assert.equal(await socket.closeCode(), code, name);
    socket.close();
  }
});

test('a message of exactly 1 MiB in frames of 256 KiB, with a ping between, is taken', async (t) => {
  const socket = await raw(t);
  const text = `{"id":1,"event":"ping","data":{"pad":"${'p'.repeat(1_048_576 - 41)}"}}`;
  assert.equal(text.length, 1_048_576);
  socket.send(1, text.slice(0, 262_144), { fin: false });
  socket.send(9, 'between');
  socket.send(0, text.slice(262_144, 524_288), { fin: false });
  socket.send(0, text.slice(524_288, 786_432), { fin: false });
  socket.send(0, text.slice(786_432));
  const pong = await socket.next(({ opcode }) => opcode === 10);
  assert.equal(String(pong.payload), 'between');
  const said = await socket.next(({ opcode }) => opcode === 1);
  assert.equal(JSON.parse(String(said.payload)).event, 'pong');
});

test('UTF-8 is judged as the published sequences say', { skip: !existsSync(corpora) && 'no corpora' }, async (t) => {
  const { cases } = JSON.parse(readFileSync(join(corpora, 'websocket/autobahn_utf8_sequences.json'), 'utf8'));
  assert.ok(cases.length > 100);
  for (let at = 0; at < cases.length; at += 20)
    await Promise.all(cases.slice(at, at + 20).map(async ({ case: name, valid, hex }) => {
      const socket = await raw(t);
      socket.send(1, Buffer.from(hex, 'hex'));
      const first = await socket.next();
      if (valid) {
        /* The frame is text, but not JSON. */
        assert.equal(first.opcode, 1, name);
        assert.equal(JSON.parse(String(first.payload)).event, 'system:error');
      } else {
        assert.deepEqual([first.opcode, first.payload.readUInt16BE(0)], [8, 1007], name);
      }
      socket.close();
    }));
});

test('a close is answered with the same code', async (t) => {
  for (const code of [1000, 1001, 3000, 4999]) {
    const socket = await raw(t);
    socket.send(8, Buffer.from([code >> 8, code & 255]));
    assert.equal(await socket.closeCode(), code);
    await socket.ended;
  }
  const bare = await raw(t);
  bare.send(8, '');
  const { payload } = await bare.next(({ opcode }) => opcode === 8);
  assert.ok(!payload.length || payload.readUInt16BE(0) === 1000);
});

test('more than 200 messages at once are too many: 4429', async (t) => {
  const socket = await raw(t);
  const ping = json({ event: 'ping' });
  socket.net.write(Buffer.concat(Array.from({ length: 200 }, () => frame(1, ping))));
  for (let i = 0; i < 200; i++) await socket.next(({ opcode }) => opcode === 1);
  socket.net.write(Buffer.concat(Array.from({ length: 60 }, () => frame(1, ping))));
  assert.equal(await socket.closeCode(), 4429);
});

test('pings are answered, and what is not understood is said', async (t) => {
  const socket = await open(t);
  socket.send({ event: 'ping', data: { at: 12 } });
  assert.deepEqual((await socket.next(({ event }) => event === 'pong')).data, { at: 12 });
  const answer = await socket.ask('nonsense');
  assert.deepEqual([answer.ok, answer.error.code], [false, 'invalid_request']);
  for (const text of ['no json', '[]', '"x"', '{"event":7}', '{"event":"ping\\u0000"}', '{"event":"\\ud800"}', '']) {
    const n = socket.events('system:error').length;
    socket.ws.send(text);
    await until(() => socket.events('system:error').length > n, `an error about ${text}`);
  }
  socket.send({ event: 'session:subscribe', id: 'text id' });
  const refused = await socket.next(({ ack }) => ack === 'text id');
  assert.equal(refused.error.code, 'invalid_request');
  assert.equal((await socket.ask('chat:send', { session_id: 'sess_none', message: 'x' })).error.code, 'not_found');
  assert.equal((await socket.ask('chat:send', { message: 'x' })).error.code, 'invalid_request');
});

test('of subscribes to one session the last stands, and each is answered', async (t) => {
  const { id } = await client.createSession();
  const socket = await open(t);
  for (const n of [1, 2, 3]) socket.send({ id: n, event: 'session:subscribe', data: { session_id: id } });
  const answers = await Promise.all([1, 2, 3].map((n) => socket.next(({ ack }) => ack === n)));
  assert.equal(answers[2].ok, true);
  for (const answer of answers.slice(0, 2)) assert.ok(answer.ok || answer.error.code === 'conflict');
  await client.chat(id, { message: 'hello' });
  await socket.next(({ event }) => event === 'chat:end');
  assert.equal(socket.events('chat:end').length, 1);
});

test('a request without an answer yet does not keep a socket from ending', async (t) => {
  const { id } = await client.createSession();
  for (let i = 0; i < 20; i++) {
    const socket = await open(t);
    for (let k = 0; k < 5; k++) {
      socket.send({ id: k, event: 'session:subscribe', data: { session_id: id } });
      socket.send({ id: k, event: 'chat:send', data: { session_id: id, message: 'hello', when_busy: 'interrupt' } });
    }
    socket.close();
  }
  await until(async () => (await client.session(id)).status === 'completed', 'all is said');
  const metrics = await (await client.request('GET', '/metrics')).text();
  assert.match(metrics, /^parley_turns_running(\{[^}]*\})? 0$/m);
});

test('an orderly end tells every socket first: going_away, then 1001', async (t) => {
  const own = await serve();
  const client2 = clientOf(own);
  const { id } = await client2.createSession();
  const socket = closing(t, await new Socket(own).opened);
  await socket.ask('session:subscribe', { session_id: id });
  const stream = await fetch(`${own.url}/api/sessions/${id}/events`,
    { headers: { authorization: `Bearer ${own.key}` } });
  const ended = own.stop();
  await socket.next(({ event }) => event === 'system:going_away', 'going away');
  assert.equal((await socket.closed).code, 1001);
  assert.match(await stream.text(), /event: system:going_away/);
  assert.deepEqual(await ended, { code: 0, signal: null });
});

test('readers of an event stream that are gone do not disturb an orderly end', async () => {
  for (let round = 0; round < 3; round++) {
    const own = await serve();
    const { id } = await clientOf(own).createSession();
    const { hostname, port, host } = new URL(own.url);
    const readers = await Promise.all(Array.from({ length: 20 }, () => new Promise((resolve) => {
      const reader = connect(Number(port), hostname, () => reader.write(
        `GET /api/sessions/${id}/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${own.key}\r\n\r\n`));
      reader.on('error', () => {});
      reader.once('data', () => resolve(reader));
    })));
    await clientOf(own).chat(id, { message: script('repeat 200000 word ') });
    const ended = own.stop();
    for (const reader of readers) reader.resetAndDestroy();
    assert.deepEqual(await ended, { code: 0, signal: null });
  }
});

test('the server ends in good order', () => endsWell(server));
