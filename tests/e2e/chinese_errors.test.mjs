// Errors of the server in Chinese if Accept-Language prefers it: of every route, in the vendors' formats, on a socket.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { endsWell, serve, Socket } from './live.mjs';

let server;
let paths;
before(async () => {
  server = await serve();
  ({ paths } = await (await fetch(`${server.url}/openapi.json`)).json());
});

const chinese = /\p{Script=Han}/u;
// Words that only occur in sentences, not in names, members or values.
const english = /(?<![:-])\b(is|are|has|have|must|cannot|there|the|needs|send|give|this)\b(?![-"=:])/i;

async function ask(method, path, { body, language = 'zh-CN', key = server.key, headers = {} } = {}) {
  const response = await fetch(`${server.url}${path}`, {
    method, body, signal: AbortSignal.timeout(120_000),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...(key ? { authorization: `Bearer ${key}` } : {}), 'accept-language': language, ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text.startsWith('{') ? JSON.parse(text) : null };
}

// The texts for people in a problem, or in an error in a vendor's format.
const says = ({ json }) => (json?.error ? [json.error.message] : [json.title, json.detail, ...(json.errors ?? []).map(({ detail, message }) => detail ?? message)]).filter(Boolean);

function assertChinese(answer, what) {
  for (const text of says(answer)) {
    assert.match(text, chinese, `${what}: ${text}`);
    assert.doesNotMatch(text, english, `${what}: ${text}`);
  }
  assert.equal(answer.headers.get('content-language'), 'zh-CN', what);
}

test('every route refuses a wrong body and a wrong parameter in Chinese', async () => {
  const tried = [];
  for (const [path, operations] of Object.entries(paths))
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
      if (!operations[method]) continue;
      const there = path.replace(/\{[^}]*\}/g, 'nothing');
      for (const [query, body] of [['', method === 'get' || method === 'delete' ? undefined : '[]'], ['?nonsense=1', undefined]]) {
        const answer = await ask(method.toUpperCase(), there + query, { body });
        if (answer.status < 400 || !/json/.test(answer.headers.get('content-type'))) continue;
        tried.push(path);
        assertChinese(answer, `${method} ${there}${query}`);
      }
    }
  assert.ok(tried.length > 100, `${tried.length}`);
});

test('what is known before the route is said in Chinese too', async () => {
  assertChinese(await ask('GET', '/api/sessions', { key: null }), 'no key');
  assertChinese(await ask('GET', '/api/sessions', { key: 'wrong' }), 'a wrong key');
  assertChinese(await ask('GET', '/api/nothing-here'), 'no such path');
  assertChinese(await ask('POST', '/api/sessions', { body: '{' }), 'no JSON');
  assertChinese(await ask('POST', '/api/sessions', { body: 'x', headers: { 'content-type': 'text/plain' } }), 'no JSON by its type');
  assertChinese(await ask('GET', '/api/sessions?limit=0'), 'a limit');
  assertChinese(await ask('POST', '/v1/chat/completions', { body: '{"model":"nobody/none","messages":[{"role":"user","content":"Hi"}]}' }), 'no such model');
});

test('English stays English, with its code and without a language of the content', async () => {
  for (const language of ['en', 'fr', '*', 'en-GB,zh;q=0.5']) {
    const { json, headers } = await ask('GET', '/api/sessions/nothing', { language });
    assert.doesNotMatch(JSON.stringify(json), chinese);
    assert.equal(headers.get('content-language'), null);
  }
  const [zh, en] = await Promise.all(['zh', 'en'].map((language) => ask('GET', '/api/sessions/nothing', { language })));
  assert.deepEqual([zh.status, zh.json.code, zh.json.retryable], [en.status, en.json.code, en.json.retryable]);
});

test('what the client sent stays as it is', async () => {
  const name = 'out of memory';
  const { json } = await ask('GET', `/api/sessions?${encodeURIComponent(name)}=1`);
  assert.match(json.detail, /"out of memory"/);
});

test('a socket that was opened so is refused in Chinese', async () => {
  const socket = await new Socket(server, { headers: { 'accept-language': 'zh' } }).opened;
  for (const [event, data] of [['nonsense', {}], ['chat:send', { session_id: 5 }], ['session:subscribe', { session_id: 'nothing' }]]) {
    const { error } = await socket.ask(event, data);
    assert.match(error.detail, chinese, JSON.stringify(error));
    assert.doesNotMatch(error.detail, english, JSON.stringify(error));
  }
  socket.close();
});

test('the server ends in good order', () => endsWell(server));
