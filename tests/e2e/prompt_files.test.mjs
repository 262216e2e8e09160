// The library as files: exported, written so that git can compare them, and restored unchanged.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { endsWell, serve } from './live.mjs';

let server;
before(async () => { server = await serve(); });

const put = (files, more = {}, { to = server, headers } = {}) =>
  to.ask('POST', '/api/prompts/import', { body: { files, ...more }, headers });
async function take(files, more, options) {
  const { status, json, text } = await put(files, more, options);
  assert.equal(status, 200, text);
  return json;
}
const one = async (text, path, more) => {
  const { items, problems } = await take([{ path, text: typeof text === 'string' ? text : JSON.stringify(text) }], more);
  assert.deepEqual(problems, [], path);
  assert.equal(items.length, 1, path);
  return (await server.ask('GET', `/api/prompts/${items[0].prompt_id}`)).json;
};

// All pages of the library, path -> text.
async function files(from) {
  const all = new Map();
  let cursor = '';
  let pages = 0;
  do {
    const { json } = await from.raw('GET', `/api/prompts/files${cursor && `?cursor=${cursor}`}`);
    for (const { path, text } of json.files) {
      assert.ok(!all.has(path), `${path} is there once`);
      all.set(path, text);
    }
    cursor = json.next_cursor;
    pages++;
  } while (cursor);
  return { all, pages };
}

const messages = [{ role: 'user', content: 'Say {{word}}' }];
const kinds = [
  ['openai.json', { model: 'gpt-4o', temperature: 0.5, messages: [{ role: 'system', content: 'Be kind.' }, ...messages] }],
  ['responses.json', { model: 'gpt-4o', instructions: 'Be kind.', input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say {{word}}' }] }] }],
  ['anthropic.json', { model: 'claude-sonnet-4-5', max_tokens: 99, system: 'Be kind.', messages }],
  ['gemini.json', { systemInstruction: { parts: [{ text: 'Be kind.' }] }, contents: [{ role: 'user', parts: [{ text: 'Say {{word}}' }] }] }],
  ['own.json', { protocol: 'structured-chat', system_prompt: 'Be kind.', messages: [{ id: 'm', ...messages[0] }] }],
  ['github.prompt.yml', 'name: From GitHub\ndescription: tells it\nmodel: openai/gpt-4o\nmessages:\n  - role: system\n    content: Be kind.\n  - role: user\n    content: Say {{word}}\n'],
  ['page.md', '---\nname: From Markdown\n---\n\n## system\n\nBe kind.\n\n## user\n\nSay {{word}}\n'],
];

test('a file of each kind becomes a prompt', async () => {
  for (const [path, content] of kinds) {
    const prompt = await one(content, `kinds/${path}`);
    assert.equal(prompt.folder, 'kinds', path);
    assert.equal(prompt.type, 'structured', path);
    const { system_prompt: system, messages: list } = prompt.latest.content;
    assert.equal(system ?? list[0].content, 'Be kind.', path);
    assert.equal(list.at(-1).content, 'Say {{word}}', path);
    assert.ok(prompt.latest.variables.some(({ name }) => name === 'word'), path);
  }
  const github = (await server.ask('GET', '/api/prompts?q=github&folder=kinds')).json.items[0];
  assert.deepEqual([github.name, github.description], ['From GitHub', 'tells it']);
  const text = await one('Just a text, with {{a}} variable.\n', 'kinds/deep/plain.txt');
  assert.deepEqual([text.type, text.name, text.folder], ['text', 'plain', 'kinds/deep']);
});

test('prompts of Langfuse come with versions, labels and tags', async () => {
  const page = {
    data: [
      { name: 'lang/fused', version: 1, type: 'text', prompt: 'Hi {{who}}', labels: ['old'], tags: ['t'], config: {} },
      { name: 'lang/fused', version: 2, type: 'text', prompt: 'Hello {{who}}', labels: ['production', 'latest'], tags: ['t'], config: {} },
      { name: 'chatty', version: 1, type: 'chat', prompt: [{ role: 'user', content: 'x' }], labels: [], tags: [], config: {} },
    ],
    meta: { page: 1, limit: 10, totalItems: 3, totalPages: 1 },
  };
  const { items, problems } = await take([{ path: 'page.json', text: JSON.stringify(page) }], { format: 'langfuse', folder: 'fuse' });
  assert.deepEqual(problems, []);
  assert.equal(items.length, 2);
  const prompts = await Promise.all(items.map(async ({ prompt_id: id }) => (await server.ask('GET', `/api/prompts/${id}`)).json));
  const fused = prompts.find(({ latest }) => latest.type === 'text');
  assert.deepEqual([fused.latest_version, fused.labels, fused.tags, fused.latest.content], [2, { old: 1, production: 2 }, ['t'], 'Hello {{who}}']);
  assert.match(fused.folder, /^fuse/);
  assert.equal(prompts.find(({ latest }) => latest.type === 'structured').latest_version, 1);
});

test('a file that holds no prompt is told, and the others are taken', async () => {
  const { items, problems } = await take([
    { path: 'good.md', text: 'a text' },
    { path: '../bad.md', text: 'a text' },
    { path: '/etc/bad.md', text: 'a text' },
    { path: 'broken.json', text: '{"messages":' },
    { path: 'nul.txt', text: 'a\0b' },
    { path: 'big.txt', text: 'x'.repeat((1 << 20) + 1) },
  ], { folder: 'mixed' });
  assert.deepEqual(items.map(({ path, outcome }) => [path, outcome]), [['good.md', 'created']]);
  assert.deepEqual(problems.map(({ path }) => path).sort(), ['../bad.md', '/etc/bad.md', 'big.txt', 'broken.json', 'nul.txt']);
  for (const { detail } of problems) assert.ok(detail.length > 10);
  assert.equal((await put([{ path: 'x.md', text: 'x' }], { format: 'none' })).status, 400);
  assert.equal((await put([])).status, 400);
  assert.equal((await put([{ path: 'x.md', text: 'x' }], { folder: 'a/../b' })).json.errors[0].pointer, '/folder');
});

test('what is there gets a version, is left, or is copied', async () => {
  const file = (text) => [{ path: 'there/p.md', text }];
  const first = (await take(file('one'))).items[0];
  assert.equal(first.outcome, 'created');
  assert.deepEqual((await take(file('one'))).items[0], { ...first, outcome: 'same' });
  assert.deepEqual((await take(file('two'))).items[0], { ...first, outcome: 'version', version: 2 });
  assert.deepEqual((await take(file('three'), { when_there: 'skip' })).items[0], { ...first, outcome: 'skipped', version: 2 });
  const copy = (await take(file('three'), { when_there: 'copy' })).items[0];
  assert.equal(copy.outcome, 'created');
  assert.notEqual(copy.prompt_id, first.prompt_id);
  const { json } = await server.ask('GET', `/api/prompts/${first.prompt_id}/versions/2`);
  assert.deepEqual([json.content, json.based_on], ['two', 1]);
  const twice = await take([...file('four'), ...file('five')], { folder: 'twice' });
  assert.deepEqual(twice.items.map(({ outcome, version }) => [outcome, version]), [['created', 1], ['version', 2]]);
});

test('a backup gives ids, versions, labels and bytes back, here and elsewhere', async () => {
  const odd = '  leading\r\nCRLF\ttab  \n\n---\nno newline at the end {{x}} "q" \u2028 é';
  const { id } = (await server.ask('POST', '/api/prompts', { body: { name: 'A/B: c?', folder: 'backup', tags: ['z', 'y'], is_pinned: true, content: odd, note: 'n1\nn2' } })).json;
  const chat = '{"protocol":"structured-chat",\n  "messages":[{"id":"m","role":"user","content":"\\u00fc"}],"config":{"seed":9007199254740993}}';
  await server.ask('POST', `/api/prompts/${id}/versions`, { body: `{"content":${chat}}` });
  await server.ask('POST', `/api/prompts/${id}/rollback`, { body: { version: 1 } });
  await server.ask('PUT', `/api/prompts/${id}/labels/production`, { body: { version: 2 } });
  for (let i = 0; i < 3; i++) await server.ask('POST', '/api/prompts', { body: { name: 'Same Name', folder: 'backup', content: `${i}` } });

  const { all } = await files(server);
  for (const path of all.keys()) assert.match(path, /^[^/\0]+(\/[^/\0]+)*$/);
  const elsewhere = await serve();
  const restore = () => take([...all].map(([path, text]) => ({ path, text })), {}, { to: elsewhere });
  const { items, problems } = await restore();
  assert.deepEqual(problems, []);
  assert.ok(items.every(({ outcome }) => outcome === 'created'));
  const read = async (from) => (await from.ask('GET', `/api/prompts/${id}`)).json;
  const versions = async (from) => (await from.ask('GET', `/api/prompts/${id}/versions`)).json.items;
  const [here, there] = [await read(server), await read(elsewhere)];
  for (const member of ['id', 'name', 'folder', 'tags', 'is_pinned', 'labels', 'latest_version', 'created_at', 'latest'])
    assert.deepEqual(there[member], here[member], member);
  assert.deepEqual(await versions(elsewhere), await versions(server));
  assert.deepEqual(new Map([...(await files(elsewhere)).all].sort()), new Map([...all].sort()));
  assert.ok((await restore()).items.every(({ outcome }) => outcome === 'same'));

  // The original changes; a newer backup then updates the copy.
  await server.ask('POST', `/api/prompts/${id}/versions`, { body: { content: 'five', note: 'newer' } });
  await server.ask('PUT', `/api/prompts/${id}/labels/production`, { body: { version: 4 } });
  const newer = (await files(server)).all;
  const caught = await take([...newer].filter(([path]) => path.startsWith('backup/')).map(([path, text]) => ({ path, text })), {}, { to: elsewhere });
  assert.deepEqual(caught.items.filter(({ outcome }) => outcome !== 'same').map(({ prompt_id: which, outcome, version }) => [which, outcome, version]), [[id, 'version', 4]]);
  assert.deepEqual(await versions(elsewhere), await versions(server));
  assert.deepEqual((await read(elsewhere)).labels, { production: 4 });

  // Another user of the same server may import them, too: then they get new ids.
  const key = (await server.ask('POST', '/api/users', { body: { name: 'second' } })).json.key.plaintext;
  const own = Object.assign(Object.create(server), { key });
  const mine = await take([...all].map(([path, text]) => ({ path, text })), {}, { to: own });
  assert.deepEqual([mine.problems, mine.items.length], [[], items.length]);
  assert.ok(mine.items.every(({ outcome, prompt_id: which }) => outcome === 'created' && !items.some(({ prompt_id: theirs }) => theirs === which)));
  await endsWell(elsewhere);
});

test('prompts that want one directory each have one, and keep it', async () => {
  const own = await serve();
  const make = async (name) => (await own.ask('POST', '/api/prompts', { body: { name, folder: 'F', content: name } })).json.id;
  const places = async () => Object.fromEntries([...(await files(own)).all]
    .filter(([path]) => path.endsWith('/prompt.yaml'))
    .map(([path, text]) => [/^id: (.*)$/m.exec(text)[1], path.slice(0, -'/prompt.yaml'.length)]));
  const [first, second] = [await make('Same'), await make('SAME')];
  assert.deepEqual(await places(), { [first]: 'F/Same', [second]: `F/SAME ${second}` });
  // A prompt whose own name is that directory gets it, even if it is made later.
  const third = await make(`same ${second}`);
  assert.deepEqual(await places(), { [first]: 'F/Same', [second]: `F/SAME ${second} 2`, [third]: `F/same ${second}` });
  await own.ask('PATCH', `/api/prompts/${first}`, { body: { name: 'Other' } });
  assert.deepEqual(await places(), { [first]: 'F/Other', [second]: 'F/SAME', [third]: `F/same ${second}` });
  const refused = await own.ask('GET', `/api/prompts/files?cursor=${Buffer.from('nonsense').toString('base64url')}`);
  assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, '/cursor']);
  await endsWell(own);
});

test('media that may not be fetched stay links, and that is told', async () => {
  const url = 'http://127.0.0.1:9/x.png';
  const document = { model: 'gpt-4o', messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url } }] }] };
  const { items, problems } = await take([{ path: 'media/look.json', text: JSON.stringify(document) }], { media: 'store' });
  assert.equal(items[0].outcome, 'created');
  assert.deepEqual(problems.map(({ path }) => path), ['media/look.json']);
  assert.match(problems[0].detail, /127\.0\.0\.1:9\/x\.png is kept as a URL/);
});

test('an import with one Idempotency-Key is done once', async () => {
  const body = [[{ path: 'once.md', text: 'x' }], { when_there: 'copy' }, { headers: { 'idempotency-key': 'import-once' } }];
  const [first, second] = [await put(...body), await put(...body)];
  assert.deepEqual(second.json, first.json);
});

test('10,000 prompts go out page by page and come back byte for byte', async () => {
  const N = 10_000;
  const from = await serve();
  for (let i = 0; i < N; i += 1000) {
    const batch = Array.from({ length: 1000 }, (_, k) => i + k).map((n) => ({ path: `f${n % 20}/prompt ${n % 7000}.md`, text: `Prompt ${n}: {{v${n % 10}}} 审计 ${'word '.repeat(n % 30)}` }));
    const { status, json } = await from.raw('POST', '/api/prompts/import', { body: { files: batch, when_there: 'copy' } });
    assert.deepEqual([status, json.problems, json.items.length], [200, [], 1000]);
  }
  const { all, pages } = await files(from);
  assert.equal(pages, N / 100);
  assert.equal(all.size, 2 * N);
  const to = await serve();
  const list = [...all].map(([path, text]) => ({ path, text }));
  for (let i = 0; i < list.length; i += 1000) {
    const { status, json } = await to.raw('POST', '/api/prompts/import', { body: { files: list.slice(i, i + 1000) } });
    assert.deepEqual([status, json.problems, json.items.length], [200, [], 500]);
  }
  const again = (await files(to)).all;
  assert.equal(again.size, all.size);
  for (const [path, text] of all) assert.equal(again.get(path), text, path);
  const found = (await to.ask('GET', `/api/prompts?q=${encodeURIComponent('审计')}&folder=f3&limit=100`)).json;
  assert.equal(found.total, N / 20);
  await endsWell(from);
  await endsWell(to);
});

test('the server ends in good order', () => endsWell(server));
