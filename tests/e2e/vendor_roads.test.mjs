// The connections to a vendor: HTTP/2 over TLS, trusted and untrusted certificates, and the proxies of the environment.
// gateway.test.mjs and vendors.test.mjs test the content of requests and answers; this file tests the transport.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { directory, missing } from './harness.mjs';
import { until } from './live.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';

const KEY = 'sk-roads-0123456789abcdef';
const skip = missing('openssl');

// A self-signed certificate for one name.
function certificate(name, subject) {
  const [key, cert] = ['key', 'pem'].map((end) => join(directory, `${name}.${end}`));
  const { status, stderr } = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1',
    '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=test', '-addext', `subjectAltName=${subject}`]);
  assert.equal(status, 0, String(stderr));
  return { key: readFileSync(key), cert: readFileSync(cert), path: cert };
}

// A server in front of the vendors of upstreams.mjs that speaks only HTTP/2.
class SecureDoor {
  constructor(upstream, { key, cert }) {
    this.sessions = []; // connections, each with its requests
    this.server = http2.createSecureServer({ key, cert, allowHTTP1: false });
    this.server.on('session', (session) => {
      const seen = { session, versions: [] };
      this.sessions.push(seen);
      session.on('stream', () => seen.versions.push(session.alpnProtocol));
      session.on('error', () => {});
    });
    this.server.on('request', (request, response) => upstream.take(request, response).catch(() => response.stream.close()));
    this.server.on('sessionError', () => {});
    this.server.on('tlsClientError', () => {});
  }

  async listen() {
    await new Promise((resolve) => { this.server.listen(0, '127.0.0.1', resolve); });
    this.port = this.server.address().port;
    this.url = `https://127.0.0.1:${this.port}`;
    return this;
  }

  async close() {
    for (const { session } of this.sessions) session.destroy();
    await new Promise((resolve) => { this.server.close(resolve); });
  }
}

// A forward proxy: requests in absolute form, and tunnels.
class Proxy {
  constructor() {
    this.requests = []; // { method, url, headers }
    this.refuses = 0; // the status of every answer
    this.sockets = new Set();
    this.server = http.createServer((request, response) => this.pass(request, response));
    this.server.on('connect', (request, socket) => this.tunnel(request, socket));
    this.server.on('connection', (socket) => this.sockets.add(socket));
  }

  see({ method, url, headers }) {
    this.requests.push({ method, url, headers });
    return this.refuses;
  }

  pass(request, response) {
    if (this.see(request)) {
      response.writeHead(this.refuses).end();
      return;
    }
    const onward = http.request(request.url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  tunnel(request, socket) {
    socket.on('error', () => {});
    if (this.see(request)) {
      socket.end(`HTTP/1.1 ${this.refuses} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = net.connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  }

  async listen() {
    await new Promise((resolve) => { this.server.listen(0, '127.0.0.1', resolve); });
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async close() {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => { this.server.close(resolve); });
  }
}

let upstream;
let trusted;
before(async () => {
  upstream = await openUpstream({ key: KEY });
  if (!skip) trusted = certificate('trusted', 'IP:127.0.0.1');
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

// A server with the given providers: name -> { base_url, ca_file }. One shard, so that there is one set of connections.
function serve(providers, { env = {} } = {}) {
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), JSON.stringify({
    probe: false,
    providers: Object.fromEntries(Object.entries(providers).map(([name, more]) => [name, { dialect: 'openai-chat', key_env: 'ROAD_KEY', ...more }])),
  }));
  return start({ args: ['--shards', '1', '--log-level', 'request'], env: { ROAD_KEY: KEY, XDG_CONFIG_HOME: home, ...env } });
}

const chat = (server, model, more = {}) =>
  server.raw('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'Hello' }], ...more } });
const deltas = ({ text }) => [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data).choices[0]?.delta.content ?? '').join('');

async function works(server, model) {
  const whole = await chat(server, model);
  assert.equal(whole.status, 200, whole.text);
  assert.equal(whole.json.choices[0].message.content, 'Hello.');
}

// A failure as the client sees it: a sentence, without the key, which is not in the log either.
async function fails(server, model, sentence) {
  const answer = await chat(server, model);
  assert.equal(answer.status, 502, answer.text);
  assert.match(answer.json.error.message, sentence);
  assert.ok(!JSON.stringify([answer.headers, answer.text]).includes(KEY));
  saysNoKey(server);
}

function saysNoKey(server) {
  assert.ok(server.err.length, 'there is a log');
  assert.ok(!`${server.out}${server.err}`.includes(KEY));
}

// A streamed call whose answer the test reads itself.
function open(server, model) {
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: '127.0.0.1', port: server.port, method: 'POST', path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    }, (response) => resolve({ request, response }));
    request.on('error', reject);
    request.end(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }));
  });
}

describe('HTTP/2 over TLS', { skip }, () => {
  let door;
  let server;
  before(async () => {
    door = await new SecureDoor(upstream, trusted).listen();
    server = await serve({ safe: { base_url: door.url, ca_file: trusted.path } });
  });
  after(() => door.close());

  test('shares one connection from the first calls on', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => chat(server, 'safe/m')));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    assert.equal(door.sessions.length, 1);
    door.sessions[0].versions = [];
    upstream.reset();
  });

  test('is what a vendor that has it is asked with, plain and streamed', async () => {
    await works(server, 'safe/m');
    upstream.next({ say: 'Good day to you — é 😀', drip: 2 });
    const streamed = await chat(server, 'safe/m', { stream: true });
    assert.equal(deltas(streamed), 'Good day to you — é 😀');
    assert.match(streamed.text, /data: \[DONE\]/);
    const versions = door.sessions.flatMap((session) => session.versions);
    assert.deepEqual(versions, ['h2', 'h2']);
    assert.deepEqual(upstream.requests.map(({ headers }) => headers.authorization), [`Bearer ${KEY}`, `Bearer ${KEY}`]);
    saysNoKey(server);
  });

  test('carries many calls at once over one connection', async () => {
    const n = door.sessions.length;
    upstream.answer = ({ body }) => ({ say: `answer ${body.messages[0].content}`, drip: 5 });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) =>
      chat(server, 'safe/m', { stream: i % 2 === 0, messages: [{ role: 'user', content: String(i) }] })));
    upstream.answer = undefined;
    answers.forEach((answer, i) => {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(i % 2 ? answer.json.choices[0].message.content : deltas(answer), `answer ${i}`);
    });
    assert.equal(door.sessions.length, n, 'no other connection was made');
    assert.equal(n, 1);
  });

  test('ends one call where its client goes away, and not the connection', async () => {
    upstream.next({ say: 'word '.repeat(2000), drip: 20 }, { say: 'Still here.', drip: 20 });
    const { request, response } = await open(server, 'safe/m');
    await new Promise((resolve) => { response.once('data', resolve); });
    const other = chat(server, 'safe/m', { stream: true });
    await until(() => upstream.requests.length === 2, 'both are asked');
    request.destroy();
    await until(() => upstream.requests[0].isClosed, 'the vendor is told');
    assert.equal(deltas(await other), 'Still here.');
    await works(server, 'safe/m');
    assert.equal(door.sessions.length, 1);
  });

  test('lets no reader that is slow hold up another', async () => {
    const long = 'word '.repeat(4_000_000);
    upstream.next({ say: [long] }, { say: 'Quick.' });
    const { response } = await open(server, 'safe/m');
    await until(() => upstream.requests.length === 1, 'it is asked');
    const quick = await chat(server, 'safe/m', { stream: true });
    assert.equal(deltas(quick), 'Quick.');
    let n = 0;
    for await (const piece of response) n += piece.length;
    assert.ok(n > long.length, `${n} bytes`);
    assert.equal(door.sessions.length, 1);
  });

  test('is asked anew when the vendor has closed the connection', async () => {
    door.sessions[0].session.close();
    await until(() => door.sessions[0].session.destroyed, 'it says good-bye');
    await works(server, 'safe/m');
    assert.equal(door.sessions.length, 2);
    saysNoKey(server);
  });
});

describe('a certificate', { skip }, () => {
  test('that nobody vouches for is refused, with a sentence', async (t) => {
    const door = await new SecureDoor(upstream, certificate('unknown', 'IP:127.0.0.1')).listen();
    t.after(() => door.close());
    const server = await serve({ bare: { base_url: door.url }, other: { base_url: door.url, ca_file: trusted.path } });
    await fails(server, 'bare/m', /certificate of the model's server is not trusted/);
    await fails(server, 'other/m', /certificate of the model's server is not trusted/);
    assert.equal(upstream.requests.length, 0);
  });

  test('that is for another name is refused', async (t) => {
    const wrong = certificate('wrong', 'DNS:elsewhere.example');
    const door = await new SecureDoor(upstream, wrong).listen();
    t.after(() => door.close());
    await fails(await serve({ safe: { base_url: door.url, ca_file: wrong.path } }), 'safe/m', /certificate of the model's server is not trusted/);
    assert.equal(upstream.requests.length, 0);
  });
});

describe('a proxy', () => {
  let proxy;
  let byName; // an address of this machine is used without a proxy, and so is localhost in its usual spelling
  before(async () => {
    proxy = await new Proxy().listen();
    byName = upstream.url.replace('127.0.0.1', 'LOCALHOST');
  });
  beforeEach(() => {
    proxy.requests = [];
    proxy.refuses = 0;
  });
  after(() => proxy.close());

  test('is asked for an http vendor with the whole address', async () => {
    const server = await serve({ plain: { base_url: byName } }, { env: { http_proxy: proxy.url.replace('//', '//someone:a-proxy-word@') } });
    await works(server, 'plain/m');
    upstream.next({ say: 'one two', drip: 2 });
    assert.equal(deltas(await chat(server, 'plain/m', { stream: true })), 'one two');
    assert.deepEqual(proxy.requests.map(({ method, url }) => `${method} ${url}`), Array(2).fill(`POST ${byName}/v1/chat/completions`));
    assert.equal(proxy.requests[0].headers['proxy-authorization'], `Basic ${Buffer.from('someone:a-proxy-word').toString('base64')}`);
    saysNoKey(server);
    assert.ok(!server.err.includes('a-proxy-word'));
  });

  test('is a tunnel to an https vendor and sees nothing of the call', { skip }, async (t) => {
    const door = await new SecureDoor(upstream, trusted).listen();
    t.after(() => door.close());
    const server = await serve({ safe: { base_url: door.url, ca_file: trusted.path } }, { env: { https_proxy: proxy.url } });
    await works(server, 'safe/m');
    upstream.next({ say: 'one two', drip: 2 });
    assert.equal(deltas(await chat(server, 'safe/m', { stream: true })), 'one two');
    assert.deepEqual(proxy.requests.map(({ method, url }) => `${method} ${url}`), [`CONNECT 127.0.0.1:${door.port}`], 'one tunnel for both');
    assert.ok(!JSON.stringify(proxy.requests).includes(KEY));
    assert.deepEqual(door.sessions.flatMap((session) => session.versions), ['h2', 'h2']);
    saysNoKey(server);
  });

  test('is not asked for what no_proxy names', async () => {
    const server = await serve({ plain: { base_url: byName } }, { env: { http_proxy: proxy.url, no_proxy: 'example.org,localhost' } });
    await works(server, 'plain/m');
    assert.equal(proxy.requests.length, 0);
  });

  test('is not asked for a server on this machine', async () => {
    const server = await serve({ plain: { base_url: upstream.url } }, { env: { http_proxy: proxy.url } });
    await works(server, 'plain/m');
    assert.equal(proxy.requests.length, 0);
  });

  test('that refuses, or is not there, fails the call with a sentence', { skip }, async (t) => {
    const door = await new SecureDoor(upstream, trusted).listen();
    t.after(() => door.close());
    const providers = { safe: { base_url: door.url, ca_file: trusted.path } };
    proxy.refuses = 403;
    await fails(await serve(providers, { env: { https_proxy: proxy.url } }), 'safe/m', /proxy does not connect/);
    assert.equal(proxy.requests.length, 1, 'it is asked once');
    const gone = await new Proxy().listen();
    await gone.close();
    await fails(await serve(providers, { env: { https_proxy: gone.url } }), 'safe/m', /does not accept connections/);
    assert.equal(upstream.requests.length, 0);
  });
});
