// Blobs on a real server: streaming both ways in constant memory, ranges, limits, false content types, ownership, and
// the state after a crash.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { directory, parley } from './harness.mjs';
import { endsWell, until } from './live.mjs';
import { start } from './server.mjs';

// A build with sanitizers keeps freed memory for a while, so its size proves nothing.
const sanitized = spawnSync('sh', ['-c', 'nm "$0" 2>/dev/null | grep -qE "__(a|t)san_init"', parley]).status === 0;
const PIECE = 256 << 10;
const MAX = 100 << 20;

let server;
let other;
before(async () => {
  server = await start();
  other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
});

const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');
const png = (n, seed = 'x') => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(n, seed)]);
const upload = (bytes, { type = 'application/octet-stream', name, headers = {}, ...rest } = {}) =>
  server.ask('POST', `/api/blobs${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}`,
    { body: bytes, headers: { 'content-type': type, ...headers }, ...rest });

function memory(of = server) {
  const status = readFileSync(`/proc/${of.child.pid}/status`, 'utf8');
  return Number(status.match(/VmRSS:\s+(\d+)/)[1]) * 1024;
}

// n pseudo-random bytes, generated and hashed as they are sent.
function* pseudo(n, seed) {
  const block = randomBytes(64 << 10);
  for (let at = 0; at < n; at += block.length) {
    block.writeUInt32LE(seed ^ at, 0);
    yield block.subarray(0, Math.min(block.length, n - at));
  }
}

// Sends a body of n bytes as fast as the server reads it; resolves with the answer and the hash.
function stream(of, n, { headers = {}, seed = 1, chunked = false, watch = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const sum = createHash('sha256');
    const request = http.request({ host: '127.0.0.1', port: of.port, method: 'POST', path: '/api/blobs?name=long.bin',
      headers: { authorization: `Bearer ${of.key}`, 'content-type': 'application/octet-stream', ...(chunked ? {} : { 'content-length': n }), ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => { text += piece; });
      response.on('end', () => resolve({ status: response.statusCode, json: JSON.parse(text), hash: sum.digest('hex') }));
    });
    request.on('error', reject);
    const over = new Promise((done) => { request.on('close', done); request.on('response', done); });
    (async () => {
      for (const piece of pseudo(n, seed)) {
        if (request.destroyed || request.res) return;
        sum.update(piece);
        watch();
        if (!request.write(Buffer.from(piece))) await Promise.race([once(request, 'drain'), over]);
      }
      request.end();
    })().catch(reject);
  });
}

const openUploads = (data) => Number(spawnSync('python3', ['-c', `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT count(*) FROM blob_uploads WHERE touched_ms IS NOT NULL").fetchone()[0])`, join(data, 'parley.db')], { encoding: 'utf8' }).stdout);

test('what was stored comes back, with its hash, its type and its name', async () => {
  const bytes = png(PIECE + 12345);
  const made = await upload(bytes, { type: 'image/png', name: 'Katze auf Mauer ü.png' });
  assert.equal(made.status, 201);
  assert.equal(made.json.sha256, hash(bytes));
  assert.equal(made.json.size, bytes.length);
  assert.equal(made.json.content_type, 'image/png');
  assert.equal(made.json.name, 'Katze auf Mauer ü.png');
  assert.equal(made.json.url, `/api/blobs/${made.json.id}`);
  assert.deepEqual((await server.ask('GET', `${made.json.url}/info`)).json, made.json);
  const read = await server.ask('GET', made.json.url);
  assert.equal(read.status, 200);
  assert.deepEqual(read.bytes, bytes);
  assert.equal(read.headers['content-type'], 'image/png');
  assert.equal(read.headers.etag, `"${made.json.sha256}"`);
  assert.equal(read.headers['accept-ranges'], 'bytes');
  assert.equal(read.headers['x-content-type-options'], 'nosniff');
  assert.match(read.headers['content-security-policy'], /^sandbox; default-src 'none'/);
  assert.equal(read.headers['content-disposition'], "inline; filename*=UTF-8''Katze%20auf%20Mauer%20%C3%BC.png");
  const head = await server.ask('HEAD', made.json.url);
  assert.equal(head.headers['content-length'], String(bytes.length));
  assert.equal(head.bytes.length, 0);
});

test('a name is saved without what hides or turns its ending', async () => {
  for (const [name, saved] of [['a\u202egnp.exe', 'a_gnp.exe'], ['\u2066x\u2069.pdf\u200b.js', '_x_.pdf_.js'], ['\u061c\ufeff猫.txt', '__%E7%8C%AB.txt']]) {
    const made = await upload(Buffer.from(`of ${name}`), { type: 'application/octet-stream', name });
    assert.equal(made.status, 201);
    assert.equal(made.json.name, name, 'it stays as it was given');
    assert.equal((await server.ask('GET', made.json.url)).headers['content-disposition'], `attachment; filename*=UTF-8''${saved}`);
  }
});

test('every length around a piece comes back', async () => {
  for (const n of [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7]) {
    const bytes = randomBytes(n);
    const made = await upload(bytes);
    assert.equal(made.status, 201, String(n));
    assert.equal(made.json.sha256, hash(bytes), String(n));
    assert.deepEqual((await server.ask('GET', made.json.url)).bytes, bytes, String(n));
  }
});

test('only pictures, sound and films are shown where they stand', async () => {
  const kinds = { 'image/png': png(10), 'text/html': Buffer.from('<script>alert(1)</script>'), 'image/svg+xml': Buffer.from('<svg/>'),
    'application/pdf': Buffer.from('%PDF-1.7\n'), 'application/json': Buffer.from('{"a":1}') };
  for (const [type, bytes] of Object.entries(kinds)) {
    const { json } = await upload(bytes, { type });
    const read = await server.ask('GET', json.url);
    assert.equal(read.headers['content-type'], type);
    assert.equal(read.headers['content-disposition'], type === 'image/png' ? 'inline' : 'attachment', type);
  }
});

test('ranges are what Buffer.subarray cuts', async () => {
  const bytes = randomBytes(5 * PIECE / 2 + 11);
  const { json: { url, sha256 } } = await upload(bytes);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const size = bytes.length;
  const random = (n) => Math.floor(Math.random() * n);
  const edges = [[0, 0], [0, size - 1], [size - 1, size - 1], [PIECE - 1, PIECE], [PIECE, 2 * PIECE - 1], [PIECE, 2 * PIECE], [1, size + 500]];
  const cases = [...edges, ...Array.from({ length: 150 }, () => { const from = random(size); return [from, from + random(size - from)]; })];
  for (const [from, to] of cases) {
    const read = await server.raw('GET', url, { headers: { range: `bytes=${from}-${to}` }, agent });
    assert.equal(read.status, 206);
    assert.equal(read.headers['content-range'], `bytes ${from}-${Math.min(to, size - 1)}/${size}`);
    assert.ok(read.bytes.equals(bytes.subarray(from, to + 1)), `${from}-${to}`);
  }
  for (let i = 0; i < 30; i++) {
    const at = random(size - 1) + 1;
    const open = await server.raw('GET', url, { headers: { range: `bytes=${at}-` }, agent });
    assert.ok(open.status === (at < size ? 206 : 416) && open.bytes.equals(bytes.subarray(at)), `${at}-`);
    const last = await server.raw('GET', url, { headers: { range: `bytes=-${at}` }, agent });
    assert.ok(last.status === 206 && last.bytes.equals(bytes.subarray(size - at)), `-${at}`);
  }
  for (const range of [`bytes=${size}-`, 'bytes=-0', `bytes=${size + 5}-${size + 9}`]) {
    const outside = await server.ask('GET', url, { headers: { range }, agent });
    assert.equal(outside.status, 416, range);
    assert.equal(outside.headers['content-range'], `bytes */${size}`);
    assert.equal(outside.json.code, 'range_not_satisfiable');
  }
  for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=9-3', 'bytes=x'])
    assert.ok((await server.raw('GET', url, { headers: { range }, agent })).bytes.equals(bytes), range);
  const same = await server.raw('GET', url, { headers: { 'if-none-match': `W/"x", "${sha256}"` }, agent });
  assert.deepEqual([same.status, same.bytes.length], [304, 0]);
  assert.equal((await server.raw('GET', url, { headers: { 'if-none-match': '"x"' }, agent })).status, 200);
  assert.equal((await server.raw('GET', url, { headers: { range: 'bytes=0-0', 'if-range': `"${sha256}"` }, agent })).status, 206);
  assert.equal((await server.raw('GET', url, { headers: { range: 'bytes=0-0', 'if-range': '"x"' }, agent })).status, 200);
  const head = await server.raw('HEAD', url, { headers: { range: 'bytes=0-0' }, agent });
  assert.deepEqual([head.status, head.headers['content-length']], [200, String(size)]);
  agent.destroy();
});

test('100 MiB go in and out, and the server does not grow', async () => {
  const own = await start();
  await own.ask('POST', '/api/blobs', { body: randomBytes(4 << 20), headers: { 'content-type': 'application/octet-stream' } });
  const base = memory(own);
  let peak = 0;
  let n = 0;
  const watch = () => { if (++n % 32 === 0) peak = Math.max(peak, memory(own)); };
  const made = await stream(own, MAX, { watch });
  assert.equal(made.status, 201);
  assert.equal(made.json.size, MAX);
  assert.equal(made.json.sha256, made.hash);
  assert.equal(made.json.name, 'long.bin');
  const sum = createHash('sha256');
  const agent = new http.Agent();
  const size = await new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port: own.port, path: made.json.url, agent, headers: { authorization: `Bearer ${own.key}` } }, (response) => {
    let got = 0;
    response.on('data', (piece) => { sum.update(piece); got += piece.length; watch(); });
    response.on('end', () => resolve(got)).on('error', reject);
  }).on('error', reject));
  assert.equal(size, MAX);
  assert.equal(sum.digest('hex'), made.hash);
  assert.ok(sanitized || peak - base < 32 << 20, `it grew by ${((peak - base) / (1 << 20)).toFixed(1)} MiB`);
  await endsWell(own);
});

test('a reader that takes nothing costs a piece', async () => {
  const bytes = randomBytes(24 << 20);
  const { json: { url } } = await upload(bytes);
  const base = memory();
  const sockets = [];
  for (let i = 0; i < 8; i++) {
    const socket = net.connect({ host: '127.0.0.1', port: server.port });
    socket.write(`GET ${url} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\n\r\n`);
    sockets.push(socket);
  }
  // All answers have begun: the first bytes of each have arrived.
  await Promise.all(sockets.map((socket) => once(socket, 'readable')));
  const grown = memory() - base;
  for (const socket of sockets) socket.destroy();
  assert.ok(sanitized || grown < 32 << 20, `it grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
});

test('one byte over the limit is refused, with and without a length, and nothing is kept', async () => {
  const said = await stream(server, MAX + 1).catch((error) => error);
  // The connection may break before the answer arrives, because of the unread bytes.
  if (!(said instanceof Error)) assert.deepEqual([said.status, said.json.code], [413, 'payload_too_large']);
  const told = await server.bytes(`POST /api/blobs HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nContent-Length: ${MAX + 1}\r\n\r\n`);
  assert.match(told.said, /^HTTP\/1.1 413 /);
  const chunked = await stream(server, MAX + 1, { chunked: true, seed: 7 }).catch((error) => error);
  if (!(chunked instanceof Error)) assert.equal(chunked.status, 413);
  assert.ok((await server.ask('GET', '/api/blobs?limit=100')).json.items.every(({ size }) => size <= MAX));
  await until(() => openUploads(server.data) === 0);
});

test('bytes that are not what they are said to be are refused, with what they are', async () => {
  const lies = [[png(PIECE * 2), 'image/jpeg', /image\/png/], [Buffer.from('%PDF-1.4'), 'image/png', /application\/pdf/], [Buffer.from('hello'), 'image/png', /image\/png/],
    [png(5), 'application/pdf', /image\/png/], [png(5), 'video/mp4', /image\/png/]];
  for (const [bytes, type, found] of lies) {
    const refused = await upload(bytes, { type });
    assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_request'], type);
    assert.match(refused.json.detail, found);
  }
  for (const type of ['application/octet-stream', ''])
    assert.equal((await upload(png(77), { type })).json.content_type, 'image/png');
  assert.equal((await upload(Buffer.from('no magic at all'), { type: '' })).json.content_type, 'application/octet-stream');
  assert.equal((await upload(png(78), { type: 'Image/PNG; charset=x' })).json.content_type, 'image/png');
});

test('text is UTF-8, wherever its characters are cut', async () => {
  for (let shift = 0; shift < 4; shift++) {
    const text = Buffer.from('x'.repeat(shift) + '🙂'.repeat(PIECE / 2));
    assert.equal((await upload(text, { type: 'text/plain' })).status, 201, String(shift));
    for (const broken of [text.subarray(0, PIECE + 1 + shift - (shift === 3 ? 1 : 0)), Buffer.concat([text.subarray(0, PIECE - 1), Buffer.from('z'), text.subarray(PIECE)])]) {
      const refused = await upload(broken, { type: 'text/plain' });
      if (broken.toString('utf8').includes('\ufffd')) assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_request']);
      else assert.equal(refused.status, 201);
    }
  }
  for (const type of ['text/markdown', 'application/json'])
    assert.equal((await upload(Buffer.from([0x22, 0xff, 0x22]), { type })).status, 400);
  assert.equal((await upload(Buffer.from([0x22, 0xff, 0x22]))).status, 201);
});

test('names are a line of text', async () => {
  for (const name of ['x'.repeat(256), 'a\nb', 'a\u007fb', '\u0000'])
    assert.equal((await upload(Buffer.from(name), { name })).status, 400);
  const longest = `${'ü'.repeat(127)}x`;
  const made = await upload(Buffer.from(longest), { name: longest });
  assert.equal(made.json.name, longest);
  assert.ok((await server.ask('GET', made.json.url)).headers['content-disposition'].endsWith(encodeURIComponent(longest)));
});

test('the same bytes are the same blob for a user, and one of his own for another', async () => {
  const bytes = randomBytes(PIECE + 5);
  const [first, again] = [await upload(bytes, { name: 'first' }), await upload(bytes, { name: 'again' })];
  assert.deepEqual([again.status, again.json], [201, first.json]);
  const theirs = await upload(bytes, { key: other });
  assert.notEqual(theirs.json.id, first.json.id);
  for (const path of ['', '/info'])
    assert.equal((await server.ask('GET', first.json.url + path, { key: other })).status, 404);
  assert.equal((await server.ask('DELETE', first.json.url, { key: other })).status, 404);
  assert.ok((await server.ask('GET', '/api/blobs?limit=100', { key: other })).json.items.every(({ id }) => id === theirs.json.id));
  assert.equal((await server.ask('DELETE', first.json.url)).status, 204);
  assert.equal((await server.ask('GET', first.json.url)).status, 404);
  assert.equal((await server.ask('DELETE', first.json.url)).status, 404);
  assert.deepEqual((await server.ask('GET', theirs.json.url, { key: other })).bytes, bytes);
  assert.equal((await server.ask('DELETE', theirs.json.url, { key: other })).status, 204);
  assert.notEqual((await upload(bytes)).json.id, first.json.id);
  for (const id of ['x', 'blob_', 'blob_00000000-0000-7000-8000-000000000000', 'fetch'])
    assert.ok([404, 405].includes((await server.ask('GET', `/api/blobs/${id}`)).status), id);
  assert.equal((await server.ask('GET', first.json.url, { key: null })).status, 401);
  assert.equal((await upload(bytes, { key: null })).status, 401);
});

test('the list has pages', async () => {
  const { key } = (await server.ask('POST', '/api/users', { body: { name: 'pages' } })).json;
  const ids = [];
  for (let i = 0; i < 5; i++) ids.unshift((await upload(Buffer.from(`page ${i}`), { key: key.plaintext })).json.id);
  const seen = [];
  let cursor = '';
  do {
    const { json } = await server.ask('GET', `/api/blobs?limit=2${cursor && `&cursor=${cursor}`}`, { key: key.plaintext });
    assert.equal(json.total, 5);
    seen.push(...json.items.map(({ id }) => id));
    cursor = json.next_cursor;
  } while (cursor);
  assert.deepEqual(seen, ids);
  assert.equal((await server.ask('GET', '/api/blobs?cursor=eA', { key: key.plaintext })).status, 400);
});

test('an Idempotency-Key stands for the whole body', async () => {
  const bytes = randomBytes(2 * PIECE + 3);
  const changed = Buffer.from(bytes);
  changed[5] ^= 1;
  const headers = { 'idempotency-key': 'blob-1' };
  const first = await upload(bytes, { headers });
  const again = await upload(bytes, { headers });
  assert.deepEqual([again.status, again.json, again.headers['idempotency-replayed']], [201, first.json, 'true']);
  assert.equal((await upload(changed, { headers })).status, 422);
  assert.equal((await upload(png(3), { type: 'image/gif', headers: { 'idempotency-key': 'blob-2' } })).status, 400);
  assert.equal((await upload(png(3), { type: 'image/gif', headers: { 'idempotency-key': 'blob-2' } })).status, 400, 'a refusal is not kept');
  assert.equal(openUploads(server.data), 0);
});

test('many at once get their own bytes back', async () => {
  const all = Array.from({ length: 12 }, (_, i) => randomBytes(PIECE * (i % 4) + 1000 + i));
  const same = randomBytes(PIECE + 1);
  const made = await Promise.all([...all, same, same, same].map((bytes) => upload(bytes)));
  assert.equal(new Set(made.slice(-3).map(({ json }) => json.id)).size, 1);
  await Promise.all(all.map(async (bytes, i) => assert.ok((await server.raw('GET', made[i].json.url)).bytes.equals(bytes))));
});

test('requests behind an upload on the same connection are answered in order', async () => {
  const bytes = randomBytes(3 * PIECE);
  const host = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\n`;
  const { said } = await server.bytes([
    `POST /api/blobs HTTP/1.1\r\n${host}Content-Length: ${bytes.length}\r\n\r\n${bytes.toString('latin1')}GET /api/me HTTP/1.1\r\n${host}\r\n`,
    `POST /api/blobs HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n0\r\n\r\n`,
    `GET /api/me HTTP/1.1\r\n${host}Connection: close\r\n\r\n`], { n: 4 });
  assert.deepEqual(said.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 201', 'HTTP/1.1 200', 'HTTP/1.1 201', 'HTTP/1.1 200']);
  assert.deepEqual([...new Set(said.match(/"sha256":"\w+"/g))], [`"sha256":"${hash(bytes)}"`]);
});

test('a client may ask before it sends', async () => {
  const bytes = randomBytes(PIECE + 9);
  const answer = await new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: server.port, method: 'POST', path: '/api/blobs',
      headers: { authorization: `Bearer ${server.key}`, expect: '100-continue', 'content-length': bytes.length } }, (response) => {
      let text = '';
      response.on('data', (piece) => { text += piece; }).on('end', () => resolve(JSON.parse(text)));
    });
    request.on('continue', () => request.end(bytes)).on('error', reject);
    request.flushHeaders();
  });
  assert.equal(answer.sha256, hash(bytes));
});

// Sends the head and the first bytes of a body of 8 MiB.
function begin(of, n) {
  const socket = net.connect({ host: '127.0.0.1', port: of.port });
  socket.on('error', () => {});
  socket.write(`POST /api/blobs HTTP/1.1\r\nHost: 127.0.0.1:${of.port}\r\nAuthorization: Bearer ${of.key}\r\nContent-Length: ${8 << 20}\r\n\r\n`);
  socket.write(randomBytes(n));
  return socket;
}

test('a client that goes away in the middle leaves nothing', async () => {
  const socket = begin(server, 5 * PIECE);
  await until(() => openUploads(server.data) === 1);
  socket.destroy();
  await until(() => openUploads(server.data) === 0);
});

test('a restart keeps what was stored; kill -9 in the middle of an upload leaves what is swept', async () => {
  let own = await start();
  const { data, key } = own;
  const bytes = randomBytes(3 * PIECE);
  const kept = await own.ask('POST', '/api/blobs?name=kept', { body: bytes, headers: { 'content-type': 'application/octet-stream' } });
  begin(own, 6 * PIECE);
  await until(() => openUploads(data) === 1);
  await own.stop('SIGKILL');
  own = await start({ data, login: false });
  own.key = key;
  const list = (await own.ask('GET', '/api/blobs')).json;
  assert.deepEqual(list.items, [kept.json]);
  assert.deepEqual((await own.ask('GET', kept.json.url)).bytes, bytes);
  assert.equal(openUploads(data), 1, 'another server might still be at it');
  await own.stop();
  const aged = spawnSync('python3', ['-c', 'import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.execute("UPDATE blob_uploads SET touched_ms = touched_ms - 700000")\ndb.commit()', join(data, 'parley.db')]);
  assert.equal(aged.status, 0);
  own = await start({ data, login: false });
  own.key = key;
  await until(() => openUploads(data) === 0);
  assert.deepEqual((await own.ask('GET', kept.json.url)).bytes, bytes);
  await own.stop();
});

test('an end in the middle of an upload is a good one', async () => {
  const own = await start({ args: ['--drain', '300'] });
  begin(own, 3 * PIECE);
  await until(() => openUploads(own.data) === 1);
  await endsWell(own);
});

const place = join(directory, 'small');
mkdirSync(place);
const inSmall = ['unshare', '-rm', 'sh', '-c', `mount -t tmpfs -o size=6m none '${place}' && exec "$0" "$@"`];
const hasSmall = spawnSync(inSmall[0], [...inSmall.slice(1), 'true']).status === 0;

test('a full disk refuses an upload with 507, and what is there is still read', { skip: !hasSmall && 'no tmpfs of one\'s own' }, async () => {
  const own = await start({ data: place, before: inSmall });
  const bytes = randomBytes(PIECE + 1);
  const headers = { 'content-type': 'application/octet-stream' };
  const kept = await own.ask('POST', '/api/blobs', { body: bytes, headers });
  const said = await stream(own, 8 << 20).catch((error) => error);
  if (!(said instanceof Error)) assert.deepEqual([said.status, said.json.code], [507, 'storage_full']);
  assert.deepEqual((await own.ask('GET', kept.json.url)).bytes, bytes);
  assert.equal((await own.ask('GET', '/api/blobs')).json.total, 1);
  await endsWell(own);
});

test('a full disk refuses what was fetched with 507, and not with what a host is blamed for', { skip: !hasSmall && 'no tmpfs of one\'s own' }, async () => {
  const bytes = randomBytes(8 << 20);
  const host = http.createServer((request, response) => response.end(bytes)).listen(0, '127.0.0.1');
  await once(host, 'listening');
  const at = `127.0.0.1:${host.address().port}`;
  const own = await start({ data: place, before: inSmall, args: ['--allow-fetch', at] });
  const said = await own.ask('POST', '/api/blobs/fetch', { body: { url: `http://${at}/x` } });
  assert.deepEqual([said.status, said.json.code], [507, 'storage_full'], said.text);
  assert.equal((await own.ask('GET', '/api/blobs')).json.total, 0);
  host.close();
  await endsWell(own);
});

test('what is fetched on request is guarded', async () => {
  for (const url of ['http://127.0.0.1:1/x', 'file:///etc/passwd', 'http://[::1]/', 'http://169.254.169.254/latest', 'nonsense']) {
    const refused = await server.ask('POST', '/api/blobs/fetch', { body: { url } });
    assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_request'], url);
  }
});

test('the server ends in good order', () => endsWell(server));
