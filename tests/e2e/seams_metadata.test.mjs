// The metadata of an answer (seed 001, A.6) are kept from the vendor to the turn, its end, its export and its import.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { run } from './harness.mjs';
import { clientOf, closing, script, serve, settled, textOf, until, Socket } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const key = 'sk-secret-0123456789abcdef';
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};
const sse = (...events) => events.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('');

let upstream;
let server;
let client;
before(async () => {
  upstream = await openUpstream({ key });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

async function chat(model, message = 'hello', headers = {}) {
  const { id } = await client.createSession({ model });
  await client.request('POST', `/api/sessions/${id}/chat`, { message }, headers);
  await settled(client, id);
  const { turns } = await client.messages(id, { limit: '20' });
  return { id, turns, last: turns.at(-1) };
}
const exported = async (id, format = 'harmony') =>
  (await client.request('GET', `/api/sessions/${id}/export?format=${format}`)).json();
const messagesOf = (document) => document.messages ?? document;

for (const [dialect, model] of Object.entries(models))
  test(`${dialect}: an answer keeps usage, cost, latency, version, reason, session and trace`, async (t) => {
    upstream.next({ say: 'Good day.', usage: { input: 1000, output: 100 } });
    const { id } = await client.createSession({ model });
    const reader = closing(t, client.live({ retryMs: 1 }));
    const view = await reader.subscribe(id);
    await client.request('POST', `/api/sessions/${id}/chat`, { message: 'hello' }, { traceparent });
    await settled(client, id);
    const { turns: [, turn] } = await client.messages(id, { limit: '10' });
    const { metadata } = turn;
    assert.equal(metadata.token_usage.prompt_tokens, 1000);
    assert.equal(metadata.token_usage.completion_tokens, 100);
    assert.equal(metadata.token_usage.total_cost_usd, turn.timing.cost_usd);
    assert.ok(turn.timing.cost_usd > 0);
    assert.deepEqual(metadata.latency_ms, { ttft: turn.timing.ttft_ms, total_time: turn.timing.total_ms });
    assert.equal(turn.model, `${model.split('/')[0]}/${metadata.model_version}`);
    assert.ok(metadata.finish_reason);
    assert.equal(metadata.session_id, id);
    assert.equal(metadata.trace_id, trace);
    assert.equal(metadata.safety_check.flagged, false);
    assert.deepEqual(metadata.safety_check.categories, []);
    // The vendor gets the same trace, in a span of the server.
    const sent = upstream.last().headers.traceparent;
    assert.match(sent, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    assert.notEqual(sent, traceparent);
    // A reader gets it with the end of the turn.
    await until(() => view.ordered.at(-1)?.status === 'completed', 'the reader sees the end');
    assert.deepEqual(view.ordered.at(-1).metadata, metadata);
    // The export has it in the seed's form, and passes the program's own lint; an import keeps it.
    const document = await exported(id);
    const answer = messagesOf(document).at(-1);
    assert.deepEqual(answer.metadata, metadata);
    assert.equal((await run(['lint', '--as', 'harmony', '-'], { input: JSON.stringify(document) })).code, 0);
    const imported = await (await client.request('POST', '/api/sessions/import', { format: 'harmony', document })).json();
    const { turns } = await client.messages(imported.id, { limit: '10' });
    assert.deepEqual(turns.at(-1).metadata, metadata);
    assert.equal(turns.at(-1).model, metadata.model_version);
    assert.equal(turns.at(-1).usage.input_tokens, 1000);
  });

test('a request without a trace begins one, and every answer of the chat is in it', async () => {
  upstream.next({ calls: [{ name: 'clock' }] }, { say: 'Late.' });
  const { turns } = await chat(models.anthropic);
  const [first, second] = turns.filter(({ role }) => role === 'assistant');
  assert.match(first.metadata.trace_id, /^[0-9a-f]{32}$/);
  assert.equal(second.metadata.trace_id, first.metadata.trace_id);
  assert.equal(upstream.last().headers.traceparent.slice(3, 35), first.metadata.trace_id);
});

test('what is no traceparent is not passed on', async () => {
  upstream.next({ say: 'Hm.' });
  const { last } = await chat(models.anthropic, 'hello', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` });
  assert.match(last.metadata.trace_id, /^[0-9a-f]{32}$/);
  assert.notEqual(last.metadata.trace_id, '0'.repeat(32));
});

test('openai-chat: the fingerprint is kept, and what a filter says becomes a safety_check', async () => {
  const chunk = (choice, rest = {}) => ({
    id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-5-2026', system_fingerprint: 'fp_77', choices: [choice], ...rest,
  });
  upstream.next({
    raw: sse(chunk({ index: 0, delta: { role: 'assistant', content: 'Well' }, content_filter_results: { hate: { filtered: false, severity: 'safe' } } }),
      chunk({ index: 0, delta: {}, finish_reason: 'content_filter', content_filter_results: { hate: { filtered: true, severity: 'high' }, violence: { filtered: false, severity: 'safe' } } }),
      '[DONE]'),
  });
  const { last: { metadata } } = await chat(models['openai-chat']);
  assert.equal(metadata.system_fingerprint, 'fp_77');
  assert.equal(metadata.model_version, 'gpt-5-2026');
  assert.equal(metadata.finish_reason, 'content_filter');
  assert.equal(metadata.safety_check.flagged, true);
  assert.deepEqual(metadata.safety_check.categories, ['hate']);
  assert.deepEqual(metadata.safety_check.ratings.violence, { filtered: false, severity: 'safe' });
});

test('gemini: ratings and a blocked prompt become a safety_check', async () => {
  const ratings = [{ category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'NEGLIGIBLE' }];
  upstream.next({
    raw: sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'Fine.' }] }, finishReason: 'STOP', index: 0, safetyRatings: ratings }], modelVersion: 'gemini-2.5-pro-9' }),
  }, {
    raw: sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'No' }] }, finishReason: 'SAFETY', index: 0, safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true }] }] }),
  }, {
    raw: sse({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 3 } }),
  });
  const fine = (await chat(models.gemini)).last.metadata;
  assert.deepEqual(fine.safety_check, { flagged: false, categories: [], ratings });
  assert.equal(fine.model_version, 'gemini-2.5-pro-9');
  const stopped = (await chat(models.gemini)).last.metadata;
  assert.equal(stopped.safety_check.flagged, true);
  assert.deepEqual(stopped.safety_check.categories, ['HARM_CATEGORY_HARASSMENT']);
  const blocked = (await chat(models.gemini)).last.metadata;
  assert.equal(blocked.safety_check.flagged, true);
  assert.equal(blocked.safety_check.ratings.blockReason, 'PROHIBITED_CONTENT');
});

test('anthropic: a refusal is flagged', async () => {
  upstream.next({ refuse: 'I cannot help with that.' });
  const { last: { metadata } } = await chat(models.anthropic);
  assert.equal(metadata.finish_reason, 'refusal');
  assert.equal(metadata.safety_check.flagged, true);
});

test('a turn that fails still says whose it was', async () => {
  upstream.next({ status: 400, error: 'no' });
  const { id, last } = await chat(models.anthropic, 'hello', { traceparent });
  assert.equal(last.status, 'failed');
  assert.equal(last.metadata.session_id, id);
  assert.equal(last.metadata.trace_id, trace);
});

test('a demo model has the same metadata, and cost has one name', async () => {
  const { id } = await client.createSession({ model: 'demo/echo' });
  await client.chat(id, { message: script('think hm', 'say I look.', 'call echo {"n":1}', '---', 'say Found.') });
  await settled(client, id);
  const { turns } = await client.messages(id, { limit: '10' });
  for (const turn of turns.filter(({ role }) => role === 'assistant')) {
    assert.equal(turn.timing.cost_usd, 0);
    assert.ok(!('cost' in turn.timing));
    assert.equal(turn.metadata.token_usage.total_cost_usd, 0);
    assert.equal(turn.metadata.session_id, id);
  }
  // In the export a tool's message has an id and a time in whole seconds; thinking is a separate part.
  const messages = messagesOf(await exported(id));
  assert.equal(messages.find(({ role }) => role === 'assistant').content[0].type, 'thinking');
  assert.ok(messages.every(({ id: own, created_at: at }) => own && Number.isInteger(at)), JSON.stringify(messages));
  assert.equal(new Set(messages.map(({ id: own }) => own)).size, messages.length);
  const again = await (await client.request('POST', '/api/sessions/import', { format: 'harmony', document: messages })).json();
  const copy = (await client.messages(again.id, { limit: '10' })).turns;
  assert.equal(copy.find(({ blocks }) => blocks[0]?.type === 'thinking').blocks[0].content, 'hm');
  // An imported call equals a live one: its blocks have the same content.
  const withCall = copy.find(({ tool_calls: calls }) => calls.length);
  const [call] = withCall.tool_calls;
  const use = withCall.blocks.find(({ type }) => type === 'tool_use');
  const result = withCall.blocks.find(({ type }) => type === 'tool_result');
  assert.deepEqual(use.content, { id: call.id, name: 'echo', input: { n: 1 } });
  assert.deepEqual(result.content, call.result);
  assert.equal(result.tool_name, 'echo');
});

test('convert says usage, timing and model of turns as metadata, and back', async () => {
  const turns = [{
    id: 'e', sequence: 0, turn_id: 't', loop_id: 'root', kind: 'message', role: 'assistant', status: 'completed',
    blocks: [{ type: 'text', content: 'a' }], tool_calls: [], model: 'm', usage: { input_tokens: 5, output_tokens: 2 },
    duration_ms: 9, started_at: '2026-01-01T00:00:00Z', context_window: 1, timing: { ttft_ms: 3, total_ms: 9, cost_usd: 0.002 },
  }];
  const { out: stdout } = await run(['convert', '--from', 'turns', '--to', 'harmony', '-'], { input: JSON.stringify(turns) });
  const [message] = JSON.parse(stdout);
  assert.deepEqual(message.metadata, {
    token_usage: { prompt_tokens: 5, completion_tokens: 2, total_cost_usd: 0.002 },
    latency_ms: { ttft: 3, total_time: 9 }, model_version: 'm',
  });
  const back = JSON.parse((await run(['convert', '--from', 'harmony', '--to', 'turns', '-'], { input: stdout })).out);
  assert.deepEqual(back[0].usage, turns[0].usage);
  assert.deepEqual(back[0].timing, turns[0].timing);
  assert.equal(back[0].model, 'm');
  assert.equal(back[0].duration_ms, 9);
  assert.equal(back[0].context_window, 0);
  assert.ok(textOf(back[0]) === 'a');
});

test('a reader of a shared session sees what is cited, and no trace or cost', async () => {
  upstream.next({ say: 'Good day.' });
  const { id } = await chat(models.anthropic, 'hello', { traceparent });
  const { token } = await (await client.request('POST', `/api/sessions/${id}/share`, {})).json();
  const { status, text } = await server.raw('GET', `/api/share/${token}`, { key: null });
  assert.equal(status, 200);
  assert.ok(text.includes('Good day.') && !text.includes(trace), text);
});

// --- the trace of whatever asks ---------------------------------------------------------------

const traceSent = () => upstream.last().headers.traceparent.slice(3, 35);
const lastTurn = async (id) => (await client.messages(id, { limit: '10' })).turns.at(-1);

test('a chat over a socket goes on in the trace of its frame, or of the request that opened the socket', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  const other = 'a'.repeat(32);
  const socket = await new Socket(server, { headers: { traceparent } }).opened;
  const say = async (more) => {
    upstream.next({ say: 'Good day.' });
    const ack = `${Math.random()}`;
    socket.send({ id: ack, event: 'chat:send', data: { session_id: id, message: 'hello' }, ...more });
    assert.equal((await socket.next((frame) => frame.ack === ack, 'an answer')).ok, true);
    await settled(client, id);
    return (await lastTurn(id)).metadata.trace_id;
  };
  assert.equal(await say({}), trace);
  assert.equal(traceSent(), trace);
  assert.equal(await say({ traceparent: `00-${other}-00f067aa0ba902b7-01` }), other);
  assert.equal(traceSent(), other);
  assert.equal(await say({}), trace, 'the frame before is no longer in force');
  for (const wrong of [5, null, '', 'x', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `00-${other.toUpperCase()}-00f067aa0ba902b7-01`]) {
    const ack = `w${Math.random()}`;
    socket.send({ id: ack, event: 'chat:send', data: { session_id: id, message: 'hello' }, traceparent: wrong });
    const answer = await socket.next((frame) => frame.ack === ack, 'a refusal');
    assert.equal(answer.ok, false, JSON.stringify(wrong));
    assert.match(JSON.stringify(answer.error), /traceparent/);
  }
  socket.close();
});

test('a socket without a trace begins a new one for each chat', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  const socket = await new Socket(server).opened;
  upstream.next({ say: 'Good day.' });
  await socket.ask('chat:send', { session_id: id, message: 'hello' });
  await settled(client, id);
  const { metadata } = await lastTurn(id);
  assert.match(metadata.trace_id, /^[0-9a-f]{32}$/);
  assert.equal(traceSent(), metadata.trace_id);
  socket.close();
});

test('a prompt that is run, and a task that is started, go on in the trace of the request', async () => {
  const prompt = await (await client.request('POST', '/api/prompts', { name: 'greeting', content: 'hello' })).json();
  upstream.next({ say: 'Good day.' }, { say: 'Good evening.' });
  const ran = await (await client.request('POST', `/api/prompts/${prompt.id}/run`, { mode: 'session', model: models.anthropic }, { traceparent })).json();
  await settled(client, ran.items[0].session_id);
  assert.equal((await lastTurn(ran.items[0].session_id)).metadata.trace_id, trace);
  assert.equal(traceSent(), trace);
  const task = await (await client.request('POST', '/api/scheduled-tasks', { title: 't', cron: '0 0 1 1 *', prompt: 'hello', model: models.anthropic })).json();
  const started = await (await client.request('POST', `/api/scheduled-tasks/${task.id}/run`, {}, { traceparent: traceparent.replace(trace, 'b'.repeat(32)) })).json();
  await settled(client, started.session_id);
  assert.equal((await lastTurn(started.session_id)).metadata.trace_id, 'b'.repeat(32));
  assert.equal(traceSent(), 'b'.repeat(32));
});
