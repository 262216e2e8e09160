// The client of clients/ts against a real server: prompts, memories, tasks, blobs. chat.test.mjs and live.test.mjs
// test sessions and live events.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './harness.mjs';
import { start } from './server.mjs';

const { Parley, ProblemError } = await import(join(root, 'clients/ts/dist/index.js'));
const server = await start();
const parley = new Parley({ url: server.url, key: server.key });

test('prompts: made, changed, compared, labelled, run, exported, imported', async () => {
  const { prompts } = parley;
  const made = await prompts.create({ name: 'hello', content: 'Hello {{name}}', folder: 'a/b', tags: ['t'] });
  const second = await prompts.save(made.id, { content: 'Hello dear {{name}}', based_on: 1 });
  assert.equal(second.version, 2);
  await assert.rejects(prompts.save(made.id, { content: 'late', based_on: 1 }), (error) => error instanceof ProblemError
    && error.problem.status === 412 && error.problem.current.version === 2 && error.problem.yours.content === 'late');
  assert.equal((await prompts.diff(made.id, 1, 2)).is_same, false);
  assert.equal((await prompts.diff(made.id, 2, { content: 'Hello dear {{name}}' })).is_same, true);
  await prompts.label(made.id, 'production', 1);
  assert.equal((await prompts.version(made.id, 'production')).content, 'Hello {{name}}');
  assert.equal((await prompts.rollback(made.id, 1)).restored_from, 1);
  assert.equal((await prompts.run(made.id, { variables: { name: 'Ada' }, mode: 'answer' })).items[0].text, 'Hello Ada');
  assert.equal(await prompts.export(made.id, { format: 'text' }), 'Hello {{name}}');
  assert.equal((await prompts.versions(made.id)).total, 3);
  const { revision } = await prompts.get(made.id);
  assert.equal((await prompts.update(made.id, { is_pinned: true }, revision)).is_pinned, true);
  await assert.rejects(prompts.update(made.id, { name: 'late' }, revision), (error) => error.problem.status === 412);
  assert.deepEqual(await prompts.folders(), [{ name: 'a/b', count: 1 }]);
  assert.deepEqual(await prompts.tags(), [{ name: 't', count: 1 }]);
  await prompts.label(made.id, 'production', null);
  const files = [];
  for await (const file of prompts.files()) files.push(file);
  assert.ok(files.some(({ path }) => path === 'a/b/hello/prompt.yaml'));
  assert.ok((await prompts.import(files)).items.every(({ outcome }) => outcome === 'same'));
  assert.equal((await prompts.list({ q: 'hello', pinned: true })).items[0].id, made.id);
  await prompts.delete(made.id);
  await assert.rejects(prompts.get(made.id), (error) => error.problem.status === 404);
});

test('memories: made, found, superseded, changed in a batch', async () => {
  const { memories } = parley;
  const one = await memories.create({ content: '用户住在京都', topic: 'place' });
  const { created: [two] } = await memories.batch({ create: [{ content: '用户住在奈良' }], update: [{ id: one.id, scope: 's' }] });
  assert.equal((await memories.search('京都')).items[0].id, one.id);
  assert.equal((await memories.supersede(one.id, two.id)).superseded_by, two.id);
  assert.equal((await memories.update(two.id, { disabled: true })).disabled, true);
  assert.equal((await memories.list({ topic: 'place' })).items[0].scope, 's');
  await memories.delete(one.id);
  await assert.rejects(memories.get(one.id), (error) => error.problem.status === 404);
});

test('tasks: made, run, stopped, told in words', async () => {
  const { tasks } = parley;
  const task = await tasks.create({ title: 'daily', cron: '0 7 * * *', timezone: 'Asia/Shanghai', prompt: 'hello' });
  assert.match((await tasks.run(task.id)).session_id, /^sess_/);
  assert.equal((await tasks.runs(task.id)).total, 1);
  assert.equal((await tasks.occurrences(task.id, { limit: 3 })).length, 3);
  assert.equal((await tasks.stop(task.id)).enabled, false);
  assert.equal((await tasks.start(task.id)).enabled, true);
  assert.equal((await tasks.update(task.id, { title: 'other' })).title, 'other');
  assert.ok((await tasks.calendar()).items.some(({ task_id: id }) => id === task.id));
  assert.equal((await tasks.explain('0 9 * * *', 'UTC')).zh, '每天 09:00');
  await tasks.delete(task.id);
  assert.equal((await tasks.list()).total, 0);
});

test('blobs: bytes there and back, whole and in part', async () => {
  const { blobs } = parley;
  const bytes = new Uint8Array([0, 1, 2, 253, 254, 255]);
  const blob = await blobs.create(bytes, { name: 'six' });
  assert.deepEqual([blob.size, blob.name], [6, 'six']);
  assert.deepEqual(await blobs.read(blob.id), bytes);
  assert.deepEqual(await blobs.read(blob.id, '1-2'), bytes.slice(1, 3));
  assert.equal((await blobs.info(blob.id)).sha256, blob.sha256);
  assert.equal((await blobs.list()).total, 1);
  await assert.rejects(blobs.fetch('http://127.0.0.1/'), (error) => error instanceof ProblemError);
  await blobs.delete(blob.id);
});
