// Deleted data is gone, backups can be restored, and keys of providers are stored nowhere.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { run } from './harness.mjs';
import { configure, Gated } from './gated.mjs';
import { clientOf, endsWell, serve, settled, until } from './live.mjs';

const MINUTES = 180_000;

function directory(t) {
  const dir = mkdtempSync(join(tmpdir(), 'parley-care-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function begin(t, { config = '', data = directory(t), ...rest } = {}) {
  configure(data, `probe: false\n${config}`);
  const server = await serve({ data, ...rest });
  t.after(() => server.stop('SIGKILL'));
  return server;
}

// The files below a directory that contain the text.
function filesWith(dir, text) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

test('what was deleted for good leaves nothing in the files of the store: a session, a memory, a blob', async (t) => {
  const server = await begin(t);
  const client = clientOf(server);
  const marks = { session: 'zanzibar-7f1c-secret-of-a-session', memory: 'ouagadougou-9d2e-secret-of-a-memory', blob: 'antananarivo-3b4a-secret-of-a-blob' };
  const { id } = await client.createSession({ model: 'demo/echo', intent: marks.session });
  await client.chat(id, { message: `${marks.session} ${'and more words '.repeat(2000)}` });
  await settled(client, id);
  const memory = (await server.ask('POST', '/api/memories', { body: { content: marks.memory } })).json;
  const blob = (await server.ask('POST', '/api/blobs', { body: Buffer.from(`${marks.blob} `.repeat(5000)), headers: { 'content-type': 'text/plain' } })).json;
  for (const mark of Object.values(marks)) assert.ok(filesWith(server.data, mark).length, `${mark} is stored`);
  assert.equal((await server.ask('DELETE', `/api/sessions/${id}`)).status, 204);
  assert.equal((await server.ask('DELETE', `/api/memories/${memory.id}`)).status, 204);
  assert.equal((await server.ask('DELETE', `/api/blobs/${blob.id}`)).status, 204);
  assert.equal((await server.ask('DELETE', `/api/deleted/${id}`)).status, 204);
  assert.equal((await server.ask('DELETE', '/api/deleted')).status, 204);
  for (const mark of Object.values(marks)) await until(() => !filesWith(server.data, mark).length, `${mark} is gone from the files`, MINUTES);
  await endsWell(server);
});

test('the keys of providers are never stored', async (t) => {
  const held = await new Gated().listen();
  held.open();
  t.after(() => held.close());
  const data = directory(t);
  const key = join(directory(t), 'held.key');
  const secrets = ['sk-from-a-file-5c1d', 'sk-from-the-environment-8e2f'];
  writeFileSync(key, secrets[0], { mode: 0o600 });
  const provider = (name, rest) => `  ${name}:\n    dialect: openai-chat\n    base_url: ${held.url}\n    ${rest}\n`;
  const server = await begin(t, {
    data, env: { HELD_KEY: secrets[1] }, args: ['--log-level', 'request'],
    config: `gateway_record: sessions\nproviders:\n${provider('file', `key_file: ${key}`)}${provider('env', 'key_env: HELD_KEY')}${provider('away', `key_file: ${key}`).replace(held.url, 'http://127.0.0.1:1')}`,
  });
  const client = clientOf(server);
  for (const model of ['file/one', 'env/one', 'away/one']) {
    const { id } = await client.createSession({ model });
    await client.chat(id, { message: 'hello' });
    await settled(client, id);
    await server.raw('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'hi' }] } });
  }
  assert.deepEqual([...new Set(held.keys)].sort(), secrets.map((secret) => `Bearer ${secret}`));
  const copy = join(directory(t), 'copy.db');
  assert.equal(run(['backup', copy, '--data', data], { env: { HOME: data, HELD_KEY: secrets[1] } }).code, 0);
  await endsWell(server);
  for (const secret of secrets) {
    assert.deepEqual(filesWith(data, secret), [], secret);
    assert.ok(!readFileSync(copy).includes(secret));
    assert.ok(!server.err.includes(secret));
  }
});

const stored = (dir) => readdirSync(dir).filter((name) => name.startsWith('parley-')).sort();

test('scheduled backups are made, the oldest go, and other files stay', async (t) => {
  const dir = join(directory(t), 'made', 'here');
  mkdirSync(dir, { recursive: true });
  const old = [1, 2, 3, 4].map((n) => `parley-2020010${n}T040000Z.db`);
  for (const name of [...old, 'parley-notes.txt', 'parley-20200105T040000Z.db.gz', 'other.db']) writeFileSync(join(dir, name), 'x');
  const data = directory(t);
  const config = `backup_dir: ${dir}\nbackup_every: 1d\nbackup_keep: 2\n`;
  const server = await begin(t, { data, config });
  await until(() => server.err.includes('a backup was made in '), 'a backup is made', MINUTES);
  const names = stored(dir).filter((name) => /Z\.db$/.test(name));
  assert.equal(names.length, 2);
  assert.equal(names[0], old[3]);
  assert.ok(['parley-notes.txt', 'parley-20200105T040000Z.db.gz', 'other.db'].every((name) => readdirSync(dir).includes(name)));
  const made = join(dir, names[1]);
  assert.equal(statSync(made).mode & 0o777, 0o600);
  assert.equal(run(['restore', '--check', made, '--data', data]).code, 0);
  await endsWell(server);
  // Another start finds the backup, and makes none before it is due.
  const again = await begin(t, { data, config });
  assert.equal(run(['backup', join(directory(t), 'mine.db'), '--data', data], { env: { HOME: data } }).code, 0);
  await endsWell(again);
  assert.ok(!again.err.includes('a backup was made'));
  assert.deepEqual(stored(dir).filter((name) => /Z\.db$/.test(name)), names);
});

test('a backup that cannot be made is told, and settings that cannot be are refused', async (t) => {
  const data = directory(t);
  const server = await begin(t, { data, config: `backup_dir: ${join(data, 'inside')}\nbackup_every: 6h\n` });
  await until(() => /the scheduled backup failed.*in the data directory/.test(server.err), 'the log says why', MINUTES);
  assert.equal((await server.ask('GET', '/healthz')).status, 200);
  await endsWell(server);
  for (const [env, said] of [
    [{ PARLEY_BACKUP_EVERY: '1d' }, /backup_every needs backup_dir/],
    [{ PARLEY_BACKUP_EVERY: 'daily', PARLEY_BACKUP_DIR: '/x' }, /backup_every .* must be off, or a time such as 30m, 6h, 1d or 2w, not "daily"/],
    [{ PARLEY_BACKUP_EVERY: '0d', PARLEY_BACKUP_DIR: '/x' }, /must be off/],
    [{ PARLEY_BACKUP_EVERY: '100001d', PARLEY_BACKUP_DIR: '/x' }, /must be off/],
    [{ PARLEY_BACKUP_KEEP: '0' }, /backup_keep .* whole number from 1/],
    [{ PARLEY_BACKUP_EVERY: '1d', PARLEY_BACKUP_DIR: '/x', PARLEY_STORE: 'postgres://h/d' }, /use its own tools/],
  ]) {
    const { code, err } = run(['serve', '--check-config'], { env });
    assert.equal(code, 2, JSON.stringify(env));
    assert.match(err, said);
  }
});

test('a restore is rehearsed without touching anything, also while the server runs', async (t) => {
  const server = await begin(t);
  const client = clientOf(server);
  const { id } = await client.createSession({ model: 'demo/echo' });
  await client.chat(id, { message: 'hello' });
  await settled(client, id);
  const dir = directory(t);
  const copy = join(dir, 'copy.db');
  const at = (...args) => run(['restore', ...args, '--data', server.data], { env: { HOME: server.data, TMPDIR: dir } });
  assert.equal(run(['backup', copy, '--data', server.data], { env: { HOME: server.data } }).code, 0);
  const before = readFileSync(copy);
  const good = at('--check', copy);
  assert.equal(good.code, 0, good.err);
  assert.match(good.err, /1 sessions with \d+ turns were checked; there are no problems/);
  assert.match(good.err, /copy\.db can be restored/);
  assert.deepEqual(readFileSync(copy), before);
  assert.deepEqual(readdirSync(dir), ['copy.db'], 'nothing is left behind');
  const told = JSON.parse(at('--check', copy, '--json').out);
  assert.deepEqual([told.ok, told.path, told.findings.length], [true, copy, 1]);
  // Restoring is refused while the server runs.
  const refused = at(copy, '--force');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /a server is using the data/);

  const sql = (path, text) => assert.equal(spawnSync('python3', ['-c', 'import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.execute(sys.argv[2])\ndb.commit()', path, text]).status, 0);
  const cases = {
    newer: (path) => sql(path, 'UPDATE schema_version SET version = version + 1000'),
    foreign: (path) => sql(path, 'PRAGMA application_id = 5'),
    orphans: (path) => sql(path, 'DELETE FROM users'),
    cut: (path) => truncateSync(path, 3000),
    text: (path) => writeFileSync(path, 'this is no database, though it is long enough to look like one'.repeat(20)),
  };
  for (const [name, spoil] of Object.entries(cases)) {
    const path = join(dir, `${name}.db`);
    writeFileSync(path, before);
    spoil(path);
    const { code, err } = at('--check', path);
    assert.notEqual(code, 0, `${name}: ${err}`);
    assert.ok(err.length > 20, name);
    assert.equal(JSON.parse(at('--check', path, '--json').out).ok, false, name);
    rmSync(path);
  }
  assert.match(at('--check', join(dir, 'none.db')).err, /none\.db/);
  assert.deepEqual(readdirSync(dir), ['copy.db'], 'nothing is left behind');
  await endsWell(server);
});

test('a point in time is restored from the stored backups', async (t) => {
  const dir = directory(t);
  const server = await begin(t, { config: `backup_dir: ${dir}\n` });
  const env = { HOME: server.data };
  const client = clientOf(server);
  const times = ['20260101T040000Z', '20260102T040000Z', '20260103T040000Z'];
  const ids = [];
  for (const time of times) {
    ids.push((await client.createSession({ model: 'demo/echo' })).id);
    assert.equal(run(['backup', join(dir, `parley-${time}.db`), '--data', server.data], { env }).code, 0);
  }
  await endsWell(server);
  const at = (...args) => run(['restore', ...args, '--data', server.data], { env });
  const listed = at('--list');
  assert.equal(listed.code, 0);
  assert.deepEqual(listed.out.trim().split('\n').map((line) => line.split(' ')[0]), ['2026-01-01T04:00:00Z', '2026-01-02T04:00:00Z', '2026-01-03T04:00:00Z']);
  assert.deepEqual(JSON.parse(at('--list', '--json').out).map((item) => item.path), times.map((time) => join(dir, `parley-${time}.db`)));
  // Existing data is replaced only with --force.
  const asked = at('--at', '2026-01-02T12:00:00Z');
  assert.equal(asked.code, 2);
  assert.match(asked.err, /--force \(or --yes\) replaces/);
  for (const [time, n] of [['2026-01-02T12:00:00Z', 2], ['2026-01-02', 2], ['2026-01-01T04:00:00Z', 1], ['2027-01-01T05:00:00+01:00', 3]]) {
    const made = at('--at', time, '--force');
    assert.equal(made.code, 0, made.err);
    const again = await begin(t, { data: server.data, login: false, config: `backup_dir: ${dir}\n` });
    again.key = server.key;
    const { items } = (await again.ask('GET', '/api/sessions')).json;
    assert.deepEqual(items.map((item) => item.id).sort(), ids.slice(0, n).sort(), time);
    await endsWell(again);
  }
  assert.equal(at('--at', '2025-12-31', '--from', dir).code, 1);
  assert.equal(at('--at', 'yesterday', '--from', dir).code, 2);
  assert.equal(at('--at', '2026-01-02', '--from', dir, '--check').code, 0);
  for (const wrong of [[], ['--list', 'x.db'], ['--at', '2026-01-02', 'x.db']]) assert.equal(at(...wrong).code, 2);
  assert.equal(run(['restore', '--list', '--data', directory(t)]).code, 2);
});
