// --strict, and `strict` over HTTP: the source must be JSON of RFC 8259, with every key once.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { run } from './harness.mjs';
import { serve } from './live.mjs';

let server;
before(async () => { server = await serve(); });

const good = '{"messages":[\n  {"role":"user","content":"hi"}\n]}';
// Common deviations, the position of the error, and its advice.
const loose = [
  ['a trailing comma', good.replace('"}\n', '"},\n'), { line: 3, column: 1, pointer: '/messages/1' }, /remove the trailing comma/],
  ['a trailing comma in an object', good.replace('"hi"', '"hi",'), { line: 2, column: 33, pointer: '/messages/0' }, /remove the trailing comma/],
  ['a line comment', good.replace('[\n', '[ // who\n'), { line: 1, column: 15, pointer: '/messages/0' }, /JSON has no comments; remove it/],
  ['a block comment', good.replace('"role"', '/* who */ "role"'), { line: 2, column: 4, pointer: '/messages/0' }, /JSON has no comments; remove it/],
  ['a duplicate key', good.replace('"hi"', '"no","content":"hi"'), { line: 2, column: 33, pointer: '/messages/0/content' }, /duplicate key "content"/],
  ['a byte-order mark', `\ufeff${good}`, { line: 1, column: 1, pointer: '' }, /remove the byte-order mark/],
];
const strict = /strict accepts only RFC 8259 JSON without duplicate keys: correct the text, or do not use strict/;

for (const [what, text] of loose)
  test(`${what} stays where another message is repaired`, () => {
    // The message that is added has no content, and gets one.
    const repaired = run(['convert', '--from', 'openai-chat', '--to', 'openai-chat', '--mode', 'repair', '-'], { input: text.replace('[', '[{"a":1},') });
    assert.equal(repaired.code, 0, repaired.err);
    const kept = text.slice(text.indexOf('{"role"') < 0 ? text.indexOf('{/*') : text.indexOf('{"role"'), text.lastIndexOf('}', text.length - 3) + 1);
    assert.ok(repaired.out.includes(`{"role":"user","content":""}`) && repaired.out.includes(kept), repaired.out);
  });

for (const [what, text, at, advice] of loose) {
  test(`${what} is read, and with --strict refused with its place`, () => {
    for (const to of ['gemini', 'openai-chat']) {
      assert.equal(run(['convert', '--from', 'openai-chat', '--to', to, '-'], { input: text }).code, 0);
      const refused = run(['convert', '--from', 'openai-chat', '--to', to, '--strict', '-'], { input: text });
      assert.equal(refused.code, 3);
      assert.equal(refused.out, '');
      assert.ok(refused.err.startsWith(`parley: <stdin>:${at.line}:${at.column}: `), refused.err);
      if (at.pointer)
        assert.ok(refused.err.includes(`(at ${at.pointer})`), refused.err);
      assert.match(refused.err, advice);
      assert.match(refused.err, strict);
    }
  });

  test(`${what} is refused over HTTP with strict`, async () => {
    const body = { document: text, from: 'openai-chat', to: 'gemini' };
    assert.equal((await server.ask('POST', '/api/convert', { body })).status, 200);
    const { status, json } = await server.ask('POST', '/api/convert', { body: { ...body, strict: true } });
    assert.equal(status, 400);
    assert.match(json.detail, advice);
    assert.match(json.detail, strict);
    assert.ok(json.detail.startsWith(`line ${at.line}, column ${at.column}: `), json.detail);
    assert.deepEqual(json.errors, [{ pointer: `/document${at.pointer}`, detail: json.detail, line: at.line, column: at.column }]);
  });
}

test('what RFC 8259 allows passes --strict: half of a surrogate pair, any white space', () => {
  const input = `\r\n\t${good.replace('hi', 'hi \\ud800')}\n`;
  const { code, err } = run(['convert', '--from', 'openai-chat', '--to', 'gemini', '--strict', '-'], { input });
  assert.equal(err, '');
  assert.equal(code, 0);
});

test('a text that is no JSON either way gets no advice to leave strict out', () => {
  const { code, err } = run(['convert', '--from', 'openai-chat', '--to', 'gemini', '--strict', '-'], { input: '{"messages":[' });
  assert.equal(code, 3);
  assert.doesNotMatch(err, strict);
});

test('gpt-oss is no JSON, and --strict reads it', () => {
  const made = run(['convert', '--from', 'openai-chat', '--to', 'gpt-oss', '-'], { input: good });
  assert.equal(made.code, 0);
  const { code, err } = run(['convert', '--from', 'gpt-oss', '--to', 'gpt-oss', '--strict', '-'], { input: made.out });
  assert.deepEqual([code, err], [0, '']);
});
