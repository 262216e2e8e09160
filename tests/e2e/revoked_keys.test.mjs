// A revoked key stays revoked, whatever it sends meanwhile and after any restart.
import assert from 'node:assert/strict';
import test from 'node:test';
import { start } from './server.mjs';

const N_KEYS = 40;

async function keysOf(server, key) {
  return (await server.ask('GET', '/api/user/api-keys?limit=100', { key })).json.items.map((item) => item.id).sort();
}

test('a key that changes itself while it is revoked stays revoked after a restart', async () => {
  const server = await start();
  const keys = [];
  for (let i = 0; i < N_KEYS; i++) keys.push((await server.ask('POST', '/api/user/api-keys', { body: { name: `k${i}`, is_admin: true } })).json);
  const before = await keysOf(server, server.key);
  assert.equal(before.length, N_KEYS + 1);
  const seen = new Set();
  await Promise.all(keys.map(async (key) => {
    const path = `/api/user/api-keys/${key.id}`;
    let isOver = false;
    const patch = async (i) => {
      for (let n = 0; !isOver; n++) {
        const body = n % 2 ? { name: `again ${i} ${n}` } : { limits: { rpm: 1000 + n } };
        const { status } = await server.raw('PATCH', path, { key: key.plaintext, body });
        seen.add(status);
        isOver ||= status === 401;
      }
    };
    const patching = [patch(0), patch(1), patch(2)];
    const { status } = await server.raw('DELETE', path);
    assert.equal(status, 204);
    await Promise.all(patching);
  }));
  // The answer to a change: it was made, the key does not exist, or the caller is not authenticated.
  for (const status of seen) assert.ok([200, 401, 404].includes(status), `${status}`);
  const mine = await keysOf(server, server.key);
  assert.equal(mine.length, 1);
  assert.equal((await server.stop()).code, 0);

  const again = await start({ data: server.data, login: false });
  again.key = server.key;
  assert.deepEqual(await keysOf(again, server.key), mine);
  for (const key of keys) assert.equal((await again.raw('GET', '/api/me', { key: key.plaintext })).status, 401);
  await again.stop();
});

test('of names given at once the one that is shown is the one that is kept', async () => {
  const server = await start();
  const { id } = (await server.ask('POST', '/api/user/api-keys', { body: { name: 'first' } })).json;
  const path = `/api/user/api-keys/${id}`;
  await Promise.all(Array.from({ length: 200 }, (_, i) => server.raw('PATCH', path, { body: i % 2 ? { name: `name ${i}` } : { limits: { rpm: i + 1 } } })));
  const shown = (await server.ask('GET', '/api/user/api-keys?limit=100')).json.items.find((item) => item.id === id);
  assert.equal((await server.stop()).code, 0);
  const again = await start({ data: server.data, login: false });
  again.key = server.key;
  const kept = (await again.ask('GET', '/api/user/api-keys?limit=100')).json.items.find((item) => item.id === id);
  assert.deepEqual(kept, shown);
  await again.stop();
});
