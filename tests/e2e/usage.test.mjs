// Common behaviour of all commands: help, errors, exit code 2.
import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from './harness.mjs';

// The names come from the program itself, so later additions are tested without changes here.
const commands = [...run([]).out.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map((match) => match[1]);
const choicesOf = (command, option) => run([command, '--help']).out.match(new RegExp(`^ {2}--${option} \\w+ {2}\\((.+)\\)$`, 'm'))[1];

test('the commands are those one expects, and perhaps more', () => {
  for (const command of ['validate', 'convert', 'detect', 'lint', 'json', 'stream', 'version', 'completion', 'help']) assert.ok(commands.includes(command), command);
});

test('parley alone shows help and succeeds', () => {
  const { code, out, err } = run([]);
  assert.equal(code, 0);
  assert.equal(err, '');
  for (const command of commands) assert.match(out, new RegExp(`^  ${command} `, 'm'));
});

test('help can be asked for in every usual way', () => {
  const { out } = run([]);
  for (const args of [['--help'], ['-h'], ['help']]) assert.equal(run(args).out, out);
});

for (const command of commands) {
  test(`help for ${command} has usage, options, an example and exit codes`, () => {
    const { code, out, err } = run([command, '--help']);
    assert.equal(code, 0);
    assert.equal(err, '');
    assert.match(out, new RegExp(`^  parley ${command} `, 'm'));
    assert.match(out, /^Examples\n {2}# .+\n {2}parley /m);
    assert.match(out, /^Options\n/m);
    assert.match(out, /^Exit codes\n {2}0 /m);
    assert.equal(run(['help', command]).out, out);
    assert.equal(run([command, '-h']).out, out);
    // Command lines and lists of names stay on one line; prose is folded.
    for (const line of out.split('\n')) assert.ok(line.length <= 80 || /^ {2}(parley |--[a-z-]+ [A-Z]+ {2}\()/.test(line), line);
  });
}

const mistakes = [
  [['vlaidate'], /unknown command "vlaidate"; did you mean "validate"\?/],
  [['frobnicate'], /unknown command "frobnicate"\n/],
  [['--bogus'], /unknown option "--bogus"/],
  [['json', '--prety', '-'], /unknown option "--prety"; did you mean "--pretty"\?/],
  [['json', '-x', '-'], /unknown option "-x"/],
  [['json', '--get'], /--get needs a value: --get POINTER/],
  [['json', '--set', '/a'], /--set needs two values: --set POINTER VALUE/],
  [['json', '--minify=yes', '-'], /--minify takes no value/],
  [['json', '--minify', '--minify', '-'], /--minify is given twice/],
  [['json', '--minify', '--pretty', '-'], /--minify and --pretty exclude each other/],
  [['json', '--get', '/a', '--set', '/a', '1', '-'], /--get and --set exclude each other/],
  [['json', '--raw', '-'], /--raw needs --get/],
  [['json', '--check', '--get', '/a', '-'], /--check and --get exclude each other/],
  [['json', '--get', 'a', '-'], /"a" is not a JSON Pointer.*did you mean "\/a"\?/],
  [['json', '--get', '/a~2', '-'], /"\/a~2" is not a JSON Pointer/],
  [['json', '--set', '/a', 'text', '-'], /the value of --set is not JSON.*a string needs its quotes/],
  [['json'], /"parley json" takes one FILE/],
  [['json', 'a', 'b'], /"parley json" takes one FILE/],
  [['validate', '-'], /no schema; give --as NAME/],
  [['validate', '--as', 'pi'], /takes a FILE/],
  [['validate', '--as', 'enveloppe', '-'], `--as must be ${choicesOf('validate', 'as')}, not "enveloppe"; did you mean "envelope"?`],
  [['validate', '--as', 'pi', '--schema', 'x', '-'], /--as and --schema exclude each other/],
  [['validate', '--as', 'pi', '-', '-'], /standard input \(-\) can be read only once/],
  [['validate', '--as', 'pi', '--lang', 'fr', '-'], /--lang must be en or zh, not "fr"/],
  [['validate', '--as', 'pi', '--output', 'all', '-'], /--output must be flag or basic, not "all"/],
  [['convert', '-'], /no target format; give --to FORMAT/],
  [['convert', '--to', 'antropic', '-'], `--to must be ${choicesOf('convert', 'to')}, not "antropic"; did you mean "anthropic"?`],
  [['convert', '--to', 'gemini', '--profile', 'anthropic@2026-10-21', '-'], /the profile anthropic@2026-10-21 is for anthropic, not for gemini/],
  [['convert', '--to', 'gemini', '--mode', 'mend', '-'], /--mode must be convert, repair or gateway, not "mend"/],
  [['detect'], /"parley detect" takes one FILE/],
  [['lint', '--report', 'x', '-'], /--report needs --fix/],
  [['stream', '--from', 'openai-chat', '-'], /no dialects; give --from and --to/],
  [['version', 'now'], /takes no operand/],
  [['completion'], /takes one shell/],
  [['completion', 'csh'], /takes bash, zsh or fish, not "csh"/],
  [['help', 'jsn'], /not "jsn"; did you mean "json"\?/],
];

for (const [args, expected] of mistakes) {
  test(`parley ${args.join(' ')}: exit 2, a reason, and where help is`, () => {
    const { code, out, err } = run(args);
    if (typeof expected === 'string') assert.ok(err.includes(expected), err);
    else assert.match(err, expected);
    assert.match(err, /^ {8}See "parley .*--help"\.$/m);
    assert.equal(out, '');
    assert.equal(code, 2);
  });
}

test('the version is printed for people and for machines', () => {
  const { code, out } = run(['version']);
  assert.equal(code, 0);
  assert.match(out, /^parley \d+\.\d+\.\d+\ncpu +\w+\npcre2 +10\./);
  assert.equal(run(['--version']).out, out);
  const machine = JSON.parse(run(['version', '--json']).out);
  assert.match(machine.version, /^\d+\.\d+\.\d+$/);
  assert.ok(['scalar', 'avx2', 'avx512'].includes(machine.cpu), machine.cpu);
  assert.match(machine.pcre2, /^10\./);
});
