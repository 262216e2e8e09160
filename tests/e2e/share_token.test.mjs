// The token of a share link is shown once and stored nowhere in clear text.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { start } from './server.mjs';

test('a share link is told once, and its token is in no file of the server', async () => {
  const server = await start();
  const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
  const headers = { 'idempotency-key': 'share-once' };
  const first = await server.ask('POST', `/api/sessions/${id}/share`, { headers });
  assert.equal(first.status, 201);
  const { token, path } = first.json;
  assert.equal(path, `/api/share/${token}`);
  assert.equal((await server.ask('GET', path, { key: null })).status, 200);
  const again = await server.ask('POST', `/api/sessions/${id}/share`, { headers });
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.deepEqual([again.status, again.json.id, again.json.token, again.json.path], [201, first.json.id, null, null]);
  const everywhere = () => readdirSync(server.data).filter((name) => !name.endsWith('.sock'))
    .filter((name) => readFileSync(join(server.data, name)).includes(token));
  assert.deepEqual(everywhere(), []);
  await server.stop();
  assert.deepEqual(everywhere(), []);
  assert.ok(!server.err.includes(token) && !server.out.includes(token));
});
