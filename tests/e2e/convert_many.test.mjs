// parley convert over directories, several files and NDJSON.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { directory, file, parley, run, shell } from './harness.mjs';

const chat = (text, more = {}) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }], ...more });
const pretty = (value) => `${JSON.stringify(value, null, 2)}\n`;
const read = (...parts) => readFileSync(join(...parts), 'utf8');
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

let n = 0;
// A new directory with these files; returns its path.
function tree(files) {
  const dir = join(directory, `tree-${n++}`);
  mkdirSync(dir);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}
const list = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(dir.length + 1)).sort();

test('a directory is converted with all its files, under their names', () => {
  const from = tree({ 'a.json': pretty(chat('a')), 'deep/er/b.json': pretty(chat('b')), 'c.ndjson': `${JSON.stringify(chat('c'))}\n`, 'notes.txt': 'no' });
  const out = join(directory, 'new', 'there');
  const { code, out: said, err } = run(['convert', '--from', 'openai-chat', '--to', 'gemini', '--out', out, from]);
  assert.equal(err, 'parley: 3 files: 3 converted, 0 failed\n');
  assert.deepEqual([code, said], [0, '']);
  assert.deepEqual(list(out), ['a.json', 'c.ndjson', 'deep/er/b.json']);
  assert.equal(JSON.parse(read(out, 'deep/er/b.json')).contents[0].parts[0].text, 'b');
});

test('reports and carries stand beside, and the carries lead home', () => {
  const from = tree({ 'a.json': pretty(chat('a', { seed: 1 })), 'x/b.ndjson': `${JSON.stringify(chat('b', { seed: 2 }))}\n` });
  const [there, home] = [tree({}), tree({})];
  assert.equal(run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--out', there, '--report', there, '--carry', `${there}/`, from]).code, 0);
  assert.deepEqual(list(there), ['a.carry.json', 'a.json', 'a.report.json', 'x/b.carry.ndjson', 'x/b.ndjson', 'x/b.report.ndjson']);
  assert.equal(JSON.parse(read(there, 'a.report.json')).losses[0].pointer, '/seed');
  const { code, err } = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--out', home, '--with-carry', there, join(there, 'a.json')]);
  assert.deepEqual([code, err], [0, 'parley: 1 file: 1 converted, 0 failed\n']);
  assert.equal(read(home, 'a.json'), read(from, 'a.json'));
});

test('the directory of the results leads home, under the old names', () => {
  const files = { 'a.json': pretty(chat('a', { seed: 1 })), 'x/q.report.json': pretty(chat('b')), 'x/b.json': pretty(chat('c')) };
  const from = tree({ ...files, 'n.ndjson': `${JSON.stringify(chat('d', { seed: 2 }))}\n` });
  const there = tree({}), home = tree({});
  assert.equal(run(['convert', '--to', 'anthropic', '--out', there, '--report', there, '--carry', there, '--from', 'openai-chat', from]).code, 0);
  const { code, err } = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--out', home, '--with-carry', there, there]);
  assert.deepEqual([code, err], [0, 'parley: 4 files: 4 converted, 0 failed\n']);
  assert.deepEqual(list(home), list(from));
  for (const name of list(from))
    assert.equal(read(home, name), read(from, name));
});

test('texts lead home from JSON, and JSON from texts', () => {
  const text = '<|start|>user<|message|>q<|end|><|start|>assistant';
  const pairs = [
    [tree({ 'a.json': pretty(chat('a', { seed: 1 })), 'x/b.json': pretty(chat('b')) }), 'openai-chat', 'gpt-oss', 'a.json.txt'],
    [tree({ 'a.json': pretty({ messages: [{ role: 'user', content: 'q' }], user: 'u' }) }), 'openai-chat', 'yaml', 'a.json.yaml'],
    [tree({ 'a.txt': text, 'x/b.txt': text, 'notes.json': 'no' }), 'gpt-oss', 'anthropic', 'a.txt.json'],
  ];
  for (const [from, here, to, name] of pairs) {
    const there = tree({}), home = tree({});
    assert.equal(run(['convert', '--from', here, '--to', to, '--out', there, '--carry', there, '--report', there, from]).code, 0);
    assert.ok(list(there).includes(name));
    const { code, err } = run(['convert', '--from', to, '--to', here, '--out', home, '--with-carry', there, there]);
    assert.deepEqual([code, err.includes('0 failed')], [0, true], err);
    const sources = list(from).filter((it) => it !== 'notes.json');
    assert.deepEqual(list(home), sources);
    for (const it of sources)
      assert.equal(read(home, it), read(from, it));
  }
  const named = tree({});
  assert.equal(run(['convert', '--from', 'gpt-oss', '--to', 'gemini', '--out', named, tree({ 'a.json': text })]).code, 0);
  assert.deepEqual(list(named), ['a.json']);
  assert.match(run(['convert', '--from', 'gpt-oss', '--to', 'gemini', '--out', tree({}), tree({ 'a.md': '' })]).err, /it contains no \*\.txt files/);
});

test('a file that fails does not stop the run, and the highest exit code wins', () => {
  const from = tree({ 'a.json': '{"a":1}', 'b.json': '{"messages": [', 'c.json': pretty(chat('c')) });
  const out = tree({});
  const { code, err } = run(['convert', '--to', 'gemini', '--out', out, join(from, 'a.json'), join(from, 'b.json'), join(from, 'missing.json'), join(from, 'c.json')]);
  assert.equal(code, 3);
  assert.deepEqual(list(out), ['c.json']);
  assert.match(err, /a\.json: this is not a conversation/);
  assert.match(err, /b\.json:1:15: expected/);
  assert.match(err, /missing\.json: there is no such file/);
  assert.match(err, /4 files: 1 converted, 3 failed\n$/);
  assert.equal(run(['convert', '--to', 'gemini', '--out', out, join(from, 'a.json'), join(from, 'c.json')]).code, 1);
});

test('names change only where the content is of another kind', () => {
  const from = tree({ 'a.json': pretty({ messages: [{ role: 'user', content: 'q' }] }) });
  const out = tree({});
  assert.equal(run(['convert', '--from', 'openai-chat', '--to', 'yaml', '--out', out, from]).code, 0);
  assert.equal(run(['convert', '--from', 'yaml', '--to', 'gemini', '--out', out, join(out, 'a.json.yaml')]).code, 0);
  assert.deepEqual(list(out), ['a.json.yaml', 'a.json.yaml.json']);
});

test('what would overwrite a source or another result is refused before anything is written', () => {
  const from = tree({ 'a.json': pretty(chat('a')), 'x/a.json': pretty(chat('b')) });
  const out = tree({});
  const twice = run(['convert', '--to', 'gemini', '--out', out, join(from, 'a.json'), join(from, 'x/a.json')]);
  assert.equal(twice.code, 2);
  assert.match(twice.err, /two results would be written to .*a\.json/);
  assert.deepEqual(list(out), []);
  const self = run(['convert', '--to', 'gemini', '--out', from, from]);
  assert.equal(self.code, 2);
  assert.match(self.err, /would overwrite itself/);
  assert.equal(read(from, 'a.json'), pretty(chat('a')));
});

test('the command line is checked', () => {
  const from = tree({ 'a.json': pretty(chat('a')), 'b.ndjson': '' });
  const wrong = [
    [['--to', 'gemini', join(from, 'a.json'), join(from, 'a.json')], /several files need an output directory; give --out DIR/],
    [['--to', 'gemini', from], /is a directory; give --out DIR for the results/],
    [['--to', 'gemini', '--out', from, '-'], /standard input has no file name/],
    [['--to', 'yaml', '--ndjson', '-'], /yaml is not JSON/],
    [['--from', 'gpt-oss', '--to', 'gemini', '--ndjson', '-'], /gpt-oss is not JSON/],
    [['--to', 'gpt-oss', '--out', 'x', from], /gpt-oss is not JSON/],
  ];
  for (const [args, message] of wrong) {
    const { code, err } = run(['convert', ...args]);
    assert.equal(code, 2, args.join(' '));
    assert.match(err, message);
  }
});

test('a directory without such files is unreadable', () => {
  const { code, err } = run(['convert', '--to', 'gemini', '--out', tree({}), tree({ 'a.txt': '' })]);
  assert.equal(code, 3);
  assert.match(err, /it contains no \*\.json or \*\.ndjson files/);
});

test('a link that leads back up does not go on for ever', () => {
  const from = tree({ 'x/a.json': pretty(chat('a')) });
  symlinkSync(from, join(from, 'x', 'loop.json'));
  const out = tree({});
  assert.equal(run(['convert', '--to', 'gemini', '--out', out, from]).code, 0);
  assert.deepEqual(list(out), ['x/a.json']);
});

test('what cannot be written is exit 4, and the other files are', () => {
  const from = tree({ 'a.json': pretty(chat('a')), 'b/c.json': pretty(chat('c')) });
  const out = tree({ b: 'a file in the way' });
  const { code, err } = run(['convert', '--to', 'gemini', '--out', out, from]);
  assert.equal(code, 4);
  assert.match(err, /the directory .* cannot be created/);
  assert.ok(existsSync(join(out, 'a.json')));
});

test('each line of NDJSON becomes a line, whatever ends it', () => {
  const input = `${JSON.stringify(chat('a'))}\r\n\n  \n${JSON.stringify(chat('b'))}`;
  const { code, out, err } = run(['convert', '--to', 'gemini', '--ndjson', '-'], { input });
  assert.deepEqual([code, err], [0, '']);
  assert.deepEqual(lines(out).map((it) => it.contents[0].parts[0].text), ['a', 'b']);
  assert.ok(out.endsWith('\n'));
});

test('a file named .ndjson is read as such without being asked', () => {
  const path = file('named.ndjson', `${JSON.stringify(chat('a'))}\n${JSON.stringify(chat('b'))}\n`);
  assert.equal(lines(run(['convert', '--to', 'gemini', path]).out).length, 2);
});

test('a result with line breaks still takes one line, and means the same', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{\n  "x": 1.0,\n  "s": "a b"\n}' } };
  const input = `${JSON.stringify(chat('q', { messages: [{ role: 'user', content: 'q' }, { role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: 'c', content: 'r' }] }))}\n`;
  const carry = join(directory, 'broken.carry.ndjson');
  const { out } = run(['convert', '--from', 'openai-chat', '--to', 'anthropic', '--ndjson', '--carry', carry, '-'], { input });
  assert.equal(out.split('\n').length, 2);
  assert.match(out, /"input":\{"x":1\.0,"s":"a b"\}/);
  assert.equal(run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--ndjson', '--with-carry', carry, '-'], { input: out }).out, input);
});

test('a line that fails is named by its number; the others, the report and the carry keep their order', () => {
  const good = [chat('a', { seed: 1 }), chat('b', { seed: 2 })].map((it) => JSON.stringify(it));
  const input = `${good[0]}\n{"messages": [\n{"a":1}\n${good[1]}\n`;
  const [report, carry] = ['some.report.ndjson', 'some.carry.ndjson'].map((name) => join(directory, name));
  const there = run(['convert', '--to', 'anthropic', '--ndjson', '--report', report, '--carry', carry, '-'], { input });
  assert.equal(there.code, 3);
  assert.match(there.err, /<stdin>:2:15: expected/);
  assert.match(there.err, /<stdin>:3:1: this is not a conversation/);
  assert.equal(lines(there.out).length, 2);
  const said = lines(readFileSync(report, 'utf8'));
  assert.deepEqual(said.map((it) => [it.line, it.losses?.[0].pointer ?? it.error.slice(0, 8)]), [[1, '/seed'], [2, 'expected'], [3, 'this is '], [4, '/seed']]);
  const back = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--ndjson', '--with-carry', carry, '-'], { input: there.out });
  assert.deepEqual([back.code, back.out], [0, `${good.join('\n')}\n`]);
  const short = run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--ndjson', '--with-carry', carry, '-'], { input: there.out + there.out });
  assert.equal(short.code, 1);
  assert.match(short.err, /<stdin>:3:1: the carry has no line for it/);
});

test('--strict refuses a line and keeps its report', () => {
  const report = join(directory, 'strict.report.ndjson');
  const input = `${JSON.stringify(chat('a', { seed: 1 }))}\n${JSON.stringify(chat('b'))}\n`;
  const { code, out } = run(['convert', '--to', 'anthropic', '--strict', '--ndjson', '--report', report, '-'], { input });
  assert.equal(code, 1);
  assert.equal(lines(out).length, 1);
  assert.deepEqual(lines(readFileSync(report, 'utf8')).map((it) => [it.line, it.lossless]), [[1, false], [2, true]]);
});

test('nothing in, nothing out', () => {
  const { code, out, err } = run(['convert', '--to', 'gemini', '--ndjson', '-'], { input: '' });
  assert.deepEqual([code, out, err], [0, '', '']);
});

test('many lines, longer than what is read at once, arrive whole', () => {
  const texts = Array.from({ length: 2000 }, (_, i) => `${i}`.repeat(i % 500));
  texts.push('x'.repeat(3 << 20));
  const input = texts.map((text) => `${JSON.stringify(chat(text))}\n`).join('');
  const { code, out } = run(['convert', '--from', 'openai-chat', '--to', 'openai-chat', '--ndjson', '-'], { input });
  assert.equal(code, 0);
  assert.ok(out === input);
});

test('a line is answered before the next one comes', async () => {
  const child = spawn(parley, ['convert', '--to', 'gemini', '--ndjson', '-']);
  child.stdin.write(`${JSON.stringify(chat('first'))}\n`);
  const [first] = await new Promise((done) => { child.stdout.once('data', (data) => done([data])); });
  assert.match(String(first), /first/);
  const over = new Promise((done) => { child.once('close', done); });
  child.stdin.end();
  assert.equal(await over, 0);
});

test('a reader that goes away ends the run with exit 4', () => {
  const input = `${JSON.stringify(chat('x'.repeat(1000)))}\n`.repeat(2000);
  const { err } = shell('{ "$P" convert --from openai-chat --to openai-chat --ndjson -; echo "exit $?" >&2; } | head -c 10', { input });
  assert.equal(err, 'exit 4\n');
});
