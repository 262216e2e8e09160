// Unexpected use of sessions: values of other types in every member, two concurrent changes, changes during a turn, and
// power loss. The server refuses with a message or does it; it never fails, and nothing is done twice.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { clientOf, endsWell, script, serve, settled, Socket, textOf, until } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const model = 'openai-chat/gpt-4o';
const lamp = { name: 'lamp', input_schema: { type: 'object' } };
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
const statusOf = async (id, of = client) => (await of.session(id)).status;
const pending = (id, of = client) => until(async () => (await callsOf(id, of)).find(({ status, runs }) => runs === 'client' && status === 'pending'), 'a call that waits');
const question = (id, of = client) => until(async () => (await of.questions(id))[0], 'a question');
const asking = script('call AskUserQuestion {"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}', '---', 'results');

async function lit() {
  upstream.next({ calls: [{ name: 'lamp', args: {} }] }, { say: 'Bright.' });
  const { id } = await client.createSession({ model, tools: [lamp] });
  await client.chat(id, { message: 'Light!' });
  return { id, call: await pending(id) };
}

// --- other types -----------------------------------------------------------------------------------------------------

const samples = { string: 'x', number: 0.5, integer: 7, boolean: true, null: null, array: [[]], object: { 'no such': 1 } };

// Whether a schema may accept a value of this type; unclear cases are not tried.
function mayTake(schemas, schema, type) {
  if (schema === true || schema === undefined) return true;
  if (schema.$ref) return mayTake(schemas, schemas[schema.$ref.split('/').at(-1)], type);
  const any = schema.anyOf ?? schema.oneOf;
  if (any) return any.some((one) => mayTake(schemas, one, type));
  if (schema.enum) return schema.enum.some((value) => typeof value === type || (value === null && type === 'null'));
  if ('const' in schema) return typeof schema.const === type;
  if (!schema.type) return true;
  const types = [schema.type].flat();
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

test('a value of another type is refused in every member of every route of sessions, and nothing fails', async () => {
  const openapi = (await server.raw('GET', '/openapi.json', { key: null })).json;
  const { schemas } = openapi.components;
  const { id } = await client.createSession({ model: 'demo/echo' });
  let n = 0;
  for (const [path, operations] of Object.entries(openapi.paths)) {
    if (!/^\/api\/(sessions|handoffs|questions|prompts|memories)/.test(path)) continue;
    for (const [method, operation] of Object.entries(operations)) {
      const ref = operation.requestBody?.content?.['application/json']?.schema.$ref;
      if (!ref) continue;
      const schema = schemas[ref.split('/').at(-1)];
      for (const [name, member] of Object.entries(schema.properties ?? {}))
        for (const [type, value] of Object.entries(samples)) {
          if (mayTake(schemas, member, type)) continue;
          const answer = await server.raw(method.toUpperCase(), path.replace('{id}', id).replace(/\{[^}]*\}/g, 'none'), { body: { [name]: value } });
          assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${path} ${name} = ${JSON.stringify(value)}: ${answer.status} ${answer.text}`);
          n++;
        }
      for (const body of ['[]', '5', 'null', '"x"', '{', '', '{"a":1,"a":2}', '{"no such member":1}', '{"\\ud800":1}'])
        assert.ok((await server.raw(method.toUpperCase(), path.replace('{id}', id).replace(/\{[^}]*\}/g, 'none'), { body })).status < 500, `${method} ${path} ${body}`);
    }
  }
  assert.ok(n > 200, `${n} were tried`);
  assert.equal((await server.raw('GET', '/healthz', { key: null })).status, 200);
});

test('a document that nobody would write is imported as it can be, or refused with words', async () => {
  const deep = (n) => `${'['.repeat(n)}${']'.repeat(n)}`;
  const documents = [
    null, 5, [], {}, '', 'x', [[]], [null], [{}], [{ role: 5 }], [{ role: 'user' }], [{ role: 'user', content: 5 }], { messages: 5 }, { messages: [5] },
    [{ role: 'assistant', tool_calls: [{ id: 5, function: 5 }] }], [{ role: 'tool', tool_call_id: 'nobody', content: 'x' }],
    [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,!!!' } }] }],
    [{ role: 'user', content: [{ type: 'media', blob: '../../etc/passwd' }] }], [{ role: 'user', content: 'a\u0000b' }],
    `[{"role":"user","content":${deep(60)}}]`, `[{"role":"user","content":"x","metadata":${deep(50)}}]`,
    '[{"role":"user","role":"assistant","content":"twice"}]', '[{"role":"user","content":"\\ud800"}]',
  ];
  for (const document of documents)
    for (const from of [undefined, 'harmony', 'turns', 'anthropic']) {
      const made = await server.raw('POST', '/api/sessions/import?report=body', { body: { document, ...(from ? { from } : {}) } });
      const what = `${from} ${JSON.stringify(document)?.slice(0, 200)}: ${made.status} ${made.text.slice(0, 500)}`;
      assert.ok(made.status === 201 || (made.status >= 400 && made.status < 500 && made.json.detail), what);
      if (made.status !== 201) continue;
      for (const format of ['harmony', 'openai-chat', 'envelope', 'turns'])
      {
        // A session without content cannot be a request of Chat.
        const exported = await server.raw('GET', `/api/sessions/${made.json.id}/export?format=${format}`);
        assert.ok(exported.status === 200 || (exported.status === 400 && /no message/.test(exported.json.detail)), `${format} of ${what}: ${exported.text}`);
      }
      assert.ok((await server.raw('GET', `/api/sessions/${made.json.id}/context`)).status === 200, what);
    }
});

// --- concurrent changes ----------------------------------------------------------------------------------------------

test('of two answers to one question, at once and by two ways, one counts', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { id } = await client.createSession({ model: 'demo/agent' });
    await client.chat(id, { message: asking });
    const { tool_call_id: call } = await question(id);
    const socket = new Socket(server);
    t.after(() => socket.close());
    await socket.opened;
    await socket.ask('session:subscribe', { session_id: id });
    const say = (answer) => server.raw('POST', `/api/sessions/${id}/chat`, { body: { askuser_answer: { tool_call_id: call, answer: { 'Which?': answer } } } });
    const answers = await Promise.all([say('a'), say('b'), socket.ask('chat:send', { session_id: id, askuser_answer: { tool_call_id: call, answer: { 'Which?': 'c' } } })]);
    const taken = answers.filter((one) => (one.ack ? one.ok : one.status < 300));
    assert.equal(taken.length, 1, JSON.stringify(answers.map(({ status, text, error }) => [status, text, error])));
    for (const one of answers) assert.ok(one.ack || one.status < 500, one.text);
    await settled(client, id);
    const turns = await turnsOf(id);
    assert.equal(turns.flatMap(({ blocks }) => blocks).filter(({ type }) => type === 'ask_user_answer').length, 1);
  }
});

test('of two results of one call the first counts, and the model is asked once', async () => {
  const { id, call } = await lit();
  const give = (result) => server.raw('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body: { result } });
  const statuses = (await Promise.all(['a', 'b', 'c', 'd'].map(give))).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 409, 409, 409]);
  await until(async () => await statusOf(id) === 'completed', 'the end');
  assert.equal(upstream.requests.length, 2);
});

test('a result and a stop at once leave a session that is at rest and can go on', async () => {
  for (let round = 0; round < 6; round++) {
    const { id, call } = await lit();
    const both = [client.stop(id).catch((error) => error), server.raw('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body: { result: round } })];
    const [, result] = await Promise.all(round % 2 ? both.reverse().reverse() : both);
    assert.ok([200, 409].includes(result.status), result.text);
    await until(async () => ['completed', 'interrupted', 'stopped', 'failed'].includes(await statusOf(id)), 'rest');
    assert.ok((await callsOf(id)).every(({ status }) => ['done', 'cancelled', 'error'].includes(status)));
    upstream.reset();
    upstream.next({ say: 'Again.' });
    await client.chat(id, { message: 'Go on' });
    await until(async () => textOf((await turnsOf(id)).at(-1)) === 'Again.', 'the next answer');
    upstream.check();
    upstream.reset();
  }
});

test('a turn that is under way keeps its model; the next one has all that was changed meanwhile', async () => {
  const { id, call } = await lit();
  const patched = await server.ask('PATCH', `/api/sessions/${id}`, { body: { settings: { temperature: 0.1 }, tools: 'none', model: 'openai-chat/gpt-4o-mini', system_prompt: 'Be loud.', intent: 'new' } });
  assert.equal(patched.status, 200, patched.text);
  await client.toolResult(id, call.id, 'on');
  await until(async () => await statusOf(id) === 'completed', 'the end');
  const during = upstream.last();
  assert.equal(during.model, 'gpt-4o');
  upstream.next({ say: 'LOUD' });
  await client.chat(id, { message: 'And now?' });
  await settled(client, id);
  const next = upstream.last();
  assert.deepEqual([next.model, next.body.temperature, next.body.tools], ['gpt-4o-mini', 0.1, undefined]);
  assert.match(JSON.stringify(next.body.messages[0]), /Be loud/);
  upstream.check();
});

test('a session in the middle of a turn is exported, forked, handed over, compacted, shared and deleted with words', async () => {
  const { id, call } = await lit();
  const ask = (method, path, body) => server.raw(method, `/api/sessions/${id}${path}`, { body });
  assert.equal((await ask('GET', '/export?format=harmony')).status, 200);
  assert.equal((await ask('GET', '/context')).status, 200);
  for (const [path, body] of [['/fork', {}], ['/handoff', { target: 'coder' }], ['/compact', {}], ['/share', {}], ['/replay', {}]]) {
    const answer = await ask('POST', path, body);
    assert.ok(answer.status < 500, `${path}: ${answer.status} ${answer.text}`);
    if (answer.status >= 400) assert.ok(answer.json.detail, path);
  }
  const gone = await ask('DELETE', '');
  assert.ok(gone.status < 300, gone.text);
  assert.equal((await server.raw('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body: { result: 1 } })).status, 404);
  assert.equal((await ask('GET', '/export')).status, 404);
});

// --- power loss ------------------------------------------------------------------------------------------------------

test('after kill -9 at any step of a turn with a question and a client\'s tool the story goes on', async () => {
  const data = mkdtempSync(join(tmpdir(), 'parley-stranger-'));
  after(() => rmSync(data, { recursive: true, force: true }));
  let now = await serve({ data, env: upstream.env() });
  const { key } = now;
  let its = clientOf(now);
  const power = async () => {
    await now.stop('SIGKILL');
    now = await serve({ data, env: upstream.env(), login: false });
    now.key = key;
    its = clientOf(now, key);
  };
  upstream.next({ calls: [{ name: 'lamp', args: {} }, { name: 'AskUserQuestion', args: { questions: [{ question: 'Which?', options: [{ label: 'a' }] }] } }] }, { say: 'Done.' });
  const { id } = await its.createSession({ model, tools: [lamp, 'AskUserQuestion'], settings: { temperature: 0.4 } });
  await its.chat(id, { message: 'Both!' });
  const call = await pending(id, its);
  const { tool_call_id: asked } = await question(id, its);
  await power();
  assert.equal((await pending(id, its)).id, call.id);
  await its.toolResult(id, call.id, 'on');
  await power();
  assert.equal((await question(id, its)).tool_call_id, asked);
  const again = await now.ask('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body: { result: 'on' } });
  assert.deepEqual([again.status, again.json.repeated], [200, true]);
  assert.equal((await now.ask('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body: { result: 'off' } })).status, 409);
  await its.answer(id, asked, { 'Which?': 'a' });
  await until(async () => await statusOf(id, its) === 'completed', 'the end');
  await power();
  const turns = await turnsOf(id, its);
  assert.equal(textOf(turns.at(-1)), 'Done.');
  assert.deepEqual((await callsOf(id, its)).map(({ status }) => status), ['done', 'done']);
  assert.equal(upstream.requests.length, 2);
  assert.equal(upstream.last().body.temperature, 0.4);
  upstream.check();
  const { json } = await now.ask('GET', `/api/sessions/${id}/export?format=harmony`);
  assert.equal((await now.ask('POST', '/api/lint', { body: { document: json, as: 'harmony' } })).json.findings.filter(({ severity }) => severity === 'error').length, 0);
  await now.stop();
});

test('the server ends in good order', () => endsWell(server));
