// Slow tests: deadlines of half a minute. Run by `make soak`.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { RawSocket, Socket, clientOf, closing, endsWell, script, serve, settled, until } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

test('who does not say who it is within 10 seconds is sent away', async (t) => {
  const socket = closing(t, await new Socket(server, { key: null }).opened);
  const begun = Date.now();
  assert.equal((await socket.closed).code, 4409);
  assert.ok(Date.now() - begun > 9000);
});

test('who takes nothing for 30 seconds is closed', async (t) => {
  const { id } = await client.createSession();
  const raw = closing(t, await new RawSocket(server).open());
  raw.send(1, JSON.stringify({ id: 1, event: 'session:subscribe', data: { session_id: id, content: 'always' } }));
  await raw.next(({ payload }) => String(payload).startsWith('{"ack":1'));
  raw.net.pause();
  /* More than any kernel buffer holds, and more every second. */
  const line = `${Array.from({ length: 30 }, () => `repeat 1 ${'y'.repeat(600)}\n`).join('')}wait 1000`;
  await client.chat(id, { message: script(...Array.from({ length: 50 }, () => line)) });
  const open = async () => Number((await (await client.request('GET', '/metrics')).text())
    .match(/^parley_sockets(?:\{[^}]*\})? (\d+)$/m)[1]);
  assert.equal(await open(), 1);
  const begun = Date.now();
  await until(async () => await open() === 0, 'it is closed');
  assert.ok(Date.now() - begun > 29_000, 'not before its time');
  await settled(client, id);
});

test('a socket that answers no pings is dead after two', async (t) => {
  const raw = closing(t, await new RawSocket(server).open());
  const begun = Date.now();
  await raw.ended;
  const seconds = (Date.now() - begun) / 1000;
  assert.ok(seconds > 50, `${seconds} s`);
});

test('the server ends in good order', () => endsWell(server));
