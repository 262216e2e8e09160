// People sign in with the one-time link or a key, and get a cookie: no script can read it, no other site can use it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const cookieOf = (answer) => answer.headers['set-cookie'][0].split(';')[0];
const signIn = (at, body) => at.ask('POST', '/api/login', { body: { ...body, cookie: true }, key: null });
const by = (cookie, more = {}) => ({ key: null, headers: { cookie, ...more } });

test('the one-time link gives a cookie, and a change needs the token', async () => {
  const at = await start({ login: false });
  const signed = await signIn(at, { code: at.code });
  assert.equal(signed.status, 201, signed.text);
  assert.equal(signed.json.plaintext, null);
  assert.equal(signed.json.is_login, true);
  const [set] = signed.headers['set-cookie'];
  assert.match(set, new RegExp(`^parley-${at.port}=`));
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) assert.ok(set.includes(part), set);
  assert.ok(!signed.text.includes(cookieOf(signed).split('=')[1]));
  const cookie = cookieOf(signed);
  const me = (await at.ask('GET', '/api/me', by(cookie))).json;
  assert.equal(me.acts_as_admin, true);
  assert.equal(me.csrf.length, 43);
  const change = (more) => at.ask('POST', '/api/users', { body: { name: 'ada' }, ...by(cookie, more) });
  for (const more of [{}, { 'x-parley-csrf': 'x'.repeat(43) }, { 'x-parley-csrf': '' }]) {
    const refused = await change(more);
    assert.equal(refused.status, 403);
    assert.match(refused.json.detail, /X-Parley-CSRF/);
  }
  assert.equal((await change({ 'x-parley-csrf': me.csrf })).status, 201);
  assert.equal((await change({ 'x-parley-csrf': me.csrf, origin: 'https://evil.example' })).status, 403);
  // The code was used; the secret of a cookie is not a key, and a key is not a cookie.
  assert.equal((await signIn(at, { code: at.code })).status, 401);
  assert.equal((await at.ask('GET', '/api/me', { key: cookie.split('=')[1] })).status, 401);
  await at.stop();
  // A restart keeps it.
  const again = await start({ data: at.data, login: false, args: ['--port', `${at.port}`] });
  assert.equal((await again.ask('GET', '/api/me', by(cookie))).json.csrf, me.csrf);
  await again.stop();
});

test('a key is exchanged for a cookie that may do the same, unless it is restricted', async () => {
  const at = await start();
  const ada = (await at.ask('POST', '/api/users', { body: { name: 'ada' } })).json;
  const signed = await signIn(at, { key: ada.key.plaintext });
  const cookie = cookieOf(signed);
  const me = (await at.ask('GET', '/api/me', by(cookie))).json;
  assert.deepEqual([me.id, me.acts_as_admin], [ada.id, false]);
  assert.equal((await at.ask('GET', '/api/users', by(cookie))).status, 403);
  assert.equal((await at.ask('GET', '/api/me', by(`${cookie.split('=')[0]}=${ada.key.plaintext}`))).status, 401);
  const token = { 'x-parley-csrf': me.csrf };
  const narrow = (await at.ask('POST', '/api/user/api-keys', { body: { name: 'n', scope: 'read' }, ...by(cookie, token) })).json;
  assert.equal((await signIn(at, { key: narrow.plaintext })).status, 403);
  assert.equal((await at.ask('POST', '/api/login', { body: { key: ada.key.plaintext }, key: null })).status, 400);
  assert.equal((await signIn(at, { key: 'sk-parley-v1-nothing' })).status, 401);
  for (const body of [{}, { cookie: true }, { key: 'a', code: 'b', cookie: true }]) assert.equal((await at.ask('POST', '/api/login', { body, key: null })).status, 400);
  // Other cookies in the same header do no harm.
  assert.equal((await at.ask('GET', '/api/me', by(`a=b; ${cookie}; x${cookie}=z`))).status, 200);
  await at.stop();
});

test('signing out, revoking and disabling end a sign-in', async () => {
  const at = await start();
  const ada = (await at.ask('POST', '/api/users', { body: { name: 'ada' } })).json;
  const sign = async () => { const cookie = cookieOf(await signIn(at, { key: ada.key.plaintext })); return { cookie, me: (await at.ask('GET', '/api/me', by(cookie))).json }; };
  const [one, two, three] = [await sign(), await sign(), await sign()];
  const logins = async () => (await at.ask('GET', '/api/user/api-keys', { key: ada.key.plaintext })).json.items.filter((key) => key.is_login).map((key) => key.id).sort();
  assert.deepEqual(await logins(), [one, two, three].map(({ me }) => me.key_id).sort());
  assert.equal((await at.ask('POST', '/api/logout', by(one.cookie))).status, 403);
  const out = await at.ask('POST', '/api/logout', by(one.cookie, { 'x-parley-csrf': one.me.csrf }));
  assert.equal(out.status, 204);
  assert.match(out.headers['set-cookie'][0], /Max-Age=0/);
  assert.match((await at.ask('GET', '/api/me', by(one.cookie))).json.detail, /sign in again/);
  assert.equal((await at.ask('POST', '/api/logout', { key: ada.key.plaintext })).status, 409);
  await at.ask('DELETE', `/api/user/api-keys/${two.me.key_id}`, { key: ada.key.plaintext });
  assert.equal((await at.ask('GET', '/api/me', by(two.cookie))).status, 401);
  assert.equal((await at.ask('GET', '/api/me', by(three.cookie))).status, 200);
  await at.ask('PATCH', `/api/users/${ada.id}`, { body: { is_disabled: true } });
  assert.equal((await at.ask('GET', '/api/me', by(three.cookie))).status, 401);
  const actions = JSON.parse(run(['audit', 'list', '--json', '--data', at.data]).out).items.map((row) => row.action);
  for (const action of ['sign_in', 'sign_out']) assert.ok(actions.includes(action), action);
  await at.stop();
});

test('behind a proxy that does TLS the cookie is a __Host- cookie', async () => {
  const at = await start({ args: ['--behind-proxy'] });
  const [set] = (await signIn(at, { key: at.key })).headers['set-cookie'];
  assert.match(set, /^__Host-parley-\d+=/);
  assert.match(set, /; Secure$/);
  await at.stop();
});

test('sign-ins count towards no quota, and those that have ended are deleted', async () => {
  const at = await start();
  const ada = (await at.ask('POST', '/api/users', { body: { name: 'ada' } })).json;
  const more = (name, body = {}) => at.ask('POST', '/api/user/api-keys', { body: { name, ...body }, key: ada.key.plaintext });
  const second = (await more('second', { expires_at: '2999-01-01T00:00:00Z' })).json;
  // A limit below the current number.
  const limited = await at.ask('PATCH', `/api/users/${ada.id}`, { body: { limits: { max_keys: 1 } } });
  assert.equal(limited.status, 200, limited.text);
  const cookies = [];
  for (let i = 0; i < 4; i++) {
    const signed = await signIn(at, { key: ada.key.plaintext });
    assert.equal(signed.status, 201, signed.text);
    cookies.push({ cookie: cookieOf(signed), id: signed.json.id });
  }
  assert.equal((await more('third')).status, 409);
  await at.stop();
  // Two sign-ins expire while the server is off, and so does a key.
  const sql = `UPDATE api_keys SET expires_ms = 1000 WHERE name = 'second' OR id IN (SELECT id FROM api_keys WHERE is_login = 1 ORDER BY id LIMIT 2)`;
  const python = (code) => spawnSync('python3', ['-c', `import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n${code}\ndb.commit()`, join(at.data, 'parley.db'), sql], { encoding: 'utf8' });
  assert.equal(python('db.execute(sys.argv[2])').status, 0);
  const again = await start({ data: at.data, login: false, args: ['--port', `${at.port}`] });
  const listed = async () => (await again.ask('GET', '/api/user/api-keys', { key: ada.key.plaintext })).json.items.map(({ id }) => id).sort();
  await until(async () => (await listed()).length === 4, 'the care of the start');
  assert.deepEqual(await listed(), [ada.key.id, second.id, cookies[2].id, cookies[3].id].sort());
  for (const [i, { cookie }] of cookies.entries()) assert.equal((await again.ask('GET', '/api/me', by(cookie))).status, i < 2 ? 401 : 200);
  await again.stop();
  assert.equal(python('print(db.execute("SELECT count(*) FROM api_keys WHERE is_login = 1 AND expires_ms = 1000").fetchone()[0])').stdout.trim(), '0');
});
