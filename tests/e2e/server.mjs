// A real `parley serve` for a test: starts with its own data, is used over HTTP, and is stopped at
// the end. Every JSON answer is checked with the description of its route in /openapi.json.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { directory, parley, run } from './harness.mjs';
import { prove } from './proving.mjs';
import { SAFETY_MS, until } from './waiting.mjs';

// Stopped and removed after the file's tests. Uses one hook at the top level: a hook added inside another hook is
// called as soon as that one ends.
const running = new Set();
const made = new Set();
const stores = new Map(); // data directory -> address of its PostgreSQL store
after(async () => {
  for (const server of running) await server.stop('SIGKILL');
  try {
    for (const dir of toProve()) await prove(dir, start, stores.has(dir));
  } catch (error) {
    // The remaining hooks are not called, and the objects they would have closed keep the process alive.
    setTimeout(() => process.exit(1), 1000).unref();
    throw error;
  } finally {
    for (const dir of made) rmSync(dir, { recursive: true, force: true });
  }
});

// Every store once, with the last directory that used it.
function toProve() {
  const last = new Map([...stores].map(([dir, url]) => [url, dir]));
  return [...made].filter((dir) => !stores.has(dir) || last.get(stores.get(dir)) === dir);
}

// With a PostgreSQL and PARLEY_TEST_STORE=postgres (`make soak`), every directory gets a database there, unless its
// test names a store.
function storeOf(dir, args) {
  const at = args.indexOf('--store');
  const postgres = process.env.PARLEY_TEST_POSTGRES;
  if (at >= 0 && args[at + 1] === postgres) stores.set(dir, postgres);
  if (at >= 0) return [];
  if (!stores.has(dir) && postgres && process.env.PARLEY_TEST_STORE === 'postgres') {
    const name = `t${randomUUID().replaceAll('-', '')}`;
    execFileSync('psql', ['-X', '-q', postgres.replace(/^postgres:/, 'postgresql:'), '-c', `CREATE DATABASE ${name}`]);
    stores.set(dir, postgres.replace('/postgres?', `/${name}?`));
  }
  return stores.has(dir) ? ['--store', stores.get(dir)] : [];
}

// One schema file per component, made when it is first needed.
const schemas = new Map();

function schemaFile(openapi, name) {
  if (!schemas.has(name)) {
    const text = JSON.stringify({ $ref: `#/$defs/${name}`, $defs: openapi.components.schemas })
      .replaceAll('"#/components/schemas/', '"#/$defs/');
    const path = join(directory, `component-${name}.json`);
    writeFileSync(path, text);
    schemas.set(name, path);
  }
  return schemas.get(name);
}

function operationOf(openapi, method, path) {
  const segments = path.split('?')[0].split('/');
  const found = Object.keys(openapi.paths).filter((template) => {
    const parts = template.split('/');
    return parts.length === segments.length && parts.every((part, i) => part.startsWith('{') || part === segments[i]);
  }).sort((a, b) => a.split('{').length - b.split('{').length)[0];
  return found && openapi.paths[found][(method === 'HEAD' ? 'GET' : method).toLowerCase()];
}

// Throws unless the description allows the answer.
export function checkAnswer(openapi, method, path, answer) {
  const type = answer.headers['content-type'] ?? '';
  if (method === 'HEAD' || !/json/.test(type) || answer.status === 304) return;
  const operation = operationOf(openapi, method, path);
  let name = 'Problem';
  if (!type.startsWith('application/problem+json')) {
    assert.ok(operation, `${method} ${path} is not described`);
    const said = operation.responses[answer.status] ?? (answer.headers['idempotency-replayed'] ? operation.responses[Object.keys(operation.responses)[0]] : operation.responses.default?.content['application/json'] && operation.responses.default);
    assert.ok(said, `${method} ${path}: ${answer.status} is not described`);
    const ref = Object.entries(said.content ?? {}).find(([media]) => media === 'application/json')?.[1].schema.$ref;
    if (!ref) return;
    name = ref.split('/').at(-1);
  } else {
    assert.ok(answer.status >= 400, `${answer.status} is no problem`);
    assert.equal(answer.json.status, answer.status);
    assert.equal(answer.json.request_id, answer.headers['x-request-id']);
  }
  const { code, out, err } = run(['validate', '--schema', schemaFile(openapi, name), '--format-assertion', '--json', '-'], { input: answer.text });
  assert.equal(code, 0, `${method} ${path} ${answer.status} is not a ${name}: ${out}${err}\n${answer.text.slice(0, 2000)}`);
}

// Whether there are `n` whole answers, the last of which leaves the connection open. Interim answers do not count.
function hasAnswers(said, n) {
  for (let rest = said; ;) {
    const head = rest.match(/^HTTP\/1\.\d (\d{3})[^]*?\r\n\r\n/);
    if (!head) return false;
    const status = Number(head[1]), body = rest.slice(head[0].length);
    const length = head[0].match(/^content-length: *(\d+)/im), isChunked = /^transfer-encoding: *chunked/im.test(head[0]);
    let size = 0;
    if (length) size = Number(length[1]);
    else if (isChunked) size = body.startsWith('0\r\n\r\n') ? 5 : body.indexOf('\r\n0\r\n\r\n') < 0 ? Infinity : body.indexOf('\r\n0\r\n\r\n') + 7;
    else if (status >= 200 && status !== 204 && status !== 304) return false; // the body extends to the end of the connection
    if (body.length < size) return false;
    if (status >= 200 || status === 101) n--;
    if (n === 0) return !/^connection: *close/im.test(head[0]);
    rest = body.slice(size);
  }
}

class Server {
  constructor(child, data) {
    this.child = child;
    this.data = data;
    this.out = '';
    this.err = '';
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    child.stdout.setEncoding('utf8').on('data', (text) => { this.out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { this.err += text; });
    running.add(this);
  }

  async ready() {
    const what = () => `the server did not start: ${this.out}${this.err}`;
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(what());
      return /is ready at (\S+)\/\n/.test(this.out);
    }, what);
    this.url = this.out.match(/is ready at (\S+)\/\n/)[1];
    this.port = this.url.startsWith('unix:') ? 0 : Number(new URL(this.url).port);
    return this;
  }

  // The one-time code of the first start.
  get code() { return this.out.match(/#login=(\S+)/)?.[1]; }

  // Waits until its log contains a text.
  async logged(text) {
    await until(() => this.err.includes(text), () => `the log does not say ${text}: ${this.err.slice(-2000)}`);
  }

  // Stops it; resolves with its exit code.
  async stop(signal = 'SIGTERM') {
    running.delete(this);
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.exited;
  }

  raw(method, path, options = {}) {
    const { body, headers = {}, key = this.key, socketPath, agent, ca } = options;
    const text = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const all = { ...(key ? { authorization: `Bearer ${key}` } : {}), ...(text !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type') ? { 'content-type': 'application/json' } : {}), ...headers };
    const where = socketPath ? { socketPath } : { host: new URL(this.url).hostname.replace(/^\[|\]$/g, ''), port: this.port };
    return new Promise((resolve, reject) => {
      const request = (this.url.startsWith('https') && !socketPath ? https : http).request({ ...where, method, path, headers: all, agent, ca }, (response) => {
        const pieces = [];
        response.on('data', (piece) => pieces.push(piece));
        response.on('end', () => {
          const bytes = Buffer.concat(pieces);
          const answer = { status: response.statusCode, headers: response.headers, bytes, text: bytes.toString('utf8') };
          if (/json/.test(response.headers['content-type'] ?? '') && bytes.length && response.statusCode !== 206) answer.json = JSON.parse(answer.text);
          resolve(answer);
        });
        response.on('error', reject);
      });
      // The server closes a connection that is idle for 60 s. A test that ran a program meanwhile did not notice: send it again.
      const isStale = (error) => method === 'GET' && request.reusedSocket && error.code === 'ECONNRESET';
      request.on('error', (error) => (isStale(error) ? resolve(this.raw(method, path, options)) : reject(error)));
      request.end(text);
    });
  }

  // The same, checked with the description.
  async ask(method, path, options) {
    const answer = await this.raw(method, path, options);
    this.openapi ??= (await this.raw('GET', '/openapi.json', { key: null, ca: options?.ca })).json;
    checkAnswer(this.openapi, method, path, answer);
    return answer;
  }

  // Sends raw bytes and collects the answer: until the other side closes, or there are `n` whole answers of which the
  // last leaves the connection open, or `enough` returns true. With `end` the test's side closes after the bytes.
  bytes(text, { n = 1, enough = (said) => !end && hasAnswers(said, n), end = false, host = '127.0.0.1' } = {}) {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host, port: this.port, allowHalfOpen: true });
      let said = '';
      const finish = (closed) => { clearTimeout(timer); socket.destroy(); resolve({ said, closed }); };
      const timer = setTimeout(() => { socket.destroy(); reject(new Error(`no answer in ${SAFETY_MS / 1000} s, but: ${said.slice(-2000)}`)); }, SAFETY_MS);
      socket.on('data', (piece) => {
        said += piece.toString('latin1');
        if (enough(said)) finish(false);
      });
      socket.on('end', () => finish(true));
      socket.on('error', () => finish(true));
      for (const piece of Array.isArray(text) ? text : [text]) socket.write(piece, 'latin1');
      if (end) socket.end();
    });
  }
}

// Starts parley serve with its own data. `login` exchanges the first code for server.key.
export async function start({ args = [], env = {}, data, login = true, command = parley, before = [] } = {}) {
  const dir = data ?? mkdtempSync(join(tmpdir(), 'parley-serve-'));
  if (!data) made.add(dir);
  const words = ['serve', ...(args.includes('--port') ? [] : ['--port', '0']), '--data', dir, ...storeOf(dir, args), ...args];
  const child = spawn(before[0] ?? command, before.length ? [...before.slice(1), command, ...words] : words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: dir, LC_ALL: 'C.UTF-8', PARLEY_DEMO_WORD_MS: '0', ...env },
  });
  const server = await new Server(child, dir).ready();
  if (login && server.code && !server.url.startsWith('https')) server.key = (await server.ask('POST', '/api/login', { body: { code: server.code } })).json.plaintext;
  return server;
}
