// One scenario on each dialect, with every part of the product: a prompt with an image, variables and tools starts a session; a person
// shows another image; the model thinks, cites and calls two tools (one of the client, one that fails), asks a question and gets its
// answer. The session is exported to nine formats and imported again, compacted, and handed over twice. Every step checks its result.
// Every loss is in a report.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { file, run } from './harness.mjs';
import { clientOf, serve, settled, textOf, until } from './live.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-4o', 'openai-responses': 'openai/gpt-4o',
  gemini: 'gemini/gemini-2.5-pro',
};
const formats = ['turns', 'harmony', 'envelope', 'structured-chat', 'openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss'];
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const lookup = { name: 'lookup', description: 'Looks a word up', parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } };
const prompt = {
  protocol: 'structured-chat', system_prompt: 'You are {{who}}. Keep to the {{topic}}.',
  messages: [{ id: 'm1', role: 'user', content: 'Greet me about the {{topic}}.', media: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } }] }],
  variables: [{ name: 'who' }, { name: 'topic' }],
  config: { temperature: 0.3, max_tokens: 2000, tools: [{ type: 'function', function: lookup }] },
};
const variables = { who: 'the keeper Ada', topic: 'lighthouse' };
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const question = { question: 'Which colour?', options: [{ label: 'red' }, { label: 'teal' }] };
const cites = [{ url: 'https://source.example/lamp', title: 'Lamps of old' }];
const filler = `The lamp turns. ${'It burns oil and turns slowly in the night. '.repeat(60)}`;

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

const ask = async (method, path, body, headers) => {
  const answer = await server.ask(method, path, { body, headers });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.json;
};
const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;
const callsOf = async (id) => (await turnsOf(id)).flatMap(({ tool_calls: calls }) => calls);
const blocksOf = (turns, type) => turns.flatMap(({ blocks }) => blocks).filter((block) => block.type === type);
const answersOf = (turns) => turns.filter(({ role }) => role === 'assistant');
const hashOf = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

// The tools in a vendor's request, in its own format.
const toolsIn = (body) => (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [tool]).map((tool) => tool.name ?? tool.function.name).sort();
const imageIn = {
  anthropic: (body) => body.messages.flatMap(({ content }) => content).find(({ type }) => type === 'image')?.source.data,
  'openai-chat': (body) => body.messages.flatMap(({ content }) => content).find((part) => part?.type === 'image_url')?.image_url.url.split(',')[1],
  'openai-responses': (body) => body.input.flatMap(({ content }) => content ?? []).find(({ type }) => type === 'input_image')?.image_url.split(',')[1],
  gemini: (body) => body.contents.flatMap(({ parts }) => parts).find(({ inlineData }) => inlineData)?.inlineData.data,
};
const systemIn = {
  anthropic: ({ system }) => JSON.stringify(system),
  'openai-chat': ({ messages }) => JSON.stringify(messages.filter(({ role }) => ['system', 'developer'].includes(role))),
  'openai-responses': ({ instructions, input }) => JSON.stringify([instructions, input.filter(({ role }) => ['system', 'developer'].includes(role))]),
  gemini: ({ systemInstruction }) => JSON.stringify(systemInstruction),
};
const resultsIn = {
  anthropic: (body) => body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'tool_result').map(({ content }) => JSON.stringify(content)),
  'openai-chat': (body) => body.messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content)),
  'openai-responses': (body) => body.input.filter(({ type }) => type === 'function_call_output').map(({ output }) => JSON.stringify(output)),
  gemini: (body) => body.contents.flatMap(({ parts }) => parts).filter(({ functionResponse }) => functionResponse).map(({ functionResponse }) => JSON.stringify(functionResponse.response)),
};

// --- facts, and where they are ---------------------------------------------------------------------------------------

// A fact of the scenario, with the words that identify it.
const facts = {
  'the text of the prompt': 'Greet me about the ',
  'a variable of the prompt': 'lighthouse',
  'the person\'s words': 'What does this show?',
  'the thinking': 'The lamp must be old.',
  'the words that cite': 'It is a lamp of old.',
  'the address of the source': cites[0].url,
  'the title of the source': cites[0].title,
  'the call of the client\'s tool': '"word":"lamp"',
  'the result of the client': 'a light in a tower',
  'the call that fails': '1/0',
  'the error': 'divides by zero',
  'the question': 'Which colour?',
  'the answer of the person': 'teal',
  'the last words': 'Painted.',
};
// JSON inside JSON is compared as JSON.
const plain = (value) => {
  let text = typeof value === 'string' ? value : JSON.stringify(value);
  for (let i = 0; i < 4; i++) text = text.replaceAll('\\"', '"').replaceAll('\\\\', '\\');
  return text.replace(/": /g, '":').replace(/\\n/g, '\n');
};
const has = (value, words) => plain(value).includes(words) || plain(value).includes(words.replaceAll('/', '\\/'));
const at = (document, pointer) => pointer.split('/').slice(1).reduce((value, key) => value?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);

// Whether a report names it: a value that contains the words was lost, moved or converted there. A loss without a
// pointer names nothing.
const names = (report, source, words) => report.losses.some(({ pointer, detail }) => {
  const lost = pointer ? at(source, pointer) : undefined;
  return (lost !== undefined && has(lost, words)) || has(detail ?? '', words);
});

function nothingIsLost(what, document, reports) {
  for (const [fact, words] of Object.entries(facts))
    assert.ok(has(document, words) || reports.some(([report, source]) => names(report, source, words)), `${what}: ${fact} (${words}) is lost without word\n${plain(document).slice(0, 6000)}\n${JSON.stringify(reports.map(([report]) => report), null, 1)}`);
}

async function exportsComeHome(id) {
  const own = await ask('GET', `/api/sessions/${id}/export?format=turns`);
  const source = { turns: own };
  for (const format of formats) {
    const { document, report } = await ask('GET', `/api/sessions/${id}/export?format=${format}&report=body`);
    assert.equal(report.lossless, report.losses.length === 0);
    nothingIsLost(`export as ${format}`, document, [[report, source], [report, own]]);
    if (!['gpt-oss', 'structured-chat'].includes(format)) {
      const path = file(`story-${format}.json`, JSON.stringify(document));
      assert.equal(run(['validate', '--as', format, path]).code, 0, `${format}: ${run(['validate', '--as', format, path]).out}`);
    }
    if (format === 'harmony') {
      const { code, out } = run(['lint', '--as', 'harmony', '-'], { input: JSON.stringify(document) });
      assert.equal(code, 0, out);
    }
    const made = await ask('POST', '/api/sessions/import?report=body', { document, from: format });
    const back = await ask('GET', `/api/sessions/${made.id}/export?format=turns`);
    nothingIsLost(`import of ${format}`, back, [[report, source], [report, own], [made.report, document]]);
    if (['turns', 'harmony', 'anthropic'].includes(format)) {
      const [before1, after1] = [own, back].map((turns) => turns.filter(({ role }) => role === 'assistant').length);
      assert.ok(after1 >= 1 && after1 <= before1, `${format}: ${after1} answers of ${before1}`);
    }
    if (format === 'turns') {
      const same = ({ role, status, blocks, tool_calls: calls, metadata }) => ({
        role, status, blocks: blocks.map(({ type, content }) => [type, content]), calls: calls.map((call) => [call.tool_name, call.status, call.result]), citations: metadata?.citation_map,
      });
      assert.deepEqual(back.map(same), own.map(same));
    }
  }
}

// --- the story -------------------------------------------------------------------------------------------------------

for (const dialect of dialectNames)
  test(`${dialect}: what one plane knows, the next one keeps`, async () => {
    // Runs a prompt: its variables, settings and tools reach the vendor.
    upstream.next({ say: 'Good evening at the lighthouse.' });
    const kept = await ask('POST', '/api/prompts', { name: `story-${dialect}`, type: 'structured', content: prompt });
    const ran = await ask('POST', `/api/prompts/${kept.id}/run`, { variables, model: models[dialect] });
    const id = ran.items[0].session_id;
    await settled(client, id);
    const first = upstream.last(dialect);
    assert.match(systemIn[dialect](first.body), /You are the keeper Ada\. Keep to the lighthouse\./);
    assert.match(first.text, /Greet me about the lighthouse\./);
    assert.equal(imageIn[dialect](first.body), png);
    assert.deepEqual(toolsIn(first.body), ['lookup']);
    assert.equal((first.body.generationConfig ?? first.body).temperature, 0.3);
    const session = await client.session(id);
    assert.deepEqual([session.status, session.model, session.settings.temperature, session.settings.max_tokens], ['completed', models[dialect], 0.3, 2000]);
    assert.equal(textOf(answersOf(await turnsOf(id))[0]), 'Good evening at the lighthouse.');
    const begun = await ask('GET', `/api/sessions/${id}/context`);
    const tokensOf = (context, kind) => context.segments.find((segment) => segment.kind === kind).tokens;
    assert.ok(tokensOf(begun, 'static_var') > 0 && tokensOf(begun, 'tool_overview') > 0, JSON.stringify(begun));

    // A person shows an image; the model thinks, cites, calls a tool of the client and one that fails.
    await ask('PATCH', `/api/sessions/${id}`, { tools: ['calc', 'AskUserQuestion', { name: lookup.name, description: lookup.description, input_schema: lookup.parameters }] });
    upstream.next(
      { think: 'The lamp must be old.', say: 'It is a lamp of old.', cites, calls: [{ name: 'lookup', args: { word: 'lamp' } }, { name: 'calc', args: { expression: '1/0' } }], usage: { input: 41, output: 23 } },
      { calls: [{ name: 'AskUserQuestion', args: { questions: [question] } }] },
      { say: 'Painted.' });
    const message = [{ type: 'text', text: 'What does this show?' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } }];
    await ask('POST', `/api/sessions/${id}/chat`, { message }, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    const call = await until(async () => (await callsOf(id)).find(({ runs, status }) => runs === 'client' && status === 'pending'), 'the call of the client');
    const shown = upstream.last(dialect);
    assert.equal(imageIn[dialect](shown.body), png);
    assert.match(shown.headers.traceparent, new RegExp(`^00-${trace}-`));
    assert.deepEqual(toolsIn(shown.body), ['AskUserQuestion', 'calc', 'lookup']);
    let turns = await turnsOf(id);
    const [media] = blocksOf(turns, 'media');
    assert.deepEqual([media.content.kind, media.content.mime, media.content.detail, media.content.size], ['image', 'image/png', 'low', Buffer.from(png, 'base64').length]);
    const thinker = answersOf(turns).at(-1);
    assert.equal(thinker.blocks.find(({ type }) => type === 'thinking').content.trim(), 'The lamp must be old.');
    assert.match(textOf(thinker), /^It is a lamp of old\.<cite id="cit_1"\/>$/);
    assert.deepEqual([call.tool_name, JSON.parse(call.arguments)], ['lookup', { word: 'lamp' }]);
    assert.equal((await client.session(id)).status, 'waiting_for_input');

    // The client answers, the failure is sent as JSON, and a person is asked.
    await ask('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { result: { meaning: 'a light in a tower' } });
    const asked = await until(async () => (await client.questions(id))[0], 'the question');
    const results = resultsIn[dialect](upstream.last(dialect).body).map(plain);
    assert.equal(results.length, 2);
    assert.ok(results.some((result) => result.includes('a light in a tower')), results.join());
    assert.ok(results.some((result) => /"status":"error"/.test(result) && /"error_type":"ToolFailed"/.test(result) && /divides by zero/.test(result)), results.join());
    assert.deepEqual((await callsOf(id)).map(({ tool_name: name, status }) => [name, status]).slice(0, 2), [['lookup', 'done'], ['calc', 'error']]);
    await ask('POST', `/api/sessions/${id}/chat`, { askuser_answer: { tool_call_id: asked.tool_call_id, answer: { 'Which colour?': 'teal' } } });
    await until(async () => (await client.session(id)).status === 'completed', 'the end of the turn');
    assert.ok(resultsIn[dialect](upstream.last(dialect).body).some((result) => result.includes('teal')));
    turns = await turnsOf(id);
    assert.equal(blocksOf(turns, 'ask_user_answer').length, 1);
    const last = answersOf(turns).at(-1);
    assert.match(textOf(last), /Painted\.$/);
    assert.equal(last.metadata.trace_id, trace);
    const [source] = turns.flatMap(({ metadata }) => Object.values(metadata?.citation_map ?? {}));
    assert.deepEqual([source.url, source.source_name], [cites[0].url, cites[0].title]);
    assert.ok(last.metadata.token_usage.total_cost_usd > 0 && last.metadata.latency_ms.total_time >= 0, JSON.stringify(last.metadata));
    assert.equal(last.metadata.model_version, models[dialect].split('/')[1]);
    upstream.check();

    // Nine formats, and the way home.
    await exportsComeHome(id);

    // A compaction: the summary is sent once, and the figures match the request.
    upstream.next({ say: filler }, { say: 'In short: Ada keeps the lamp teal.' });
    await ask('POST', `/api/sessions/${id}/chat`, { message: `Tell it again. ${filler}` });
    await settled(client, id);
    const before1 = await ask('GET', `/api/sessions/${id}/context`);
    await ask('POST', `/api/sessions/${id}/compact`, {});
    const compaction = await until(async () => (await turnsOf(id)).find(({ kind, status }) => kind === 'compaction' && status === 'completed'), 'the compaction');
    const { tokens_before: was, tokens_after: is } = compaction.compaction ?? compaction;
    assert.ok(was > is, JSON.stringify(compaction));
    assert.equal(was, before1.tokens);
    assert.equal((await ask('GET', `/api/sessions/${id}/context`)).tokens, is);
    upstream.next({ say: 'Still teal.' });
    await ask('POST', `/api/sessions/${id}/chat`, { message: 'And now?' });
    await settled(client, id);
    assert.equal(upstream.last(dialect).text.split('Ada keeps the lamp teal').length, 2, 'the summary is sent once');
    for (const format of formats.filter((one) => one !== 'turns')) {
      const { document } = await ask('GET', `/api/sessions/${id}/export?format=${format}&report=body`);
      assert.equal(plain(document).split('Ada keeps the lamp teal').length, 2, `${format}: the summary stands once`);
    }
    upstream.check();

    // Two handovers: the objective, its hash, the constraints and the artifacts stay.
    const task = { target: 'coder', source: 'planner', objective: 'Paint the lamp', constraints: ['only teal'], artifacts: { plan: './plan.md' }, steps: ['asked the person'], next: 'buy paint', trace_id: trace };
    const packet = await ask('POST', `/api/sessions/${id}/handoff`, task);
    assert.deepEqual([packet.context.primary_objective, packet.meta.objective_hash, packet.context.constraints, packet.context.artifacts, packet.hop_count, packet.trace_id],
      ['Paint the lamp', hashOf('Paint the lamp'), ['You are the keeper Ada. Keep to the lighthouse.', 'only teal'],
        { plan: './plan.md', image_1: `/api/blobs/${media.content.blob}` }, 1, trace]);
    assert.match(packet.history_summary, /Ada keeps the lamp teal/);
    const taken = await ask('POST', '/api/handoffs', { packet, agent: 'coder' });
    upstream.next({ say: 'I paint.' });
    await ask('PATCH', `/api/sessions/${taken.id}`, { model: models[dialect] });
    await ask('POST', `/api/sessions/${taken.id}/chat`, { message: 'Begin.' });
    await settled(client, taken.id);
    assert.match(plain(upstream.last(dialect).text), /Paint the lamp/);
    const next = await ask('POST', `/api/sessions/${taken.id}/handoff`, { target: 'tester', constraints: ['two coats'] });
    assert.deepEqual([next.context.primary_objective, next.meta.objective_hash, next.hop_count, next.visited, next.trace_id], ['Paint the lamp', hashOf('Paint the lamp'), 2, ['planner', 'coder'], trace]);
    assert.ok(next.context.constraints.includes('only teal') && next.context.constraints.includes('two coats') && next.context.artifacts.plan);
    assert.equal(run(['handoff', 'check', '--previous', file('previous.json', JSON.stringify(packet)), '-'], { input: JSON.stringify(next) }).code, 0);
    upstream.check();
  });
