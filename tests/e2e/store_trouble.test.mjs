// Errors of the store: they are honest, and do not reveal its address or its users.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { parley, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const SECRET = 's3cr3t-p4ss';

function directory(t) {
  const path = mkdtempSync(join(tmpdir(), 'parley-trouble-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

test('a file that may not grow is a full disk: 507, reads go on, and it works again', { skip: !hasPrlimit && 'prlimit is not installed' }, async (t) => {
  const server = await start({ before: ['prlimit', '--fsize=2000000:unlimited'] });
  t.after(() => server.stop('SIGKILL'));
  const made = [];
  let full;
  for (let i = 0; !full; i++) {
    assert.ok(i < 10_000, 'the limit is never reached');
    const answer = await server.raw('POST', '/api/prompts', { body: { name: `p${i}`, content: 'x'.repeat(100_000) } });
    if (answer.status === 201) made.push(answer.json.id);
    else full = answer;
  }
  assert.equal(full.status, 507, full.text);
  assert.equal(full.json.code, 'storage_full');
  assert.ok(Number(full.headers['retry-after']) >= 1);
  assert.ok(made.length > 0);
  for (const id of made) assert.equal((await server.raw('GET', `/api/prompts/${id}`)).status, 200);
  assert.equal(server.child.exitCode, null);
  assert.equal(spawnSync('prlimit', ['--pid', String(server.child.pid), '--fsize=unlimited:unlimited']).status, 0);
  await until(async () => (await server.raw('POST', '/api/prompts', { body: { name: 'again', content: 'y' } })).status === 201, 'it can be written again');
  assert.equal((await server.stop()).code, 0);
});

test('a data directory that cannot be written to is not said to be another server', { skip: !hasPrlimit && 'setpriv is not installed' }, async (t) => {
  const data = directory(t);
  const server = await start({ data });
  await server.stop('SIGKILL'); // its socket file remains
  const isRoot = process.getuid() === 0;
  chmodSync(data, isRoot ? 0o755 : 0o500);
  for (const name of ['parley.sock', 'parley.db', 'parley.db-lock']) try { chmodSync(join(data, name), 0o666); } catch { /* not there */ }
  const words = ['serve', '--port', '0', '--data', data];
  const { status, stderr } = isRoot
    ? spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', parley, ...words], { encoding: 'utf8', timeout: 60_000 })
    : spawnSync(parley, words, { encoding: 'utf8', timeout: 60_000 });
  chmodSync(data, 0o700);
  assert.notEqual(status, 0);
  assert.doesNotMatch(stderr, /another server/);
  assert.match(stderr, /Permission denied|Read-only file system/);
});

test('the password of a database is shown nowhere', async (t) => {
  const data = directory(t);
  for (const url of [`postgres://someone:${SECRET}@localhost:1/db`, `postgres://localhost:1/db?user=someone&password=${SECRET}`]) {
    for (const more of [[], ['--json']]) {
      const shown = run(['serve', '--print-config', ...more, '--data', data, '--store', url]);
      assert.equal(shown.code, 0, shown.err);
      assert.ok(!shown.out.includes(SECRET), shown.out);
      assert.match(shown.out, /\*\*\*/);
    }
    const failed = run(['serve', '--port', '0', '--data', data, '--store', url]);
    assert.notEqual(failed.code, 0);
    assert.ok(!(failed.out + failed.err).includes(SECRET), failed.err);
  }
  const file = join(data, 'config.json');
  writeFileSync(file, JSON.stringify({ store: `postgres://someone:${SECRET}@localhost:1/db` }));
  const shown = run(['serve', '--print-config', '--data', data, '--config', file]);
  assert.ok(!shown.out.includes(SECRET), shown.out);
  const missing = run(['serve', '--port', '0', '--data', data, '--store', 'postgres://localhost:1/db'], { env: { PARLEY_STORE_PASSWORD_FILE: join(data, 'none') } });
  assert.notEqual(missing.code, 0);
});

const postgres = process.env.PARLEY_TEST_POSTGRES;
test('a password on the command line is gone from the list of processes', { skip: !postgres && 'run it by tests/contract/with_postgres' }, async (t) => {
  const url = new URL(postgres.replace('postgres://postgres@/', 'postgres://postgres@h/'));
  const host = url.searchParams.get('host');
  const server = await start({ args: ['--store', `postgres://postgres:${SECRET}@/postgres?host=${host}`] });
  t.after(() => server.stop('SIGKILL'));
  const words = readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8');
  assert.ok(words.includes('postgres://postgres:'), words);
  assert.ok(!words.includes(SECRET), words);
  assert.ok(!(server.out + server.err).includes(SECRET));
  await server.stop();
});

// The bodies for routes where only a valid body reaches the store.
const bodies = {
  'POST /api/sessions': {}, 'POST /api/sessions/{id}/chat': { message: 'hello' }, 'PATCH /api/sessions/{id}': { intent: 'x' },
  'POST /api/prompts': { name: 'other', content: 'x' }, 'PATCH /api/prompts/{id}': { name: 'x' }, 'POST /api/prompts/{id}/versions': { content: 'x' },
  'POST /api/memories': { content: 'x' }, 'POST /api/memories/search': { query: 'x' },
  'POST /api/scheduled-tasks': { title: 't', cron: '0 0 1 1 *', prompt: 'x' }, 'POST /api/users': { name: 'x' },
  'POST /api/user/api-keys': { name: 'x' }, 'POST /v1/chat/completions': { model: 'demo/echo', messages: [{ role: 'user', content: 'x' }] },
};

test('no answer of any route speaks of SQL, and the log does', { skip: !postgres && 'run it by tests/contract/with_postgres' }, async (t) => {
  const url = `${postgres}&options=-csearch_path%3Dlost_and_found`; // a separate schema
  const psql = (sql) => {
    const { status, stdout, stderr } = spawnSync('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', sql, url.replace(/^postgres:/, 'postgresql:')], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout.trim().split('\n');
  };
  psql('CREATE SCHEMA lost_and_found');
  const server = await start({ args: ['--store', url] });
  t.after(() => server.stop('SIGKILL'));
  const made = async (path, body) => (await server.ask('POST', path, { body })).json.id;
  const own = { sessions: await made('/api/sessions', {}), prompts: await made('/api/prompts', { name: 'p', content: 'x' }), memories: await made('/api/memories', { content: 'x' }), 'scheduled-tasks': await made('/api/scheduled-tasks', { title: 't', cron: '0 0 1 1 *', prompt: 'x' }) };
  const { paths } = (await server.raw('GET', '/openapi.json', { key: null })).json;
  const tables = psql("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('commits', 'schema_version')");
  const rename = (from, to) => psql(tables.map((name) => `ALTER TABLE ${from(name)} RENAME TO ${to(name)};`).join(' '));
  const lost = (name) => `lost_${name}`, found = (name) => name;
  rename(found, lost);
  let nFailed = 0;
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods).map((word) => word.toUpperCase())) {
      // Streams that never end.
      if (/\/(events|ws|connect)$/.test(path)) continue;
      const resource = path.match(/^\/api\/([a-z-]+)\/\{/)?.[1];
      const place = path.replace(/\{(\w+)\}/g, (_, name) => (name === 'id' && own[resource]) || (['version', 'other'].includes(name) ? '1' : 'nothing'));
      const hasBody = !['GET', 'DELETE'].includes(method);
      const { status, text } = await server.raw(method, place, hasBody ? { body: bodies[`${method} ${path}`] ?? {} } : {});
      if (status < 500) continue;
      nFailed++;
      assert.doesNotMatch(text, /SQL|relation|column|constraint|SELECT|INSERT|UPDATE|DELETE FROM|lost_|pg_/, `${method} ${path}: ${status}`);
    }
  rename(lost, found);
  assert.ok(nFailed > 30, `${nFailed} answers were failures of the store`);
  await server.logged('relation');
  assert.equal(server.child.exitCode, null);
  await until(async () => (await server.raw('GET', `/api/prompts/${own.prompts}`)).status === 200, 'it can be read again');
});
