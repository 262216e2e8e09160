// The pages about the library: every program in them exists as a file, compiles without warnings with the installed library, and prints
// the output on the page.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { directory, examples, missing, parley, root, shell } from './harness.mjs';

const guide = join(root, 'docs', 'guide');
const pages = readdirSync(guide).filter((name) => /^library.*\.md$/.test(name));
const programs = [...readdirSync(examples).filter((name) => name.endsWith('.c')).map((name) => join(examples, name)), join(guide, 'validate.c')];
const textOf = (page) => readFileSync(join(guide, page), 'utf8');

// The directory of the installed library, and the flags and variables for compilers and programs.
const installed = (() => {
  const to = join(directory, 'installed');
  const made = spawnSync('meson', ['install', '-C', dirname(parley), '--no-rebuild', '--quiet', '--destdir', to, '--tags', 'devel,runtime'], { encoding: 'utf8' });
  const found = spawnSync('find', [to, '-name', 'parley.pc'], { encoding: 'utf8' }).stdout.trim();
  return { said: `${made.error ?? ''}${made.stdout}${made.stderr}`, pkgconfig: dirname(found), to };
})();
const env = { PKG_CONFIG_PATH: installed.pkgconfig, PKG_CONFIG_SYSROOT_DIR: installed.to, LD_LIBRARY_PATH: dirname(installed.pkgconfig) };
const skip = missing('meson') || missing('cc') || missing('pkg-config');

test('the library installs with its header and a file for pkg-config', { skip }, () => {
  const { code, out } = shell('pkg-config --modversion parley', { env });
  assert.equal(code, 0, installed.said);
  const header = readFileSync(join(root, 'include', 'parley', 'parley.h'), 'utf8');
  assert.equal(out.trim(), header.match(/PARLEY_VERSION_STRING\s+"(.*)"/)[1]);
});

test('a program in a page is the file of that name, and every file is in a page', () => {
  const shown = pages.flatMap((page) => [...textOf(page).matchAll(/^```c\n([^]*?)^```$/gm)].map((match) => match[1]));
  for (const path of programs) assert.ok(shown.includes(readFileSync(path, 'utf8')), path);
  assert.equal(shown.length, programs.length);
});

for (const [compiler, flags, chosen] of [['cc', ['-std=c11'], programs], ['c++', ['-std=c++17', '-xc++'], programs.filter((path) => dirname(path) === examples)]])
  for (const path of chosen)
    test(`${path.slice(guide.length + 1)} compiles without a warning: ${compiler} ${flags[0]}`, { skip: skip || missing(compiler) }, () => {
      const { code, err } = shell(`${compiler} ${flags.join(' ')} -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags parley) '${path}'`, { env });
      assert.deepEqual([code, err], [0, '']);
    });

// [[command, expected output]] of one block.
function commandsOf(block) {
  const commands = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('$ ')) commands.push([line.slice(2), []]);
    else commands.at(-1)[1].push(line);
  }
  return commands.map(([command, lines]) => [command, lines.join('\n')]);
}

for (const page of pages) {
  const site = join(directory, page);
  mkdirSync(site);
  cpSync(examples, join(site, 'examples'), { recursive: true });
  cpSync(join(guide, 'validate.c'), join(site, 'validate.c'));
  [...textOf(page).matchAll(/^```console\n([^]*?)\n```$/gm)].forEach(([, block], index) => {
    test(`${page}, block ${index + 1}, is what happens`, { skip }, () => {
      for (const [command, expected] of commandsOf(block)) {
        const { out, err } = shell(command, { env, cwd: join(site, 'examples'), program: 'bash' });
        assert.equal(`${out}${err}`.trimEnd(), expected.trimEnd(), command);
      }
    });
  });
}
