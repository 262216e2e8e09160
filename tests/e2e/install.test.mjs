// The files generated from the command table, and the installed library as a user's program sees it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { directory, examples, file, missing, parley, root, run, shell } from './harness.mjs';

// The commands and schemas as the program lists them.
const commands = [...run([]).out.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map((match) => match[1]);
const schemas = run(['validate', '--help']).out.match(/^ {2}--as NAME {2}\((.+)\)$/m)[1].split(/, | or /);


const pages = [[], ...commands.map((command) => [command])];

for (const [program, line] of [['mandoc', 'mandoc -Tlint -Wwarning'], ['groff', 'groff -mandoc -ww -Tutf8 2>&1 >/dev/null'], ['man', 'man --warnings -l - 2>&1 >/dev/null']])
  test(`${program} finds no fault in the manual pages`, { skip: missing(program) }, () => {
    for (const words of pages) {
      const { out, err } = shell(`"$P" help --man ${words.join(' ')} | ${line}`, { env: { MANWIDTH: '80' } });
      // mandoc checks references to other pages, which are not installed here.
      const said = `${out}${err}`.split('\n').filter((one) => one && !/referenced manual not found/.test(one));
      assert.deepEqual(said, [], words.join(' '));
    }
  });

test('a command has a manual page with every section, every action and every option', () => {
  const program = run(['help', '--man']).out;
  assert.ok(commands.length >= 9);
  for (const command of commands) {
    const page = run(['help', '--man', command]).out, help = run([command, '--help']).out;
    assert.ok(program.includes(`.It Xr parley-${command} 1\n`), command);
    const sections = [...page.matchAll(/^\.Sh (.*)$/gm)].map(([, name]) => name).filter((name) => name !== 'FILES');
    assert.deepEqual(sections, ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'ENVIRONMENT', 'EXIT STATUS', 'EXAMPLES', 'SEE ALSO'], command);
    for (const [, name] of help.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)) assert.ok(page.includes(`Fl \\-${name}`), `${command} ${name}`);
    for (const [, name] of (help.split('\nActions\n')[1] ?? '').split('\n\n')[0].matchAll(/^ {2}([a-z]+)/gm)) assert.ok(page.includes(`.It Cm ${name} `), `${command} ${name}`);
    for (const [, other] of page.matchAll(/^\.Xr parley-([a-z]+) 1/gm)) assert.ok(commands.includes(other), `${command} refers to ${other}`);
    assert.equal(/^\.Sh FILES$/m.test(page), /^ {2}--data /m.test(help), command);
  }
});

test('every command has its page among those that are installed', () => {
  const build = readFileSync(join(root, 'docs', 'meson.build'), 'utf8');
  assert.deepEqual([...build.match(/man_pages = \[([^\]]*)\]/)[1].matchAll(/'([a-z]+)'/g)].map(([, name]) => name), commands);
});

test('bash completes commands, options, values and files', { skip: missing('bash') }, () => {
  const complete = (words) => shell(
    `source <("$P" completion bash); COMP_WORDS=(${words.map((w) => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}
     _parley; printf '%s\\n' "\${COMPREPLY[@]}"`, { program: 'bash', cwd: examples }).out.trim().split('\n');
  assert.deepEqual(complete(['parley', 'va']), ['validate']);
  assert.deepEqual(complete(['parley', 'json', '--can']), ['--canonical']);
  assert.deepEqual(complete(['parley', 'validate', '--as', '']), schemas);
  assert.deepEqual(complete(['parley', 'validate', '--lang', 'z']), ['zh']);
  assert.deepEqual(complete(['parley', 'validate', '--schema', 'order.s']), ['order.schema.json']);
  assert.deepEqual(complete(['parley', 'json', 'order.j']), ['order.json']);
  assert.deepEqual(complete(['parley', 'completion', 'f']), ['fish']);
});

test('the zsh completion loads', { skip: missing('zsh') }, () => {
  const { code, err } = shell('autoload -U compinit && compinit -D -u && source <("$P" completion zsh) && (( $+functions[_parley] ))',
    { program: 'zsh' });
  assert.equal(err, '');
  assert.equal(code, 0);
});

test('fish completes commands, options and values', { skip: missing('fish') }, () => {
  const complete = (line) => shell(`$P completion fish | source; complete -C '${line}'`, { program: 'fish', env: { HOME: directory } })
    .out.trim().split('\n').map((entry) => entry.split('\t')[0]);
  assert.deepEqual(complete('parley va'), ['validate']);
  assert.deepEqual(complete('parley json --can'), ['--canonical']);
  assert.deepEqual(complete('parley validate --as ').sort(), [...schemas].sort());
  assert.ok(schemas.includes('envelope') && schemas.includes('anthropic'));
});

const header = join(root, 'include');
const library = join(dirname(parley), 'src', 'lib');
const isBuilt = (() => {
  try {
    return readdirSync(library).some((name) => name.startsWith('libparley.so'));
  } catch {
    return false;
  }
})();

for (const [compiler, standard, suffix] of [['cc', 'c99', 'c'], ['c++', 'c++11', 'cc']]) {
  test(`the header is clean ${standard}`, { skip: missing(compiler) }, () => {
    const source = file(`header.${suffix}`, '#include <parley/parley.h>\nint main(void) { return parley_version() == 0; }\n');
    const result = spawnSync(compiler, [`-std=${standard}`, '-pedantic-errors', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
      `-I${header}`, source], { encoding: 'utf8' });
    assert.equal(result.stderr, '');
    assert.equal(result.status, 0);
  });
}

test('the example of the guide compiles against the shared library and runs',
  { skip: missing('cc') || (isBuilt ? false : 'the library is not built beside the program') }, () => {
    const program = join(directory, 'validate');
    const source = join(root, 'docs', 'guide', 'validate.c');
    const built = spawnSync('cc', ['-std=c99', '-pedantic-errors', '-Wall', '-Wextra', '-Werror', `-I${header}`, source,
      `-L${library}`, `-Wl,-rpath,${library}`, '-lparley', '-o', program], { encoding: 'utf8' });
    assert.equal(built.stderr, '');
    const check = (...files) => spawnSync(program, files.map((name) => join(examples, name)), { encoding: 'utf8' });
    const valid = check('order.schema.json', 'order.json');
    assert.match(valid.stdout, /order\.json: ok\n$/);
    assert.equal(valid.status, 0);
    const invalid = check('order.schema.json', 'envelope.json');
    assert.equal(invalid.status, 1);
    assert.match(invalid.stdout, /envelope\.json: \{"valid":false,"errors":\[\{"pointer":/);
    const torn = check('order.schema.json', 'settings.jsonc');
    assert.equal(torn.status, 2);
    assert.match(torn.stderr, /settings\.jsonc:2:3: /);
  });

test('the shared library exports the public functions and nothing else', { skip: missing('nm') || (isBuilt ? false : 'not built') }, () => {
  const names = spawnSync('nm', ['-D', '--defined-only', join(library, 'libparley.so')], { encoding: 'utf8' }).stdout
    .trim().split('\n').map((line) => line.split(' ').at(-1)).filter((name) => !name.startsWith('PARLEY_'));
  const declared = [...readFileSync(join(header, 'parley', 'parley.h'), 'utf8').matchAll(/^PARLEY_API [^(]*?(parley_\w+)\(/gm)]
    .map((match) => match[1]);
  assert.deepEqual(names.map((name) => name.split('@')[0]).sort(), [...new Set(declared)].sort());
});
