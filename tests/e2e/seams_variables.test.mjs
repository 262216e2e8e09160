// Variables: inside a text, in every format, and converted back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './harness.mjs';

const envelope = (...segments) => ({ version: '1.0', messages: [{ id: 'u', role: 'user', timestamp: 1, segments }] });
const hello = envelope({ kind: 'text', content: 'Hello ' }, { kind: 'static_var', name: 'name', value: 'Ada' }, { kind: 'text', content: ', how are you?' });

function convert(document, to, ...more) {
  const { code, out, err } = run(['convert', '--from', 'envelope', '--to', to, ...more, '-'], { input: JSON.stringify(document) });
  assert.equal(code, 0, err);
  return to === 'gpt-oss' ? out : JSON.parse(out);
}

test('a variable stands in its sentence, in every target', () => {
  for (const to of ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'harmony', 'gpt-oss', 'turns'])
    for (const mode of ['convert', 'repair', 'gateway']) {
      const out = JSON.stringify(convert(hello, to, '--mode', mode));
      assert.equal(out.split('Hello Ada, how are you?').length, 2, `${to}, ${mode}: ${out}`);
    }
});

test('in a structured chat it is {{name}}, with its value among the variables; rendering gives the segments back', () => {
  const chat = convert(hello, 'structured-chat');
  assert.equal(chat.messages[0].content, 'Hello {{name}}, how are you?');
  assert.deepEqual(chat.variables, [{ name: 'name', default: 'Ada' }]);
  const render = (...args) => JSON.parse(run(['render', '--to', 'envelope', ...args, '-'], { input: JSON.stringify(chat) }).out).messages[0].segments;
  assert.deepEqual(render(), hello.messages[0].segments);
  assert.deepEqual(render('--var', 'name=李 "雷" 👋')[1], { kind: 'static_var', name: 'name', value: '李 "雷" 👋' });
});

test('values in texts with escapes, CJK and emoji are found where they stand', () => {
  const chat = { protocol: 'structured-chat', system_prompt: '{{a}}', messages: [
    { id: 'm', role: 'user', content: '👋 "{{a}}"\n\\{{literal}} {{b:预设}}{{a}} ok' }] };
  const { code, out, err } = run(['render', '--to', 'envelope', '--var', 'a=x\ty', '-'], { input: JSON.stringify(chat) });
  assert.equal(code, 0, err);
  const [system, user] = JSON.parse(out).messages;
  assert.deepEqual(system.segments, [{ kind: 'static_var', name: 'a', value: 'x\ty' }]);
  assert.deepEqual(user.segments, [
    { kind: 'text', content: '👋 "' }, { kind: 'static_var', name: 'a', value: 'x\ty' }, { kind: 'text', content: '"\n{{literal}} ' },
    { kind: 'static_var', name: 'b', value: '预设' }, { kind: 'static_var', name: 'a', value: 'x\ty' }, { kind: 'text', content: ' ok' }]);
  const turns = run(['render', '--to', 'turns', '--var', 'a=x', '-'], { input: JSON.stringify(chat) });
  const home = run(['convert', '--from', 'turns', '--to', 'envelope', '-'], { input: turns.out });
  assert.deepEqual(JSON.parse(home.out).messages[1].segments.map(({ kind }) => kind), ['text', 'static_var', 'text', 'static_var', 'static_var', 'text']);
});

test('what is filled in does not change a byte of what another format says', () => {
  const chat = { protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: 'a {{x}} b' }] };
  const input = JSON.stringify(chat);
  const plain = run(['render', '--var', 'x=1', '-'], { input }).out;
  const direct = run(['render', '--var', 'x=1', '--to', 'openai-chat', '-'], { input }).out;
  assert.ok(!plain.includes('filled'));
  assert.equal(direct, run(['convert', '--from', 'structured-chat', '--to', 'openai-chat', '-'], { input: plain }).out);
});

test('marks that do not fit their text are left alone and reported', () => {
  for (const variables of [[{ name: 'x', from: 0, to: 99 }], [{ name: 'x', from: 3, to: 1 }], [{ name: 'x' }], [7], [{ name: 5, from: 0, to: 1 }],
    [{ name: 'x', from: 2, to: 3 }, { name: 'y', from: 0, to: 1 }], [{ name: 'x', from: -1, to: 1 }]]) {
    const turns = [{ id: 'e', role: 'user', blocks: [{ type: 'text', content: 'abc', variables }] }];
    const { code, out, err } = run(['convert', '--from', 'turns', '--to', 'envelope', '--report', '/dev/stderr', '-'], { input: JSON.stringify(turns) });
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out).messages[0].segments, [{ kind: 'text', content: 'abc' }]);
    assert.match(err, /\/0\/blocks\/0\/variables/, JSON.stringify(variables));
  }
});
