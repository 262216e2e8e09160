// parley convert: options, exit codes, the files written next to the output, bad and large input.
import assert from 'node:assert/strict';
import { existsSync, openSync, readFileSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { directory, file, noTime, run, shell } from './harness.mjs';

const chat = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '你好 😀 <b>"q"</b>' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x": 1.0}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'r' },
  ],
  temperature: 0.7,
};
const pretty = `${JSON.stringify(chat, null, 2)}\n`;
const path = (name) => join(directory, name);
let n = 0;
const fresh = (name) => path(`${n++}-${name}`);

test('a document goes to standard output in the other format', () => {
  const { code, out, err } = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', file('chat.json', pretty)]);
  assert.equal(err, '');
  assert.equal(code, 0);
  const made = JSON.parse(out);
  assert.equal(made.system, 'Be brief.');
  assert.deepEqual(made.messages[1].content, [{ type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } }]);
  assert.match(out, /"x": 1\.0/);
});

test('the format is found by content, and standard input is read', () => {
  const { code, out } = run(['convert', '--to', 'gemini', '-'], { input: pretty });
  assert.equal(code, 0);
  assert.equal(JSON.parse(out).contents[0].role, 'user');
});

test('a format into itself is its own bytes', () => {
  const odd = ' {"messages" :[ {"content":"\\u00e9\\/", "role":"user"}],"n":1e2}\r\n';
  assert.equal(run(['convert', '--to', 'openai-chat', '-'], { input: odd }).out, odd);
});

test('the report and the carry are written, and the carry leads home', () => {
  const [report, carry] = [fresh('report.json'), fresh('carry.json')];
  const there = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--report', report, '--carry', carry, file('chat.json', pretty)]);
  assert.equal(there.code, 0);
  const said = JSON.parse(readFileSync(report, 'utf8'));
  assert.deepEqual([said.from, said.to, said.lossless], ['openai-chat', 'anthropic', true]);
  assert.deepEqual(said.losses.map((it) => it.code), ['synthesised']);
  const back = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--with-carry', carry, '-'], { input: there.out });
  assert.equal(back.out, pretty);
});

test('an edit made in the target arrives at home, and all else keeps its bytes', () => {
  const carry = fresh('carry.json');
  const there = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--carry', carry, file('chat.json', pretty)]);
  const input = there.out.replace('Be brief.', 'Be long.');
  const back = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--with-carry', carry, '-'], { input });
  assert.equal(back.out, pretty.replace('Be brief.', 'Be long.'));
});

test('--strict refuses a loss with exit 1, names it in the report, and writes nothing else', () => {
  const [report, carry] = [fresh('report.json'), fresh('carry.json')];
  const input = JSON.stringify({ ...chat, seed: 7 });
  const { code, out, err } = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--strict', '--report', report, '--carry', carry, '-'], { input });
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /anthropic cannot express all of it/);
  assert.equal(existsSync(carry), false);
  const said = JSON.parse(readFileSync(report, 'utf8'));
  assert.equal(said.lossless, false);
  assert.ok(said.losses.some((it) => it.pointer === '/seed' && it.code === 'dropped'));
});

test('--strict lets through what loses nothing', () => {
  assert.equal(run(['convert', '--to', 'openai-responses', '--strict', '-'], { input: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }] }) }).code, 0);
});

test('--kind response reads answers and errors', () => {
  const answer = { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'hi' } }], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
  const made = JSON.parse(run(['convert', '--kind', 'response', '--from', 'openai-chat', '--to', 'anthropic', '-'], { input: JSON.stringify(answer) }).out);
  assert.equal(made.stop_reason, 'max_tokens');
  assert.equal(made.usage.output_tokens, 2);
  const error = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
  const said = JSON.parse(run(['convert', '--kind', 'response', '--from', 'anthropic', '--to', 'openai-chat', '-'], { input: JSON.stringify(error) }).out);
  assert.equal(said.error.message, 'slow down');
});

test('--mode repair answers a call that nobody answered, and says so', () => {
  const report = fresh('report.json');
  const input = JSON.stringify({ ...chat, messages: chat.messages.slice(0, 3) });
  const { code, out } = run(['convert', '--from', 'openai-chat', '--to', 'openai-chat', '--mode', 'repair', '--report', report, '-'], { input });
  assert.equal(code, 0);
  assert.equal(JSON.parse(out).messages.at(-1).tool_call_id, 'c1');
  assert.ok(JSON.parse(readFileSync(report, 'utf8')).losses.some((it) => it.code === 'synthesised'));
});

test('--profile names what the target accepts', () => {
  const made = run(['convert', '--to', 'anthropic', '--mode', 'gateway', '--profile', 'anthropic@2026-10-21', '-'], { input: pretty });
  assert.equal(made.code, 0);
  assert.equal(JSON.parse(made.out).temperature, undefined);
});

const wrong = [
  ['no target', [], /--to/],
  ['an unknown target', ['--to', 'klingon'], /klingon/],
  ['an unknown source', ['--from', 'klingon', '--to', 'gemini'], /klingon/],
  ['an unknown mode', ['--to', 'gemini', '--mode', 'guess'], /guess/],
  ['an unknown kind', ['--to', 'gemini', '--kind', 'letter'], /letter/],
  ['an unknown profile', ['--to', 'gemini', '--profile', 'gemini@1999'], /gemini@1999/],
  ['the profile of another format', ['--to', 'gemini', '--profile', 'anthropic@2023-06-01'], /anthropic/],
  ['an unknown option', ['--to', 'gemini', '--frobnicate'], /frobnicate/],
];
for (const [name, args, message] of wrong) {
  test(`${name}: exit 2 and a word about it`, () => {
    const { code, out, err } = run(['convert', ...args, file('chat.json', pretty)]);
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.match(err, message);
  });
}

const unreadable = [
  ['nothing at all', '', 3],
  ['half a document', pretty.slice(0, pretty.length / 2), 3],
  ['something that is not JSON', 'hello', 3],
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"messages":["'), Buffer.from([0xff]), Buffer.from('"]}')]), 3],
  ['a conversation of no format', '{"a":1}', 1],
  ['a number', '7', 1],
];
for (const [name, input, expected] of unreadable) {
  test(`${name}: exit ${expected}, a message with the place, no output`, () => {
    const { code, out, err } = run(['convert', '--to', 'anthropic', '-'], { input });
    assert.equal(code, expected, err);
    assert.equal(out, '');
    assert.match(err, /^parley: <stdin>/);
  });
}

test('the wrong --from is refused with exit 1 and a report', () => {
  const report = fresh('report.json');
  const { code, out, err } = run(['convert', '--from', 'gemini', '--to', 'anthropic', '--report', report, '-'], { input: pretty });
  assert.equal(code, 1, err);
  assert.equal(out, '');
  assert.match(err, /contents/);
  assert.equal(JSON.parse(readFileSync(report, 'utf8')).lossless, false);
});

test('a file that is not there: exit 3 and its name', () => {
  const { code, err } = run(['convert', '--to', 'gemini', path('nowhere.json')]);
  assert.equal(code, 3);
  assert.match(err, /nowhere\.json/);
});

test('a report that cannot be written: exit 4 and its name', () => {
  const { code, err } = run(['convert', '--to', 'gemini', '--report', path('no/such/dir.json'), file('chat.json', pretty)]);
  assert.equal(code, 4, err);
  assert.match(err, /dir\.json/);
});

test('a carry that cannot be written: exit 4, and the output is not there either', () => {
  const { code, out } = run(['convert', '--to', 'gemini', '--carry', path('no/such/dir.json'), '-'], { input: pretty });
  assert.equal(code, 4);
  assert.equal(out, '');
});

test('output that cannot be written: exit 4', { skip: existsSync('/dev/full') ? false : 'no /dev/full' }, () => {
  const { code, err } = shell('"$P" convert --to gemini - > /dev/full', { input: pretty });
  assert.equal(code, 4);
  assert.match(err, /standard output/);
});

const carries = [
  ['the carry of another pair', () => {
    const carry = fresh('carry.json');
    run(['convert', '--from', 'openai-chat', '--to', 'gemini', '--carry', carry, file('chat.json', pretty)]);
    return carry;
  }, 1, /not from/],
  ['a document that is no carry', () => file('no-carry.json', '{}'), 1, /not a carry/],
  ['an empty carry', () => file('empty.json', ''), 3, /empty/],
  ['half a carry', () => file('half.json', '{"parley_carry":1,'), 3, /./],
  ['a carry that is not there', () => path('missing.json'), 3, /missing\.json/],
];
for (const [name, make, expected, message] of carries) {
  test(`--with-carry ${name}: exit ${expected}`, () => {
    const { code, err } = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--with-carry', make(), '-'],
      { input: '{"max_tokens":1,"messages":[{"role":"user","content":"q"}]}' });
    assert.equal(code, expected, err);
    assert.match(err, message);
  });
}

test('arguments that are not JSON are kept, and come home', () => {
  const broken = structuredClone(chat);
  broken.messages[2].tool_calls[0].function.arguments = '{"x": oops';
  const [report, carry, input] = [fresh('report.json'), fresh('carry.json'), JSON.stringify(broken)];
  const there = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--report', report, '--carry', carry, '-'], { input });
  assert.equal(there.code, 0);
  assert.ok(JSON.parse(readFileSync(report, 'utf8')).losses.some((it) => it.pointer.startsWith('/messages/2/tool_calls/0')));
  assert.equal(run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--with-carry', carry, '-'], { input: there.out }).out, input);
});

const timed = '/usr/bin/time -f "peak %M" "$P"';
const peakOf = (err) => Number(/^peak (\d+)$/m.exec(err)?.[1]);

test('100,000 messages go there and home within memory', { skip: noTime }, () => {
  const messages = Array.from({ length: 100_000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `message ${i}` }));
  const source = JSON.stringify({ model: 'm', messages });
  const [input, output, carry] = [file('many.json', source), fresh('many.json'), fresh('carry.json')];
  const there = shell(`${timed} convert --to anthropic --carry "${carry}" "${input}" > "${output}"`);
  assert.equal(there.code, 0, there.err);
  const home = shell(`${timed} convert --from anthropic --to openai-chat --with-carry "${carry}" "${output}" > "${output}.home"`);
  assert.equal(home.code, 0, home.err);
  assert.equal(readFileSync(`${output}.home`, 'utf8'), source);
  assert.ok(peakOf(there.err) < 400 << 10, `${peakOf(there.err)} KiB`);
  assert.ok(peakOf(home.err) < 400 << 10, `${peakOf(home.err)} KiB`);
});

test('an image of 100 MB goes there and home within memory', { skip: noTime }, () => {
  const [input, output, carry] = [fresh('image.json'), fresh('out.json'), fresh('carry.json')];
  const fd = openSync(input, 'w');
  writeSync(fd, '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,');
  const block = Buffer.alloc(1 << 20, 'A');
  for (let i = 0; i < 100; i++) writeSync(fd, block);
  writeSync(fd, '"}}]}]}');
  closeSync(fd);
  const there = shell(`${timed} convert --from openai-chat --to anthropic --carry "${carry}" "${input}" > "${output}"`);
  assert.equal(there.code, 0, there.err);
  assert.ok(readFileSync(carry).length < 4096);
  const home = shell(`${timed} convert --from anthropic --to openai-chat --with-carry "${carry}" "${output}" > "${output}.home" && cmp "${input}" "${output}.home"; r=$?; rm -f "${input}" "${output}" "${output}.home"; exit $r`);
  assert.equal(home.code, 0, home.err);
  assert.ok(peakOf(there.err) < 500 << 10, `${peakOf(there.err)} KiB`);
  assert.ok(peakOf(home.err) < 500 << 10, `${peakOf(home.err)} KiB`);
});
