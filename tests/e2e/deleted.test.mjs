// Deleted objects can be restored: sessions, prompts, tasks and memories; by their owner, for a while, within quotas.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { clientOf, serve, settled } from './live.mjs';

// The same on PostgreSQL, if the runner has one.
const postgres = process.env.PARLEY_TEST_POSTGRES;

let server, ada, other;
before(async () => {
  server = await serve({ args: postgres ? ['--store', postgres] : [] });
  const user = async (name) => { const made = (await server.ask('POST', '/api/users', { body: { name } })).json; return { id: made.id, key: made.key.plaintext }; };
  ada = await user('ada');
  other = await user('other');
});
const ask = (method, path, options = {}) => server.ask(method, path, { key: ada.key, ...options });
const list = async (query = '', key = ada.key) => (await ask('GET', `/api/deleted${query}`, { key })).json.items;
const restore = (id, key = ada.key) => ask('POST', `/api/deleted/${id}/restore`, { key });

async function talk(message) {
  const client = clientOf(server, ada.key);
  const { id } = await client.createSession({ model: 'demo/echo' });
  await client.chat(id, { message });
  await settled(client, id);
  return id;
}

test('a session comes back with its turns; its links do not', async () => {
  const id = await talk('keep me, zebra');
  const { share } = (await ask('PATCH', `/api/sessions/${id}/sharing`, { body: { shared: true } })).json;
  const before = (await ask('GET', `/api/sessions/${id}/messages`)).json;
  assert.equal((await ask('DELETE', `/api/sessions/${id}`)).status, 204);
  for (const path of ['', '/messages', '/context', '/outline', '/export']) assert.equal((await ask('GET', `/api/sessions/${id}${path}`)).status, 404, path);
  assert.equal((await ask('DELETE', `/api/sessions/${id}`)).status, 404);
  assert.equal((await ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'x' } })).status, 404);
  assert.equal((await server.ask('GET', share.path, { key: null })).status, 404);
  for (const query of ['', '?q=zebra', '?details=true']) assert.ok(!(await ask('GET', `/api/sessions${query}`)).json.items.some((one) => one.id === id));
  const [item] = await list();
  assert.deepEqual([item.kind, item.id, item.title], ['session', id, 'keep me, zebra']);
  assert.equal(Date.parse(item.expires_at) - Date.parse(item.deleted_at), 30 * 86400000);
  assert.deepEqual((await restore(id)).json, { kind: 'session', id });
  assert.deepEqual((await ask('GET', `/api/sessions/${id}/messages`)).json, before);
  assert.equal((await ask('GET', `/api/sessions/${id}`)).json.shared, false);
  assert.equal((await server.ask('GET', share.path, { key: null })).status, 404);
  assert.ok((await ask('GET', '/api/sessions?q=zebra')).json.items.some((one) => one.id === id));
  assert.deepEqual(await list(), []);
  const client = clientOf(server, ada.key);
  await client.chat(id, { message: 'and on' });
  await settled(client, id);
  assert.equal((await ask('GET', `/api/sessions/${id}/messages`)).json.length, before.length + 2);
});

test('a prompt comes back with versions, labels, tags and draft, and is found again', async () => {
  const { id } = (await ask('POST', '/api/prompts', { body: { name: 'giraffe', content: 'one', tags: ['neck'], folder: 'zoo' } })).json;
  await ask('POST', `/api/prompts/${id}/versions`, { body: { content: 'two' } });
  await ask('PUT', `/api/prompts/${id}/labels/production`, { body: { version: 1 } });
  await ask('PUT', `/api/prompts/${id}/draft`, { body: { content: 'three' } });
  const before = (await ask('GET', `/api/prompts/${id}`)).json, draft = (await ask('GET', `/api/prompts/${id}/draft`)).json;
  const counts = async () => [(await ask('GET', '/api/prompts/tags')).json.items, (await ask('GET', '/api/prompts/folders')).json.items, (await ask('GET', '/api/prompts?q=giraffe')).json.total];
  const all = await counts();
  assert.equal((await ask('DELETE', `/api/prompts/${id}`)).status, 204);
  assert.deepEqual(await counts(), [[], [], 0]);
  assert.equal((await ask('GET', `/api/prompts/${id}`)).status, 404);
  assert.deepEqual((await list('?kind=prompt')).map(({ title }) => title), ['giraffe']);
  assert.equal((await restore(id)).status, 200);
  assert.deepEqual((await ask('GET', `/api/prompts/${id}`)).json, before);
  assert.deepEqual((await ask('GET', `/api/prompts/${id}/draft`)).json, draft);
  assert.deepEqual(await counts(), all);
  assert.equal((await ask('GET', `/api/prompts/${id}/versions`)).json.total, 2);
});

test('a memory is found again, and a task comes back disabled', async () => {
  const memory = (await ask('POST', '/api/memories', { body: { type: 'experience', content: 'walruses whistle' } })).json;
  const task = (await ask('POST', '/api/scheduled-tasks', { body: { title: 'tea', prompt: 'make tea', cron: '0 5 * * *', timezone: 'UTC' } })).json;
  await ask('DELETE', `/api/memories/${memory.id}`);
  await ask('DELETE', `/api/scheduled-tasks/${task.id}`);
  const search = async () => (await ask('POST', '/api/memories/search', { body: { query: 'walruses' } })).json.items.length;
  assert.equal(await search(), 0);
  assert.deepEqual((await ask('GET', '/api/scheduled-tasks')).json.items, []);
  assert.deepEqual((await list()).map(({ kind, id }) => [kind, id]), [['task', task.id], ['memory', `${memory.id}`]]);
  assert.deepEqual([(await restore(memory.id)).status, (await restore(task.id)).status], [200, 200]);
  assert.equal(await search(), 1);
  assert.deepEqual((await ask('GET', `/api/memories/${memory.id}`)).json.content, 'walruses whistle');
  const again = (await ask('GET', `/api/scheduled-tasks/${task.id}`)).json;
  assert.deepEqual([again.title, again.enabled], ['tea', false]);
});

test('nobody else has it, and what is deleted for good is gone', async () => {
  const [first, second] = [await talk('first'), await talk('second')];
  for (const id of [first, second]) await ask('DELETE', `/api/sessions/${id}`);
  assert.deepEqual(await list('', other.key), []);
  assert.equal((await restore(first, other.key)).status, 404);
  assert.equal((await ask('DELETE', `/api/deleted/${first}`, { key: other.key })).status, 404);
  assert.equal((await ask('DELETE', '/api/deleted', { key: other.key })).status, 204);
  assert.equal((await list()).length, 2);
  assert.equal((await ask('DELETE', `/api/deleted/${first}`)).status, 204);
  assert.equal((await restore(first)).status, 404);
  assert.equal((await ask('DELETE', '/api/deleted')).status, 204);
  assert.deepEqual(await list(), []);
  assert.equal((await restore(second)).status, 404);
  for (const id of ['x', 'sess_x', '0', '-1', `prompt_${first.slice(5)}`]) assert.equal((await restore(id)).status, 404, id);
  assert.equal((await ask('GET', '/api/deleted?kind=blob')).status, 400);
  assert.equal((await ask('GET', '/api/deleted?sort=up')).status, 400);
});

test('deleting makes room, restoring needs it', async () => {
  const { json } = await server.ask('POST', '/api/users', { body: { name: 'small' } });
  assert.equal((await server.ask('PATCH', `/api/users/${json.id}`, { body: { limits: { max_sessions: 1 } } })).status, 200);
  const key = json.key.plaintext, make = () => server.ask('POST', '/api/sessions', { key, body: { model: 'demo/echo' } });
  const first = (await make()).json.id;
  assert.equal((await make()).status, 409);
  await server.ask('DELETE', `/api/sessions/${first}`, { key });
  const second = (await make()).json.id;
  const refused = await restore(first, key);
  assert.equal(refused.status, 409);
  assert.match(refused.json.detail, /as many of this kind \(session\) as allowed \(1\)/);
  await server.ask('DELETE', `/api/sessions/${second}`, { key });
  assert.equal((await restore(first, key)).status, 200);
});

test('who is erased leaves nothing, deleted things included', async () => {
  const { json } = await server.ask('POST', '/api/users', { body: { name: 'gone' } });
  const key = json.key.plaintext;
  const prompt = (await server.ask('POST', '/api/prompts', { key, body: { name: 'p', content: 'c' } })).json.id;
  const session = (await server.ask('POST', '/api/sessions', { key, body: { model: 'demo/echo' } })).json.id;
  await server.ask('DELETE', `/api/prompts/${prompt}`, { key });
  await server.ask('DELETE', `/api/sessions/${session}`, { key });
  assert.equal((await list('', key)).length, 2);
  assert.equal((await server.ask('DELETE', `/api/users/${json.id}`)).status, 204);
  assert.equal((await server.ask('GET', '/api/deleted', { key })).status, 401);
});

test('with deleted_days 0 a deletion is one', async () => {
  const own = await serve({ env: { PARLEY_DELETED_DAYS: '0' } });
  const { id } = (await own.ask('POST', '/api/prompts', { body: { name: 'p', content: 'c' } })).json;
  assert.equal((await own.ask('DELETE', `/api/prompts/${id}`)).status, 204);
  assert.deepEqual((await own.ask('GET', '/api/deleted')).json, { items: [], kept_days: 0 });
  assert.equal((await own.ask('POST', `/api/deleted/${id}/restore`)).status, 404);
  await own.stop();
});
