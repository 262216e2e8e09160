import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { directory, examples, file, has, run, shell } from './harness.mjs';

const good = join(examples, 'envelope.json');
const broken = join(examples, 'envelope-broken.json');

test('a valid file is ok and exit 0', () => {
  assert.deepEqual(run(['validate', '--as', 'envelope', good]), { code: 0, signal: null, out: `${good}: ok\n`, err: '' });
  assert.equal(run(['validate', '--as', 'pi', join(examples, 'pi-tool-call.json')]).code, 0);
});

test('an invalid file is exit 1, each error with file, line, column and pointer', () => {
  const { code, out, err } = run(['validate', '--as=envelope', broken]);
  assert.equal(code, 1);
  assert.equal(err, '');
  const lines = out.trimEnd().split('\n');
  assert.equal(lines[0], `${broken}: invalid`);
  assert.ok(lines.length > 1);
  for (const line of lines.slice(1)) assert.match(line, /^ {2}.+envelope-broken\.json:\d+:\d+: .+ \(at \/messages\/0.*\)$/);
  assert.match(out, /:6:15: .*\(at \/messages\/0\/role\)/);
});

test('of a segment only the kind that was meant speaks', () => {
  const { out } = run(['validate', '--as', 'envelope', '--json', broken]);
  const { errors } = JSON.parse(out);
  const segment = errors.filter(({ pointer }) => pointer.startsWith('/messages/0/segments/0'));
  assert.ok(segment.length >= 1 && segment.length <= 3, JSON.stringify(segment));
  assert.ok(segment.some(({ pointer }) => pointer === '/messages/0/segments/0/arguments'));
});

test('--json for one file is one object', () => {
  const valid = run(['validate', '--as', 'envelope', '--json', good]);
  assert.equal(valid.code, 0);
  assert.equal(valid.out, '{"valid":true,"errors":[]}\n');
  const invalid = run(['validate', '--as', 'envelope', '--json', broken]);
  assert.equal(invalid.code, 1);
  const { valid: isValid, errors } = JSON.parse(invalid.out);
  assert.equal(isValid, false);
  const role = errors.find(({ pointer }) => pointer === '/messages/0/role');
  assert.deepEqual(Object.keys(role), ['pointer', 'message', 'keyword', 'line', 'column']);
  assert.deepEqual([role.keyword, role.line, role.column], ['enum', 6, 15]);
});

test('--json for several files is one object per line, the file first', () => {
  const missing = join(directory, 'missing.json');
  const torn = file('torn.json', '{"a":\n');
  const { code, out, err } = run(['validate', '--as', 'envelope', '--json', good, broken, torn, missing]);
  assert.equal(code, 3);
  assert.equal(err, '');
  const lines = out.trimEnd().split('\n').map(JSON.parse);
  assert.deepEqual(lines.map((line) => line.file), [good, broken, torn, missing]);
  assert.deepEqual(lines.map((line) => line.valid), [true, false, false, false]);
  for (const line of lines) assert.equal(Object.keys(line)[0], 'file');
  const [syntax] = lines[2].errors;
  assert.deepEqual([syntax.line, syntax.column, syntax.keyword], [2, 1, null]);
  const [absent] = lines[3].errors;
  assert.deepEqual([absent.line, absent.column, absent.message], [null, null, 'there is no such file']);
});

test('the run goes on after an unreadable file, sums up, and the highest exit code wins', () => {
  const missing = join(directory, 'missing.json');
  const { code, out, err } = run(['validate', '--as', 'envelope', missing, broken, good]);
  assert.equal(code, 3);
  assert.match(out, /missing\.json: unreadable\n.*envelope-broken\.json: invalid\n[^]*envelope\.json: ok\n$/);
  assert.match(err, /^parley: .*missing\.json: there is no such file\nparley: 3 files: 1 ok, 1 invalid, 1 unreadable\n$/);
  assert.equal(run(['validate', '--as', 'envelope', broken, good]).code, 1);
});

test('one file needs no summary', () => {
  assert.equal(run(['validate', '--as', 'envelope', good]).err, '');
});

test('standard input is read for -', () => {
  const { code, out } = run(['validate', '--as', 'pi', '-'], { input: '{}' });
  assert.equal(code, 1);
  assert.match(out, /^<stdin>: invalid\n {2}<stdin>:1:1: /);
});

test('--schema reads a schema from a file or from standard input', () => {
  const schema = join(examples, 'order.schema.json');
  const order = join(examples, 'order.json');
  assert.equal(run(['validate', '--schema', schema, order]).code, 0);
  assert.equal(run(['validate', '--schema', '-', order], { input: '{"type":"array"}' }).code, 1);
});

test('a schema that cannot be used is exit 3 and says why', () => {
  const cases = [
    [join(directory, 'no-such-schema.json'), /there is no such file/],
    [file('bad1.json', '{"type":'), /bad1\.json:1:9: /],
    [file('bad2.json', '{"type":"strnig"}'), /bad2\.json.*\/type/],
    [file('bad3.json', '{"$ref":"https://example.org/elsewhere"}'), /example\.org\/elsewhere/],
  ];
  for (const [schema, expected] of cases) {
    const { code, out, err } = run(['validate', '--schema', schema, good]);
    assert.equal(code, 3, err);
    assert.equal(out, '');
    assert.match(err, expected);
    assert.match(err, /nothing was checked/);
  }
});

test('format annotates by default and refuses with --format-assertion', () => {
  const schema = join(examples, 'order.schema.json');
  const input = '{"id":"A-1","date":"tomorrow","lines":[{"item":"tea","count":1}]}';
  assert.equal(run(['validate', '--schema', schema, '-'], { input }).code, 0);
  const { code, out } = run(['validate', '--schema', schema, '--format-assertion', '-'], { input });
  assert.equal(code, 1);
  assert.match(out, /\(at \/date\)/);
});

test('messages are Chinese by option or by environment', () => {
  const english = run(['validate', '--as', 'envelope', broken]).out;
  const chinese = run(['validate', '--as', 'envelope', '--lang', 'zh', broken]).out;
  assert.doesNotMatch(english, /\p{Script=Han}/u);
  assert.match(chinese, /\p{Script=Han}/u);
  assert.equal(run(['validate', '--as', 'envelope', broken], { env: { LC_ALL: 'zh_CN.UTF-8' } }).out, chinese);
  assert.equal(run(['validate', '--as', 'envelope', broken], { env: { LC_ALL: '', LANG: 'zh_TW' } }).out, chinese);
  assert.equal(run(['validate', '--as', 'envelope', '--lang', 'en', broken], { env: { LC_ALL: 'zh_CN' } }).out, english);
});

test('--output flag says only whether', () => {
  assert.equal(run(['validate', '--as', 'envelope', '--output', 'flag', broken]).out, `${broken}: invalid\n`);
  assert.equal(run(['validate', '--as', 'envelope', '--output', 'flag', '--json', broken]).out, '{"valid":false}\n');
  assert.equal(run(['validate', '--as', 'envelope', '--output', 'flag', '--json', good]).out, '{"valid":true}\n');
});

test('--output basic is the basic output of the standard', () => {
  const schema = file('basic.json', '{"title":"T","properties":{"a":{"type":"string"}}}');
  const invalid = JSON.parse(run(['validate', '--schema', schema, '--output', 'basic', '--json', '-'], { input: '{"a":1}' }).out);
  assert.equal(invalid.valid, false);
  const unit = invalid.errors.find(({ keywordLocation }) => keywordLocation === '/properties/a/type');
  assert.equal(unit.instanceLocation, '/a');
  assert.equal(typeof unit.error, 'string');
  const valid = JSON.parse(run(['validate', '--schema', schema, '--output', 'basic', '--json', '-'], { input: '{"a":""}' }).out);
  assert.equal(valid.valid, true);
  assert.ok(valid.annotations.some(({ keywordLocation, annotation }) => keywordLocation === '/title' && annotation === 'T'));
});

test('hostile schemas and files end, with a reason', () => {
  const pattern = file('redos.json', '{"pattern":"^(a|a)*$"}');
  const slow = run(['validate', '--schema', pattern, '-'], { input: `"${'a'.repeat(5000)}b"` });
  assert.ok(slow.code === 1 || slow.code === 3, `${slow.code}`);
  const loop = file('loop.json', '{"$ref":"#"}');
  assert.notEqual(run(['validate', '--schema', loop, '-'], { input: '1' }).code, 0);
});

test('control characters in names and values do not reach the terminal', () => {
  const path = file('esc\u001b[31m.json', '{}');
  const { out } = run(['validate', '--as', 'pi', path]);
  assert.doesNotMatch(out, /\u001b/);
  assert.match(out, /esc\\u\{1B\}/);
});

const script = has('script') ? false : 'script(1) is not installed';

function onTerminal(line, env) {
  return shell(`script -qec "$LINE" /dev/null < /dev/null`, { env: { ...env, LINE: line } }).out;
}

test('colour is for terminals, and not with NO_COLOR', { skip: script }, () => {
  const line = `"$P" validate --as envelope "${good}"`;
  assert.match(onTerminal(line), /\u001b\[32mok\u001b\[0m/);
  assert.doesNotMatch(onTerminal(line, { NO_COLOR: '1' }), /\u001b/);
  assert.doesNotMatch(shell(line).out, /\u001b/);
});

test('a long run over many files shows its progress on a terminal', { skip: script }, () => {
  const slow = file('slow.fifo.sh', '');
  const line = `rm -f ${slow}; mkfifo ${slow}; (sleep 1.3; echo "{}" > ${slow}) & "$P" validate --as pi ${slow} "${good}"`;
  assert.match(onTerminal(line), /1 of 2 files, 1 not valid/);
});
