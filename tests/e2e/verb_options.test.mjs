// An option applies to the verbs in its help; with any other verb it is refused, never ignored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './harness.mjs';

// The verbs of a command, and its options with their verbs, from its help.
function helpOf(command) {
  const { out } = run([command, '--help']);
  const part = (name) => out.split(`\n${name}\n`)[1]?.split(/\n(?=\S)/)[0] ?? '';
  const verbs = [...part('Actions').matchAll(/^ {2}([a-z]+)/gm)].map(([, verb]) => verb);
  const options = [...part('Options').matchAll(/^ {2}(?:-\w, )?--([a-z-]+)((?: [A-Z]+)*).*\n((?: {6}.*\n?)+)/gm)]
    .map(([, name, args, help]) => ({ name, n: args.split(' ').filter(Boolean).length, verbs: help.trim().replace(/\s+/g, ' ').match(/^([a-z]+(?:, [a-z]+)*): /)?.[1].split(', ') }));
  // An option may have two meanings, each with its own verbs.
  const merged = options.filter(({ name }, i) => options.findIndex((one) => one.name === name) === i)
    .map((option) => ({ ...option, verbs: option.verbs && options.filter(({ name }) => name === option.name).flatMap((one) => one.verbs) }));
  return { verbs, options: merged };
}

for (const command of ['session', 'prompt', 'memory', 'task', 'blob', 'key', 'handoff'])
  test(`parley ${command} refuses options of its other verbs`, () => {
    const { verbs, options } = helpOf(command);
    const bound = options.filter((option) => option.verbs);
    assert.ok(verbs.length > 1 && bound.length > 0, `${verbs} ${options.map(({ name }) => name)}`);
    for (const option of bound)
      for (const verb of option.verbs) assert.ok(verbs.includes(verb), `--${option.name} names ${verb}, which is no verb of ${command}`);
    let n = 0;
    for (const option of bound)
      for (const verb of verbs.filter((one) => !option.verbs.includes(one))) {
        // Enough arguments for any verb; a wrong number or value is also refused, but with another message.
        for (const words of [[], ['a'], ['a', 'b']]) {
          const { code, out, err } = run([command, verb, ...words, `--${option.name}`, ...Array(option.n).fill('turns')], { env: { PARLEY_DATA: '/nonexistent' } });
          assert.deepEqual([code, out], [2, ''], `${command} ${verb} --${option.name}: ${err}`);
          if (option.verbs.some((one) => new RegExp(`--${option.name} works with [a-z, ]*\\b${one}\\b[a-z, ]*, not with ${verb}\\b`).test(err))) { n++; break; }
        }
      }
    assert.ok(n >= bound.length, `${n} refusals for ${bound.length} options`);
  });

test('a verb has a help of its own, with its options and no others', () => {
  const add = run(['ext', 'add', '--help']), log = run(['ext', 'log', 'x', '--help']);
  assert.match(add.out, /^parley ext add - Add an extension to the server\n\nUsage\n {2}parley ext add \[OPTION\]\.\.\. SOURCE \| --mcp ID -- CMD\.\.\.\n/);
  assert.match(add.out, /\n {2}--grant CAP,\.\.\.\n {6}Allow these capabilities without a question\n/);
  assert.match(add.out, /parley ext add workspace --grant write\n/);
  assert.ok(!/--language|ext new|Actions/.test(add.out), add.out);
  assert.ok(!/--grant|--mcp|Examples/.test(log.out) && /--json/.test(log.out), log.out);
  assert.deepEqual([add.code, log.code], [0, 0]);
  // Every verb of every command with verbs; the help of the command answers for an unknown one.
  for (const command of ['session', 'prompt', 'memory', 'task', 'blob', 'ext', 'key', 'handoff', 'models', 'user', 'audit']) {
    const { verbs, options } = helpOf(command);
    for (const verb of verbs) {
      const { out } = run([command, verb, '--help']);
      assert.ok(out.startsWith(`parley ${command} ${verb} - `), out.slice(0, 200));
      assert.equal(run(['help', command, verb]).out, out);
      for (const option of options) assert.equal(new RegExp(`\\n {2}(-\\w, )?--${option.name}(?![a-z-])`).test(out), !option.verbs || option.verbs.includes(verb), `${command} ${verb} --${option.name}`);
    }
    assert.match(run([command, 'nothing', '--help']).out, new RegExp(`^parley ${command} - `));
  }
  for (const [args, says] of [[['prompt', 'rnu'], /"rnu" is not an action of "parley prompt": .*did you mean "run"\?/], [['lint', 'x'], /"parley lint" has no separate help for actions; use: parley help lint/], [['prompt', 'run', 'x'], /takes at most a COMMAND and one of its actions/]]) {
    const { code, err } = run(['help', ...args]);
    assert.deepEqual([code, says.test(err)], [2, true], err);
  }
});

test('a misspelt option is told with the one that was meant', () => {
  for (const [args, meant] of [[['backup', '--forse', 'x'], '--force'], [['convert', '--reprot', 'x', 'y'], '--report'], [['blob', 'get', 'x', '--rang', '0-1'], '--range'], [['restore', '--yse', 'x'], '--yes']]) {
    const { code, err } = run(args);
    assert.equal(code, 2);
    assert.match(err, new RegExp(`did you mean "${meant}"`));
  }
  assert.match(run(['session', 'exprot', 'x']).err, /did you mean "export"/);
});
