// parley task next: the meaning of an expression and its due times.
import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from './harness.mjs';

const next = (...args) => run(['task', 'next', ...args]);
const json = (...args) => JSON.parse(next('--json', '--lang', 'en', ...args).out);

test('an expression is explained and ten instants are shown', () => {
  const { code, out, err } = next('0 9 * * MON-FRI', '--lang', 'en', '--from', '2026-11-16T00:00:00Z');
  assert.equal(code, 0);
  assert.equal(err, '');
  const lines = out.trimEnd().split('\n');
  assert.equal(lines[0], 'At 09:00, on Monday to Friday');
  assert.equal(lines.length, 2 + 10);
  assert.equal(lines[2], '2026-11-16T09:00:00Z');
});

test('it speaks Chinese when asked', () => {
  assert.match(next('0 9 * * MON#2', '--lang', 'zh').out, /^每月第二个周一，09:00\n/);
});

test('a time the clock skips is shown at the change, and marked', () => {
  const { next: due } = json('30 2 * * *', '--zone', 'America/New_York', '--from', '2026-03-08T00:00:00Z', '--count', '2');
  assert.deepEqual(due, [
    { utc: '2026-03-08T07:00:00Z', local: '2026-03-08T03:00:00-04:00', name: 'EDT', moved: true },
    { utc: '2026-03-09T06:30:00Z', local: '2026-03-09T02:30:00-04:00', name: 'EDT', moved: false },
  ]);
});

test('an expression that is never due is exit 1 and an empty list', () => {
  const { code, err } = next('0 0 30 2 *');
  assert.equal(code, 1);
  assert.match(err, /never/);
  assert.deepEqual(json('0 0 30 2 *').next, []);
});

for (const [args, wanted, says] of [
  [['61 * * * *'], 1, /:1:1: the minute field has values from 0 to 59/],
  [['0 0 * * *', '--zone', '../../etc/passwd'], 2, /is not the name of a time zone/],
  [['0 0 * * *', '--zone', 'Nowhere/Land'], 3, /tzdata/],
  [['0 0 * * *', '--count', '1001'], 2, /--count must be a number from 1 to 1000/],
  [['0 0 * * *', '--from', 'tomorrow'], 2, /--from must be an instant such as/],
]) {
  test(`refused: ${args.join(' ')}`, () => {
    const { code, err } = next(...args);
    assert.equal(code, wanted);
    assert.match(err, says);
  });
}
