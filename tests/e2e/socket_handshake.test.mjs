// The handshake of a WebSocket, the size limit of a message, and the owners of tickets.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RawSocket, Socket, closing, endsWell, frame, serve } from './live.mjs';

let server;
before(async () => { server = await serve(); });
after(() => server.stop('SIGKILL'));

const raw = (t) => closing(t, new RawSocket(server)).open();

async function handshake({ version = '13', http = '1.1' }) {
  const lines = {
    Host: new URL(server.url).host, Connection: 'Upgrade', Upgrade: 'websocket',
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
    ...(version === null ? {} : { 'Sec-WebSocket-Version': version }),
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  // The second request ends the connection, so that the test does not wait for a timeout.
  const end = `GET /healthz HTTP/1.1\r\nHost: ${lines.Host}\r\nConnection: close\r\n\r\n`;
  return (await server.bytes(`GET /api/ws HTTP/${http}\r\n${text}\r\n${end}`)).said;
}

test('another version of WebSocket is answered 426 with the one that is spoken', async () => {
  for (const version of ['8', '14', '', 'thirteen', '13, 8', null]) {
    const said = await handshake({ version });
    assert.match(said, /^HTTP\/1\.1 426 Upgrade Required\r\n/, `version ${version}`);
    assert.match(said, /\r\nSec-WebSocket-Version: 13\r\n/);
    assert.match(said, /\r\nUpgrade: websocket\r\n/);
    assert.match(said, /"code":"upgrade_required"/);
  }
});

test('a handshake by HTTP/1.0 is refused', async () => {
  assert.match(await handshake({ http: '1.0' }), /^HTTP\/1\.1 400 /);
});

test('a message of exactly 1 MiB may come in one frame, and one byte more is 1009', async (t) => {
  const socket = await raw(t);
  const text = `{"id":1,"event":"ping","data":{"pad":"${'p'.repeat(1_048_576 - 41)}"}}`;
  assert.equal(text.length, 1_048_576);
  socket.send(1, text);
  const said = await socket.next(({ opcode }) => opcode === 1);
  assert.equal(JSON.parse(String(said.payload)).event, 'pong');
  socket.send(1, `${text} `);
  assert.equal(await socket.closeCode(), 1009);
});

test('who has not shown a key yet may say 4 KiB', async (t) => {
  const hello = (n) => `{"id":1,"event":"auth","data":{"key":"${server.key}"}}`.padEnd(n);
  const modest = await closing(t, new RawSocket(server, { key: null })).open();
  modest.send(1, hello(4096));
  const said = await modest.next(({ opcode }) => opcode === 1);
  assert.equal(JSON.parse(String(said.payload)).ok, true);
  modest.send(1, '{"id":2,"event":"ping"}'.padEnd(9000));
  await modest.next(({ opcode, payload }) => opcode === 1 && String(payload).includes('"pong"'));
  const greedy = await closing(t, new RawSocket(server, { key: null })).open();
  greedy.net.write(frame(1, '', { length: 4097 }));
  assert.equal(await greedy.closeCode(), 1009);
});

test("one user's tickets push out no other's", async (t) => {
  const other = await server.ask('POST', '/api/users', { body: { name: 'other' } });
  const key = other.json.plaintext ?? other.json.key?.plaintext ?? other.json.api_key?.plaintext;
  assert.ok(key, other.text);
  const { ticket } = (await server.ask('POST', '/api/ws-tickets', { key })).json;
  const tickets = [];
  for (let i = 0; i < 2100; i++) tickets.push((await server.raw('POST', '/api/ws-tickets')).json.ticket);
  const socket = await closing(t, new Socket(server, { ticket })).opened;
  assert.equal((await socket.ask('ping')).ok, true);
  // Of a user's own tickets the newest 64 are valid.
  const newest = await closing(t, new Socket(server, { ticket: tickets.at(-64) })).opened;
  assert.equal((await newest.ask('ping')).ok, true);
  const older = await new Socket(server, { ticket: tickets.at(-65) }).opened.catch((response) => response);
  assert.equal(older.statusCode, 401);
});

test('the server ends in good order', () => endsWell(server));
