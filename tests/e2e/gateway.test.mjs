// The gateway over plain HTTP: requests to the vendor, answers to the client, failures. tests/sdk/gateway.test.mjs tests
// the vendors' own clients.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { openModels, serve, until, UPSTREAM_KEY as KEY } from './gateway_upstream.mjs';
import { noShim, starve } from './no_memory.mjs';
import { checkRequest, signature } from './upstreams.mjs';

const CHAT = { model: 'up-openai-chat/text', messages: [{ role: 'user', content: 'Hello' }] };
let up;
let server;
let hasty; // its timeout for a silent vendor is 3 s; the others wait as long as a busy machine needs

before(async () => {
  up = await openModels();
  hasty = await serve(up, {
    env: up.env(),
    more: 'upstream_first_byte_ms: 3000\nupstream_idle_ms: 3000\n',
    aliases: { slow: ['up-anthropic/hang', 'up-openai-chat/garbage', 'up-gemini/text'] },
  });
  server = await serve(up, {
    env: up.env(),
    aliases: { chain: ['up-anthropic/status-503', 'up-gemini/text'], busy: ['up-openai-chat/status-429'], fast: ['up-anthropic/text'] },
  });
});
after(() => up.close());

const ask = (path, body, { at = server, ...options } = {}) => at.raw('POST', path, { body, ...options });
const chat = (model, more = {}, options) => ask('/v1/chat/completions', { ...CHAT, model, ...more }, options);
const messages = (model, more = {}, options) => ask('/v1/messages', { model, max_tokens: 100, messages: CHAT.messages, ...more }, options);
const events = (text) => text.split('\n\n').filter((block) => /^data: /m.test(block)).map((block) => block.match(/^data: (.*)$/m)[1]);
const datas = (text) => events(text).filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));

// A request whose answer the test reads itself.
function open(path, body, at = server) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: at.port, method: 'POST', path, headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' } }, (response) => resolve({ request, response }));
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

describe('what a model refuses', () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
  const settings = { temperature: 0.2, top_p: 0.9, reasoning_effort: 'none', tools, tool_choice: 'required', max_tokens: 900 };

  for (const model of ['claude-opus-5-5', 'claude-fable-5-2', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-opus-5', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-opus-4-6', 'claude-haiku-4-5']) {
    test(`is not sent to ${model}`, async () => {
      const answer = await chat(`up-anthropic/${model}`, { ...settings, messages: [...CHAT.messages, { role: 'assistant', content: 'Yes?' }, { role: 'system', content: 'Be brief.' }, ...CHAT.messages] });
      assert.equal(answer.status, 200, answer.text);
      checkRequest(up.last());
      assert.match(answer.headers['parley-loss'], /\/top_p/);
    });
  }

  for (const model of ['gpt-5', 'gpt-5.1', 'gpt-6', 'o3']) {
    for (const dialect of ['openai-chat', 'openai-responses']) {
      test(`is not sent to ${model} in ${dialect}`, async () => {
        const answer = await messages(`up-${dialect}/${model}`, { temperature: 0.2, output_config: { effort: 'max' }, tools: [{ name: 'look', input_schema: { type: 'object' } }] });
        assert.equal(answer.status, 200, answer.text);
        checkRequest(up.last());
        assert.match(answer.headers['parley-loss'], /effort|temperature/);
      });
    }
  }
});

describe('the same dialect', () => {
  test('passes the bytes of the client on, but for the name of the model', async () => {
    const text = '{ "model" : "up-openai-chat/text",\n  "messages":[{"role":"user","content":"h\\u00e9llo"}], "odd": {"x":[1, 2.50]} }';
    const answer = await ask('/v1/chat/completions', text);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(up.last().text, text.replace('up-openai-chat/text', 'text'));
    assert.equal(up.last().headers.authorization, `Bearer ${KEY}`);
    assert.equal(answer.headers['parley-model'], 'up-openai-chat/text');
    assert.equal(answer.headers['parley-loss'], undefined);
  });

  test('gives the bytes of the answer back, streamed and not', async () => {
    const whole = await ask('/v1/messages', { model: 'up-anthropic/thinking', max_tokens: 9, messages: CHAT.messages });
    assert.equal(whole.json.content[0].signature, signature('anthropic'));
    const stream = await messages('up-anthropic/thinking', { stream: true });
    assert.match(stream.headers['content-type'], /^text\/event-stream/);
    assert.match(stream.text, /^event: message_start\ndata: \{"type":"message_start"/);
    assert.ok(stream.text.includes(`"signature_delta","signature":"${signature('anthropic')}"`));
  });

  test('keeps the path and body of Gemini, and asks for events', async () => {
    const answer = await ask('/v1beta/models/up-gemini/text:streamGenerateContent?alt=sse', { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(up.last().path, '/v1beta/models/text:streamGenerateContent?alt=sse');
    assert.equal(up.last().headers['x-goog-api-key'], KEY);
    assert.equal(up.last().text, '{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}');
  });

  test('sends the headers a vendor knows, and no others', async () => {
    await messages('up-anthropic/text', {}, { headers: { 'anthropic-beta': 'files-api-2025-04-14', 'anthropic-version': '2023-06-01', cookie: 'a=b', 'x-mine': '1' } });
    assert.equal(up.last().headers['anthropic-beta'], 'files-api-2025-04-14');
    assert.equal(up.last().headers['x-api-key'], KEY);
    assert.equal(up.last().headers.cookie ?? up.last().headers['x-mine'] ?? up.last().headers.authorization, undefined);
  });
});

describe('another dialect', () => {
  test('converts request and answer, and says what was lost', async () => {
    const answer = await chat('up-anthropic/text', { logit_bias: { 50256: -100 }, temperature: 0.5 });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.choices[0].message.content, 'Good day to you.');
    assert.equal(up.last().dialect, 'anthropic');
    assert.equal(up.last().body.model, 'text');
    assert.equal(answer.headers['parley-loss'], 'dropped /logit_bias');
    await server.logged('/logit_bias');
  });

  test('gives the model as the target calls it, wherever each dialect has it', async () => {
    for (const target of ['openai-chat', 'openai-responses', 'anthropic', 'gemini'])
      for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages', `/v1beta/models/up-${target}/text:generateContent`]) {
        const body = path.includes('/models/') ? { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
          : { model: `up-${target}/text`, ...(path.endsWith('responses') ? { input: 'Hello', store: false } : { max_tokens: 50, messages: CHAT.messages }) };
        const answer = await ask(path, body);
        assert.equal(answer.status, 200, `${path} to ${target}: ${answer.text}`);
        assert.equal(up.last().dialect, target);
        assert.equal(up.last().model, 'text');
        assert.match(answer.text, /Good .*day .*to .*you\./);
        assert.ok(target !== 'gemini' || !('model' in up.last().body) || path.includes('/models/'));
      }
  });

  test('streams every dialect into every other, as chunks', async () => {
    for (const target of ['openai-chat', 'openai-responses', 'anthropic', 'gemini']) {
      const answer = await chat(`up-${target}/tools`, { stream: true, tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }] });
      assert.equal(answer.headers['transfer-encoding'], 'chunked');
      assert.equal(events(answer.text).at(-1), '[DONE]', target);
      const calls = datas(answer.text).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
      assert.deepEqual([...new Set(calls.map((call) => call.index))], [0, 1], target);
    }
  });

  test('does not depend on what the client asked before', async () => {
    for (const target of ['anthropic', 'openai-chat', 'anthropic', 'anthropic', 'openai-chat', 'openai-chat', 'gemini', 'openai-chat']) {
      const text = `{"messages":[{"role":"user","content":"h\\u00e9llo"}],"odd":{"x":[1, 2.50]},"model":"up-${target}/text"}`;
      const answer = await ask('/v1/chat/completions', text);
      assert.equal(answer.json.choices[0].message.content, 'Good day to you.', answer.text);
      assert.equal(up.last().dialect, target);
      if (target === 'openai-chat') assert.equal(up.last().text, text.replace(`up-${target}/`, ''));
      else assert.match(answer.headers['parley-loss'], /dropped \/odd/);
    }
    const broken = await ask('/v1/chat/completions', '{"model":"up-anthropic/text","messages":[{]}');
    assert.equal(broken.status, 400);
  });

  // A complete answer with everything after it.
  async function streamed(path, body, at = server) {
    const { response } = await open(path, { ...body, stream: true }, at);
    let text = '';
    for await (const piece of response) text += piece;
    return { text, announced: response.headers.trailer, lost: response.trailers['parley-loss'] };
  }

  test('tells in a trailer what a stream lost', async () => {
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      const answer = await streamed(path, { model: 'up-anthropic/thinking', messages: CHAT.messages, input: 'Hello' });
      assert.equal(answer.announced, 'Parley-Loss');
      assert.equal(answer.lost, 'dropped answer#/content/0/signature', path);
    }
    const answer = await streamed('/v1/messages', { model: 'up-gemini/text', max_tokens: 100, messages: CHAT.messages });
    assert.equal(answer.lost, 'dropped answer#/responseId');
    assert.match(answer.text, /event: message_stop\n/);
  });

  test('has no trailer where nothing was lost', async () => {
    const passed = await streamed('/v1/messages', { model: 'up-anthropic/thinking', max_tokens: 100, messages: CHAT.messages });
    assert.deepEqual([passed.announced, passed.lost], [undefined, undefined]);
    const translated = await streamed('/v1/chat/completions', { ...CHAT, model: 'up-anthropic/text' });
    assert.deepEqual([translated.announced, translated.lost], ['Parley-Loss', undefined]);
  });

  test('tells what a stream of a chapter lost, and of a book that nobody looked', async () => {
    const chapter = await streamed('/v1/chat/completions', { ...CHAT, model: 'up-anthropic/chapter' });
    assert.equal(chapter.lost, 'dropped answer#/content/0/signature');
    assert.equal(datas(chapter.text).map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'word '.repeat(4_000));
    const book = await streamed('/v1/chat/completions', { ...CHAT, model: 'up-anthropic/long' });
    assert.equal(book.lost, 'unknown answer#/');
    assert.equal(events(book.text).at(-1), '[DONE]');
  });

  test('sends a client of HTTP/1.0 no trailer', async () => {
    const body = JSON.stringify({ ...CHAT, model: 'up-anthropic/thinking', stream: true });
    const text = await new Promise((resolve, reject) => {
      let all = '';
      const socket = net.connect(server.port, '127.0.0.1', () => socket.write(`POST /v1/chat/completions HTTP/1.0\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
      socket.on('data', (piece) => { all += piece; });
      socket.on('end', () => resolve(all)).on('error', reject);
    });
    assert.match(text, /data: \[DONE\]\n\n$/);
    assert.doesNotMatch(text, /Trailer:|Parley-Loss/);
  });

  test('gives Gemini without alt=sse as one JSON array', async () => {
    const answer = await ask('/v1beta/models/up-anthropic/text:streamGenerateContent', { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
    assert.equal(answer.json.flatMap((chunk) => chunk.candidates[0].content.parts).map((part) => part.text).join(''), 'Good day to you.');
  });

  test('converts a request of megabytes', async () => {
    const url = `data:image/png;base64,${'iVBORw0KGgo'.repeat(100_000)}`;
    const answer = await chat('up-anthropic/text', { messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url } }] }] });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(up.last().body.messages[0].content[1].source.data.length, 1_100_000);
  });
});

describe('errors', () => {
  const shapes = {
    '/v1/chat/completions': (json) => [json.error.type, json.error.message],
    '/v1/responses': (json) => [json.error.type, json.error.message],
    '/v1/messages': (json) => [json.error.type, json.error.message],
    '/v1beta/models/demo/echo:generateContent': (json) => [json.error.status, json.error.message],
  };

  test('say that a key is needed, in the shape of the dialect', async () => {
    const types = ['invalid_request_error', 'invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'];
    for (const [i, [path, shape]] of Object.entries(shapes).entries()) {
      const answer = await ask(path, {}, { key: null });
      assert.equal(answer.status, 401);
      assert.equal(shape(answer.json)[0], types[i]);
      assert.equal((await ask(path, {}, { key: 'sk-parley-v1-wrong' })).status, 401);
    }
  });

  test('a key is taken from every header the clients use, and from no address', async () => {
    for (const headers of [{ 'x-api-key': server.key }, { 'x-goog-api-key': server.key }, { authorization: `Bearer ${server.key}` }])
      assert.equal((await chat('demo/echo', {}, { key: null, headers })).status, 200);
    const refused = await ask(`/v1beta/models/demo/echo:generateContent?key=${server.key}`, {}, { key: null });
    assert.equal(refused.status, 401);
    assert.match(refused.json.error.message, /so it is not accepted/);
    assert.equal((await server.raw('GET', '/api/me', { key: null, headers: { 'x-api-key': server.key } })).status, 401);
  });

  test('name what is wrong with a body', async () => {
    for (const [body, status] of [['{', 400], ['[]', 400], ['{}', 400], ['{"model":"nobody/knows","messages":[]}', 404]]) {
      const answer = await ask('/v1/chat/completions', body);
      assert.equal(answer.status, status, body);
      assert.equal(answer.json.error.type, 'invalid_request_error');
    }
    const unknown = await ask('/v1/messages', { model: 'nobody/knows', max_tokens: 5, messages: [] });
    assert.deepEqual([unknown.status, unknown.json.type, unknown.json.error.type], [404, 'error', 'not_found_error']);
  });

  test('of the vendor keep their status and get the shape of the client', async () => {
    for (const status of [400, 403, 404, 422]) {
      const answer = await chat(`up-anthropic/status-${status}`);
      assert.equal(answer.status, status);
      assert.match(answer.json.error.message, new RegExp(`told to say ${status}`));
      const stream = await chat(`up-anthropic/status-${status}`, { stream: true });
      assert.equal(stream.status, status);
      assert.match(stream.headers['content-type'], /json/);
    }
  });

  test('of the same dialect come as they were said, without the key', async () => {
    const plain = await messages('up-anthropic/status-400');
    assert.deepEqual(plain.json, { type: 'error', error: { type: 'invalid_request_error', message: 'told to say 400' }, request_id: 'req_1' });
    const leak = await messages('up-anthropic/leak');
    assert.equal(leak.status, 400);
    assert.ok(!leak.text.includes(KEY));
    assert.ok(!(await chat('up-anthropic/leak')).text.includes(KEY));
  });

  test('429 brings Retry-After along', async () => {
    const answer = await chat('busy');
    assert.equal(answer.status, 429);
    assert.equal(answer.headers['retry-after'], '77');
    assert.equal(answer.json.error.type, 'invalid_request_error');
  });
});

describe('faults', () => {
  test('a vendor that hangs is given up in time', async () => {
    const answer = await chat('up-anthropic/hang', {}, { at: hasty });
    assert.equal(answer.status, 504);
    assert.equal(answer.json.error.type, 'server_error');
    await until(() => up.last().isClosed);
  });

  test('a vendor that answers with garbage is a 502', async () => {
    for (const target of ['anthropic', 'openai-chat'])
      for (const stream of [false, true])
        assert.equal((await chat(`up-${target}/garbage`, { stream })).status, 502, `${target} ${stream}`);
  });

  test('a stream that breaks off ends in the error event of the client', async () => {
    for (const [path, body, last] of [
      ['/v1/chat/completions', CHAT, (data) => data.error?.message],
      ['/v1/messages', { max_tokens: 9, messages: CHAT.messages }, (data) => data.type === 'error' && data.error.message],
      ['/v1/responses', { input: 'Hello', store: false }, (data) => data.type === 'error' || data.type === 'response.failed'],
    ])
      for (const model of ['up-anthropic/drop', 'up-openai-chat/drop', 'up-anthropic/stall']) {
        const at = model.endsWith('stall') ? hasty : server;
        const answer = await ask(path, { ...body, model, stream: true }, { at });
        assert.equal(answer.status, 200);
        assert.ok(datas(answer.text).some(last), `${path} ${model}: ${answer.text.slice(-300)}`);
      }
  });

  test('a stream that drips comes through whole', async () => {
    const answer = await chat('up-anthropic/drip', { stream: true });
    assert.equal(datas(answer.text).map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'Good day to you.');
  });

  test('a client that goes away closes the connection to the vendor', async () => {
    for (const stream of [false, true]) {
      const n = up.requests.length;
      const request = http.request({ host: '127.0.0.1', port: server.port, method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${server.key}` } });
      request.on('error', () => {});
      request.end(JSON.stringify({ ...CHAT, model: 'up-anthropic/hang', stream }));
      await until(() => up.requests.length > n);
      request.destroy();
      await until(() => up.last().isClosed);
    }
    const { request, response } = await open('/v1/chat/completions', { ...CHAT, model: 'up-anthropic/stall', stream: true });
    await new Promise((resolve) => response.once('data', resolve));
    response.on('error', () => {});
    request.destroy();
    await until(() => up.last().isClosed);
  });

  test('a client that reads slowly slows the vendor down and gets everything', async () => {
    const { response } = await open('/v1/chat/completions', { ...CHAT, model: 'up-anthropic/long', stream: true });
    response.pause();
    await until(() => up.last().isDone, 'the vendor has said everything');
    let text = '';
    for await (const piece of response) text += piece;
    assert.equal(datas(text).map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'word '.repeat(40_000));
  });
});

describe('routing', () => {
  test('an alias stands for a model', async () => {
    const answer = await chat('fast');
    assert.equal(answer.headers['parley-model'], 'up-anthropic/text');
  });

  test('the next of a chain is asked, with the original request converted for it', async () => {
    const answer = await chat('chain', { stream: true });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['parley-model'], 'up-gemini/text');
    assert.equal(up.last().dialect, 'gemini');
    assert.deepEqual(up.last().body.contents, [{ role: 'user', parts: [{ text: 'Hello' }] }]);
  });

  test('one that hangs, and one that cannot be understood, are followed by the next', async () => {
    for (const stream of [false, true])
      assert.equal((await chat('slow', { stream }, { at: hasty })).headers['parley-model'], 'up-gemini/text');
  });

  test('an error of the last of a chain is the answer', async () => {
    const answer = await chat('busy', { stream: true });
    assert.equal(answer.status, 429);
    assert.equal(answer.headers['retry-after'], '77');
  });

  test('the models are listed as each vendor lists them', async () => {
    const openai = (await server.raw('GET', '/v1/models')).json;
    assert.equal(openai.object, 'list');
    assert.ok(openai.data.some((model) => model.id === 'demo/echo' && model.object === 'model'));
    assert.ok(openai.data.some((model) => model.id === 'fast'));
    const anthropic = (await server.raw('GET', '/v1/models', { headers: { 'anthropic-version': '2023-06-01' } })).json;
    assert.equal(anthropic.data[0].type, 'model');
    const gemini = (await server.raw('GET', '/v1beta/models')).json;
    assert.ok(gemini.models.some((model) => model.name === 'models/demo/echo'));
    assert.equal((await server.raw('GET', '/v1/models/demo%2Fecho')).json.id, 'demo/echo');
    assert.equal((await server.raw('GET', '/v1/models/nobody')).status, 404);
  });
});

describe('models of our own', () => {
  test('answer in every dialect, streamed and not', async () => {
    assert.equal((await chat('demo/echo')).json.choices[0].message.content, 'Hello');
    assert.equal((await messages('demo/echo')).json.content[0].text, 'Hello');
    const stream = await messages('demo/agent', { stream: true });
    const types = datas(stream.text).filter((data) => data.type === 'content_block_start').map((data) => data.content_block.type);
    assert.deepEqual(types, ['thinking', 'text', 'tool_use']);
    const failed = await chat('demo/echo', { messages: [{ role: 'user', content: '#!demo\nfail it broke' }] });
    assert.deepEqual([failed.status, failed.json.error.message], [500, 'it broke']);
  });

  test('replay a recorded session, answer by answer, to its owner', async () => {
    const kept = await chat('up-anthropic/text', {}, { headers: { 'parley-record': 'session' } });
    const model = `replay/${kept.headers['parley-session']}`;
    assert.equal((await chat(model)).json.choices[0].message.content, 'Good day to you.');
    const other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
    assert.equal((await chat(model, {}, { key: other })).status, 404);
  });
});

describe('counting tokens', () => {
  test('is done here, whatever the model', async () => {
    const counted = await ask('/v1/messages/count_tokens', { model: 'up-anthropic/text', messages: CHAT.messages });
    assert.ok(counted.json.input_tokens > 0 && counted.json.input_tokens < 50);
    const gemini = await ask('/v1beta/models/demo/echo:countTokens', { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
    assert.ok(gemini.json.totalTokens > 0);
    assert.equal((await ask('/v1/messages/count_tokens', '{')).json.error.type, 'invalid_request_error');
  });
});

describe('responses', () => {
  const responses = (body, options) => ask('/v1/responses', { model: 'up-anthropic/text', ...body }, options);

  test('go on from an answer that went through us', async () => {
    for (const stream of [false, true])
      for (const target of ['up-anthropic/text', 'up-openai-responses/text']) {
        const first = await responses({ model: target, input: 'My name is Ada.', instructions: 'Be brief.', stream });
        assert.equal(first.status, 200, first.text);
        const id = stream ? datas(first.text).at(-1).response.id : first.json.id;
        const second = await responses({ model: 'up-openai-chat/text', input: 'Who am I?', previous_response_id: id });
        assert.equal(second.status, 200, second.text);
        assert.deepEqual(up.last().body.messages.map((m) => m.role), ['user', 'assistant', 'user'], `${stream} ${target}`);
        assert.equal(JSON.stringify(up.last().body.messages).includes('Ada'), true);
        const third = await responses({ model: 'up-openai-responses/text', input: [{ role: 'user', content: 'And now?' }], previous_response_id: second.json.id });
        assert.equal(third.status, 200, third.text);
        assert.equal(up.last().body.previous_response_id, undefined);
        assert.equal(up.last().body.input.length, 5);
      }
  });

  test('refuse an answer that is not ours, another\'s, or was not stored', async () => {
    const stored = await responses({ input: 'Hello' });
    const other = (await server.ask('POST', '/api/users', { body: { name: 'stranger' } })).json.key.plaintext;
    const secret = await responses({ input: 'Hello', store: false });
    for (const [id, key] of [['resp_nobody', server.key], [stored.json.id, other], [secret.json.id + 'x', server.key]]) {
      const answer = await responses({ input: 'Hi', previous_response_id: id }, { key });
      assert.equal(answer.status, 400);
      assert.equal(answer.json.error.code, 'previous_response_not_found');
    }
  });

  test('take a prompt of the library, with variables', async () => {
    const made = await server.ask('POST', '/api/prompts', { body: { name: 'greet', type: 'structured', content: { protocol: 'structured-chat', system_prompt: 'Speak {{language}}.', messages: [{ id: 'a', role: 'user', content: 'Greet {{name}}.' }] } } });
    assert.equal(made.status, 201, made.text);
    const answer = await responses({ prompt: { id: made.json.id, variables: { language: 'Latin', name: { type: 'input_text', text: 'Ada' } } } });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(JSON.stringify(up.last().body.system).includes('Speak Latin.'));
    assert.ok(JSON.stringify(up.last().body.messages).includes('Greet Ada.'));
    const missing = await responses({ prompt: { id: made.json.id, variables: {} } });
    assert.equal(missing.status, 400);
    const unknown = await responses({ prompt: { id: 'pmpt_nobody' } });
    assert.deepEqual([unknown.status, unknown.json.error.type], [400, 'invalid_request_error']);
  });
});

describe('recording', () => {
  test('an exchange becomes a session when the request says so', async () => {
    for (const stream of [false, true]) {
      const answer = await messages('up-openai-chat/tools', { stream, system: 'Be kind.', tools: [{ name: 'weather', input_schema: { type: 'object' } }] }, { headers: { 'parley-record': 'session' } });
      assert.equal(answer.status, 200);
      const list = (await server.ask('GET', '/api/sessions?limit=1')).json.items;
      const turns = (await server.ask('GET', `/api/sessions/${list[0].id}/messages`)).json;
      assert.ok(turns.some((turn) => turn.role === 'user' && JSON.stringify(turn.blocks).includes('Hello')), JSON.stringify(turns));
      assert.ok(turns.some((turn) => turn.role === 'assistant' && JSON.stringify(turn.blocks).includes('weather')), JSON.stringify(turns));
    }
    const none = await chat('demo/echo');
    assert.equal(none.headers['parley-session'], undefined);
  });
});

describe('older clients', () => {
  test('a stream to HTTP/1.0 is the bytes alone, and then the end', async () => {
    const body = JSON.stringify({ ...CHAT, model: 'demo/echo', stream: true });
    const { said, closed } = await server.bytes(`POST /v1/chat/completions HTTP/1.0\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    assert.ok(closed);
    assert.doesNotMatch(said, /transfer-encoding/i);
    assert.match(said, /\r\n\r\ndata: \{/);
    assert.match(said, /data: \[DONE\]\n\n$/);
  });

  test('two requests on one connection are answered in turn, streamed ones too', async () => {
    const body = JSON.stringify({ ...CHAT, model: 'demo/echo', stream: true });
    const one = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { said } = await server.bytes(one + one, { n: 2 });
    assert.equal(said.match(/HTTP\/1\.1 200/g).length, 2);
    assert.equal(said.match(/\r\n0\r\n\r\n/g).length, 2);
  });
});

describe('limits and usage', () => {
  const keyWith = async (limits) => {
    const key = (await server.ask('POST', '/api/user/api-keys', { body: { name: 'limited' } })).json;
    const changed = await server.ask('PATCH', `/api/user/api-keys/${key.id}`, { body: { limits } });
    assert.deepEqual({ ...{ rpm: null, tpm: null, budget_usd_day: null, budget_usd_month: null }, ...limits }, changed.json.limits);
    return { id: key.id, key: key.plaintext };
  };

  test('a key may ask so often a minute', async () => {
    const { key } = await keyWith({ rpm: 2 });
    assert.equal((await chat('demo/echo', {}, { key })).status, 200);
    assert.equal((await messages('demo/echo', {}, { key })).status, 200);
    const refused = await messages('demo/echo', {}, { key });
    assert.deepEqual([refused.status, refused.json.error.type], [429, 'rate_limit_error']);
    assert.ok(Number(refused.headers['retry-after']) > 0 && Number(refused.headers['retry-after']) <= 31);
    assert.equal((await chat('demo/echo')).status, 200);
  });

  test('a key may use so many tokens a minute', async () => {
    const { key } = await keyWith({ tpm: 10 });
    assert.equal((await chat('up-anthropic/text', {}, { key })).status, 200);
    assert.equal((await chat('up-anthropic/text', {}, { key })).status, 429);
  });

  test('a budget is used up by what the answers cost, and stays so', async () => {
    const { id, key } = await keyWith({ budget_usd_day: 0.00005 });
    const model = 'anthropic/claude-opus-4-5';
    assert.equal((await chat(model, {}, { key })).status, 200);
    const refused = await chat(model, {}, { key });
    assert.equal(refused.status, 429, 'the price of the model must be known');
    assert.equal(refused.json.error.code, 'insufficient_quota');
    await server.ask('PATCH', `/api/user/api-keys/${id}`, { body: { limits: null } });
    assert.equal((await chat(model, {}, { key })).status, 200);
  });

  test('usage is told per key, model and day', async () => {
    const { id, key } = await keyWith({ rpm: 1000 });
    for (const stream of [false, true])
      for (const target of ['openai-chat', 'openai-responses', 'anthropic', 'gemini'])
        assert.equal((await messages(`up-${target}/text`, { stream }, { key })).status, 200);
    const byKey = await until(async () => (await server.ask('GET', '/api/usage?group=key')).json.items.find((item) => item.key_id === id && item.requests >= 8), 'all are written down');
    assert.deepEqual({ requests: byKey.requests, input: byKey.input_tokens, output: byKey.output_tokens }, { requests: 8, input: 88, output: 56 });
    const byModel = (await server.ask('GET', '/api/usage?group=model')).json.items;
    assert.ok(byModel.some((item) => item.model === 'up-gemini/text' && item.requests >= 2));
    const today = new Date().toISOString().slice(0, 10);
    assert.equal((await server.ask('GET', `/api/usage?group=day&from=${today}&to=${today}`)).json.items[0].day, today);
    assert.equal((await server.ask('GET', '/api/usage?group=year')).status, 400);
    assert.equal((await server.ask('GET', '/api/usage?from=yesterday')).status, 400);
  });
});

describe('the end', () => {
  test('a server with calls under way ends in order, and its usage is kept', async () => {
    const first = await serve(up, { args: ['--drain', '200'], more: 'gateway_record: sessions\n', env: up.env() });
    const limited = (await first.ask('POST', '/api/user/api-keys', { body: { name: 'limited' } })).json;
    await first.ask('PATCH', `/api/user/api-keys/${limited.id}`, { body: { limits: { budget_usd_month: 0.0001 } } });
    const kept = await first.raw('POST', '/v1/messages', { key: limited.plaintext, body: { model: 'anthropic/claude-opus-4-5', max_tokens: 10, messages: CHAT.messages } });
    assert.match(kept.headers['parley-session'], /^sess_/);
    const large = 'x'.repeat(600_000), nBefore = up.requests.length;
    const asked = [
      ...['hang', 'stall', 'drop', 'garbage', 'text', 'status-503'].flatMap((model) => [false, true].map((stream) => [`up-anthropic/${model}`, stream])),
      ['demo/slow', true], ['demo/echo', false],
    ].map(([model, stream]) => open('/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: `Hello ${large}` }] }, first).then(({ response }) => response.resume().on('error', () => {})).catch(() => {}));
    assert.equal((await first.raw('POST', '/v1/responses', { body: { model: 'up-gemini/text', input: 'Hello' } })).status, 200);
    await until(() => up.requests.length >= nBefore + 13, 'the vendors are asked');
    assert.deepEqual(await first.stop(), { code: 0, signal: null }, first.err);
    await Promise.all(asked);
    const second = await serve(up, { data: first.data, login: false });
    const over = await second.raw('POST', '/v1/messages', { key: limited.plaintext, body: { model: 'demo/echo', max_tokens: 10, messages: CHAT.messages } });
    assert.equal(over.status, 429, 'what was spent before counts');
    const used = (await second.raw('GET', '/api/usage', { key: first.key })).json.items;
    assert.ok(used.some((item) => item.model === 'up-gemini/text' && item.requests === 1), JSON.stringify(used));
    assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.err);
  });
});

// The shim is for programs without sanitizers.
describe('without memory', { skip: noShim }, () => {
  test('a call is answered, refused or broken off, and the server lives', async () => {
    const first = await serve(up);
    await first.stop();
    const counts = { good: 0, bad: 0 };
    const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(30_000)}`;
    const asks = [
      ['/v1/chat/completions', { ...CHAT, model: 'up-anthropic/tools', stream: true }],
      ['/v1/chat/completions', { ...CHAT, model: 'up-gemini/tools' }],
      ['/v1/messages', { model: 'up-anthropic/thinking', max_tokens: 9, stream: true, messages: CHAT.messages }],
      ['/v1/responses', { model: 'up-openai-chat/text', input: 'Hello', stream: true }],
      ['/v1/responses', { model: 'demo/agent', input: 'Hello' }],
      ['/v1/messages', { model: 'demo/agent', max_tokens: 9, stream: true, messages: CHAT.messages }],
      ['/v1/chat/completions', { ...CHAT, model: 'up-anthropic/text', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: image } }] }] }],
    ];
    const begin = (env) => serve(up, { data: first.data, login: false, env });
    await starve({ key: first.key, n: 24, paces: [23, 53, 101, 211], begin }, async (starved) => {
      for (const [path, body] of asks)
        await starved.raw('POST', path, { body }).then(({ status, text }) => {
          counts[status === 200 ? 'good' : 'bad']++;
          assert.ok([200, 401, 500, 502, 503].includes(status), `${path} ${status} ${text}`);
        }, (error) => { assert.ok(!(error instanceof assert.AssertionError), error); counts.bad++; });
    });
    assert.ok(counts.good > 10 && counts.bad > 5, JSON.stringify(counts));
  });
});
