// Exports a prompt as YAML, Markdown and command lines: everything can be read back.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory, file, missing, root, run } from './harness.mjs';

const corpora = process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora');
const naughtyPath = join(corpora, 'blns', 'blns.json');
const naughty = existsSync(naughtyPath) ? JSON.parse(readFileSync(naughtyPath, 'utf8')) : [];

const hard = [
  "it's \"quoted\" `x` $HOME $(id) \\ ! !! * ? ~ # & | ; < > { } [ ]", "'", "''", "'a'", "\\'", '-p', '--model', '@file',
  'two\nlines', 'ends\n', 'ends\n\n\n', '\nbegins', '  indented\nless', '\ttab\nx\ty', 'a\n   \nb', 'x\n ', '\r\n', 'cr\rlf\r\n',
  '\u0001\u0002\u001b[31m\u007f', '\u0085\u2028\u2029\ufeff', '---', '--- a\n--- b', '...', '# no comment', 'a: b', 'a #b', '- x', '? y',
  'true', 'null', 'yes', '~', '1', '0x1f', '1e3', '.inf', '2024-01-01', '<<', '=', '&a *a', '!!str', '%TAG', '|', '>', '{{name:x}}',
  '## user', '\\## user', 'a\n## tool <!-- {} -->\nb', '-->', '<!-- -->', '', ' ', '\n', '\n\n', '汉字\n🎉', 'x'.repeat(3000), '\\', '\\n', 'trailing \\\n',
];
const texts = [...hard, ...naughty].filter((t) => !t.includes('\0'));

const chatOf = (strings) => ({
  protocol: 'structured-chat',
  system_prompt: strings[0] || 'x',
  messages: strings.map((content, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', content })),
  config: { model: 'gpt-4o', temperature: 0.7, top_p: 1, max_tokens: 5, stop: ['a'], vendor: { x: { 'odd key: #': [[], {}, [[1, 'b']], null, true] } } },
  variables: [{ name: 'name', label: 'Who?' }],
});

for (const format of ['yaml', 'markdown']) {
  test(`every text comes back from ${format}`, () => {
    const chat = chatOf(texts);
    const there = run(['convert', '--to', format, file(`${format}.json`, JSON.stringify(chat))]);
    assert.equal(there.err, '');
    assert.equal(there.code, 0);
    const back = run(['convert', '--from', format, '--to', 'structured-chat', file(`there.${format}`, there.out)]);
    assert.equal(back.err, '');
    assert.deepEqual(JSON.parse(back.out), chat);
  });

  test(`any format reaches ${format}, and from there any other`, () => {
    const request = { model: 'gpt-4o', messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: 'Hi\nthere' }] };
    const there = run(['convert', '--to', format, '-'], { input: JSON.stringify(request) });
    assert.equal(there.code, 0);
    const back = run(['convert', '--from', format, '--to', 'openai-chat', '-'], { input: there.out });
    assert.deepEqual(JSON.parse(back.out), request);
    assert.equal(run(['convert', '--from', format, '--to', format, '-'], { input: there.out }).out, there.out);
  });
}

test('texts of several lines are blocks', () => {
  const { out } = run(['convert', '--to', 'yaml', '-'], { input: '{"protocol":"structured-chat","messages":[{"id":"1","role":"user","content":"a\\nb\\n"}]}' });
  assert.equal(out, 'messages:\n  - role: user\n    content: |\n      a\n      b\n    id: "1"\n');
});

test("a prompt of GitHub's is read and keeps what it has", () => {
  const text = `name: Text Summarizer
description: Summarizes input text concisely
model: openai/gpt-4o-mini
modelParameters:
  temperature: 0.5
  maxTokens: 100
messages:
  - role: system
    content: You are a text summarizer. Your only job is to summarize text given to you.
  - role: user
    content: |
      Summarize the given text, beginning with "Summary -":
      <text>
      {{input}}
      </text>
testData:
  - input: |
      The quick brown fox.
    expected: Summary - a fox.
evaluators:
  - name: Output should start with 'Summary -'
    string:
      startsWith: 'Summary -'
`;
  const { code, out, err } = run(['convert', '--from', 'yaml', '--to', 'structured-chat', '-'], { input: text });
  assert.equal(err, '');
  assert.equal(code, 0);
  const chat = JSON.parse(out);
  assert.equal(chat.system_prompt, 'You are a text summarizer. Your only job is to summarize text given to you.');
  assert.deepEqual(chat.messages, [{ id: 'msg_1', role: 'user', content: 'Summarize the given text, beginning with "Summary -":\n<text>\n{{input}}\n</text>\n' }]);
  assert.deepEqual(chat.config, { model: 'openai/gpt-4o-mini', temperature: 0.5, max_tokens: 100 });
  assert.equal(chat.evaluators[0].string.startsWith, 'Summary -');
  assert.equal(run(['validate', '--as', 'structured-chat', '-'], { input: out }).code, 0);
});

test('YAML that is none, or that would grow, is refused', () => {
  for (const [text, words] of [
    ['messages: [', /not YAML/],
    ['messages: &a [1]\nx: *a\n', /aliases/],
    ['messages: []\n---\nmessages: []\n', /second document/],
    ['messages: []\nmessages: []\n', /twice|duplicate/i],
    ['? [a]\n: b\n', /key/],
    ['messages: !!binary aGk=\n', /tag/],
    ['', /is empty|no prompt/],
    ['just words', /mapping/],
    [`messages: ${'['.repeat(500)}${']'.repeat(500)}`, /levels|depth|nest/i],
  ]) {
    const { code, out, err } = run(['convert', '--from', 'yaml', '--to', 'structured-chat', '-'], { input: text });
    assert.ok(code === 1 || code === 3, `${JSON.stringify(text)}: exit ${code}`);
    assert.equal(out, '');
    assert.match(err, words);
  }
});

// A `claude` and a `curl` that record their arguments, each ended by a NUL.
const bin = join(directory, 'bin');
mkdirSync(bin);
for (const name of ['claude', 'curl']) {
  writeFileSync(join(bin, name), '#!/bin/sh\nprintf "%s\\0" "$@" "end of call" >>"$SAID"\n');
  chmodSync(join(bin, name), 0o755);
}

function callsIn(shell, script) {
  const said = join(directory, `said.${shell}`);
  writeFileSync(said, '');
  const { status, stderr } = spawnSync(shell, [file(`calls.${shell}`, script)], {
    env: { PATH: `${bin}:${process.env.PATH}`, SAID: said, LC_ALL: 'C.UTF-8', OPENAI_API_KEY: 'k' }, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return readFileSync(said, 'utf8').split('end of call\0').slice(0, -1).map((call) => call.split('\0').slice(0, -1));
}

test('the naughty strings are among the texts', { skip: naughty.length ? false : 'no blns/blns.json in the corpora' }, () => {
  assert.ok(naughty.length > 500);
  assert.ok(naughty.every((text) => texts.includes(text)));
});

const lines = texts.map((text) => {
  const chat = { protocol: 'structured-chat', system_prompt: text, messages: [{ id: '1', role: 'user', content: text }], config: { model: 'claude-x' } };
  return run(['convert', '--to', 'claude', '-'], { input: JSON.stringify(chat) }).out;
});
const bodies = texts.map((text) => ({ messages: [{ role: 'user', content: text }] }));
const requests = bodies.map((body) => run(['convert', '--to', 'curl', '-'], {
  input: JSON.stringify({ protocol: 'structured-chat', messages: [{ id: '1', ...body.messages[0] }], config: { model: 'gpt-4o' } }) }).out);

for (const shell of ['bash', 'dash', 'zsh']) {
  test(`${shell} gives claude the exact bytes`, { skip: missing(shell) }, () => {
    const calls = callsIn(shell, lines.join(''));
    assert.equal(calls.length, texts.length);
    texts.forEach((text, i) => assert.deepEqual(calls[i],
      ['-p', '--model=claude-x', ...(text ? [`--system-prompt=${text}`] : []), '--', text]));
  });

  test(`${shell} gives claude the exact bytes of many messages at once`, { skip: missing(shell) }, () => {
    const chat = chatOf(texts);
    const { out } = run(['convert', '--to', 'claude', '-'], { input: JSON.stringify(chat) });
    const [call, ...others] = callsIn(shell, out);
    assert.equal(others.length, 0);
    assert.equal(call.at(-1), chat.messages.map(({ role, content }) => `<${role}>\n${content}\n</${role}>`).join('\n\n'));
  });

  test(`${shell} gives curl the exact bytes`, { skip: missing(shell) }, () => {
    const calls = callsIn(shell, requests.join(''));
    assert.equal(calls.length, texts.length);
    calls.forEach((call, i) => {
      assert.equal(call[0], 'https://api.openai.com/v1/chat/completions');
      assert.ok(call.includes('authorization: Bearer k'));
      assert.equal(call.at(-2), '--data-raw');
      assert.deepEqual(JSON.parse(call.at(-1)).messages, bodies[i].messages);
    });
  });
}

test('several messages are told apart', () => {
  const chat = chatOf(['one', 'two', 'three']);
  const { out } = run(['convert', '--to', 'claude', '-'], { input: JSON.stringify(chat) });
  const [call] = callsIn('bash', out);
  assert.equal(call.at(-1), '<user>\none\n</user>\n\n<assistant>\ntwo\n</assistant>\n\n<user>\nthree\n</user>');
});

test('what a command cannot say is in the report, and --strict refuses it', () => {
  const report = (chat, to, ...args) => {
    const { code, out, err } = run(['convert', '--to', to, '--report', '/dev/stderr', ...args, '-'], { input: JSON.stringify(chat) });
    const { losses, lossless, to: target } = JSON.parse(err.split('\n')[0]);
    return { code, out, target, lossless, losses: losses.map(({ code: what, pointer }) => [what, pointer]) };
  };
  const plain = { ...chatOf(['a']), system_prompt: 'S', config: { model: 'claude-x' } };
  const { code, out, ...exact } = report(plain, 'claude', '--strict');
  assert.deepEqual([code, exact], [0, { target: 'claude', lossless: true, losses: [] }]);
  const appended = report(plain, 'claude', '--append', '--strict');
  assert.ok(appended.out.startsWith("claude -p --model='claude-x' --append-system-prompt='S' -- "), appended.out);
  assert.deepEqual([appended.lossless, appended.losses], [true, [['moved', '/system_prompt']]]);
  const many = { ...chatOf(['a', 'b', 'c']), config: { model: 'gpt-4o', temperature: 1, tools: [{ type: 'function', function: { name: 'f' } }], seed: null } };
  many.messages[1].name = 'eve';
  assert.deepEqual(report(many, 'claude').losses, [['approximated', '/messages'], ['dropped', '/messages/1/name'], ['dropped', '/config/model'], ['dropped', '/config/temperature'], ['dropped', '/config/tools']]);
  assert.equal(run(['convert', '--to', 'claude', '--strict', '-'], { input: JSON.stringify(many) }).code, 1);
  assert.deepEqual(report({ ...chatOf(['a']), config: { model: 'claude-x', max_tokens: 9 } }, 'curl').losses, []);
  assert.ok(report({ ...chatOf(['a']), config: { model: 'claude-x', max_tokens: 9, seed: 7 } }, 'curl').losses.some(([what, pointer]) => what === 'dropped' && pointer === '/config/seed'));
  // If the document has another format, the losses of an export concern the whole document.
  const foreign = report({ model: 'claude-x', messages: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, { role: 'user', content: 'c' }] }, 'claude');
  assert.deepEqual(foreign.losses.filter(([what]) => what === 'approximated'), [['approximated', '']]);
  const refused = run(['convert', '--to', 'anthropic', '--append', '-'], { input: JSON.stringify(plain) });
  assert.equal(refused.code, 2);
  assert.match(refused.err, /--append goes with --to claude/);
});

test('a model is asked at its vendor', () => {
  for (const [model, url] of [['claude-x', 'api.anthropic.com/v1/messages'], ['gemini-3', 'models/gemini-3:generateContent'], ['gpt-4o', 'api.openai.com']]) {
    const { out } = run(['convert', '--to', 'curl', '-'], { input: JSON.stringify({ ...chatOf(['a']), config: { model } }) });
    assert.ok(out.includes(url), out);
  }
});

test('what no command line can hold is refused', () => {
  const { code, err } = run(['convert', '--to', 'claude', '-'], { input: '{"protocol":"structured-chat","messages":[{"id":"1","role":"user","content":"a\\u0000b"}]}' });
  assert.equal(code, 1);
  assert.match(err, /U\+0000/);
});
