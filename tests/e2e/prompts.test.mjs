// The library of prompts: versions, labels, differences, concurrent writers, runs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { endsWell, serve, until } from './live.mjs';

let server;
let other; // another user's key
before(async () => {
  server = await serve();
  other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
});

async function ask(method, path, body, { headers, key, status } = {}) {
  const answer = await server.ask(method, path, { body, headers, ...(key ? { key } : {}) });
  if (status) assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
  return answer;
}

const make = async (body = {}, options = {}) =>
  (await ask('POST', '/api/prompts', { name: 'a prompt', content: 'Hello {{name}}', ...body }, { status: 201, ...options })).json;
const get = async (id) => (await ask('GET', `/api/prompts/${id}`, undefined, { status: 200 })).json;
const say = (id, content, more = {}, options = {}) =>
  ask('POST', `/api/prompts/${id}/versions`, { content, ...more }, options);

const chat = (...messages) => ({
  protocol: 'structured-chat',
  system_prompt: 'You are {{tone}}.',
  messages: messages.map(([id, role, content]) => ({ id, role, content })),
});
const shots = chat(['m1', 'user', 'one'], ['m2', 'assistant', 'eins'], ['m3', 'user', 'say {{word}}']);

test('a prompt is made, looked at, changed and deleted', async () => {
  const made = await make({
    name: 'Audit', description: 'looks for holes', folder: '/team/audit/', tags: ['b', 'a', 'b'], is_pinned: true, note: 'first',
  });
  assert.match(made.id, /^prompt_/);
  assert.deepEqual(
    [made.folder, made.tags, made.is_pinned, made.type, made.latest_version, made.labels, made.revision],
    ['team/audit', ['a', 'b'], true, 'text', 1, {}, 1]);
  assert.deepEqual(await get(made.id), made);
  assert.deepEqual([made.latest.content, made.latest.note, made.latest.based_on], ['Hello {{name}}', 'first', null]);
  assert.equal(made.latest.content_hash,
    `sha256:${createHash('sha256').update('text\0Hello {{name}}').digest('hex')}`);
  assert.deepEqual(made.latest.variables.map(({ name, declared, found }) => [name, declared, found]), [['name', false, true]]);
  const first = await ask('GET', `/api/prompts/${made.id}`);
  assert.equal(first.headers.etag, '"1"');
  assert.equal((await ask('GET', `/api/prompts/${made.id}`, undefined, { headers: { 'if-none-match': '"1"' } })).status, 304);

  const patch = (body, headers) => ask('PATCH', `/api/prompts/${made.id}`, body, { headers });
  const changed = await patch({ name: 'Audit 2', folder: '', tags: [] }, { 'if-match': '"1"' });
  assert.deepEqual([changed.status, changed.headers.etag, changed.json.name, changed.json.folder, changed.json.tags,
    changed.json.description, changed.json.is_pinned], [200, '"2"', 'Audit 2', '', [], 'looks for holes', true]);
  const stale = await patch({ name: 'Audit 3' }, { 'if-match': '"1"' });
  assert.deepEqual([stale.status, stale.json.code], [412, 'precondition_failed']);
  for (const folder of ['a//b', '../x', 'a/./b'])
    assert.deepEqual([(await patch({ folder })).json.errors[0].pointer], ['/folder'], folder);

  const gone = (headers) => ask('DELETE', `/api/prompts/${made.id}`, undefined, { headers });
  assert.equal((await gone({ 'if-match': '"1"' })).status, 412);
  assert.equal((await gone()).status, 204);
  assert.equal((await gone()).status, 404);
  assert.equal((await ask('GET', `/api/prompts/${made.id}`)).status, 404);
  assert.equal((await ask('GET', `/api/prompts/${made.id}/versions/1`)).status, 404);
});

test('prompts are listed by folder, tag, label and pin, and searched by words', async () => {
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
  const made = [];
  for (const [i, name] of names.entries())
    made.push(await make({ name: `${name} of the list`, folder: i < 3 ? 'list/sub' : 'list', tags: i % 2 ? ['odd'] : ['even'],
      content: i === 2 ? '请审计这段代码' : `content of ${name}` }));
  await ask('PUT', `/api/prompts/${made[1].id}/labels/listed`, { version: 1 }, { status: 200 });
  await ask('PATCH', `/api/prompts/${made[0].id}`, { is_pinned: true }, { status: 200 });
  const list = async (query) => (await ask('GET', `/api/prompts?${query}`, undefined, { status: 200 })).json;
  const short = ({ items }) => items.map(({ name }) => name.split(' ')[0]);
  assert.deepEqual(short(await list('folder=list')), ['alpha', 'beta', 'epsilon', 'delta', 'gamma']);
  assert.deepEqual(short(await list('folder=list/sub&tag=even')), ['alpha', 'gamma']);
  assert.deepEqual(short(await list('label=listed')), ['beta']);
  assert.deepEqual(short(await list('folder=list&pinned=true')), ['alpha']);
  assert.deepEqual(short(await list('folder=list&pinned=false&limit=2')), ['beta', 'epsilon']);
  assert.deepEqual(short(await list('q=gamma')), ['gamma']);
  assert.deepEqual(short(await list(`q=${encodeURIComponent('审计')}`)), ['gamma']);
  assert.equal(short(await list('q=content+delta'))[0], 'delta', 'the best comes first');
  assert.deepEqual(short(await list('q=epsi')), ['epsilon'], 'a word that is still being typed');
  assert.deepEqual(short(await list('q=%21%21')), []);
  assert.equal((await list('q=list&folder=list')).total, 5);
  for (const query of ['folder=list&limit=2', 'folder=list&q=list&limit=2']) {
    const seen = [];
    let cursor = '';
    do {
      const page = await list(`${query}${cursor && `&cursor=${cursor}`}`);
      assert.equal(page.total, 5);
      seen.push(...short(page));
      cursor = page.next_cursor;
    } while (cursor);
    assert.deepEqual([...seen].sort(), [...names].sort(), query);
    assert.deepEqual(short(await list(`${query}&offset=4`)), seen.slice(4), query);
  }
  assert.equal((await ask('GET', '/api/prompts?cursor=bm9uZQ')).status, 400);
  const counts = async (what) => Object.fromEntries((await ask('GET', `/api/prompts/${what}`)).json.items.map(({ name, count }) => [name, count]));
  assert.deepEqual([(await counts('folders')).list, (await counts('folders'))['list/sub']], [2, 3]);
  assert.deepEqual([(await counts('tags')).odd, (await counts('tags')).even], [2, 3]);
});

test('versions are numbered, kept byte for byte, and named by number, label or latest', async () => {
  const { id } = await make({ content: 'one' });
  const text = '{"protocol":"structured-chat",  "messages":[{"id":"m","role":"user","content":"\\u00fc 9007199254740993"}],\n"config":{"seed":9007199254740993,"temperature":0.10}}';
  const two = await ask('POST', `/api/prompts/${id}/versions`, `{"content":${text},"note":"two"}`, { status: 201 });
  assert.deepEqual([two.json.version, two.json.type, two.json.based_on, two.headers.location, two.headers.etag],
    [2, 'structured', 1, `/api/prompts/${id}/versions/2`, '"2"']);
  const read = await ask('GET', `/api/prompts/${id}/versions/latest`);
  assert.ok(read.text.includes(`"content":${text},`), 'as it was sent');
  assert.equal(read.json.content_hash, `sha256:${createHash('sha256').update(`structured\0${text}`).digest('hex')}`);
  assert.equal((await get(id)).type, 'structured');
  await ask('PUT', `/api/prompts/${id}/labels/old`, { version: 1 }, { status: 200 });
  for (const name of ['1', 'old']) assert.equal((await ask('GET', `/api/prompts/${id}/versions/${name}`)).json.content, 'one');
  for (const name of ['0', '3', '99999999999999999999', 'none'])
    assert.equal((await ask('GET', `/api/prompts/${id}/versions/${name}`)).status, 404, name);
  for (let i = 3; i <= 25; i++) await say(id, `text ${i}`, {}, { status: 201 });
  const first = (await ask('GET', `/api/prompts/${id}/versions?limit=10`)).json;
  assert.deepEqual([first.total, first.items.map(({ version }) => version)], [25, [25, 24, 23, 22, 21, 20, 19, 18, 17, 16]]);
  const second = (await ask('GET', `/api/prompts/${id}/versions?limit=15&cursor=${first.next_cursor}`)).json;
  assert.deepEqual([second.items.length, second.items.at(-1).version, second.next_cursor], [15, 1, null]);
  const passed = (await ask('GET', `/api/prompts/${id}/versions?offset=24`)).json;
  assert.deepEqual(passed.items.map(({ version }) => version), [1]);
});

test('a large version fits up to 1 MiB, and a page of large ones ends early', async () => {
  const { id } = await make({ content: 'x'.repeat(1 << 20) });
  assert.deepEqual([(await say(id, 'x'.repeat((1 << 20) + 1))).status], [413]);
  for (let i = 0; i < 14; i++) await say(id, `${i}${'y'.repeat((1 << 20) - 2)}`, {}, { status: 201 });
  const page = (await ask('GET', `/api/prompts/${id}/versions?limit=100`)).json;
  assert.ok(page.items.length < 15 && page.next_cursor, `${page.items.length} items`);
  assert.equal(page.total, 15);
});

test('what is no structured chat is refused, with its place', async () => {
  const { id } = await make();
  const wrong = [
    [{ content: { messages: [] } }, '/content'],
    [{ content: { protocol: 'structured-chat', messages: [{ id: 'a', role: 'nobody', content: '' }] } }, '/content/messages/0/role'],
    [{ type: 'structured', content: 'a text' }, '/content'],
    [{ type: 'text', content: shots }, '/content'],
    [{ content: 7 }, '/content'],
  ];
  for (const [body, pointer] of wrong) {
    const { status, json } = await ask('POST', `/api/prompts/${id}/versions`, body);
    assert.deepEqual([status, json.code, json.errors[0].pointer], [400, 'invalid_request', pointer], JSON.stringify(body));
    assert.equal((await ask('POST', '/api/prompts', { name: 'x', ...body })).status, 400);
  }
  assert.equal((await get(id)).latest_version, 1);
});

test('a stale writer gets 412 with both texts and what lies between', async () => {
  const { id } = await make({ content: 'the quick fox' });
  await say(id, 'the slow fox', { based_on: 1 }, { status: 201 });
  for (const options of [[{ based_on: 1 }], [{}, { headers: { 'if-match': '"1"' } }]]) {
    const { status, json, headers } = await say(id, 'the quick dog', ...options);
    assert.deepEqual([status, json.code, headers.etag], [412, 'precondition_failed', '"2"']);
    assert.deepEqual([json.current.version, json.current.content], [2, 'the slow fox']);
    assert.deepEqual(json.yours, { type: 'text', content: 'the quick dog' });
    assert.equal(json.diff.is_same, false);
    const words = json.diff.blocks[0].words;
    assert.equal(words.filter(({ op }) => op !== 'removed').map(({ text }) => text).join(''), 'the quick dog');
    assert.equal(words.filter(({ op }) => op !== 'added').map(({ text }) => text).join(''), 'the slow fox');
  }
  await say(id, 'the slow dog', { based_on: 2 }, { status: 201 });
  await say(id, 'no dog', {}, { headers: { 'if-match': '"3"' }, status: 201 });
  assert.equal((await get(id)).latest_version, 4);
});

test('of 20 writers that expect the same version one wins each round, and nobody loses his text', async () => {
  const { id } = await make({ content: 'round 0' });
  for (let round = 1; round <= 5; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) =>
      server.raw('POST', `/api/prompts/${id}/versions`, { body: { content: `round ${round} writer ${i}`, based_on: round } })));
    const won = answers.filter(({ status }) => status === 201);
    assert.equal(won.length, 1, `round ${round}: ${answers.map(({ status }) => status)}`);
    assert.equal(won[0].json.version, round + 1);
    answers.forEach(({ status, json }, i) => {
      if (status === 201) return;
      assert.equal(status, 412);
      assert.equal(json.yours.content, `round ${round} writer ${i}`);
      assert.equal(json.current.content, won[0].json.content);
    });
  }
});

test('20 writers that expect nothing all get a version, without gaps', async () => {
  const { id } = await make({ content: 'zero' });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) =>
    server.raw('POST', `/api/prompts/${id}/versions`, { body: { content: `text ${i}` } })));
  assert.deepEqual(answers.map(({ status }) => status), Array(20).fill(201));
  assert.deepEqual(answers.map(({ json }) => json.version).sort((a, b) => a - b), Array.from({ length: 20 }, (_, i) => i + 2));
  const { items } = (await ask('GET', `/api/prompts/${id}/versions?limit=100`)).json;
  assert.deepEqual(new Set(items.map(({ content }) => content)), new Set(['zero', ...Array.from({ length: 20 }, (_, i) => `text ${i}`)]));
  assert.equal((await get(id)).revision, 21);
});

test('labels move, are compared, and refuse what would be mistaken for a version', async () => {
  const { id } = await make();
  await say(id, 'two', {}, { status: 201 });
  const put = (label, body) => ask('PUT', `/api/prompts/${id}/labels/${label}`, body);
  const first = await put('production', { version: 1, expected: null });
  assert.deepEqual([first.status, first.json.labels, first.json.revision, first.headers.etag], [200, { production: 1 }, 3, '"3"']);
  assert.equal((await put('production', { version: 2, expected: 2 })).status, 409);
  assert.equal((await put('production', { version: 2, expected: null })).status, 409);
  assert.deepEqual((await put('production', { version: 2, expected: 1 })).json.labels, { production: 2 });
  assert.deepEqual((await put('a.b_c-9', { version: 1 })).json.labels, { 'a.b_c-9': 1, production: 2 });
  assert.deepEqual((await get(id)).labels, { 'a.b_c-9': 1, production: 2 });
  for (const label of ['latest', '17', 'a%20b', '%C3%BC', 'x'.repeat(61)]) assert.equal((await put(label, { version: 1 })).status, 400, label);
  assert.deepEqual((await put('x', { version: 3 })).json.errors[0].pointer, '/version');
  assert.equal((await ask('GET', `/api/prompts/${id}/versions/production`)).json.version, 2);
  assert.equal((await ask('DELETE', `/api/prompts/${id}/labels/production`)).status, 204);
  assert.equal((await ask('DELETE', `/api/prompts/${id}/labels/production`)).status, 404);
  assert.equal((await ask('GET', `/api/prompts/${id}/versions/production`)).status, 404);
});

test('a rollback is a new version', async () => {
  const { id } = await make({ content: 'good' });
  await say(id, 'bad', {}, { status: 201 });
  const back = await ask('POST', `/api/prompts/${id}/rollback`, { version: 1, note: 'it was better' }, { status: 201 });
  assert.deepEqual([back.json.version, back.json.content, back.json.restored_from, back.json.based_on, back.json.note],
    [3, 'good', 1, 2, 'it was better']);
  assert.equal((await get(id)).latest.content, 'good');
  assert.equal((await ask('POST', `/api/prompts/${id}/rollback`, { version: 9 })).status, 404);
  assert.equal((await ask('POST', `/api/prompts/${id}/rollback`, { version: 1 }, { headers: { 'if-match': '"1"' } })).status, 412);
});

test('a diff tells added, removed, moved and changed blocks', async () => {
  const { id } = await make({ content: shots });
  const next = chat(['m3', 'user', 'say {{word}}'], ['m1', 'user', 'one more'], ['m4', 'assistant', 'new']);
  next.config = { temperature: 0.5 };
  await say(id, next, {}, { status: 201 });
  const { json } = await ask('GET', `/api/prompts/${id}/versions/1/diff/2`, undefined, { status: 200 });
  const changes = Object.fromEntries(json.blocks.map(({ id: block, change }) => [block, change]));
  assert.equal(json.is_same, false);
  assert.equal(changes.system, 'same');
  assert.equal(changes.m2, 'removed');
  assert.equal(changes.m4, 'added');
  assert.match(changes.m1, /changed/);
  assert.ok([changes.m1, changes.m3].some((change) => /moved/.test(change)), JSON.stringify(changes));
  assert.ok(json.members.some(({ pointer, change }) => pointer.startsWith('/config') && change === 'added'));
  assert.equal((await ask('GET', `/api/prompts/${id}/versions/latest/diff/2`)).json.is_same, true);
  const draft = await ask('POST', `/api/prompts/${id}/versions/2/diff`, { content: shots }, { status: 200 });
  assert.equal(draft.json.blocks.find(({ id: block }) => block === 'm4').change, 'removed');
  assert.equal((await get(id)).latest_version, 2, 'a draft is not stored');
  assert.equal((await ask('GET', `/api/prompts/${id}/versions/1/diff/9`)).status, 404);
});

test('variables are filled in, missing ones are told, and lint looks at what it is meant for', async () => {
  const text = await make({ content: 'Hello {{name}}, {{greeting:welcome}}' });
  const chatty = await make({ content: shots });
  const render = (id, body) => ask('POST', `/api/prompts/${id}/render`, body);
  assert.deepEqual((await render(text.id, { variables: { name: 'a "b"\n', extra: 1 } })).json.document, 'Hello a "b"\n, welcome');
  const missing = await render(text.id, {});
  assert.deepEqual([missing.status, missing.json.errors[0].pointer], [400, '/variables']);
  assert.match(missing.json.detail, /name/);
  assert.equal((await render(text.id, { preview: true })).json.document, 'Hello {{name}}, welcome');
  const filled = (await render(chatty.id, { variables: { tone: 'kind', word: 'drei' }, version: 1 })).json.document;
  assert.deepEqual([filled.system_prompt, filled.messages[2].content], ['You are kind.', 'say drei']);
  for (const { id } of [text, chatty]) {
    const { json } = await ask('POST', `/api/prompts/${id}/lint`, { for: 'anthropic', version: 'latest' }, { status: 200 });
    assert.ok(Array.isArray(json.findings));
  }
  assert.equal((await ask('POST', `/api/prompts/${text.id}/lint`, { for: 'nobody' })).status, 400);
});

test('a prompt is exported in every format', async () => {
  const { id } = await make({ content: { ...shots, config: { model: 'gpt-4o', temperature: 0.5 } } });
  const out = async (format, of = id) => ask('GET', `/api/prompts/${of}/export?format=${format}`, undefined, { status: 200 });
  const formats = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'harmony', 'envelope', 'structured-chat', 'turns', 'gpt-oss'];
  for (const format of [...formats, 'yaml', 'markdown', 'curl', 'claude']) {
    const { text, headers } = await out(format);
    assert.ok(text.includes('eins') && text.includes('You are {{tone}}.'), format);
    const isJson = formats.includes(format) && format !== 'gpt-oss';
    assert.equal(headers['content-type'], isJson ? 'application/json' : 'text/plain; charset=utf-8', format);
  }
  assert.deepEqual((await out('')).json, (await get(id)).latest.content);
  assert.equal((await ask('GET', `/api/prompts/${id}/export?format=text`)).status, 400);
  assert.equal((await ask('GET', `/api/prompts/${id}/export?format=none`)).status, 400);
  const plain = await make({ content: 'only "text"' });
  assert.equal((await out('text', plain.id)).text, 'only "text"');
  assert.equal((await out('', plain.id)).text, 'only "text"');
  assert.equal((await out('openai-chat', plain.id)).json.messages[0].content, 'only "text"');
});

test('a prompt is run as a session, with its examples as turns', async () => {
  const { id } = await make({ name: 'run me', content: { ...shots, config: { model: 'demo/echo' } } });
  const run = await ask('POST', `/api/prompts/${id}/run`, { variables: { tone: 'kind', word: 'drei' } }, { status: 201 });
  const [item] = run.json.items;
  assert.deepEqual([run.json.version, run.json.mode, item.model, item.status, item.text, item.error],
    [1, 'session', 'demo/echo', 'running', null, null]);
  const session = await until(async () => {
    const { json } = await ask('GET', `/api/sessions/${item.session_id}`);
    return json.status === 'completed' && json;
  }, 'the session ends');
  assert.equal(session.intent, 'run me');
  const turns = (await ask('GET', `/api/sessions/${item.session_id}/messages`)).json;
  assert.deepEqual(turns.map(({ role, blocks }) => [role, blocks[0].content]), [
    ['system', 'You are kind.'], ['user', 'one'], ['assistant', 'eins'], ['user', 'say drei'], ['assistant', 'say drei']]);
  assert.deepEqual(turns.map(({ sequence }) => sequence), [0, 1, 2, 3, 4]);
  const foreign = await make({ content: { ...chat(['m', 'user', 'x']), system_prompt: null, config: { model: 'gpt-4o' } } });
  const [own] = (await ask('POST', `/api/prompts/${foreign.id}/run`, { mode: 'answer' })).json.items;
  assert.deepEqual([own.model, own.text], ['demo/echo', 'x'], 'a model that is not ours is the default one');
});

test('several models answer side by side, and their sessions leave nothing behind', async () => {
  const { id } = await make({ content: shots });
  const sessions = async () => (await ask('GET', '/api/sessions?limit=1')).json.total;
  const begun = await sessions();
  const models = ['demo/echo', 'demo/agent', 'demo/slow'];
  const { json } = await ask('POST', `/api/prompts/${id}/run`,
    { variables: { tone: 'kind', word: 'hello there' }, models, mode: 'answer' }, { status: 201 });
  assert.deepEqual(json.items.map(({ model, status, session_id: kept, error }) => [model, status, kept, error]),
    models.map((model) => [model, 'completed', null, null]));
  assert.equal(json.items[0].text, 'say hello there');
  assert.ok(json.items[1].text.length > 0);
  assert.equal(json.items[0].turn.role, 'assistant');
  assert.equal(json.items[2].text, 'say hello there');
  assert.equal(await sessions(), begun);
});

test('what fails or asks is told, and what cannot be run is refused before it starts', async () => {
  const { id } = await make({ content: '#!demo\n{{line}}' });
  const run = (body) => ask('POST', `/api/prompts/${id}/run`, { mode: 'answer', model: 'demo/agent', ...body });
  const failed = (await run({ variables: { line: 'fail it broke' } })).json.items[0];
  assert.equal(failed.status, 'failed');
  assert.match(failed.error, /it broke/);
  assert.equal((await run({})).status, 400, 'a variable is missing');
  const unknown = await run({ variables: { line: 'say x' }, models: ['demo/echo', 'nobody/none'] });
  assert.deepEqual([unknown.status, unknown.json.errors[0].pointer], [400, '/models/1']);
  assert.equal((await run({ variables: { line: 'say x' }, version: 7 })).status, 404);
  const prefill = await make({ content: chat(['a', 'user', 'x'], ['b', 'assistant', 'y']) });
  const refused = await ask('POST', `/api/prompts/${prefill.id}/run`, { variables: { tone: 'x' } });
  assert.equal(refused.status, 400);
  assert.match(refused.json.detail, /assistant/);
});

test('a model that asks is told as waiting, and its session goes with the question', async () => {
  const { id } = await make({ content: '#!demo\ncall AskUserQuestion {"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}' });
  const { json } = await ask('POST', `/api/prompts/${id}/run`, { mode: 'answer', model: 'demo/agent', tools: ['AskUserQuestion'] }, { status: 201 });
  assert.deepEqual([json.items[0].status, json.items[0].turn.status], ['waiting_for_input', 'paused']);
});

test('a model that is refused has an error, and the others go on', async () => {
  const { id } = await make({ content: '#!demo\nwait 60000' });
  const run = (n, mode = 'session') => ask('POST', `/api/prompts/${id}/run`, { models: Array(n).fill('demo/echo'), mode });
  const begun = [];
  for (const n of [8, 8, 8, 8, 8, 8, 8, 4]) begun.push(...(await run(n)).json.items);
  const { status, json: { items } } = await run(8);
  begun.push(...items);
  assert.equal(status, 201);
  // The limit is 64 at once; shards that check at the same moment may admit one more.
  const nRefused = items.filter((item) => item.status === 'failed').length;
  assert.ok(nRefused >= 1 && nRefused <= 4, `${nRefused} of 8 refused`);
  for (const item of items) assert.deepEqual([item.session_id === null, item.error !== null], Array(2).fill(item.status !== 'running'));
  for (const mode of ['session', 'answer']) assert.equal((await run(2, mode)).json.code, 'rate_limited', 'nobody takes it');
  await Promise.all(begun.filter((item) => item.session_id).map((item) => server.raw('DELETE', `/api/sessions/${item.session_id}`)));
});

test('a client that goes away does not end the run', async () => {
  const { id } = await make({ content: '#!demo\nsay one \nwait 300\nsay two' });
  const begun = (await ask('GET', '/api/sessions?limit=1')).json.total;
  const body = '{"mode":"answer","model":"demo/echo"}';
  const read = async () => Number((await server.raw('GET', '/metrics')).text.match(/^parley_request_bytes_total (\d+)$/m)[1]);
  const before = await read();
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  socket.write(`POST /api/prompts/${id}/run HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await until(async () => await read() >= before + body.length, 'it was read');
  socket.destroy();
  await until(async () => (await ask('GET', '/api/sessions?limit=1')).json.total === begun, 'the sessions are deleted');
});

test('the same request with one Idempotency-Key is done once', async () => {
  const headers = { 'idempotency-key': 'prompt-once' };
  const body = { name: 'once', content: 'x' };
  const [first, second] = [await ask('POST', '/api/prompts', body, { headers }), await ask('POST', '/api/prompts', body, { headers })];
  assert.equal(first.json.id, second.json.id);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  const { id } = first.json;
  const version = () => ask('POST', `/api/prompts/${id}/versions`, { content: 'y' }, { headers: { 'idempotency-key': 'version-once' } });
  assert.deepEqual([(await version()).json.version, (await version()).json.version], [2, 2]);
  const run = () => ask('POST', `/api/prompts/${id}/run`, { model: 'demo/echo' }, { headers: { 'idempotency-key': 'run-once' } });
  assert.equal((await run()).json.items[0].session_id, (await run()).json.items[0].session_id);
});

test('nobody sees another\'s prompt: every route says 404', async () => {
  const { id } = await make({ content: shots });
  await ask('PUT', `/api/prompts/${id}/labels/x`, { version: 1 }, { status: 200 });
  const bodies = {
    versions: { content: 'mine' }, diff: { content: 'mine' }, rollback: { version: 1 }, '{label}': { version: 1 }, '{id}': { name: 'mine' }, draft: { content: 'mine' },
  };
  const routes = Object.entries(server.openapi.paths)
    .flatMap(([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path]))
    .filter(([, path]) => path.startsWith('/api/prompts/{'));
  assert.ok(routes.length >= 14, `${routes.length} routes`);
  for (const [method, path] of routes) {
    const target = path.replace('{id}', id).replace('{version}', '1').replace('{other}', '1').replace('{label}', 'x');
    const body = method === 'GET' || method === 'DELETE' ? undefined : bodies[path.split('/').at(-1)] ?? {};
    const answer = await ask(method, target, body, { key: other });
    assert.deepEqual([answer.status, answer.json.code], [404, 'not_found'], `${method} ${path}`);
  }
  assert.deepEqual((await ask('GET', '/api/prompts', undefined, { key: other })).json.items, []);
  assert.deepEqual((await ask('GET', '/api/prompts/files', undefined, { key: other })).json.files, []);
  assert.equal((await get(id)).revision, 2);
});

test('kill -9 during 200 writes: what was acknowledged is there', async () => {
  const data = mkdtempSync(join(tmpdir(), 'parley-prompts-'));
  after(() => rmSync(data, { recursive: true, force: true }));
  const first = await serve({ data });
  const { id } = (await first.raw('POST', '/api/prompts', { body: { name: 'x', content: 'text 0' } })).json;
  const said = new Map();
  // Four at once, then one after the other.
  const write = async (from) => {
    for (let i = from; i < 200; i += 4) {
      const { status, json } = await first.raw('POST', `/api/prompts/${id}/versions`, { body: { content: `text ${i + 1}` } });
      if (status === 201) said.set(json.version, json.content);
    }
  };
  const writes = Promise.allSettled([0, 1, 2, 3].map(write));
  await until(() => said.size >= 40, 'some are written');
  await first.stop('SIGKILL');
  await writes;
  assert.ok(said.size < 200, 'it was killed in the middle');
  const next = await serve({ data, login: false });
  next.key = first.key;
  const prompt = (await next.ask('GET', `/api/prompts/${id}`)).json;
  assert.ok(prompt.latest_version > said.size, `${prompt.latest_version} versions of ${said.size} acknowledged`);
  for (const [version, content] of said)
    assert.equal((await next.raw('GET', `/api/prompts/${id}/versions/${version}`)).json.content, content);
  for (let version = 1; version <= prompt.latest_version; version++)
    assert.equal((await next.raw('GET', `/api/prompts/${id}/versions/${version}`)).status, 200, `version ${version}`);
  await endsWell(next);
});

test('the server ends in good order', () => endsWell(server));
