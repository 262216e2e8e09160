// Chatting: order of events, busy sessions, tools, questions, stop, sub-agents, compaction.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  Socket, clientOf, closing, endsWell, sameAsServer, script, serve, settled, textOf, until,
} from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const refused = (status, code) => ({ problem }) => {
  assert.deepEqual([problem.status, problem.code], [status, code]);
  return true;
};
const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;
const question = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B', description: 'b' }] }] };
const ask = `call AskUserQuestion ${JSON.stringify(question)}`;
const agent = (...lines) => `call Agent ${JSON.stringify({ prompt: script(...lines) })}`;

// A session in which this message was sent, with a reader.
async function begin(t, message, options = {}) {
  const { id } = await client.createSession();
  const reader = closing(t, client.live({ retryMs: 1 }));
  const view = await reader.subscribe(id);
  if (message) await client.chat(id, { message, ...options });
  return { id, view, reader };
}

const asked = (id) => until(async () => (await client.questions(id))[0], 'a question');

test('a chat over the socket is acknowledged and told in order', async (t) => {
  const { id } = await client.createSession({ intent: 'greet' });
  const socket = closing(t, await new Socket(server).opened);
  await socket.ask('session:subscribe', { session_id: id });
  const { ok, data } = await socket.ask('chat:send',
    { session_id: id, message: 'hello world', client_message_id: 'c1' });
  assert.equal(ok, true);
  assert.equal(data.queued, false);
  await socket.next(({ event }) => event === 'chat:end');
  const told = socket.frames.filter(({ event }) => event && event !== 'session:snapshot');
  const order = told.map(({ event, data: { turn } }) => (turn ? `${event} ${turn.role}` : event))
    .filter((event) => !['turn:patch', 'session:updated'].includes(event));
  assert.deepEqual(order, ['chat:start', 'turn:start user', 'turn:end user', 'turn:start assistant',
    'turn:end assistant', 'chat:end']);
  told.forEach((frame, i) => {
    assert.equal(frame.data.session_id, id);
    assert.equal(frame.data.sequence, told[0].data.sequence + i);
  });
  const patches = socket.events('turn:patch').map((frame) => frame.data);
  assert.equal(patches.map((patch) => patch.data.text_delta ?? '').join(''), 'hello world');
  const [user, assistant] = await turnsOf(id);
  assert.equal(user.turn_id, data.turn_id);
  assert.equal(textOf(assistant), 'hello world');
  assert.equal(assistant.status, 'completed');
  assert.ok(assistant.usage.output_tokens > 0);
  assert.equal((await client.session(id)).status, 'completed');
});

test('what a chat may not say is refused, over REST and over the socket alike', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  for (const wrong of [
    {}, { message: 7 }, { message: 'x', model: 'none/such' }, { message: 'x', when_busy: 'later' },
    { message: 'x', mode: 'dreaming' }, { message: [{ type: 'nonsense' }] }, { message: 'x', client_message_id: '' },
  ]) {
    if (wrong.client_message_id !== '') {
      const { ok, error } = await socket.ask('chat:send', { session_id: id, ...wrong });
      assert.deepEqual([ok, error?.code], [false, 'invalid_request'], JSON.stringify(wrong));
    }
    await assert.rejects(client.chat(id, wrong), refused(400, 'invalid_request'), JSON.stringify(wrong));
  }
  assert.equal((await turnsOf(id)).length, 0);
});

test('a busy session queues, in order', async (t) => {
  const { id, view } = await begin(t, script('wait 1000', 'say first'));
  for (const message of ['second', 'third']) assert.equal((await client.chat(id, { message })).queued, true);
  await settled(client, id);
  const turns = await sameAsServer(client, id, view);
  assert.deepEqual(turns.filter(({ role }) => role === 'assistant').map(textOf), ['first', 'second', 'third']);
});

test('a queue takes 64 messages and no more', async (t) => {
  const { id } = await begin(t, script('wait 60000'));
  for (let i = 0; i < 64; i++) await client.chat(id, { message: `m${i}` });
  await assert.rejects(client.chat(id, { message: 'one over' }), refused(429, 'rate_limited'));
  await client.stop(id);
  await settled(client, id);
  assert.equal((await turnsOf(id)).filter(({ role }) => role === 'user').length, 1);
});

test('reject, interrupt and steer do as they say', async (t) => {
  const { id, view } = await begin(t, script('say begun', 'wait 60000', 'say never'));
  await assert.rejects(client.chat(id, { message: 'x', when_busy: 'reject' }), refused(409, 'session_busy'));
  await until(() => view.ordered.some((turn) => textOf(turn) === 'begun'), 'it has begun');
  await client.chat(id, { message: script('call wait {"ms":300}', '---', 'say end'), when_busy: 'interrupt' });
  await until(() => view.ordered.some((turn) => turn.tool_calls.length), 'the tool is called');
  const steered = await client.chat(id, { message: 'left!', when_busy: 'steer' });
  assert.equal(steered.queued, true);
  await settled(client, id);
  const turns = await sameAsServer(client, id, view);
  assert.deepEqual(turns.map(({ role, status }) => `${role} ${status}`), ['user completed', 'assistant interrupted',
    'user completed', 'assistant completed', 'user completed', 'assistant completed']);
  assert.equal(textOf(turns[1]), 'begun');
  assert.equal(textOf(turns[4]), 'left!');
  assert.equal(textOf(turns[5]), 'left!', 'the model was called with the steering message');
});

test('the same client_message_id is said once, also at once and later', async (t) => {
  const { id } = await begin(t);
  const message = { message: 'once', client_message_id: 'the-one' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.chat(id, message)));
  assert.equal(answers.filter(({ duplicate }) => !duplicate).length, 1);
  assert.equal(new Set(answers.map((answer) => answer.turn_id)).size, 1);
  await settled(client, id);
  assert.equal((await client.chat(id, message)).duplicate, true);
  assert.equal((await turnsOf(id)).length, 2);
  const queued = { message: 'q', client_message_id: 'q' };
  await client.chat(id, { message: script('wait 1000') });
  await client.chat(id, queued);
  assert.equal((await client.chat(id, queued)).duplicate, true);
  await settled(client, id);
  assert.equal((await turnsOf(id)).filter((turn) => turn.client_message_id === 'q').length, 1);
});

test('a question waits, is answered once, and the turn goes on', async (t) => {
  const { id, view } = await begin(t, script('say let me ask', ask, '---', 'say thanks'));
  const { tool_call_id: call, kind, questions } = await asked(id);
  assert.equal(kind, 'ask');
  assert.deepEqual(questions.questions ?? questions, question.questions);
  assert.equal((await client.session(id)).status, 'waiting_for_input');
  await until(() => view.questions.size, 'the reader knows');
  await assert.rejects(client.chat(id, { message: 'x', when_busy: 'reject' }), refused(409, 'question_pending'));
  await client.answer(id, call, { 'Which?': 'A' });
  const again = await client.answer(id, call, { 'Which?': 'A' });
  assert.ok(again);
  await assert.rejects(client.answer(id, call, { 'Which?': 'B' }), refused(409, 'question_not_pending'));
  await assert.rejects(client.answer(id, 'tc_none', 1), refused(409, 'question_not_pending'));
  await settled(client, id);
  const turns = await sameAsServer(client, id, view);
  assert.equal(view.questions.size, 0);
  assert.deepEqual(turns[1].blocks.map(({ type }) => type), ['text', 'tool_use', 'tool_result', 'ask_user_answer']);
  assert.deepEqual(turns[1].tool_calls[0].result, { 'Which?': 'A' });
  assert.equal(textOf(turns[2]), 'thanks');
});

test('a question is answered over the socket too', async (t) => {
  const { id, view } = await begin(t, script(ask, '---', 'say thanks'));
  const { tool_call_id: call } = await asked(id);
  const socket = closing(t, await new Socket(server).opened);
  const send = (answer) => socket.ask('chat:send', { session_id: id, askuser_answer: { tool_call_id: call, answer } });
  assert.equal((await send({ 'Which?': 'B' })).ok, true);
  await settled(client, id);
  assert.equal((await send({ 'Which?': 'B' })).ok, true, 'the same again is fine');
  assert.equal((await send({ 'Which?': 'A' })).error.code, 'question_not_pending');
  await sameAsServer(client, id, view);
});

test('a gated tool runs only when a person approves', async (t) => {
  const publish = `call publish ${JSON.stringify({ title: 'T', html: '<b>hi</b>' })}`;
  for (const approve of [true, false]) {
    const { id, view } = await begin(t, script(publish, '---', 'say done'));
    const { tool_call_id: call, kind } = await asked(id);
    assert.equal(kind, 'confirm');
    await until(() => view.ordered.at(-1)?.tool_calls[0]?.status === 'awaiting_answer', 'the call waits');
    await assert.rejects(client.answer(id, call, { approve: 'perhaps' }), refused(400, 'invalid_request'));
    await client.answer(id, call, { approve, ...(approve ? {} : { reason: 'no' }) });
    await settled(client, id);
    const turns = await sameAsServer(client, id, view);
    const types = turns[1].blocks.map(({ type }) => type);
    assert.equal(types.includes('tool_ui'), approve);
    assert.equal(turns[1].tool_calls[0].status === 'done', approve);
    assert.equal(textOf(turns[2]), 'done');
  }
});

test('tools run side by side, and wrong arguments come back as an error to mend', async (t) => {
  const { id, view } = await begin(t, script('call echo {"x":1}', 'call wait {"ms":"long"}', 'call nothing {}',
    'call echo {broken', 'call clock {}', '---', 'say ok'));
  await settled(client, id);
  const turns = await sameAsServer(client, id, view);
  const calls = turns[1].tool_calls;
  assert.deepEqual(calls.map(({ status }) => status), ['done', 'error', 'error', 'error', 'done']);
  assert.deepEqual(calls[0].result, { x: 1 });
  assert.match(calls[1].result.message, /ms/);
  assert.match(calls[2].result.message, /no tool nothing/);
  assert.equal(textOf(turns[2]), 'ok');
});

test('a model that fails leaves a failed turn and a failed session', async (t) => {
  const { id, view } = await begin(t, script('say half', 'fail The model broke.'));
  assert.equal((await settled(client, id)).status, 'failed');
  const turns = await sameAsServer(client, id, view);
  assert.equal(turns[1].status, 'failed');
  await client.chat(id, { message: 'again' });
  assert.equal((await settled(client, id)).status, 'completed');
});

test('an agent works in a loop of its own, and its last words are the result', async (t) => {
  const { id, view } = await begin(t, script(agent('say child speaks'),
    agent('call echo {"deep":true}', '---', 'say b'), '---', 'say parent done'));
  await settled(client, id);
  const turns = await sameAsServer(client, id, view);
  const parent = turns.find(({ tool_calls: calls }) => calls.length === 2);
  assert.deepEqual(parent.tool_calls.map(({ result }) => result), ['child speaks', 'b']);
  for (const { id: call } of parent.tool_calls) {
    const loop = turns.filter((turn) => turn.parent_fork_tool_call_id === call);
    assert.ok(loop.length >= 2);
    assert.equal(new Set(loop.map((turn) => turn.loop_id)).size, 1);
    const { turns: only } = await client.messages(id, { loop_id: loop[0].loop_id });
    assert.deepEqual(only, loop);
  }
});

test('a question of a child appears on the parent\'s call', async (t) => {
  const { id, view } = await begin(t, script(agent(ask, '---', 'say answered'), '---', 'say all'));
  const { tool_call_id: call, loop_id: loop } = await asked(id);
  assert.notEqual(loop, 'root');
  const parent = () => view.ordered.find(({ loop_id: own, tool_calls: calls }) => own === 'root' && calls.length);
  await until(() => parent()?.tool_calls[0].pending_question_ref, 'the reference');
  await sameAsServer(client, id, view);
  await client.answer(id, call, { 'Which?': 'A' });
  await settled(client, id);
  await sameAsServer(client, id, view);
  assert.equal(parent().tool_calls[0].pending_question_ref, null);
  assert.equal(parent().tool_calls[0].result, 'answered');
});

test('stop reaches tools, agents and questions, and may be said twice', async (t) => {
  const { id, view } = await begin(t, script('call wait {"ms":60000}', agent('say deep', 'wait 60000'),
    agent(agent('wait 60000')), ask));
  await until(() => view.ordered.some((turn) => textOf(turn) === 'deep'), 'the agents are at work');
  await asked(id);
  await client.stop(id);
  await client.stop(id);
  assert.equal((await settled(client, id)).status, 'interrupted');
  const turns = await sameAsServer(client, id, view);
  for (const turn of turns) {
    assert.ok(['completed', 'interrupted'].includes(turn.status), turn.status);
    for (const call of turn.tool_calls) assert.notEqual(call.status, 'pending');
  }
  assert.equal((await client.questions(id)).length, 0);
  assert.equal(view.questions.size, 0);
  const socket = closing(t, await new Socket(server).opened);
  assert.equal((await socket.ask('chat:stop', { session_id: id })).ok, true);
  await until(async () => /^parley_turns_running(\{[^}]*\})? 0$/m
    .test(await (await client.request('GET', '/metrics')).text()), 'nothing is at work');
});

test('compaction sums up, and the context begins there', async (t) => {
  const long = ' and so on'.repeat(200); // long enough that a summary is shorter
  const { id, view } = await begin(t, `something long ago${long}`);
  await settled(client, id);
  await client.chat(id, { message: `and something else${long}` });
  await settled(client, id);
  const socket = closing(t, await new Socket(server).opened);
  assert.equal((await socket.ask('chat:compact', { session_id: id })).ok, true);
  const isSummary = ({ kind, status }) => kind === 'compaction' && status === 'completed';
  const turn = await until(() => view.ordered.find(isSummary), 'the compaction');
  assert.equal(turn.role, 'system');
  assert.equal(turn.archived_count, 4);
  assert.equal(turn.trigger, 'manual');
  assert.match(turn.summary_full, /something long ago/);
  await sameAsServer(client, id, view);
  const { turns } = await client.messages(id, { view: 'context' });
  assert.deepEqual(turns.map(({ kind }) => kind), ['compaction']);
  assert.equal((await turnsOf(id)).length, 5, 'archived turns stay readable');
  const context = await (await client.request('GET', `/api/sessions/${id}/context`)).json();
  assert.ok(context.tokens > 0);
});

test('a context that is too long is compacted and tried again', async (t) => {
  const { id, view } = await begin(t, `early words${' and so on'.repeat(200)}`);
  await settled(client, id);
  await client.chat(id, { message: script('overflow', '---', 'say fits now') });
  await settled(client, id);
  const turns = await sameAsServer(client, id, view);
  assert.ok(turns.some(({ kind, trigger }) => kind === 'compaction' && trigger === 'forced_retry'));
});

test('64 turns of a user run at once, the 65th is refused', async () => {
  const sessions = await Promise.all(Array.from({ length: 65 }, () => client.createSession()));
  for (const { id } of sessions.slice(0, 64)) await client.chat(id, { message: script('wait 60000') });
  const last = sessions[64].id;
  await assert.rejects(client.chat(last, { message: 'x' }), refused(429, 'rate_limited'));
  await client.stop(sessions[0].id);
  await client.chat(last, { message: 'now' });
  await settled(client, last);
  await Promise.all(sessions.map(({ id }) => client.stop(id)));
  await until(async () => /^parley_turns_running(\{[^}]*\})? 0$/m
    .test(await (await client.request('GET', '/metrics')).text()), 'nothing is at work');
});

test('an answer without end is cut off, in whichever way it has none', async () => {
  const endless = {
    calls: [Array.from({ length: 3000 }, () => 'call calc {"expression":"1+1"}'), /limit of 128 tool calls/],
    blocks: [Array.from({ length: 3000 }, () => 'block plan_status {}'), /at most 4096 blocks, and 1024 beside text and thinking/],
    'text and thinking': [Array.from({ length: 6000 }, (_, i) => (i % 2 ? 'say a' : 'think b')), /at most 4096 blocks/],
  };
  for (const [what, [lines, reason]] of Object.entries(endless)) {
    const { id } = await client.createSession({ model: 'demo/agent' });
    await client.chat(id, { message: script(...lines) });
    await settled(client, id);
    const { turns } = await client.messages(id, { limit: '10' });
    assert.equal(turns.at(-1).status, 'failed', what);
    assert.match(turns.at(-1).error, reason);
    assert.ok(turns.at(-1).tool_calls.length <= 129 && turns.at(-1).blocks.length <= 4096, what);
  }
});

test('a disconnect cancels nothing', async () => {
  const { id } = await client.createSession();
  const socket = await new Socket(server).opened;
  await socket.ask('session:subscribe', { session_id: id });
  await socket.ask('chat:send', { session_id: id, message: script('wait 100', 'say still here') });
  socket.close();
  await socket.closed;
  await settled(client, id);
  assert.equal(textOf((await turnsOf(id))[1]), 'still here');
});

test('a message as deep as JSON may be is answered, summed up and read', async (t) => {
  // In a list of turns this is 64 levels deep, the limit for untrusted input.
  const deep = JSON.parse('['.repeat(60) + ']'.repeat(60));
  const message = [{ type: 'text', content: `deep${' and so on'.repeat(200)}` }, { type: 'ask_user_answer', content: { answer: deep[0] } }];
  const { id } = await begin(t, message);
  await settled(client, id);
  assert.equal((await turnsOf(id)).at(-1).status, 'completed');
  await client.request('POST', `/api/sessions/${id}/compact`, {});
  await until(async () => (await turnsOf(id)).find(({ kind }) => kind === 'compaction'), 'a compaction');
  // While such a turn is open, the session can still be read.
  const call = `block tool_result ${JSON.stringify(deep)}`;
  await client.chat(id, { message: script(call, 'wait 2000'), model: 'demo/agent' });
  await until(async () => (await turnsOf(id)).at(-1).blocks.length, 'the block');
  assert.equal((await client.session(id)).status, 'running');
  await client.stop(id);
});

test('a block that no client could show ends the answer with a reason, and the session goes on', async () => {
  for (const line of ['block nonsense {}', 'block text {"id":"c1"}', 'block plan_status nothing']) {
    const { id } = await client.createSession();
    const { epoch } = (await client.messages(id)).position;
    await client.chat(id, { message: script('say before', line, 'say after') });
    const { status } = await settled(client, id);
    const turn = (await turnsOf(id)).at(-1);
    assert.deepEqual([status, turn.status, textOf(turn)], ['failed', 'failed', 'before'], line);
    assert.match(JSON.stringify(turn), /a block of an unknown type, or one whose content does not match its type/);
    assert.equal((await client.messages(id)).position.epoch, epoch, 'nothing was recovered');
    await client.chat(id, { message: 'again' });
    await settled(client, id);
    assert.equal(textOf((await turnsOf(id)).at(-1)), 'again');
  }
});

test('the server ends in good order', () => endsWell(server));
