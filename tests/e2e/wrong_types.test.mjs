// Values of a wrong type: the gateway refuses them in the client's dialect and keeps running, a conversion names them in
// its report and keeps them in the carry, lint finds them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { file, run } from './harness.mjs';
import { openModels, serve } from './gateway_upstream.mjs';
import { start } from './server.mjs';

const WRONG = [5, -0.5, true, [], ['AAAA'], {}, { a: 'b' }];
const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];

// A second, valid message: a document must have content.
const user = (content) => [{ role: 'user', content }, { role: 'user', content: 'Hello' }];
const contents = (parts) => ({ contents: [{ role: 'user', parts }, { role: 'user', parts: [{ text: 'Hello' }] }] });
// One place of each dialect: the request with `value` there, and its JSON Pointer.
const PLACES = [
  ['openai-chat', '/messages/0/content/0/file/file_data', (value) => ({ messages: user([{ type: 'file', file: { file_data: value } }]) })],
  ['openai-chat', '/messages/0/content/0/input_audio/data', (value) => ({ messages: user([{ type: 'input_audio', input_audio: { data: value, format: 'wav' } }]) })],
  ['openai-chat', '/messages/0/content/0/image_url/url', (value) => ({ messages: user([{ type: 'image_url', image_url: { url: value } }]) })],
  ['openai-chat', '/messages/0/tool_calls/0/id', (value) => ({ messages: [{ role: 'assistant', content: 'Hello', tool_calls: [{ id: value, type: 'function', function: { name: 'look', arguments: '{}' } }] }] })],
  ['openai-responses', '/input/0/content/0/file_data', (value) => ({ input: user([{ type: 'input_file', filename: 'a.pdf', file_data: value }]) })],
  ['openai-responses', '/input/0/content/0/input_audio/data', (value) => ({ input: user([{ type: 'input_audio', input_audio: { data: value, format: 'wav' } }]) })],
  ['openai-responses', '/input/0/call_id', (value) => ({ input: [{ type: 'function_call', call_id: value, name: 'look', arguments: '{}' }] })],
  ['anthropic', '/messages/0/content/0/source/data', (value) => ({ max_tokens: 9, messages: user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: value } }]) })],
  ['anthropic', '/messages/0/content/0/text', (value) => ({ max_tokens: 9, messages: user([{ type: 'text', text: value }]) })],
  ['gemini', '/contents/0/parts/0/inlineData/data', (value) => contents([{ inlineData: { mimeType: 'image/png', data: value } }])],
  ['gemini', '/contents/0/parts/0/inlineData/mimeType', (value) => contents([{ inlineData: { mimeType: value, data: 'AAAA' } }])],
  ['gemini', '/contents/0/parts/0/functionResponse/parts/0/inlineData/data', (value) => contents([{ functionResponse: { name: 'look', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: value } }] } }])],
];

describe('the gateway', () => {
  let up;
  let server;
  before(async () => {
    up = await openModels();
    server = await serve(up);
  });
  after(() => up.close());

  const PATHS = { 'openai-chat': '/v1/chat/completions', 'openai-responses': '/v1/responses', anthropic: '/v1/messages' };
  const ask = (dialect, model, body) => server.raw('POST', PATHS[dialect] ?? `/v1beta/models/${model}:generateContent`, { body: dialect === 'gemini' ? body : { model, ...body } });
  // The sentence of an error in each vendor's format.
  const MESSAGES = {
    'openai-chat': (json) => (assert.equal(json.error.type, 'invalid_request_error'), json.error.message),
    'openai-responses': (json) => (assert.equal(json.error.type, 'invalid_request_error'), json.error.message),
    anthropic: (json) => (assert.equal(json.type, 'error'), assert.equal(json.error.type, 'invalid_request_error'), json.error.message),
    gemini: (json) => (assert.equal(json.error.code, 400), assert.equal(json.error.status, 'INVALID_ARGUMENT'), json.error.message),
  };

  for (const [dialect, pointer, make] of PLACES)
    test(`refuses a wrong type at ${pointer} of ${dialect} with 400, whoever is asked`, async () => {
      const models = [...DIALECTS.filter((name) => name !== dialect).map((name) => `up-${name}/text`), 'demo/echo'];
      for (const model of models)
        for (const value of WRONG) {
          const before = up.requests.length;
          const answer = await ask(dialect, model, make(value));
          assert.equal(answer.status, 400, `${model} ${JSON.stringify(value)}: ${answer.text}`);
          const message = MESSAGES[dialect](answer.json);
          assert.ok(message.includes(pointer), message);
          assert.match(message, /expected .+, but found /);
          assert.equal(up.requests.length, before);
        }
    });

  test('answers the next request', async () => {
    const answer = await ask('openai-chat', 'up-anthropic/text', { messages: user('Hello') });
    assert.equal(answer.status, 200, answer.text);
  });

  test('converts documents with a wrong type over HTTP, and names them', async () => {
    for (const [dialect, pointer, make] of PLACES)
      for (const to of DIALECTS.filter((name) => name !== dialect)) {
        const answer = await server.raw('POST', '/api/convert', { body: { document: { model: 'm', ...make({ a: 'b' }) }, from: dialect, to } });
        assert.equal(answer.status, 200, answer.text);
        assert.ok(answer.json.report.losses.some((loss) => loss.code === 'dropped' && pointer.startsWith(loss.pointer)), answer.text);
        const refused = await server.raw('POST', '/api/convert', { body: { document: { model: 'm', ...make({ a: 'b' }) }, from: dialect, to, mode: 'gateway' } });
        assert.equal(refused.status, 400, refused.text);
        assert.ok(refused.text.includes(`/document${pointer}`), refused.text);
      }
  });
});

describe('parley convert', () => {
  for (const [dialect, pointer, make] of PLACES)
    test(`reports a wrong type at ${pointer} of ${dialect}, and brings it home`, () => {
      for (const to of DIALECTS.filter((name) => name !== dialect))
        for (const value of WRONG) {
          const text = JSON.stringify({ model: 'm', ...make(value) });
          const [source, carry, report] = [file('source.json', text), file('carry.json'), file('report.json')];
          const there = run(['convert', '--from', dialect, '--to', to, '--carry', carry, '--report', report, source]);
          assert.equal(there.code, 0, there.err);
          JSON.parse(there.out);
          const { losses } = JSON.parse(readFileSync(report, 'utf8'));
          assert.ok(losses.some((loss) => loss.code === 'dropped' && pointer.startsWith(loss.pointer)), JSON.stringify([to, value, losses]));
          const home = run(['convert', '--from', to, '--to', dialect, '--with-carry', carry, '-'], { input: there.out });
          assert.equal(home.code, 0, home.err);
          assert.equal(home.out.trimEnd(), text);
        }
    });

  test('refuses it in mode gateway, with its place', () => {
    for (const [dialect, pointer, make] of PLACES) {
      const source = file('source.json', JSON.stringify({ model: 'm', ...make(5) }));
      const refused = run(['convert', '--mode', 'gateway', '--from', dialect, '--to', dialect === 'gemini' ? 'anthropic' : 'gemini', source]);
      assert.equal(refused.code, 1);
      assert.equal(refused.out, '');
      assert.ok(refused.err.includes(pointer), refused.err);
      assert.match(refused.err, /expected a string, but found a number/);
    }
  });
});

test('parley lint finds each of them', () => {
  for (const [dialect, pointer, make] of PLACES) {
    const found = run(['lint', '--json', '--as', dialect, '-'], { input: JSON.stringify({ model: 'm', ...make(5) }) });
    const { findings } = JSON.parse(found.out);
    assert.ok(findings.some((finding) => finding.code === 'json.type' && finding.pointer === pointer && finding.severity === 'error'), found.out);
  }
});

describe('a carry from outside', () => {
  const source = JSON.stringify({ model: 'm', messages: [{ role: 'user', name: 'ann', content: 'h\u00e9llo' }, { role: 'assistant', content: 'Hi' }] }, null, 1);
  const made = () => {
    const carry = file('whole.json');
    const there = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--carry', carry, file('chat.json', source)]);
    assert.equal(there.code, 0, there.err);
    return { out: there.out, carry: JSON.parse(readFileSync(carry, 'utf8')) };
  };
  // The damage, and the expected place and reason in the refusal.
  const DAMAGES = [
    ['a source that is a number', (carry) => { carry.source = 5; }, /\/source.*not a text/],
    ['a source in pieces', (carry) => { carry.source = ['{', []]; }, /\/source.*not a text/],
    ['a string without end', (carry) => { carry.source += "'"; }, /\/source.*damaged at character \d+/],
    ['a reference that is no hash', (carry) => { carry.source += "'~zz'"; }, /\/source.*damaged at character \d+/],
    ['a format nobody knows', (carry) => { carry.parley_carry[1] = 'morse'; }, /\/parley_carry\/1.*its first format is unknown/],
    ['a format that is a number', (carry) => { carry.parley_carry[2] = 5; }, /\/parley_carry\/2.*its second format is unknown/],
    ['another kind', (carry) => { carry.parley_carry[4] = 'response'; }, /this carry is for a response; set kind to response/],
    ['a kind nobody knows', (carry) => { carry.parley_carry[4] = 7; }, /\/parley_carry\/4.*neither request nor response/],
    ['a mode nobody knows', (carry) => { carry.parley_carry.push('request', 'guess'); }, /\/parley_carry\/5.*its mode is unknown/],
    ['a profile nobody knows', (carry) => { carry.parley_carry.push('request', 'convert', {}); }, /\/parley_carry\/6.*its profile is unknown/],
    ['a hash that is none', (carry) => { carry.parley_carry[3] = 'zz'; }, /\/parley_carry\/3.*11 characters of base64/],
    ['no hash', (carry) => { carry.parley_carry.pop(); }, /\/parley_carry.*does not list/],
    ['no source', (carry) => { delete carry.source; }, /it has no member "source"/],
    ['a member of its own', (carry) => { carry.more = 1; }, /it has an unknown member/],
    ['another version', (carry) => { carry.parley_carry = 1; }, /version 1.*convert the source again/],
    ['a text that makes no JSON', (carry) => { carry.source += '}'; }, /the source in this carry is not openai-chat/],
  ];
  for (const [name, damage, says] of DAMAGES)
    test(`with ${name} is refused, with its place`, () => {
      const { out, carry } = made();
      damage(carry);
      const home = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--with-carry', file('damaged.json', JSON.stringify(carry)), '-'], { input: out });
      assert.equal(home.signal, null);
      assert.equal(home.code, 1, home.err);
      assert.equal(home.out, '');
      assert.match(home.err, says);
    });

  test('does not end the server, whatever is in it', async () => {
    const server = await start();
    const { out, carry } = made();
    for (const [name, damage, says] of DAMAGES) {
      const damaged = structuredClone(carry);
      damage(damaged);
      const answer = await server.raw('POST', '/api/convert', { body: { document: JSON.parse(out), from: 'anthropic', to: 'openai-chat', with_carry: damaged } });
      assert.equal(answer.status, 400, `${name}: ${answer.text}`);
      assert.match(answer.json.detail, says);
    }
    const whole = await server.raw('POST', '/api/convert', { body: { document: JSON.parse(out), from: 'anthropic', to: 'openai-chat', with_carry: carry } });
    assert.equal(whole.status, 200, whole.text);
    assert.deepEqual(whole.json.document, JSON.parse(source));
  });
});
