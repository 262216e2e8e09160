// The API for the pages of sessions, prompts and the viewer: outlines, lists with details, the content of a context,
// cards, settings, providers; places and tokens of a document.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { clientOf, script, serve, settled } from './live.mjs';

// The same on PostgreSQL, if the runner has one.
const postgres = process.env.PARLEY_TEST_POSTGRES;

let server, client, ada, other;
before(async () => {
  server = await serve({ args: postgres ? ['--store', postgres] : [] });
  const user = async (name) => { const made = (await server.ask('POST', '/api/users', { body: { name } })).json; return { id: made.id, key: made.key.plaintext }; };
  ada = await user('ada');
  other = await user('other');
  client = clientOf(server, ada.key);
});
const ask = (method, path, options = {}) => server.ask(method, path, { key: ada.key, ...options });

async function talk(...messages) {
  const { id } = await client.createSession({ model: 'demo/echo' });
  for (const message of messages) { await client.chat(id, { message }); await settled(client, id); }
  return id;
}

test('a session is found by what was said in it, by its owner only, and not by the words of its storage', async () => {
  const id = await talk('the quick zebra', '狐狸 "跳过" 栅栏');
  const found = async (q, key = ada.key) => (await ask('GET', `/api/sessions?q=${encodeURIComponent(q)}`, { key })).json.items.map((one) => one.id);
  for (const q of ['zebra', 'ZEBRA', 'quick z', '狐狸', '"跳过"', '栅']) assert.deepEqual(await found(q), [id], q);
  for (const q of ['blocks', 'tool_calls', 'usage', 'zebras', '%', 'q_ick']) assert.deepEqual(await found(q), [], q);
  assert.deepEqual(await found('zebra', other.key), []);
});

test('a list with details says what was said last, what it cost, and what waits', async () => {
  const id = await talk('first', 'last words\nand more');
  const one = (await ask('GET', '/api/sessions?details=true')).json.items.find((item) => item.id === id);
  assert.deepEqual([one.source, one.preview, one.turns, one.cost_usd, one.open_questions], ['chat', 'last words', 4, 0, 0]);
  assert.equal((await ask('GET', `/api/sessions/${id}`)).json.preview, undefined);
  const waiting = (await client.createSession({ model: 'demo/agent' })).id;
  await client.chat(waiting, { message: script('call AskUserQuestion {"questions":[{"question":"Really?","options":[{"label":"yes"}]}]}') });
  await settled(client, waiting);
  const details = (await ask('GET', '/api/sessions?details=true')).json.items;
  assert.equal(details.find((item) => item.id === waiting).open_questions, 1);
  const fork = (await ask('POST', `/api/sessions/${id}/fork`, { body: {} })).json;
  assert.equal((await ask('GET', '/api/sessions')).json.items.find((item) => item.id === fork.id).source, 'fork');
  assert.equal((await ask('GET', '/api/sessions?details=maybe')).status, 400);
});

test('an outline has the first line of every turn, in pages', async () => {
  const id = await talk('one\nmore', 'two', 'x'.repeat(500));
  const whole = (await ask('GET', `/api/sessions/${id}/outline`)).json;
  assert.deepEqual(whole.items.map(({ role, first_line }) => [role, first_line]), [['user', 'one'], ['assistant', 'one'], ['user', 'two'], ['assistant', 'two'], ['user', 'x'.repeat(200)], ['assistant', 'x'.repeat(200)]]);
  const seen = [];
  for (let cursor = ''; cursor !== null;) {
    const page = (await ask('GET', `/api/sessions/${id}/outline?limit=4${cursor && `&cursor=${cursor}`}`)).json;
    seen.push(...page.items.map(({ turn_id }) => turn_id));
    cursor = page.next_cursor;
  }
  assert.deepEqual(seen, whole.items.map(({ turn_id }) => turn_id));
  assert.equal((await ask('GET', `/api/sessions/${id}/outline`, { key: other.key })).status, 404);
  assert.equal((await ask('GET', `/api/sessions/${id}/outline?limit=1001`)).status, 400);
  assert.equal((await ask('GET', `/api/sessions/${id}/outline?cursor=YWJj`)).status, 400);
});

test('a context names its largest things, with their turns', async () => {
  const { id } = await client.createSession({ model: 'demo/agent', system_prompt: 'Be kind.' });
  await client.chat(id, { message: script(`call echo {"long":"${'word '.repeat(300)}"}`, 'call clock {}', '---', 'say Done now.') });
  await settled(client, id);
  const context = (await ask('GET', `/api/sessions/${id}/context`)).json;
  assert.deepEqual([context.context_window, context.compact_at, context.reserve], [200000, 160000, 0]);
  const turns = (await ask('GET', `/api/sessions/${id}/messages`)).json;
  assert.deepEqual(context.next_trimmed, turns.map(({ turn_id }) => turn_id));
  const items = Object.fromEntries(context.segments.map((segment) => [segment.kind, segment.items]));
  assert.equal(items.tool_call_result[0].label, items.tool_call_request[0].label);
  assert.ok(items.tool_call_result[0].tokens > 250 && items.tool_call_result[0].tokens > items.tool_call_result[1].tokens);
  assert.ok(items.tool_call_result[0].turn_id && items.tool_call_result[0].tool_call_id);
  assert.ok(items.text.some(({ label }) => label === 'Done now.'));
  assert.ok(items.tool_overview.length > 0 && items.tool_overview.length <= 10);
  assert.ok(items.system_prompt.some(({ label }) => label === 'Be kind.'));
});

test('a card has an address of its own, under a policy of its own, and goes with its session', async () => {
  const { id } = await client.createSession({ model: 'demo/agent' });
  const html = '<p>hi</p><script>parent.postMessage(1, "*")</script>';
  await client.chat(id, { message: script(`call echo ${JSON.stringify({ _meta: { ui: { resourceHTML: html, target: 'inline' } } })}`) });
  await settled(client, id);
  const turns = (await ask('GET', `/api/sessions/${id}/messages`)).json;
  const text = JSON.stringify(turns), [path] = text.match(/\/cards\/[0-9a-f]{64}/);
  const card = await server.raw('GET', path, { key: null });
  assert.deepEqual([card.status, card.text, card.headers['content-type']], [200, html, 'text/html; charset=utf-8']);
  const policy = card.headers['content-security-policy'].split('; ');
  for (const rule of ['sandbox allow-scripts', "default-src 'none'", "frame-ancestors 'self'", "form-action 'none'"]) assert.ok(policy.includes(rule), rule);
  assert.ok(!policy.some((rule) => /allow-same-origin|connect-src|'self'/.test(rule) && !rule.startsWith('frame-ancestors')));
  assert.match(card.headers['cache-control'], /immutable/);
  for (const wrong of ['/cards/x', `/cards/${'0'.repeat(64)}`, `/cards/${'A'.repeat(64)}`]) assert.equal((await server.raw('GET', wrong, { key: null })).status, 404);
  // The same text in another session has another id: no one can test whether someone else has a card.
  const second = (await client.createSession({ model: 'demo/agent' })).id;
  await client.chat(second, { message: script(`call echo ${JSON.stringify({ _meta: { ui: { resourceHTML: html, target: 'inline' } } })}`) });
  await settled(client, second);
  assert.notEqual(JSON.stringify((await ask('GET', `/api/sessions/${second}/messages`)).json).match(/\/cards\/[0-9a-f]{64}/)[0], path);
  await ask('DELETE', `/api/sessions/${id}`);
  assert.equal((await server.raw('GET', path, { key: null })).status, 404);
});

test('settings of a user have a shape and a revision', async () => {
  assert.deepEqual((await ask('GET', '/api/settings')).json, { revision: 0, settings: {} });
  const put = (settings, headers = {}) => ask('PUT', '/api/settings', { body: { settings }, headers });
  const all = { theme: 'dark', density: 'compact', language: 'zh-CN', send_key: 'ctrl-enter', single_keys: false, side_folded: null, panel_open: true, panel_width: 348, model: 'demo/echo', last_place: '/p/1' };
  assert.deepEqual((await put(all)).json, { revision: 1, settings: all });
  assert.equal((await put({}, { 'if-match': '"0"' })).status, 412);
  assert.equal((await put({ theme: 'light' }, { 'if-match': '"1"' })).json.revision, 2);
  assert.deepEqual((await ask('GET', '/api/settings', { key: other.key })).json.settings, {});
  assert.equal((await put({ last_place: `/${'x'.repeat(1999)}` })).status, 200);
  assert.equal((await put({ model: 'x'.repeat(200) })).status, 200);
  for (const [wrong, pointer] of [[{ last_place: `/${'x'.repeat(2000)}` }, '/last_place'], [{ last_place: 'https://a.example/' }, '/last_place'], [{ model: 'x'.repeat(201) }, '/model'], [{ theme: 'pink' }, '/theme'], [{ density: 1 }, '/density'], [{ language: 'fr' }, '/language'], [{ send_key: 'a' }, '/send_key'], [{ single_keys: 'yes' }, '/single_keys'], [{ panel_width: 99 }, '/panel_width'], [{ panel_width: 4001 }, '/panel_width'], [{ them: 'dark' }, '/them']]) {
    const { status, json } = await put(wrong);
    assert.deepEqual([status, json.errors[0].pointer], [400, `/settings${pointer}`], JSON.stringify(wrong));
  }
  assert.deepEqual((await ask('GET', '/api/settings')).json.settings, { model: 'x'.repeat(200) });
  for (const body of [{}, { settings: [] }, { settings: {}, more: 1 }]) assert.equal((await ask('PUT', '/api/settings', { body })).status, 400);
});

test('models and providers say where they are and what they need, and no key', async () => {
  const models = (await ask('GET', '/api/models')).json.items;
  const echo = models.find(({ name }) => name === 'demo/echo');
  assert.ok(echo.tools && echo.thinking === null && echo.inputs.includes('image'));
  assert.deepEqual([echo.provider, echo.is_demo, echo.state, echo.dialect], ['demo', true, 'ready', null]);
  const secret = 'sk-ant-a-secret-of-the-test';
  const own = await serve({ env: { ANTHROPIC_API_KEY: secret, PARLEY_PROBE: 'false' } });
  const { json, text } = await own.ask('GET', '/api/providers');
  assert.ok(!text.includes(secret));
  const anthropic = json.items.find(({ name }) => name === 'anthropic');
  assert.deepEqual([anthropic.state, anthropic.env, anthropic.dialect], ['ready', 'ANTHROPIC_API_KEY', 'anthropic']);
  assert.ok(json.items.some(({ name }) => name === 'demo'));
  // A lint for a named model uses the model's rules.
  const named = (await own.ask('GET', '/api/models')).json.items.find(({ profile, provider }) => provider === 'anthropic' && profile);
  if (named) {
    const document = { model: 'x', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
    const lint = async (target) => (await own.ask('POST', '/api/lint', { body: { document, as: 'anthropic', for: target } })).json;
    assert.deepEqual(await lint(named.name), await lint(named.profile));
  }
  const claude = (await own.ask('GET', '/api/models')).json.items.find(({ dialect }) => dialect === 'anthropic');
  assert.deepEqual([claude.inputs, claude.tools], [['text', 'image', 'document'], true]);
  assert.ok(['always', 'effort', 'budget', 'none'].includes(claude.thinking), claude.thinking);
  // A model's rules apply even if no provider is configured for it.
  const refused = (await ask('POST', '/api/lint', { body: { document: { model: 'm', max_tokens: 5, temperature: 1, messages: [{ role: 'user', content: 'hi' }] }, as: 'anthropic', for: 'claude-opus-4-8' } })).json;
  assert.deepEqual(refused.findings.map(({ code, pointer }) => [code, pointer]), [['setting.refused', '/temperature']]);
  assert.equal((await own.ask('POST', '/api/lint', { body: { document: {}, for: 'no/such-model' } })).status, 400);
  await own.stop();
});

test('versions without their texts say how many words have changed', async () => {
  const { id } = await (await ask('POST', '/api/prompts', { body: { name: 'p', content: 'one two three' } })).json;
  await ask('POST', `/api/prompts/${id}/versions`, { body: { content: 'one two four five', note: 'n' } });
  const { items, total } = (await ask('GET', `/api/prompts/${id}/versions?view=summary`)).json;
  assert.equal(total, 2);
  assert.deepEqual(items.map(({ version, words_added, words_removed, note }) => [version, words_added, words_removed, note]), [[2, 2, 1, 'n'], [1, 0, 0, '']]);
  assert.ok(items.every((item) => !('content' in item)));
  assert.equal((await ask('GET', `/api/prompts/${id}/draft?or=latest`)).json.revision, 0);
  assert.equal((await ask('GET', `/api/prompts/${id}/draft?or=newest`)).status, 400);
  const session = await talk('share me');
  const { share } = (await ask('PATCH', `/api/sessions/${session}/sharing`, { body: { shared: true } })).json;
  assert.equal(share.page_path, share.path.replace('/api', ''));
});

test('a conversion says where its values are, and a count what each message has', async () => {
  const document = { model: 'gpt-x', messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: 'Tell me more' }, { role: 'user', content: 'Tell me more', name: 'eve' }] };
  const made = (await ask('POST', '/api/convert', { body: { document, from: 'openai-chat', to: 'envelope', map: true } })).json;
  const at = (root, pointer) => pointer.split('/').slice(1).reduce((value, key) => value?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], root);
  assert.ok(made.map.length > 3);
  const broken = await ask('POST', '/api/convert', { body: { document: '{"messages": [\n  {"role": }]}', to: 'anthropic' } });
  assert.deepEqual([broken.status, broken.json.errors[0].pointer, broken.json.errors[0].line, broken.json.errors[0].column], [400, '/document/messages/0/role', 2, 12]);
  const body = await server.raw('POST', '/api/convert', { key: ada.key, body: '{"document": 1,\n "to" "x"}', headers: { 'content-type': 'application/json' } });
  assert.deepEqual([body.status, body.json.errors[0].line, body.json.errors[0].column], [400, 2, 7]);
  for (const { from, to } of made.map) if (typeof at(document, from) === 'string') assert.equal(at(made.document, to), at(document, from), `${from} ${to}`);
  const places = new Map(made.map.map(({ from, to }) => [from, to]));
  assert.notEqual(places.get('/messages/1/content'), places.get('/messages/2/content'));
  assert.ok(places.has('/messages/2'));
  assert.equal((await ask('POST', '/api/convert', { body: { document, to: 'envelope' } })).json.map, undefined);
  const counted = (await ask('POST', '/api/tokens', { body: { document, as: 'openai-chat', messages: true } })).json;
  assert.deepEqual(counted.by_message.map(({ index, role }) => [index, role]), [[0, 'system'], [1, 'user'], [2, 'user']]);
  assert.ok(counted.by_message.every(({ tokens, parts }) => tokens >= parts[0] && parts.length === 1));
  assert.equal((await ask('POST', '/api/tokens', { body: { document, as: 'openai-chat' } })).json.by_message, undefined);
});


test('administrators are told where the data is and how much; nobody else is', async () => {
  const { status, json } = await server.ask('GET', '/api/admin/data');
  assert.equal(status, 200);
  assert.deepEqual([json.store, json.directory, json.bytes > 0], [postgres ? 'postgres' : 'sqlite', server.data, true]);
  assert.equal((await ask('GET', '/api/admin/data')).status, 403);
});
