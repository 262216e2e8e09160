// The log of the server: a slow reader delays no one, and foreign text cannot break a line.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, openSync, readSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';
import { until } from './waiting.mjs';

// A server whose standard error is a pipe that stays open and is never read.
async function startUnheard(name, args) {
  const fifo = join(directory, name);
  execFileSync('mkfifo', [fifo]);
  const server = await start({ args, before: ['sh', '-c', 'exec "$0" "$@" 2<>"$UNHEARD"'], env: { UNHEARD: fifo } });
  return { server, fifo };
}

// Sends n requests on one connection; resolves when all are answered.
function askMany(server, n) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: '127.0.0.1', port: server.port });
    let nAnswered = 0, rest = '';
    socket.on('error', reject);
    socket.on('close', () => (nAnswered === n ? resolve(n) : reject(new Error(`${nAnswered} of ${n} were answered`))));
    socket.on('data', (piece) => {
      const text = rest + piece.toString('latin1');
      nAnswered += text.split('HTTP/1.1 200').length - 1;
      rest = text.slice(-11);
      if (rest.includes('HTTP/1.1 200')) rest = '';
      if (nAnswered === n) socket.end();
    });
    const request = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n`;
    for (let i = 0; i < n; i += 500) socket.write(request.repeat(500));
  });
}

async function metric(server, name) {
  const text = (await server.raw('GET', '/metrics')).text;
  return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))[1]);
}

test('a server whose log nobody reads answers every request, counts the lines it drops and ends on SIGTERM', async () => {
  const { server } = await startUnheard('unheard', ['--log-json', '--log-level', 'request']);
  for (let i = 0; i < 4; i++) await askMany(server, 5000);
  assert.ok(await metric(server, 'parley_log_dropped_total') > 0);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('a log that is read again says how many lines were dropped, and goes on', async () => {
  const { server, fifo } = await startUnheard('late', ['--log-json', '--log-level', 'request']);
  for (let i = 0; i < 4; i++) await askMany(server, 5000);
  const nDropped = await metric(server, 'parley_log_dropped_total');
  const fd = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const bytes = Buffer.alloc(65536);
  let text = '';
  const readOn = () => {
    try {
      text += bytes.toString('utf8', 0, readSync(fd, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
    return text;
  };
  const last = (isOver) => until(() => isOver(readOn()), 'a line of the log');
  await last((all) => / log lines were dropped/.test(all));
  await server.raw('GET', '/api/me', { headers: { 'x-request-id': 'after-all' } });
  await last((all) => /"after-all".*\n/.test(all));
  const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line));
  const told = lines.filter((line) => /dropped/.test(line.message ?? '')).map((line) => Number(line.message.match(/^\d+/)[0]));
  assert.ok(told.reduce((a, b) => a + b) >= nDropped);
  assert.equal((await server.stop()).code, 0);
});

test('a log on a full disk costs lines, not the server', async () => {
  const server = await start({ args: ['--log-level', 'request'], before: ['sh', '-c', 'exec "$0" "$@" 2>/dev/full'] });
  await askMany(server, 500);
  assert.ok(await metric(server, 'parley_log_dropped_total') > 0);
  assert.equal((await server.stop()).code, 0);
});

test('every line of --log-json is one JSON object, whatever came from outside', async () => {
  const vendor = await openUpstream();
  const server = await start({ args: ['--log-json', '--log-level', 'request'], env: vendor.env() });
  vendor.next(...Array(9).fill({ status: 500, error: 'secret words of the vendor\n\u0001{"a":' }));
  const hostile = ['/\x01\x02', '/%00', '/a"b', '/\\', '/\xff\xfe', `/${'x'.repeat(7000)}`, '/api/sessions/%0a%0d', '/api/share/"}{"'];
  for (const path of hostile)
    await server.bytes(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-Request-Id: "}\r\nUser-Agent: \xff\xfe\x9b[2J\r\nConnection: close\r\n\r\n`);
  for (const id of ['"', '\\', 'a\tb', '\xe9', 'x'.repeat(500), '{"a":1}'])
    await server.bytes(`GET /api/me HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-Request-Id: ${id}\r\ntraceparent: ${id}\r\nConnection: close\r\n\r\n`);
  await server.bytes('\x16\x03\x01 nonsense\r\n\r\n');
  const failed = await server.raw('POST', '/v1/chat/completions', { body: { model: 'openai-chat/gpt-5', messages: [{ role: 'user', content: 'secret words of the user' }] } });
  assert.ok(failed.status >= 500, failed.text);
  const other = run(['serve', '--port', '0', '--data', server.data, '--log-json']);
  assert.equal(other.code, 4);
  assert.match(JSON.parse(other.err.trimEnd()).message, /another server is using/);
  await server.stop();
  await vendor.close();
  const lines = server.err.trimEnd().split('\n');
  assert.ok(lines.length > hostile.length);
  for (const line of lines) {
    const told = JSON.parse(line);
    assert.ok(told && typeof told === 'object' && !Array.isArray(told) && told.time && told.level, line);
    assert.ok(Buffer.byteLength(line) < 16384);
  }
  assert.ok(!server.err.includes('secret words'), 'no bodies in the log');
});
