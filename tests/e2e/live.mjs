// Clients for the tests of live events: the project's own (clients/ts), npm `ws` as an independent
// check, and a raw socket for input that no correct client would send.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { root } from './harness.mjs';
import { checkAnswer, start } from './server.mjs';
import { sleep, until } from './waiting.mjs';

export { sleep, until };

export const { Parley, SessionView, Live, LiveError, ProblemError } =
  await import(join(root, 'clients/ts/dist/index.js'));
export const WebSocket = createRequire(join(root, 'tests/sdk/package.json'))('ws');

// Three shards, so that sockets and sessions are on different threads on any number of cores.
export const serve = ({ args = [], ...rest } = {}) => start({ args: ['--shards', '3', ...args], ...rest });

// A message that the demo models play line by line.
export const script = (...lines) => ['#!demo', ...lines].join('\n');

// Checks the first answers of each kind with the server's own description.
function checkedFetch(server) {
  const seen = new Map();
  return async (url, init) => {
    const response = await fetch(url, init);
    const path = new URL(url).pathname;
    const kind = `${init.method} ${path.replace(/_[0-9a-f-]{30,}/g, '')} ${response.status}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (seen.get(kind) > 3 || !/json/.test(response.headers.get('content-type') ?? '')) return response;
    const text = await response.clone().text();
    server.openapi ??= (await server.raw('GET', '/openapi.json', { key: null })).json;
    checkAnswer(server.openapi, init.method, path, {
      status: response.status, headers: Object.fromEntries(response.headers), text, json: JSON.parse(text),
    });
    return response;
  };
}

export const clientOf = (server, key = server.key) =>
  new Parley({ url: server.url, key, WebSocket, fetch: checkedFetch(server) });

// An orderly shutdown, without reports from the sanitizers of a checked build.
export async function endsWell(server) {
  const { code, signal } = await server.stop();
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, server.err.slice(-9000));
}

// Closes everything that a test opened, even if the test fails.
export function closing(t, thing) {
  t.after(() => thing.close());
  return thing;
}

export const isOver = (session) => !['created', 'running'].includes(session.status);

// Waits until the session is idle: all messages are answered, or a question waits.
export function settled(client, id, ms) {
  return until(async () => {
    const session = await client.session(id);
    return isOver(session) && session;
  }, `session ${id} comes to rest`, ms);
}

// A reader's view equals the server's state, byte for byte after both are normalised.
export async function sameAsServer(client, id, view) {
  const { turns, position } = await client.messages(id, { limit: '100' });
  await until(() => view.position.sequence >= position.sequence, 'the reader comes to the position');
  const seen = view.ordered.slice(-turns.length);
  assert.deepEqual(seen, turns);
  assert.equal(JSON.stringify(seen), JSON.stringify(turns));
  for (const turn of turns) assert.deepEqual(await client.turn(id, turn.turn_id), turn);
  return turns;
}

export const textOf = (turn) =>
  turn.blocks.filter((block) => block.type === 'text').map((block) => block.content).join('');

// A socket of npm `ws`. Records frames as they arrive; `next` waits for one that matches.
export class Socket {
  constructor(server, { key = server.key, ticket, headers = {}, protocol = 'parley.v1', path } = {}) {
    const url = new URL(path ?? '/api/ws', server.url.replace(/^http/, 'ws'));
    if (ticket) url.searchParams.set('ticket', ticket);
    this.frames = [];
    this.nextId = 1;
    this.ws = new WebSocket(url, protocol, {
      headers: { ...(key && !ticket ? { authorization: `Bearer ${key}` } : {}), ...headers },
      perMessageDeflate: false,
    });
    this.ws.on('message', (data, isBinary) => {
      assert.equal(isBinary, false);
      this.frames.push(JSON.parse(String(data)));
    });
    this.opened = new Promise((resolve, reject) => {
      this.ws.on('open', () => resolve(this));
      this.ws.on('unexpected-response', (_, response) => reject(response));
      this.ws.on('error', reject);
    });
    this.opened.catch(() => {});
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  send(frame) {
    this.ws.send(JSON.stringify(frame));
  }

  next(fits, what = 'a frame', ms) {
    return until(() => this.frames.find(fits), what, ms);
  }

  events(name) {
    return this.frames.filter((frame) => frame.event === name);
  }

  // Sends a frame with an id, and waits for its answer.
  async ask(event, data = {}) {
    const id = this.nextId++;
    this.send({ id, event, data });
    return this.next((frame) => frame.ack === id, `the answer to ${event}`);
  }

  close() {
    this.ws.terminate();
  }
}

// A client frame (RFC 6455 5.2) with any errors the caller wants.
export function frame(opcode, payload, { fin = true, masked = true, reserved = 0, length } = {}) {
  const bytes = Buffer.from(payload);
  const n = length ?? bytes.length;
  const head = [(fin ? 0x80 : 0) | (reserved << 4) | opcode];
  const mask = masked ? 0x80 : 0;
  if (n < 126) head.push(mask | n);
  else if (n < 65536) head.push(mask | 126, n >> 8, n & 255);
  else {
    const wide = Buffer.alloc(8);
    wide.writeBigUInt64BE(BigInt(n));
    head.push(mask | 127, ...wide);
  }
  if (!masked) return Buffer.concat([Buffer.from(head), bytes]);
  const key = randomBytes(4);
  const hidden = Buffer.from(bytes);
  for (let i = 0; i < hidden.length; i++) hidden[i] ^= key[i & 3];
  return Buffer.concat([Buffer.from(head), key, hidden]);
}

// A raw socket: a handshake, then any bytes. Reading can be paused.
export class RawSocket {
  constructor(server, { key = server.key, headers = {}, path = '/api/ws', protocol = 'parley.v1' } = {}) {
    const { hostname, port, host } = new URL(server.url);
    this.bytes = Buffer.alloc(0);
    this.head = null;
    this.net = connect(Number(port), hostname);
    this.key = randomBytes(16).toString('base64');
    const lines = {
      Host: host, Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Key': this.key,
      'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Protocol': protocol,
      ...(key ? { Authorization: `Bearer ${key}` } : {}), ...headers,
    };
    this.net.write(`GET ${path} HTTP/1.1\r\n${Object.entries(lines)
      .map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    this.net.on('data', (data) => {
      this.bytes = Buffer.concat([this.bytes, data]);
    });
    this.net.on('error', () => {});
    this.ended = new Promise((resolve) => this.net.on('close', resolve));
  }

  async open() {
    const end = await until(() => {
      const at = this.bytes.indexOf('\r\n\r\n');
      return at >= 0 && at + 4;
    }, 'the handshake');
    this.head = String(this.bytes.subarray(0, end));
    this.bytes = this.bytes.subarray(end);
    assert.match(this.head, /^HTTP\/1\.1 101 /);
    const accept = createHash('sha1').update(`${this.key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    assert.ok(this.head.includes(`Sec-WebSocket-Accept: ${accept}\r\n`));
    return this;
  }

  send(...args) {
    this.net.write(frame(...args));
  }

  // The next whole frame of the server, or null.
  take() {
    const { bytes } = this;
    if (bytes.length < 2) return null;
    assert.equal(bytes[1] & 0x80, 0, 'a server does not mask');
    let n = bytes[1] & 127;
    let at = 2;
    if (n === 126) {
      if (bytes.length < 4) return null;
      n = bytes.readUInt16BE(2);
      at = 4;
    } else if (n === 127) {
      if (bytes.length < 10) return null;
      n = Number(bytes.readBigUInt64BE(2));
      at = 10;
    }
    if (bytes.length < at + n) return null;
    const payload = bytes.subarray(at, at + n);
    this.bytes = bytes.subarray(at + n);
    return { opcode: bytes[0] & 15, head: bytes[0], payload };
  }

  async next(fits = () => true, what = 'a frame') {
    return until(() => {
      for (let one = this.take(); one; one = this.take()) if (fits(one)) return one;
      return null;
    }, what);
  }

  // The server's close code.
  async closeCode() {
    const { payload } = await this.next(({ opcode }) => opcode === 8, 'a close frame');
    return payload.readUInt16BE(0);
  }

  close() {
    this.net.destroy();
  }
}

// Every turn of a session, oldest first: a page holds about 1 MiB.
export async function allTurns(client, id) {
  const all = [];
  for (let turns; !turns || turns.length; all.push(...turns))
    ({ turns } = await client.messages(id, { limit: '100', after: String(all.at(-1)?.sequence ?? -1) }));
  return all;
}
