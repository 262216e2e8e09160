// Servers that are refused memory, by a shim before libc (fail_malloc.c).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { directory, has, parley, root } from './harness.mjs';
import { endsWell, serve as serveData } from './live.mjs';

export const sanitized = spawnSync('sh', ['-c', 'nm "$0" 2>/dev/null | grep -qE "__(a|t)san_init"', parley]).status === 0;
export const noShim = sanitized || !has('cc') ? 'needs a compiler and a program without sanitizers' : false;

// The shim that refuses memory to the program, or counts how often it asks for some.
function failing() {
  const library = join(directory, 'fail_malloc.so');
  const made = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(root, 'tests/e2e/fail_malloc.c')],
    { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}

// Allocations until a server has answered its first request: then all its threads have begun.
async function countStart(begin, library, own) {
  const file = join(directory, 'allocations');
  const server = await begin({ ...own, LD_PRELOAD: library, FAIL_COUNT: file });
  assert.equal((await server.raw('GET', '/healthz', { key: null })).status, 200);
  const count = Number(readFileSync(file).readBigInt64LE());
  await endsWell(server);
  assert.ok(count > 1000, `${count} allocations: the shim does not see them`);
  return count;
}

// Has `work` done by `n` servers, one after another, that are refused memory from around the end of their start, each
// a little later than the one before, at these paces in turn. Some do not begin to serve; none may crash. `begin` starts
// one with an environment; without it, one with this data.
export async function starve({ data, key, n, paces, env: own = {}, begin = (env) => serveData({ data, env, login: false }) }, work) {
  const library = failing();
  const soon = await countStart(begin, library, own) - 200;
  let nServed = 0;
  for (let i = 0; i < n; i++) {
    const [from, every] = [soon + i * 53, paces[i % paces.length]];
    const server = await begin({ ...own, LD_PRELOAD: library, FAIL_FROM: String(from), FAIL_EVERY: String(every) }).catch(() => null);
    if (!server) continue; /* it said that it could not start */
    server.key = key;
    nServed++;
    await work(server, i);
    const { code, signal } = await server.stop();
    assert.equal(signal, null, `memory refused from ${from} every ${every}: ${server.err.slice(-2000)}`);
    assert.ok([0, 4].includes(code), `exit ${code}`);
  }
  assert.ok(nServed > n / 2, `${nServed} of ${n} servers began to serve`);
}
