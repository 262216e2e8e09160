import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { examples, file, run, shell } from './harness.mjs';

const document = '{ "b" : 1.50,\n "a":["x\\u0041",  {}, [] ] }\n';

function output(args, input = document) {
  const { code, out, err } = run(['json', ...args, '-'], { input });
  assert.equal(err, '');
  assert.equal(code, 0);
  return out;
}

test('without options JSON is indented by two spaces', () => {
  const expected = '{\n  "b": 1.50,\n  "a": [\n    "x\\u0041",\n    {},\n    []\n  ]\n}\n';
  assert.equal(output([]), expected);
  assert.equal(output(['--pretty']), expected);
});

test('minifying keeps the spelling of strings and numbers', () => {
  assert.equal(output(['--minify']), '{"b":1.50,"a":["x\\u0041",{},[]]}\n');
});

test('the canonical form is the same for two spellings of one value', () => {
  const expected = '{"a":["xA",{},[]],"b":1.5}\n';
  assert.equal(output(['--canonical']), expected);
  assert.equal(output(['--canonical'], '{"a":["\\u0078A",{},[]],"b":15e-1}'), expected);
});

test('--get prints the exact spelling and a newline, --raw the decoded text', () => {
  assert.equal(output(['--get', '/b']), '1.50\n');
  assert.equal(output(['--get=/a/0']), '"x\\u0041"\n');
  assert.equal(output(['--get', '/a/0', '--raw']), 'xA\n');
  assert.equal(output(['--get', '/b', '--raw']), '1.50\n');
  assert.equal(output(['--get', '']), `${document.trimEnd()}\n`);
  assert.equal(output(['--get', '/a~1b/m~0n'], '{"a/b":{"m~n":7}}'), '7\n');
});

test('--get of what is not there is exit 1 and silent on standard output', () => {
  const { code, out, err } = run(['json', '--get', '/a/7', '-'], { input: document });
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /^parley: <stdin>:2:6: .*no index 7/);
});

test('--set changes one value and no other byte', () => {
  assert.equal(output(['--set', '/b', 'null']), document.replace('1.50', 'null'));
  assert.equal(output(['--set', '/a/0', '{"k": 1}']), document.replace('"x\\u0041"', '{"k": 1}'));
});

test('--set adds a member at the end of its object', () => {
  const edited = output(['--set', '/c', 'true'], '{"a":1,"b":2}');
  assert.equal(edited, '{"a":1,"b":2,"c":true}');
});

test('--insert goes before an element, and - is the end', () => {
  assert.equal(output(['--insert', '/0', '0'], '[1,2]'), '[0,1,2]');
  assert.equal(output(['--insert', '/-', '3'], '[1,2]'), '[1,2,3]');
});

test('--insert of a member that exists is exit 1', () => {
  const { code, out } = run(['json', '--insert', '/a', '2', '-'], { input: '{"a":1}' });
  assert.equal(code, 1);
  assert.equal(out, '');
});

test('--remove takes the comma along', () => {
  assert.equal(output(['--remove', '/a'], '{"a":1,"b":2}'), '{"b":2}');
  assert.equal(output(['--remove', '/b'], '{"a":1,"b":2}'), '{"a":1}');
  assert.equal(output(['--remove', '/0'], '[1]'), '[]');
});

test('changes are applied in order, each to the result of the one before', () => {
  const args = ['--set', '/n', '{}', '--set', '/n/x', '1', '--insert', '/l/0', '9', '--remove', '/l/1'];
  assert.deepEqual(JSON.parse(output(args, '{"l":[1,2]}')), { l: [9, 2], n: { x: 1 } });
});

test('when one change fails nothing is written', () => {
  const { code, out, err } = run(['json', '--set', '/a', '1', '--set', '/x/y', '2', '-'], { input: '{}' });
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /This was --set \/x\/y; nothing was written\./);
});

test('the file itself is never changed', () => {
  const path = file('doc.json', document);
  run(['json', '--set', '/b', '2', path]);
  assert.equal(readFileSync(path, 'utf8'), document);
});

test('lenient reading tolerates and reports each thing with its place', () => {
  const { code, out, err } = run(['json', '--lenient', '--minify', join(examples, 'settings.jsonc')]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out), { data: '/var/lib/parley', limits: { depth: 64 } });
  const lines = err.trimEnd().split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines[0], /settings\.jsonc:2:3: accepted a .*comment$/);
  assert.match(lines[1], /settings\.jsonc:5:16: accepted a trailing comma$/);
  assert.match(lines[2], /settings\.jsonc:5:18: accepted a .*comment$/);
  assert.match(lines[3], /settings\.jsonc:6:4: accepted a trailing comma$/);
});

test('lenient reading tolerates a byte-order mark, duplicate keys and lone surrogates', () => {
  const { code, out, err } = run(['json', '--lenient', '--minify', '-'], { input: '\ufeff{"a":1,"a":"\\ud800"}' });
  assert.equal(code, 0);
  assert.match(out, /"\\ud800"/);
  assert.equal(err.trimEnd().split('\n').length, 3);
});

test('editing leniently read text keeps its comments', () => {
  const input = '{\n  "a": 1, // one\n  "b": 2, /* two */\n}\n';
  const { code, out } = run(['json', '--lenient', '--set', '/a', '7', '--set', '/b', '8', '-'], { input });
  assert.equal(code, 0);
  assert.equal(out, input.replace('1,', '7,').replace('2,', '8,'));
});

test('strict reading refuses what lenient reading takes, and says so', () => {
  const { code, out, err } = run(['json', '-'], { input: '[1, 2,]' });
  assert.equal(code, 3);
  assert.equal(out, '');
  assert.match(err, /^parley: <stdin>:1:7: .+\n {8}--lenient accepts this\.\n$/);
});

test('--check prints nothing and answers by its exit code', () => {
  const check = (args, input) => {
    const { code, out } = run(['json', '--check', ...args, '-'], { input });
    assert.equal(out, '');
    return code;
  };
  assert.equal(check([], ' [1 ] '), 0);
  assert.equal(check([], '[1'), 3);
  assert.equal(check(['--minify'], '[1]\n'), 0);
  assert.equal(check(['--minify'], '[1 ]\n'), 1);
  assert.equal(check(['--pretty'], output([])), 0);
  assert.equal(check(['--canonical'], '{"b":1,"a":2}\n'), 1);
});

test('a FIFO can be read', () => {
  const { code, out } = shell('mkfifo "$F" && (echo "[1]" > "$F" &) && "$P" json --minify "$F"; r=$?; rm -f "$F"; exit $r', {
    env: { F: `${file('fifo-dir')}.fifo` },
  });
  assert.equal(out, '[1]\n');
  assert.equal(code, 0);
});

test('a file named like an option is reached with --', () => {
  const path = file('-.json', '[]');
  const { out } = run(['json', '--', '-.json'], { cwd: path.slice(0, -7) });
  assert.equal(out, '[]\n');
});

test('output that cannot be written is exit 4 with a reason', () => {
  for (const line of ['echo "[1]" | "$P" json - > /dev/full', 'echo "[1]" | "$P" json - >&-', '"$P" help > /dev/full',
    '"$P" version >&-']) {
    const { code, out, err } = shell(line);
    assert.equal(code, 4, line);
    assert.equal(out, '');
    assert.match(err, /^parley: standard output: .+\n$/);
  }
});

test('a reader that goes away early is exit 4 without a word, not a signal', () => {
  const big = file('big.json', JSON.stringify(Array.from({ length: 200_000 }, (_, i) => i)));
  const { code, err } = shell('set -o pipefail; "$P" json "$F" | head -c 0', { program: 'bash', env: { F: big } });
  assert.equal(code, 4);
  assert.equal(err, '');
});
