// Interactions between the parts of the product: fifty rows of past faults, each with the tests that now prevent it.
// The first test reads this table and fails if a named test was renamed or removed. Rows that no other suite covers as
// a whole are tested below, by their number.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { root, run } from './harness.mjs';
import { clientOf, endsWell, script, serve, settled } from './live.mjs';

// row -> suite: words of a test's name
const rows = {
  1: { seams_perception: ['an image in a message is kept once as a blob', 'an image of a session reaches the vendor', 'an export has the media as they are'] },
  2: { seams_context: ['a summary is sent once'] },
  3: { seams_prompt_run: ['the config of a prompt that is run reaches the model'], seams_settings: ['the system prompt and the settings of a session reach the model'] },
  4: { seams_prompt_run: ['parley run FILE asks the model of its config'] },
  5: { seams_metadata: ['an answer keeps usage, cost, latency', 'convert says usage, timing and model of turns as metadata'] },
  6: { seams_errors: ['openai-chat gets ${what} as JSON', 'a flag of anthropic is JSON in'] },
  7: { seams_handoff: ['has all that the command line can say', 'the hop after goes on from the packet'] },
  8: { seams_export: ['a call that was stopped has its error in every export', 'while a person is asked'] },
  9: { seams_export: ['a sub-agent is exported apart'] },
  10: { seams_export: ['ids, names, times, metadata, citations and the model survive', 'what an import cannot keep is in its report'] },
  11: { seams_perception: ['a blob that a gateway request names goes to the vendor as data'] },
  12: { seams_perception: ['the time of a frame is said before the frame', 'raw samples reach OpenAI as a WAV file'], seams_media: ['an image is turned as its message says'] },
  13: { seams_context: ['the context has the tokens of the request that is sent'] },
  14: { seams_variables: ['a variable stands in its sentence', 'in a structured chat it is {{name}}'] },
  15: { seams_context: ['the envelope of a session is what its model gets'], seams_prompt_run: ['remembers the values of variables'] },
  16: { seams_sessions: ['retention_days deletes what nobody changed'] },
  17: { seams_sessions: ['solution_id names a prompt the session starts from', 'both filter lists'], seams_queries: ['an unknown query parameter is refused'] },
  18: { seams_sessions: ['is_pinned counts at creation'] },
  19: { seams_sessions: ['shared: true makes a link that is answered'] },
  20: { seams_sessions: ['a session without an intent is named by its first message'] },
  21: { seams_live: ['patches alone tell that a turn is'] },
  22: { seams_says: ['a card that keeps to the seed is shown', 'validate --as tool-result agrees'] },
  23: { seams_says: ['blocks of the assistant and of the system are refused'] },
  24: { seams_says: ['a model enters planning, reports a plan'] },
  25: { seams_says: ['every built-in tool has a name for people'] },
  26: { trim: ['who trims again keeps what an earlier summary said'] },
  27: { seams_citations: ['an answer that cites is cited in the session', 'a context_block is read'] },
  28: { seams_metadata: ['ratings and a blocked prompt become a safety_check', 'what a filter says becomes a safety_check'] },
  29: { seams_perception: ['frames of an uploaded video are parts'], media: ['a range of the video is enough'] },
  30: { seams_rows: ['seams 30:'], seams_media: ['an imported request keeps its images in the prompt'] },
  31: { seams_prompt_run: ['an exported model loses the provider', 'the commands of an export go to the vendor'] },
  32: { seams_prompt_run: ['a prompt that ends with the assistant', 'messages of one role in a row are merged'] },
  33: { seams_handoff: ['what is missing in a packet, or was dropped from it, is named'] },
  34: { seams_harmony: ['thinking is a part that others may pass over'] },
  35: { summaries: ['what cannot be made shorter is not compacted', 'tokens before and after are those of the request'] },
  36: { seams_sessions: ['a replay has the turns and the calls of its source', 'tells its position'] },
  37: { seams_sessions: ['scope, owner and skill_name decide', 'a memory comes from a session of the user'] },
  38: { seams_words: ['Accept-Language decides the language', 'is found in Chinese and in English'] },
  39: { seams_context: ['with model, times and ids'] },
  40: { seams_words: ['lint finds what does not suit in an envelope'] },
  41: { seams_harmony: ['a document with a model and fields of harmony'] },
  42: { seams_harmony: ['a part of a type that is none', 'two parts of one index', 'an error that does not say how or why', 'whoever has no name', 'signed links of every cloud'] },
  43: { seams_rows: ['seams 43:'] },
  44: { seams_handoff: ['a task goes back to whoever gave it'] },
  45: { seams_metadata: ['cost has one name'] },
  46: { seams_live: ['REST and the socket take the same parts', 'a question is answered with askuser_answer'] },
  47: { seams_rows: ['seams 47:'] },
  48: { seams_rows: ['seams 48:'] },
  49: { seams_live: ['every patch of text has the whole content'] },
  50: { seams_words: ['a variable without a value is asked for'] },
};

test('every row has its tests', () => {
  assert.deepEqual(Object.keys(rows).map(Number), Array.from({ length: 50 }, (_, i) => i + 1));
  for (const [row, suites] of Object.entries(rows))
    for (const [suite, names] of Object.entries(suites)) {
      const tests = readFileSync(join(root, 'tests', 'e2e', `${suite}.test.mjs`), 'utf8').split('\n').filter((line) => /^\s*test\(/.test(line));
      for (const name of names) assert.ok(tests.some((line) => line.includes(name)), `row ${row}: ${suite} has no test "${name}"`);
    }
});

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});
const called = async () => {
  const { id } = await client.createSession({ model: 'demo/agent' });
  await client.chat(id, { message: script('call calc {"expression":"1+1"}', '---', 'say two') });
  await settled(client, id);
  return id;
};
const conversation = (model) => ({
  model,
  messages: [{ id: 'm1', role: 'user', created_at: 1715000000, content: [{ type: 'text', text: 'Add', index: 0 }] },
    { id: 'm2', role: 'assistant', created_at: 1715000001, content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'calc', arguments: '{"expression":"1+1"}' } }] },
    { id: 'm3', role: 'tool', created_at: 1715000002, tool_call_id: 'c1', name: 'calc', content: [{ type: 'text', text: '2', index: 0 }] }],
});

test('seams 30: an image in a prompt that is imported is kept, or its loss is told', async () => {
  const image = 'https://a.example/picture.png';
  const request = { model: 'gpt-4o', messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: image } }] }] };
  const { status, text } = await server.ask('POST', '/api/prompts/import', { body: { files: [{ path: 'look.json', text: JSON.stringify(request) }] } });
  assert.ok(status < 300, text);
  const [{ id }] = (await server.ask('GET', '/api/prompts')).json.items;
  const kept = await server.ask('GET', `/api/prompts/${id}`);
  assert.ok(kept.text.includes(image) || /not kept: .*image_url/.test(kept.json.latest.note), `${text}\n${kept.text}`);
});

test('seams 43: every message of a harmony export has its id, and a whole second', async () => {
  const { json } = await server.ask('GET', `/api/sessions/${await called()}/export?format=harmony`);
  const messages = json.messages ?? json;
  assert.ok(messages.some(({ role }) => role === 'tool'));
  for (const { id, created_at: at, role } of messages) {
    assert.match(id, /^entry_/, role);
    assert.ok(Number.isInteger(at) && at > 1e9, `${role} ${at}`);
  }
  assert.equal(new Set(messages.map(({ id }) => id)).size, messages.length);
});

test('seams 47: a call that is imported looks like one that was made here', async () => {
  const made = await server.ask('POST', '/api/sessions/import', { body: { document: conversation('demo/echo'), from: 'harmony' } });
  const blocksOf = async (id) => (await client.messages(id)).turns.flatMap(({ blocks }) => blocks).filter(({ type }) => /^tool_/.test(type));
  const shape = (blocks) => blocks.map(({ type, content, tool_call_id: id, tool_name: name }) =>
    [type, name, type === 'tool_use' ? [content.id === id, content.name, content.input] : String(content)]);
  assert.deepEqual(shape(await blocksOf(made.json.id)), shape(await blocksOf(await called())));
});

test('seams 48: a turn has duration_ms and context_window, converted and imported', async () => {
  const { out, code } = run(['convert', '--from', 'harmony', '--to', 'turns', '-'], { input: JSON.stringify(conversation('gpt-4o')) });
  assert.equal(code, 0);
  for (const turn of JSON.parse(out)) assert.ok(Number.isInteger(turn.duration_ms) && Number.isInteger(turn.context_window), JSON.stringify(turn));
  assert.equal(run(['validate', '--as', 'turns', '-'], { input: out }).code, 0);
  const live = (await client.messages(await called())).turns.at(-1).context_window;
  const made = await server.ask('POST', '/api/sessions/import', { body: { document: conversation('demo/agent'), from: 'harmony' } });
  const imported = (await client.messages(made.json.id)).turns.filter(({ role }) => role === 'assistant');
  for (const turn of imported) assert.equal(turn.context_window, live);
});

test('the server ends in good order', () => endsWell(server));
