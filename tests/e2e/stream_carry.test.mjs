// parley stream --carry and --with-carry: the way home restores the source's bytes. An edited
// target comes home with its edit; values that only the carry has are restored; values that cannot
// be restored are reported.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { directory, run } from './harness.mjs';

const carryPath = join(directory, 'carry.json'), reportPath = join(directory, 'report.json');
const sse = (...events) => events.map((it) => (it.type ? `event: ${it.type}\n` : '') + `data: ${JSON.stringify(it)}\n\n`).join('');
const block = (index, content_block, ...deltas) => [{ type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })), { type: 'content_block_stop', index }];
const anthropic = sse(
  { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [],
    stop_reason: null, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } } },
  ...block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'thinking_delta', thinking: 'Look it up.' },
    { type: 'signature_delta', signature: 'c2lnbmF0dXJl' }),
  ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'It ' }, { type: 'text_delta', text: 'rains \u{1F327}.' }),
  { type: 'ping' },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
);
const chat = [{ role: 'assistant', content: '' }, { content: 'It rains.' }, {}].map((delta, i) => sse({ id: 'c', object: 'chat.completion.chunk',
  created: 5, model: 'm', system_fingerprint: 'fp_1', choices: [{ index: 0, delta, finish_reason: i === 2 ? 'stop' : null }] })).join('') + 'data: [DONE]\n\n';
const gemini = sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'It ' }] }, index: 0 }], modelVersion: 'g', responseId: 'r' },
  { candidates: [{ content: { role: 'model', parts: [{ text: 'rains.' }] }, finishReason: 'STOP', index: 0, safetyRatings: [{ category: 'HARM', probability: 'LOW' }] }],
    modelVersion: 'g', responseId: 'r' });
const sources = { anthropic, 'openai-chat': chat, gemini };
const dialects = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'patches'];
const there = (from, to, input) => run(['stream', '--from', from, '--to', to, '--carry', carryPath, '-'], { input });
const home = (from, to, input) => {
  writeFileSync(reportPath, '');
  const it = run(['stream', '--from', to, '--to', from, '--with-carry', carryPath, '--report', reportPath, '-'], { input });
  const text = readFileSync(reportPath, 'utf8');
  return { ...it, report: text && JSON.parse(text) };
};

test('with its carry a stream comes home byte for byte, from every dialect', () => {
  for (const [from, source] of Object.entries(sources)) {
    for (const to of dialects.filter((one) => one !== from)) {
      const target = there(from, to, source);
      assert.equal(target.code, 0, target.err);
      const it = home(from, to, target.out);
      assert.equal(it.code, 0, it.err);
      assert.equal(it.out, source, `${from} -> ${to}`);
      assert.deepEqual(it.report, { from: to, to: from, losses: [], lossless: true });
    }
  }
});

test('a target whose JSON was written anew is the same target', () => {
  const target = there('anthropic', 'openai-chat', anthropic).out;
  const spaced = target.replace(/^data: (\{.*\})$/gm, (_, json) => `data: ${json.replace(/":/g, '": ')}`);
  assert.notEqual(spaced, target);
  assert.equal(home('anthropic', 'openai-chat', spaced).out, anthropic);
});

test('an edited target arrives with its edit, and what only the carry has is there or is reported', () => {
  for (const [from, source] of Object.entries(sources)) {
    for (const to of dialects.filter((one) => one !== from)) {
      const edited = there(from, to, source).out.replaceAll('rains', 'snows');
      const it = home(from, to, edited);
      assert.equal(it.code, 0, `${from} -> ${to}: ${it.err}`);
      assert.ok(it.out.includes('snows') && !it.out.includes('rains'), `${from} -> ${to}: ${it.out}`);
      for (const [word, place] of [['c2lnbmF0dXJl', 'signature'], ['fp_1', 'system_fingerprint'], ['HARM', 'safetyRatings']]) {
        if (!source.includes(word) || it.out.includes(word)) continue;
        assert.ok(it.report.losses.some((loss) => loss.code === 'dropped' && loss.pointer.includes(place)), `${from} -> ${to}: ${place}`);
      }
    }
  }
});

test('a dropped signature is put back into a stream that was edited elsewhere', () => {
  const edited = there('anthropic', 'openai-chat', anthropic).out.replace('rains', 'snows');
  const it = home('anthropic', 'openai-chat', edited);
  assert.match(it.out, /"type":"signature_delta","signature":"c2lnbmF0dXJl"/);
  assert.match(it.out, /snows/);
});

test('a carry that is none is refused with a pointer, whatever its types are', () => {
  const target = there('anthropic', 'openai-chat', anthropic).out;
  const good = JSON.parse(readFileSync(carryPath, 'utf8'));
  const bad = [
    ['[]', /not a JSON object/], ['{', /./], ['{}', /\/parley_stream_carry/],
    [JSON.stringify({ ...good, parley_stream_carry: 2 }), /\/parley_stream_carry/],
    [JSON.stringify({ ...good, parley_stream_carry: '1' }), /\/parley_stream_carry/],
    [JSON.stringify({ ...good, from: 7 }), /\/from/], [JSON.stringify({ ...good, from: 'gemini' }), /\/from/],
    [JSON.stringify({ ...good, to: null }), /\/to/], [JSON.stringify({ ...good, to: 'gemini' }), /\/to/],
    [JSON.stringify({ ...good, source: ['x'] }), /\/source/], [JSON.stringify({ ...good, source: undefined }), /\/source/],
    [JSON.stringify({ ...good, source: undefined, source_base64: '*' }), /\/source_base64/],
    [JSON.stringify({ ...good, source_base64: '' }), /\/source/],
  ];
  for (const [text, why] of bad) {
    writeFileSync(carryPath, text);
    const it = home('anthropic', 'openai-chat', target);
    assert.notEqual(it.code, 0, text.slice(0, 60));
    assert.match(it.err, why, text.slice(0, 60));
    assert.equal(it.out, '');
  }
});

test('a carry whose source is nonsense is data: the target is translated', () => {
  const target = there('anthropic', 'openai-chat', anthropic).out;
  const good = JSON.parse(readFileSync(carryPath, 'utf8'));
  for (const source of ['', 'nonsense', 'data: 5\n\n', 'data: {"type":"message_start"}\n\n']) {
    writeFileSync(carryPath, JSON.stringify({ ...good, source }));
    const it = home('anthropic', 'openai-chat', target);
    assert.equal(it.code, 0, it.err);
    assert.match(it.out, /rains/);
  }
});

test('both carries at once are refused', () => {
  const it = run(['stream', '--from', 'gemini', '--to', 'anthropic', '--carry', carryPath, '--with-carry', carryPath, '-'], { input: gemini });
  assert.equal(it.code, 2);
});
