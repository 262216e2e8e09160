// Runs the real program. PARLEY names the binary; by default the one `make` builds.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SAFETY_MS } from './waiting.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const parley = process.env.PARLEY ?? join(root, 'build', 'parley');
export const examples = join(root, 'docs', 'guide', 'examples');

// The caller's environment does not affect the output.
const plainEnv = { PATH: process.env.PATH, HOME: process.env.HOME ?? '/', LC_ALL: 'C.UTF-8', TERM: 'xterm', TZ: 'UTC' };

function answer(result) {
  // A program that refuses its command line need not read its input.
  if (result.error && result.error.code !== 'EPIPE') throw result.error;
  return { code: result.status, signal: result.signal, out: result.stdout, err: result.stderr };
}

// Runs parley ARGS, with `input` as standard input.
export function run(args, { input = '', env = {}, cwd } = {}) {
  return answer(spawnSync(parley, args, {
    input, cwd, encoding: 'utf8', env: { ...plainEnv, ...env }, maxBuffer: 1 << 28, timeout: SAFETY_MS,
  }));
}

// Runs a line of sh in which $P is the program.
export function shell(line, { input = '', env = {}, cwd, program = 'sh' } = {}) {
  return answer(spawnSync(program, ['-c', line], {
    input, cwd, encoding: 'utf8', env: { ...plainEnv, ...env, P: parley }, maxBuffer: 1 << 28, timeout: SAFETY_MS,
  }));
}

export function has(program) {
  return spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0;
}

// The reason to skip a test whose program is missing, or false.
export const missing = (program) => !has(program) && `${program} is not installed`;

// GNU time reports peak memory.
export const noTime = !(has('time') && spawnSync('/usr/bin/time', ['-f', 'x', 'true']).status === 0) && 'GNU time is not installed';

// A directory for each test file, removed at the end.
const made = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
after(() => rmSync(made, { recursive: true, force: true }));

export function file(name, content = '') {
  const path = join(made, name);
  writeFileSync(path, content);
  return path;
}
export const directory = made;
