// The HTTP interface of the server, tested with Node's clients and with raw sockets.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { directory, file, has, parley, root, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const server = await start({ args: ['--log-level', 'request', '--allow-host', 'chat.example.org', '--allow-origin', 'https://ui.example.org'] });
const host = `127.0.0.1:${server.port}`;
const get = (path, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const statusOf = ({ said }) => Number(said.match(/^HTTP\/1\.1 (\d+)/)?.[1]);
const statusesOf = ({ said }) => [...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map((match) => Number(match[1])).filter((status) => status >= 200);

test('public routes answer without a key, all others want one', async () => {
  for (const path of ['/healthz', '/readyz', '/api/version', '/openapi.json', '/']) assert.equal((await server.ask('GET', path, { key: null })).status, 200, path);
  const { openapi } = server;
  for (const [path, methods] of Object.entries(openapi.paths))
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.security) continue;
      const answer = await server.ask(method.toUpperCase(), path.replaceAll(/{\w+}/g, 'x'), { key: null, body: ['post', 'patch', 'put'].includes(method) ? {} : undefined });
      assert.equal(answer.status, 401, `${method} ${path}`);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
});

test('the description names only components that it has', () => {
  const { openapi } = server;
  const refs = [...JSON.stringify(openapi).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]);
  for (const name of refs) assert.ok(openapi.components.schemas[name], name);
  const ids = Object.values(openapi.paths).flatMap((methods) => Object.values(methods).map((operation) => operation.operationId));
  assert.equal(new Set(ids).size, ids.length);
});

test('every answer has an id, and no answer can be sniffed, framed or cached', async () => {
  for (const path of ['/', '/api/version', '/nothing']) {
    const { headers } = await server.ask('GET', path);
    assert.match(headers['x-request-id'], /^[0-9a-f-]{36}$/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.match(headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/);
  }
  assert.equal((await server.ask('GET', '/api/version')).headers['cache-control'], 'no-store');
});

test('the caller chooses the request id, if it is one', async () => {
  assert.equal((await server.ask('GET', '/api/me', { headers: { 'x-request-id': 'mine-1.2_3' } })).headers['x-request-id'], 'mine-1.2_3');
  assert.notEqual((await server.ask('GET', '/api/me', { headers: { 'x-request-id': 'no spaces' } })).headers['x-request-id'], 'no spaces');
});

test('a trace goes on in the answer and in the log', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const { headers } = await server.ask('GET', '/api/me', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } });
  assert.match(headers.traceparent, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  assert.ok(!headers.traceparent.includes('00f067aa0ba902b7'));
  await server.logged(`trace=${trace}`);
  for (const wrong of [`00-${trace}-0000000000000000-01`, `ff-${trace}-00f067aa0ba902b7-01`, 'nonsense'])
    assert.equal((await server.ask('GET', '/api/me', { headers: { traceparent: wrong } })).headers.traceparent, undefined);
});

test('an unknown path is 404, an unknown method 405 with what there is', async () => {
  assert.equal((await server.ask('GET', '/api/nothing')).json.code, 'not_found');
  const answer = await server.ask('PUT', '/api/user/api-keys', { body: {} });
  assert.equal(answer.status, 405);
  assert.deepEqual(answer.headers.allow.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'POST']);
  const options = await server.ask('OPTIONS', '/api/user/api-keys');
  assert.equal(options.status, 204);
  assert.equal(options.headers.allow, answer.headers.allow);
  assert.equal(statusOf(await server.bytes(`PROPFIND /api/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)), 405);
});

test('HEAD says what GET would, without the body', async () => {
  const whole = await server.ask('GET', '/api/version');
  const head = await server.ask('HEAD', '/api/version');
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], String(whole.bytes.length));
  assert.equal(head.text, '');
});

test('Host must be a name of ours', async () => {
  for (const name of [host, `localhost:${server.port}`, `LOCALHOST:${server.port}`, `127.8.8.8:${server.port}`, 'chat.example.org', 'chat.example.org:443'])
    assert.equal((await server.ask('GET', '/api/version', { headers: { host: name } })).status, 200, name);
  for (const name of ['evil.example', `evil.example:${server.port}`, '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example', `localhost:${server.port}x`, '[::1'])
    assert.equal((await server.ask('GET', '/api/version', { headers: { host: name } })).status, 421, name);
  assert.equal(statusOf(await server.bytes('GET /api/version HTTP/1.1\r\nHost:\r\n\r\n')), 421);
  assert.equal(statusOf(await server.bytes('GET /api/version HTTP/1.1\r\n\r\n')), 400);
  assert.equal(statusOf(await server.bytes(`GET /api/version HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`)), 400);
  assert.equal(statusOf(await server.bytes(`GET http://evil.example/api/version HTTP/1.1\r\nHost: ${host}\r\n\r\n`)), 421);
  assert.equal(statusOf(await server.bytes(`GET http://${host}/api/version HTTP/1.1\r\nHost: ${host}\r\n\r\n`)), 200);
});

test('Origin must be ours where something is changed or a socket opened', async () => {
  const key = (origin) => server.ask('POST', '/api/user/api-keys', { body: { name: 'origin' }, headers: { origin } });
  for (const origin of [`http://${host}`, `http://localhost:${server.port}`, 'https://chat.example.org', 'https://ui.example.org']) assert.equal((await key(origin)).status, 201, origin);
  for (const origin of ['http://evil.example', 'null', `http://evil.example:${server.port}`, 'http://localhost:1', `ftp://${host}`]) assert.equal((await key(origin)).status, 403, origin);
  assert.equal((await server.ask('GET', '/api/me', { headers: { origin: 'http://evil.example' } })).status, 200);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://evil.example\r\n';
  assert.equal(statusOf(await server.bytes(get('/api/ws', upgrade))), 403);
});

test('CORS is for configured origins only', async () => {
  const ours = await server.ask('GET', '/api/version', { headers: { origin: 'https://ui.example.org' } });
  assert.equal(ours.headers['access-control-allow-origin'], 'https://ui.example.org');
  assert.equal(ours.headers.vary, 'Origin');
  const preflight = await server.ask('OPTIONS', '/api/me', { headers: { origin: 'https://ui.example.org' } });
  assert.match(preflight.headers['access-control-allow-headers'], /Authorization/);
  assert.equal((await server.ask('GET', '/api/version', { headers: { origin: 'https://other.example' } })).headers['access-control-allow-origin'], undefined);
});

test('a key is shown once, listed masked, renamed and revoked', async () => {
  const made = (await server.ask('POST', '/api/user/api-keys', { body: { name: 'Büro 🗝' } })).json;
  assert.match(made.plaintext, /^sk-parley-v1-[A-Za-z0-9_-]{43}$/);
  assert.equal(made.masked, `sk-parley-v1-...${made.plaintext.slice(-4)}`);
  assert.equal((await server.ask('GET', '/api/me', { key: made.plaintext })).json.key_id, made.id);
  const listed = (await server.ask('GET', '/api/user/api-keys?limit=100')).json.items.find((key) => key.id === made.id);
  assert.equal(listed.plaintext, null);
  assert.equal(listed.name, 'Büro 🗝');
  assert.ok(listed.last_used_at);
  assert.equal((await server.ask('PATCH', `/api/user/api-keys/${made.id}`, { body: { name: 'other' } })).json.name, 'other');
  assert.equal((await server.ask('DELETE', `/api/user/api-keys/${made.id}`)).status, 204);
  assert.equal((await server.ask('GET', '/api/me', { key: made.plaintext })).status, 401);
  assert.equal((await server.ask('DELETE', `/api/user/api-keys/${made.id}`)).status, 404);
  for (const wrong of ['sk-parley-v1-', `${made.plaintext}x`, made.plaintext.toLowerCase(), 'x'.repeat(56)]) assert.equal((await server.ask('GET', '/api/me', { key: wrong })).status, 401);
});

test('the code of the first start works once', async () => {
  assert.equal((await server.ask('POST', '/api/login', { key: null, body: { code: server.code } })).status, 401);
  assert.equal((await server.ask('POST', '/api/login', { key: null, body: { code: 'wrong' } })).status, 401);
});

test('two users do not see each other', async () => {
  const two = (await server.ask('POST', '/api/users', { body: { name: 'two' } })).json;
  const key = two.key.plaintext;
  assert.equal((await server.ask('GET', '/api/me', { key })).json.id, two.id);
  const first = (await server.ask('GET', '/api/user/api-keys?limit=100')).json.items;
  const second = (await server.ask('GET', '/api/user/api-keys', { key })).json.items;
  assert.deepEqual(second.map((one) => one.id), [two.key.id]);
  assert.ok(!first.some((one) => one.id === two.key.id));
  assert.equal((await server.ask('DELETE', `/api/user/api-keys/${first[0].id}`, { key })).status, 404);
  assert.equal((await server.ask('PATCH', `/api/user/api-keys/${first[0].id}`, { key, body: { name: 'mine now' } })).status, 404);
  for (const [method, path, body] of [['GET', '/api/users'], ['POST', '/api/users', { name: 'three' }], ['POST', '/api/admin/backup', {}], ['DELETE', `/api/users/${two.id}/api-keys`]])
    assert.equal((await server.ask(method, path, { key, body })).status, 403, path);
  assert.equal((await server.ask('DELETE', `/api/users/${two.id}/api-keys`)).status, 204);
  assert.equal((await server.ask('GET', '/api/me', { key })).status, 401);
});

test('a body is held to its schema, and each mistake has its place', async () => {
  const answer = await server.ask('POST', '/api/user/api-keys', { body: { name: 7, more: true } });
  assert.equal(answer.status, 400);
  assert.equal(answer.json.code, 'invalid_request');
  assert.ok(answer.json.errors.some((error) => error.pointer === '/name'));
  for (const body of ['', '[]', '{"name":""}', '{"name":"a"', '{"name":"a","name":"b"}', '{"name":"\\u0000"}', '{"name":"\\ud800"}', `{"name":"${'x'.repeat(101)}"}`, '['.repeat(100)])
    assert.equal((await server.ask('POST', '/api/user/api-keys', { body })).status, 400, body.slice(0, 40));
  assert.equal((await server.ask('POST', '/api/user/api-keys', { body: '{"name":"a"}', headers: { 'content-type': 'text/plain' } })).status, 415);
  assert.equal((await server.ask('GET', '/api/user/api-keys?limit=101')).status, 400);
  assert.equal((await server.ask('GET', '/api/user/api-keys?limit=0')).status, 400);
  assert.equal((await server.ask('GET', '/api/user/api-keys?cursor=%21')).status, 400);
  assert.equal((await server.ask('GET', '/api/me?a=%zz')).status, 400);
});

test('the same Idempotency-Key is one deed and one answer', async () => {
  const make = (name, headers) => server.ask('POST', '/api/users', { body: { name }, headers: { 'idempotency-key': 'users-1', ...headers } });
  const first = await make('again');
  assert.equal(first.status, 201);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  const second = await make('again');
  assert.equal(second.status, 201);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(second.json.id, first.json.id);
  assert.equal(second.json.key.plaintext, null, 'a secret is not stored, not even to be repeated');
  assert.equal((await make('other')).status, 422);
  assert.equal((await server.ask('GET', '/api/users?limit=100')).json.items.filter((user) => user.name === 'again').length, 1);
  assert.equal((await make('again', { 'idempotency-key': 'x'.repeat(256) })).status, 400);
  const refused = { body: { name: '' }, headers: { 'idempotency-key': 'refused' } };
  assert.equal((await server.ask('POST', '/api/users', refused)).status, 400);
  assert.equal((await server.ask('POST', '/api/users', { ...refused, body: { name: 'now right' } })).status, 201);
});

test('of equal requests at once one is done, the others wait or get its answer', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.ask('POST', '/api/users', { body: { name: 'at once' }, headers: { 'idempotency-key': 'at-once' } })));
  for (const answer of answers) assert.ok([201, 409].includes(answer.status), answer.text);
  assert.equal((await server.ask('GET', '/api/users?limit=100')).json.items.filter((user) => user.name === 'at once').length, 1);
});

test('a session has a version: ETag, If-None-Match, If-Match', async () => {
  const { json: { id } } = await server.ask('POST', '/api/sessions', { body: { intent: 'versions' } });
  const { headers: { etag } } = await server.ask('GET', `/api/sessions/${id}`);
  assert.equal((await server.ask('GET', `/api/sessions/${id}`, { headers: { 'if-none-match': etag } })).status, 304);
  assert.equal((await server.ask('PATCH', `/api/sessions/${id}`, { body: { intent: 'b' }, headers: { 'if-match': '"999"' } })).status, 412);
  assert.equal((await server.ask('PATCH', `/api/sessions/${id}`, { body: { intent: 'b' }, headers: { 'if-match': etag } })).status, 200);
  assert.equal((await server.ask('PATCH', `/api/sessions/${id}`, { body: { intent: 'c' }, headers: { 'if-match': etag } })).status, 412);
});

test('a session made twice with one Idempotency-Key is one session', async () => {
  const make = (intent) => server.ask('POST', '/api/sessions', { body: { intent }, headers: { 'idempotency-key': 'session-1' } });
  const first = await make('one'), second = await make('one');
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(second.text, first.text);
  assert.equal((await make('two')).status, 422);
});

test('another user\'s session is not there, on any route', async () => {
  const { json: { id } } = await server.ask('POST', '/api/sessions', { body: { intent: 'mine' } });
  const key = (await server.ask('POST', '/api/users', { body: { name: 'stranger' } })).json.key.plaintext;
  const bodies = {
    session_chat: { message: 'x' }, session_pin: { is_pinned: true }, session_sharing: { shared: true }, session_memory: { memory_enabled: true },
    session_patch: { intent: 'x' }, session_answer: { answer: 1 }, session_tool_result: { result: 1 }, session_handoff: { target: 'x', objective: 'y' },
  };
  let tried = 0;
  for (const [path, methods] of Object.entries(server.openapi.paths).filter(([one]) => one.startsWith('/api/sessions/{id}')))
    for (const [method, { operationId }] of Object.entries(methods)) {
      const query = operationId === 'session_export' ? '?format=harmony' : '';
      const body = bodies[operationId] ?? (['get', 'delete'].includes(method) ? undefined : {});
      const answer = await server.ask(method.toUpperCase(), path.replace('{id}', id).replaceAll(/{\w+}/g, 'x') + query, { key, body });
      assert.equal(answer.status, 404, `${method} ${path} ${answer.text}`);
      tried++;
    }
  assert.ok(tried > 10);
  assert.equal((await server.ask('GET', `/api/sessions/${id}`)).json.intent, 'mine');
});

test('a byte body answers conditions and ranges', async () => {
  const whole = await server.ask('GET', '/openapi.json');
  const { etag } = whole.headers;
  assert.equal((await server.ask('GET', '/openapi.json', { headers: { 'if-none-match': etag } })).status, 304);
  assert.equal((await server.ask('GET', '/openapi.json', { headers: { 'if-none-match': `"x", W/${etag}` } })).status, 304);
  assert.equal((await server.ask('GET', '/openapi.json', { headers: { 'if-none-match': '"x"' } })).status, 200);
  const ranged = async (range, more = {}) => server.raw('GET', '/openapi.json', { headers: { range, ...more } });
  const part = await ranged('bytes=10-19');
  assert.equal(part.status, 206);
  assert.equal(part.headers['content-range'], `bytes 10-19/${whole.bytes.length}`);
  assert.equal(part.text, whole.text.slice(10, 20));
  assert.equal((await ranged('bytes=-5')).text, whole.text.slice(-5));
  assert.equal((await ranged(`bytes=${whole.bytes.length - 3}-`)).text, whole.text.slice(-3));
  assert.equal((await ranged(`bytes=${whole.bytes.length}-`)).status, 416);
  assert.equal((await ranged('bytes=0-1', { 'if-range': '"x"' })).status, 200);
  assert.equal((await ranged('bytes=0-1', { 'if-range': etag })).status, 206);
  for (const odd of ['bytes=0-1,3-4', 'bytes=5-2', 'lines=1-2', 'bytes=x']) assert.equal((await ranged(odd)).status, 200, odd);
});

test('requests in one piece are answered in their order', async () => {
  const one = get('/api/version'), two = get('/nothing'), three = `POST /api/detect HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"document":[]}`;
  const { said } = await server.bytes(one + two + three + one + three + get('/healthz', 'Connection: close\r\n'), { n: Infinity });
  assert.deepEqual(statusesOf({ said }), [200, 404, 200, 200, 200, 200]);
  assert.match(said, /"ok"}$/);
});

test('a request may come byte by byte', async () => {
  const text = `POST /api/detect HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n{"doc\r\na;x=y\r\nument":[]}\r\n0\r\nTrailer: 1\r\n\r\n`;
  const said = await new Promise((resolve) => {
    const socket = net.connect(server.port, '127.0.0.1');
    let all = '', at = 0;
    socket.setNoDelay(true);
    socket.on('data', (piece) => { all += piece; });
    socket.on('close', () => resolve(all));
    const step = () => { if (at < text.length) { socket.write(text[at++]); setTimeout(step, 1); } };
    step();
  });
  assert.equal(statusOf({ said }), 200);
});

test('100-continue is said before the body, and not for a body nobody wants', async () => {
  const head = (length, key = server.key) => `POST /api/detect HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
  assert.equal((await server.bytes(head(15), { enough: (said) => said.endsWith('\r\n\r\n') })).said, 'HTTP/1.1 100 Continue\r\n\r\n');
  assert.deepEqual(statusesOf(await server.bytes([head(15), '{"document":[]}'])), [200]);
  assert.deepEqual(statusOf(await server.bytes(head(15, 'wrong'))), 401);
  assert.deepEqual(statusOf(await server.bytes(head(33 << 20))), 413);
});

test('keep-alive and close are as the client says', async () => {
  const two = await server.bytes(get('/healthz') + get('/healthz'), { n: 2 });
  assert.deepEqual([statusesOf(two), two.closed], [[200, 200], false]);
  assert.equal((await server.bytes(get('/healthz', 'Connection: close\r\n'))).closed, true);
  const old = await server.bytes(`GET /healthz HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
  assert.ok(old.closed);
  assert.match(old.said, /Connection: close/);
  assert.match((await server.bytes(`GET /healthz HTTP/1.0\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n`)).said, /Connection: keep-alive/);
  const half = await server.bytes(get('/healthz'), { end: true });
  assert.equal(statusOf(half), 200, 'a client may close its side and still wait');
});

test('each limit of a head, one over', async () => {
  const line = (n) => `X: ${'a'.repeat(n - 5)}\r\n`;
  assert.equal(statusOf(await server.bytes(get('/healthz', line(8192)))), 200);
  assert.equal(statusOf(await server.bytes(get('/healthz', line(8193)))), 431);
  assert.equal(statusOf(await server.bytes(get(`/${'a'.repeat(8193)}`))), 414);
  assert.equal(statusOf(await server.bytes(get('/healthz', 'A: b\r\n'.repeat(99)))), 200);
  assert.equal(statusOf(await server.bytes(get('/healthz', 'A: b\r\n'.repeat(100)))), 431);
  assert.equal(statusOf(await server.bytes(get('/healthz', line(8000).repeat(5)))), 431);
  const { said, closed } = await server.bytes(get('/healthz', line(8193)));
  assert.ok(closed);
  assert.match(said, /application\/problem\+json[^]*"code":"headers_too_large"/);
});

test('each limit of a body, one over', async () => {
  const body = (n) => `{"name":"a"}${' '.repeat(n - 12)}`;
  assert.equal((await server.ask('POST', '/api/user/api-keys', { body: body(4 << 20) })).status, 201);
  assert.equal((await server.ask('POST', '/api/user/api-keys', { body: body((4 << 20) + 1) }).catch(() => ({ status: 413 }))).status, 413);
  const document = (n) => `{"document":[]${' '.repeat(n - 15)}}`;
  assert.equal((await server.ask('POST', '/api/detect', { body: document(32 << 20) })).status, 200);
  assert.equal((await server.ask('POST', '/api/detect', { body: document((32 << 20) + 1) }).catch(() => ({ status: 413 }))).status, 413);
  const chunk = `100000\r\n${' '.repeat(1 << 20)}\r\n`;
  const { said } = await server.bytes([`POST /api/user/api-keys HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\nTransfer-Encoding: chunked\r\n\r\n`, ...Array.from({ length: 5 }, () => chunk)]);
  assert.equal(statusOf({ said }), 413);
});

test('nothing can be smuggled behind a request', async () => {
  const inner = get('/api/version');
  const attempts = {
    'both lengths': `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `Content-Length: 0\r\nContent-Length: 5\r\n\r\n`,
    'a list of lengths': `Content-Length: 0, 5\r\n\r\n`,
    'a signed length': `Content-Length: +0\r\n\r\n`,
    'an unknown coding': `Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'chunked twice': `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a misspelled coding': `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'a space before the colon': `Content-Length : 0\r\n\r\n`,
    'a folded header': `X: a\r\n b\r\n\r\n`,
    'a bare line feed': `X: a\n\r\n\r\n`,
    'a chunk size too large': `Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n\r\n`,
    'a chunk size with a sign': `Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n`,
  };
  for (const [what, rest] of Object.entries(attempts)) {
    const answer = await server.bytes(`POST /healthz HTTP/1.1\r\nHost: ${host}\r\n${rest}${inner}`, { n: Infinity });
    assert.deepEqual(statusesOf(answer), [400], what);
    assert.ok(answer.closed, what);
  }
});

test('the requests of llhttp\'s own tests get an answer or an end, never a crash', async (t) => {
  const path = join(process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora'), 'http', 'llhttp_vectors.json');
  if (!existsSync(path)) return t.skip('no corpora');
  const { cases } = JSON.parse(readFileSync(path, 'utf8'));
  let answered = 0;
  for (let at = 0; at < cases.length; at += 25)
    await Promise.all(cases.slice(at, at + 25).map(async (one) => {
      const { said } = await server.bytes(Buffer.from(one.raw_b64, 'base64').toString('latin1'), { end: true });
      if (said) { assert.match(said, /^HTTP\/1\.1 (\d{3}) /); answered++; }
      for (const status of statusesOf({ said })) assert.ok(status >= 400, `${one.name}: none of these is for us`);
      if (one.strict_error && !one.lenient && one.type === 'request' && said && one.complete) assert.ok(statusesOf({ said }).length >= 1);
    }));
  assert.ok(answered > 100, `${answered}`);
  assert.equal((await server.ask('GET', '/healthz')).status, 200);
});

test('a header that decides something is there once', async () => {
  const twice = async (method, path, lines, body = '') => server.bytes(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines.map((line) => `${line}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`);
  const key = `Authorization: Bearer ${server.key}`, type = 'Content-Type: application/json';
  assert.equal(statusOf(await twice('GET', '/api/me', [key])), 200);
  for (const lines of [[key, 'authorization: Bearer x'], ['Authorization: Bearer x', key], [key, key], [key, 'X-Api-Key: a', 'x-api-key: b'], [key, 'Last-Event-ID: 1:1', 'Last-Event-ID: 1:2']]) {
    const answer = await twice('GET', '/api/me', lines);
    assert.equal(statusOf(answer), 400, lines.join());
    assert.match(answer.said, /more than once; send it once/);
  }
  for (const lines of [[key, type, 'Content-Type: text/plain'], [key, type, 'Idempotency-Key: a', 'Idempotency-Key: b']])
    assert.equal(statusOf(await twice('POST', '/api/sessions', lines, '{}')), 400, lines.join());
});

test('a compressed body is refused, and not taken for what it is not', async () => {
  const body = gzipSync('{"name":"x","content":"y"}');
  for (const encoding of ['gzip', 'br', 'gzip, identity'])
    for (const [path, text] of [['/api/prompts', body], ['/api/blobs', body], ['/v1/chat/completions', body], ['/api/prompts', '{"name":"x","content":"y"}']]) {
      const answer = await server.raw('POST', path, { body: text, headers: { 'content-encoding': encoding, 'content-type': 'application/json' } });
      assert.equal(answer.status, 415, `${path} ${answer.text}`);
      assert.match(answer.text, /without Content-Encoding/);
    }
  assert.equal((await server.ask('POST', '/api/prompts', { body: { name: 'x', content: 'y' }, headers: { 'content-encoding': 'identity' } })).status, 201);
});

test('a validation without end is refused in words', async () => {
  const { status, json } = await server.ask('POST', '/api/validate', { body: { document: 1, schema: { $ref: '#' } } });
  assert.equal(status, 400);
  assert.match(json.detail, /exceeds the limit of steps or levels/);
});

test('slow clients are told so and closed', async () => {
  const head = `POST /api/detect HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\nContent-Length: 30000000\r\n\r\n`;
  const dribble = (n) => {
    const one = { said: '', isClosed: false, socket: net.connect(server.port, '127.0.0.1') };
    one.socket.on('data', (piece) => { one.said += piece; });
    one.socket.on('error', () => {});
    one.socket.on('close', () => { clearInterval(timer); one.isClosed = true; });
    one.socket.write(head);
    const timer = setInterval(() => { if (one.socket.writable) one.socket.write(' '.repeat(n)); }, 100);
    return one;
  };
  const slow = dribble(20), fast = dribble(5000);
  const [slowHead, silent] = await Promise.all([server.bytes('GET / HTTP/1.1\r\nHost: '), server.bytes('')]);
  assert.equal(statusOf(slowHead), 408);
  assert.ok(slowHead.closed);
  assert.ok(silent.closed && silent.said === '');
  await until(() => slow.isClosed, 'the slow body is given up');
  assert.equal(statusOf(slow), 408);
  assert.deepEqual([fast.said, fast.isClosed], ['', false], 'many times the least rate is fast enough');
  fast.socket.destroy();
});

test('a client that does not read is not answered further, and others do not notice', async () => {
  const socket = net.connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  const answered = async () => Number((await server.ask('GET', '/metrics')).text.match(/^parley_http_requests_total(?:\{[^}]*\})? (\d+)/m)[1]);
  const before = await answered();
  for (let i = 0; i < 400; i++) socket.write(get('/openapi.json'));
  // Each read of the metrics is a request, too.
  let nLooks = 0;
  await until(async () => await answered() > before + ++nLooks, 'some are answered');
  assert.equal((await server.ask('GET', '/healthz')).status, 200);
  const metrics = (await server.ask('GET', '/metrics')).text;
  const resident = Number(metrics.match(/^process_resident_memory_bytes (\d+)/m)[1]);
  assert.ok(resident < 400 << 20, `${resident}`);
  let n = 0;
  socket.on('data', (piece) => { n += piece.length; });
  socket.resume();
  const size = (await server.ask('HEAD', '/openapi.json')).headers['content-length'];
  await until(() => n >= 400 * size, 'and when it reads, everything comes');
  socket.destroy();
});

test('conversion routes say what the commands say', async () => {
  const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello world' }] };
  const path = file('chat.json', JSON.stringify(chat));
  const ask = (name, body) => server.ask('POST', `/api/${name}`, { body });
  const converted = (await ask('convert', { document: chat, to: 'anthropic', carry: true })).json;
  assert.equal(converted.from, 'openai-chat');
  assert.deepEqual(converted.document, JSON.parse(run(['convert', '--to', 'anthropic', path]).out));
  const back = (await ask('convert', { document: converted.document, from: 'anthropic', to: 'openai-chat', with_carry: converted.carry })).json;
  assert.deepEqual(back.document, chat);
  assert.equal(typeof (await ask('convert', { document: chat, to: 'yaml' })).json.document, 'string');
  assert.deepEqual((await ask('convert', { document: JSON.stringify(chat), to: 'anthropic' })).json.document, converted.document);
  assert.deepEqual((await ask('detect', { document: chat })).json, { format: 'openai-chat' });
  assert.deepEqual((await ask('detect', { document: 5 })).json, { format: null });
  assert.deepEqual((await ask('tokens', { document: chat })).json, JSON.parse(run(['tokens', '--json', path]).out));
  assert.deepEqual((await ask('lint', { document: chat })).json, JSON.parse(run(['lint', '--json', path]).out));
  assert.deepEqual((await ask('validate', { document: chat, as: 'openai-chat' })).json, { valid: true, errors: [] });
  const invalid = (await ask('validate', { document: { a: 'x' }, schema: { properties: { a: { type: 'integer' } } } })).json;
  assert.equal(invalid.valid, false);
  assert.equal(invalid.errors[0].pointer, '/a');
  const long = { model: 'gpt-4o', messages: [{ role: 'user', content: 'word '.repeat(2000) }, { role: 'assistant', content: 'ok' }, { role: 'user', content: 'and now?' }] };
  assert.ok((await ask('trim', { document: long, max_tokens: 100 })).json.document.messages.length >= 1);
  const prompt = { messages: [{ role: 'user', content: 'Hi {{name}}' }] };
  const rendered = await ask('render', { document: prompt, variables: { name: 'Ada' } });
  assert.match(JSON.stringify(rendered.json.document), /Hi Ada/);
  assert.equal((await ask('render', { document: prompt, variables: {} })).status, 400);
  for (const [name, body] of [['convert', { document: chat, to: 'nothing' }], ['convert', { document: chat }], ['convert', { document: 5, to: 'anthropic' }], ['lint', { document: 5 }], ['tokens', { document: chat, encoding: 'x' }], ['trim', { document: chat, max_tokens: 0 }], ['validate', { document: chat }], ['validate', { document: chat, as: 'x' }]])
    assert.equal((await ask(name, body)).status, 400, `${name} ${JSON.stringify(body).slice(0, 60)}`);
});

test('metrics are Prometheus text, and count', async () => {
  const read = async () => Object.fromEntries([...(await server.ask('GET', '/metrics')).text.matchAll(/^(\w+) ([\d.]+)$/gm)].map(([, name, value]) => [name, Number(value)]));
  const before = await read();
  await server.ask('GET', '/healthz');
  const after = await read();
  assert.ok(after.parley_http_requests_total >= before.parley_http_requests_total + 2);
  assert.ok(after.process_resident_memory_bytes > 0 && after.process_open_fds > 0);
});

test('the log has no secret in it', async () => {
  await server.ask('GET', `/api/me?key=${server.key}`);
  await server.ask('GET', '/api/share/very-secret-token');
  await server.logged('GET /api/share/{token} ');
  assert.ok(!server.err.includes(server.key) && !server.err.includes('very-secret-token') && !server.err.includes(server.code));
});

test('log lines can be JSON', async () => {
  const other = await start({ args: ['--log-json', '--log-level', 'request'] });
  await other.ask('GET', '/api/me');
  await other.stop();
  const lines = other.err.trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => line.route === '/api/me' && line.status === 200 && line.request_id && line.user_id));
});

test('the control socket makes the local user the administrator, another Unix socket does not', async () => {
  const path = join(server.data, 'extra.sock');
  const other = await start({ args: ['--unix', path] });
  const me = await other.raw('GET', '/api/me', { key: null, socketPath: join(other.data, 'parley.sock'), headers: { host: 'whatever' } });
  assert.equal(me.status, 200);
  assert.equal(me.json.is_admin, true);
  assert.equal(me.json.key_id, null);
  assert.equal((await other.raw('GET', '/api/me', { key: null, socketPath: path })).status, 401);
  assert.equal((await other.raw('GET', '/api/me', { socketPath: path })).status, 200);
  await other.stop();
});

test('two servers do not share one directory', async () => {
  const { code, err } = run(['serve', '--port', '0', '--data', server.data]);
  assert.equal(code, 4);
  assert.match(err, /another server is using the data in/);
});

test('a port that is taken, and an address without TLS, keep it from starting', () => {
  const taken = run(['serve', '--port', String(server.port), '--data', join(directory, 'taken')]);
  assert.equal(taken.code, 4);
  assert.match(taken.err, /port/);
  const open = run(['serve', '--port', '0', '--host', '0.0.0.0', '--data', join(directory, 'open')]);
  assert.equal(open.code, 4);
  assert.match(open.err, /without TLS.*--tls-cert.*--behind-proxy/);
});

test('TLS', async (t) => {
  if (!has('openssl')) return t.skip('no openssl');
  const key = join(directory, 'key.pem'), cert = join(directory, 'cert.pem');
  assert.equal(spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']).status, 0);
  const other = await start({ args: ['--tls-cert', cert, '--tls-key', key] });
  const ca = readFileSync(cert);
  assert.match(other.url, /^https:/);
  const login = await other.ask('POST', '/api/login', { ca, key: null, body: { code: other.code } });
  assert.equal(login.status, 201);
  other.key = login.json.plaintext;
  assert.equal((await other.ask('GET', '/api/me', { ca })).status, 200);
  assert.equal((await other.ask('POST', '/api/detect', { ca, body: `{"document":[]${' '.repeat(3 << 20)}}` })).status, 200);
  assert.equal((await other.raw('GET', '/openapi.json', { ca })).json.openapi, '3.1.0');
  const plain = await other.bytes(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\n\r\n`);
  assert.ok(!plain.said.startsWith('HTTP/1.1 200'));
  assert.equal((await other.stop()).code, 0);
  assert.equal(run(['serve', '--tls-cert', cert]).code, 2);
});

test('sockets of systemd are used when they are given', async (t) => {
  if (!has('python3')) return t.skip('no python3');
  const launcher = file('activate.py', `
import os, socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(16)
if s.fileno() != 3:
    os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
n = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); n.bind(sys.argv[1])
print(s.getsockname()[1], flush=True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=sys.argv[1])
if os.fork() == 0:
    print("notified", n.recv(100).decode().split("\\n")[0], flush=True); os._exit(0)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
`);
  const other = await start({ login: false, before: ['python3', launcher, join(directory, 'notify.sock')] });
  const port = Number(other.out.match(/^(\d+)$/m)[1]);
  assert.equal(other.port, port);
  assert.equal((await other.ask('GET', '/healthz', { key: null })).status, 200);
  await until(() => other.out.includes('notified READY=1'));
  assert.equal((await other.stop()).code, 0);
  // A socket that other machines can reach needs TLS, like an address in the configuration.
  const open = file('open.py', `
import os, socket, sys
s = socket.socket(); s.bind(("0.0.0.0", 0)); s.listen(16)
os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])
`);
  const data = mkdtempSync(join(directory, 'data-'));
  const refused = spawnSync('python3', [open, parley, 'serve', '--data', data], { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: data } });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /a socket of systemd \(port \d+\) listens beyond this machine without TLS/);
});

// A counter or gauge of the server, read over the control socket, which is always open.
const metric = async (of, name) => Number((await of.raw('GET', '/metrics', { key: null, socketPath: join(of.data, 'parley.sock') })).text.match(new RegExp(`^parley_${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm'))[1]);

test('too many connections: 503 and the end; those that are in stay in', async () => {
  const other = await start({ args: ['--max-connections', '8'] });
  const sockets = await Promise.all(Array.from({ length: 8 }, () => new Promise((resolve, reject) => {
    const socket = net.connect(other.port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  })));
  await until(async () => await metric(other, 'http_connections') >= 8, 'they are in');
  const refused = await other.bytes(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\n\r\n`);
  assert.equal(statusOf(refused), 503);
  assert.ok(refused.closed);
  assert.match(refused.said, /"code":"overloaded"/);
  const said = await new Promise((resolve) => { sockets[0].once('data', (piece) => resolve(piece.toString())); sockets[0].write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\n\r\n`); });
  assert.match(said, /^HTTP\/1\.1 200/);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await other.ask('GET', '/healthz')).status === 200, 'there is room again');
  await other.stop();
});

test('without a free descriptor new connections wait, and are served when one is free', async () => {
  const other = await start({ args: ['--shards', '1'], before: ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"'] });
  const sockets = [];
  for (let i = 0; i < 80; i++) sockets.push(net.connect(other.port, '127.0.0.1').on('error', () => {}));
  await other.logged('no file descriptor is free');
  for (const socket of sockets) socket.destroy();
  assert.equal((await other.ask('GET', '/healthz')).status, 200);
  assert.equal((await other.stop()).code, 0);
});

test('a second signal ends it at once, with 1', async () => {
  const other = await start({ args: ['--shards', '1'] });
  const socket = net.connect(other.port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  // Half a request body: the server waits for the rest.
  socket.write(`POST /api/detect HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\nAuthorization: Bearer ${other.key}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.write('{');
  const ended = other.stop('SIGTERM');
  await other.logged('finishing running work');
  other.child.kill('SIGTERM');
  assert.deepEqual(await ended, { code: 1, signal: null });
});

test('SIGTERM finishes what runs, closes what waits, and ends with 0', async () => {
  const other = await start();
  const idle = net.connect(other.port, '127.0.0.1');
  await new Promise((resolve) => idle.once('connect', resolve));
  const closed = new Promise((resolve) => idle.once('close', resolve));
  idle.resume();
  const big = other.ask('POST', '/api/tokens', { body: { document: { model: 'gpt-4o', messages: [{ role: 'user', content: 'some words '.repeat(200_000) }] } } });
  await until(async () => await metric(other, 'request_bytes_total') > 2_000_000, 'all of it came');
  const ended = other.stop('SIGTERM');
  assert.equal((await big).status, 200);
  await closed;
  assert.deepEqual(await ended, { code: 0, signal: null });
});

test('keys survive a restart, and the first code is not offered again', async () => {
  const first = await start();
  await first.ask('POST', '/api/user/api-keys', { body: { name: 'kept' }, headers: { 'idempotency-key': 'kept' } });
  await first.stop();
  const second = await start({ data: first.data, login: false });
  second.key = first.key;
  assert.equal(second.code, undefined);
  const keys = (await second.ask('GET', '/api/user/api-keys')).json.items;
  assert.deepEqual(keys.map((key) => key.name).sort(), ['first key', 'kept']);
  assert.ok(keys.find((key) => key.name === 'first key').last_used_at);
  const again = await second.ask('POST', '/api/user/api-keys', { body: { name: 'kept' }, headers: { 'idempotency-key': 'kept' } });
  assert.equal(again.headers['idempotency-replayed'], 'true');
  await second.stop();
});

test('settings come from flags, then the environment, then the file', () => {
  const config = join(directory, 'config');
  spawnSync('mkdir', ['-p', join(config, 'parley')]);
  writeFileSync(join(config, 'parley', 'config.yaml'), 'port: 1111\nworkers: 7\nlog_level: warning\nallow_host: [a.example, b.example]\n');
  const env = { XDG_CONFIG_HOME: config, PARLEY_PORT: '2222', PARLEY_WORKERS: '8' };
  const shown = JSON.parse(run(['serve', '--port', '3333', '--print-config', '--json'], { env }).out);
  assert.deepEqual(shown.port, { value: 3333, origin: '--port' });
  assert.deepEqual(shown.workers, { value: 8, origin: 'PARLEY_WORKERS' });
  assert.equal(shown.log_level.value, 'warning');
  assert.match(shown.log_level.origin, /config\.yaml$/);
  assert.deepEqual(shown.allow_host.value, ['a.example', 'b.example']);
  assert.deepEqual(shown.host, { value: '127.0.0.1', origin: 'default' });
  assert.match(run(['serve', '--print-config'], { env }).out, /^port: 2222 {2}# PARLEY_PORT$/m);
  const wrong = run(['serve', '--port', '70000']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /port \(from --port\) must be a whole number from 0 to 65535, not "70000"/);
  writeFileSync(join(config, 'parley', 'config.yaml'), 'prot: 1\n');
  assert.match(run(['serve'], { env: { XDG_CONFIG_HOME: config } }).err, /there is no setting "prot"; did you mean "port"\?/);
});

test('Node\'s keep-alive agent and fetch are served', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => server.raw('GET', '/api/me', { agent })));
  assert.ok(answers.every((answer) => answer.status === 200));
  agent.destroy();
  const answer = await fetch(`${server.url}/api/detect`, { method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }, body: '{"document":[]}' });
  assert.equal(answer.status, 200);
  await answer.json();
});
