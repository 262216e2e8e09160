// Bad input to every command that reads a conversation: the wrong format, half a document, arguments that are
// not JSON, 100,000 messages, an image of 100 MB. Each gets a clear answer within bounded memory and time.
// (convert.test.mjs checks how convert handles the last three, and their way home.)
import assert from 'node:assert/strict';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { directory, file, noTime, run, shell } from './harness.mjs';

const formats = ['harmony', 'envelope', 'structured-chat', 'turns', 'openai-chat', 'openai-responses', 'anthropic',
  'gemini', 'gpt-oss'];

// The commands with their arguments for a document of the format.
const commands = {
  detect: () => ['detect'],
  validate: (format) => ['validate', '--json', '--as', format],
  lint: (format) => ['lint', '--json', '--as', format],
  fix: (format) => ['lint', '--fix', '--report', join(directory, 'findings.json'), '--as', format],
  tokens: (format) => ['tokens', '--json', '--as', format],
  trim: (format) => ['trim', '--max-tokens', '1000', '--as', format],
  cite: () => ['cite', '--json'],
  handoff: () => ['handoff', 'make', '--source', 'a', '--target', 'b'],
  render: () => ['render'],
  convert: (format) => ['convert', '--from', format, '--to', format === 'anthropic' ? 'gemini' : 'anthropic'],
};

// One conversation with a call, converted to every format.
const chat = JSON.stringify({
  model: 'gpt-5',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How warm is it in 杭州?' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"杭州"}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: '31' },
    { role: 'assistant', content: '31 degrees.' },
    { role: 'user', content: 'Thanks!' },
  ],
});
const samples = Object.fromEntries(formats.map((format) => {
  const { code, out, err } = run(['convert', '--from', 'openai-chat', '--to', format, '-'], { input: chat });
  assert.equal(code, 0, err);
  return [format, out];
}));

// Either a result and success, or only a sentence on standard error.
function isClear({ code, signal, out, err }, what) {
  assert.equal(signal, null, what);
  assert.ok([0, 1, 3].includes(code), `${what}: exit ${code}`);
  if (code === 0) assert.notEqual(out, '', what);
  else assert.match(out + err, /\w+ \w+ \w+/, what);
}

for (const as of formats) {
  test(`a document of another format called ${as} gets a clear answer`, () => {
    for (const format of formats.filter((name) => name !== as)) {
      for (const [command, args] of Object.entries(commands)) {
        if (command === 'validate' && as === 'gpt-oss') continue; // gpt-oss is text and has no schema
        isClear(run([...args(as), '-'], { input: samples[format] }), `${command} --as ${as} of ${format}`);
      }
    }
  });
}

for (const format of formats.filter((name) => name !== 'gpt-oss')) {
  test(`half a document of ${format} is exit 3 and the place, whatever the command`, () => {
    const text = samples[format];
    for (const part of [0.1, 0.5, 0.9]) {
      const half = text.slice(0, Math.floor(text.length * part));
      for (const [command, args] of Object.entries(commands)) {
        const { code, out, err } = run([...args(format), '-'], { input: half });
        assert.equal(code, 3, `${command}: ${err}`);
        if (command === 'validate') assert.equal(JSON.parse(out).errors[0].line, half.split('\n').length);
        else assert.deepEqual([out, /<stdin>:\d+:\d+: /.test(err)], ['', true], `${command}: ${err}`);
      }
    }
  });
}

test('arguments that are not JSON are found by lint and disturb no other command', () => {
  const broken = '{"city": tru';
  const input = chat.replace(JSON.stringify('{"city":"杭州"}'), () => JSON.stringify(broken));
  for (const [command, args] of Object.entries(commands)) {
    const { code, out, err } = run([...args('openai-chat'), '-'], { input });
    assert.equal(code, command === 'lint' ? 1 : 0, `${command}: ${err}`);
    if (command === 'lint') {
      const { pointer, code: rule } = JSON.parse(out).findings[0];
      assert.deepEqual([rule, pointer], ['tool.arguments_not_json', '/messages/2/tool_calls/0/function/arguments']);
    }
  }
  // Formats whose arguments are a string keep them unchanged.
  for (const to of ['harmony', 'openai-responses', 'turns']) {
    const { out } = run(['convert', '--from', 'openai-chat', '--to', to, '-'], { input });
    assert.ok(out.includes(JSON.stringify(broken)), `${to}: ${out}`);
  }
});


// Every command on a file, with a memory limit in KiB for each.
function isBounded(path, { peak }) {
  for (const [command, args] of Object.entries(commands)) {
    const { code, err } = shell(`/usr/bin/time -f "peak %M" "$P" ${args('openai-chat').join(' ')} "${path}" > /dev/null`);
    assert.equal(code, 0, `${command}: ${err}`);
    const used = Number(/^peak (\d+)$/m.exec(err)?.[1]);
    assert.ok(used < peak, `${command}: ${used} KiB`);
  }
}

test('100,000 messages are read by every command within 256 MiB', { skip: noTime }, () => {
  const messages = Array.from({ length: 100_001 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `message ${i}` }));
  isBounded(file('many.json', JSON.stringify({ model: 'gpt-4.1', messages })), { peak: 256 << 10 });
});

test('an image of 100 MB is read by every command within five times its size', { skip: noTime }, () => {
  const path = join(directory, 'image.json');
  after(() => rmSync(path, { force: true }));
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000004000000030008020000', 'hex').subarray(0, 27).toString('base64');
  const fd = openSync(path, 'w');
  writeSync(fd, '{"model":"gpt-5","messages":[{"role":"user","content":[{"type":"text","text":"see"},'
    + `{"type":"image_url","image_url":{"url":"data:image/png;base64,${png}`);
  for (let i = 0; i < 100; i++) writeSync(fd, Buffer.alloc(1_000_000, 'A'));
  writeSync(fd, '"}}]}]}');
  closeSync(fd);
  isBounded(path, { peak: 500 << 10 });
  // The image's size is read from its first bytes: 1024 by 768.
  const { out } = shell(`"$P" tokens --json --as openai-chat "${path}"`);
  assert.equal(JSON.parse(out).by.images, 765);
});
