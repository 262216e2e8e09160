// A vendor's answer is untrusted data: of any type, in any place. The client gets an answer or an error in its own
// dialect, with ids of the server, and the log contains nothing of the answer.
import assert from 'node:assert/strict';
import http from 'node:http';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';

const SAID = 'a-word-of-the-vendor';
const ASKED = 'a-word-of-the-client';
const KEY = 'sk-answers-0123456789abcdef';

const clients = {
  'openai-chat': { path: () => '/v1/chat/completions', body: (stream) => ({ model: 'm', stream, messages: [{ role: 'user', content: ASKED }] }) },
  'openai-responses': { path: () => '/v1/responses', body: (stream) => ({ model: 'm', stream, store: false, input: ASKED }) },
  anthropic: { path: () => '/v1/messages', body: (stream) => ({ model: 'm', stream, max_tokens: 9, messages: [{ role: 'user', content: ASKED }] }) },
  gemini: {
    path: (stream, model) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: ASKED }] }] }),
  },
};
const dialects = Object.keys(clients);

// A vendor that sends the given answer.
let answer; // { text, type }
const says = http.createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  says.bodies.push(Buffer.concat(pieces).toString());
  const { type = 'application/json', text } = answer;
  response.writeHead(200, { 'content-type': type });
  response.end(text);
});
says.bodies = [];
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

let server;
const samples = {}; // dialect -> { whole, events }
before(async () => {
  await new Promise((resolve) => { says.listen(0, '127.0.0.1', resolve); });
  const base_url = `http://127.0.0.1:${says.address().port}`;
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), JSON.stringify({
    probe: false, providers: Object.fromEntries(dialects.map((dialect) => [`at-${dialect}`, { dialect, base_url, key_env: 'ANSWERS_KEY' }])),
  }));
  server = await start({ args: ['--log-level', 'request'], env: { XDG_CONFIG_HOME: home, ANSWERS_KEY: KEY } });
  // Normal answers of a vendor.
  const vendor = await openUpstream({ answer: () => ({ say: SAID, think: 'hm', calls: [{ name: 'f', args: { a: 1 } }] }) });
  for (const dialect of dialects) {
    const take = async (stream) => (await fetch(vendor.url + clients[dialect].path(stream, 'm'), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(clients[dialect].body(stream)),
    })).text();
    samples[dialect] = { whole: JSON.parse(await take(false)), events: (await take(true)).split('\n\n').filter(Boolean) };
  }
  await vendor.close();
});
after(async () => {
  agent.destroy();
  says.closeAllConnections();
  await new Promise((resolve) => { says.close(resolve); });
});

function ask(client, vendor, stream) {
  const model = `at-${vendor}/m`;
  const body = { ...clients[client].body(stream), ...(client === 'gemini' ? {} : { model }) };
  return server.raw('POST', clients[client].path(stream, model), { body, agent });
}

// Whether this is an error in the dialect.
function isError(client, json) {
  if (client === 'anthropic') return json.type === 'error' && typeof json.error?.message === 'string';
  if (client === 'gemini') return typeof json.error?.message === 'string' && typeof json.error?.status === 'string';
  return typeof json.error?.message === 'string' && typeof json.error?.type === 'string';
}

describe('an answer that is none', () => {
  const wrong = {
    'an array': '[1,2,3]', 'a number': '12', 'a text': '"words"', 'true': 'true', 'null': 'null', 'an empty object': '{}',
    'an object of nobody': '{"hello":"world"}', 'a page': '<!doctype html><html><body>Welcome</body></html>', 'nothing': '',
    'white space': ' \n', 'half of one': '{"choices":[', 'bytes': '\u0000\u0001\ufffd',
    'the mark in another type': '{"choices":{},"content":7,"output":"x","candidates":{"a":1},"promptFeedback":[]}',
  };
  for (const vendor of dialects) {
    for (const [what, text] of Object.entries(wrong)) {
      test(`of ${vendor}, ${what}, is an error in the client's shape`, async () => {
        answer = { text, type: what === 'a page' ? 'text/html' : 'application/json' };
        for (const client of dialects) {
          for (const stream of [false, true]) {
            const { status, json, text: said } = await ask(client, vendor, stream);
            // An object may be an event of Gemini's: then the stream has begun, and ends with an error.
            if (vendor === 'gemini' && stream && status === 200) {
              assert.match(said, /"(error|response\.failed)"/);
              continue;
            }
            assert.equal(status, 502, `${client} ${stream}: ${said}`);
            assert.ok(isError(client, json), said);
          }
        }
      });
    }
  }

  test('with an error in it says what the vendor says, and not the key', async () => {
    answer = { text: JSON.stringify({ error: { message: `no credit left for ${KEY}` } }) };
    for (const client of dialects) {
      const { status, text } = await ask(client, 'openai-chat', false);
      assert.equal(status, 502);
      assert.match(text, /no credit left for \[key\]/);
    }
  });
});

// All places of a value, with the replacements for each.
function* places(value, path = []) {
  yield path;
  if (value && typeof value === 'object') for (const key of Object.keys(value)) yield* places(value[key], [...path, key]);
}
function put(value, path, other) {
  if (!path.length) return other;
  const copy = structuredClone(value);
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key];
  at[path.at(-1)] = other;
  return copy;
}

async function swap(vendor, stream, variants) {
  const queue = variants.flatMap((text) => [vendor, dialects[(dialects.indexOf(vendor) + 1) % 4], dialects[(dialects.indexOf(vendor) + 2) % 4]].map((client) => [client, text]));
  for (const [client, text] of queue) {
    answer = { text, type: stream ? 'text/event-stream' : 'application/json' };
    const got = await ask(client, vendor, stream);
    const what = `${vendor} to ${client}: ${text.slice(0, 3000)}\n-> ${got.status} ${got.text.slice(0, 2000)}`;
    assert.ok([200, 502].includes(got.status), what);
    if (got.status === 502) assert.ok(isError(client, got.json), what);
    else if (!stream) assert.ok(got.json && typeof got.json === 'object' && !Array.isArray(got.json), what);
    else if (client !== vendor) for (const [, data] of got.text.matchAll(/^data: (.*)$/gm)) if (data !== '[DONE]') JSON.parse(data);
  }
}

describe('values of the wrong type', () => {
  for (const vendor of dialects) {
    test(`in whole answers of ${vendor} crash and hang nothing`, async () => {
      const { whole } = samples[vendor];
      await swap(vendor, false, [...places(whole)].filter((path) => path.length).flatMap((path) =>
        [null, true, -1, 1e9, 1e300, 'x', [], {}, [[[]]]].map((other) => JSON.stringify(put(whole, path, other)))));
    });

    test(`in events of ${vendor} crash and hang nothing`, async () => {
      const { events } = samples[vendor];
      const variants = events.flatMap((event, i) => {
        const [head, data] = event.split(/(?<=^|\n)data: /);
        if (!data?.startsWith('{')) return [];
        const json = JSON.parse(data);
        return [...places(json)].flatMap((path) => [null, -1, 1e9, 'x', [], {}].map((other) =>
          [...events.slice(0, i), `${head}data: ${JSON.stringify(put(json, path, other))}`, ...events.slice(i + 1), ''].join('\n\n')));
      });
      await swap(vendor, true, variants);
    });
  }

  test('and all that was said before leave the server well, and its log without a word of it', async () => {
    assert.equal((await server.raw('GET', '/healthz', { key: null })).status, 200);
    assert.ok(server.err.length);
    for (const word of [SAID, ASKED, KEY]) assert.ok(!`${server.out}${server.err}`.includes(word), word);
  });
});

describe('an id of a response', () => {
  const made = (text, id = 'resp_same') => ({ ...samples['openai-responses'].whole, id, output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }] });
  const post = (body) => server.raw('POST', '/v1/responses', { body: { model: 'at-openai-responses/m', ...body } });

  test('is ours, so that a server that repeats its own leads nobody astray', async () => {
    const ids = [];
    for (const word of ['apples', 'pears']) {
      const text = JSON.stringify(made(`I like ${word}`), null, 1);
      answer = { text };
      const got = await post({ input: `Which fruit? ${word}` });
      assert.match(got.json.id, /^resp_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/);
      assert.equal(got.text.replace(got.json.id, 'resp_same'), text, 'all other bytes stay');
      ids.push(got.json.id);
    }
    assert.notEqual(ids[0], ids[1]);
    for (const [i, word] of ['apples', 'pears'].entries()) {
      says.bodies = [];
      assert.equal((await post({ input: 'Why?', previous_response_id: ids[i] })).status, 200);
      assert.match(says.bodies[0], new RegExp(`I like ${word}`));
      assert.doesNotMatch(says.bodies[0], new RegExp(`I like ${word === 'pears' ? 'apples' : 'pears'}`));
    }
    const { status, json } = await post({ input: 'Why?', previous_response_id: 'resp_same' });
    assert.equal(status, 400);
    assert.equal(json.error.code, 'previous_response_not_found');
  });

  test('is the same in all events of a stream, and what the next request may name', async () => {
    const { events } = samples['openai-responses'];
    const text = `${events.join('\n\n')}\n\n`;
    const [, old] = text.match(/"response":\{"id":"([^"]+)"/);
    answer = { text, type: 'text/event-stream' };
    const got = await post({ input: 'Hello', stream: true });
    const seen = new Set([...got.text.matchAll(/"response":\{"id":"([^"]+)"/g)].map(([, id]) => id));
    assert.equal(seen.size, 1);
    const [id] = seen;
    assert.match(id, /^resp_[0-9a-f-]{36}$/);
    assert.equal(got.text.replaceAll(id, old), text, 'all other bytes stay');
    answer = { text: JSON.stringify(made('fine')) };
    says.bodies = [];
    assert.equal((await post({ input: 'And?', previous_response_id: id })).status, 200);
    assert.match(says.bodies[0], new RegExp(SAID));
  });

  for (const vendor of dialects) {
    for (const store of [true, false]) {
      test(`is ours in answers of ${vendor}, ${store ? 'kept' : 'not kept'}`, async () => {
        const { whole, events } = samples[vendor];
        answer = { text: JSON.stringify(whole) };
        const body = { model: `at-${vendor}/m`, input: 'Hello', store };
        const once = (await post(body)).json.id;
        answer = { text: `${events.join('\n\n')}\n\n`, type: 'text/event-stream' };
        const { text } = await post({ ...body, stream: true });
        const streamed = [...text.matchAll(/"response":\{"id":"([^"]+)"/g)].map(([, id]) => id);
        assert.ok(streamed.length >= 2);
        assert.equal(new Set(streamed).size, 1);
        for (const id of [once, streamed[0]]) assert.match(id, /^resp_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/);
        assert.notEqual(once, streamed[0]);
      });
    }
  }

  test('is put where the vendor has none, or one of another type', async () => {
    const whole = made('x');
    for (const odd of [{ ...whole, id: undefined }, { ...whole, id: 7 }, { ...whole, id: null }]) {
      answer = { text: JSON.stringify(odd) };
      assert.match((await post({ input: 'Hello' })).json.id, /^resp_[0-9a-f-]{36}$/);
    }
  });
});
