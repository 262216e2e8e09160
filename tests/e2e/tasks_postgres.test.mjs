// Servers on one PostgreSQL, one after the other, each with its scheduler: each occurrence runs once, on any server, however
// the previous server ended.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { endsWell, serve, until } from './live.mjs';

const url = process.env.PARLEY_TEST_POSTGRES;
const skip = noClock || (!url && (process.env.PARLEY_TEST_POSTGRES_SKIP ?? 'run it by tests/contract/with_postgres'));

const N_TASKS = 10;
const N_MINUTES = 5;

test('of servers one after the other one runs each occurrence', { skip }, async (t) => {
  const clock = new Clock('2026-03-02T12:00:10Z');
  const env = { ...clock.env, PARLEY_STORE_ANSWER_MS: '500' };
  let key;
  const next = async () => {
    const server = await serve({ env, args: ['--store', url] });
    t.after(() => server.stop('SIGKILL'));
    key ??= server.key;
    server.key = key;
    return server;
  };
  let server = await next();
  const tasks = [];
  for (let i = 0; i < N_TASKS; i++) {
    const { status, json, text } = await server.ask('POST', '/api/scheduled-tasks', { body: { title: `Task ${i}`, prompt: 'hello', cron: '* * * * *', overlap: 'allow' } });
    assert.equal(status, 201, text);
    tasks.push(json);
  }
  const runsOf = async (task) => (await server.ask('GET', `/api/scheduled-tasks/${task.id}/runs?limit=100`)).json.items;
  // Makes the scheduler read the clock.
  const nudge = (i) => server.ask('PATCH', `/api/scheduled-tasks/${tasks[i % N_TASKS].id}`, { body: { skip_confirmations: i % 2 === 0 } });
  for (let i = 1; i <= N_MINUTES; i++) {
    clock.set(`2026-03-02T12:0${i}:00.100Z`);
    await nudge(i);
    await until(async () => (await Promise.all(tasks.map(runsOf))).every((runs) => runs.length >= i && runs.every((run) => run.finished_at)),
      `the runs of minute ${i}`, 120_000);
    // Alternately stops the server in order and kills it; the next one starts after either.
    if (i % 2) await endsWell(server);
    else await server.stop('SIGKILL');
    server = await next();
  }
  const wanted = Array.from({ length: N_MINUTES }, (_, i) => `2026-03-02T12:0${N_MINUTES - i}:00.000Z`);
  const sessions = new Set();
  for (const task of tasks) {
    const runs = await runsOf(task);
    assert.deepEqual(runs.map((run) => [run.due_at, run.status, run.reason]), wanted.map((due) => [due, 'completed', null]), task.title);
    for (const run of runs) sessions.add(run.session_id);
  }
  assert.equal(sessions.size, N_TASKS * N_MINUTES);
  // No session was made and left unused: a session exists only with its run.
  const { total } = (await server.ask('GET', '/api/sessions?limit=1')).json;
  assert.equal(total, N_TASKS * N_MINUTES);
  await endsWell(server);
});
