// In which language and in whose terms a message speaks.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { run } from './harness.mjs';
import { endsWell, serve } from './live.mjs';

let server;
before(async () => {
  server = await serve();
});

async function post(path, body, language) {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.key}`, ...(language ? { 'accept-language': language } : {}) },
  });
  return { status: response.status, json: await response.json() };
}
const chinese = /[\u4e00-\u9fff]/;

test('Accept-Language decides the language of what a schema finds', async () => {
  const wrong = { as: 'envelope', document: { version: '1.0', messages: [{}] } };
  for (const language of ['zh', 'zh-CN,zh;q=0.9,en;q=0.8', 'en;q=0.5, zh-Hant', 'fr, zh;q=0.1'])
    assert.match((await post('/api/validate', wrong, language)).json.errors[0].message, chinese, language);
  for (const language of [undefined, 'en', 'en-US,zh;q=0.9', 'fr', 'zh;q=0', 'zhx', 'zh;q=0.2,en;q=0.3'])
    assert.doesNotMatch((await post('/api/validate', wrong, language)).json.errors[0].message, chinese, language);
});

test('JSON that cannot be read is told in Chinese too, and a body that is not what it must be', async () => {
  const unreadable = await post('/api/validate', { as: 'envelope', document: '{"a":1,}' }, 'zh');
  assert.match(JSON.stringify(unreadable.json), /请删除末尾多余的逗号/);
  const lint = await post('/api/lint', { document: '{"a" 1}' }, 'zh');
  assert.match(lint.json.detail, /第 1 行第 6 列：此处应为键后面的 ':'/);
  const body = await post('/api/validate', { as: 5 }, 'zh');
  assert.equal(body.status, 400);
  assert.match(body.json.detail, /请求体无效：/);
  assert.match((await post('/api/validate', { as: 5 })).json.detail, /^The body is invalid: /);
});

test('the command says all of its words in Chinese', () => {
  const env = { LANG: 'zh_CN.UTF-8', LC_ALL: '', LC_MESSAGES: '' };
  const validate = (input, ...args) => run(['validate', '--as', 'envelope', ...args, '-'], { input, env });
  assert.match(validate('{"version":"1.0","messages":[]}').out, /^\S+：?.*无效/m);
  const broken = validate('{"a":tru}');
  assert.match(broken.out, /无法读取/);
  assert.match(broken.err, /此处应为一个值，却是'tru'/);
  assert.doesNotMatch(validate('{"version":"1.0","messages":[{}]}').out, /invalid|unreadable/);
  assert.match(run(['validate', '--as', 'envelope', '--lang', 'en', '-'], { input: '{', env }).out, /unreadable/);
});

test('a variable without a value is asked for in the words of whoever asks', async () => {
  const document = { protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: '{{a.b}}' }] };
  const rest = JSON.stringify((await post('/api/render', { document })).json);
  assert.match(rest, /the variable \\?"a\.b\\?" has no value; give it in \\"variables\\"/);
  assert.doesNotMatch(rest, /--var/);
  assert.match(run(['render', '-'], { input: JSON.stringify(document) }).err, /give it with --var a\.b=…/);
});

test('a prompt is rendered into an envelope over REST as well', async () => {
  const document = { protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: 'Hi {{who}}!' }] };
  const { json } = await post('/api/render', { document, variables: { who: 'Ada' }, to: 'envelope' });
  assert.deepEqual(json.document.messages[0].segments, [
    { kind: 'text', content: 'Hi ' }, { kind: 'static_var', name: 'who', value: 'Ada' }, { kind: 'text', content: '!' }]);
  assert.equal((await post('/api/render', { document, variables: { who: 'Ada' }, to: 'envelop' })).status, 400);
});

test('lint finds what does not suit in an envelope', () => {
  const segment = (role, ...segments) => ({ id: role, role, timestamp: 1, segments });
  const input = JSON.stringify({ version: '1.0', messages: [
    segment('user', { kind: 'long_text', content: 'abc', charCount: 99, collapsed: true },
      { kind: 'tool_call_result', toolName: 't', result: 'r', success: true, collapsed: true }),
    segment('assistant', { kind: 'system_prompt', content: 'obey', collapsed: false })] });
  const { out } = run(['lint', '--as', 'envelope', '--json', '-'], { input });
  const found = JSON.parse(out).findings.map(({ code, pointer }) => [code, pointer]);
  for (const expected of [['segment.char_count', '/messages/0/segments/0/charCount'], ['segment.role', '/messages/0/segments/1/kind'],
    ['segment.role', '/messages/1/segments/0/kind']])
    assert.ok(found.some((one) => String(one) === String(expected)), `${expected} in ${JSON.stringify(found)}`);
});

test('the server ends in good order', () => endsWell(server));
