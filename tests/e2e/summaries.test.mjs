// Compaction by the session's own model: on request, automatic, after an overflow, and the replacement if it fails.
// The vendors are upstreams.mjs, which checks the requests with the vendors' rules.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Socket, clientOf, closing, endsWell, serve, settled, textOf, until } from './live.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};
const tooLong = {
  status: 400, error: 'prompt is too long: context_length_exceeded, the input token count exceeds the maximum number of tokens',
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
async function chat(id, message) {
  await client.chat(id, { message });
  await settled(client, id);
  return turnsOf(id);
}
const kinds = (turns) => turns.map(({ role, kind, status }) => (kind === 'compaction' ? 'summary' : `${role} ${status}`));
const sent = (i) => JSON.stringify(upstream.requests.at(i).body);
const toolsOf = ({ body: { tools = [] } }) => tools.flatMap((tool) => tool.functionDeclarations ?? tool.function ?? tool);

const long = `words ${'and more of them '.repeat(60)}`; // long enough that a summary is shorter

async function compacted(id) {
  await client.request('POST', `/api/sessions/${id}/compact`, {});
  return until(async () => (await turnsOf(id)).find(({ kind }) => kind === 'compaction'), 'a compaction');
}

for (const dialect of dialectNames) {
  test(`${dialect}: the model sums up by hand what was said, called and answered`, async () => {
    const { id } = await client.createSession({ model: models[dialect] });
    upstream.next({ say: 'I look it up.', calls: [{ name: 'calc', args: { expression: '6*7' } }] }, { say: 'It is 42.' });
    await chat(id, 'What is six times seven?');
    const offered = toolsOf(upstream.requests[0]).map(({ name }) => name);
    assert.ok(offered.includes('calc') && offered.includes('AskUserQuestion'), String(offered));
    assert.ok(!offered.includes('echo') && !offered.includes('publish'), 'what is for the demo is not offered');
    upstream.reset();
    upstream.next({ think: 'hm', say: 'The person wanted 6*7; it is 42.', usage: { input: 3000, output: 200, cached: 1000 } });
    const summary = await compacted(id);
    assert.equal(summary.summary_full, 'The person wanted 6*7; it is 42.');
    assert.deepEqual([summary.trigger, summary.archived_count], ['manual', 3]);
    assert.ok(summary.tokens_after > 0 && summary.tokens_before > 0);
    assert.equal(summary.model, models[dialect]);
    assert.deepEqual([summary.usage.input_tokens, summary.usage.output_tokens, summary.usage.cache_read_tokens], [3000, 200, 1000]);
    assert.ok(summary.timing.cost_usd > 0 && summary.timing.total_ms >= 0, JSON.stringify(summary.timing));
    assert.equal(upstream.requests.length, 1);
    assert.equal(toolsOf(upstream.requests[0]).length, 0, 'it is asked without tools');
    assert.match(sent(0), /What is six times seven\?/);
    assert.match(sent(0), /\[tool calc was called with .*6\*7.*; done: 42\]/);
    upstream.reset();
    upstream.next({ say: 'Yes.' });
    await chat(id, 'Sure?');
    assert.match(sent(0), /The person wanted 6\*7; it is 42\./);
    assert.ok(!sent(0).includes('What is six times seven?'), 'what was summed up is not told again');
  });

  test(`${dialect}: over 80 % of the window the next call is preceded by a summary`, async () => {
    const { id } = await client.createSession({ model: models[dialect] });
    upstream.next({ say: 'a', usage: { input: 100, output: 1 } });
    const [, { context_window: window }] = await chat(id, 'first');
    assert.ok(window > 0);
    upstream.next({ say: 'full now', usage: { input: Math.floor(window * 0.8) - 50, output: 51 } });
    assert.deepEqual(kinds(await chat(id, 'second')).slice(2), ['user completed', 'assistant completed']);
    upstream.reset();
    upstream.next({ say: 'All of it in short.' }, { say: 'third answer' });
    const turns = await chat(id, 'third');
    assert.deepEqual(kinds(turns).slice(4), ['user completed', 'summary', 'assistant completed']);
    assert.equal(turns[5].trigger, 'auto');
    assert.equal(turns[5].summary_full, 'All of it in short.');
    assert.equal(textOf(turns[6]), 'third answer');
    assert.match(sent(1), /All of it in short\./);
    assert.match(sent(1), /third/, 'the message at hand is said again behind the summary');
  });

  test(`${dialect}: after an overflow less is told, and the message is asked again`, async () => {
    const { id } = await client.createSession({ model: models[dialect] });
    upstream.next({ say: 'x '.repeat(4000) });
    await chat(id, `begin ${'y '.repeat(4000)}`);
    upstream.reset();
    upstream.next(tooLong, { say: 'Short enough.' }, { say: 'now it fits' });
    const turns = await chat(id, 'and now?');
    assert.deepEqual(kinds(turns).slice(2), ['user completed', 'assistant failed', 'summary', 'assistant completed']);
    assert.deepEqual([turns[4].trigger, turns[4].summary_full], ['forced_retry', 'Short enough.']);
    assert.equal(upstream.requests.length, 3);
    assert.ok(sent(1).length < sent(0).length, 'the request for the summary is shorter than what did not fit');
    assert.match(sent(2), /Short enough\./);
    assert.match(sent(2), /and now\?/);
    assert.equal(textOf(turns[5]), 'now it fits');
  });
}

test('a summary that was paid for and is empty is told with its price, one without a model with none', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  upstream.next({ say: 'answer' }, { say: '', usage: { input: 500, output: 1 } });
  await chat(id, long);
  const paid = await compacted(id);
  assert.match(paid.summary_full, /user: words/);
  assert.equal(paid.usage.input_tokens, 500);
  const { id: free } = await client.createSession({ model: 'demo/echo' });
  await chat(free, long);
  const unpaid = await compacted(free);
  assert.deepEqual([unpaid.model, unpaid.usage, unpaid.timing], [null, null, undefined]);
});

test('where the model cannot sum up, the first words of each turn stand in', async () => {
  for (const script of [{ status: 500, error: 'no' }, { say: '' }, tooLong]) {
    upstream.reset();
    const { id } = await client.createSession({ model: models.anthropic });
    upstream.next({ say: `early answer ${long}` });
    await chat(id, `early words ${long}`);
    upstream.answer = () => script;
    const summary = await compacted(id);
    upstream.answer = undefined;
    assert.match(summary.summary_full, /user: early words .*\n- assistant: early answer/);
  }
});

test('two overflows in a row are tried, the third fails with the reason', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  upstream.next({ say: long });
  await chat(id, long);
  upstream.reset();
  upstream.next(tooLong, { say: 'first '.repeat(50) }, tooLong, { say: 'second' }, tooLong);
  const turns = await chat(id, 'hopeless');
  assert.deepEqual(kinds(turns),
    ['user completed', 'assistant completed', 'user completed', 'assistant failed', 'summary', 'assistant failed', 'summary', 'assistant failed']);
  assert.equal((await client.session(id)).status, 'failed');
  assert.equal(upstream.requests.length, 5);
});

test('what cannot be made shorter is not compacted, and that is told', async (t) => {
  const { id } = await client.createSession({ model: models.anthropic });
  upstream.reset();
  upstream.next(tooLong);
  assert.deepEqual(kinds(await chat(id, 'c')), ['user completed', 'assistant failed']);
  assert.equal(upstream.requests.length, 1, 'the message is not sent again as it was');
  const socket = closing(t, await new Socket(server).opened);
  await socket.ask('session:subscribe', { session_id: id });
  upstream.reset();
  await client.request('POST', `/api/sessions/${id}/compact`, {});
  const notice = await until(() => socket.events('system:notification')[0], 'a notification');
  assert.match(notice.data.text, /^Not compacted: a summary would save nothing \(\d+ tokens before, \d+ after\)$/);
  assert.equal(upstream.requests.length, 0, 'nobody is paid for a summary that cannot help');
  assert.deepEqual(kinds(await turnsOf(id)), ['user completed', 'assistant failed']);
});

test('tokens before and after are those of the request, and the summary is sent once', async () => {
  for (const dialect of dialectNames) {
    upstream.reset();
    const { id } = await client.createSession({ model: models[dialect] });
    const context = async () => (await client.request('GET', `/api/sessions/${id}/context`)).json();
    upstream.next({ say: long });
    await chat(id, long);
    const { tokens: before } = await context();
    upstream.next({ say: 'Hello from the summary.' });
    const summary = await compacted(id);
    const { tokens: after } = await context();
    assert.deepEqual([summary.tokens_before, summary.tokens_after], [before, after], dialect);
    assert.ok(after < before && after > 500, `${dialect}: the tools are counted (${after})`);
    upstream.reset();
    upstream.next({ say: 'yes' });
    await chat(id, 'go on');
    assert.equal(sent(0).split('Hello from the summary.').length, 2, dialect);
  }
});

test('stop reaches a model that sums up', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  upstream.next({ say: 'a' });
  await chat(id, long);
  upstream.next({ hang: 'body', say: 'never' });
  await client.request('POST', `/api/sessions/${id}/compact`, {});
  await until(() => upstream.requests.length === 2, 'the request');
  await client.stop(id);
  await until(() => upstream.requests[1].isClosed, 'it is closed');
  assert.deepEqual(kinds(await turnsOf(id)), ['user completed', 'assistant completed']);
});

test('the server ends in good order', () => endsWell(server));
