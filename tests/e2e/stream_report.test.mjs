// parley stream --report: content that the target's events lack is in the report, with a pointer
// into the whole answer that the source adds up to. The recorded streams are in ../shared/corpora
// (or PARLEY_CORPORA).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { directory, root, run, shell } from './harness.mjs';

const reportPath = join(directory, 'report.json');
const sse = (...events) => events.map((it) => (it.type ? `event: ${it.type}\n` : '') + `data: ${JSON.stringify(it)}\n\n`).join('');
function report(from, to, input, ...options) {
  writeFileSync(reportPath, '');
  const done = run(['stream', '--from', from, '--to', to, '--report', reportPath, ...options, '-'], { input });
  const text = readFileSync(reportPath, 'utf8');
  return { ...done, report: text && JSON.parse(text) };
}
const lost = (it) => it.report.losses.filter((loss) => loss.code !== 'synthesised').map((loss) => `${loss.code} ${loss.pointer}`);

const block = (index, content_block, ...deltas) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const message = (...blocks) => sse(
  { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [],
    stop_reason: null, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } } },
  ...blocks.flat(),
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
);
const searched = message(
  block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'thinking_delta', thinking: 'Look it up.' },
    { type: 'signature_delta', signature: 'c2lnbmF0dXJl' }),
  block(1, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    { type: 'input_json_delta', partial_json: '{"query":"rain' }, { type: 'input_json_delta', partial_json: ' today"}' }),
  block(2, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A' }] }),
  block(3, { type: 'text', text: '' }, { type: 'text_delta', text: 'It rains.' }),
);

test('a server tool, its result and a signature are named where the target has no place for them', () => {
  for (const to of ['openai-chat', 'gemini', 'patches']) {
    const it = report('anthropic', to, searched);
    assert.equal(it.code, 0);
    assert.equal(it.report.from, 'anthropic');
    assert.equal(it.report.to, to);
    assert.equal(it.report.lossless, false);
    for (const pointer of ['/content/0/signature', '/content/1', '/content/2']) {
      assert.ok(lost(it).some((one) => one.startsWith(`dropped ${pointer}`)), `${to}: ${pointer} in ${lost(it)}`);
    }
  }
});

test('the report is the same however the bytes are cut', () => {
  const whole = report('anthropic', 'openai-chat', searched).report;
  const path = join(directory, 'pieces.json');
  const done = shell(`node -e 'for (const b of require("fs").readFileSync(0)) process.stdout.write(Buffer.from([b]))' |
    "$P" stream --from anthropic --to openai-chat --report "$OUT" -`, { input: searched, env: { OUT: path } });
  assert.equal(done.code, 0, done.err);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), whole);
});

test('a member nobody knows is named, in an event, a chunk, a choice and a delta', () => {
  const chunk = (delta, more = {}, choice = {}) => sse({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }], ...more });
  const input = chunk({ role: 'assistant', content: 'a' }, { novel_chunk: { x: 'of the chunk' } })
    + chunk({ content: 'b', novel_delta: 'of the delta' }, {}, { novel_choice: ['of the choice'] })
    + chunk({}, {}, { finish_reason: 'stop' }) + 'data: [DONE]\n\n';
  for (const to of ['openai-responses', 'anthropic', 'gemini', 'patches']) {
    const named = lost(report('openai-chat', to, input));
    for (const pointer of ['/novel_chunk', '/choices/0/message/novel_delta', '/choices/0/novel_choice']) {
      assert.ok(named.includes(`dropped ${pointer}`), `${to}: ${pointer} in ${named}`);
    }
  }
  const strange = searched.replace('event: message_delta', 'event: novelty\ndata: {"type":"novelty","text":"new"}\n\nevent: message_delta');
  const it = report('anthropic', 'openai-chat', strange);
  assert.ok(it.report.losses.some((loss) => /event novelty/.test(loss.detail)), JSON.stringify(it.report));
});

test('a value of another type is named, and no text is lost for it', () => {
  const chunk = (delta, more = {}) => sse({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...more });
  const begin = chunk({ role: 'assistant', content: 'kept ' }), end = chunk({ content: 'words' }) + sse({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) + 'data: [DONE]\n\n';
  for (const [wrong, pointer] of [
    [chunk({ content: 918273645 }), '/choices/0/message/content'],
    [chunk({ reasoning_content: { a: 1 } }), '/choices/0/message/reasoning_content'],
    [chunk({}, { choices: [['q']] }), '/choices'], [chunk({}, { choices: 'q' }), '/choices'],
    [chunk({}, { object: ['q'] }), '/object'], [chunk({}, { model: { q: 1 } }), '/model'],
  ]) {
    const it = report('openai-chat', 'openai-responses', begin + wrong + end);
    assert.ok(lost(it).includes(`dropped ${pointer}`), `${pointer} in ${JSON.stringify(it.report)}`);
    assert.ok(it.out.includes('"kept words"'), it.out);
    assert.ok(!it.report.losses.some(({ detail }) => /though a whole/.test(detail)), JSON.stringify(it.report));
  }
  for (const delta of [{ type: 'text_delta', text: { a: 1 } }, { type: 'text_delta', text: 918273645 }]) {
    const it = report('anthropic', 'openai-chat', message(block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'kept ' }, delta, { type: 'text_delta', text: 'words' })));
    assert.deepEqual(lost(it), ['dropped /content/0/text']);
  }
  const typeless = report('anthropic', 'openai-chat', searched.replace('{"type":"content_block_stop"', '{"type":5'));
  assert.equal(typeless.code, 3);
  assert.match(typeless.err, /the type of an event must be a string/);
});

test('what comes after the end of an answer is named', () => {
  const it = report('anthropic', 'openai-chat', searched + searched);
  assert.ok(it.report.losses.some((loss) => loss.pointer === '' && /after the end/.test(loss.detail)));
});

test('a partial image, which no whole answer repeats, is named', () => {
  const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aW1hZ2U=' };
  const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [item] };
  const it = report('openai-responses', 'anthropic', sse(
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, result: null } },
    { type: 'response.image_generation_call.partial_image', output_index: 0, item_id: 'ig_1', partial_image_b64: 'cGFydA==' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ));
  assert.ok(it.report.losses.some((loss) => loss.pointer === '/output/0' && /partial_image/.test(loss.detail)), JSON.stringify(it.report));
});

test('what is said in two places and lost is named in both', () => {
  const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aW1hZ2U=', background: 'auto', quality: 'auto' };
  const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [item] };
  const it = report('openai-responses', 'patches', sse(
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ));
  for (const pointer of ['/output/0/background', '/output/0/quality']) assert.ok(lost(it).includes(`dropped ${pointer}`), JSON.stringify(it.report));
});

test('what an error says is named there, though an answer before it said the same', () => {
  const it = report('openai-chat', 'anthropic', sse(
    { id: 'slow_down', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }] },
    { error: { message: 'too much', type: 'rate_limit_error', code: 'm' } },
  ));
  assert.ok(lost(it).includes('dropped /error/code'), JSON.stringify(it.report));
});

test('an error keeps its words or names them', () => {
  const it = report('openai-chat', 'anthropic', sse({ error: { message: 'too much', type: 'rate_limit_error', param: 'max_tokens', code: 'slow_down' } }));
  assert.deepEqual(lost(it).filter((one) => /error/.test(one)), ['dropped /error/param', 'dropped /error/code']);
});

test('the same dialect loses nothing, and an end that was added is named', () => {
  assert.deepEqual(report('anthropic', 'anthropic', searched).report,
    { from: 'anthropic', to: 'anthropic', losses: [], lossless: true });
  const cut = report('anthropic', 'anthropic', searched.slice(0, searched.indexOf('event: message_delta')));
  assert.equal(cut.code, 3);
  assert.deepEqual(cut.report.losses.map((loss) => loss.code), ['synthesised']);
});

test('--strict writes nothing of a stream that would lose something, and all of one that does not', () => {
  const plain = message(block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hello.' }));
  const refused = report('anthropic', 'openai-chat', searched, '--strict');
  assert.equal(refused.code, 1);
  assert.equal(refused.out, '');
  assert.match(refused.err, /--strict/);
  assert.equal(refused.report.lossless, false);
  const passed = report('anthropic', 'gemini', plain, '--strict');
  assert.equal(passed.code, 0, passed.err);
  assert.equal(passed.out, run(['stream', '--from', 'anthropic', '--to', 'gemini', '-'], { input: plain }).out);
});

test('a report that cannot be written is an error', () => {
  const done = run(['stream', '--from', 'anthropic', '--to', 'gemini', '--report', '/nowhere/report.json', '-'], { input: searched });
  assert.notEqual(done.code, 0);
});

const corpus = join(process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora'), 'recorded', 'compact.ndjson.gz');
if (!existsSync(corpus)) {
  test('recorded streams', { skip: `there is no ${corpus}` }, () => {});
} else {
  const streams = gunzipSync(readFileSync(corpus)).toString().trim().split('\n').map((line) => JSON.parse(line))
    .filter((it) => it.kind === 'stream');
  const eventsOf = (text) => text.split(/\r?\n/).filter((line) => line.startsWith('data:')).flatMap((line) => {
    try { return [JSON.parse(line.slice(5))]; } catch { return []; }
  });
  // Content of a stream that only a vendor's own fields have. The test reads it from the events
  // itself, without the program.
  const heavy = new Set(['signature', 'thoughtSignature', 'encrypted_content', 'encrypted_index', 'cited_text', 'partial_image_b64',
    'result', 'url', 'uri', 'title', 'data', 'code', 'output', 'query', 'stdout', 'server_label', 'renderedContent']);
  function heavyWords(value, key, into) {
    if (typeof value === 'string') { if (heavy.has(key) && value.length >= 6) into.push(value); }
    else if (value && typeof value === 'object') for (const [k, v] of Object.entries(value)) heavyWords(v, Array.isArray(value) ? key : k, into);
    return into;
  }
  for (const from of ['openai-chat', 'openai-responses', 'anthropic', 'gemini']) {
    test(`recorded ${from} streams: a report that says lossless has lost no proof, link, image or result`, () => {
      for (const it of streams.filter((one) => one.format === from)) {
        const words = [...new Set(heavyWords(eventsOf(it.text), '', []))];
        for (const to of ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'patches'].filter((one) => one !== from)) {
          const done = report(from, to, it.text);
          const missing = words.filter((word) => !done.out.includes(JSON.stringify(word).slice(1, -1)) && !done.out.includes(word));
          assert.ok(done.report, `${it.id} -> ${to}: no report`);
          if (missing.length) assert.equal(done.report.lossless, false, `${it.id} -> ${to}: ${missing.slice(0, 3)}`);
          assert.equal(done.report.lossless, !done.report.losses.some((loss) => ['dropped', 'approximated', 'reordered', 'merged'].includes(loss.code)));
        }
      }
    });
  }
}
