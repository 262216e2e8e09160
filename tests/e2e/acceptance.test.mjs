// Runs the acceptance suite against the real program, if it is present beside the source tree
// (../shared/acceptance, or PARLEY_ACCEPTANCE). One test per category of cases, one per property.
// Cases of a command that this program does not have are skipped and named in the output.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { directory, parley, root, run } from './harness.mjs';

const suite = process.env.PARLEY_ACCEPTANCE ?? join(root, '..', 'shared', 'acceptance');
const runner = join(suite, 'run.mjs');

if (!existsSync(runner)) {
  test('the acceptance suite', { skip: `there is no ${runner}` }, () => {});
} else {
  const cases = readdirSync(join(suite, 'cases')).filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, ...JSON.parse(readFileSync(join(suite, 'cases', name), 'utf8')) }));
  const help = run(['help']).out;
  const commands = new Set(cases.map((it) => it.cmd ?? 'convert'));
  const commandOf = (it) => it.argv?.find((word) => !word.startsWith('-')) ?? it.cmd ?? 'convert';
  // A command outside the suite's list is deliberately unknown: its case always runs.
  const isThere = (command) => !commands.has(command) || new RegExp(`^ +${command}\\b`, 'm').test(help);
  const chosen = join(directory, 'cases');
  mkdirSync(chosen);
  const missing = new Map();
  for (const it of cases) {
    const command = commandOf(it);
    if (isThere(command)) copyFileSync(join(suite, 'cases', it.name), join(chosen, it.name));
    else missing.set(command, [...(missing.get(command) ?? []), it.id]);
  }
  for (const [command, ids] of missing) {
    test(`cases of the command ${command}`, { skip: `parley help has no ${command}: ${ids.join(' ')}` }, () => {});
  }

  const done = spawnSync('node', [runner, '--bin', parley, '--dir', chosen, '--json'],
    { encoding: 'utf8', maxBuffer: 1 << 28 });
  let result = null;
  test('the suite runs to its end', () => {
    result = JSON.parse(done.stdout);
    assert.equal(result.passed + result.failed, readdirSync(chosen).length);
  });
  try { result = JSON.parse(done.stdout); } catch { /* the test above reports it */ }
  for (const category of Object.keys(result?.categories ?? {}).sort()) {
    const ids = new Set(cases.filter((it) => it.category === category).map((it) => it.id));
    test(`cases ${category}: all ${result.categories[category].passed + result.categories[category].failed} pass`, () => {
      const failures = result.failures.filter((it) => ids.has(it.id));
      assert.deepEqual(failures.map((it) => `${it.id}: ${it.fails.join('; ')}`), []);
    });
  }
  for (const [property, counts] of Object.entries(result?.properties.by ?? {}).sort()) {
    test(`property ${property} holds ${counts.passed + counts.failed} times`, () => {
      const failures = result.properties.failures.filter((it) => it.prop === property);
      assert.deepEqual(failures.map((it) => `${it.id}: ${it.why}`), []);
    });
  }
}
