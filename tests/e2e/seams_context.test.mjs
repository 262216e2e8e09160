// One function builds the request to a model: GET …/context counts exactly the vendor's request, and the envelope shows it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { file, run } from './harness.mjs';
import { clientOf, endsWell, script, serve, settled, until } from './live.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};
const kinds = ['system_prompt', 'memory', 'skills', 'tool_overview', 'static_var', 'text', 'long_text', 'document', 'media',
  'tool_call_request', 'tool_call_result'];

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

const json = async (method, path, body) => (await client.request(method, path, body)).json();
const contextOf = (id) => json('GET', `/api/sessions/${id}/context`);
const by = (context) => Object.fromEntries(context.segments.map(({ kind, tokens }) => [kind, tokens]));

// The output of `parley tokens` for a request recorded by the upstream.
function tokensOf(text, dialect) {
  const { code, out, err } = run(['tokens', '--as', dialect, '--json', '-'], { input: text });
  assert.equal(code, 0, err);
  return JSON.parse(out).tokens;
}

// Sends a message, and reads the context before the vendor answers.
async function sendAndLook(id, message, fields = {}) {
  const n = upstream.requests.length;
  upstream.answer = () => ({ hang: 'head' });
  await client.chat(id, { message, ...fields });
  await until(() => upstream.requests.length > n, 'the request');
  const context = await contextOf(id);
  upstream.answer = undefined;
  await client.stop(id);
  await settled(client, id);
  return { context, text: upstream.requests.at(-1).text };
}

const sessions = {
  'a first message': async () => {},
  'a memory that is called up': async () => {
    await json('POST', '/api/memories', { content: 'The harbour opens at six.', type: 'feedback' });
  },
  'a skill that the message names': async () => {
    await json('POST', '/api/memories', { content: 'Look at the tide table of the harbour first.', type: 'experience', skill_name: 'harbour' });
  },
  'tools that were used': async (id) => {
    upstream.next({ say: 'I look.', calls: [{ name: 'calc', args: { expression: '6*7' } }] }, { say: 'It is 42.' });
    await client.chat(id, { message: 'What is six times seven?' });
    await settled(client, id);
  },
  'planning mode, and a long text': async (id) => {
    upstream.next({ say: 'A plan.' });
    await client.chat(id, { message: `long ${'word '.repeat(900)}`, mode: 'planning' });
    await settled(client, id);
  },
  'a compaction before it': async (id) => {
    upstream.next({ say: `answer ${'word '.repeat(200)}` });
    await client.chat(id, { message: `long ${'word '.repeat(200)}` });
    await settled(client, id);
    upstream.next({ say: 'In short: words.' });
    await client.request('POST', `/api/sessions/${id}/compact`, {});
    await until(async () => (await client.messages(id, { limit: '100' })).turns.find(({ kind }) => kind === 'compaction'), 'a compaction');
  },
};

for (const dialect of dialectNames)
  for (const [name, prepare] of Object.entries(sessions))
    test(`${dialect}: the context has the tokens of the request that is sent (${name})`, async () => {
      const { id } = await client.createSession({ model: models[dialect] });
      await prepare(id);
      const { context, text } = await sendAndLook(id, 'And the harbour?');
      assert.equal(context.tokens, tokensOf(text, dialect));
      assert.equal(context.format, dialect);
      assert.deepEqual(context.segments.map(({ kind }) => kind), kinds);
      assert.equal(context.segments.reduce((n, { tokens }) => n + tokens, 0), context.tokens);
      assert.ok(by(context).tool_overview > 300, JSON.stringify(by(context)));
      if (name.startsWith('a memory')) assert.ok(by(context).memory > 5, JSON.stringify(by(context)));
      if (name.startsWith('tools')) assert.ok(by(context).tool_call_request && by(context).tool_call_result, JSON.stringify(by(context)));
      if (name.startsWith('planning')) assert.ok(by(context).long_text > 800 && by(context).system_prompt > 20, JSON.stringify(by(context)));
    });

test('a demo model has a context too, an empty session, and one whose model is gone', async () => {
  const { id } = await client.createSession({ model: 'demo/echo' });
  assert.ok((await contextOf(id)).tokens > 0, 'the tools are offered');
  await client.chat(id, { message: script('call calc {"expression":"1+1"}', '---', 'say two') });
  await settled(client, id);
  const context = await contextOf(id);
  assert.equal(context.format, 'turns');
  assert.ok(by(context).tool_call_request > 0);
  for (const dialect of dialectNames) {
    const { id: empty } = await client.createSession({ model: models[dialect] });
    assert.ok((await contextOf(empty)).tokens > 300);
  }
});

test('skills that are offered are a segment of their own, in the context and in the envelope', async () => {
  const me = await server.ask('POST', '/api/users', { body: { name: `pilot${Math.random()}` } });
  const own = { ...server, key: me.json.key.plaintext };
  const ask = async (method, path, body) => (await fetch(`${server.url}${path}`, {
    method, headers: { authorization: `Bearer ${own.key}`, 'content-type': 'application/json' }, ...(body ? { body: JSON.stringify(body) } : {}),
  })).json();
  await ask('POST', '/api/memories', { content: 'Ask for the draught of the ship.', type: 'experience', skill_name: 'pilotage', record_type: 'skill_comment' });
  await ask('POST', '/api/memories', { content: 'The ship is called Ada.', type: 'feedback' });
  await ask('POST', '/api/memories', { content: 'The ship must be painted.', type: 'experience', skill_name: 'painting' });
  const { id } = await ask('POST', '/api/sessions', { model: models.anthropic });
  upstream.next({ say: 'Aye.' });
  await ask('POST', `/api/sessions/${id}/chat`, { message: 'Use your pilotage to bring the ship in.' });
  await until(async () => (await ask('GET', `/api/sessions/${id}`)).status === 'completed', 'an answer');
  const context = await ask('GET', `/api/sessions/${id}/context`);
  assert.ok(by(context).skills > 10, JSON.stringify(context.segments));
  assert.ok(by(context).memory > 10, JSON.stringify(context.segments));
  const envelope = await ask('GET', `/api/sessions/${id}/export?format=envelope`);
  const segments = envelope.messages.flatMap((message) => message.segments);
  assert.deepEqual(segments.find(({ kind }) => kind === 'skills').items, [{ name: 'pilotage', description: 'Ask for the draught of the ship.' }]);
  assert.deepEqual(segments.find(({ kind }) => kind === 'memory').items.map(({ content }) => content), ['The ship is called Ada.']);
  const { system } = upstream.last().body;
  const words = Array.isArray(system) ? system.map(({ text: part }) => part).join('\n') : system;
  assert.match(words, /Skills for this[^\n]*\n- [0-9-]+ \[pilotage\]: Ask for the draught of the ship\./);
  assert.ok(!words.includes('painted'), 'a skill that nobody uses is not offered');
  const { out, code } = run(['lint', '--as', 'envelope', '-'], { input: JSON.stringify(envelope) });
  assert.equal(code, 0, out);
});

test('the envelope of a session is what its model gets: tools, memory, calls, with model, times and ids', async () => {
  const { id } = await client.createSession({ model: models['openai-chat'] });
  await json('POST', '/api/memories', { content: 'Ferries leave at noon.', type: 'feedback' });
  upstream.next({ say: 'I look.', calls: [{ name: 'calc', args: { expression: '6*7' } }] }, { say: 'It is 42.' });
  await client.chat(id, { message: 'When do ferries leave, and what is 6*7?' });
  await settled(client, id);
  const envelope = await json('GET', `/api/sessions/${id}/export?format=envelope`);
  const path = file('envelope.json', JSON.stringify(envelope));
  assert.equal(run(['validate', '--as', 'envelope', path]).code, 0);
  assert.equal(run(['lint', '--as', 'envelope', path]).code, 0, run(['lint', '--as', 'envelope', path]).out);
  assert.equal(envelope.model, models['openai-chat']);
  const segments = envelope.messages.flatMap((message) => message.segments.map((segment) => ({ ...segment, role: message.role })));
  const of = (kind) => segments.filter((segment) => segment.kind === kind);
  assert.match(of('memory')[0].items[0].content, /Ferries leave at noon/);
  assert.ok(of('tool_overview')[0].items.some(({ name, schema }) => name === 'calc' && schema.type === 'object'));
  assert.deepEqual([of('tool_call_request')[0].toolName, of('tool_call_result')[0].result], ['calc', '42']);
  assert.ok(of('text').length >= 2);
  const { turns } = await client.messages(id, { limit: '100' });
  const ids = envelope.messages.map((message) => message.id);
  assert.equal(new Set(ids).size, ids.length);
  const tool = envelope.messages.find(({ role }) => role === 'tool');
  const timeOf = (message) => envelope.messages.find(({ id: one }) => one === message)?.timestamp;
  for (const turn of turns) assert.equal(timeOf(turn.id), new Date(turn.started_at).getTime(), turn.id);
  for (const message of envelope.messages) assert.ok(message.timestamp > 1e12, JSON.stringify(message));
  assert.equal(tool.timestamp, timeOf(tool.id.replace(/_2$/, '')));
  assert.match(tool.id, /^entry_.*_2$/, 'the id of its turn, and which of its messages');
});

test('a summary is sent once, and stands once in every export', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  await sessions['a compaction before it'](id);
  const { text } = await sendAndLook(id, 'Go on.');
  assert.equal(text.split('In short: words.').length, 2, text);
  for (const format of ['harmony', 'openai-chat', 'anthropic', 'envelope']) {
    const exported = JSON.stringify(await json('GET', `/api/sessions/${id}/export?format=${format}`));
    assert.equal(exported.split('In short: words.').length, 2, format);
  }
});

test('the server ends in good order', () => endsWell(server));
