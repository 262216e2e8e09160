// Runs servers whose allocations fail, with a shim loaded before libc (fail_malloc.c).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { directory, has, parley, root } from './harness.mjs';
import { endsWell, serve as serveData } from './live.mjs';

export const sanitized = spawnSync('sh', ['-c', 'nm "$0" 2>/dev/null | grep -qE "__(a|t)san_init"', parley]).status === 0;
export const noShim = sanitized || !has('cc') ? 'needs a compiler and a program without sanitizers' : false;

// Builds the shim that makes allocations of the program fail, or counts them.
function failing() {
  const library = join(directory, 'fail_malloc.so');
  const made = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(root, 'tests/e2e/fail_malloc.c')],
    { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}

// The number of allocations until a server has answered its first request: then all its threads run.
async function countStart(begin, library, own) {
  const file = join(directory, 'allocations');
  const server = await begin({ ...own, LD_PRELOAD: library, FAIL_COUNT: file });
  assert.equal((await server.raw('GET', '/healthz', { key: null })).status, 200);
  const count = Number(readFileSync(file).readBigInt64LE());
  await endsWell(server);
  assert.ok(count > 1000, `${count} allocations: the shim does not see them`);
  return count;
}

// Runs `work` with `n` servers, one after another. Allocations start to fail around the end of the server's start, a
// little later for each server, at the given paces in turn. Some servers do not start; none may crash. `begin` starts
// one with an environment; by default, one with this data.
export async function starve({ data, key, n, paces, env: own = {}, begin = (env) => serveData({ data, env, login: false }) }, work) {
  const library = failing();
  const soon = await countStart(begin, library, own) - 200;
  let nServed = 0;
  for (let i = 0; i < n; i++) {
    const [from, every] = [soon + i * 53, paces[i % paces.length]];
    const server = await begin({ ...own, LD_PRELOAD: library, FAIL_FROM: String(from), FAIL_EVERY: String(every) }).catch(() => null);
    if (!server) continue; /* it reported that it could not start */
    server.key = key;
    nServed++;
    await work(server, i);
    const { code, signal } = await server.stop();
    assert.equal(signal, null, `memory refused from ${from} every ${every}: ${server.err.slice(-2000)}`);
    assert.ok([0, 4].includes(code), `exit ${code}`);
  }
  assert.ok(nServed > n / 2, `${nServed} of ${n} servers began to serve`);
}
