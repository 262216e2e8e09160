// The audit log records who did what, and a changed, removed or inserted row is detected.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdtempSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const rows = async (at, key = at.key) => (await at.ask('GET', '/api/audit', { key })).json.items;
const sealed = (at) => until(async () => (await rows(at)).every((row) => row.hash), () => 'rows are not sealed');
const verify = (at, key = at.key) => at.ask('GET', '/api/audit/verify', { key });

async function fill(at) {
  const post = async (path, body) => (await at.ask('POST', path, { body })).json;
  const ada = await post('/api/users', { name: 'ada' });
  const key = await post(`/api/users/${ada.id}/api-keys`, { name: 'k', scope: 'read' });
  await at.ask('PATCH', `/api/users/${ada.id}/api-keys/${key.id}`, { body: { limits: { rpm: 4 } } });
  const turned = await post(`/api/users/${ada.id}/api-keys/${key.id}/rotate`, {});
  await at.ask('PATCH', `/api/users/${ada.id}`, { body: { is_disabled: true } });
  await at.ask('DELETE', `/api/users/${ada.id}/api-keys/${key.id}`);
  const session = await post('/api/sessions', {});
  await post(`/api/sessions/${session.id}/share`, {});
  await at.raw('GET', `/api/sessions/${session.id}/export`);
  await at.ask('DELETE', `/api/users/${ada.id}`);
  return { ada, key, turned, session };
}

test('signing in is told, and what it was done with is not', async () => {
  const at = await start();
  const key = (await at.ask('POST', '/api/user/api-keys', { body: { name: 'mine' } })).json;
  assert.equal((await at.ask('POST', '/api/login', { body: { key: key.plaintext, cookie: true }, key: null })).status, 201);
  const all = await rows(at);
  assert.equal(all[0].action, 'sign_in');
  for (const secret of [key.plaintext, at.key, at.code]) assert.ok(!secret || !JSON.stringify(all).includes(secret.slice(13)), 'a secret is in the log');
  assert.deepEqual(all.find((row) => row.object === key.id).detail, { name: 'mine' });
  await at.stop();
});

test('every change of access is told, without a secret, by whom and with which key', async () => {
  const at = await start();
  const { ada, key, turned, session } = await fill(at);
  const me = (await at.ask('GET', '/api/me')).json;
  const all = (await until(async () => { const got = await rows(at); return got.some((row) => row.action === 'session.export') && got; }, () => 'the export is not told')).reverse();
  assert.deepEqual(all.map((row) => row.action), ['key.create', 'user.create', 'key.create', 'key.create', 'key.change', 'key.rotate', 'user.change', 'key.revoke', 'session.share', 'session.export', 'user.erase']);
  const change = all.find((row) => row.action === 'key.change');
  assert.deepEqual([change.object, change.user_id, change.key_id, change.detail], [key.id, me.id, me.key_id, { limits: { rpm: 4 } }]);
  assert.equal(all.at(-1).object, ada.id);
  assert.equal(all.find((row) => row.action === 'session.export').object, session.id);
  const text = JSON.stringify(all);
  for (const secret of [ada.key.plaintext, key.plaintext, turned.plaintext, at.key]) assert.ok(!text.includes(secret.slice(13)));
  // Pages by cursor; only administrators may read them.
  const seen = [];
  for (let cursor = ''; cursor !== null;) {
    const page = (await at.ask('GET', `/api/audit?limit=2${cursor && `&cursor=${cursor}`}`)).json;
    seen.push(...page.items.map((row) => row.number));
    cursor = page.next_cursor;
  }
  assert.deepEqual(seen, all.map((row) => row.number).reverse());
  const bob = (await at.ask('POST', '/api/users', { body: { name: 'bob' } })).json.key.plaintext;
  for (const path of ['/api/audit', '/api/audit/verify']) assert.equal((await at.ask('GET', path, { key: bob })).status, 403);
  await sealed(at);
  assert.deepEqual((await verify(at)).json, { chain_ok: true, rows: all.length + 2, unsealed: 0, broken_at: null, problem: null });
  assert.match(run(['audit', 'verify', '--data', at.data]).err, /whole: 13 rows/);
  assert.match(run(['audit', 'list', '--limit', '3', '--data', at.data]).out, /user\.create/);
  // Without an action the command lists the rows, with their changes.
  const listed = run(['audit', '--limit', '3', '--data', at.data]);
  assert.equal(listed.out, run(['audit', 'list', '--limit', '3', '--data', at.data]).out);
  assert.match(listed.out, /^NUMBER .* DETAIL\n[^]*\{"/);
  await at.stop();
  // After a restart the log continues.
  const again = await start({ data: at.data, login: false });
  again.key = at.key;
  await again.ask('POST', '/api/users', { body: { name: 'cleo' } });
  await sealed(again);
  assert.equal((await verify(again)).json.chain_ok, true);
  await again.stop();
});

const damages = {
  'a changed row': "UPDATE audit SET detail = '{}' WHERE number = 4",
  'a changed actor': "UPDATE audit SET user_id = 'user_x' WHERE number = 3",
  'a removed row': 'DELETE FROM audit WHERE number = 5',
  'the last row removed': 'DELETE FROM audit WHERE number = (SELECT max(number) FROM audit)',
  'all rows removed': 'DELETE FROM audit',
  'a row put in': "UPDATE audit SET number = number + 1000 WHERE number > 5; UPDATE audit SET number = number - 999 WHERE number > 1000; INSERT INTO audit SELECT 6, at_ms, user_id, key_id, 'key.create', object, detail, hash FROM audit WHERE number = 4",
  'two rows in the other order': "UPDATE audit SET action = (SELECT action FROM audit AS b WHERE b.number = CASE audit.number WHEN 3 THEN 5 ELSE 3 END) WHERE number IN (3, 5)",
};

test('damage is found', async () => {
  const at = await start();
  await fill(at);
  await sealed(at);
  await at.stop();
  for (const [name, sql] of Object.entries(damages)) {
    const dir = mkdtempSync(join(directory, 'audit-'));
    cpSync(at.data, dir, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    const python = spawnSync('python3', ['-c', 'import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.executescript(sys.argv[2])\ndb.commit()', join(dir, 'parley.db'), sql], { encoding: 'utf8' });
    assert.equal(python.status, 0, python.stderr);
    const damaged = await start({ data: dir, login: false });
    const answer = await verify(damaged, at.key);
    assert.equal(answer.json.chain_ok, false, `${name}: ${answer.text}`);
    assert.ok(answer.json.broken_at && answer.json.problem, name);
    const { code, err } = run(['audit', 'verify', '--data', dir]);
    assert.equal(code, 1, name);
    assert.match(err, /broken at row/);
    await damaged.stop();
  }
});

test('a restore is told in the store that was restored', async () => {
  const at = await start();
  await at.stop();
  const copy = join(directory, 'copy.db');
  copyFileSync(join(at.data, 'parley.db'), copy);
  assert.equal(run(['restore', copy, '--yes', '--data', at.data]).code, 0);
  const again = await start({ data: at.data, login: false });
  assert.equal((await rows(again, at.key))[0].action, 'store.restore');
  assert.equal((await verify(again, at.key)).json.chain_ok, true);
  await again.stop();
});
