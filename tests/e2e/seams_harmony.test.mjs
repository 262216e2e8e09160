// Harmony (seed 001): how it is distinguished from Chat, the findings of validate and lint, and thinking as a separate part.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './harness.mjs';

const lint = (document) =>
  JSON.parse(run(['lint', '--as', 'harmony', '--json', '-'], { input: JSON.stringify(document) }).out).findings;
const codes = (document) => lint(document).map(({ code }) => code);
const has = (document, code, pointer) => {
  const found = lint(document).find((finding) => finding.code === code && (!pointer || finding.pointer === pointer));
  assert.ok(found, `${code}: ${JSON.stringify(lint(document))}`);
  return found;
};
const tool = (content) => [
  { role: 'user', content: 'q' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'c', content }];

test('a document with a model and fields of harmony is harmony; without them it is a request of Chat', () => {
  const detect = (document) => run(['detect', '-'], { input: JSON.stringify(document) }).out.trim();
  const message = { role: 'user', content: 'q' };
  assert.equal(detect({ model: 'm', messages: [message] }), 'openai-chat');
  for (const own of [{ ...message, created_at: 1715000000 }, { ...message, metadata: { trace_id: 't' } },
    { role: 'user', content: [{ type: 'text', text: 'q', index: 0 }] }, { ...message, context_block: { citation_map: {} } }])
    assert.equal(detect({ model: 'm', messages: [own] }), 'harmony', JSON.stringify(own));
});

test('a part of a type that is none is invalid, and the one that was meant is named', () => {
  const document = [{ role: 'user', content: [{ type: 'imag_url', image_url: { url: 'https://a.example/x.png' } }] }];
  const { errors, valid } = JSON.parse(run(['validate', '--as', 'harmony', '--json', '-'], { input: JSON.stringify(document) }).out);
  assert.equal(valid, false);
  assert.match(JSON.stringify(errors), /did you mean .*image_url/);
  assert.match(has(document, 'part.type', '/0/content/0/type').message, /did you mean "image_url"/);
});

test('two parts of one index, sound that is no base64, and a format that is none are found', () => {
  has([{ role: 'user', content: [{ type: 'text', text: 'a', index: 0 }, { type: 'text', text: 'b', index: 0 }] }], 'part.index_duplicate', '/0/content/1/index');
  const sound = (data, format) => [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data, format } }] }];
  has(sound('not base64!', 'wav'), 'media.audio_data');
  has(sound('UklGRg==', 'mp4x'), 'media.audio_format');
  assert.deepEqual(codes(sound('UklGRg==', 'wav')), []);
  // Values of any type are checked.
  for (const odd of [3, {}, null, [[]]]) codes([{ role: 'user', content: [{ type: odd, index: odd, input_audio: { data: odd, format: odd } }] }]);
});

test('an error that does not say how or why is found, and so is one that is plain text', () => {
  assert.equal(codes(tool('{"status":"error"}')).filter((code) => code === 'tool.error_incomplete').length, 2);
  assert.deepEqual(codes(tool('{"status":"error","error_type":"T","message":"m"}')), []);
  for (const text of ['Error: no', 'ValueError: bad', 'java.io.IOException: gone', 'bash: foo: command not found',
    'Failed to open x', 'permission denied', '  Traceback (most recent call last):\n…', '错误：没有文件', 'Cannot reach host'])
    assert.ok(codes(tool(text)).includes('tool.error_not_json'), text);
  for (const text of ['No errors were found.', 'The failure rate is 3%.', '42', '{"errors":0}', 'Everything is fine: error handling works'])
    assert.deepEqual(codes(tool(text)), [], text);
});

test('whoever has no name among agents that have one is found', () => {
  const document = [{ role: 'user', content: 'q' }, { role: 'assistant', name: 'Planner', content: 'a' }, { role: 'user', content: 'q' }, { role: 'assistant', content: 'b' }];
  has(document, 'agent.name_missing', '/3');
  assert.deepEqual(codes(document.map((message) => (message.role === 'assistant' ? { ...message, name: 'Planner' } : message))), []);
});

test('signed links of every cloud are known to expire', () => {
  const image = (url) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  for (const query of ['q-sign-algorithm=sha1&q-ak=A&q-sign-time=1557989151;1557996351&q-key-time=1557989151;1557996351&q-signature=8f2eeb',
    'q-sign-time=1557989151%3B1557996351&q-signature=8f2eeb', 'x-oss-date=20240320T100000Z&x-oss-expires=900&x-oss-signature=a',
    'X-Tos-Date=20240320T100000Z&X-Tos-Expires=900&X-Tos-Signature=a', 'e=1557996351&token=a', 'Expires=1557996351&OSSAccessKeyId=k&Signature=s',
    'X-Amz-Date=20240320T100000Z&X-Amz-Expires=900&X-Amz-Signature=a', 'se=2024-03-20T10:00:00Z&sig=a'])
    assert.ok(codes(image(`https://bucket.example/a.png?${query}`)).some((code) => /expire/.test(code)), `${query}: ${codes(image(`https://bucket.example/a.png?${query}`))}`);
  assert.deepEqual(codes(image('https://bucket.example/a.png?e=5&size=3')), []);
});

test('thinking is a part that others may pass over, in both directions', () => {
  const convert = (from, to, document, ...more) =>
    JSON.parse(run(['convert', '--from', from, '--to', to, ...more, '-'], { input: JSON.stringify(document) }).out);
  const answer = { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: 'a' }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
  const harmony = convert('anthropic', 'harmony', answer, '--kind', 'response');
  assert.deepEqual(harmony[0].content[0], { type: 'thinking', text: 'hm', index: 0 });
  assert.equal(run(['validate', '--as', 'harmony', '-'], { input: JSON.stringify(harmony) }).code, 0);
  const turns = convert('harmony', 'turns', harmony);
  assert.equal(turns[0].blocks[0].type, 'thinking');
  assert.equal(turns[0].blocks[0].content, 'hm');
  assert.deepEqual(convert('turns', 'harmony', turns)[0].content[0], { type: 'thinking', text: 'hm', index: 0 });
});
