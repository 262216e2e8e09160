// SIGHUP: what a running server is told anew, and what it keeps; and signals that mean nothing to it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import tls from 'node:tls';
import { has, run } from './harness.mjs';
import { configure, Gated } from './gated.mjs';
import { endsWell, serve, until } from './live.mjs';

const MINUTES = 120_000;
const again = 'the configuration was reloaded';
const count = (server, text) => server.err.split(text).length - 1;

// A server with a provider whose key is in a file. `config` is what else the file says.
async function begin(t, { config = '', args = [] } = {}) {
  const held = await new Gated().listen();
  const data = mkdtempSync(join(tmpdir(), 'parley-reload-'));
  const key = join(data, 'held.key');
  const write = (text) => configure(data, `probe: false\nproviders:\n  held:\n    dialect: openai-chat\n    base_url: ${held.url}\n    key_file: ${key}\n${text}`);
  writeFileSync(key, 'sk-first-key\n', { mode: 0o600 });
  write(config);
  held.open();
  const server = await serve({ data, args });
  t.after(async () => {
    held.close();
    await server.stop('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  });
  // SIGHUP, and waits for what is logged of it.
  const hup = async (text) => {
    const before = count(server, text);
    server.child.kill('SIGHUP');
    await until(() => count(server, text) > before, `the log says: ${text}\n${server.err}`, MINUTES);
  };
  return { held, server, data, key, write, hup };
}

const askHeld = (server, model = 'held/one') => server.raw('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'hi' }] } });

test("a vendor's key that was changed in its file goes out with the next call", async (t) => {
  const { held, server, key, hup } = await begin(t);
  assert.equal((await askHeld(server)).status, 200);
  writeFileSync(key, 'sk-second-key\n', { mode: 0o600 });
  assert.equal((await askHeld(server)).status, 200);
  await hup(`${again}; changed: providers\n`);
  assert.equal((await askHeld(server)).status, 200);
  assert.deepEqual(held.keys, ['Bearer sk-first-key', 'Bearer sk-first-key', 'Bearer sk-second-key']);
  assert.ok(!/sk-(first|second)/.test(server.err), 'no key is in the log');
  await endsWell(server);
});

test('a call that waits keeps the vendor it began with', async (t) => {
  const { held, server, key, hup } = await begin(t);
  held.isOpen = false;
  const waiting = askHeld(server);
  await until(() => held.waiting.length === 1, 'the vendor was asked', MINUTES);
  for (const name of ['second', 'third']) {
    writeFileSync(key, `sk-${name}-key\n`, { mode: 0o600 });
    await hup(`${again}; changed: providers\n`);
  }
  held.open();
  assert.equal((await waiting).status, 200);
  assert.equal((await askHeld(server)).status, 200);
  assert.deepEqual(held.keys, ['Bearer sk-first-key', 'Bearer sk-third-key']);
  await endsWell(server);
});

test('names of models, hosts, the default model and the log level count at once', async (t) => {
  const { server, write, hup } = await begin(t, { config: 'log_level: info\n' });
  const from = (host) => server.raw('GET', '/healthz', { headers: { host } }).then((answer) => answer.status);
  assert.equal((await askHeld(server, 'mine')).status, 404);
  assert.equal(await from('chat.example.org'), 421);
  write('aliases:\n  mine: held/one\nallow_host: [chat.example.org]\nmodel: held/one\nlog_level: request\n');
  await hup(`${again}; changed: allow_host, log_level, model, aliases\n`);
  assert.equal((await askHeld(server, 'mine')).status, 200);
  assert.equal(await from('chat.example.org'), 200);
  assert.equal((await server.ask('GET', '/api/models')).json.default_model, 'held/one');
  await until(() => server.err.includes('GET /api/models 200'), 'requests are logged now', MINUTES);
  await hup(`${again}; nothing changed\n`);
  await endsWell(server);
});

test('a file with a mistake changes nothing, and the log says where it is', async (t) => {
  const { held, server, key, write, hup } = await begin(t);
  for (const [text, said] of [
    ['log_levle: info\n', /config\.yaml, line 7: there is no setting "log_levle"; did you mean "log_level"\?/],
    ['\nmax_connections: 0\n', /max_connections \(from \S+config\.yaml, line 8\) must be a whole number from 1 to 1000000, not "0"/],
    ['  other:\n    dialect: openai-chat\n', /config\.yaml, line 7: the provider other needs a dialect and a base_url/],
    ['aliases: {none: []}\n', /the alias none must have 1 to 8 models/],
    ['}{\n', /config\.yaml cannot be read/],
  ]) {
    write(text);
    await hup('the configuration was not reloaded, and the previous one stays: ');
    assert.match(server.err.trim().split('\n').at(-1), said);
    assert.equal((await askHeld(server)).status, 200);
  }
  write('');
  rmSync(key);
  await hup('the configuration was not reloaded, and the previous one stays: the key in ');
  assert.equal((await askHeld(server)).status, 200);
  assert.ok(held.keys.every((sent) => sent === 'Bearer sk-first-key'));
  await endsWell(server);
});

test('what cannot change while it runs is named and stays', async (t) => {
  const { server, write, hup } = await begin(t);
  write('workers: 9\nlog_json: true\nunix: /nowhere/at/all.sock\ntls_cert: /nowhere/cert.pem\ntls_key: /nowhere/key.pem\n');
  await hup('these settings keep their values until the server is restarted: unix, tls_cert, tls_key, workers, log_json\n');
  assert.equal((await server.ask('GET', '/healthz')).status, 200);
  await hup('these settings keep their values');
  await endsWell(server);
});

const certify = (dir, name) => {
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`,
    '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')]);
  assert.equal(made.status, 0, String(made.stderr));
};

test('a new certificate is shown to new connections, and old ones live on', { skip: !has('openssl') && 'openssl is not installed' }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-cert-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  certify(dir, 'first');
  const { server, hup } = await begin(t, { args: ['--tls-cert', join(dir, 'cert.pem'), '--tls-key', join(dir, 'key.pem')] });
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  t.after(() => agent.destroy());
  const health = () => new Promise((resolve, reject) => {
    const request = https.get({ host: '127.0.0.1', port: server.port, path: '/healthz', agent }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode, reused: request.reusedSocket, name: request.socket.getPeerCertificate().subject?.CN }));
    }).on('error', reject);
  });
  const shown = () => new Promise((resolve, reject) => {
    const socket = tls.connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    }).on('error', reject);
  });
  assert.equal((await health()).status, 200);
  assert.equal(await shown(), 'first');
  certify(dir, 'second');
  await hup(`${again}; changed: certificate\n`);
  assert.equal(await shown(), 'second');
  const kept = await health();
  assert.deepEqual([kept.status, kept.reused], [200, true]);
  // A certificate without its key.
  const key = readFileSync(join(dir, 'key.pem'));
  certify(dir, 'third');
  writeFileSync(join(dir, 'key.pem'), key);
  await hup('the previous one stays: the key ');
  assert.equal(await shown(), 'second');
  assert.equal((await health()).reused, true);
  await endsWell(server);
});

test('two hundred signals under load are harmless', async (t) => {
  const { server, key } = await begin(t);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  t.after(() => agent.destroy());
  let isOver = false;
  const statuses = new Set();
  const load = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      statuses.add((await server.raw('POST', '/v1/chat/completions', { agent, body: { model: 'held/one', messages: [{ role: 'user', content: 'hi' }] } })).status);
      statuses.add((await server.raw('GET', '/v1/models', { agent })).status);
    }
  });
  for (let i = 0; i < 200; i++) {
    if (i % 20 === 0) writeFileSync(key, `sk-key-${i}\n`, { mode: 0o600 });
    server.child.kill('SIGHUP');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => server.err.includes(again), 'it was read again', MINUTES);
  isOver = true;
  await Promise.all(load);
  assert.deepEqual([...statuses], [200]);
  await endsWell(server);
});

test('signals that mean nothing here end nothing, and are answered with a word', async (t) => {
  const { server } = await begin(t);
  for (const name of ['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGPROF', 'SIGIO', 'SIGPWR', 'SIGXCPU']) {
    server.child.kill(name);
    await until(() => server.err.includes(`${name === 'SIGIO' ? 'SIGPOLL' : name} has no effect`), `a word about ${name}: ${server.err}`, MINUTES);
  }
  for (const name of ['SIGPIPE', 'SIGXFSZ']) server.child.kill(name);
  assert.equal((await server.ask('GET', '/healthz')).status, 200);
  await endsWell(server);
});

test('--check-config says whether the configuration is good, and binds nothing', () => {
  const good = run(['serve', '--check-config', '--port', '1']);
  assert.deepEqual([good.code, good.out, good.err], [0, 'The configuration is valid.\n', '']);
  const bad = run(['serve', '--check-config', '--tls-cert', '/nowhere/cert.pem', '--tls-key', '/nowhere/key.pem']);
  assert.notEqual(bad.code, 0);
  assert.match(bad.err, /the certificate \/nowhere\/cert\.pem cannot be read/);
});
