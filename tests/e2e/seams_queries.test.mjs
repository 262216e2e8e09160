// Unknown names in a query are refused: a misspelled filter must not let everything through.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { serve } from './live.mjs';

let server;
before(async () => {
  server = await serve();
});

test('an unknown query parameter is refused, and the nearest known one is named', async () => {
  const wrong = await server.ask('GET', '/api/sessions?stauts=running');
  assert.equal(wrong.status, 400);
  assert.equal(wrong.json.code, 'invalid_request');
  assert.match(wrong.json.detail, /no query parameter "stauts"; did you mean "status"\?/);
  assert.deepEqual(wrong.json.errors.map(({ pointer }) => pointer), ['/stauts']);
  const far = await server.ask('GET', '/api/me?verbose=1');
  assert.equal(far.status, 400);
  assert.match(far.json.detail, /no query parameter "verbose"\.$/);
});

test('a value that means nothing is refused, for every parameter that has a list of words', async () => {
  const openapi = (await server.raw('GET', '/openapi.json', { key: null })).json;
  const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
  const tried = new Set();
  for (const [path, { get }] of Object.entries(openapi.paths)) {
    if (!path.startsWith('/api/') || !get) continue;
    for (const { name, in: where, schema } of get.parameters ?? []) {
      const words = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
      if (where !== 'query' || !words) continue;
      const to = path.replace(/{\w+}/g, id);
      for (const value of ['zzz', '', `${words[0]}s`, words[0].toUpperCase(), '1', 'é'.repeat(300)]) {
        const { status, json } = await server.ask('GET', `${to}?${name}=${encodeURIComponent(value)}`);
        assert.equal(status, 400, `${path} ${name}=${value}`);
        assert.ok(json.detail.startsWith(`The parameter ${name} must be ${words[0]}`), json.detail);
        assert.deepEqual(json.errors.map(({ pointer }) => pointer), [`/${name}`]);
      }
      tried.add(name);
    }
  }
  for (const name of ['pinned', 'enabled', 'view', 'type', 'status', 'group', 'content']) assert.ok(tried.has(name), name);
  assert.equal((await server.ask('GET', '/api/sessions?pinned=true')).status, 200);
});

test('a parameter is there once', async () => {
  const { status, json } = await server.ask('GET', '/api/sessions?limit=5&limit=6');
  assert.deepEqual([status, json.errors[0].pointer], [400, '/limit']);
});

test('a position of an event stream that is none is refused, and so is another word for content', async () => {
  const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
  for (const query of ['since=x', 'since=', 'since=1', 'since=1:', 'since=1:x', 'since=-1:-1', 'since=99999999999999999999:1', 'content=never', 'content=']) {
    const { status, json } = await server.ask('GET', `/api/sessions/${id}/events?${query}`);
    assert.equal(status, 400, query);
    assert.match(json.detail, /^The parameter (since|content) must be /);
  }
});

test('a key is asked for before a query is judged', async () => {
  assert.equal((await server.ask('GET', '/api/sessions?nonsense=1', { key: null })).status, 401);
});

test('every parameter that OpenAPI lists is accepted', async () => {
  const openapi = (await server.raw('GET', '/openapi.json', { key: null })).json;
  let n = 0;
  for (const [path, { get }] of Object.entries(openapi.paths)) {
    const names = (get?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
    if (!path.startsWith('/api/') || path.includes('{') || path === '/api/ws') continue;
    for (const name of names) {
      const { text } = await server.raw('GET', `${path}?${name}=1`);
      assert.doesNotMatch(text, /no query parameter/, `${path} ${name}`);
      n += 1;
    }
  }
  assert.ok(n > 10, `${n} parameters`);
});

test('a vendor\'s client and a probe may send what nobody reads', async () => {
  assert.equal((await server.raw('GET', '/healthz?t=1', { key: null })).status, 200);
  const { status } = await server.raw('POST', '/v1/messages?beta=true', {
    body: { model: 'demo/echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] } });
  assert.equal(status, 200);
});
