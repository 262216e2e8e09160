// The language and the vocabulary of messages.
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

// A document for every kind of finding.
const key = `sk-${'a'.repeat(30)}`;
const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: args } });
const user = (content) => ({ role: 'user', content });
const says = (content, more) => ({ role: 'assistant', content, ...more });
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content });
const tool = (name, parameters) => ({ type: 'function', function: { name, parameters } });
const cited = (content, map) => says(content, { created_at: 1, metadata: { citation_map: map } });
const withTool = (...messages) => ({ model: 'gpt-4o', messages, tools: [tool('f', { type: 'object', properties: { a: { type: 'number' } } })] });
const mistakes = [
  ['tool.missing', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', '{}')] }), user('d'))],
  ['tool.duplicate', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', '{}')] }), result('c', 'x'), result('c', 'y'))],
  ['tool.orphan', 'openai-chat', withTool(user('a'), result('zz', 'x'))],
  ['tool.late', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', '{}')] }), user('x'), result('c', 'y'))],
  ['tool.arguments_invalid', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', '{"a":"x"}')] }), result('c', 'y'))],
  ['tool.arguments_not_json', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', '{a')] }), result('c', 'y'))],
  ['tool.arguments_not_object', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', '5')] }), result('c', 'y'))],
  ['tool.arguments_not_string', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'f', {})] }), result('c', 'y'))],
  ['tool.unknown', 'openai-chat', withTool(user('a'), says('b', { tool_calls: [call('c', 'g', '{}')] }), result('c', 'y'))],
  ['tool.schema', 'openai-chat', { messages: [user('a'), says('b', { tool_calls: [call('c', 'f', '{}')] }), result('c', 'y')], tools: [tool('f', { type: 5 })] }],
  ['tool.duplicate_name', 'openai-chat', { messages: [user('a')], tools: [tool('f', {}), tool('f', {})] }],
  ['tool.error_incomplete', 'harmony', [user('a'), says(null, { tool_calls: [call('c', 'f', '{}')] }), result('c', '{"status":"error"}')]],
  ['tool.error_not_json', 'harmony', [user('a'), says(null, { tool_calls: [call('c', 'f', '{}')] }), result('c', 'Error: no')]],
  ['text.secret', 'openai-chat', { messages: [user(key)] }],
  ['text.binary', 'openai-chat', { messages: [user(`data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAA'.repeat(60)}`)] }],
  ['media.url_expired', 'openai-chat', { messages: [user([{ type: 'image_url', image_url: { url: 'https://b.s3.amazonaws.com/a.png?X-Amz-Date=20200101T000000Z&X-Amz-Expires=60&X-Amz-Signature=ab' } }])] }],
  ['media.video_as_file', 'openai-chat', { messages: [user([{ type: 'image_url', image_url: { url: 'https://a.example/a.mp4' } }])] }],
  ['media.audio_format', 'harmony', [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp4' } }])]],
  ['media.audio_data', 'harmony', [user([{ type: 'input_audio', input_audio: { data: '!!', format: 'wav' } }])]],
  ['media.empty', 'openai-chat', { messages: [user([{ type: 'image_url', image_url: {} }])] }],
  ['part.type', 'harmony', [user([{ type: 'imag_url', image_url: { url: 'https://a.example' } }])]],
  ['part.index_duplicate', 'harmony', [user([{ type: 'text', text: 'a', index: 0 }, { type: 'text', text: 'b', index: 0 }])]],
  ['cite.unknown', 'harmony', [cited('x <cite id="a"/>', {})]],
  ['cite.unused', 'harmony', [cited('x', { a: { source_type: 'pdf' } })]],
  ['cite.bbox', 'harmony', [cited('x <cite id="a"/>', { a: { location: { bbox: [5, 5, 1, 1] } } })]],
  ['cite.page', 'harmony', [cited('x <cite id="a"/>', { a: { location: { page_number: 0 } } })]],
  ['id.duplicate', 'harmony', [{ id: 'm', ...user('a') }, { id: 'm', ...says('b') }]],
  ['agent.name_missing', 'harmony', [user('a'), says('b', { name: 'x' }), user('c'), says('d')]],
  ['content.empty', 'openai-chat', { messages: [user(''), says('a')] }],
  ['turn.alternation', 'anthropic', { max_tokens: 9, messages: [user('a'), user('b')] }, '--for', 'anthropic@2023-06-01'],
  ['turn.first', 'anthropic', { max_tokens: 9, messages: [says('a'), user('b')] }],
  ['turn.first', 'gemini', { systemInstruction: { parts: [{ text: 'a' }] }, contents: [] }],
  ['turn.prefill', 'gemini', { contents: [{ role: 'user', parts: [{ text: 'a' }] }, { role: 'model', parts: [{ text: 'b' }] }] }],
  ['context.exceeded', 'openai-chat', { model: 'gpt-4o', messages: [user('word '.repeat(600_000))] }],
  ['segment.role', 'envelope', { version: '1.0', messages: [{ id: 'm', role: 'user', timestamp: 0, segments: [{ kind: 'system_prompt', content: 'a', collapsed: true }] }] }],
  ['segment.char_count', 'envelope', { version: '1.0', messages: [{ id: 'm', role: 'user', timestamp: 0, segments: [{ kind: 'long_text', content: 'a', charCount: 9, collapsed: true }] }] }],
  ['setting.refused', 'anthropic', { model: 'claude-opus-5', max_tokens: 9, temperature: 0.5, messages: [user('a')] }, '--for', 'anthropic@claude-opus-5'],
  ['json.type', 'openai-chat', { messages: [{ role: 'user', content: 5 }] }],
  ['json.lenient', 'openai-chat', '{"messages":[{"role":"user","content":"a"}],}'],
];

for (const [code, as, document, ...args] of mistakes)
  test(`seams 38: ${code} is found in Chinese and in English, at the same place`, async () => {
    const input = typeof document === 'string' ? document : JSON.stringify(document);
    const find = (lang) => JSON.parse(run(['lint', '--json', '--lang', lang, '--as', as, ...args, '-'], { input }).out).findings;
    const [zh, en] = [find('zh'), find('en')];
    assert.ok(en.some((finding) => finding.code === code), JSON.stringify(en));
    for (const { message } of zh) assert.match(message, chinese);
    for (const { message } of en) assert.doesNotMatch(message, chinese);
    const places = (findings) => findings.map(({ message, ...rest }) => rest);
    assert.deepEqual(places(zh), places(en));
    const rest = await post('/api/lint', { document: input, as, ...(args[1] ? { for: args[1] } : {}) }, 'zh');
    assert.deepEqual(rest.json.findings, zh);
  });

test('seams 38: lint, tokens, cite and handoff check speak Chinese to a reader of Chinese', () => {
  const env = { LANG: 'zh_CN.UTF-8', LC_ALL: '', LC_MESSAGES: '' };
  const said = (args, document) => run([...args, '-'], { input: JSON.stringify(document), env }).out;
  assert.match(said(['lint'], { messages: [user(''), says('a')] }), /警告 content\.empty: 这条消息是空的；请删除（位于 \/messages\/0）/);
  assert.match(said(['lint'], { messages: [user('a')] }), /没有问题/);
  assert.match(said(['tokens'], { model: 'gpt-4o', messages: [user('a')] }), /^\d+ 个 token.*：消息 \d+$/m);
  assert.match(said(['cite'], [cited('x <cite id="a"/>', {})]), /警告: \[a\] citation_map 中没有这个 id 的条目/);
  const packet = {
    protocol: 'harmony_handoff_v1', meta: { source_agent: 'a', target_agent: 'b', timestamp: '2026-01-01T00:00:00Z', objective_hash: 'sha256:00' },
    context: { primary_objective: 'x', status: 'in_progress', completed_steps: [], next_immediate_step: 'y', constraints: [], artifacts: {} }, history_summary: 's',
  };
  assert.match(said(['handoff', 'check'], packet), /目标被改动过|objective_hash/);
  for (const line of said(['handoff', 'check'], packet).trim().split('\n')) assert.match(line, chinese);
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
