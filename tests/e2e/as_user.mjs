// node as_user.mjs FILE: runs a test file as a real unprivileged user, with the server and all other processes it starts.
// For tests run as root: neither the process limit nor file ownership restricts root.
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const USER = 61000; // an unused id; root's cells use others (--ext-uids)
const file = process.argv[2];

function skip(why) {
  console.log(`TAP version 13\n1..0 # SKIP ${why}`);
  process.exit(0);
}

if (process.getuid() !== 0) skip('not root: the suite itself runs as a user');
const as = { uid: USER, gid: USER };
for (const path of [process.execPath, file, process.env.PARLEY]) {
  if (path && spawnSync('test', ['-r', path], as).status !== 0) skip(`another user cannot read ${path}`);
}
const home = mkdtempSync(join(tmpdir(), 'parley-user-'));
chownSync(home, USER, USER);
try {
  const { status } = spawnSync(process.execPath, ['--test-reporter=tap', file], { ...as, stdio: 'inherit', cwd: home, env: { ...process.env, HOME: home, TMPDIR: home } });
  process.exitCode = status ?? 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
