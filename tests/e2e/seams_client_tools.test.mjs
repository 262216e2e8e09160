// Tools that a client defines and runs itself: the call waits for its client, once, with a deadline, across restarts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { clientOf, closing, serve, settled, until } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const model = 'openai-chat/gpt-4o';
const shell = {
  name: 'shell', description: 'Runs a command on my machine',
  input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'], additionalProperties: false },
};
let upstream;
let server;
let client;
before(async () => {
  upstream = await openUpstream();
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

const turnsOf = async (id, of = client) => (await of.messages(id, { limit: '100' })).turns;
const callsOf = async (id, of = client) => (await turnsOf(id, of)).flatMap(({ tool_calls: calls }) => calls);

// The calls that wait for their client.
async function waiting(id, n = 1, of = client) {
  let calls = [];
  await until(async () => {
    calls = (await callsOf(id, of)).filter(({ runs, status }) => runs === 'client' && status === 'pending');
    return calls.length === n;
  }, () => `no ${n} calls wait: ${JSON.stringify(calls)}`);
  return calls;
}
async function called(args = { command: 'ls' }, fields = {}, of = client) {
  upstream.next({ calls: [{ name: 'shell', args }] }, { say: 'Done.' });
  const { id } = await of.createSession({ model, tools: ['clock', shell], ...fields });
  await of.chat(id, { message: 'Look around' });
  return id;
}

test('a call of a client\'s tool is pending with runs: "client"; its result goes to the model', async (t) => {
  const reader = closing(t, client.live({ retryMs: 1 }));
  const id = await called();
  const view = await reader.subscribe(id);
  const [call] = await waiting(id);
  const sent = upstream.requests[0].body.tools.map((tool) => tool.function);
  assert.deepEqual(sent.map(({ name }) => name), ['clock', 'shell']);
  assert.deepEqual(sent[1].parameters, shell.input_schema);
  assert.deepEqual([call.tool_name, call.arguments], ['shell', '{"command":"ls"}']);
  assert.equal((await client.session(id)).status, 'waiting_for_input');
  assert.deepEqual(await client.questions(id), []);
  await client.toolResult(id, call.id, { files: ['a.txt'] });
  await settled(client, id);
  const result = upstream.requests[1].body.messages.at(-1);
  assert.equal(result.role, 'tool');
  assert.deepEqual(JSON.parse(result.content), { files: ['a.txt'] });
  const [after1] = await callsOf(id);
  assert.deepEqual([after1.status, after1.runs, after1.result], ['done', 'client', { files: ['a.txt'] }]);
  const seen = () => [...view.turns.values()];
  await until(() => seen().at(-1)?.status === 'completed' && seen().length === 3, () => JSON.stringify(seen()));
  assert.deepEqual(seen(), await turnsOf(id)); // patches alone give the same
  upstream.check();
});

test('a schema that takes too many steps fails its call in words, and long arguments pass', async () => {
  const levels = Object.fromEntries(Array.from({ length: 18 }, (_, i) => [`d${i}`, { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]));
  const look = { name: 'shell', input_schema: { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...levels, d18: { type: 'string' } } } };
  const id = await called({ a: 1 }, { tools: [look] });
  await settled(client, id);
  const [call] = await callsOf(id);
  assert.equal(call.status, 'error');
  assert.match(JSON.stringify(call.result), /the schema of this tool takes too many steps/);
  const many = { name: 'shell', input_schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'object', properties: { b: { type: 'integer' } } } } } } };
  await waiting(await called({ a: Array.from({ length: 5000 }, (_, i) => ({ b: i })) }, { tools: [many] }));
});

test('the same result again is fine, another one is a conflict', async () => {
  const id = await called();
  const [call] = await waiting(id);
  const path = `/api/sessions/${id}/tool-calls/${call.id}/result`;
  const give = (body) => server.ask('POST', path, { body });
  assert.equal((await give({ result: { a: 1, b: 2 } })).status, 200);
  await settled(client, id);
  const again = await give({ result: { b: 2, a: 1 }, is_error: false });
  assert.deepEqual([again.status, again.json.repeated], [200, true]);
  for (const other of [{ result: { a: 2 } }, { result: { a: 1, b: 2 }, is_error: true }]) assert.equal((await give(other)).status, 409);
  assert.equal((await server.ask('POST', `/api/sessions/${id}/tool-calls/tc_018f0000-0000-7000-8000-000000000000/result`, { body: { result: 1 } })).status, 409);
  for (const wrong of [{}, { result: 1, is_error: 'no' }, { result: 1, error: true }]) assert.equal((await give(wrong)).status, 400);
});

test('tool:result on the socket does the same', async (t) => {
  const id = await called();
  const [call] = await waiting(id);
  const live = closing(t, client.live({ retryMs: 1 }));
  await live.subscribe(id);
  await assert.rejects(live.request('tool:result', { session_id: id, tool_call_id: call.id }), /lacks the member "result"/);
  await live.request('tool:result', { session_id: id, tool_call_id: call.id, result: 'no such file', is_error: true });
  await settled(client, id);
  assert.deepEqual((await callsOf(id)).map(({ status, result }) => [status, result]), [['error', 'no such file']]);
  const again = await live.request('tool:result', { session_id: id, tool_call_id: call.id, result: 'no such file', is_error: true });
  assert.equal(again.repeated, true);
  await assert.rejects(live.request('tool:result', { session_id: id, tool_call_id: call.id, result: 1 }), /waits for its client/);
});

test('arguments that break the definition\'s schema never reach the client', async () => {
  upstream.next({ calls: [{ name: 'shell', args: { comand: 'ls' } }] });
  const id = await called({ command: 'pwd' });
  const [call] = await waiting(id);
  const [wrong] = await callsOf(id);
  assert.deepEqual([wrong.status, wrong.runs], ['error', undefined]);
  assert.match(JSON.stringify(wrong.result), /comand/);
  assert.equal(call.arguments, '{"command":"pwd"}');
  await client.stop(id);
});

test('a stop cancels the call, and what the client says later is refused', async () => {
  const id = await called();
  const [call] = await waiting(id);
  await client.stop(id);
  assert.equal((await callsOf(id))[0].status, 'cancelled');
  assert.equal((await server.ask('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body: { result: 1 } })).status, 409);
});

test('several calls at once each take their own result, in any order, beside a built-in one', async () => {
  upstream.next({ calls: [{ name: 'shell', args: { command: 'a' } }, { name: 'clock' }, { name: 'shell', args: { command: 'b' } }] });
  const id = await called();
  const [a, b] = await waiting(id, 2);
  await client.toolResult(id, b.id, 'B');
  await client.toolResult(id, a.id, 'A');
  const [last] = await waiting(id);
  const results = upstream.requests[1].body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  assert.deepEqual([results[0], results[2]], ['A', 'B']);
  await client.toolResult(id, last.id, null);
  await settled(client, id);
  upstream.check();
});

test('a definition that one chat brings is offered and runs in that chat alone', async () => {
  upstream.next({ calls: [{ name: 'lamp', args: {} }] }, { say: 'On.' }, { calls: [{ name: 'lamp', args: {} }] }, { say: 'No.' });
  const { id } = await client.createSession({ model, tools: 'none' });
  await client.chat(id, { message: 'Light!', tools: [{ name: 'lamp' }] });
  const [call] = await waiting(id);
  await client.toolResult(id, call.id, true);
  await settled(client, id);
  await client.chat(id, { message: 'Light!' });
  await settled(client, id);
  assert.deepEqual((await callsOf(id)).map(({ status, runs }) => [status, runs]), [['done', 'client'], ['error', undefined]]);
});

test('a client that says nothing costs an error after client_tool_ms', async () => {
  const own = await serve({ env: { ...upstream.env(), PARLEY_CLIENT_TOOL_MS: '50' } });
  const its = clientOf(own);
  const id = await called({ command: 'ls' }, {}, its);
  await until(async () => (await its.session(id)).status === 'completed', 'the session does not end');
  const [call] = await callsOf(id, its);
  assert.equal(call.status, 'error');
  assert.match(JSON.stringify(call.result), /did not give the result of this tool in time/);
  assert.equal(upstream.requests.length, 2);
});

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`after a restart (${signal}) the call still waits and takes its result`, async () => {
    const data = mkdtempSync(join(tmpdir(), 'parley-client-tools-'));
    after(() => rmSync(data, { recursive: true, force: true }));
    const first = await serve({ data, env: upstream.env() });
    const before1 = clientOf(first);
    upstream.next({ calls: [{ name: 'lamp', args: {} }] }, { say: 'Bright.' });
    const { id } = await before1.createSession({ model, tools: 'none' });
    await before1.chat(id, { message: 'Light!', tools: [{ name: 'lamp' }], settings: { seed: 5 } });
    const [call] = await waiting(id, 1, before1);
    await first.stop(signal);
    const second = await serve({ data, env: upstream.env(), login: false });
    const behind = clientOf(second, first.key);
    const [same] = await waiting(id, 1, behind);
    assert.equal(same.id, call.id);
    await behind.toolResult(id, call.id, 'on');
    await until(async () => (await behind.session(id)).status === 'completed', 'the session does not end');
    assert.deepEqual([upstream.last().body.seed, upstream.last().body.messages.at(-1).content], [5, 'on']); // the chat's own settings, too
    await second.stop();
  });
}
