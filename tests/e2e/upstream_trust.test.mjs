// A vendor's server, or a proxy in front of it, is not trusted: unrequested data reaches no client, and an answer that
// does not fit its dialect is an error. On every route: plain, by name, over TLS, through proxies, HTTP/2.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { directory, missing } from './harness.mjs';
import { start } from './server.mjs';

const KEY = 'sk-trust-0123456789abcdef';
const skip = missing('openssl');

function certificate() {
  const [key, cert] = ['key', 'pem'].map((end) => join(directory, `trust.${end}`));
  const { status, stderr } = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1',
    '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1']);
  assert.equal(status, 0, String(stderr));
  return { key: readFileSync(key), cert: readFileSync(cert), path: cert };
}

const listen = (server) => new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server.address().port)); });
const close = (server) => new Promise((resolve) => { server.close(resolve); });

const completion = (text) => JSON.stringify({
  id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const response = (text, more = '') => {
  const body = completion(text);
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

// An HTTP/1.1 server in which the test controls what is sent, and when.
class RawServer {
  constructor(secrets) {
    this.sockets = new Set();
    this.n_connections = 0;
    this.requests = []; // the requests received
    this.answer = ({ socket, said }) => socket.write(response(said));
    this.onPart = undefined; // called with the bytes of an incomplete request
    const take = (socket) => this.take(socket);
    this.server = secrets ? tls.createServer(secrets, take) : net.createServer(take);
    this.server.on('tlsClientError', () => {});
  }

  take(socket) {
    this.sockets.add(socket);
    this.n_connections += 1;
    let heard = Buffer.alloc(0);
    let n = 0;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (piece) => {
      heard = Buffer.concat([heard, piece]);
      const head = heard.indexOf('\r\n\r\n');
      const [, length] = (head < 0 ? '' : heard.subarray(0, head).toString()).match(/content-length: (\d+)/i) ?? [];
      if (head < 0 || heard.length < head + 4 + Number(length)) {
        this.onPart?.({ socket, n });
        return;
      }
      const { messages } = JSON.parse(heard.subarray(head + 4, head + 4 + Number(length)));
      heard = heard.subarray(head + 4 + Number(length));
      const said = `answer to ${messages[0].content.slice(0, 100)}`;
      this.requests.push(said);
      this.answer({ socket, said, n: n++ });
    });
  }

  async listen() {
    this.port = await listen(this.server);
    return this;
  }

  async close() {
    for (const socket of this.sockets) socket.destroy();
    await close(this.server);
  }
}

// A proxy that makes tunnels.
class Tunnels {
  constructor() {
    this.sockets = new Set();
    this.server = net.createServer((socket) => {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', (head) => {
        const [, host, port] = String(head).match(/^CONNECT ([^:]+):(\d+) /);
        const onward = net.connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          socket.pipe(onward).pipe(socket);
        });
        onward.on('error', () => socket.destroy());
        socket.on('close', () => onward.destroy());
      });
    });
  }

  async listen() {
    this.port = await listen(this.server);
    return this;
  }

  async close() {
    for (const socket of this.sockets) socket.destroy();
    await close(this.server);
  }
}

// One shard, so that there is one set of connections.
function serve(base_url, { ca_file, env = {}, dialect = 'openai-chat' } = {}) {
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), JSON.stringify({
    probe: false, providers: { v: { dialect, base_url, key_env: 'TRUST_KEY', ...(ca_file ? { ca_file } : {}) } },
  }));
  return start({ args: ['--shards', '1'], env: { TRUST_KEY: KEY, XDG_CONFIG_HOME: home, ...env } });
}

const secrets = skip ? undefined : certificate();
const open = [];
after(async () => { for (const thing of open) await thing.close(); });
async function opened(thing) {
  open.push(thing);
  return thing.listen();
}

const roads = {
  plain: async () => {
    const raw = await opened(new RawServer());
    return { raw, server: await serve(`http://127.0.0.1:${raw.port}`) };
  },
  'by name': async () => {
    const raw = await opened(new RawServer());
    return { raw, server: await serve(`http://LOCALHOST:${raw.port}`) };
  },
  'over TLS': async () => {
    const raw = await opened(new RawServer(secrets));
    return { raw, server: await serve(`https://127.0.0.1:${raw.port}`, { ca_file: secrets.path }) };
  },
  'through a proxy': async () => {
    const raw = await opened(new RawServer());
    return { raw, server: await serve('http://models.example', { env: { http_proxy: `http://127.0.0.1:${raw.port}` } }) };
  },
  'through a tunnel': async () => {
    const raw = await opened(new RawServer(secrets));
    const tunnels = await opened(new Tunnels());
    return {
      raw,
      server: await serve(`https://127.0.0.1:${raw.port}`, { ca_file: secrets.path, env: { https_proxy: `http://127.0.0.1:${tunnels.port}` } }),
    };
  },
};

// Data that a server sends beyond the answer.
const strays = {
  'a second answer with the first': ({ socket, said }) => socket.write(response(said) + response(said)),
  'a second answer of its own accord': ({ socket, said }) => {
    socket.write(response(said));
    setImmediate(() => socket.write(response(said)));
  },
  'a second answer a moment later': ({ socket, said }) => {
    socket.write(response(said));
    setTimeout(() => socket.write(response(said)), 3);
  },
  'bytes after the length it told': ({ socket, said }) => socket.write(`${response(said)}{"more":true}`),
  'bytes after the last chunk': ({ socket, said }) => {
    const body = completion(said);
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n${response(said)}`);
  },
  'an empty line': ({ socket, said }) => socket.write(`${response(said)}\r\n`),
  'an empty line a moment later': ({ socket, said }) => {
    socket.write(response(said));
    setImmediate(() => socket.write('\r\n'));
  },
  'a late 408': ({ socket, said }) => {
    socket.write(response(said));
    setImmediate(() => socket.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n'));
  },
};

const ask = (server, content, more = {}) =>
  server.raw('POST', '/v1/chat/completions', { body: { model: 'v/m', messages: [{ role: 'user', content }] }, ...more });

for (const [road, make] of Object.entries(roads)) {
  describe(`an upstream ${road}`, { skip: /TLS|tunnel/.test(road) && skip }, () => {
    let raw;
    let server;
    let other;
    // A kept connection must not carry the stray bytes of one test into the next.
    (road === 'plain' ? beforeEach : before)(async () => {
      ({ raw, server } = await make());
      other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
    });

    for (const [stray, answer] of Object.entries(strays)) {
      test(`that sends ${stray} gives nobody another's words`, async () => {
        raw.answer = answer;
        for (let round = 0; round < 5; round++) {
          for (const [name, key] of [['mine', server.key], ['yours', other]]) {
            const { status, json, text } = await ask(server, `${name} ${round}`, { key });
            assert.ok(!text.includes(name === 'mine' ? 'yours' : 'mine'), text);
            // Bytes that arrive at the same moment as the same user's next request cannot be distinguished from its answer.
            if (road === 'plain' && /moment|accord|late/.test(stray)) continue;
            assert.equal(status, 200, text);
            assert.equal(json.choices[0].message.content, `answer to ${name} ${round}`);
          }
        }
      });
    }

    test('that answers as soon as the next request begins gives nobody another\'s words', async () => {
      raw.answer = ({ socket, said }) => {
        socket.write(response(said));
        // Before the next request is read.
        socket.prependListener('data', () => socket.write(response(said)));
      };
      for (let round = 0; round < 5; round++) {
        for (const [name, key] of [['mine', server.key], ['yours', other]]) {
          const { json, text } = await ask(server, `${name} ${round}`, { key });
          const said = json.choices?.[0].message.content ?? 'nothing';
          assert.ok(said === 'nothing' || said.includes(name), text);
        }
      }
    });

    test('is heard when it wants no more of a request', async () => {
      raw.onPart = ({ socket }) => {
        socket.pause();
        socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      };
      const { status } = await ask(server, 'x'.repeat(8 << 20));
      raw.onPart = undefined;
      raw.answer = ({ socket, said }) => socket.write(response(said));
      assert.equal(status, 413);
      assert.equal((await ask(server, 'after it')).json.choices[0].message.content, 'answer to after it');
    });

    test('that breaks off after a request was wholly written is not asked again', async () => {
      raw.answer = ({ socket, said }) => socket.write(response(said));
      await ask(server, 'to have a connection');
      raw.requests = [];
      raw.answer = ({ socket }) => socket.destroy();
      const { status, json } = await ask(server, 'costs money');
      assert.equal(status, 502);
      assert.match(json.error.message, /broke off/);
      assert.deepEqual(raw.requests, ['answer to costs money']);
    });
  });
}

describe('a connection of our own', () => {
  test('that brings an answer before its request was wholly written is given up, and the request sent on a new one', async () => {
    const { raw, server } = await roads.plain();
    await ask(server, 'to have a connection');
    assert.equal(raw.n_connections, 1);
    raw.onPart = ({ socket, n }) => {
      if (!n) return;
      raw.onPart = undefined;
      socket.pause();
      socket.write(response('words of somebody'));
    };
    const { json, text } = await ask(server, `early ${'x'.repeat(16 << 20)}`);
    assert.match(json.choices?.[0].message.content ?? text, /^answer to early/);
    assert.equal(raw.n_connections, 2);
    assert.equal(raw.requests.length, 2, 'the first try never became whole');
  });

  test('is used again by the same user, and by nobody else', async () => {
    const { raw, server } = await roads.plain();
    const other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
    for (let i = 0; i < 5; i++) {
      await ask(server, `mine ${i}`);
      await ask(server, `yours ${i}`, { key: other });
    }
    assert.equal(raw.requests.length, 10);
    assert.equal(raw.n_connections, 2);
  });
});

describe('HTTP/2', { skip }, () => {
  test('is shared by users, whose answers come in any order', async (t) => {
    const waiting = [];
    const sessions = [];
    const door = http2.createSecureServer({ key: secrets.key, cert: secrets.cert });
    door.on('session', (session) => sessions.push(session.on('error', () => {})));
    door.on('stream', async (stream) => {
      const pieces = [];
      stream.on('error', () => {});
      for await (const piece of stream) pieces.push(piece);
      const said = `answer to ${JSON.parse(Buffer.concat(pieces)).messages[0].content}`;
      waiting.push(() => { stream.respond({ ':status': 200, 'content-type': 'application/json' }); stream.end(completion(said)); });
      if (waiting.length === 8) for (const go of waiting.splice(0).reverse()) go();
    });
    const port = await listen(door);
    t.after(async () => {
      for (const session of sessions) session.destroy();
      await close(door);
    });
    const server = await serve(`https://127.0.0.1:${port}`, { ca_file: secrets.path });
    const other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all(Array.from({ length: 8 }, async (_, i) => {
        const content = `${i % 2 ? 'yours' : 'mine'} ${round} ${i}`;
        return [content, await ask(server, content, { key: i % 2 ? other : server.key })];
      }));
      for (const [content, { json, text }] of all) assert.equal(json.choices?.[0].message.content, `answer to ${content}`, text);
    }
    assert.equal(sessions.length, 1);
  });

  test('carries a request once, also when its connection dies before the answer', async (t) => {
    let n = 0;
    const sockets = [];
    const door = http2.createSecureServer({ key: secrets.key, cert: secrets.cert });
    door.on('connection', (socket) => sockets.push(socket));
    door.on('session', (session) => session.on('error', () => {}));
    door.on('sessionError', () => {});
    door.on('stream', async (stream) => {
      stream.on('error', () => {});
      for await (const piece of stream) void piece;
      n += 1;
      if (n > 1) {
        for (const socket of sockets) socket.resetAndDestroy();
        return;
      }
      stream.respond({ ':status': 200, 'content-type': 'application/json' });
      stream.end(completion('first'));
    });
    const port = await listen(door);
    t.after(async () => {
      for (const socket of sockets) socket.destroy();
      await close(door);
    });
    const server = await serve(`https://127.0.0.1:${port}`, { ca_file: secrets.path });
    assert.equal((await ask(server, 'one')).status, 200);
    const { status, text } = await ask(server, 'two');
    assert.equal(status, 502, text);
    assert.equal(n, 2);
  });
});
