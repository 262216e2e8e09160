// If-Match on DELETE: an object that was changed meanwhile is not deleted.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { start } from './server.mjs';

const server = await start();

// Every kind of object that has an ETag and can be deleted: how to make and change it, and its path.
const things = {
  session: {
    make: async () => `/api/sessions/${(await server.ask('POST', '/api/sessions', { body: {} })).json.id}`,
    change: (path) => server.ask('PATCH', path, { body: { intent: 'another' } }),
  },
  prompt: {
    make: async () => `/api/prompts/${(await server.ask('POST', '/api/prompts', { body: { name: 'p', content: 'x' } })).json.id}`,
    change: (path) => server.ask('PATCH', path, { body: { description: 'another' } }),
  },
  blob: {
    make: async () => `/api/blobs/${(await server.ask('POST', '/api/blobs', { body: Buffer.from('bytes'), headers: { 'content-type': 'application/octet-stream' } })).json.id}`,
    etag: () => `"${createHash('sha256').update('bytes').digest('hex')}"`,
  },
};
const remove = (path, tag) => server.ask('DELETE', path, tag ? { headers: { 'if-match': tag } } : {});
const isThere = async (path) => (await server.raw('GET', path)).status === 200;
const tagOf = async (path) => (await server.raw('GET', path)).headers.etag;

for (const [name, { make, change, etag }] of Object.entries(things)) {
  test(`${name}: one version off is 412 and deletes nothing`, async () => {
    const path = await make();
    const seen = await tagOf(path);
    assert.ok(seen, 'it has an ETag');
    if (etag) assert.equal(seen, etag());
    const wrong = ['"nonsense"', `W/${seen}`, '"999999"', 'garbage', ...(change ? [`"${Number(seen.slice(1, -1)) + 1}"`, `"${Number(seen.slice(1, -1)) - 1}"`] : ['"0"'])];
    for (const tag of wrong) {
      const refused = await remove(path, tag);
      assert.deepEqual([refused.status, refused.json.code], [412, 'precondition_failed'], tag);
      assert.ok(await isThere(path));
    }
    if (change) {
      await change(path);
      assert.equal((await remove(path, seen)).status, 412, 'it has changed in the meantime');
      assert.ok(await isThere(path));
    }
    assert.equal((await remove(path, await tagOf(path))).status, 204);
    assert.ok(!await isThere(path));
  });

  test(`${name}: * and no If-Match delete whatever version there is`, async () => {
    for (const tag of ['*', undefined]) {
      const path = await make();
      assert.equal((await remove(path, tag)).status, 204);
      assert.equal((await remove(path, '*')).status, 404, 'gone is gone');
    }
  });
}

test('a label of a prompt: the version is that of the prompt', async () => {
  const path = await things.prompt.make();
  assert.equal((await server.ask('PUT', `${path}/labels/prod`, { body: { version: 1 } })).status, 200);
  const seen = await tagOf(path);
  await things.prompt.change(path);
  assert.equal((await remove(`${path}/labels/prod`, seen)).status, 412);
  assert.equal((await remove(`${path}/labels/prod`, await tagOf(path))).status, 204);
});

test('of two who delete what both have seen, with a change between, one is refused', async () => {
  const path = await things.session.make();
  const seen = await tagOf(path);
  const [changed, removed] = await Promise.all([things.session.change(path), remove(path, seen)]);
  // Either the change came first and the deletion is refused, or the change finds no object.
  assert.ok((changed.status === 200 && removed.status === 412) || (changed.status === 404 && removed.status === 204),
    `${changed.status} ${removed.status}`);
});
