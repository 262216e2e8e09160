// Replay of a session: the same words, thoughts, results and cards, and no side effect is repeated.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  SessionView, Socket, clientOf, closing, endsWell, sameAsServer, script, serve, settled, textOf, until,
} from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const post = async (path, body, own = client) => (await own.request('POST', path, body)).json();
const replay = (id, body = {}, own) => post(`/api/sessions/${id}/replay`, body, own);
const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;

async function recorded(...messages) {
  const { id } = await client.createSession({ intent: 'a record', model: 'demo/agent' });
  for (const message of messages) {
    // The agent would ask questions.
    await client.chat(id, String(message).startsWith('#!demo') ? { message } : { message, model: 'demo/echo' });
    await settled(client, id);
  }
  return id;
}

// The content between two messages of the user, without effects on a page; calls are numbered.
const exchanges = (turns) => {
  const ids = turns.flatMap(({ tool_calls: calls }) => calls.map(({ id }) => id));
  const plain = (blocks) => JSON.parse(JSON.stringify(blocks.filter(({ type }) => type !== 'tool_bridge'), (key, value) =>
    (key === 'bridge' ? undefined : ids.includes(value) ? `call ${ids.indexOf(value)}` : value)));
  return turns.reduce((all, { role, blocks }) => {
    if (role === 'user') all.push({ said: plain(blocks), answered: [] });
    else all.at(-1).answered.push(...plain(blocks));
    return all;
  }, []);
};
const calls = (turn) => turn.tool_calls.map(({ tool_name: name, arguments: args, status }) => [name, args, status]);

const rich = script(
  'think What might they want?  A card.', 'say I will show you.', 'usage 11 5', 'call echo ' + JSON.stringify({
    n: 1, _meta: { ui: { resourceHTML: '<b>card</b>', target: 'inline' }, bridge: { action: 'navigate', to: '/x' } },
  }), 'call clock {}', '---', 'usage 20 7', 'say There it is.', 'block plan_status {"step":1}', 'block planning_exit', 'say Really.', '---', 'say never');

test('a replay has every block of its source but those that act on a page', async () => {
  const source = await recorded(rich, 'and you?', [{ type: 'text', content: 'two' }, { type: 'text', content: 'parts' }]);
  const made = await replay(source, { speed: 0 });
  assert.equal(made.model, `replay/${source}`);
  assert.equal(made.intent, 'a record');
  const state = { source_session_id: source, from_sequence: 0, total: 3, speed: 0 };
  assert.deepEqual(made.replay_state, { ...state, position: 1, status: 'running' });
  const session = await settled(client, made.id);
  assert.deepEqual([session.status, session.replay_state], ['completed', { ...state, position: 3, status: 'finished' }]);
  const [was, is] = [await turnsOf(source), await turnsOf(made.id)];
  const acts = (turns) => turns.some(({ blocks }) => blocks.some(({ type }) => type === 'tool_bridge'));
  assert.deepEqual([acts(was), acts(is)], [true, false]);
  for (const type of ['thinking', 'tool_use', 'tool_result', 'tool_ui', 'plan_status', 'planning_exit'])
    assert.ok(is.some(({ blocks }) => blocks.some((block) => block.type === type)), type);
  assert.deepEqual(exchanges(is), exchanges(was));
  assert.deepEqual(is.map(({ role }) => role), was.map(({ role }) => role));
  assert.deepEqual(is.map(calls), was.map(calls));
  assert.equal(is[1].model, 'demo/agent');
  assert.deepEqual(is.slice(1, 3).map(({ usage }) => usage), [{ input_tokens: 11, output_tokens: 5 }, { input_tokens: 20, output_tokens: 7 }]);
});

test('a reader sees a replay grow as it sees any session, also after being cut off', async (t) => {
  const source = await recorded(rich, script('think hm', 'repeat 300 word ', 'wait 300'), 'bye');
  const made = await replay(source, { speed: 1 });
  const live = closing(t, client.live());
  const view = await live.subscribe(made.id);
  assert.ok(view instanceof SessionView);
  await until(() => view.turns.size > 1, 'something was played');
  live.cut();
  await settled(client, made.id);
  await sameAsServer(client, made.id, view);
  assert.equal(view.session.replay_state.status, 'finished');
});

test('a replay is no faster than it is told to be, and waits for no tool', async () => {
  const source = await recorded(script('say one two three four', 'wait 700', 'call wait {"ms":800}', '---', 'say done'));
  const took = async (speed) => {
    const began = Date.now();
    const { id } = await replay(source, { speed });
    await settled(client, id);
    return Date.now() - began;
  };
  await took(0);
  for (const speed of [1, 2]) {
    const ms = await took(speed);
    assert.ok(ms > 1300 / speed, `${ms} ms`);
  }
  for (const speed of [-1, 101, '1', null])
    assert.equal((await server.ask('POST', `/api/sessions/${source}/replay`, { body: { speed } })).status, 400);
});

test('a stopped replay keeps what was played and says so', async () => {
  const source = await recorded(script('repeat 500 word ', 'wait 1500'), 'next', 'last');
  const { id } = await replay(source);
  await until(async () => textOf((await turnsOf(id)).at(-1)).length > 50, 'it plays');
  await client.stop(id);
  const session = await settled(client, id);
  assert.deepEqual([session.status, session.replay_state.status, session.replay_state.total], ['interrupted', 'stopped', 3]);
  const turns = await turnsOf(id);
  assert.deepEqual(turns.map(({ role, status }) => [role, status]), [['user', 'completed'], ['assistant', 'interrupted']]);
  assert.ok(textOf((await turnsOf(source))[1]).startsWith(textOf(turns[1])));
  await client.chat(id, { message: 'go on' });
  assert.equal((await settled(client, id)).replay_state.status, 'stopped');
  const [played, source1] = [exchanges(await turnsOf(id))[1].answered, exchanges(await turnsOf(source))[1].answered];
  assert.deepEqual(played, source1);
});

test('a replay begins where it is told to', async () => {
  const source = await recorded('one', 'two', 'three');
  const was = await turnsOf(source);
  const second = was.findIndex(({ role, blocks }) => role === 'user' && textOf({ blocks }) === 'two');
  for (const place of [second, second - 1]) {
    const { id, replay_state: state } = await replay(source, { speed: 0, from: was[place].turn_id, intent: 'half' });
    assert.deepEqual([state.from_sequence, state.total], [was[second].sequence, 2]);
    assert.equal((await settled(client, id)).intent, 'half');
    assert.deepEqual(exchanges(await turnsOf(id)), exchanges(was.slice(second)));
  }
  const lost = await server.ask('POST', `/api/sessions/${source}/replay`, { body: { from: 'turn_none' } });
  assert.equal(lost.status, 404);
  const behind = await server.ask('POST', `/api/sessions/${source}/replay`, { body: { from: was.at(-1).turn_id } });
  assert.deepEqual([behind.status, behind.json.code], [400, 'invalid_request']);
});

test('a failed answer fails again, and the next message is answered', async () => {
  const source = await recorded(script('say half', 'fail The model is tired.'), 'again');
  const { id } = await replay(source, { speed: 0 });
  await settled(client, id);
  const [was, is] = [await turnsOf(source), await turnsOf(id)];
  assert.deepEqual(is.map(({ status, error }) => [status, error]).slice(0, 3), was.map(({ status, error }) => [status, error]).slice(0, 3));
  assert.equal(is[1].error, 'The model is tired.');
  assert.deepEqual(exchanges(is), exchanges(was));
});

test('at most 65 messages are said, and the replay tells how many', async () => {
  const turns = Array.from({ length: 70 }, (_, i) => [{ role: 'user', content: `q${i}` }, { role: 'assistant', content: `a${i}` }]).flat();
  const { id: source } = await post('/api/sessions/import', { document: { messages: turns }, from: 'openai-chat' });
  const { id, replay_state: state } = await replay(source, { speed: 0 });
  assert.equal(state.total, 65);
  await settled(client, id);
  const { turns: last } = await client.messages(id, { limit: '2' });
  assert.deepEqual(last.map(textOf), ['q64', 'a64']);
  assert.equal((await client.session(id)).replay_state.status, 'finished');
});

test('a replay can be replayed, and where it ends it says so', async () => {
  const source = await recorded(rich);
  const first = await replay(source, { speed: 0 });
  await settled(client, first.id);
  const second = await replay(first.id, { speed: 0 });
  await settled(client, second.id);
  assert.deepEqual(exchanges(await turnsOf(second.id)), exchanges(await turnsOf(source)));
  await client.chat(second.id, { message: 'more' });
  assert.equal((await settled(client, second.id)).status, 'failed');
  assert.match((await turnsOf(second.id)).at(-1).error, /recorded session has ended/);
  await client.chat(second.id, { message: 'more', model: 'demo/echo' });
  await settled(client, second.id);
  assert.equal(textOf((await turnsOf(second.id)).at(-1)), 'more');
  const { id: empty } = await client.createSession();
  await assert.rejects(replay(empty), ({ problem }) => problem.code === 'invalid_request');
  await client.deleteSession(source);
  await client.chat(first.id, { message: 'still there?' });
  await settled(client, first.id);
  assert.match((await turnsOf(first.id)).at(-1).error, /no session .* to replay/);
});

test('nobody plays another\'s session, by whatever way', async (t) => {
  const source = await recorded('a secret');
  const key = (await post('/api/users', { name: 'curious' })).key.plaintext;
  const other = clientOf(server, key);
  await assert.rejects(replay(source, {}, other), ({ problem }) => problem.status === 404);
  const model = `replay/${source}`;
  const noModel = ({ problem }) => problem.status === 400 && problem.errors?.[0]?.pointer === '/model';
  await assert.rejects(other.createSession({ model }), noModel);
  const { id } = await other.createSession();
  await assert.rejects(other.changeSession(id, { model }), noModel);
  await assert.rejects(other.chat(id, { message: 'tell me', model }), noModel);
  await assert.rejects(other.chat(id, { message: 'tell me', model, client_message_id: 'm1' }), noModel);
  const socket = closing(t, await new Socket(server, { key }).opened);
  assert.equal((await socket.ask('chat:send', { session_id: id, message: 'tell me', model })).error.code, 'invalid_request');
  assert.deepEqual((await other.messages(id)).turns, []);
  const call = `call Agent ${JSON.stringify({ prompt: 'tell me', model })}`;
  await other.chat(id, { message: script(call, '---', 'say over'), model: 'demo/agent' });
  await settled(other, id);
  assert.ok(!JSON.stringify((await other.messages(id)).turns).includes('a secret'));
  const made = await post('/api/sessions/import', { document: { messages: [{ role: 'user', content: 'x' }] }, from: 'openai-chat', model }, other);
  await other.chat(made.id, { message: 'tell me' });
  assert.equal((await settled(other, made.id)).status, 'failed');
  assert.ok(!JSON.stringify((await other.messages(made.id)).turns).includes('a secret'));
  for (const name of ['replay/', 'replay/x', 'replay/sess_x'])
    await assert.rejects(client.createSession({ model: name }), ({ problem }) => problem.status === 400, name);
  const missing = 'replay/sess_01900000-0000-7000-8000-000000000000';
  await assert.rejects(client.createSession({ model: missing }), noModel);
});

test('a session of one\'s own may have a replay as its model', async () => {
  const source = await recorded('one', 'two');
  const model = `replay/${source}`;
  const made = await client.createSession({ model });
  assert.equal(made.model, model);
  for (const message of ['anything', 'else']) {
    await client.chat(made.id, { message });
    await settled(client, made.id);
  }
  assert.equal((await client.session(made.id)).replay_state, null);
  const [was, is] = [await turnsOf(source), await turnsOf(made.id)];
  assert.deepEqual(exchanges(is).map(({ answered }) => answered), exchanges(was).map(({ answered }) => answered));
  const { id } = await client.createSession();
  assert.equal((await client.changeSession(id, { model })).model, model);
  const { json } = await server.ask('GET', '/api/models');
  assert.ok(!JSON.stringify(json).includes('replay'));
});

test('a replay asked for twice with one Idempotency-Key is one', async () => {
  const source = await recorded('once');
  const ask = async () => (await client.request('POST', `/api/sessions/${source}/replay`, { speed: 0 },
    { 'idempotency-key': 'replay-once' })).json();
  assert.equal((await ask()).id, (await ask()).id);
});

test('a replay that is killed has stopped, and its source is whole', async () => {
  let own = await serve();
  const mine = clientOf(own);
  const { id: source } = await mine.createSession({ model: 'demo/agent' });
  for (const message of [script('repeat 200 word ', 'wait 1500'), 'next']) {
    await mine.chat(source, { message });
    await settled(mine, source);
  }
  const was = (await mine.messages(source)).turns;
  const { id } = await replay(source, {}, mine);
  await until(async () => textOf((await mine.messages(id)).turns.at(-1)).length > 50, 'it plays');
  const { data, key } = own;
  await own.stop('SIGKILL');
  own = await serve({ data, login: false });
  const again = clientOf(own, key);
  const session = await again.session(id);
  assert.deepEqual([session.status, session.replay_state.status], ['interrupted', 'stopped']);
  assert.deepEqual((await again.messages(source)).turns, was);
  await again.chat(id, { message: 'go on' });
  const finished = await until(async () => {
    const now = await again.session(id);
    return now.replay_state.status === 'finished' && now;
  }, 'what waited is played');
  assert.equal(finished.status, 'failed', 'one message more than was recorded');
  await endsWell(own);
});

test('the server ends in good order', () => endsWell(server));
