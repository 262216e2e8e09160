// Lists longer than a page, by rows and by bytes: following the cursor returns every item exactly once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Socket, clientOf, closing, endsWell, serve, settled } from './live.mjs';
import { until } from './waiting.mjs';

const MIB = 1024 * 1024;
let server, client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});
after(() => server.stop('SIGKILL'));

const idOf = (item) => item.id ?? item.run_id ?? item.version ?? item.name ?? item.model ?? item.day ?? item.key_id ?? 'nobody';

// One page: of a GET with parameters, of a POST (with a body) with members.
function page(path, body, more) {
  if (body) return server.ask('POST', path, { body: { ...body, ...more } });
  const url = new URL(path, server.url);
  for (const [name, value] of Object.entries(more)) url.searchParams.set(name, value);
  return server.ask('GET', `${url.pathname}${url.search}`);
}

// Every page of a list, by its cursor.
async function walk(path, limit, body) {
  const seen = [];
  let cursor = null;
  let nPages = 0;
  do {
    const { status, json, text } = await page(path, body, { ...(limit ? { limit } : {}), ...(cursor ? { cursor } : {}) });
    assert.equal(status, 200, text);
    assert.ok(json.items.length >= 1 && json.items.length <= (limit ?? 20));
    seen.push(...json.items);
    cursor = json.next_cursor;
    assert.ok(++nPages < 200, 'the cursor comes to an end');
  } while (cursor);
  assert.equal(new Set(seen.map(idOf)).size, seen.length, `${path} shows nothing twice`);
  return { seen, nPages };
}

const post = async (path, body) => {
  const { status, json, text } = await server.ask('POST', path, { body });
  assert.ok(status < 300, text);
  return json;
};

test('every list walked by its cursor shows each row exactly once', async () => {
  const N = 7;
  const made = {};
  const make = async (name, one) => {
    made[name] = [];
    for (let i = 0; i < N; i++) made[name].push(await one(i));
  };
  await make('users', async (i) => (await post('/api/users', { name: `user ${i}` })));
  await make('keys', async (i) => (await post('/api/user/api-keys', { name: `key ${i}` })).id);
  await make('sessions', async (i) => (await post('/api/sessions', { intent: `session ${i}` })).id);
  await make('memories', async (i) => (await post('/api/memories', { content: `walnut number ${i}` })).id);
  await make('prompts', async (i) => (await post('/api/prompts', { name: `walnut ${i}`, type: 'text', content: `walnut ${i}`, folder: i ? `shelf ${i}` : '', tags: [`tag ${i}`, 'ß'] })).id);
  await make('tasks', async (i) => (await post('/api/scheduled-tasks', { title: `task ${i}`, prompt: 'hello', cron: '0 0 1 1 *' })).id);
  await make('blobs', async (i) => (await server.ask('POST', '/api/blobs', { body: `blob ${i}`, headers: { 'content-type': 'text/plain' } })).json.id);
  await make('versions', async (i) => (await post(`/api/prompts/${made.prompts[0]}/versions`, { type: 'text', content: `version ${i}` })).version);
  await make('runs', async () => (await post(`/api/scheduled-tasks/${made.tasks[0]}/run`, {})));

  const lists = {
    '/api/user/api-keys': made.keys, '/api/users': null, '/api/sessions': made.sessions, '/api/memories': made.memories,
    '/api/memories?q=walnut': made.memories, '/api/memories/search': made.memories, '/api/prompts/folders': null, '/api/prompts/tags': null,
    '/api/prompts': made.prompts, '/api/prompts?q=walnut': made.prompts,
    '/api/scheduled-tasks': made.tasks, '/api/blobs': made.blobs, [`/api/prompts/${made.prompts[0]}/versions`]: null,
    [`/api/scheduled-tasks/${made.tasks[0]}/runs`]: null,
  };
  for (const [path, ids] of Object.entries(lists)) {
    const body = path.endsWith('/search') ? { query: 'walnut' } : undefined;
    const all = (await walk(path, 100, body)).seen.map(idOf);
    assert.ok(all.length >= N, `${path} has ${all.length}`);
    for (const id of ids ?? []) assert.ok(all.includes(id), `${path} has ${id}`);
    // A page that ends with the last row, and a page before one more row.
    for (const limit of [1, 3, all.length - 1, all.length]) {
      const { seen, nPages } = await walk(path, limit, body);
      assert.deepEqual(seen.map(idOf), all, `${path} by ${limit}`);
      assert.equal(nPages, Math.ceil(all.length / limit), `${path} by ${limit}`);
    }
  }
});

test('usage by key, model and day walked by its cursor shows each item exactly once', async () => {
  const models = ['demo/echo', 'demo/slow', 'demo/agent'];
  const requests = async (path) => (await server.ask('GET', path)).json.items.reduce((sum, item) => sum + item.requests, 0);
  const before = await requests('/api/usage');
  for (let i = 0; i < 6; i++) {
    const { plaintext: key } = await post('/api/user/api-keys', { name: `used ${i}` });
    const body = { model: models[i % models.length], messages: [{ role: 'user', content: 'hello' }] };
    assert.equal((await server.ask('POST', '/v1/chat/completions', { key, body })).status, 200);
  }
  const counts = { key: 6, model: 3, day: 1 };
  for (const [group, n] of Object.entries(counts)) {
    const path = `/api/usage?group=${group}`;
    await until(async () => (await requests(path)) >= before + 6, `the usage by ${group}`);
    // The list includes sessions of earlier tests.
    const whole = (await server.ask('GET', `${path}&limit=1000`)).json.items;
    const all = (await walk(path)).seen;
    assert.equal(all.length, whole.length, group);
    assert.ok(all.length >= n, group);
    for (const limit of [1, 2, n, 1000]) assert.deepEqual((await walk(path, limit)).seen, all, `${group} by ${limit}`);
  }
});

test('a cursor of another list is refused', async () => {
  const { next_cursor: ofModels } = (await server.ask('GET', '/api/usage?group=model&limit=1')).json;
  const notText = Buffer.from([0x2f, 0xff, 0xfe]).toString('base64url');
  const withNul = Buffer.from([0x2f, 0x00, 0x61]).toString('base64url');
  const wrong = [['/api/usage?group=key', ofModels]];
  for (const path of ['/api/user/api-keys', '/api/users', '/api/blobs', '/api/memories?q=walnut', '/api/prompts/folders', '/api/prompts/tags', '/api/usage?group=day', '/api/usage']) {
    wrong.push([path, 'eHl6'], [path, notText], [path, withNul], [path, '!']);
  }
  for (const [path, cursor] of wrong) {
    const { status, json } = await page(path, undefined, { cursor });
    assert.deepEqual([status, json.code], [400, 'invalid_request'], `${path} ${cursor}`);
  }
  for (const cursor of ['eHl6', notText, withNul, '!', Buffer.from('+1').toString('base64url'), Buffer.from('+ 1').toString('base64url')]) {
    assert.equal((await page('/api/memories/search', { query: 'walnut' }, { cursor })).status, 400, cursor);
  }
});

test('a list of sums has up to 1000 rows on a page', async () => {
  for (const path of ['/api/prompts/folders', '/api/prompts/tags', '/api/usage']) {
    assert.equal((await page(path, undefined, { limit: 1000 })).status, 200, path);
    for (const limit of [0, 1001, -1, 'many']) assert.equal((await page(path, undefined, { limit })).status, 400, `${path} ${limit}`);
  }
});

test('an offset as large as there is finds nothing, in lists and searches', async () => {
  for (const path of ['/api/memories', '/api/memories?q=walnut', '/api/prompts', '/api/prompts?q=walnut', '/api/sessions', '/api/users', '/api/user/api-keys', '/api/blobs', '/api/scheduled-tasks']) {
    const { status, json } = await page(path, undefined, { offset: '9223372036854775807', limit: 100 });
    assert.deepEqual([status, json.items, json.next_cursor], [200, [], null], path);
  }
});

// A session with n long messages; importing makes them turns.
async function longSession(n, nBytes) {
  const messages = Array.from({ length: n }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i} ${'x'.repeat(nBytes)}` }));
  return (await post('/api/sessions/import', { document: { messages }, format: 'openai-chat' })).id;
}

async function walkTurns(id, direction, limit = 100) {
  const seen = [];
  let from = direction === 'after' ? '-1' : null;
  let nPages = 0;
  for (;;) {
    const query = new URLSearchParams({ limit, ...(from === null ? {} : { [direction]: from }) });
    const { status, headers, json, bytes } = await server.ask('GET', `/api/sessions/${id}/messages?${query}`);
    assert.equal(status, 200);
    assert.ok(json.length === 1 || bytes.length < 2 * MIB, `${json.length} turns have ${bytes.length} bytes`);
    if (direction === 'after') seen.push(...json);
    else seen.unshift(...json);
    nPages++;
    if (headers['x-has-more'] === 'false') {
      assert.equal(headers['x-next-cursor'], undefined);
      return { sequences: seen.map((turn) => turn.sequence), nPages };
    }
    from = headers['x-next-cursor'];
    assert.ok(from, 'there is more, and where it is');
  }
}

test('a conversation of long turns is read page by page, from either end, whole', async () => {
  const id = await longSession(40, 300_000);
  const all = Array.from({ length: 40 }, (_, i) => i);
  for (const direction of ['after', 'before']) {
    const { sequences, nPages } = await walkTurns(id, direction);
    assert.deepEqual(sequences, all, direction);
    assert.ok(nPages >= 8 && nPages <= 20, `${nPages} pages`);
  }
  // A page has at least one turn, even if the turn is longer than a page.
  const one = await longSession(4, 3 * MIB);
  for (const direction of ['after', 'before']) assert.deepEqual(await walkTurns(one, direction), { sequences: [0, 1, 2, 3], nPages: 4 });
});

test('after=-1 begins with the first turn', async () => {
  const id = await longSession(5, 10);
  const { json } = await server.ask('GET', `/api/sessions/${id}/messages?after=-1&limit=2`);
  assert.deepEqual(json.map((turn) => turn.sequence), [0, 1]);
  assert.deepEqual((await walkTurns(id, 'after', 2)).sequences, [0, 1, 2, 3, 4]);
  for (const wrong of ['-2', '--1', '-', 'x', '-1.0']) {
    assert.equal((await server.ask('GET', `/api/sessions/${id}/messages?after=${wrong}`)).status, 400, wrong);
  }
  assert.equal((await server.ask('GET', `/api/sessions/${id}/messages?before=-1`)).status, 400);
});

test('a shared conversation of long turns comes in pages too', async () => {
  const id = await longSession(10, 300_000);
  const shared = await post(`/api/sessions/${id}/share`, {});
  const path = new URL(shared.url ?? shared.path, server.url).pathname;
  const token = shared.token ?? path.split('/').at(-1);
  const seen = [];
  let before = '';
  for (;;) {
    const { status, json, bytes } = await server.ask('GET', `/api/share/${token}?limit=100${before}`, { key: null });
    assert.equal(status, 200);
    assert.ok(bytes.length < 2 * MIB);
    seen.unshift(...json.turns.map((turn) => turn.sequence));
    if (!json.has_more) break;
    before = `&before=${json.turns[0].sequence}`;
  }
  assert.deepEqual(seen, Array.from({ length: 10 }, (_, i) => i));
});

test('a snapshot of long turns has the newest that fit, and says that there is more', async (t) => {
  const id = await longSession(40, 300_000);
  const socket = await closing(t, new Socket(server)).opened;
  await socket.ask('session:subscribe', { session_id: id });
  const { data } = await socket.next((frame) => frame.event === 'session:snapshot', 'a snapshot');
  assert.equal(data.has_more, true);
  assert.ok(data.turns.length >= 3 && data.turns.length <= 5, `${data.turns.length} turns`);
  assert.deepEqual(data.turns.map((turn) => turn.sequence), data.turns.map((_, i) => 40 - data.turns.length + i));
});

test('an export of long turns is whole', async () => {
  const id = await longSession(40, 300_000);
  const { json } = await server.ask('GET', `/api/sessions/${id}/export`);
  assert.equal(json.length, 40);
  await settled(client, id);
});

test('the server ends in good order', () => endsWell(server));
