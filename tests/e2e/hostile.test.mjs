// Bad input: a clear error with its position, exit 3, little memory, no crash.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { file, noTime, run, shell } from './harness.mjs';

const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));

const cases = [
  ['nothing at all', '', '1:1'],
  ['white space only', ' \n ', '2:2'],
  ['a truncated object', '{"a":[1,\n', '2:1'],
  ['a truncated string', '["abc', '1:2'],
  ['a lone high surrogate', '["\\ud800"]', '1:3'],
  ['a lone low surrogate', '["\\udc00x"]', '1:3'],
  ['a reversed pair', '["\\udc00\\ud800"]', '1:3'],
  ['a NUL between values', bytes('[1,', [0], ']'), '1:4'],
  ['a NUL in a string', bytes('["a', [0], '"]'), '1:4'],
  ['invalid UTF-8', bytes('["中", "', [0xff], '"]'), '1:8'],
  ['UTF-8 cut short', bytes('["a', [0xe4, 0xb8]), '1:4'],
  ['an overlong encoding', bytes('["', [0xc0, 0xaf], '"]'), '1:3'],
  ['an encoded surrogate', bytes('["', [0xed, 0xa0, 0x80], '"]'), '1:3'],
  ['a byte-order mark', '\ufeff{}', '1:1'],
  ['a bare word', '{"a": nul}', '1:7'],
  ['two values', '1 2', '1:3'],
  ['a million brackets', '['.repeat(1_000_000), '1:65'],
  ['a million open objects', '{"a":'.repeat(1_000_000), '1:321'],
  ['a long number', `[${'1'.repeat(129)}]`, '1:2'],
];

for (const [name, input, position] of cases) {
  test(`${name}: exit 3 and the place`, () => {
    const { code, out, err } = run(['json', '-'], { input });
    assert.equal(out, '');
    assert.match(err, new RegExp(`^parley: <stdin>:${position}: .+\n`), err);
    assert.equal(code, 3);
    const report = JSON.parse(run(['validate', '--as', 'pi', '--json', '-'], { input }).out);
    assert.equal(report.valid, false);
    assert.equal(`${report.errors[0].line}:${report.errors[0].column}`, position);
  });
}

test('a duplicate key is read by json with a warning, and refused by validate', () => {
  const input = '{"a":1,\n"a":2}';
  const read = run(['json', '--minify', '-'], { input });
  assert.equal(read.code, 0);
  assert.equal(read.out, '{"a":1,"a":2}\n');
  assert.match(read.err, /^parley: <stdin>:2:1: accepted a duplicate key; the last one counts\n$/);
  assert.equal(run(['json', '--canonical', '-'], { input }).out, '{"a":2}\n');
  const refused = run(['validate', '--as', 'pi', '-'], { input });
  assert.equal(refused.code, 3);
  assert.match(refused.err, /<stdin>:2:1: duplicate key "a"/);
});

// Peak memory in KiB of parley ARGS, and its output.
function measure(line) {
  const { out, err, code } = shell(line);
  const peak = Number(/^peak (\d+)$/m.exec(err)?.[1]);
  return { code, out, err, peak };
}

const timed = '/usr/bin/time -f "peak %M" "$P"';

test('a number of 64 MB in a file is refused in little memory', { skip: noTime }, () => {
  const path = file('number.json');
  writeFileSync(path, Buffer.alloc(64 << 20, '1'));
  const { code, err, peak } = measure(`${timed} json "${path}"`);
  assert.equal(code, 3);
  assert.match(err, /number\.json:1:1: .*number/);
  assert.ok(peak < 32 << 10, `${peak} KiB`);
  writeFileSync(path, '');
});

test('a number of 1 GB through a pipe is refused in little memory', { skip: noTime }, () => {
  const { code, err, peak } = measure(`head -c 1000000000 /dev/zero | tr '\\0' 7 | ${timed} json -`);
  assert.equal(code, 3);
  assert.match(err, /<stdin>:1:1: .*number/);
  assert.ok(peak < 64 << 10, `${peak} KiB`);
});

test('a billion brackets through a pipe are refused in little memory', { skip: noTime }, () => {
  const { code, err, peak } = measure(`head -c 1000000000 /dev/zero | tr '\\0' '[' | ${timed} validate --as pi -`);
  assert.equal(code, 3);
  assert.match(err, /<stdin>:1:65: /);
  assert.ok(peak < 64 << 10, `${peak} KiB`);
});

test('a file over 1 GiB is refused by its size', () => {
  const { code, err } = shell(`truncate -s 1025M "$F" && "$P" json "$F"; r=$?; rm -f "$F"; exit $r`, {
    env: { F: file('huge.json') },
  });
  assert.equal(code, 3);
  assert.match(err, /larger than the limit of 1073741824 bytes/);
});

test('two million values are read and one more is refused', () => {
  const values = (n) => `[${'1,'.repeat(n - 2)}1]`;
  assert.equal(run(['json', '--check', '-'], { input: values(2_000_000) }).code, 0);
  const { code, err } = run(['json', '--check', '-'], { input: values(2_000_001) });
  assert.equal(code, 3);
  assert.match(err, /2,?000,?000/);
});

test('64 levels are read and 65 are refused', () => {
  const nested = (n) => '['.repeat(n) + ']'.repeat(n);
  assert.equal(run(['json', '--check', '-'], { input: nested(64) }).code, 0);
  assert.equal(run(['json', '--check', '-'], { input: nested(65) }).code, 3);
});

test('a directory, a missing file and an unreadable one are exit 3', () => {
  assert.equal(run(['json', '/']).code, 3);
  assert.equal(run(['json', '/no/such/file']).code, 3);
  assert.match(run(['json', '/']).err, /is a directory/);
});

test('memory that runs out is exit 4 and nothing on standard output', () => {
  const path = file('wide.json', `[${'1,'.repeat(1_500_000)}1]`);
  const { code, out, err, signal } = shell('ulimit -v 28000; exec "$P" json "$F"', { program: 'bash', env: { F: path } });
  assert.equal(signal, null);
  assert.equal(code, 4, err);
  assert.equal(out, '');
  assert.match(err, /out of memory/);
});
