// Shutdown of a server: SIGTERM, the lame-duck time, and running work.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { configure, Gated } from './gated.mjs';
import { serve, Socket, until } from './live.mjs';

// A server whose provider `held/…` answers when the test tells it to.
async function begin(t, args) {
  const held = await new Gated().listen();
  const data = mkdtempSync(join(tmpdir(), 'parley-ending-'));
  configure(data, `probe: false\nproviders:\n  held:\n    dialect: openai-chat\n    base_url: ${held.url}\n`);
  const server = await serve({ data, args });
  t.after(async () => {
    held.close();
    await server.stop('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  });
  return { held, server, data };
}

async function chat(server, held) {
  const { json: session } = await server.ask('POST', '/api/sessions', { body: { model: 'held/one' } });
  assert.equal((await server.ask('POST', `/api/sessions/${session.id}/chat`, { body: { message: 'hello' } })).status, 202);
  await until(() => held.waiting.length === 1, 'the vendor was asked');
  return session.id;
}

// Uses a new connection.
const status = (server, path) => server.raw('GET', path, { agent: false }).then((answer) => answer.status, (error) => error.code);

test('in the lame-duck time /readyz says 503, new connections are answered and work is taken', async (t) => {
  const { server } = await begin(t, ['--drain-accept', '600000']);
  assert.equal(await status(server, '/readyz'), 200);
  const socket = await new Socket(server).opened;
  t.after(() => socket.close());
  server.child.kill('SIGTERM');
  await until(async () => await status(server, '/readyz') === 503, 'not ready');
  assert.equal(await status(server, '/healthz'), 200);
  const { status: made, headers } = await server.raw('POST', '/api/sessions', { body: {} });
  assert.equal(made, 201);
  assert.equal(headers.connection, 'close', 'who asks again goes elsewhere');
  assert.ok(!socket.events('system:going_away').length);
  // It still runs: a second signal skips the rest of the time.
  server.child.kill('SIGTERM');
  assert.deepEqual(await server.exited, { code: 1, signal: null });
});

test('after the lame-duck time connections are refused, sockets are told, and a running turn is finished', async (t) => {
  const { server, held, data } = await begin(t, ['--drain-accept', '50', '--drain', '600000']);
  const id = await chat(server, held);
  const socket = await new Socket(server).opened;
  t.after(() => socket.close());
  const idle = net.connect(server.port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => idle.once('connect', resolve));
  const closed = new Promise((resolve) => idle.once('close', resolve));
  idle.resume();
  server.child.kill('SIGTERM');
  await socket.next((frame) => frame.event === 'system:going_away', 'that it goes away', 120_000);
  // A client that was told to leave cannot reconnect to this server.
  assert.equal(await status(server, '/healthz'), 'ECONNREFUSED');
  await closed;
  assert.equal(server.child.exitCode, null, 'a turn runs');
  held.open();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  const again = await serve({ data, login: false });
  t.after(() => again.stop('SIGKILL'));
  const { json } = await again.ask('GET', `/api/sessions/${id}/messages`, { key: server.key });
  const turns = json.items ?? json;
  assert.equal(turns.at(-1).status, 'completed');
  assert.equal(turns.at(-1).blocks.at(-1).content, 'done');
});

test('SIGINT does not wait for load balancers', async (t) => {
  const { server } = await begin(t, ['--drain-accept', '600000']);
  server.child.kill('SIGINT');
  assert.deepEqual(await server.exited, { code: 0, signal: null });
});

test('a request that is being answered in the lame-duck time gets its whole answer', async (t) => {
  const { server, held } = await begin(t, ['--drain-accept', '50', '--drain', '600000']);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const answer = server.raw('POST', '/v1/chat/completions', { agent, body: { model: 'held/one', messages: [{ role: 'user', content: 'hi' }] } });
  await until(() => held.waiting.length === 1, 'the vendor was asked');
  server.child.kill('SIGTERM');
  await until(async () => await status(server, '/healthz') === 'ECONNREFUSED', 'the port is closed');
  held.open();
  assert.equal((await answer).status, 200);
  assert.equal((await answer).headers.connection, 'close');
  assert.deepEqual(await server.exited, { code: 0, signal: null });
});
