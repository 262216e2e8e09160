// Fields of sessions and memories with an effect: pin, sharing, titles, retention, replay, where a memory is recalled.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { clientOf, endsWell, script, serve, settled, textOf, until } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

let upstream;
let server;
let client;
after(() => upstream.close());
before(async () => {
  upstream = await openUpstream({ key: 'sk-secret-0123456789abcdef' });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});

const turnsOf = async (id, from = client) => (await from.messages(id, { limit: '100' })).turns;
const post = async (path, body) => (await client.request('POST', path, body)).json();
const patch = async (path, body) => (await client.request('PATCH', path, body)).json();
const read = (path) => server.raw('GET', path, { key: null });
async function chat(id, message) {
  await client.chat(id, { message });
  return settled(client, id);
}

test('is_pinned counts at creation and by PATCH', async () => {
  const pinned = await client.createSession({ is_pinned: true, intent: 'pinned at once' });
  const later = await client.createSession({ intent: 'pinned later' });
  assert.deepEqual([pinned.is_pinned, later.is_pinned], [true, false]);
  assert.equal((await client.changeSession(later.id, { is_pinned: true })).is_pinned, true);
  const { items } = await client.sessions({ pinned: 'true', limit: '100' });
  assert.deepEqual(items.map(({ id }) => id).sort(), [pinned.id, later.id].sort());
});

test('shared: true makes a link that is answered, at creation and by PATCH; false ends all of them', async () => {
  const made = await client.createSession({ shared: true });
  assert.equal(made.shared, true);
  await chat(made.id, 'hello there');
  const byPatch = await patch(`/api/sessions/${made.id}`, { shared: true });
  const bySharing = await patch(`/api/sessions/${made.id}/sharing`, { shared: true });
  const links = [made.share, byPatch.share, bySharing.share];
  for (const { path, token, session_id: id } of links) {
    assert.equal(id, made.id);
    assert.equal(path, `/api/share/${token}`);
    const { status, json } = await read(path);
    assert.equal(status, 200);
    assert.equal(textOf(json.turns.find(({ role }) => role === 'assistant')), 'hello there');
  }
  assert.equal(new Set(links.map(({ token }) => token)).size, 3);
  assert.ok(!('share' in await client.session(made.id)), 'the secret is told once');
  const ended = await patch(`/api/sessions/${made.id}`, { shared: false });
  assert.deepEqual([ended.shared, 'share' in ended], [false, false]);
  for (const { path } of links) assert.equal((await read(path)).status, 404);
  await patch(`/api/sessions/${made.id}`, { intent: 'not shared by this' });
  assert.equal((await client.session(made.id)).shared, false);
});

test('a creation that is repeated with its Idempotency-Key has the link, but not its secret', async () => {
  const headers = { 'idempotency-key': 'share-once' };
  const first = await (await client.request('POST', '/api/sessions', { shared: true }, headers)).json();
  const again = await (await client.request('POST', '/api/sessions', { shared: true }, headers)).json();
  assert.deepEqual([again.id, again.share.id, again.share.token, again.share.path], [first.id, first.share.id, null, null]);
  assert.equal((await read(first.share.path)).status, 200);
});

test('a session without an intent is named by its first message, an import by its first user message', async () => {
  const { id } = await client.createSession();
  assert.equal((await client.session(id)).intent, '');
  await chat(id, '  Plan a   trip to Kyoto\nin spring, by train');
  assert.equal((await client.session(id)).intent, 'Plan a trip to Kyoto');
  await chat(id, 'And the hotel?');
  assert.equal((await client.session(id)).intent, 'Plan a trip to Kyoto');
  const named = await client.createSession({ intent: 'mine' });
  await chat(named.id, 'something else');
  assert.equal((await client.session(named.id)).intent, 'mine');
  const document = { model: 'gpt-4o', messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: '比较两份草稿' }, { role: 'assistant', content: 'Gern.' }] };
  assert.equal((await post('/api/sessions/import', { document, from: 'openai-chat' })).intent, '比较两份草稿');
  assert.equal((await post('/api/sessions/import', { document, from: 'openai-chat', intent: 'given' })).intent, 'given');
});

// --- retention -------------------------------------------------------------------------------------------------------

test('retention_days deletes what nobody changed for so long, except what is persistent', { skip: noClock }, async (t) => {
  const clock = new Clock('2026-03-01T12:00:00Z');
  let data;
  let key;
  const start = async (days) => {
    const started = await serve({ data, env: { ...clock.env, ...(days ? { PARLEY_RETENTION_DAYS: String(days) } : {}) } });
    started.key ??= key;
    ({ data, key } = started);
    return started;
  };
  let one = await start(30);
  t.after(() => one.stop());
  let me = clientOf(one);
  const old = await Promise.all(Array.from({ length: 130 }, (_, i) => me.createSession({ intent: `old ${i}` })));
  const kept = await me.createSession({ intent: 'kept', is_persistent: true });
  const waiting = await me.createSession({ intent: 'waits', model: 'demo/agent' });
  await me.chat(waiting.id, { message: script('call AskUserQuestion {"questions":[{"question":"Which?","options":[{"label":"A"}]}]}') });
  await until(async () => (await me.questions(waiting.id)).length, 'a question');
  const fresh = await me.createSession({ intent: 'used again' });
  await endsWell(one);
  // Half of the time has passed: one of them is used.
  clock.put(20 * 86_400_000);
  one = await start(30);
  me = clientOf(one);
  await me.chat(fresh.id, { message: 'still here' });
  await settled(me, fresh.id);
  assert.equal((await me.sessions()).total, old.length + 3);
  await endsWell(one);
  clock.put(11 * 86_400_000);
  // Off by default.
  one = await start(0);
  me = clientOf(one);
  assert.equal((await me.sessions()).total, old.length + 3);
  await endsWell(one);
  one = await start(30);
  me = clientOf(one);
  await until(async () => (await me.sessions()).total === 3, 'the old ones are gone');
  const left = (await me.sessions()).items.map(({ id }) => id).sort();
  assert.deepEqual(left, [kept.id, waiting.id, fresh.id].sort());
  await assert.rejects(me.session(old[0].id), ({ problem }) => problem.status === 404);
});

// --- replay ----------------------------------------------------------------------------------------------------------

const recording = async () => {
  const { id } = await client.createSession({ model: 'demo/agent' });
  await chat(id, script('say I look. ', `call calc {"expression":"6*7"}`,
    `call echo ${JSON.stringify({ ok: 1, _meta: { ui: { resourceHTML: '<p>', target: 'inline' }, bridge: { action: 'go' } } })}`,
    'call nosuch {}', '---', 'say It is 42.'));
  await chat(id, script('say one two three four', 'wait 300', 'say five'));
  return id;
};
const strip = ({ id, status, tool_name: name, display_name: display, arguments: args, result }) => {
  const { _meta: meta, ...rest } = typeof result === 'object' && result ? result : {};
  const seen = meta ? { ...rest, _meta: { ui: meta.ui } } : result;
  return { status, name, display, args, result: seen, hasId: id.startsWith('tc_') };
};

test('a replay has the turns and the calls of its source, and runs nothing', async () => {
  const source = await recording();
  const { id } = await post(`/api/sessions/${source}/replay`, { speed: 0 });
  await until(async () => (await client.session(id)).replay_state.status === 'finished', 'the end of the replay');
  const [before, after] = [await turnsOf(source), await turnsOf(id)];
  const shape = (turns) => turns.map(({ role, status }) => `${role} ${status}`);
  assert.deepEqual(shape(after), shape(before), 'turns are not merged');
  after.forEach((turn, i) => {
    assert.deepEqual(turn.tool_calls.map(strip), before[i].tool_calls.map(strip));
    const types = ({ blocks }) => blocks.map(({ type }) => type).filter((type) => type !== 'tool_bridge');
    assert.deepEqual(types(turn), types(before[i]));
    assert.equal(textOf(turn), textOf(before[i]));
  });
  assert.ok(!after.some(({ blocks }) => blocks.some(({ type }) => type === 'tool_bridge')), 'a page acts once');
  assert.equal((await client.questions(id)).length, 0);
  const { replay_state: state } = await client.session(id);
  assert.deepEqual([state.position, state.total, state.speed, state.status], [2, 2, 0, 'finished']);
});

test('a question and an agent of a recording are played, not asked and not run', async () => {
  const { id: source } = await client.createSession({ model: 'demo/agent' });
  const question = `call AskUserQuestion ${JSON.stringify({ questions: [{ question: 'Which?', options: [{ label: 'A' }] }] })}`;
  await client.chat(source, { message: script(question, `call Agent ${JSON.stringify({ prompt: script('say from below') })}`, '---', 'say thanks') });
  const { tool_call_id } = await until(async () => (await client.questions(source))[0], 'a question');
  await client.answer(source, tool_call_id, { Which: 'A' });
  await settled(client, source);
  const { id } = await post(`/api/sessions/${source}/replay`, { speed: 0 });
  await until(async () => (await client.session(id)).replay_state.status === 'finished', 'the end of the replay');
  const root = (await turnsOf(source)).filter((turn) => turn.loop_id === 'root');
  const played = await turnsOf(id);
  assert.deepEqual(played.map(({ tool_calls: calls }) => calls.map(strip)), root.map(({ tool_calls: calls }) => calls.map(strip)));
  assert.ok(played.every((turn) => turn.loop_id === 'root'));
});

test('a replay is paused, resumed and sped up while it is under way, and tells its position', async () => {
  const source = await recording();
  const { id, replay_state: first } = await post(`/api/sessions/${source}/replay`, { speed: 0.01 });
  assert.deepEqual([first.position, first.status], [1, 'running']);
  const change = (body) => patch(`/api/sessions/${id}/replay`, body);
  const paused = (await change({ status: 'paused', speed: 0 })).replay_state;
  assert.deepEqual([paused.status, paused.speed], ['paused', 0]);
  const before = await turnsOf(id);
  const { position } = await client.messages(id, {});
  // A paused replay sends nothing, at any speed: another session can be played meanwhile.
  const other = await post(`/api/sessions/${source}/replay`, { speed: 0 });
  await until(async () => (await client.session(other.id)).replay_state.status === 'finished', 'the other replay');
  assert.deepEqual(await turnsOf(id), before);
  assert.deepEqual((await client.messages(id, {})).position, position);
  await change({ status: 'running' });
  await until(async () => (await client.session(id)).replay_state.status === 'finished', 'the end of the replay');
  assert.equal((await client.session(id)).replay_state.position, 2);
  assert.deepEqual((await turnsOf(id)).map(textOf), (await turnsOf(source)).map(textOf));
  for (const body of [{ status: 'stopped' }, { speed: -1 }, { pause: true }])
    await assert.rejects(change(body), ({ problem }) => problem.status === 400);
  await assert.rejects(change({ status: 'paused' }), ({ problem }) => problem.code === 'invalid_request' && /No replay/.test(problem.detail));
});

// --- memories --------------------------------------------------------------------------------------------------------

test('scope, owner and skill_name decide in which sessions a memory is recalled', async () => {
  const make = (content, more) => client.memories.create({ content, ...more });
  const [mine, its, other] = await Promise.all(['', '', ''].map(() => client.createSession()));
  await make('harbour: everywhere', {});
  await make('harbour: of the user', { scope: 'user' });
  await make('harbour: of its session', { scope: 'session', source_session: its.id });
  await make('harbour: of another owner', { owner: 'somebody' });
  await make('harbour: of a project', { scope: 'project' });
  await make('harbour: of sailing', { skill_name: 'sailing' });
  const recalled = async (id, message) => {
    await chat(id, message);
    return ((await turnsOf(id)).at(-1).memory_refs ?? []).map(({ content_preview: text }) => text.replace('harbour: ', '')).sort();
  };
  assert.deepEqual(await recalled(mine.id, 'Where is the harbour?'), ['everywhere', 'of the user']);
  assert.deepEqual(await recalled(its.id, 'Where is the harbour?'), ['everywhere', 'of its session', 'of the user']);
  assert.deepEqual(await recalled(other.id, 'Use /sailing: where is the harbour?'), ['everywhere', 'of sailing', 'of the user']);
});

test('a memory comes from a session of the user, or from none; a scope needs what it speaks of', async () => {
  const create = (body) => server.raw('POST', '/api/memories', { body: { content: 'x', ...body } });
  const wrong = [[{ source_session: 'sess_none' }, '/source_session'], [{ scope: 'session' }, '/source_session'],
    [{ scope: 'solution' }, '/owner'], [{ scope: 'role' }, '/owner'], [{ source_session: 7 }, '/source_session']];
  for (const [body, pointer] of wrong) {
    const { status, json } = await create(body);
    assert.deepEqual([status, json.code, json.errors[0].pointer], [400, 'invalid_request', pointer], JSON.stringify(body));
  }
  const { id } = await client.createSession();
  assert.equal((await create({ source_session: id, scope: 'session' })).status, 201);
  assert.equal((await create({ source_session: null })).status, 201);
});

// --- solutions and roles ---------------------------------------------------------------------------------------------

const chatPrompt = (system, config = {}, messages = [{ id: 'm', role: 'user', content: 'Now: {{task}}' }]) =>
  ({ protocol: 'structured-chat', system_prompt: system, messages, config });
const prompt = async (name, content, type = 'structured') => post('/api/prompts', { name, type, content });
const example = [{ id: 'a', role: 'user', content: 'Two and two?' }, { id: 'b', role: 'assistant', content: 'Four.' }, { id: 'c', role: 'user', content: 'And {{n}}?' }];

test('solution_id names a prompt the session starts from, biz_role_id one whose text is its role', async () => {
  upstream.reset();
  const tool = { type: 'function', function: { name: 'lookup', description: 'Looks up', parameters: { type: 'object', properties: {} } } };
  const config = { model: 'openai-chat/gpt-4o', temperature: 0.25, max_tokens: 77, tools: [tool] };
  const solution = await prompt('sums', chatPrompt('Answer with one word.', config, example));
  await prompt('pirate', 'Speak like a pirate.', 'text');
  const made = await client.createSession({ solution_id: 'sums', biz_role_id: 'pirate' });
  assert.deepEqual([made.solution_id, made.biz_role_id, made.model], ['sums', 'pirate', 'openai-chat/gpt-4o']);
  assert.deepEqual((await turnsOf(made.id)).map((turn) => [turn.role, textOf(turn)]), [['user', 'Two and two?'], ['assistant', 'Four.']]);
  upstream.next({ say: 'Six.' });
  await chat(made.id, 'Three and three?');
  const { body } = upstream.requests[0];
  assert.deepEqual([body.temperature, body.max_tokens ?? body.max_completion_tokens], [0.25, 77]);
  assert.deepEqual(body.tools.map((one) => one.function.name), ['lookup']);
  const text = JSON.stringify(body.messages);
  assert.match(text, /Answer with one word\..*Speak like a pirate\./);
  assert.deepEqual(body.messages.filter(({ role }) => role !== 'system').length, 3);
  // By its id; the request's own values have precedence.
  const own = await client.createSession({ solution_id: solution.id, model: 'demo/echo', settings: { temperature: 1 }, system_prompt: 'Mine.' });
  assert.deepEqual([own.model, own.settings.temperature, own.settings.max_tokens, own.system_prompt], ['demo/echo', 1, 77, 'Mine.']);
});

test('a solution may be a version by its label, and changes by PATCH', async () => {
  const { id } = await prompt('greeter', chatPrompt('Say hello.'));
  await client.request('PUT', `/api/prompts/${id}/labels/live`, { version: 1 });
  await post(`/api/prompts/${id}/versions`, { type: 'structured', content: chatPrompt('Say goodbye.') });
  const [newest, live] = await Promise.all(['greeter', 'greeter@live'].map((name) => client.createSession({ solution_id: name })));
  assert.deepEqual([newest.system_prompt, live.system_prompt], ['Say goodbye.', 'Say hello.']);
  await prompt('kind', chatPrompt('Be kind.'));
  const changed = await client.changeSession(live.id, { biz_role_id: 'kind' });
  assert.deepEqual([changed.biz_role_id, changed.system_prompt], ['kind', 'Say hello.\n\nBe kind.']);
  const other = await client.changeSession(live.id, { solution_id: 'greeter' });
  assert.equal(other.system_prompt, 'Say goodbye.\n\nBe kind.');
  const none = await client.changeSession(live.id, { solution_id: null, biz_role_id: null });
  assert.deepEqual([none.solution_id, none.biz_role_id, none.system_prompt ?? null], [null, null, null]);
});

test('an unknown solution or role is refused, and so is one with open variables; both filter lists', async () => {
  await prompt('open', chatPrompt('Hello {{who}}.'));
  const { id } = await client.createSession();
  for (const [member, value] of [['solution_id', 'nosuch'], ['biz_role_id', 'nosuch'], ['solution_id', 'greeter@nowhere'], ['solution_id', 'open'], ['solution_id', 7]]) {
    for (const [method, path] of [['POST', '/api/sessions'], ['PATCH', `/api/sessions/${id}`]]) {
      const { status, json } = await server.raw(method, path, { body: { [member]: value } });
      assert.deepEqual([status, json.code, json.errors[0].pointer], [400, 'invalid_request', `/${member}`], `${method} ${value}`);
    }
  }
  const listed = async (query) => (await client.sessions({ limit: '100', ...query })).items;
  assert.deepEqual((await listed({ solution_id: 'sums' })).map((one) => one.solution_id), ['sums']);
  assert.deepEqual((await listed({ biz_role_id: 'pirate' })).map((one) => one.biz_role_id), ['pirate']);
  assert.equal((await listed({ solution_id: 'nosuch' })).length, 0);
});

test('a memory of a solution or a role is recalled in its sessions', async () => {
  for (const [scope, owner] of [['solution', 'greeter'], ['role', 'kind']])
    await client.memories.create({ content: `lighthouse of the ${scope}`, scope, owner });
  const recalled = async (fields) => {
    const { id } = await client.createSession({ model: 'demo/echo', ...fields });
    await chat(id, 'Where is the lighthouse?');
    return ((await turnsOf(id)).at(-1).memory_refs ?? []).map((ref) => ref.content_preview).sort();
  };
  assert.deepEqual(await recalled({}), []);
  assert.deepEqual(await recalled({ solution_id: 'greeter@live' }), ['lighthouse of the solution']);
  assert.deepEqual(await recalled({ biz_role_id: 'kind' }), ['lighthouse of the role']);
});

test('the server ends in good order', () => endsWell(server));
