// The code of the first start: valid once, for an hour, and only while no administrator has a key.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { run } from './harness.mjs';
import { start } from './server.mjs';

const login = (server, code = server.code) => server.ask('POST', '/api/login', { body: { code }, key: null });
const fresh = (options) => start({ login: false, ...options });
const control = (server) => ({ key: null, socketPath: join(server.data, 'parley.sock') });

test('it is good once', async () => {
  const server = await fresh();
  assert.equal((await login(server, 'wrong')).status, 401);
  assert.equal((await login(server)).status, 201);
  assert.equal((await login(server)).status, 401);
  await server.stop();
});

test('it ends when an administrator has a key, however that was made, and stays ended', async () => {
  for (const how of ['command', 'route', 'user']) {
    const server = await fresh();
    const { code } = server;
    if (how === 'command') assert.equal(run(['key', 'create', '--name', 'mine', '--admin', '--data', server.data]).code, 0);
    if (how === 'route') assert.equal((await server.ask('POST', '/api/user/api-keys', { body: { name: 'mine', is_admin: true }, ...control(server) })).status, 201);
    if (how === 'user') assert.equal((await server.ask('POST', '/api/users', { body: { name: 'boss', is_admin: true }, ...control(server) })).status, 201);
    const refused = await login(server, code);
    assert.equal(refused.status, 401, how);
    assert.match(refused.json.detail, /administrator has a key/);
    // Revoking the key does not enable the code again.
    for (const { id } of (await server.ask('GET', '/api/user/api-keys', control(server))).json.items)
      await server.ask('DELETE', `/api/user/api-keys/${id}`, control(server));
    assert.equal((await login(server, code)).status, 401, how);
    await server.stop();
  }
});

test('a key of somebody else does not end it', async () => {
  const server = await fresh();
  assert.equal((await server.ask('POST', '/api/users', { body: { name: 'guest' }, ...control(server) })).status, 201);
  const again = await (await server.stop(), fresh({ data: server.data }));
  assert.ok(again.code, 'there is no administrator with a key yet');
  assert.equal((await login(again)).status, 201);
  await again.stop();
});

test('a restart makes a new one while there is no administrator, and none afterwards', async () => {
  const first = await fresh();
  const { data, code } = first;
  await first.stop();
  const second = await fresh({ data });
  assert.ok(second.code && second.code !== code);
  assert.equal((await login(second, code)).status, 401, 'the old one is over');
  assert.equal((await login(second)).status, 201);
  await second.stop();
  const third = await fresh({ data });
  assert.equal(third.code, undefined);
  assert.equal((await login(third, code)).status, 401);
  await third.stop();
});

test('after an hour it is over', { skip: noClock }, async () => {
  const clock = new Clock('2026-03-02T12:00:00Z');
  const server = await fresh({ env: clock.env });
  clock.put(3_601_000);
  assert.equal((await login(server)).status, 401);
  clock.put(-3_600_000);
  assert.equal((await login(server)).status, 401, 'what is over stays over');
  await server.stop();
  const other = new Clock('2026-03-02T12:00:00Z');
  const patient = await fresh({ env: other.env });
  other.put(3_000_000);
  assert.equal((await login(patient)).status, 201, '50 minutes are fine');
  await patient.stop();
});
