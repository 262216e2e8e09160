// SIGHUP: settings that a running server reloads, and settings that it keeps; and signals that it ignores.
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

// A server with a provider whose key is in a file. `config` is the rest of its configuration.
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
  // Sends SIGHUP, and waits for its log line.
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

// --- parley reload ---

const reload = (server, ...args) => run(['reload', '--data', server.data, ...args]);

test('parley reload says what changed, and what needs a restart', async (t) => {
  const { server, key, write } = await begin(t);
  assert.deepEqual(reload(server), { ...reload(server), code: 0, out: 'reloaded; nothing changed\n', err: '' });
  writeFileSync(key, 'sk-second-key\n', { mode: 0o600 });
  write('workers: 9\nlog_level: request\n');
  const said = reload(server);
  assert.deepEqual([said.code, said.out], [0, 'reloaded; changed: log_level, providers\nneeds a restart: workers\n']);
  assert.deepEqual(JSON.parse(reload(server, '--json').out), { changed: [], needs_restart: ['workers'] });
  await endsWell(server);
});

test('parley reload with a mistake in the file is exit 1 and says where; nothing changes', async (t) => {
  const { held, server, write } = await begin(t);
  for (const [text, said] of [
    ['aliases:\n  a: b\n  b: a\n', /config\.yaml, line 8: the alias a goes in a circle \(a, b, a\)/],
    ['aliases:\n  a: held/one\n  b: a\n', /config\.yaml, line 9: the alias b names the alias a/],
    ['aliases:\n  a: hedl/one\n', /config\.yaml, line 8: a target of the alias a is hedl\/one, but there is no such model; did you mean held\/one\?/],
    ['aliases:\n  a: [held/one, zzz]\n', /config\.yaml, line 8: a target of the alias a is zzz, but there is no such model/],
    ['model: demo/ehco\n', /config\.yaml, line 7: the default model is demo\/ehco, but there is no such model; did you mean demo\/echo\?/],
    ['model: anthropic/claude-x\n', /the default model is anthropic\/claude-x, which needs a key of anthropic: set ANTHROPIC_API_KEY$/m],
    ['  other: {dialect: klingon, base_url: "https://llm.example"}\n', /config\.yaml, line 7: the provider other has the dialect "klingon"/],
  ]) {
    write(text);
    const answer = reload(server);
    assert.equal(answer.code, 1, text + answer.err);
    assert.match(answer.err, said);
    assert.equal((await askHeld(server)).status, 200);
  }
  assert.ok(held.keys.every((sent) => sent === 'Bearer sk-first-key'));
  await endsWell(server);
});

test('reloading is for the user who runs the server, and needs a server', async (t) => {
  const { server, data } = await begin(t);
  const answer = await server.ask('POST', '/api/admin/reload');
  assert.equal(answer.status, 403);
  assert.match(answer.json.detail, /control socket/);
  await endsWell(server);
  const none = run(['reload', '--data', data]);
  assert.equal(none.code, 4);
  assert.match(none.err, /no server is running/);
  assert.equal(run(['reload', 'now']).code, 2);
});

test('everybody who asks at the same time is answered', async (t) => {
  const { server } = await begin(t);
  const ask = () => new Promise((resolve, reject) => {
    http.request({ socketPath: join(server.data, 'parley.sock'), path: '/api/admin/reload', method: 'POST', headers: { host: 'localhost' } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    }).on('error', reject).end();
  });
  const answers = Array.from({ length: 40 }, ask);
  server.child.kill('SIGHUP');
  assert.deepEqual([...new Set(await Promise.all(answers))], [200]);
  await endsWell(server);
});

test('a file that is named is read, also again, and must be there', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-config-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'mine.yaml');
  writeFileSync(path, 'probe: false\nworkers: 3\n');
  const server = await serve({ args: ['--config', path] });
  t.after(() => server.stop('SIGKILL'));
  writeFileSync(path, 'probe: false\nworkers: 3\ndrain_ms: 77\n');
  assert.equal(reload(server).out, 'reloaded; changed: drain_ms\n');
  await endsWell(server);
  assert.match(run(['serve', '--print-config', '--config', path]).out, /^workers: 3 {2}# .*mine\.yaml$/m);
  assert.match(run(['serve', '--print-config'], { env: { PARLEY_CONFIG: path } }).out, /^drain_ms: 77 {2}# .*mine\.yaml$/m);
  writeFileSync(path, '# port: 1\n\n  # nothing but comments\n');
  assert.equal(run(['serve', '--check-config', '--config', path]).code, 0);
  const missing = run(['serve', '--check-config', '--config', join(dir, 'none.yaml')]);
  assert.notEqual(missing.code, 0);
  assert.match(missing.err, /none\.yaml cannot be read/);
});

// --- found at the start ---

test('a misspelt variable of the environment is found at the start', () => {
  for (const [name, meant] of [['PARLEY_DRAIN', 'PARLEY_DRAIN_MS'], ['PARLEY_DRAIN_ACCEPT', 'PARLEY_DRAIN_ACCEPT_MS'], ['PARLEY_BODY_MEMORY', 'PARLEY_BODY_MEMORY_MIB'], ['PARLEY_PROT', 'PARLEY_PORT'], ['PARLEY_LOG_LEVLE', 'PARLEY_LOG_LEVEL'], ['PARLEY_CONFG', 'PARLEY_CONFIG']]) {
    const { code, err } = run(['serve', '--check-config'], { env: { [name]: '5' } });
    assert.equal(code, 2, name);
    assert.match(err, new RegExp(`${name} is not a setting; did you mean ${meant}\\?`));
  }
  // Kubernetes sets such variables for a service.
  assert.equal(run(['serve', '--check-config'], { env: { PARLEY_SERVICE_HOST: '10.0.0.1', PARLEY_PORT_8787_TCP_ADDR: '10.0.0.1' } }).code, 0);
});

test('a model that only another server could have is a warning', () => {
  const { code, out, err } = run(['serve', '--check-config', '--model', 'quxquux-7b']);
  assert.deepEqual([code, out], [0, 'The configuration is valid.\n']);
  assert.match(err, /--model: the default model is quxquux-7b, which no provider offers at present/);
});

test('--print-config shows everything even if something is missing, and says what', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-config-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'config.yaml');
  writeFileSync(path, 'port: many\ntls_cert: /nowhere/cert.pem\ntls_key: /nowhere/key.pem\nprobe: false\nproviders:\n  corp:\n    dialect: openai-chat\n    base_url: https://llm.example\n    key_env: NOT_SET_ANYWHERE\naliases:\n  good: corp/one\n');
  const text = run(['serve', '--config', path, '--print-config'], { env: { PARLEY_DRAIN: '1' } });
  assert.notEqual(text.code, 0);
  assert.match(text.out, /^port: many {2}#/m);
  assert.match(text.out, /^provider corp: openai-chat at https:\/\/llm\.example, key from NOT_SET_ANYWHERE \(missing\)$/m);
  assert.match(text.out, /^alias good: corp\/one$/m);
  for (const said of [/port \(from .*line 1\)/, /line 6: the provider corp takes its key from NOT_SET_ANYWHERE/, /certificate \/nowhere\/cert\.pem cannot be read/, /did you mean PARLEY_DRAIN_MS/])
    assert.match(text.err, said);
  const json = JSON.parse(run(['serve', '--config', path, '--print-config', '--json']).out);
  assert.equal(json.port.value, 'many');
  assert.equal(json.providers.corp.key_from, 'NOT_SET_ANYWHERE');
  // The file is not even YAML: options and defaults are shown nevertheless.
  writeFileSync(path, '}{\n');
  const broken = run(['serve', '--config', path, '--port', '4000', '--print-config']);
  assert.notEqual(broken.code, 0);
  assert.match(broken.out, /^port: 4000 {2}# --port$/m);
  assert.match(broken.err, /config\.yaml cannot be read/);
});

test("a command that looks for the server does not need the server's keys", async (t) => {
  const { server, key } = await begin(t);
  rmSync(key);
  const env = { HOME: server.data };
  assert.equal(run(['session', 'list', '--json', '--data', server.data], { env }).code, 0);
  await endsWell(server);
});

// --- under load ---

// A vendor that begins every answer at once and ends it on command.
class Begun {
  constructor() {
    this.open = [];
    this.server = http.createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(chunk({ role: 'assistant', content: 'begun ' }));
        this.open.push(response);
      });
    });
  }
  async listen() {
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }
  say(text) { for (const response of this.open) response.write(chunk({ content: text })); }
  end() { for (const response of this.open.splice(0)) response.end(`${chunk({ content: 'ended' })}${chunk({}, 'stop')}data: [DONE]\n\n`); }
  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
const chunk = (delta, finish = null) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

test('reloads under two hundred streaming turns drop none', async (t) => {
  const vendor = await new Begun().listen();
  const { server, key, write } = await begin(t);
  t.after(() => vendor.close());
  const rest = (n) => `  begun:\n    dialect: openai-chat\n    base_url: ${vendor.url}\n    key_file: ${key}\naliases:\n  mine: begun/m${n}\nqueue_wait_ms: ${30000 + n}\n`;
  write(rest(0));
  assert.equal(reload(server).code, 0);
  // A user can run at most 64 turns.
  const keys = [];
  for (const user of ['a', 'b', 'c', 'd']) keys.push((await server.ask('POST', '/api/users', { body: { name: user } })).json.key.plaintext);
  const agent = new http.Agent({ keepAlive: false, maxSockets: Infinity });
  const turns = Array.from({ length: 200 }, async (_, i) => {
    const by = { agent, key: keys[i % 4] };
    const { json } = await server.raw('POST', '/api/sessions', { ...by, body: { model: i % 2 ? 'begun/m' : 'mine' } });
    const answer = await server.raw('POST', `/api/sessions/${json.id}/chat`, { ...by, body: { message: `hello ${i}` }, headers: { accept: 'text/event-stream' } });
    return { id: json.id, answer, key: by.key };
  });
  await until(() => vendor.open.length === 200, 'all turns stream', MINUTES);
  for (let n = 1; n <= 10; n++) {
    writeFileSync(key, `sk-key-${n}\n`, { mode: 0o600 });
    write(n % 3 ? rest(n) : `${rest(n)}nonsense: 1\n`);
    assert.equal(reload(server).code, n % 3 ? 0 : 1, `reload ${n}`);
    vendor.say(`${n} `);
  }
  vendor.end();
  const texts = new Set();
  for (const { id, answer, key: by } of await Promise.all(turns)) {
    assert.equal(answer.status, 200);
    assert.match(answer.text, /chat:end/);
    const turn = (await server.raw('GET', `/api/sessions/${id}/messages?limit=10`, { key: by })).json.at(-1);
    assert.equal(turn.status, 'completed', JSON.stringify(turn));
    texts.add(turn.blocks.filter((block) => block.type === 'text').map((block) => block.content).join(''));
  }
  assert.deepEqual([...texts], ['begun 1 2 3 4 5 6 7 8 9 10 ended']);
  await endsWell(server);
});
