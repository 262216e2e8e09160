// A session's system prompt, settings and tools, from the API to each vendor's request. The vendors are upstreams.mjs,
// which records the requests and checks them with the vendors' rules.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { WebSocket, clientOf, serve, settled } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-4o', 'openai-responses': 'openai/gpt-4o',
  gemini: 'gemini/gemini-2.5-pro',
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

async function say(id, message, rest = {}) {
  await client.chat(id, { message, ...rest });
  await settled(client, id);
  const { turns } = await client.messages(id, { limit: '100' });
  return turns.at(-1);
}
const noticesOf = (turn) => turn.blocks.filter(({ type }) => type === 'system_notification').map(({ content }) => content);
const namesOf = (body) => (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [tool])
  .map((tool) => tool.name ?? tool.function.name);

const settings = {
  temperature: 0.25, top_p: 0.5, max_tokens: 77, stop: ['END'], seed: 7,
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }, strict: true } },
};

const expected = {
  'openai-chat': (body) => {
    assert.deepEqual([body.temperature, body.top_p, body.max_completion_tokens ?? body.max_tokens, body.stop, body.seed], [0.25, 0.5, 77, ['END'], 7]);
    assert.equal(body.response_format.json_schema.name, 'answer');
    assert.equal(body.messages[0].role, 'system');
    assert.match(JSON.stringify(body.messages[0]), /Be brief/);
  },
  'openai-responses': (body) => {
    assert.deepEqual([body.temperature, body.top_p, body.max_output_tokens], [0.25, 0.5, 77]);
    assert.equal(body.text.format.name, 'answer');
    assert.match(JSON.stringify(body.instructions ?? body.input[0]), /Be brief/);
  },
  anthropic: (body) => {
    assert.equal(body.max_tokens, 77);
    assert.deepEqual(body.stop_sequences, ['END']);
    assert.ok(body.temperature === 0.25 || body.top_p === 0.5);
    assert.match(JSON.stringify(body.system), /Be brief/);
  },
  gemini: ({ generationConfig, systemInstruction }) => {
    assert.deepEqual([generationConfig.temperature, generationConfig.topP, generationConfig.maxOutputTokens, generationConfig.stopSequences, generationConfig.seed], [0.25, 0.5, 77, ['END'], 7]);
    assert.match(JSON.stringify(systemInstruction), /Be brief/);
  },
};

for (const [dialect, model] of Object.entries(models)) {
  test(`${dialect}: the system prompt and the settings of a session reach the model`, async () => {
    const made = await client.createSession({ model, system_prompt: 'Be brief.', settings, tools: 'none' });
    assert.equal(made.system_prompt, 'Be brief.');
    assert.deepEqual(made.settings, settings);
    assert.equal(made.tools, 'none');
    const turn = await say(made.id, 'hello');
    assert.equal(turn.status, 'completed', JSON.stringify(turn));
    const { body } = upstream.last();
    expected[dialect](body);
    assert.deepEqual(namesOf(body), []);
    upstream.check();
    // A setting without a place at this vendor is reported on the turn, and nothing else is.
    const told = noticesOf(turn).join(' ');
    assert.equal(/seed: not sent/.test(told), ['anthropic', 'openai-responses'].includes(dialect), told);
  });
}

test('a setting that the model refuses is left out, and its turn says which and why', async () => {
  const { id } = await client.createSession({ model: 'anthropic/claude-opus-5', settings: { temperature: 0.7 } });
  const turn = await say(id, 'hello');
  assert.equal(turn.status, 'completed', JSON.stringify(turn));
  assert.ok(!('temperature' in upstream.last().body));
  assert.match(noticesOf(turn).join(' '), /^anthropic\/claude-opus-5 does not take all settings: temperature: not sent \(.+\)\.$/);
  upstream.check();
});

test('without settings the request is the model\'s own, and nothing is told', async () => {
  const { id } = await client.createSession({ model: models.anthropic });
  const turn = await say(id, 'hello');
  assert.deepEqual(noticesOf(turn), []);
  assert.ok(!('temperature' in upstream.last().body));
  assert.ok(upstream.last().body.max_tokens >= 8192);
});

test('what is for one vendor goes to that vendor alone, merged into its request', async () => {
  const vendor = { 'openai-chat': { logit_bias: { 50256: -100 } }, anthropic: { metadata: { user_id: 'u-1' } }, gemini: { generationConfig: { responseLogprobs: false } } };
  const { id } = await client.createSession({ model: models['openai-chat'], settings: { temperature: 0.5, vendor } });
  await say(id, 'hello');
  assert.deepEqual(upstream.last().body.logit_bias, { 50256: -100 });
  assert.ok(!('metadata' in upstream.last().body) && !('vendor' in upstream.last().body));
  await say(id, 'again', { model: models.anthropic });
  assert.deepEqual(upstream.last().body.metadata, { user_id: 'u-1' });
  assert.ok(!('logit_bias' in upstream.last().body));
  await say(id, 'again', { model: models.gemini });
  assert.deepEqual([upstream.last().body.generationConfig.responseLogprobs, upstream.last().body.generationConfig.temperature], [false, 0.5]);
});

test('effort and thinking reach models in the words they know', async () => {
  const { id } = await client.createSession({ model: 'openai/gpt-5', settings: { effort: 'low' } });
  await say(id, 'hello');
  assert.equal(upstream.last().body.reasoning.effort, 'low');
  await say(id, 'hello', { model: models.gemini, settings: { effort: null, thinking: 2048 } });
  assert.equal(upstream.last().body.generationConfig.thinkingConfig.thinkingBudget, 2048);
  await say(id, 'hello', { model: models.anthropic, settings: { effort: null, thinking: 2048, max_tokens: 4096 } });
  assert.deepEqual(upstream.last().body.thinking, { type: 'enabled', budget_tokens: 2048 });
  upstream.check();
});

test('PATCH changes them and null takes them away; a fork has them too', async () => {
  const { id } = await client.createSession({ model: models['openai-chat'] });
  const changed = await client.changeSession(id, { system_prompt: 'In French.', settings: { seed: 3 }, tools: ['calc'] });
  assert.deepEqual([changed.system_prompt, changed.settings, changed.tools], ['In French.', { seed: 3 }, ['calc']]);
  await say(id, 'hello');
  assert.equal(upstream.last().body.seed, 3);
  assert.deepEqual(namesOf(upstream.last().body), ['calc']);
  const fork = (await server.ask('POST', `/api/sessions/${id}/fork`, { body: {} })).json;
  assert.deepEqual([fork.system_prompt, fork.settings, fork.tools], ['In French.', { seed: 3 }, ['calc']]);
  const bare = await client.changeSession(id, { system_prompt: null, settings: null, tools: null });
  assert.ok(!('system_prompt' in bare) && !('settings' in bare) && !('tools' in bare), JSON.stringify(bare));
  await say(id, 'hello');
  assert.ok(!('seed' in upstream.last().body) && namesOf(upstream.last().body).length > 1);
  assert.doesNotMatch(upstream.last().text, /In French/);
});

test('what a chat says is for that chat alone, also when it waited; the session stays as it was', async () => {
  const { id } = await client.createSession({ model: models['openai-chat'], system_prompt: 'Mine.', settings: { temperature: 0.1, seed: 1 } });
  upstream.next({ say: 'one', drip: 60 }, { say: 'two' }, { say: 'three' });
  await client.chat(id, { message: 'one' });
  const queued = await client.chat(id, { message: 'two', system_prompt: 'Theirs.', settings: { seed: 2, temperature: null, top_p: 0.3 }, tools: 'none' });
  assert.equal(queued.queued, true);
  await settled(client, id);
  await say(id, 'three');
  const [one, two, three] = upstream.requests.map(({ body }) => body);
  assert.deepEqual([one.temperature, one.seed, one.top_p], [0.1, 1, undefined]);
  assert.deepEqual([two.temperature, two.seed, two.top_p, namesOf(two)], [undefined, 2, 0.3, []]);
  assert.match(JSON.stringify(two.messages[0]), /Theirs/);
  assert.deepEqual([three.temperature, three.seed, three.top_p], [0.1, 1, undefined]);
  assert.match(JSON.stringify(three.messages[0]), /Mine/);
  assert.deepEqual((await client.session(id)).settings, { temperature: 0.1, seed: 1 });
});

async function onSocket(event, data) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/ws`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const ask = (id, name, what) => new Promise((resolve) => {
    socket.on('message', (text) => {
      const frame = JSON.parse(text);
      if (frame.ack === id) resolve(frame);
    });
    socket.send(JSON.stringify({ id, event: name, data: what }));
  });
  await ask(1, 'auth', { key: server.key });
  const answer = await ask(2, event, data);
  socket.close();
  return answer;
}

test('chat:send takes the same, and refuses the same', async () => {
  const { id } = await client.createSession({ model: models['openai-chat'] });
  const said = await onSocket('chat:send', { session_id: id, message: 'hello', settings: { seed: 9 }, tools: 'none' });
  assert.equal(said.ok, true, JSON.stringify(said));
  await settled(client, id);
  assert.equal(upstream.last().body.seed, 9);
  for (const [wrong, what] of [
    [{ settings: { temprature: 1 } }, /temprature.*did you mean.*temperature/],
    [{ settings: { temperature: 'hot' } }, /number/],
    [{ tools: ['clac'] }, /no built-in tool "clac"/],
    [{ system_prompt: 7 }, /string/],
    [{ prefill: '' }, /prefill/],
  ]) {
    const refused = await onSocket('chat:send', { session_id: id, message: 'x', ...wrong });
    assert.equal(refused.ok, false, JSON.stringify(refused));
    assert.match(JSON.stringify(refused.error).replaceAll('\\"', '"'), what);
  }
});

test('members that nobody knows and values of another type are refused, with what was meant', async () => {
  const { id } = await client.createSession();
  const roads = [['POST', '/api/sessions', {}], ['PATCH', `/api/sessions/${id}`, {}], ['POST', `/api/sessions/${id}/chat`, { message: 'x' }]];
  for (const [method, path, rest] of roads) {
    for (const [wrong, what] of [
      [{ settings: { temprature: 1 } }, /temprature.*did you mean.*temperature/],
      [{ settings: { max_tokens: '77' } }, /whole number/],
      [{ settings: { effort: 'hihg' } }, /high/],
      [{ settings: { vendor: { anthropic: { model: 'x' } } } }, /vendor|model/],
      [{ settings: [] }, /object/],
      [{ tools: 'al' }, /all/],
      [{ tools: ['calc', 'calc'] }, /twice/],
      [{ tools: ['clac'] }, /no built-in tool "clac"; there are .*calc/],
      [{ tools: [{ name: 'Agent' }] }, /belongs to a tool of every session/],
      [{ tools: [{ name: 'calc' }, 'calc'] }, /twice/],
      [{ tools: [{ name: 'x', input_schema: { type: 'strin' } }] }, /not a valid JSON Schema/],
      [{ tools: [{ name: 'has space' }] }, /name|pattern/],
      [{ tools: [{ name: 'x', parameters: {} }] }, /parameters/],
      [{ system_prompt: ['x'] }, /string/],
    ]) {
      const answer = await server.ask(method, path, { body: { ...rest, ...wrong } });
      assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(wrong)}: ${answer.text}`);
      assert.match(answer.text.replaceAll('\\"', '"'), what, `${method} ${JSON.stringify(wrong)}`);
    }
  }
});

test('tools that are not offered are not run, though a model calls them', async () => {
  const { id } = await client.createSession({ model: models['openai-chat'], tools: ['clock'] });
  upstream.next({ calls: [{ name: 'calc', args: { expression: '1+1' } }, { name: 'Agent', args: { prompt: 'x' } }] }, { say: 'ok' });
  await say(id, 'hello');
  const { turns } = await client.messages(id, { limit: '100' });
  const calls = turns.flatMap(({ tool_calls: some }) => some);
  assert.deepEqual(calls.map(({ status }) => status), ['error', 'error']);
  for (const { result, tool_name: name } of calls) assert.match(JSON.stringify(result), new RegExp(`There is no tool ${name}`));
  assert.equal(upstream.requests.length, 2);
});

test('a model that cannot use tools is asked without', async () => {
  const { id } = await client.createSession({ model: 'openai-chat/o1-mini', tools: ['calc', 'clock'] });
  const turn = await say(id, 'hello');
  assert.equal(turn.status, 'completed', JSON.stringify(turn));
  assert.ok(!('tools' in upstream.last().body) && !('tool_choice' in upstream.last().body), upstream.last().text);
  assert.match(noticesOf(turn).join(' '), /tools: not sent \(this model calls no tools/);
});

test('the beginning of an answer is continued where the model does that, and refused where it does not', async () => {
  const { id } = await client.createSession({ model: models.anthropic, tools: 'none' });
  upstream.next({ say: '"a": 1}' });
  const turn = await say(id, 'As JSON', { prefill: '{' });
  assert.equal(turn.blocks.filter(({ type }) => type === 'text').map(({ content }) => content).join(''), '{"a": 1}');
  assert.deepEqual(upstream.last().body.messages.at(-1).role, 'assistant');
  const refused = await say(id, 'As JSON', { prefill: '{', model: 'anthropic/claude-opus-5' });
  assert.equal(refused.status, 'failed');
  assert.match(refused.error, /claude-opus-5 does not continue an answer/);
});
