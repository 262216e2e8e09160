// Clients that request much and do not read: waiting data is not kept in memory, and a late reader gets all of it.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { RawSocket, Socket, clientOf, closing, endsWell, serve, settled, until } from './live.mjs';

const MIB = 1024 * 1024;
let server, client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});
after(() => server.stop('SIGKILL'));

const metric = async (name) => Number((await server.raw('GET', '/metrics')).text.match(new RegExp(`^${name} ([0-9.]+)$`, 'm'))[1]);

async function longSession(n, nBytes) {
  const messages = Array.from({ length: n }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i} ${'x'.repeat(nBytes)}` }));
  const { status, json, text } = await server.ask('POST', '/api/sessions/import', { body: { document: { messages }, format: 'openai-chat' } });
  assert.equal(status, 201, text);
  return json.id;
}

// Sends a request and does not read until told to.
function askSlowly(path) {
  const socket = net.connect({ port: server.port, host: '127.0.0.1' });
  const pieces = [];
  socket.pause();
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nAuthorization: Bearer ${server.key}\r\nConnection: close\r\n\r\n`);
  return {
    close: () => socket.destroy(),
    read: () => new Promise((resolve) => {
      socket.on('data', (piece) => pieces.push(piece));
      socket.on('close', () => {
        const bytes = Buffer.concat(pieces);
        const at = bytes.indexOf('\r\n\r\n');
        resolve({ head: bytes.subarray(0, at).toString(), body: bytes.subarray(at + 4) });
      });
      socket.resume();
    }),
  };
}

test('an answer that nobody reads waits in a file, and comes whole when it is read', async () => {
  // Eight exports of one user need more than the usual share of memory until they are in files.
  const usual = server;
  server = await serve({ args: ['--body-memory', '8192'] });
  const id = await longSession(30, 800_000);
  const path = `/api/sessions/${id}/export`;
  const whole = (await server.raw('GET', path)).bytes;
  assert.ok(whole.length > 20 * MIB);
  const before = await metric('parley_spooled_answers_total');
  // One after the other: exports in progress count as memory of the user, exports in files do not.
  const slow = [];
  for (let n = 1; n <= 4; n++) {
    slow.push(askSlowly(path));
    await until(async () => (await metric('parley_spooled_answers_total')) >= before + n, `${n} are in files`, 120_000);
  }
  for (const one of slow.slice(0, 2)) {
    const { head, body } = await one.read();
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.equal(body.length, whole.length);
    assert.ok(body.equals(whole));
  }
  // The other clients disconnect, and the server continues.
  for (const one of slow.slice(2)) one.close();
  assert.equal((await server.ask('GET', '/api/me')).status, 200);
  await endsWell(server);
  server = usual;
});

test('what one user may have in files is bounded: beyond it the connection ends', async () => {
  const small = await serve({ args: ['--body-memory', '4'] });
  const kept = server;
  server = small;
  try {
    const content = 'x'.repeat(900_000);
    const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
    for (let i = 0; i < 12; i++) {
      await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: content } });
      await settled(clientOf(server), id);
    }
    // 19 MB, with a limit of 4 MiB for a user. Only the kernel's buffer arrives.
    const slow = askSlowly(`/api/sessions/${id}/export`);
    const count = await metric('parley_http_connections');
    await until(async () => (await metric('parley_http_connections')) < count, 'the connection is gone', 120_000);
    const { head, body } = await slow.read();
    const promised = Number(head.match(/\r\nContent-Length: (\d+)/)[1]);
    assert.ok(promised > 15 * MIB && body.length < promised, `${body.length} of ${promised}`);
    assert.equal(await metric('parley_spooled_answers_total'), 0);
    await endsWell(server);
  } finally {
    server = kept;
  }
});

test('a snapshot of a very long turn counts as memory of its user until it is read', async (t) => {
  const parts = Array.from({ length: 8 }, (_, i) => ({ type: 'text', text: `${i} ${'x'.repeat(3 * MIB)}` }));
  const { json } = await server.ask('POST', '/api/sessions/import', { body: { document: { messages: [{ role: 'user', content: parts }] }, format: 'openai-chat' } });
  const subscribe = async () => {
    const socket = await closing(t, new RawSocket(server)).open();
    socket.net.pause();
    socket.send(1, JSON.stringify({ id: 1, event: 'session:subscribe', data: { session_id: json.id } }));
    return socket;
  };
  const first = await subscribe();
  const held = await until(() => metric('parley_body_bytes'), 'the snapshot waits', 120_000);
  assert.ok(held > 24 * MIB && held < 26 * MIB, `${held} bytes`);
  const second = await subscribe();
  await until(async () => (await metric('parley_body_bytes')) > held, 'two of them', 120_000);
  // A quarter of 256 MiB is enough for two of 24 MiB, but not for a third.
  const third = await subscribe();
  first.net.resume();
  const { payload } = await first.next(({ opcode, payload: bytes }) => opcode === 1 && bytes.length > MIB, 'the snapshot');
  assert.equal(JSON.parse(String(payload)).data.turns.length, 1);
  // After the first one is read there is enough memory for the third.
  third.net.resume();
  await third.next(({ opcode, payload: bytes }) => opcode === 1 && bytes.length > MIB, 'its snapshot');
  for (const socket of [first, second, third]) socket.close();
  await until(async () => (await metric('parley_body_bytes')) === 0, 'nothing is held', 120_000);
});

test('what is kept of events is bounded for all sessions together, and goes with them', async (t) => {
  const sessions = [];
  for (let i = 0; i < 30; i++) {
    const { id } = await client.createSession();
    sessions.push(id);
    const socket = await closing(t, new Socket(server)).opened;
    await socket.ask('session:subscribe', { session_id: id });
  }
  const message = 'word '.repeat(4000);
  for (let round = 0; round < 10; round++) {
    for (const id of sessions) await client.chat(id, { message });
    for (const id of sessions) await settled(client, id, 120_000);
  }
  // Ten rounds of at least 40 KB in each of thirty sessions would be 12 MB; three shards keep 2 MiB each, and one more frame per session.
  const held = await metric('parley_history_bytes');
  assert.ok(held > 0 && held < 3 * 2 * MIB + 30 * 50_000, `${held} bytes`);
  for (const id of sessions) assert.equal((await server.ask('DELETE', `/api/sessions/${id}`)).status, 204);
  await until(async () => (await metric('parley_sessions_loaded')) === 0 || (await metric('parley_history_bytes')) === 0, 'nothing is kept of what is gone', 120_000);
});

test('the server ends in good order', () => endsWell(server));
