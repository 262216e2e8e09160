// Users and their keys: roles, disabling, erasing, scopes, expiry, rotation. Changes to one user do not affect another.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { directory, root, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const WebSocket = createRequire(join(root, 'tests/sdk/package.json'))('ws');

// Opens a socket with a ticket, or with a key in its first message.
async function live(at, { key, ticket }) {
  const ws = new WebSocket(`${at.url.replace('http', 'ws')}/api/ws${ticket ? `?ticket=${ticket}` : ''}`);
  const waiting = new Map();
  const it = {
    code: 0,
    ask: (event, data = {}) => new Promise((resolve) => { const id = waiting.size + 1; waiting.set(id, resolve); ws.send(JSON.stringify({ id, event, data })); }),
    closed: () => until(() => it.code, () => 'the socket stays open'),
    close: () => ws.close(),
  };
  ws.onmessage = ({ data }) => { const frame = JSON.parse(data); if (frame.ack) waiting.get(frame.ack)?.(frame); };
  ws.onclose = ({ code }) => { it.code = code; };
  await new Promise((resolve, reject) => { ws.onopen = resolve; ws.onerror = () => reject(new Error('refused')); });
  if (key) assert.equal((await it.ask('auth', { key })).ok, true);
  return it;
}

let server;
before(async () => { server = await start(); });

const ok = async (method, path, body, key = server.key, status) => {
  const answer = await server.ask(method, path, { body, key });
  assert.equal(answer.status, status ?? (method === 'POST' ? 201 : 200), `${method} ${path}: ${answer.text}`);
  return answer.json;
};
const refused = async (status, method, path, body, key = server.key) => {
  const answer = await server.ask(method, path, { body, key });
  assert.equal(answer.status, status, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
};
const user = async (name, more = {}) => {
  const made = await ok('POST', '/api/users', { name, ...more });
  return { id: made.id, key: made.key.plaintext, keyId: made.key.id };
};
const userPath = (id) => `/api/users/${id}`;
const cli = (...words) => run([...words, '--data', server.data]);

test('a role is changed, and counts at once', async () => {
  const ada = await user('ada');
  await refused(403, 'GET', '/api/users', undefined, ada.key);
  const made = await ok('PATCH', userPath(ada.id), { is_admin: true });
  assert.equal(made.is_admin, true);
  // The first key was made for a member, so it keeps a member's rights.
  await refused(403, 'GET', '/api/users', undefined, ada.key);
  const boss = await ok('POST', `${userPath(ada.id)}/api-keys`, { name: 'boss', is_admin: true });
  assert.equal((await ok('GET', '/api/me', undefined, boss.plaintext)).acts_as_admin, true);
  await ok('GET', '/api/users', undefined, boss.plaintext);
  await ok('PATCH', userPath(ada.id), { is_admin: false });
  await refused(403, 'GET', '/api/users', undefined, boss.plaintext);
});

test('the last administrator stays one', async () => {
  const me = await ok('GET', '/api/me');
  for (const body of [{ is_admin: false }, { is_disabled: true }]) {
    const problem = await refused(409, 'PATCH', userPath(me.id), body);
    assert.match(problem.detail, /last administrator/);
  }
  assert.match((await refused(409, 'DELETE', userPath(me.id))).detail, /last administrator/);
  assert.equal((await ok('GET', '/api/me')).is_disabled, false);
  const { err, code } = cli('user', 'disable', 'admin');
  assert.equal(code, 1);
  assert.match(err, /last administrator/);
});

test('of two administrators who demote each other at once one is left', async () => {
  const at = await start();
  const one = (await at.ask('GET', '/api/me')).json.id;
  const two = (await at.ask('POST', '/api/users', { body: { name: 'two', is_admin: true } })).json;
  for (let i = 0; i < 10; i++) {
    await Promise.all([at.raw('PATCH', userPath(one), { body: { is_admin: false }, key: two.key.plaintext }), at.raw('PATCH', userPath(two.id), { body: { is_admin: false } })]);
    const socketPath = join(at.data, 'parley.sock');
    const users = (await at.ask('GET', '/api/users', { key: null, socketPath })).json.items;
    assert.equal(users.filter((each) => each.is_admin).length, 1);
    for (const id of [one, two.id]) await at.ask('PATCH', userPath(id), { body: { is_admin: true }, key: null, socketPath });
  }
  await at.stop();
});

test('a disabled user opens nothing, what ran is stopped, and enabling brings it all back', async () => {
  const ada = await user('ada disabled'), bob = await user('bob');
  const sessions = {};
  for (const who of [ada, bob]) {
    sessions[who.id] = (await ok('POST', '/api/sessions', { model: 'demo/agent' }, who.key)).id;
    const answer = await server.ask('POST', `/api/sessions/${sessions[who.id]}/chat`, { body: { message: '/wait 60000' }, key: who.key });
    assert.ok(answer.status < 300, answer.text);
  }
  const shared = (await ok('POST', `/api/sessions/${sessions[ada.id]}/share`, {}, ada.key, 201)).path;
  const ticket = (await ok('POST', '/api/ws-tickets', undefined, ada.key)).ticket;
  const [hers, his] = await Promise.all([live(server, { key: ada.key }), live(server, { key: bob.key })]);
  await ok('PATCH', userPath(ada.id), { is_disabled: true });
  await hers.closed();
  assert.equal(hers.code, 4401);
  assert.match((await refused(401, 'GET', '/api/me', undefined, ada.key)).detail, /disabled/);
  await refused(404, 'GET', shared, undefined, null);
  const ws = await live(server, { ticket }).catch((error) => error);
  assert.ok(ws instanceof Error || ws.status === 401, 'the ticket opened a socket');
  // Another user is unaffected.
  assert.equal((await ok('GET', '/api/me', undefined, bob.key)).is_disabled, false);
  assert.equal((await his.ask('ping')).ok, true);
  await ok('PATCH', userPath(ada.id), { is_disabled: false });
  const stopped = await ok('GET', `/api/sessions/${sessions[ada.id]}`, undefined, ada.key);
  assert.notEqual(stopped.status, 'running');
  assert.equal((await ok('GET', shared, undefined, null)).session?.id ?? sessions[ada.id], sessions[ada.id]);
  his.close();
});

test('who is removed leaves nothing, and others keep what they have', async () => {
  const ada = await user('ada gone'), bob = await user('bob stays');
  for (const who of [ada, bob]) {
    await ok('POST', '/api/sessions', { intent: 'a talk' }, who.key);
    await ok('POST', '/api/prompts', { name: 'greeting', content: 'hello walnut', type: 'text' }, who.key);
    await ok('POST', '/api/memories', { content: 'likes walnut bread', type: 'fact' }, who.key).catch(() => ok('POST', '/api/memories', { content: 'likes walnut bread' }, who.key));
    const blob = await server.raw('POST', '/api/blobs', { body: Buffer.from('the same bytes'), headers: { 'content-type': 'text/plain' }, key: who.key });
    assert.equal(blob.status, 201, blob.text);
  }
  await refused(404, 'DELETE', userPath(ada.id), undefined, bob.key);
  await ok('DELETE', userPath(ada.id), undefined, server.key, 204);
  await refused(401, 'GET', '/api/me', undefined, ada.key);
  await refused(404, 'GET', userPath(ada.id));
  assert.equal((await ok('GET', '/api/sessions', undefined, bob.key)).total, 1);
  assert.equal((await ok('GET', '/api/prompts?q=walnut', undefined, bob.key)).total, 1);
  assert.equal((await ok('GET', '/api/memories?q=walnut', undefined, bob.key)).total, 1);
  const [blob] = (await ok('GET', '/api/blobs', undefined, bob.key)).items;
  assert.equal((await server.raw('GET', `/api/blobs/${blob.id}`, { key: bob.key })).text, 'the same bytes');
  // A member erases their own account.
  await ok('DELETE', userPath(bob.id), undefined, bob.key, 204);
  await refused(401, 'GET', '/api/me', undefined, bob.key);
  assert.equal(run(['doctor', '--data', server.data, '--port', '0', '--json']).code < 2, true);
});

test('the commands of users', async () => {
  const added = cli('user', 'add', 'cleo', '--json');
  assert.equal(added.code, 0, added.err);
  const { id, key } = JSON.parse(added.out);
  assert.equal(key.is_admin, false);
  assert.match(cli('user', 'list').out, /cleo/);
  const twice = cli('user', 'add', 'cleo');
  assert.deepEqual([twice.code, /there is a user named "cleo" already/.test(twice.err)], [1, true], twice.err);
  assert.match(cli('user', 'show', 'cleo').out, new RegExp(id));
  assert.equal(cli('user', 'role', 'cleo', 'admin').code, 0);
  assert.match(cli('user', 'role', 'cleo', 'boss').err, /use admin or member/);
  assert.equal(cli('user', 'role', 'cleo', 'member').code, 0);
  assert.equal(cli('user', 'disable', 'cleo').code, 0);
  assert.match(cli('user', 'show', 'cleo').out, /disabled/);
  assert.equal(cli('user', 'enable', id).code, 0);
  assert.match(cli('user', 'show', 'nobody').err, /there is no user named "nobody"/);
  const { id: session } = await ok('POST', '/api/sessions', { intent: 'kept' }, key.plaintext);
  assert.match(cli('user', 'remove', 'cleo').err, /no terminal to ask; --yes does it/);
  const dir = join(directory, 'cleo');
  const removed = cli('user', 'remove', 'cleo', '--export', dir, '--yes');
  assert.equal(removed.code, 0, removed.err);
  assert.equal(JSON.parse(readFileSync(join(dir, 'sessions.json')))[0].id, session);
  assert.ok(existsSync(join(dir, 'sessions', `${session}.json`)));
  assert.deepEqual(JSON.parse(readFileSync(join(dir, 'memories.json'))), []);
  assert.doesNotMatch(cli('user', 'list').out, /cleo/);
});

test('scopes reach what they name and nothing else', async () => {
  const ada = await user('ada scoped');
  const keys = {};
  for (const scope of ['sessions', 'gateway', 'read']) keys[scope] = (await ok('POST', '/api/user/api-keys', { name: scope, scope }, ada.key)).plaintext;
  const session = await ok('POST', '/api/sessions', { intent: 'x' }, keys.sessions);
  await ok('GET', `/api/sessions/${session.id}`, undefined, keys.read);
  assert.match((await refused(403, 'POST', '/api/sessions', { intent: 'x' }, keys.read)).detail, /scope "read"/);
  for (const path of ['/api/me', '/api/sessions', '/api/models', '/metrics']) await refused(403, 'GET', path, undefined, keys.gateway);
  await refused(403, 'GET', '/api/prompts', undefined, keys.sessions);
  await refused(403, 'POST', '/api/user/api-keys', { name: 'more' }, keys.sessions);
  const asked = await server.raw('POST', '/v1/chat/completions', { key: keys.gateway, body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] } });
  assert.equal(asked.status, 200, asked.text);
  const denied = await server.raw('POST', '/v1/chat/completions', { key: keys.read, body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] } });
  assert.equal(denied.status, 403);
  assert.ok(denied.json.error.message.includes('scope'), denied.text);
  // A read-only socket cannot chat; a gateway key cannot open one.
  const ws = await live(server, { key: keys.read });
  const answer = await ws.ask('chat:send', { session_id: session.id, message: 'hi' });
  assert.equal(answer.ok, false);
  ws.close();
  const wrong = await refused(400, 'POST', '/api/user/api-keys', { name: 'x', scope: 'gatway' }, ada.key);
  assert.match(wrong.detail, /did you mean "gateway"/);
});

test('models outside the list of a key are refused in the shape of the client', async () => {
  const { plaintext } = await ok('POST', '/api/user/api-keys', { name: 'narrow', models: ['demo/echo', 'other/*'] });
  const body = (model) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
  assert.equal((await server.raw('POST', '/v1/messages', { key: plaintext, body: body('demo/echo') })).status, 200);
  const denied = await server.raw('POST', '/v1/messages', { key: plaintext, body: body('demo/agent') });
  assert.equal(denied.status, 403);
  assert.equal(denied.json.type, 'error');
  assert.match(denied.json.error.message, /may not use the model demo\/agent/);
});

test('a restricted key makes no other, and nobody gets more than the key has', async () => {
  const ada = await user('ada narrow');
  const ends = new Date(Date.now() + 3600e3).toISOString();
  const short = await ok('POST', '/api/user/api-keys', { name: 'short', expires_at: ends }, ada.key);
  assert.equal(new Date(short.expires_at).toISOString(), ends);
  await refused(403, 'POST', '/api/user/api-keys', { name: 'more' }, short.plaintext);
  await refused(403, 'POST', `/api/user/api-keys/${ada.keyId}/rotate`, {}, short.plaintext);
  for (const body of [{ limits: { rpm: 5 } }, { models: ['demo/echo'] }, { scope: 'all' }, { expires_at: null }]) await refused(403, 'PATCH', `/api/user/api-keys/${short.id}`, body, ada.key);
  await refused(403, 'POST', '/api/user/api-keys', { name: 'x', limits: { rpm: 5 } }, ada.key);
  await refused(403, 'POST', '/api/user/api-keys', { name: 'x', is_admin: true }, ada.key);
  await refused(400, 'POST', '/api/user/api-keys', { name: 'x', expires_at: '2001-01-01T00:00:00Z' }, ada.key);
  await refused(404, 'PATCH', `/api/users/${ada.id}/api-keys/key_00000000-0000-7000-8000-000000000000`, { name: 'x' });
  const mine = (await ok('GET', '/api/me')).key_id;
  await refused(404, 'PATCH', `/api/users/${ada.id}/api-keys/${mine}`, { name: 'x' });
});

test('a PATCH of limits changes what it names and nothing else', async () => {
  const { id } = await ok('POST', '/api/user/api-keys', { name: 'limited', limits: { rpm: 5, budget_usd_day: 1.5 } });
  const path = `/api/user/api-keys/${id}`;
  assert.deepEqual((await ok('PATCH', path, { limits: { tpm: 100 } })).limits, { rpm: 5, tpm: 100, budget_usd_day: 1.5, budget_usd_month: null });
  assert.deepEqual((await ok('PATCH', path, { limits: { rpm: null } })).limits, { rpm: null, tpm: 100, budget_usd_day: 1.5, budget_usd_month: null });
  await Promise.all([ok('PATCH', path, { limits: { rpm: 7 } }), ok('PATCH', path, { limits: { budget_usd_month: 9 } }), ok('PATCH', path, { name: 'renamed' })]);
  const shown = (await ok('GET', '/api/user/api-keys?limit=100')).items.find((item) => item.id === id);
  assert.deepEqual(shown.limits, { rpm: 7, tpm: 100, budget_usd_day: 1.5, budget_usd_month: 9 });
  assert.equal(shown.name, 'renamed');
  // Several at once, whichever of them is stored last.
  for (let i = 1; i <= 40; i++) {
    const wanted = { rpm: 10 + i, tpm: 200 + i, budget_usd_day: i, budget_usd_month: 50 + i };
    await Promise.all(Object.entries(wanted).map(([name, value]) => ok('PATCH', path, { limits: { [name]: value } })));
    assert.deepEqual((await ok('PATCH', path, { name: `round ${i}` })).limits, wanted);
  }
  assert.equal((await ok('PATCH', path, { limits: null })).limits, null);
});

test('an expired key is refused with a clear word, and its sockets are closed', async () => {
  const at = await start();
  const made = (await at.ask('POST', '/api/user/api-keys', { body: { name: 'soon', expires_at: new Date(Date.now() + 10_000).toISOString() } })).json;
  assert.equal((await at.raw('GET', '/api/me', { key: made.plaintext })).status, 200);
  const answer = await until(async () => { const got = await at.raw('GET', '/api/me', { key: made.plaintext }); return got.status === 401 && got; }, () => 'the key still works');
  assert.match(answer.json.detail, /expired/);
  await at.stop();
});

test('rotation: both secrets open for a while, then the new one', async () => {
  const ada = await user('ada rotating');
  const first = await ok('POST', `/api/user/api-keys/${ada.keyId}/rotate`, { overlap_s: 3600 }, ada.key, 200);
  assert.equal(first.id, ada.keyId);
  for (const key of [ada.key, first.plaintext]) assert.equal((await ok('GET', '/api/me', undefined, key)).key_id, ada.keyId);
  // The next rotation has no overlap: neither older secret is valid.
  const second = await ok('POST', `/api/user/api-keys/${ada.keyId}/rotate`, {}, first.plaintext, 200);
  await ok('GET', '/api/me', undefined, second.plaintext);
  assert.match((await refused(401, 'GET', '/api/me', undefined, first.plaintext)).detail, /rotated/);
  await refused(401, 'GET', '/api/me', undefined, ada.key);
});

test('users, scopes, ends and rotations are there after a restart', async () => {
  const at = await start();
  const ada = (await at.ask('POST', '/api/users', { body: { name: 'ada' } })).json;
  const post = async (path, body, key = at.key) => (await at.ask('POST', path, { body, key })).json;
  const narrow = await post(`/api/users/${ada.id}/api-keys`, { name: 'n', scope: 'read', models: ['demo/echo'], limits: { rpm: 3 } });
  const turned = await post(`/api/user/api-keys/${ada.key.id}/rotate`, { overlap_s: 600 }, ada.key.plaintext);
  await at.ask('PATCH', userPath(ada.id), { body: { is_disabled: true } });
  await at.stop();
  const again = await start({ data: at.data, login: false });
  again.key = at.key;
  assert.equal((await again.raw('GET', '/api/me', { key: turned.plaintext })).status, 401);
  await again.ask('PATCH', userPath(ada.id), { body: { is_disabled: false } });
  for (const key of [turned.plaintext, ada.key.plaintext]) assert.equal((await again.raw('GET', '/api/me', { key })).status, 200);
  const shown = (await again.ask('GET', `/api/users/${ada.id}/api-keys`)).json.items.find((item) => item.id === narrow.id);
  assert.deepEqual([shown.scope, shown.models, shown.limits.rpm, shown.is_admin], ['read', ['demo/echo'], 3, false]);
  await again.stop();
});

test('the commands of keys', async () => {
  await user('dora');
  const made = cli('key', 'create', '--user', 'dora', '--name', 'ci', '--scope', 'gateway', '--models', 'demo/echo,x/*', '--rpm', '10', '--budget-day', '2.5', '--expires', '90d', '--json');
  assert.equal(made.code, 0, made.err);
  const key = JSON.parse(made.out);
  assert.deepEqual([key.scope, key.models, key.is_admin, key.limits.rpm, key.limits.budget_usd_day], ['gateway', ['demo/echo', 'x/*'], false, 10, 2.5]);
  assert.match(cli('key', 'list', '--user', 'dora').out, /gateway/);
  assert.equal(cli('key', 'change', key.id, '--user', 'dora', '--tpm', '5', '--rpm', 'none').code, 0);
  const shown = JSON.parse(cli('key', 'list', '--user', 'dora', '--json').out).items.find((item) => item.id === key.id);
  assert.deepEqual([shown.limits.rpm, shown.limits.tpm], [null, 5]);
  assert.equal(cli('key', 'rotate', key.id, '--user', 'dora', '--overlap', '24h').code, 0);
  assert.equal(cli('key', 'revoke', key.id, '--user', 'dora').code, 0);
  for (const [words, says] of [
    [['key', 'create', '--name', 'x', '--scope', 'gatway'], /gateway/],
    [['key', 'create', '--name', 'x', '--expires', 'soon'], /90d/],
    [['key', 'create', '--name', 'x', '--rpm', '0'], /greater than 0/],
    [['key', 'create', '--name', 'x', '--rpm', '1.5'], /whole number/],
    [['key', 'create', '--name', 'x', '--budget-day', '-1'], /dollars/],
    [['key', 'rotate', 'key_x', '--overlap', '31d'], /30d at most/],
    [['key', 'change', 'key_x'], /say what changes/],
  ]) {
    const { code, err } = cli(...words);
    assert.equal(code, 2, `${words}: ${err}`);
    assert.match(err, says);
  }
  // By default a key is named after its scope.
  for (const [scope, name] of [[['--scope', 'read'], 'read key'], [[], 'key']])
    assert.equal(JSON.parse(cli('key', 'create', '--user', 'dora', ...scope, '--json').out).name, name);
  // A key is a member's unless --admin is given.
  const plain = cli('key', 'create', '--name', 'plain').out.trim(), admin = cli('key', 'create', '--name', 'admin', '--admin').out.trim();
  await refused(403, 'GET', '/api/users', undefined, plain);
  await ok('GET', '/api/users', undefined, admin);
});

test('without a server the commands of keys do the same', async () => {
  const at = await start();
  await at.ask('POST', '/api/users', { body: { name: 'eve' } });
  await at.stop();
  const here = (...words) => run([...words, '--data', at.data]);
  const made = JSON.parse(here('key', 'create', '--user', 'eve', '--name', 'off', '--scope', 'read', '--rpm', '4', '--expires', '2w', '--json').out);
  assert.equal(here('key', 'change', made.id, '--user', 'eve', '--tpm', '9').code, 0);
  const turned = here('key', 'rotate', made.id, '--user', 'eve', '--overlap', '1h').out.trim();
  const admin = here('key', 'create', '--name', 'a', '--admin').out.trim();
  assert.match(here('key', 'create', '--user', 'nobody', '--name', 'x').err, /no user "nobody"/);
  const again = await start({ data: at.data, login: false });
  for (const key of [made.plaintext, turned]) assert.equal((await again.raw('GET', '/api/me', { key })).json.scope, 'read');
  const { id } = (await again.ask('GET', '/api/users?name=eve', { key: admin })).json.items[0];
  const shown = (await again.ask('GET', `/api/users/${id}/api-keys`, { key: admin })).json.items.find((item) => item.id === made.id);
  assert.deepEqual([shown.limits.rpm, shown.limits.tpm], [4, 9]);
  await again.stop();
});

test('limits of a user are shown and set by a command: what is named changes, and nothing else', async () => {
  const at = await start();
  const ada = (await at.ask('POST', '/api/users', { body: { name: 'ada' } })).json;
  const limits = (...words) => run(['user', 'limits', 'ada', '--data', at.data, ...words]);
  assert.equal(limits().out, 'there are no limits\n');
  const set = limits('--rpm', '60', '--tpm', '1000', '--budget-day', '0.5', '--budget-month', '5', '--max-turns', '4', '--max-sessions', '5', '--max-blob-bytes', '1000000', '--max-keys', '6', '--max-tasks', '7', '--max-sockets', '8', '--json');
  assert.equal(set.code, 0, set.err);
  const all = { rpm: 60, tpm: 1000, budget_usd_day: 0.5, budget_usd_month: 5, max_turns: 4, max_sessions: 5, max_blob_bytes: 1000000, max_keys: 6, max_tasks: 7, max_sockets: 8 };
  assert.deepEqual(JSON.parse(set.out).limits, all);
  assert.match(limits('--rpm', 'none', '--max-turns', '2').out, /turns at once\s+2\n/);
  assert.deepEqual((await at.ask('GET', `/api/users/${ada.id}`)).json.limits, { ...all, rpm: null, max_turns: 2 });
  assert.match(limits().out, /dollars a day\s+0\.5\n/);
  for (const [option, value] of [['--rpm', '0'], ['--rpm', '-1'], ['--rpm', '1.5'], ['--rpm', ''], ['--budget-day', 'x'], ['--budget-day', '1.'], ['--max-turns', '65'], ['--max-keys', '1000001'], ['--tpm', '1e3']]) {
    const { code, err } = limits(option, value);
    assert.equal(code, 2, `${option} ${value}`);
    assert.match(err, new RegExp(`${option} .*give a (whole number|number of dollars) greater than 0`));
  }
  assert.equal(run(['user', 'limits', 'nobody', '--data', at.data]).code, 1);
  assert.equal(run(['user', 'show', 'ada', '--rpm', '5', '--data', at.data]).code, 2);
  const rows = JSON.parse(run(['audit', 'list', '--json', '--data', at.data]).out).items.filter(({ action }) => action === 'user.change');
  assert.deepEqual(rows.map(({ detail }) => Object.keys(detail.limits).length), [2, 10]);
  await at.stop();
});

test('changes of keys without a server are in the audit log, and the next server seals them', async () => {
  const at = await start();
  await at.stop();
  const key = (...words) => { const { code, out, err } = run(['key', ...words, '--data', at.data, '--json']); assert.equal(code, 0, err); return out; };
  const { id, plaintext } = JSON.parse(key('create', '--name', 'offline', '--rpm', '5'));
  key('change', id, '--scope', 'read');
  const again = JSON.parse(key('rotate', id)).plaintext;
  key('revoke', id);
  const next = await start({ data: at.data, login: false });
  const rows = JSON.parse(run(['audit', 'list', '--json', '--data', at.data]).out).items.filter(({ object }) => object === id).reverse();
  assert.deepEqual(rows.map(({ action }) => action), ['key.create', 'key.change', 'key.rotate', 'key.revoke']);
  assert.deepEqual(rows[0].detail, { name: 'offline', limits: { rpm: 5 } });
  assert.deepEqual(rows[1].detail, { scope: 'read' });
  assert.ok(rows.every(({ user_id, key_id }) => user_id.startsWith('user_') && !key_id));
  for (const secret of [plaintext, again]) assert.ok(!JSON.stringify(rows).includes(secret));
  assert.equal(run(['audit', 'verify', '--data', at.data]).code, 0);
  await next.stop();
});
