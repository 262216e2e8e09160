// parley lint: empty content in conversations, and errors in envelopes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from './harness.mjs';

const lint = (as, document, ...args) => {
  const { code, out } = run(['lint', '--json', '--as', as, ...args, '-'], { input: JSON.stringify(document) });
  return { code, findings: JSON.parse(out).findings.map((it) => [it.severity, it.code, it.pointer]) };
};
const envelope = (...messages) => ({ version: '1.0', messages: messages.map(([role, ...segments], i) => ({ id: `m${i}`, role, segments, timestamp: 0 })) });

test('an assistant that says nothing is found, in the middle and at the end, in every dialect', () => {
  const user = { role: 'user', content: 'hi' };
  const empty = [['openai-chat', ''], ['openai-chat', null], ['openai-chat', []], ['anthropic', ''], ['anthropic', []], ['anthropic', [{ type: 'text', text: ' ' }]]];
  for (const [dialect, content] of empty) {
    const says = { role: 'assistant', content };
    const middle = lint(dialect, { model: 'm', max_tokens: 9, messages: [user, says, user] });
    assert.deepEqual(middle.findings.filter((it) => it[1] === 'content.empty').map((it) => it[2]), ['/messages/1'], `${dialect} ${JSON.stringify(content)}`);
    // The last message may be empty: no vendor refuses it, so the finding is a warning.
    const last = lint(dialect, { model: 'm', max_tokens: 9, messages: [user, says] });
    assert.deepEqual(last, { code: 0, findings: [['warning', 'content.empty', '/messages/1']] }, `${dialect} ${JSON.stringify(content)}`);
  }
  assert.deepEqual(lint('openai-responses', { input: [user, { role: 'assistant', content: [] }] }).findings, [['warning', 'content.empty', '/input/1']]);
  assert.deepEqual(lint('gemini', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }, { role: 'model', parts: [{ text: '' }] }] }).findings[0], ['warning', 'content.empty', '/contents/1']);
});

test('a call, reasoning or a word is not nothing', () => {
  const user = { role: 'user', content: 'hi' };
  const call = { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] };
  assert.ok(!lint('openai-chat', { messages: [user, call] }).findings.some((it) => it[1] === 'content.empty'));
  assert.deepEqual(lint('openai-chat', { messages: [user, { role: 'assistant', content: '', reasoning_content: 'hm' }] }).findings.filter((it) => it[2] === '/messages/1'), []);
  assert.deepEqual(lint('anthropic', { max_tokens: 9, messages: [user, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] }] }).findings, []);
});

const segments = {
  text: { kind: 'text', content: 'x' },
  long_text: { kind: 'long_text', content: 'x', charCount: 1, collapsed: true },
  document: { kind: 'document', fileName: 'a.txt', mimeType: 'text/plain', snippet: 'x', sizeBytes: 1 },
  media: { kind: 'media', mediaType: 'image', url: 'https://x.test/a.png' },
  static_var: { kind: 'static_var', name: 'n', value: 'v' },
  system_prompt: { kind: 'system_prompt', content: 'x', collapsed: true },
  memory: { kind: 'memory', items: [{ title: 't', content: 'c' }], collapsed: true },
  skills: { kind: 'skills', items: [{ name: 't', description: 'c' }], collapsed: true },
  tool_overview: { kind: 'tool_overview', items: [{ name: 'f', description: 'd', parameters: 'none' }], collapsed: true },
  tool_call_request: { kind: 'tool_call_request', toolName: 'f', arguments: {}, collapsed: true },
  tool_call_result: { kind: 'tool_call_result', toolName: 'f', result: 'r', success: true, collapsed: true },
};
const all = ['system', 'user', 'assistant', 'tool'];
const suits = {
  text: all, long_text: all, document: all, media: all,
  static_var: ['system', 'user', 'assistant'],
  system_prompt: ['system'],
  memory: ['system', 'user'],
  skills: ['system', 'user'],
  tool_overview: ['system'],
  tool_call_request: ['assistant'],
  tool_call_result: ['tool'],
};

test('a kind of segment that does not suit its role is a warning at its kind', () => {
  for (const [kind, segment] of Object.entries(segments))
    for (const role of all) {
      const { findings } = lint('envelope', envelope([role, segment]));
      const expected = suits[kind].includes(role) ? [] : [['warning', 'segment.role', '/messages/0/segments/0/kind']];
      assert.deepEqual(findings.filter((it) => it[1] === 'segment.role'), expected, `${kind} of ${role}`);
    }
});

test('what Parley writes suits', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const chat = {
    messages: [{ role: 'user', content: [{ type: 'text', text: '😀'.repeat(2001) }, { type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] }, { role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: 'c', content: 'r' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
  };
  for (const messages of [chat.messages, [{ role: 'system', content: 's' }, ...chat.messages], [{ role: 'developer', content: 's' }, ...chat.messages]]) {
    const made = run(['convert', '--from', 'openai-chat', '--to', 'envelope', '-'], { input: JSON.stringify({ ...chat, messages }) });
    assert.deepEqual(lint('envelope', JSON.parse(made.out)).findings.filter((it) => it[1].startsWith('segment.')), []);
  }
});

test('charCount counts code points; UTF-16 units are tolerated, all else is a warning', () => {
  const count = (content, charCount) => lint('envelope', envelope(['user', { kind: 'long_text', content, charCount, collapsed: true }]));
  const wrong = { code: 0, findings: [['warning', 'segment.char_count', '/messages/0/segments/0/charCount']] };
  const right = { code: 0, findings: [] };
  assert.deepEqual(count('😀x', 2), right);
  assert.deepEqual(count('😀x', 3), right);
  assert.deepEqual(count('é', 1), right);
  for (const n of [0, 1, 4, 5, -2, 2.5, 1e300]) assert.deepEqual(count('😀x', n), wrong, String(n));
  assert.deepEqual(count('😀x', '2').findings[0].slice(1), wrong.findings[0].slice(1));
  // Bytes and characters are not the same.
  assert.deepEqual(count('é', 2), wrong);
});

test('a finding says what to do', () => {
  const { out, code } = run(['lint', '--as', 'envelope', '-'], { input: JSON.stringify(envelope(['user', segments.tool_overview, { ...segments.long_text, charCount: 9 }])) });
  assert.equal(code, 0);
  assert.match(out, /warning segment\.role: a segment of kind tool_overview does not match the role user; put it into a message of role system/);
  assert.match(out, /warning segment\.char_count: charCount is wrong; the text has 1 Unicode code points/);
});

// Each level refers twice to the next: 2^n steps for one value.
const doubling = (n) => ({ type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`d${i}`, { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }])), [`d${n}`]: { type: 'string' } } });

test('a schema that takes too many steps is told once, and the calls behind it are not checked', () => {
  const calls = (n) => Array.from({ length: n }, (_, i) => [
    { role: 'assistant', content: null, tool_calls: [{ id: `c${i}`, type: 'function', function: { name: 'look', arguments: '{"a":1}' } }] },
    { role: 'tool', tool_call_id: `c${i}`, content: 'seen' },
  ]).flat();
  const chat = (schema, n) => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }, ...calls(n)], tools: [{ type: 'function', function: { name: 'look', parameters: schema } }] });
  const place = '/tools/0/function/parameters';
  assert.deepEqual(lint('openai-chat', chat(doubling(25), 300)).findings, [['warning', 'tool.schema', place]]);
  const light = lint('openai-chat', chat(doubling(2), 50)).findings;
  assert.equal(light.filter(([, code]) => code === 'tool.arguments_invalid').length > 0, true);
  assert.equal(light.some(([, , pointer]) => pointer === place), false);
});

test('gpt-oss text is checked too, and calls without ids have the name of their tool', () => {
  const call = '<|start|>user<|message|>q<|end|><|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>';
  const { code, out } = run(['lint', '-'], { input: call });
  assert.deepEqual([code, out], [0, '<stdin>: warning tool.missing: this call of f has no result; add one, even if the tool failed or never ran (at /messages/1)\n']);
  const orphan = `${call}<|start|>functions.f to=assistant<|message|>r<|end|><|start|>functions.g to=assistant<|message|>r<|end|>`;
  const found = JSON.parse(run(['lint', '--json', '--as', 'gpt-oss', '-'], { input: orphan }).out).findings;
  assert.deepEqual(found, [{ code: 'tool.orphan', severity: 'error', pointer: '/messages/3',
    message: 'no earlier call of g waits for this result; remove it or restore its call' }]);
  assert.match(run(['lint', '-'], { input: '<|start|>user<|end|>' }).err, /<stdin>:1:14: the header of a message/);
});
