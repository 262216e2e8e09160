// Chains of models: which models are called how often, in which order, and which are cooling down. Every upstream
// counts its requests; nothing here measures time.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { directory } from './harness.mjs';
import { clientOf, settled, until } from './live.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';

const names = ['first', 'second', 'third'];
const upstreams = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await openUpstream({})])));
const { first, second } = upstreams;
after(async () => { for (const name of names) await upstreams[name].close(); });
beforeEach(() => {
  for (const name of names) {
    upstreams[name].reset();
    upstreams[name].answer = undefined;
  }
});
const counts = () => names.map((name) => upstreams[name].requests.length);

const dead = 1; // nothing listens on this port, and no other test gets it

function serve({ cooldown = 3_600_000, shards = 1, ...more } = {}) {
  const home = mkdtempSync(join(directory, 'config-'));
  const at = (base_url) => ({ dialect: 'openai-chat', base_url });
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), JSON.stringify({
    probe: false, upstream_cooldown_ms: cooldown,
    providers: { ...Object.fromEntries(names.map((name) => [name, at(upstreams[name].url)])), dead: at(`http://127.0.0.1:${dead}`) },
    aliases: { chain: ['first/m', 'second/m', 'third/m'], pair: ['first/m', 'second/m'], down: ['dead/m', 'second/m'], one: 'first/m' },
    ...more,
  }));
  return start({ args: ['--shards', String(shards)], env: { XDG_CONFIG_HOME: home } });
}

const ask = (server, model, more = {}) =>
  server.raw('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'Hello' }], ...more } });
const busy = (status = 429, headers = {}) => () => ({ status, error: 'busy', headers });
async function states(server) {
  const { text } = await server.raw('GET', '/metrics');
  return Object.fromEntries([...text.matchAll(/^parley_model_cooldown\{model="([^"]+)"\} (\d)$/gm)].map(([, model, state]) => [model, Number(state)]));
}

describe('one model', () => {
  for (const [model, what] of [['first/m', 'by its name'], ['one', 'by an alias of it alone']]) {
    for (const [status, headers] of [[429, { 'retry-after': '7' }], [503, { 'retry-after': '20' }], [529, {}], [500, {}], [408, {}]]) {
      test(`that answers ${status} is asked once, ${what}, and the client told at once`, async () => {
        const server = await serve();
        first.answer = busy(status, headers);
        for (let i = 1; i <= 3; i++) {
          const answer = await ask(server, model);
          assert.equal(answer.status, status, answer.text);
          assert.equal(answer.headers['retry-after'], headers['retry-after']);
          assert.deepEqual(counts(), [i, 0, 0], 'it is asked by every request, since there is no other');
        }
      });
    }
  }

  test('that cannot be reached is told of at once', async () => {
    const server = await serve();
    const { status, json } = await ask(server, 'dead/m');
    assert.equal(status, 502);
    assert.match(json.error.message, /does not accept connections/);
  });
});

describe('a chain', () => {
  for (const status of [408, 429, 500, 502, 503, 504, 529]) {
    test(`goes on to the next when one answers ${status}, in order`, async () => {
      const server = await serve();
      first.answer = busy(status, { 'retry-after': '3600' });
      second.answer = busy(status, { 'retry-after': '3600' });
      const { headers, json, text } = await ask(server, 'chain');
      assert.equal(json.choices?.[0].message.content, 'Hello.', text);
      assert.equal(headers['parley-model'], 'third/m');
      assert.deepEqual(counts(), [1, 1, 1]);
    });
  }

  test('goes on from one that cannot be reached, and remembers it', async () => {
    const server = await serve();
    assert.deepEqual(await states(server), { 'first/m': 0, 'second/m': 0, 'third/m': 0, 'dead/m': 0 });
    for (let i = 1; i <= 3; i++) {
      const { headers, status } = await ask(server, 'down', { stream: i === 2 });
      assert.equal(status, 200);
      assert.equal(headers['parley-model'], 'second/m');
      assert.equal((await states(server))['dead/m'], 1);
    }
    assert.equal((server.err.match(/failed, trying the next/g) ?? []).length, 1, 'only the first request has found it out');
  });

  test('passes over a model that is busy, in every alias and on every shard', async () => {
    const server = await serve({ shards: 3 });
    first.answer = busy();
    for (let i = 0; i < 6; i++) assert.equal((await ask(server, i % 2 ? 'pair' : 'chain')).headers['parley-model'], 'second/m');
    assert.deepEqual(counts(), [1, 6, 0]);
    assert.equal((await ask(server, 'first/m')).status, 429, 'whoever names it has it');
    assert.deepEqual(counts(), [2, 6, 0]);
  });

  test('does not rest a model for what is the request\'s own fault', async () => {
    const server = await serve();
    first.answer = busy(400);
    for (let i = 1; i <= 2; i++) {
      assert.equal((await ask(server, 'chain')).status, 400);
      assert.deepEqual(counts(), [i, 0, 0]);
    }
    assert.equal((await states(server))['first/m'], 0);
  });

  test('tells the last error when there is no other, with its Retry-After', async () => {
    const server = await serve();
    first.answer = busy(503);
    second.answer = busy(429, { 'retry-after': '17' });
    const { status, headers } = await ask(server, 'pair');
    assert.equal(status, 429);
    assert.equal(headers['retry-after'], '17');
    assert.deepEqual(counts(), [1, 1, 0]);
  });

  test('says when to come back while all of it rests, and asks nobody', async () => {
    const server = await serve();
    first.answer = busy(429, { 'retry-after': '250' });
    second.answer = busy(429, { 'retry-after': '120' });
    await ask(server, 'pair');
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'pair', messages: [{ role: 'user', content: 'Hello' }] }],
      ['/v1/messages', { model: 'pair', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }],
      ['/v1/responses', { model: 'pair', input: 'Hello' }],
      ['/v1beta/models/pair:generateContent', { contents: [{ parts: [{ text: 'Hello' }] }] }],
    ]) {
      const { status, headers, text } = await server.raw('POST', path, { body });
      assert.equal(status, 503, text);
      assert.ok(Number(headers['retry-after']) > 60 && Number(headers['retry-after']) <= 120, headers['retry-after']);
      assert.match(text, /All models of pair are busy or out of reach/);
    }
    assert.deepEqual(counts(), [1, 1, 0]);
  });

  test('honours Retry-After up to five minutes', async () => {
    const server = await serve();
    for (const upstream of [first, second]) upstream.answer = busy(429, { 'retry-after': '86400' });
    await ask(server, 'pair');
    const wait = Number((await ask(server, 'pair')).headers['retry-after']);
    assert.ok(wait > 200 && wait <= 300, String(wait));
  });

  test('asks every time when upstream_cooldown_ms is 0', async () => {
    const server = await serve({ cooldown: 0 });
    first.answer = busy();
    for (let i = 1; i <= 3; i++) {
      await ask(server, 'pair');
      assert.deepEqual(counts(), [i, i, 0]);
    }
  });

  test('tries a model again with one call of many, and asks it once that was fine', async () => {
    const server = await serve({ cooldown: 1, shards: 3 });
    let open;
    const gate = new Promise((resolve) => { open = resolve; });
    const play = first.play;
    first.answer = busy();
    await ask(server, 'pair');
    await until(async () => (await states(server))['first/m'] === 1, 'it rests');
    first.reset();
    second.reset();
    first.answer = undefined;
    first.play = async function wait(...args) {
      await gate;
      return play.apply(this, args);
    };
    // One request is the probe, and waits at the gate. The others are answered meanwhile.
    const all = Array.from({ length: 24 }, () => ask(server, 'pair'));
    await until(() => first.requests.length === 1 && second.requests.length === 23, 'one of them tries it');
    assert.equal((await states(server))['first/m'], 2);
    open();
    const by = (await Promise.all(all)).map(({ headers }) => headers['parley-model']);
    first.play = play;
    assert.equal(by.filter((model) => model === 'first/m').length, 1);
    assert.equal((await states(server))['first/m'], 0);
    await ask(server, 'pair');
    assert.deepEqual(counts(), [2, 23, 0]);
  });

  test('leaves the probe to another call when its client goes away', async () => {
    const server = await serve({ cooldown: 1 });
    first.answer = busy();
    await ask(server, 'pair');
    first.reset();
    first.answer = () => ({ hang: 'head' });
    const gone = http.request({
      host: '127.0.0.1', port: server.port, method: 'POST', path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    });
    gone.on('error', () => {});
    gone.end(JSON.stringify({ model: 'pair', messages: [{ role: 'user', content: 'Hello' }] }));
    await until(() => first.requests.length === 1, 'it is tried');
    assert.equal((await states(server))['first/m'], 2);
    gone.destroy();
    await until(async () => (await states(server))['first/m'] === 1, 'the pass is given back');
    first.answer = undefined;
    assert.equal((await ask(server, 'pair')).headers['parley-model'], 'first/m');
    assert.equal((await states(server))['first/m'], 0);
  });
});

describe('a session', () => {
  const turn = async (server, model) => {
    const client = clientOf(server);
    const session = await client.createSession({ model });
    await client.chat(session.id, { message: 'Hello' });
    return settled(client, session.id);
  };

  test('asks a model alone three times while it says that it is busy', async () => {
    const server = await serve();
    first.next(...Array(2).fill({ status: 429, error: 'busy', headers: { 'retry-after': '0' } }), { say: 'At last.' });
    assert.equal((await turn(server, 'first/m')).status, 'completed');
    assert.deepEqual(counts(), [3, 0, 0]);
  });

  for (const script of [{ status: 500, error: 'no' }, { status: 502, error: 'no' }, { drop: 'head' }]) {
    test(`does not send again what may have been carried out (${script.status ?? 'no answer'})`, async () => {
      const server = await serve();
      first.next(script);
      assert.notEqual((await turn(server, 'first/m')).status, 'completed');
      assert.deepEqual(counts(), [1, 0, 0]);
    });
  }

  test('goes on to the next of a chain at once, and is patient with the last', async () => {
    const server = await serve();
    first.answer = busy(503);
    second.next({ status: 429, error: 'busy', headers: { 'retry-after': '0' } }, { say: 'Here.' });
    assert.equal((await turn(server, 'pair')).status, 'completed');
    assert.deepEqual(counts(), [1, 2, 0]);
    assert.equal((await turn(server, 'pair')).status, 'completed');
    assert.deepEqual(counts(), [1, 3, 0], 'the first rests');
    assert.equal((await states(server))['second/m'], 0);
  });
});
