// The agent loop: the built-in tools and their limits, their results as the model sees them, planning, crashes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { allTurns, clientOf, endsWell, script, serve, settled, sleep, textOf, until } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

// A server that restarts on the same data, with the same key.
function directory() {
  const path = mkdtempSync(join(tmpdir(), 'parley-loop-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
async function again(data, key) {
  const own = await serve({ data, login: !key });
  own.key ??= key;
  return own;
}

const turnsOf = (id, of = client) => allTurns(of, id);
const call = (name, input) => `call ${name} ${JSON.stringify(input)}`;

// Plays a script in a new session; returns its turns.
async function play(...lines) {
  const { id } = await client.createSession();
  await client.chat(id, { message: script(...lines) });
  await settled(client, id);
  const turns = await turnsOf(id);
  return { id, turns, calls: turns.flatMap(({ tool_calls: calls }) => calls) };
}

const resultOf = async (name, input) => {
  const { calls: [{ status, result }] } = await play(call(name, input));
  return { status, result };
};

test('the tools are listed with their schemas, and which ask first', async () => {
  const { items } = (await server.ask('GET', '/api/tools')).json;
  const named = (flag) => items.filter((tool) => tool[flag]).map(({ name }) => name);
  assert.deepEqual(items.map(({ name }) => name), ['AskUserQuestion', 'Agent', 'calc', 'clock', 'memory_save',
    'memory_search', 'handoff', 'planning_enter', 'planning_exit', 'plan_status', 'echo', 'wait', 'publish']);
  assert.deepEqual(named('is_demo'), ['echo', 'wait', 'publish']);
  assert.deepEqual(named('is_gated'), ['planning_exit', 'publish']);
  for (const { name, input_schema: schema } of items) assert.equal(schema.type, 'object', name);
});

test('calc works out what it is given, or says what is wrong with it', async () => {
  assert.deepEqual(await resultOf('calc', { expression: '(2 + 3) * 4 ^ 2' }), { status: 'done', result: 80 });
  const { status, result } = await resultOf('calc', { expression: '1 / 0' });
  assert.equal(status, 'error');
  assert.match(result.message, /divides by zero \(character 3 of the expression\)/);
});

test('the clock tells the time', async () => {
  const { result } = await resultOf('clock', {});
  assert.ok(Math.abs(Date.parse(result) - Date.now()) < 60_000, result);
});

test('arguments that do not suit the schema are an error that names the place, and nothing runs', async () => {
  for (const [name, input, said] of [
    ['calc', {}, /wrong at "":.*expression/],
    ['calc', { expression: 7 }, /wrong at "\/expression":/],
    ['calc', { expression: '1', x: 1 }, /wrong at .*x/],
    ['memory_save', { content: 'x', type: 'rumour' }, /wrong at "\/type":/],
    ['memory_save', { content: 'ä'.repeat(501) }, /wrong at "\/content":/],
    ['wait', { ms: -1 }, /wrong at "\/ms":/],
    ['nothing', {}, /There is no tool nothing/],
  ]) {
    const { status, result } = await resultOf(name, input);
    assert.equal(status, 'error', name);
    assert.match(result.message, said);
  }
  const { turns } = await play('call calc {"expression":', '---', call('calc', { expression: '1+1' }), '---', 'results');
  assert.deepEqual(turns.slice(1, 3).map(({ tool_calls: [{ status }] }) => status), ['error', 'done']);
  assert.equal(textOf(turns[3]), '2', 'the model has mended its call');
});

test('a memory that is saved says which session it comes from, and is found again', async () => {
  const { id, calls: [saved] } = await play(call('memory_save', {
    content: 'The ferry to the island leaves at noon.', type: 'feedback', topic: 'ferry', write_reason: 'asked twice',
  }));
  assert.equal(saved.status, 'done');
  const memory = (await server.ask('GET', `/api/memories/${saved.result.id}`)).json;
  assert.deepEqual([memory.content, memory.type, memory.source_session, memory.topic, memory.write_reason],
    ['The ferry to the island leaves at noon.', 'feedback', id, 'ferry', 'asked twice']);
  const { result } = await resultOf('memory_search', { query: 'when does the ferry leave' });
  assert.deepEqual(result.memories.map(({ id: found, content }) => [found, content]),
    [[saved.result.id, 'The ferry to the island leaves at noon.']]);
  assert.match(result.memories[0].saved, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual((await resultOf('memory_search', { query: 'ferry', type: 'experience' })).result, { memories: [] });
  assert.deepEqual((await resultOf('memory_search', { query: '…' })).result, { memories: [] });
  const blank = await resultOf('memory_save', { content: ' ' });
  assert.equal(blank.status, 'error');
  assert.match(blank.result.message, /must not be blank/);
});

test('a session that is to remember nothing has no tools for it', async () => {
  const { id } = await client.createSession();
  await server.ask('PATCH', `/api/sessions/${id}/memory`, { body: { memory_enabled: false } });
  await client.chat(id, { message: script(call('memory_save', { content: 'secret' }), call('memory_search', { query: 'ferry' })) });
  await settled(client, id);
  const [, { tool_calls: calls }] = await turnsOf(id);
  for (const { status, result } of calls) {
    assert.equal(status, 'error');
    assert.match(result.message, /turned memory off/);
  }
});

test('a search finds ten at most, the best first', async () => {
  const lines = Array.from({ length: 12 }, (_, i) => call('memory_save', { content: `lighthouse number ${i}` }));
  const { calls } = await play(...lines);
  assert.equal(new Set(calls.map(({ result }) => result.id)).size, 12);
  const { result } = await resultOf('memory_search', { query: 'lighthouse number 7' });
  assert.equal(result.memories.length, 10);
  assert.equal(result.memories[0].content, 'lighthouse number 7');
});

test('a handoff has all another agent needs, and is accepted', async () => {
  const { id } = await client.createSession();
  await client.chat(id, { message: 'Find out when the ferry leaves' });
  await settled(client, id);
  await client.chat(id, { message: script(call('handoff', { target: 'harbour-agent', next: 'ask the harbour master' })) });
  await settled(client, id);
  const [{ status, result: { packet } }] = (await turnsOf(id)).flatMap(({ tool_calls: calls }) => calls);
  assert.equal(status, 'done');
  assert.match(JSON.stringify(packet), /Find out when the ferry leaves/);
  assert.match(JSON.stringify(packet), /ask the harbour master/);
  const accepted = await server.ask('POST', '/api/handoffs', { body: { packet, agent: 'harbour-agent' } });
  assert.equal(accepted.status, 201, accepted.text);
});

test('calls run side by side, and the model is shown their results in the order it called', async () => {
  const { turns } = await play(
    call('wait', { ms: 40 }), call('echo', 1), call('echo', { second: 2 }), call('wait', { ms: 30 }), call('echo', { last: 5 }),
    '---', 'results');
  assert.match(textOf(turns[2]), /^\{"waited_ms":\d+\}\{"status":"error","error_type":"InvalidArguments","message":"The arguments must be a JSON object"\}\{"second":2\}\{"waited_ms":\d+\}\{"last":5\}$/);
  // A call that never ends does not block the next one.
  const { id } = await client.createSession();
  await client.chat(id, { message: script(call('wait', { ms: 600_000 }), call('echo', { behind: 1 })) });
  const calls = await until(async () => {
    const at = (await turnsOf(id))[1]?.tool_calls ?? [];
    return at[1]?.status === 'done' && at;
  }, 'the second call is done');
  assert.notEqual(calls[0].status, 'done');
  await client.stop(id);
});

test('a result is kept up to 1 MiB and shown up to 64 KiB', async () => {
  const wrap = '{"a":""}'.length;
  const echo = (n) => call('echo', { a: 'x'.repeat(n - wrap) });
  const shown = async (n) => {
    const { turns, calls: [{ status, result }] } = await play(echo(n), '---', 'results');
    return { status, kept: JSON.stringify(result).length, shown: textOf(turns[2]) };
  };
  const whole = await shown(65_536);
  assert.deepEqual([whole.kept, whole.shown.length], [65_536, 65_536]);
  const cut = await shown(65_537);
  assert.deepEqual([cut.status, cut.kept, cut.shown.length], ['done', 65_537, 65_536]);
  assert.match(cut.shown, /\[Cut here: the result has 65537 bytes, more than the 65536 that are shown\. Ask for less of it\.\]$/);
  assert.equal((await shown(1 << 20)).kept, 1 << 20);
  const over = await play(echo((1 << 20) + 1));
  assert.deepEqual([over.calls[0].status, over.calls[0].result.error_type, over.calls[0].result.message],
    ['error', 'ResultTooLarge', 'The result is over 1 MiB and was not kept; ask for less of it']);
});

test('129 calls are one too many', async () => {
  const { turns, calls, id } = await play(...Array.from({ length: 129 }, () => call('clock', {})));
  assert.equal(calls.filter(({ status }) => status === 'done').length, 128);
  assert.match(calls.at(-1).result.message, /limit of 128 tool calls/);
  assert.equal(turns.at(-1).status, 'failed');
  assert.equal((await client.session(id)).status, 'failed');
});

test('the ninth level of agents is refused, and the eighth answers', async () => {
  const nest = (n) => (n ? script(call('Agent', { prompt: nest(n - 1) }), '---', 'results') : script('say deepest'));
  const { id } = await client.createSession();
  await client.chat(id, { message: nest(7) });
  await settled(client, id);
  assert.equal(textOf((await turnsOf(id)).at(-1)), 'deepest');
  const over = await client.createSession();
  await client.chat(over.id, { message: nest(8) });
  await settled(client, over.id);
  assert.match(textOf((await turnsOf(over.id)).at(-1)), /nested at most 8 deep/);
});

test('a yes is to the arguments that were shown and to no others', async () => {
  const { id } = await client.createSession();
  await client.chat(id, { message: script(call('publish', { title: 'a', html: 'b' })) });
  const [{ tool_call_id: asked, questions: [{ arguments_hash: hash }] }] =
    await until(async () => { const list = await client.questions(id); return list.length && list; }, 'a question');
  assert.match(hash, /^[0-9a-f]{64}$/);
  const answer = (body) => server.ask('POST', `/api/sessions/${id}/questions/${asked}/answer`, { body: { answer: body } });
  const wrong = await answer({ approve: true, arguments_hash: '0'.repeat(64) });
  assert.equal(wrong.status, 400, wrong.text);
  assert.match(wrong.json.detail, /other arguments/);
  assert.equal((await answer({ approve: true, arguments_hash: hash })).status, 200);
  await settled(client, id);
  assert.equal((await turnsOf(id))[1].tool_calls[0].status, 'done');
});

test('in planning mode nothing is changed, also after a restart, until the person says so', async () => {
  const data = directory();
  let own = await again(data);
  let me = clientOf(own);
  const { id } = await me.createSession();
  const save = script(call('memory_save', { content: 'planned' }), call('publish', { title: 't', html: 'h' }),
    call('calc', { expression: '1+1' }));
  const last = async () => (await turnsOf(id, me)).filter(({ tool_calls: calls }) => calls.length).at(-1).tool_calls;
  await me.chat(id, { message: save, mode: 'planning' });
  await settled(me, id);
  assert.deepEqual((await last()).map(({ status }) => status), ['error', 'error', 'done']);
  assert.match((await last())[0].result.message, /planning mode/);
  const { key } = own;
  await endsWell(own);
  own = await again(data, key);
  me = clientOf(own);
  await me.chat(id, { message: save });
  await settled(me, id);
  assert.deepEqual((await last()).map(({ status }) => status), ['error', 'error', 'done']);
  await me.chat(id, { message: script(call('memory_save', { content: 'done now' })), mode: 'executing' });
  await settled(me, id);
  assert.equal((await last())[0].status, 'done');
  await endsWell(own);
});

test('a message whose answer was summed up in the middle is still the one that is answered', async () => {
  const { id } = await client.createSession();
  for (const message of [`a story${' and so on'.repeat(400)}`, script('overflow', '---', 'say fits now')]) {
    await client.chat(id, { message });
    await settled(client, id);
  }
  const turns = (await turnsOf(id)).slice(2);
  assert.deepEqual(turns.map(({ role, kind, status }) => `${role} ${kind} ${status}`), ['user message completed',
    'assistant message failed', 'system compaction completed', 'assistant message completed']);
  assert.equal(textOf(turns[3]), 'fits now');
  assert.equal((await client.session(id)).status, 'completed');
});

test('kill -9 with several tools at work: what was done stays, what was not is not run again, the session goes on', async () => {
  const data = directory();
  const own = await again(data);
  const me = clientOf(own);
  const { id } = await me.createSession();
  await me.chat(id, { message: script('say going', call('memory_save', { content: 'before the crash' }),
    call('wait', { ms: 60_000 }), call('Agent', { prompt: script(call('wait', { ms: 60_000 })) }), '---', 'say never') });
  await until(async () => (await turnsOf(id, me))[1]?.tool_calls[0]?.status === 'done'
    && (await turnsOf(id, me)).length === 4, 'one is done, the others are at work');
  const { key } = own;
  await own.stop('SIGKILL');
  const next = await again(data, key);
  const you = clientOf(next);
  const turns = await turnsOf(id, you);
  assert.deepEqual(turns.map(({ role, status }) => `${role} ${status}`),
    ['user completed', 'assistant interrupted', 'user completed', 'assistant interrupted']);
  assert.equal(textOf(turns[1]), 'going');
  assert.deepEqual(turns[1].tool_calls.map(({ status, result }) => [status, result?.saved ?? result?.error_type]),
    [['done', true], ['error', 'Interrupted'], ['error', 'Interrupted']]);
  assert.equal((await you.session(id)).status, 'interrupted');
  await you.chat(id, { message: script(call('memory_search', { query: 'crash' }), '---', 'results') });
  await settled(you, id);
  const after = await turnsOf(id, you);
  assert.equal(after.length, 7, 'nothing of the old turn was run again');
  assert.equal(after[5].tool_calls[0].result.memories.length, 1, 'saved once');
  assert.equal((await you.session(id)).status, 'completed');
  await endsWell(next);
});

test('the server ends in good order', () => endsWell(server));
