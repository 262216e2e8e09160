// The access log: a file that is rotated and reopened, journald's own protocol, standard error; its own level.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const fresh = () => mkdtempSync(join(directory, 'access-'));
const linesOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : []);
const serve = (dir, settings, more = {}) => {
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify({ probe: false, ...settings }));
  return start({ args: ['--config', join(dir, 'config.yaml')], ...more });
};

test('a file has a line for each request: who, what, how much, and the model', async () => {
  const dir = fresh(), path = join(dir, 'access.log');
  const server = await serve(dir, { access_log: path, log_json: true });
  const key = (await server.ask('GET', '/api/me')).json.key_id;
  const asked = await server.raw('POST', '/v1/chat/completions', { body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] }, headers: { 'x-request-id': 'mine-1' } });
  await server.raw('GET', '/api/sessions/sess_none');
  await server.bytes(`GET /api/models?\x1fPARLEY_STATUS=1 HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`);
  // A client that disconnects during an answer is still logged with its address.
  const socket = net.connect(server.port, '127.0.0.1');
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: 888\r\n\r\n`
    + JSON.stringify({ model: 'demo/slow', stream: true, messages: [{ role: 'user', content: 'word '.repeat(150) }] }).padEnd(888));
  await new Promise((resolve) => { socket.once('data', resolve); });
  socket.destroy();
  await until(() => linesOf(path).some(({ aborted }) => aborted), 'the broken one is told');
  await server.stop();
  assert.ok(!server.err.includes('/v1/chat/completions'), 'not in the log of the server');
  const lines = linesOf(path);
  const call = lines.find(({ request_id }) => request_id === 'mine-1');
  assert.deepEqual([call.method, call.route, call.status, call.address, call.key_id, call.model, call.level], ['POST', '/v1/chat/completions', 200, '127.0.0.1', key, 'demo/echo', 'request']);
  assert.equal(call.bytes_in, Buffer.byteLength(JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] })));
  assert.ok(call.bytes_out > asked.bytes.length, 'with the head');
  assert.deepEqual([call.tokens_in, call.tokens_out], [asked.json.usage.prompt_tokens, asked.json.usage.completion_tokens]);
  assert.ok(Number.isInteger(call.ms) && call.time.endsWith('Z'));
  const wrong = lines.find(({ route }) => route === '/api/sessions/{id}');
  assert.deepEqual([wrong.status, wrong.level, wrong.model, wrong.aborted], [404, 'warning', undefined, undefined]);
  const left = lines.find(({ aborted }) => aborted);
  assert.deepEqual([left.address, left.model, left.key_id, left.aborted], ['127.0.0.1', 'demo/slow', key, true]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a streamed chat, a prompt run and a draft have the models and tokens they used; what only starts work has none', async () => {
  const dir = fresh(), path = join(dir, 'access.log');
  const server = await serve(dir, { access_log: path, demo_word_ms: 0 });
  const line = (request) => until(() => linesOf(path).find(({ request_id }) => request_id === request), `the line of ${request}`);
  const headers = (request, more = {}) => ({ 'x-request-id': request, ...more });
  const session = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/echo' } })).json.id;
  const streamed = await server.raw('POST', `/api/sessions/${session}/chat`, { body: { message: 'one two three' }, headers: headers('streamed', { accept: 'text/event-stream' }) });
  const turn = JSON.parse(streamed.text.split('\n\n').find((event) => event.includes('event: turn:end') && event.includes('"assistant"')).match(/^data: (.*)$/m)[1]).turn;
  assert.ok(turn.usage.output_tokens > 0);
  const told = await line('streamed');
  assert.deepEqual([told.status, told.route, told.model, told.tokens_in, told.tokens_out, told.aborted], [200, '/api/sessions/{id}/chat', turn.model, turn.usage.input_tokens, turn.usage.output_tokens, undefined]);
  assert.ok(told.bytes_out > streamed.bytes.length, 'with the head');
  assert.equal(told.address, '127.0.0.1');
  assert.ok(told.key_id && told.user_id && told.bytes_in > 0);

  await server.raw('POST', `/api/sessions/${session}/chat`, { body: { message: 'four' }, headers: headers('plain') });
  const plain = await line('plain');
  assert.deepEqual([plain.model, plain.tokens_in], [undefined, undefined]);

  const prompt = (await server.ask('POST', '/api/prompts', { body: { name: 'p', type: 'text', content: 'Say it.' } })).json.id;
  const run = await server.raw('POST', `/api/prompts/${prompt}/run`, { body: { mode: 'answer', models: ['demo/echo', 'demo/slow', 'demo/echo'] }, headers: headers('run') });
  assert.equal(run.status, 201, run.text);
  const turns = run.json.items.map((item) => item.turn);
  const sum = (name) => turns.reduce((total, { usage }) => total + usage[name], 0);
  const ran = await line('run');
  assert.deepEqual([ran.model, ran.tokens_in, ran.tokens_out], ['demo/echo,demo/slow', sum('input_tokens'), sum('output_tokens')]);
  await server.raw('POST', `/api/prompts/${prompt}/run`, { body: {}, headers: headers('begun') });
  assert.equal((await line('begun')).model, undefined);

  const draft = await server.raw('POST', '/api/run', { body: { content: 'Say it.', models: ['demo/echo'] }, headers: headers('draft') });
  assert.equal(draft.status, 200, draft.text);
  const drafted = await line('draft');
  assert.equal(drafted.model, 'demo/echo');
  assert.ok(drafted.tokens_in > 0 && drafted.tokens_out > 0);

  // A reader that disconnects during an answer: the line says so, and is written after the disconnect.
  const slow = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/slow' } })).json.id;
  const body = JSON.stringify({ message: 'word '.repeat(200) });
  const socket = net.connect(server.port, '127.0.0.1');
  socket.write(`POST /api/sessions/${slow}/chat HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nAccept: text/event-stream\r\nX-Request-Id: left\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await new Promise((resolve) => { socket.once('data', resolve); });
  assert.ok(!linesOf(path).some(({ request_id }) => request_id === 'left'), 'not before it is over');
  socket.destroy();
  assert.equal((await line('left')).aborted, true);
  await server.stop();
  assert.equal(linesOf(path).filter(({ request_id }) => request_id === 'streamed').length, 1);
});

test('a file is rotated before it is too large, no line is lost or torn, and the oldest go', async () => {
  const dir = fresh(), path = join(dir, 'a.log');
  const server = await serve(dir, { access_log: path, access_log_max_mib: 1, access_log_keep: 2 });
  const n = 20000;
  const ask = (count, from) => new Promise((resolve, reject) => {
    const socket = net.connect(server.port, '127.0.0.1');
    let got = 0;
    socket.on('error', reject);
    socket.on('data', (piece) => { got += piece.toString('latin1').split('HTTP/1.1 200').length - 1; if (got >= count - 5) socket.end(); });
    socket.on('close', resolve);
    for (let i = 0; i < count; i++) socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-Request-Id: r-${from + i}\r\n\r\n`);
  });
  for (let at = 0; at < n; at += 1000) await ask(1000, at);
  await server.stop();
  const names = readdirSync(dir).filter((name) => name.startsWith('a.log')).sort();
  assert.deepEqual(names, ['a.log', 'a.log.1', 'a.log.2']);
  const all = [];
  for (const name of ['a.log.2', 'a.log.1', 'a.log']) {
    assert.ok(statSync(join(dir, name)).size <= 1 << 20, name);
    all.push(...linesOf(join(dir, name)).filter(({ request_id }) => request_id?.startsWith('r-')).map(({ request_id }) => Number(request_id.split('-')[1])));
  }
  assert.ok(all.length > 5000, `${all.length}`);
  for (let i = 1; i < all.length; i++) assert.ok(all[i] > all[i - 1], 'in their order, each once');
});

test('a file that was moved is made again at a reload, and the level changes with it', async () => {
  const dir = fresh(), path = join(dir, 'a.log');
  const server = await serve(dir, { access_log: path });
  await server.raw('GET', '/healthz');
  await until(() => linesOf(path).some(({ route }) => route === '/healthz'), 'it is told');
  renameSync(path, `${path}.moved`);
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify({ probe: false, access_log: path, access_log_level: 'warning' }));
  server.child.kill('SIGHUP');
  await server.logged('the configuration was reloaded');
  await server.raw('GET', '/healthz');
  await server.raw('GET', '/api/nothing');
  await until(() => linesOf(path).length, 'the new file has a line');
  assert.deepEqual(linesOf(path).map(({ status }) => status), [404]);
  // The file cannot be opened for a while: the server goes on, and reports the lost lines.
  rmSync(path);
  execFileSync('mkdir', [path]);
  run(['reload', '--data', server.data]);
  for (let i = 0; i < 5; i++) assert.equal((await server.raw('GET', '/api/nothing')).status, 404);
  const lost = async () => Number((await server.raw('GET', '/metrics')).text.match(/^parley_access_log_dropped_total (\d+)$/m)[1]);
  await until(async () => await lost() === 5, 'lost lines are counted');
  rmSync(path, { recursive: true });
  await server.raw('GET', '/api/nothing');
  await until(() => linesOf(path).some(({ dropped }) => dropped === 5), 'the file says what was lost');
  await server.stop();
});

// A socket like journald's; it prints each datagram it receives as a line of base64.
function journal(path) {
  const child = spawn('python3', ['-c', `
import base64, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print("ready", flush=True)
while True: print(base64.b64encode(s.recv(1 << 20)).decode(), flush=True)`, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const got = { lines: [], stop: () => child.kill('SIGKILL') };
  let text = '';
  child.stdout.on('data', (piece) => { text += piece; got.lines = text.split('\n').slice(1, -1).map((line) => Buffer.from(line, 'base64').toString()); got.isReady = text.startsWith('ready\n'); });
  return got;
}
const fieldsOf = (datagram) => Object.fromEntries(datagram.trimEnd().split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));

test('journald gets fields, each request as one datagram; it may be restarted', async () => {
  const dir = fresh(), path = join(dir, 'socket');
  let heard = journal(path);
  await until(() => heard.isReady, 'it listens');
  const server = await serve(dir, { access_log: `journald:${path}` });
  await server.raw('POST', '/v1/chat/completions', { body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] } });
  await server.raw('GET', '/api/nothing');
  await until(() => heard.lines.some((one) => one.includes('PARLEY_STATUS=404')), 'it is told');
  const call = heard.lines.map(fieldsOf).find((one) => one.PARLEY_MODEL);
  assert.deepEqual([call.PRIORITY, call.SYSLOG_IDENTIFIER, call.PARLEY_ROUTE, call.PARLEY_STATUS, call.PARLEY_MODEL, call.PARLEY_ADDRESS], ['6', 'parley', '/v1/chat/completions', '200', 'demo/echo', '127.0.0.1']);
  assert.match(call.MESSAGE, /^POST \/v1\/chat\/completions 200 \d+ ms$/);
  assert.equal(heard.lines.map(fieldsOf).find((one) => one.PARLEY_STATUS === '404').PRIORITY, '4');
  heard.stop();
  await until(() => { try { execFileSync('python3', ['-c', 'import socket,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(sys.argv[1])', path], { stdio: 'ignore' }); return false; } catch { return true; } }, 'it is gone');
  await server.raw('GET', '/healthz');
  rmSync(path);
  heard = journal(path);
  await until(() => heard.isReady, 'it listens again');
  await until(async () => { await server.raw('GET', '/api/version'); return heard.lines.some((one) => one.includes('PARLEY_ROUTE=/api/version')); }, 'it goes on');
  await server.stop();
  heard.stop();
});

test('standard error, at the level that was asked for', async () => {
  const dir = fresh();
  const server = await serve(dir, { access_log: 'stderr', access_log_level: 'warning', log_level: 'error', log_json: true });
  await server.raw('GET', '/healthz');
  await server.raw('GET', '/api/nothing');
  await server.logged('"status":404');
  await server.stop();
  assert.ok(!server.err.includes('/healthz'));
});

test('a place or a level that cannot be is found at the start', () => {
  const dir = fresh();
  execFileSync('mkfifo', [join(dir, 'fifo')]);
  const check = (settings) => { writeFileSync(join(dir, 'c.yaml'), JSON.stringify({ probe: false, ...settings })); return run(['serve', '--config', join(dir, 'c.yaml'), '--data', join(dir, 'data'), '--port', '0']); };
  for (const [settings, sentence] of [
    [{ access_log: 'access.log' }, /access_log must be off, stderr, journald or a file by its whole path/], [{ access_log: 'journal' }, /access_log must be/],
    [{ access_log_level: 'info' }, /access_log_level must be error, warning or request/], [{ access_log_keep: 0 }, /access_log_keep/], [{ access_log_max_mib: 0 }, /access_log_max_mib/],
    [{ access_log: join(dir, 'none', 'a.log') }, /cannot be opened/], [{ access_log: dir }, /cannot be opened|not a regular file/], [{ access_log: join(dir, 'fifo') }, /cannot be opened|not a regular file/],
    [{ access_log: `journald:${join(dir, 'none')}` }, /journald cannot be reached/], [{ access_log: `/${'x'.repeat(5000)}` }, /too long/],
  ]) {
    const { code, err } = check(settings);
    assert.notEqual(code, 0, JSON.stringify(settings));
    assert.match(err, sentence);
  }
});
