// The vendors' own clients with the gateway, unchanged except for address and key, and every dialect behind it. The
// upstream servers check each request with the rules of their dialect.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
process.env.PARLEY ??= path.join(HERE, '../../build/parley');
const { openModels, serve, until } = await import('../e2e/gateway_upstream.mjs');

const TARGETS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' }, degrees: { type: 'number' } }, required: ['city', 'degrees'], additionalProperties: false };
const PLACE = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOL_RESULTS = [['call_a', 'rain'], ['call_b', 'sun']];

const problem = !existsSync(path.join(HERE, 'node_modules'))
  ? 'the clients are not installed: npm ci in tests/sdk (tools/install-deps test does it)'
  : Number(process.versions.node.split('.')[0]) < 20 && `the clients need Node 20 or later, this is ${process.versions.node}`;
const [OpenAI, Anthropic, Google] = problem ? [] : await Promise.all([import('openai'), import('@anthropic-ai/sdk'), import('@google/genai')]);

let up;
let server;
before(async () => {
  if (problem) return;
  up = await openModels();
  server = await serve(up);
});
after(() => up?.close());

// Each client does the same in its own way and returns the same summary: text, thinking, calls.
const clients = {
  'openai chat': {
    make: () => new OpenAI.default({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 }),
    tools: [{ type: 'function', function: { name: 'weather', description: 'The weather', parameters: PLACE } }],
    tell: (message) => ({
      text: message.content ?? '', thinking: message.reasoning_content ?? '',
      calls: (message.tool_calls ?? []).map(({ function: f }) => [f.name, JSON.parse(f.arguments)]),
    }),
    async ask(client, model, { more = {}, stream = false, messages = [{ role: 'user', content: 'Hello' }], signal } = {}) {
      const body = { model, messages, ...more };
      if (!stream) return this.tell((await client.chat.completions.create(body, { signal })).choices[0].message);
      const reading = client.chat.completions.stream(body, { signal });
      let thinking = '';
      reading.on('chunk', (chunk) => { thinking += chunk.choices[0]?.delta?.reasoning_content ?? ''; });
      const { choices: [{ message }] } = await reading.finalChatCompletion();
      return { ...this.tell(message), thinking };
    },
    withTools() { return { more: { tools: this.tools } }; },
    withImage: () => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }] }] }),
    withSchema: () => ({ more: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } } } }),
    withResults() {
      return {
        ...this.withTools(), messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Let me look.', tool_calls: TOOL_RESULTS.map(([id]) => ({ id, type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } })) },
          ...TOOL_RESULTS.map(([tool_call_id, content]) => ({ role: 'tool', tool_call_id, content })),
        ],
      };
    },
    errors: () => ({ 400: OpenAI.BadRequestError, 401: OpenAI.AuthenticationError, 404: OpenAI.NotFoundError, 429: OpenAI.RateLimitError, 500: OpenAI.InternalServerError }),
    stranger: () => new OpenAI.default({ baseURL: `${server.url}/v1`, apiKey: 'sk-none', maxRetries: 0 }),
  },
  'openai responses': {
    make: () => clients['openai chat'].make(),
    tell: ({ output }) => ({
      text: output.filter((item) => item.type === 'message').flatMap((item) => item.content).map((part) => part.text ?? '').join(''),
      thinking: output.filter((item) => item.type === 'reasoning').flatMap((item) => [...(item.summary ?? []), ...(item.content ?? [])]).map((part) => part.text).join(''),
      calls: output.filter((item) => item.type === 'function_call').map((item) => [item.name, JSON.parse(item.arguments)]),
    }),
    async ask(client, model, { more = {}, stream = false, input = 'Hello', signal } = {}) {
      const body = { model, input, ...more };
      return this.tell(stream ? await client.responses.stream(body, { signal }).finalResponse() : await client.responses.create(body, { signal }));
    },
    withTools: () => ({ more: { tools: [{ type: 'function', name: 'weather', description: 'The weather', parameters: PLACE, strict: false }] } }),
    withImage: () => ({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' }] }] }),
    withSchema: () => ({ more: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } } } }),
    withResults() {
      return {
        ...this.withTools(), input: [
          { role: 'user', content: 'Hello' },
          ...TOOL_RESULTS.map(([call_id]) => ({ type: 'function_call', call_id, name: 'weather', arguments: '{"city":"Oslo"}' })),
          ...TOOL_RESULTS.map(([call_id, output]) => ({ type: 'function_call_output', call_id, output })),
        ],
      };
    },
    errors: () => clients['openai chat'].errors(),
    stranger: () => clients['openai chat'].stranger(),
  },
  anthropic: {
    make: () => new Anthropic.default({ baseURL: server.url, apiKey: server.key, maxRetries: 0 }),
    tell: ({ content }) => ({
      text: content.map((block) => block.text ?? '').join(''), thinking: content.map((block) => block.thinking ?? '').join(''),
      calls: content.filter((block) => block.type === 'tool_use').map((block) => [block.name, block.input]),
    }),
    async ask(client, model, { more = {}, stream = false, messages = [{ role: 'user', content: 'Hello' }], signal } = {}) {
      const body = { model, max_tokens: 1000, messages, ...more };
      return this.tell(stream ? await client.messages.stream(body, { signal }).finalMessage() : await client.messages.create(body, { signal }));
    },
    withTools: () => ({ more: { tools: [{ name: 'weather', description: 'The weather', input_schema: PLACE }] } }),
    withImage: () => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }] }] }),
    withSchema: () => ({ more: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } }),
    withResults() {
      return {
        ...this.withTools(), messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: TOOL_RESULTS.map(([id]) => ({ type: 'tool_use', id, name: 'weather', input: { city: 'Oslo' } })) },
          { role: 'user', content: TOOL_RESULTS.map(([tool_use_id, content]) => ({ type: 'tool_result', tool_use_id, content })) },
        ],
      };
    },
    errors: () => ({ 400: Anthropic.BadRequestError, 401: Anthropic.AuthenticationError, 404: Anthropic.NotFoundError, 429: Anthropic.RateLimitError, 500: Anthropic.InternalServerError }),
    stranger: () => new Anthropic.default({ baseURL: server.url, apiKey: 'sk-none', maxRetries: 0 }),
  },
  gemini: {
    make: () => new Google.GoogleGenAI({ apiKey: server.key, httpOptions: { baseUrl: server.url } }),
    tell: (parts) => ({
      text: parts.map((part) => (!part.thought && part.text) || '').join(''), thinking: parts.map((part) => (part.thought && part.text) || '').join(''),
      calls: parts.filter((part) => part.functionCall).map(({ functionCall: call }) => [call.name, call.args]),
    }),
    async ask(client, model, { more = {}, stream = false, contents = 'Hello', signal } = {}) {
      const body = { model, contents, config: { ...more, ...(signal ? { abortSignal: signal } : {}) } };
      if (!stream) return this.tell((await client.models.generateContent(body)).candidates[0].content.parts);
      const parts = [];
      for await (const chunk of await client.models.generateContentStream(body)) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      return this.tell(parts);
    },
    withTools: () => ({ more: { tools: [{ functionDeclarations: [{ name: 'weather', description: 'The weather', parametersJsonSchema: PLACE }] }] } }),
    withImage: () => ({ contents: [{ role: 'user', parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }] }] }),
    withSchema: () => ({ more: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } }),
    withResults() {
      return {
        ...this.withTools(), contents: [
          { role: 'user', parts: [{ text: 'Hello' }] },
          { role: 'model', parts: TOOL_RESULTS.map(([id]) => ({ functionCall: { id, name: 'weather', args: { city: 'Oslo' } } })) },
          { role: 'user', parts: TOOL_RESULTS.map(([id, output]) => ({ functionResponse: { id, name: 'weather', response: { output } } })) },
        ],
      };
    },
    errors: () => Object.fromEntries([400, 401, 404, 429, 500].map((status) => [status, Google.ApiError])),
    stranger: () => new Google.GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } }),
  },
};

const WEATHER = [['weather', { city: 'Oslo' }], ['weather', { city: 'Rome' }]];

for (const [name, client] of Object.entries(clients))
  for (const target of TARGETS)
    describe(`${name} with ${target} behind`, { skip: problem }, () => {
      const model = (said) => `up-${target}/${said}`;
      const ask = (said, options) => client.ask(client.make(), model(said), options);

      for (const stream of [false, true]) {
        const how = stream ? 'streamed' : 'whole';
        test(`text, ${how}`, async () => {
          assert.deepEqual(await ask('text', { stream }), { text: 'Good day to you.', thinking: '', calls: [] });
          assert.equal(up.last().dialect, target);
          assert.equal(up.last().isStream, stream);
        });

        test(`parallel tools, ${how}, and their results`, async () => {
          assert.deepEqual((await ask('tools', { stream, ...client.withTools() })).calls, WEATHER);
          assert.match(up.last().text, /"weather"/);
          assert.equal((await ask('text', { stream, ...client.withResults() })).text, 'Good day to you.');
          for (const [, result] of TOOL_RESULTS) assert.ok(up.last().text.includes(result), up.last().text);
        });

        test(`thinking, ${how}`, async () => {
          const { text, thinking } = await ask('thinking', { stream });
          assert.deepEqual([text, thinking], ['It is 42.', 'Seven times six.']);
        });
      }

      test('an image', async () => {
        assert.equal((await ask('text', client.withImage())).text, 'Good day to you.');
        assert.ok(up.last().text.includes(PIXEL));
      });

      test('structured output', async () => {
        assert.deepEqual(JSON.parse((await ask('json', client.withSchema())).text), { city: 'Oslo', degrees: 7 });
        assert.match(up.last().text, /"degrees"/);
      });

      test('errors, with their class', async () => {
        const classes = client.errors();
        const rejects = (asking, status) => assert.rejects(asking, (error) => error instanceof classes[status] && error.status === status);
        for (const stream of [false, true]) {
          await rejects(ask('status-400', { stream }), 400);
          await rejects(ask('status-429', { stream }), 429);
        }
        await rejects(client.ask(client.make(), 'nobody/knows'), 404);
        await rejects(client.ask(client.stranger(), model('text')), 401);
      });

      test('every request was one the vendor takes', () => up.check());

      test('what is aborted is closed behind', async () => {
        for (const stream of [false, true]) {
          const n = up.requests.length;
          const aborting = new AbortController();
          const asking = ask(stream ? 'stall' : 'hang', { stream, signal: aborting.signal });
          asking.catch(() => {});
          await until(() => up.requests.length > n);
          setTimeout(() => aborting.abort(), 30);
          await assert.rejects(asking);
          await until(() => up.last().isClosed);
        }
      });
    });

// No client shows trailers, and each must tolerate them: the answer is read to its end as without them.
describe('the trailer of a translated stream', { skip: problem }, () => {
  const behind = { 'openai chat': 'anthropic', 'openai responses': 'anthropic', anthropic: 'openai-responses', gemini: 'anthropic' };
  const fetch = globalThis.fetch;
  const announced = [];
  before(() => {
    globalThis.fetch = async (...args) => {
      const response = await fetch(...args);
      announced.push(response.headers.get('trailer'));
      return response;
    };
  });
  after(() => { globalThis.fetch = fetch; });

  for (const [name, client] of Object.entries(clients))
    test(`does not disturb ${name}`, async () => {
      announced.length = 0;
      const answer = await client.ask(client.make(), `up-${behind[name]}/thinking`, { stream: true });
      assert.equal(answer.text, 'It is 42.');
      assert.deepEqual(announced, ['Parley-Loss']);
    });
});

describe('what only one client has', { skip: problem }, () => {
  test('Anthropic counts tokens', async () => {
    const counted = await clients.anthropic.make().messages.countTokens({ model: 'up-anthropic/text', messages: [{ role: 'user', content: 'Hello' }] });
    assert.ok(counted.input_tokens > 0);
  });

  test('each lists the models', async () => {
    const ids = [];
    for await (const model of clients['openai chat'].make().models.list()) ids.push(model.id);
    assert.ok(ids.includes('demo/echo'));
    const others = [];
    for await (const model of clients.anthropic.make().models.list()) others.push(model.id);
    assert.deepEqual(others, ids);
    const theirs = [];
    for await (const model of await clients.gemini.make().models.list()) theirs.push(model.name);
    assert.deepEqual(theirs, ids.map((id) => `models/${id}`));
  });

  test('OpenAI goes on from an answer by its id', async () => {
    const client = clients['openai chat'].make();
    const first = await client.responses.create({ model: 'up-anthropic/text', input: 'My name is Ada.' });
    const second = await client.responses.create({ model: 'up-gemini/text', input: 'Who am I?', previous_response_id: first.id });
    assert.equal(second.output_text, 'Good day to you.');
    assert.equal(up.last().body.contents.length, 3);
  });

  test('our own models answer every client', async () => {
    for (const client of Object.values(clients))
      for (const stream of [false, true])
        assert.equal((await client.ask(client.make(), 'demo/echo', { stream })).text, 'Hello');
  });
});
