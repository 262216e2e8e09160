// The gateway's routes other than chat: embeddings, stored answers by id, models by name, and routes that are not
// offered. tests/sdk/routes.test.mjs sends the same requests with the official client.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openEmbeddings } from './embedding_upstream.mjs';
import { openModels, serve, until } from './gateway_upstream.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';

const PAID = '    prices: {"*": {input: 1000000, output: 1000000}}\n';
let maker; let up; let server; let chatty; let other;
before(async () => {
  maker = await openEmbeddings();
  up = await openModels();
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), `probe: false
providers:
  open: {dialect: openai-chat, base_url: ${maker.url}}
  mine: {dialect: openai-chat, base_url: ${maker.url}, embeddings: ollama}
  google: {dialect: gemini, base_url: ${maker.url}}
  claude: {dialect: anthropic, base_url: ${maker.url}}
  silent: {dialect: openai-chat, base_url: ${maker.url}, embeddings: none}
  paid:
    dialect: openai-chat
    base_url: ${maker.url}
${PAID}aliases:
  sure: [open/status-503, google/text]
`);
  server = await start({ env: { XDG_CONFIG_HOME: home } });
  chatty = await serve(up);
  other = (await chatty.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
});
after(async () => { maker.close(); await up.close(); });

const embed = (body, options = {}) => server.raw('POST', '/v1/embeddings', { body, ...options });
const floats = (text) => [...new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer)];
const near = (a, b) => a.forEach((value, i) => assert.ok(Math.abs(value - b[i]) < 1e-6, `${a} ${b}`));

describe('embeddings', () => {
  for (const [provider, shape] of [['open', 'openai'], ['mine', 'ollama'], ['google', 'gemini']])
    test(`of the shape ${shape} come as OpenAI tells them`, async () => {
      const { status, json, headers, text } = await embed({ model: `${provider}/text`, input: ['Hello', 'you'], dimensions: 3, user: 'ada' });
      assert.equal(status, 200, text);
      assert.equal(maker.last().shape, shape);
      assert.equal(json.object, 'list');
      json.data.forEach(({ object, index, embedding }, i) => {
        assert.deepEqual([object, index], ['embedding', i]);
        near(embedding, maker.vector(['Hello', 'you'][i]));
      });
      assert.equal(json.model, 'text');
      assert.ok(json.usage.prompt_tokens > 0 && json.usage.total_tokens === json.usage.prompt_tokens);
      assert.equal(headers['parley-model'], `${provider}/text`);
      assert.equal(headers['parley-loss'], shape === 'openai' ? undefined : 'dropped /user');
    });

  test('are asked for as each provider wants it', async () => {
    await embed({ model: 'mine/text', input: 'Hello', dimensions: 3 });
    assert.deepEqual(maker.last().body, { model: 'text', input: 'Hello', dimensions: 3 });
    await embed({ model: 'google/text', input: 'Hello "you"', dimensions: 3 });
    assert.deepEqual(maker.last().body, { requests: [{ model: 'models/text', content: { parts: [{ text: 'Hello "you"' }] }, outputDimensionality: 3 }] });
    await embed({ model: 'open/text', input: [[1, 2], [3]], odd: true });
    assert.deepEqual(maker.last().body, { model: 'text', input: [[1, 2], [3]], odd: true });
  });

  test('have the encoding that was asked for, whatever the server knows', async () => {
    for (const model of ['open/text', 'open/floats', 'open/sealed', 'mine/text', 'google/text', 'demo/embed']) {
      const input = ['Hello'];
      const plain = (await embed({ model, input })).json.data[0].embedding;
      assert.ok(Array.isArray(plain), model);
      const sealed = (await embed({ model, input, encoding_format: 'base64' })).json.data[0].embedding;
      near(floats(sealed), plain);
    }
  });

  test('of our own model need no network and are always the same', async () => {
    const ask = async (input, more = {}) => (await embed({ model: 'demo/embed', input, ...more })).json;
    const [a, b] = [await ask('The cat sat on the mat.'), await ask('The cat sat on the mat.')];
    assert.deepEqual(a, b);
    assert.equal(a.data[0].embedding.length, 256);
    assert.equal(a.usage.prompt_tokens, 6);
    const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
    const { data } = await ask(['a cat on a mat', 'the cat and the mat', 'quarterly revenue grew'], { dimensions: 64 });
    data.forEach(({ embedding }) => assert.ok(Math.abs(dot(embedding, embedding) - 1) < 1e-5));
    assert.ok(dot(data[0].embedding, data[1].embedding) > dot(data[0].embedding, data[2].embedding));
    // The same on every machine.
    near((await ask('hello', { dimensions: 4 })).data[0].embedding, [-0.316227764, 0, 0.948683321, 0]);
  });

  test('refuse what they cannot be made of, and say why', async () => {
    const refused = [
      [{ model: 'demo/embed' }, /input must be/], [{ model: 'demo/embed', input: '' }, /input must be/], [{ model: 'demo/embed', input: [] }, /input must be/],
      [{ model: 'demo/embed', input: 7 }, /input must be/], [{ model: 'demo/embed', input: ['a', 7] }, /input must be/], [{ model: 'demo/embed', input: [['a']] }, /input must be/],
      [{ model: 'demo/embed', input: [1.5] }, /input must be/], [{ model: 'demo/embed', input: null }, /input must be/], [{ model: 'demo/embed', input: { text: 'x' } }, /input must be/],
      [{ model: 'demo/embed', input: 'x', dimensions: 0 }, /dimensions/], [{ model: 'demo/embed', input: 'x', dimensions: '4' }, /dimensions/], [{ model: 'demo/embed', input: 'x', dimensions: 4097 }, /at most 4096/],
      [{ model: 'demo/embed', input: 'x', encoding_format: 'hex' }, /encoding_format/], [{ model: 'demo/embed', input: 'x', encoding_format: 1 }, /encoding_format/],
      [{ model: 'demo/embed', input: [1, 2] }, /token numbers/], [{ model: 'google/text', input: [[1, 2]] }, /token numbers/], [{ model: 'mine/text', input: [1] }, /token numbers/],
      [{ model: 'open/text', input: Array(2049).fill('x') }, /2049/], [{ model: 'demo/echo', input: 'x' }, /makes no embeddings/], [{ model: 'claude/text', input: 'x' }, /makes no embeddings/],
      [{ model: 'silent/text', input: 'x' }, /makes no embeddings/], [{ input: 'x' }, /must name a model/], [[], /not a JSON object/],
    ];
    for (const [body, why] of refused) {
      const { status, json, text } = await embed(body);
      assert.equal(status, 400, `${JSON.stringify(body).slice(0, 200)}: ${text}`);
      assert.match(json.error.message, why);
      assert.equal(json.error.type, 'invalid_request_error');
    }
    assert.equal((await embed({ model: 'open/text', input: Array(2048).fill('x') })).json.data.length, 2048);
    const chat = await server.raw('POST', '/v1/chat/completions', { body: { model: 'demo/embed', messages: [{ role: 'user', content: 'x' }] } });
    assert.deepEqual([chat.status, /does not chat/.test(chat.json.error.message)], [400, true]);
    const session = await server.raw('POST', '/api/sessions', { body: { model: 'demo/embed' } });
    assert.match(session.text, /makes embeddings .* does not chat/);
  });

  test('fall back, and pass the error of a vendor on', async () => {
    const { json, headers } = await embed({ model: 'sure', input: 'Hello' });
    assert.equal(headers['parley-model'], 'google/text');
    near(json.data[0].embedding, maker.vector('Hello'));
    for (const model of ['open/status-400', 'mine/status-400', 'google/status-400']) {
      const { status, json: { error } } = await embed({ model, input: 'x' });
      assert.equal(status, 400, model);
      assert.match(error.message, /told to say 400/, model);
    }
    for (const model of ['open/garbage', 'open/short', 'google/short', 'mine/short']) assert.equal((await embed({ model, input: ['a', 'b'] })).status, 502, model);
  });

  test('count like every other call, for usage and for limits', async () => {
    const key = (await server.ask('POST', '/api/user/api-keys', { body: { name: 'k', limits: { budget_usd_day: 5 } } })).json;
    assert.equal((await embed({ model: 'paid/text', input: ['a', 'b'] }, { key: key.plaintext })).status, 200);
    const of = async (model) => (await server.ask('GET', '/api/usage?group=model')).json.items.find((item) => item.model === model);
    const used = await until(() => of('paid/text'), 'it is written down');
    assert.deepEqual([used.requests, used.input_tokens, used.output_tokens], [1, 6, 0]);
    // It cost six dollars.
    const refused = await embed({ model: 'paid/text', input: 'a' }, { key: key.plaintext });
    assert.deepEqual([refused.status, refused.json.error.code], [429, 'insufficient_quota']);
    const limited = (await server.ask('POST', '/api/user/api-keys', { body: { name: 'l', limits: { rpm: 1 } } })).json.plaintext;
    assert.equal((await embed({ model: 'demo/embed', input: 'a' }, { key: limited })).status, 200);
    const late = await embed({ model: 'demo/embed', input: 'a' }, { key: limited });
    assert.equal(late.status, 429);
    assert.ok(Number(late.headers['retry-after']) >= 1);
    const only = (await server.ask('POST', '/api/user/api-keys', { body: { name: 'm', models: ['demo/echo'] } })).json.plaintext;
    assert.equal((await embed({ model: 'demo/embed', input: 'a' }, { key: only })).status, 403);
  });
});

describe('stored answers', () => {
  const respond = async (body, options) => (await chatty.raw('POST', '/v1/responses', { body: { model: 'up-anthropic/text', ...body }, ...options }));
  const items = (id, query = '', options = {}) => chatty.raw('GET', `/v1/responses/${id}/input_items${query}`, options);

  test('are given again as they were, to their user only', async () => {
    for (const stream of [false, true])
      for (const model of ['up-anthropic/text', 'up-openai-responses/tools', 'demo/echo']) {
        const first = await respond({ model, input: 'Hello', stream });
        const whole = stream ? JSON.parse(first.text.split('\n').filter((line) => line.startsWith('data: {')).at(-1).slice(6)).response : first.json;
        const again = await chatty.raw('GET', `/v1/responses/${whole.id}`);
        assert.deepEqual(again.json, whole);
        assert.ok(whole.created_at >= 1_700_000_000, `${model}: ${whole.created_at}`);
        assert.equal((await chatty.raw('GET', `/v1/responses/${whole.id}`, { key: other })).status, 404);
        assert.equal((await items(whole.id, '', { key: other })).status, 404);
        assert.equal((await chatty.raw('DELETE', `/v1/responses/${whole.id}`, { key: other })).status, 404);
      }
    const unkept = (await respond({ input: 'Hello', store: false })).json;
    const missing = await chatty.raw('GET', `/v1/responses/${unkept.id}`);
    assert.deepEqual([missing.status, missing.json.error.type], [404, 'invalid_request_error']);
    const { id } = (await respond({ input: 'Hello' })).json;
    assert.match((await chatty.raw('GET', `/v1/responses/${id}?stream=true`)).json.error.message, /does not stream/);
  });

  test('tell what they answer, page by page', async () => {
    const input = [
      { role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }, { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }, { type: 'function_call_output', call_id: 'call_1', output: 'four' }, { role: 'user', content: 'five' },
    ];
    const { id } = (await respond({ input, instructions: 'Be brief.' })).json;
    const all = (await items(id, '?order=asc')).json;
    assert.deepEqual(all.data.map(({ type }) => type), ['message', 'message', 'message', 'function_call', 'function_call_output', 'message']);
    assert.deepEqual([all.object, all.has_more, all.first_id, all.last_id], ['list', false, all.data[0].id, all.data[5].id]);
    assert.deepEqual(all.data.map((item) => item.content?.[0].text ?? item.output ?? item.name), ['one', 'two', 'three', 'look', 'four', 'five']);
    assert.equal(new Set(all.data.map((item) => item.id)).size, 6);
    assert.deepEqual((await items(id)).json.data, all.data.toReversed());
    for (const order of ['asc', 'desc'])
      for (const limit of [1, 2, 4, 5, 6, 100]) {
        const seen = [];
        for (let page = { has_more: true }; page.has_more;) {
          page = (await items(id, `?order=${order}&limit=${limit}${seen.length ? `&after=${seen.at(-1).id}` : ''}`)).json;
          assert.ok(page.data.length <= limit);
          seen.push(...page.data);
        }
        assert.deepEqual(seen, order === 'asc' ? all.data : all.data.toReversed());
      }
    for (const query of ['?limit=0', '?limit=101', '?limit=x', '?order=up', '?after=nothing']) assert.equal((await items(id, query)).status, 400, query);
    const next = (await respond({ input: 'six', previous_response_id: id })).json;
    const later = (await items(next.id, '?order=asc')).json.data;
    assert.deepEqual(later.map((item) => item.content?.[0].text ?? item.type).slice(-2), ['Good day to you.', 'six']);
  });

  test('are gone when they are deleted, with their session', async () => {
    const first = await respond({ input: 'Hello' });
    const { id } = first.json;
    const gone = await chatty.raw('DELETE', `/v1/responses/${id}`);
    assert.deepEqual([gone.status, gone.json], [200, { id, object: 'response', deleted: true }]);
    assert.equal((await chatty.raw('GET', `/v1/responses/${id}`)).status, 404);
    assert.equal((await items(id)).status, 404);
    assert.equal((await chatty.raw('DELETE', `/v1/responses/${id}`)).status, 404);
    assert.equal((await chatty.raw('GET', `/api/sessions/${first.headers['parley-session']}`)).status, 404);
    assert.equal((await respond({ input: 'x', previous_response_id: id })).json.error.code, 'previous_response_not_found');
    // Deleting a session deletes its answer.
    const second = await respond({ input: 'Hello' });
    assert.equal((await chatty.raw('DELETE', `/api/sessions/${second.headers['parley-session']}`)).status, 204);
    assert.equal((await chatty.raw('GET', `/v1/responses/${second.json.id}`)).status, 404);
  });
});

describe('models', () => {
  test('are found by their names, with slashes, and were made at a time', async () => {
    for (const name of ['demo/echo', 'demo%2Fecho', 'demo/embed', 'open/big', 'open/some/big', 'open/some%2Fbig', 'sure']) {
      const { status, json } = await server.raw('GET', `/v1/models/${name}`);
      assert.equal(status, 200, name);
      assert.equal(json.id, decodeURIComponent(name));
      assert.ok(json.created > 1_700_000_000, name);
    }
    assert.equal((await server.raw('GET', '/v1/models/open/big')).json.owned_by, 'open');
    const claude = (await server.raw('GET', '/v1/models/open/some/big', { headers: { 'anthropic-version': '2023-06-01' } })).json;
    assert.deepEqual([claude.id, Date.parse(claude.created_at) > 1.7e12], ['open/some/big', true]);
    assert.equal((await server.raw('GET', '/v1beta/models/open/some/big')).json.name, 'models/open/some/big');
    assert.equal((await server.raw('GET', '/v1/models/none/such')).json.error.code, 'model_not_found');
    for (const { created } of (await server.raw('GET', '/v1/models')).json.data) assert.ok(created > 1_700_000_000);
  });

  test('are listed in pages, where a client asks for them', async () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    const names = (await server.raw('GET', '/v1/models')).json.data.map(({ id }) => id);
    const all = (await server.raw('GET', '/v1/models', { headers })).json;
    assert.deepEqual([all.has_more, all.first_id, all.last_id], [false, names[0], names.at(-1)]);
    const seen = [];
    for (let page = { has_more: true }; page.has_more;) {
      page = (await server.raw('GET', `/v1/models?limit=2${seen.length ? `&after_id=${encodeURIComponent(seen.at(-1))}` : ''}`, { headers })).json;
      seen.push(...page.data.map(({ id }) => id));
    }
    assert.deepEqual(seen, names);
    const before = (await server.raw('GET', `/v1/models?limit=2&before_id=${encodeURIComponent(names[3])}`, { headers })).json;
    assert.deepEqual([before.data.map(({ id }) => id), before.has_more], [names.slice(1, 3), true]);
    const google = [];
    for (let token = ''; token !== undefined;) {
      const page = (await server.raw('GET', `/v1beta/models?pageSize=3${token && `&pageToken=${encodeURIComponent(token)}`}`)).json;
      google.push(...page.models.map(({ displayName }) => displayName));
      token = page.nextPageToken;
    }
    assert.deepEqual(google, names);
    for (const query of ['?limit=0', '?limit=x', '?limit=1001', '?after_id=none']) assert.equal((await server.raw('GET', `/v1/models${query}`, { headers })).json.error.type, 'invalid_request_error', query);
  });
});

describe('what is not offered', () => {
  test('says so in the shape of the client', async () => {
    for (const path of ['/v1/audio/speech', '/v1/images/generations', '/v1/completions', '/v1/files', '/v1/responses/resp_1/cancel']) {
      const { status, json } = await server.raw('POST', path, { body: {} });
      assert.equal(status, 404, path);
      assert.match(json.error.message, new RegExp(`does not offer POST ${path}.*/v1/embeddings`));
      assert.equal(json.error.type, 'invalid_request_error');
    }
    const claude = await server.raw('POST', '/v1/messages/batches', { body: {}, headers: { 'anthropic-version': '2023-06-01' } });
    assert.deepEqual([claude.status, claude.json.type, claude.json.error.type], [404, 'error', 'not_found_error']);
    assert.match(claude.json.error.message, /does not offer .* Anthropic/);
    for (const [path, headers] of [['/v1beta/cachedContents', {}], ['/v1/files', { 'x-goog-api-key': 'x' }]]) {
      const google = await server.raw('GET', path, { headers });
      assert.deepEqual([google.status, google.json.error.code, google.json.error.status], [404, 404, 'NOT_FOUND']);
    }
    const method = await server.raw('POST', '/v1beta/models/demo/embed:batchEmbedContents', { body: {} });
    assert.match(method.json.error.message, /does not offer the method "batchEmbedContents".*\/v1\/embeddings/);
    const wrong = await server.raw('GET', '/v1/embeddings');
    assert.deepEqual([wrong.status, wrong.json.error.type, wrong.headers.allow], [405, 'invalid_request_error', 'POST, OPTIONS']);
    // Errors of the server's own paths keep their format.
    assert.equal((await server.raw('GET', '/api/nothing')).json.code, 'not_found');
  });
});

test('Parley-Loss names what is lost, and nothing else', async () => {
  for (const [path, body] of [['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }], ['/v1/responses', { input: 'x' }], ['/v1/messages', { max_tokens: 16, messages: [{ role: 'user', content: 'x' }] }]])
    for (const model of ['up-openai-chat/text', 'up-openai-responses/text', 'up-anthropic/text', 'up-gemini/text'])
      for (const stream of [false, true]) {
        const { status, headers, text } = await chatty.raw('POST', path, { body: { ...body, model, stream } });
        assert.equal(status, 200, text);
        assert.equal(headers['parley-loss'], undefined, `${path} ${model} ${stream}`);
      }
});

// A vendor whose answer has these counters, whole or streamed.
const counting = async (t, provider) => {
  const usages = [];
  const vendor = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => { text += piece; });
    request.on('end', () => {
      const usage = usages.at(-1), { stream } = JSON.parse(text);
      if (provider === 'anthropic') {
        const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn', stop_sequence: null, usage };
        if (!stream) { response.setHeader('content-type', 'application/json'); response.end(JSON.stringify(message)); return; }
        response.setHeader('content-type', 'text/event-stream');
        for (const event of [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } }, { type: 'content_block_stop', index: 0 }, { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }, { type: 'message_stop' }])
          response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        response.end();
        return;
      }
      const chunk = { id: 'c', created: 1, model: 'm', usage };
      if (!stream) { response.setHeader('content-type', 'application/json'); response.end(JSON.stringify({ ...chunk, object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.', refusal: null, annotations: [] }, logprobs: null, finish_reason: 'stop' }] })); return; }
      response.setHeader('content-type', 'text/event-stream');
      for (const [delta, reason] of [[{ role: 'assistant', content: 'Hi.', refusal: null }, null], [{}, 'stop']])
        response.write(`data: ${JSON.stringify({ ...chunk, usage: null, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] })}\n\n`);
      response.end(`data: ${JSON.stringify({ ...chunk, object: 'chat.completion.chunk', choices: [] })}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise((resolve) => { vendor.listen(0, '127.0.0.1', resolve); });
  t.after(() => vendor.close());
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), `probe: false\nproviders:\n  v: {dialect: ${provider}, base_url: "http://127.0.0.1:${vendor.address().port}"}\n`);
  const gateway = await start({ env: { XDG_CONFIG_HOME: home } });
  t.after(() => gateway.stop());
  return async (path, body, usage, stream) => {
    usages.push(usage);
    const response = await new Promise((resolve, reject) => {
      const asked = httpRequest({ host: '127.0.0.1', port: gateway.port, path, method: 'POST', headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', te: 'trailers', connection: 'close, te' } }, resolve).on('error', reject);
      asked.end(JSON.stringify({ ...body, model: 'v/m', stream }));
    });
    let text = '';
    for await (const piece of response) text += piece;
    assert.equal(response.statusCode, 200, text);
    return (stream ? response.trailers : response.headers)['parley-loss'];
  };
};

test('a counter of 0 is no loss, and any other number is one', async (t) => {
  const nothing = { input_tokens: 3, output_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, server_tool_use: { web_search_requests: 0 }, service_tier: null };
  const some = { ...nothing, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 7 }, server_tool_use: { web_search_requests: 4 } };
  const ask = await counting(t, 'anthropic');
  for (const stream of [false, true])
    for (const [path, body] of [['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }], ['/v1/responses', { input: 'x', store: false }]]) {
      assert.equal(await ask(path, body, nothing, stream), undefined, `${path} ${stream}`);
      const lost = await ask(path, body, some, stream);
      assert.match(lost, /answer#\/usage\/server_tool_use/, `${path} ${stream}`);
      assert.doesNotMatch(lost, /ephemeral_5m/, `${path} ${stream}`);
    }
  const zeros = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 } };
  const predicted = { ...zeros, completion_tokens_details: { ...zeros.completion_tokens_details, rejected_prediction_tokens: 9 } };
  const openai = await counting(t, 'openai-chat');
  for (const stream of [false, true]) {
    const body = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
    assert.equal(await openai('/v1/messages', body, zeros, stream), undefined, `${stream}`);
    assert.match(await openai('/v1/messages', body, predicted, stream), /rejected_prediction_tokens/, `${stream}`);
  }
});
