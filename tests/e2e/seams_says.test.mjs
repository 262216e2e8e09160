// Texts and their authors: a user's message, the cards of tools, the plan of a model, and the names of tools for people.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Socket, clientOf, closing, endsWell, script, serve, settled, textOf, until } from './live.mjs';
import { run } from './harness.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};
let upstream;
let server;
let client;
before(async () => {
  upstream = await openUpstream({ key: 'sk-secret-0123456789abcdef' });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;
async function chat(id, message, headers = {}) {
  await client.request('POST', `/api/sessions/${id}/chat`, typeof message === 'string' ? { message } : message, headers);
  await settled(client, id);
  return turnsOf(id);
}

// --- a user's message ------------------------------------------------------------------------------------------------

const others = {
  thinking: 'hm', tool_use: { id: 'tc_1', name: 'calc', input: {} }, tool_result: 42, tool_ui: { resourceHTML: '<script>', target: 'inline' },
  tool_bridge: { action: 'go' }, system_notification: 'n', mode_change: { from: 'executing', to: 'planning' }, planning_enter: null,
  planning_exit: null, plan_status: { title: 'x', steps: [] },
};

test('blocks of the assistant and of the system are refused in a user\'s message, over REST and the socket', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  for (const [type, content] of Object.entries(others)) {
    const message = [{ type: 'text', content: 'hi' }, { type, content }];
    const { status, json } = await server.raw('POST', `/api/sessions/${id}/chat`, { body: { message } });
    assert.deepEqual([status, json.code, json.errors[0].pointer], [400, 'invalid_request', '/message/1'], type);
    assert.match(json.detail, new RegExp(`${type}.*only the assistant or the system`), type);
    const { error } = await socket.ask('chat:send', { session_id: id, message });
    assert.deepEqual([error.code, error.detail], [json.code, json.detail], type);
  }
  assert.equal((await turnsOf(id)).length, 0);
});

test('turns with such blocks can still be imported, and replayed', async () => {
  const blocks = Object.entries(others).map(([type, content]) => ({ type, content, tool_call_id: null, tool_name: null, display_name: null }));
  const document = [{ role: 'user', status: 'completed', kind: 'message', loop_id: 'root', blocks: [{ type: 'text', content: 'hello' }, ...blocks], tool_calls: [] },
    { role: 'assistant', status: 'completed', kind: 'message', loop_id: 'root', blocks: [{ type: 'text', content: 'hi' }], tool_calls: [] }];
  const imported = await (await client.request('POST', '/api/sessions/import', { document, from: 'turns' })).json();
  const types = (turn) => turn.blocks.map(({ type }) => type);
  const [user] = await turnsOf(imported.id);
  assert.deepEqual(types(user).filter((type) => type in others).sort(), Object.keys(others).sort());
  const replay = await (await client.request('POST', `/api/sessions/${imported.id}/replay`, { speed: 0 })).json();
  await settled(client, replay.id);
  const [again] = await turnsOf(replay.id);
  assert.ok(types(again).includes('tool_use') && !types(again).includes('tool_bridge'));
});

// --- cards -----------------------------------------------------------------------------------------------------------

const card = { resourceHTML: '<p>hi</p>', target: 'inline', height: 320, title: 'A card' };
const good = [card, { ...card, resourceUri: null }, { resourceUri: 'https://example.org', target: 'preview' },
  { ...card, height: 40 }, { ...card, height: 2000 }, { ...card, height: null, title: null }];
const bad = [{ ...card, resourceUri: 'https://example.org' }, { target: 'inline' }, { resourceHTML: null, resourceUri: null, target: 'inline' },
  { ...card, target: 'sideways' }, { resourceHTML: 'x' }, { ...card, height: -5 }, { ...card, height: 39 }, { ...card, height: 2001 },
  { ...card, height: 40.5 }, { ...card, height: '320' }, { ...card, title: 7 }, { ...card, resourceHTML: '' }, { ...card, resourceHTML: 7 }, 'x'];

test('a card that keeps to the seed is shown; one that does not is an error the model sees, and no card', async () => {
  for (const [cards, isGood] of [[good, true], [bad, false]]) {
    const { id } = await client.createSession({ model: 'demo/agent' });
    const calls = cards.map((ui) => `call echo ${JSON.stringify({ ok: true, _meta: { ui } })}`);
    const [, turn] = await chat(id, script(...calls, '---', 'say done'));
    turn.tool_calls.forEach((call, i) => {
      const doing = JSON.stringify(cards[i]);
      assert.equal(call.status, isGood ? 'done' : 'error', doing);
      if (!isGood) assert.match(JSON.stringify(call.result), /_meta\/ui/, doing);
    });
    assert.equal(turn.blocks.filter(({ type }) => type === 'tool_ui').length, isGood ? cards.length : 0);
  }
});

test('validate --as tool-result agrees with the server about every card', () => {
  for (const [cards, code] of [[good, 0], [bad, 1]])
    for (const ui of cards)
      assert.equal(run(['validate', '--as', 'tool-result', '-'], { input: JSON.stringify({ _meta: { ui } }) }).code, code, JSON.stringify(ui));
});

// --- plans -----------------------------------------------------------------------------------------------------------

const toolsOf = ({ body: { tools = [] } }) => tools.flatMap((tool) => tool.functionDeclarations ?? tool.function ?? tool);
const plan = { title: 'Move house', steps: [{ id: '1', title: 'Pack', status: 'in_progress' }, { title: 'Drive', status: 'pending' }] };

for (const dialect of dialectNames) {
  test(`${dialect}: a model enters planning, reports a plan, and leaves planning when the person agrees`, async () => {
    const { id } = await client.createSession({ model: models[dialect] });
    upstream.next(
      { calls: [{ name: 'planning_enter', args: { reason: 'large' } }, { name: 'plan_status', args: plan }] },
      { calls: [{ name: 'memory_save', args: { content: 'The person moves house.' } }] },
      { calls: [{ name: 'planning_exit', args: { plan: '1. Pack. 2. Drive.' } }] },
      { calls: [{ name: 'plan_status', args: { ...plan, steps: plan.steps.map((step) => ({ ...step, status: 'completed' })) } }] },
      { say: 'All done.' },
    );
    await client.chat(id, { message: 'Help me move.' });
    const asked = await until(async () => (await client.questions(id))[0], 'a question');
    assert.equal(asked.kind, 'confirm');
    assert.match(asked.questions[0].question, /plan be carried out/);
    const offered = toolsOf(upstream.requests[0]).map(({ name }) => name);
    for (const name of ['planning_enter', 'planning_exit', 'plan_status']) assert.ok(offered.includes(name), name);
    assert.ok(!JSON.stringify(upstream.requests[0].body).includes('You are in planning mode'));
    assert.ok(JSON.stringify(upstream.requests[1].body).includes('You are in planning mode'), 'the mode reaches the model');
    await client.answer(id, asked.tool_call_id, { approve: true });
    await settled(client, id);
    assert.ok(!JSON.stringify(upstream.requests.at(-1).body).includes('You are in planning mode'));
    const turns = await turnsOf(id);
    assert.equal(textOf(turns.at(-1)), 'All done.');
    const blocks = turns.flatMap((turn) => turn.blocks);
    const of = (type) => blocks.filter((block) => block.type === type).map(({ content }) => content);
    assert.deepEqual(of('mode_change'), [{ from: 'executing', to: 'planning' }, { from: 'planning', to: 'executing' }]);
    assert.deepEqual([of('planning_enter').length, of('planning_exit').length], [1, 1]);
    assert.deepEqual(of('plan_status')[0], plan);
    assert.deepEqual(of('plan_status')[1].steps.map(({ status }) => status), ['completed', 'completed']);
    const saved = turns.flatMap((turn) => turn.tool_calls).find((call) => call.tool_name === 'memory_save');
    assert.equal(saved.status, 'error', 'what writes waits while the model plans');
  });
}

test('a plan that is none, leaving a mode one is not in, and a person who says no change nothing', async () => {
  const { id } = await client.createSession({ model: 'demo/agent' });
  const call = (name, args) => `call ${name} ${JSON.stringify(args)}`;
  const [, turn] = await chat(id, script(call('plan_status', { title: 'x', steps: [{ title: 'a', status: 'begun' }] }),
    call('plan_status', { steps: [] }), call('planning_exit', { plan: 'go' }), '---', 'say so'));
  assert.deepEqual(turn.tool_calls.map(({ status }) => status), ['error', 'error', 'error']);
  assert.ok(!turn.blocks.some(({ type }) => type === 'plan_status' || type === 'mode_change'));
  await client.chat(id, { message: script(call('planning_exit', { plan: 'go' }), '---', 'say well'), mode: 'planning' });
  const { tool_call_id } = await until(async () => (await client.questions(id))[0], 'a question');
  await client.answer(id, tool_call_id, { approve: false, reason: 'not yet' });
  await settled(client, id);
  const blocks = (await turnsOf(id)).flatMap((one) => one.blocks);
  assert.equal(blocks.filter(({ type }) => type === 'planning_exit').length, 0);
});

// --- names of tools --------------------------------------------------------------------------------------------------

test('every built-in tool has a name for people, in their language', async (t) => {
  const list = async (language) => (await (await client.request('GET', '/api/tools', undefined, language ? { 'accept-language': language } : {})).json()).items;
  for (const [language, pattern] of [['', /^[A-Z][a-z ]+$/], ['de, en;q=0.5', /^[A-Z][a-z ]+$/], ['zh-CN,zh;q=0.9,en;q=0.8', /^[\u4e00-\u9fff]+$/]])
    for (const { name, display_name } of await list(language)) assert.match(display_name, pattern, name);

  const names = (turn) => turn.tool_calls.map((call) => call.display_name);
  const said = script('call calc {"expression":"1+1"}', 'call clock {}', 'call nosuch {}', '---', 'say so');
  const { id } = await client.createSession({ model: 'demo/agent' });
  assert.deepEqual(names((await chat(id, said))[1]), ['Calculate', 'Look at the clock', 'nosuch']);
  const turn = (await chat(id, { message: said }, { 'accept-language': 'zh-CN' }))[4];
  assert.deepEqual(names(turn), ['计算', '查看时间', 'nosuch']);
  assert.ok(turn.blocks.some(({ type, display_name }) => type === 'tool_use' && display_name === '计算'));
  const socket = closing(t, await new Socket(server, { headers: { 'accept-language': 'zh' } }).opened);
  await socket.ask('chat:send', { session_id: id, message: said });
  await until(async () => (await turnsOf(id)).length === 9, 'the third chat');
  assert.deepEqual(names((await turnsOf(id))[7]), ['计算', '查看时间', 'nosuch']);
});

test('the server ends in good order', () => endsWell(server));
