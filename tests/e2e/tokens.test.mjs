import assert from 'node:assert/strict';
import test from 'node:test';
import { file, run } from './harness.mjs';

const chat = (messages, more = {}) => JSON.stringify({ model: 'gpt-5', messages, ...more });
const count = (args, input) => {
  const { code, out, err } = run(['tokens', '--json', ...args, '-'], { input });
  assert.equal(code, 0, err);
  return JSON.parse(out);
};

test('the number and what it is made of, for people and for machines', () => {
  const input = chat([{ role: 'system', content: 'hello' }, { role: 'user', content: 'hello world' }]);
  assert.deepEqual(run(['tokens', '-'], { input }), { code: 0, signal: null, out: '12 tokens: 8 messages, 4 system\n', err: '' });
  assert.deepEqual(count([], input), { tokens: 12, estimated: false, by: { messages: 8, tools: 0, system: 4, images: 0, audio: 0 } });
  assert.equal(run(['tokens', file('chat.json', input)]).out, '12 tokens: 8 messages, 4 system\n');
});

test('the format is told from the content, or named', () => {
  const input = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] });
  assert.equal(count([], input).tokens, count(['--as', 'gemini'], input).tokens);
  assert.equal(run(['tokens', '-'], { input: '{"a":1}' }).code, 1);
  assert.match(run(['tokens', '-'], { input: '{"a":1}' }).err, /name the format with --as/);
});

test('the model of the document counts, unless another or an encoding is named', () => {
  const text = "don't DON'T we'll ñandú Straße ΑΒΓ";
  const input = chat([{ role: 'user', content: text }]);
  const o200k = count(['--encoding', 'o200k_base'], input);
  const cl100k = count(['--encoding', 'cl100k_base'], input);
  assert.notEqual(o200k.tokens, cl100k.tokens);
  assert.deepEqual(count([], input), o200k);
  assert.deepEqual(count(['--model', 'gpt-4'], input), cl100k);
  assert.equal(count([], chat([{ role: 'user', content: text }], { model: 'gpt-4-0613' })).tokens, cl100k.tokens);
});

test('a vendor without a public tokenizer is estimated, and so is a model nobody knows', () => {
  const input = JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hello there' }] });
  assert.equal(count([], input).estimated, true);
  assert.match(run(['tokens', '-'], { input }).out, /^\d+ tokens \(estimated\): /);
  assert.equal(count(['--encoding', 'o200k_base'], input).estimated, false);
  assert.equal(count(['--model', 'something-new'], input).estimated, true);
});

test('images and audio are counted apart', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAASwAAADICAYAAABS39xV' } };
  const { by, estimated } = count([], chat([{ role: 'user', content: [{ type: 'text', text: 'a' }, image] }]));
  assert.equal(by.images, 255);
  assert.equal(estimated, false);
  const linked = count([], chat([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] }]));
  assert.equal(linked.estimated, true);
  const sound = { type: 'input_audio', input_audio: { data: Buffer.alloc(3200).toString('base64'), format: 'mp3' } };
  assert.ok(count([], chat([{ role: 'user', content: [sound] }])).by.audio > 0);
});

test('tools have their price', () => {
  const tools = [{ type: 'function', function: { name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: { path: { type: 'string', description: 'Which one.' } } } } }];
  const { by } = count([], chat([{ role: 'user', content: 'a' }], { tools }));
  assert.ok(by.tools > 20 && by.tools < 60, String(by.tools));
});

test('a wrong command line is exit 2, input that is no JSON exit 3', () => {
  assert.equal(run(['tokens', '--encoding', 'p50k_base', '-']).code, 2);
  const both = run(['tokens', '--encoding', 'o200k_base', '--model', 'gpt-5', '-']);
  assert.equal(both.code, 2);
  assert.match(both.err, /not both/);
  assert.equal(run(['tokens', '--as', 'gemini', '-'], { input: '{' }).code, 3);
});

test('a conversation of 100,000 messages is counted', () => {
  const messages = Array.from({ length: 100_000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: 'hello world' }));
  assert.equal(count([], chat(messages)).tokens, 100_000 * 5 + 3);
});
