// Three servers with their schedulers on one PostgreSQL: each occurrence is run once, by one of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { endsWell, serve, until } from './live.mjs';

const url = process.env.PARLEY_TEST_POSTGRES;
const skip = noClock || (!url && (process.env.PARLEY_TEST_POSTGRES_SKIP ?? 'run it by tests/contract/with_postgres'));

const N_TASKS = 10;
const N_MINUTES = 5;

test('of three schedulers one runs each occurrence', { skip }, async (t) => {
  const clock = new Clock('2026-03-02T12:00:10Z');
  const servers = [];
  for (let i = 0; i < 3; i++) {
    const server = await serve({ env: clock.env, args: ['--store', url] });
    t.after(() => server.stop('SIGKILL'));
    server.key ??= servers[0].key;
    servers.push(server);
  }
  const tasks = [];
  for (let i = 0; i < N_TASKS; i++) {
    const { status, json, text } = await servers[i % 3].ask('POST', '/api/scheduled-tasks', { body: { title: `Task ${i}`, prompt: 'hello', cron: '* * * * *', overlap: 'allow' } });
    assert.equal(status, 201, text);
    tasks.push(json);
  }
  const runsOf = async (task) => (await servers[0].ask('GET', `/api/scheduled-tasks/${task.id}/runs?limit=100`)).json.items;
  // All of them look at the clock at the same moment.
  const nudge = (i) => Promise.all(servers.map((server, k) => server.ask('PATCH', `/api/scheduled-tasks/${tasks[(i + k) % N_TASKS].id}`, { body: { skip_confirmations: i % 2 === 0 } })));
  for (let i = 1; i <= N_MINUTES; i++) {
    clock.set(`2026-03-02T12:0${i}:00.100Z`);
    await nudge(i);
    await until(async () => (await Promise.all(tasks.map(runsOf))).every((runs) => runs.length >= i && runs.every((run) => run.finished_at)),
      `the runs of minute ${i}`, 60_000);
  }
  const wanted = Array.from({ length: N_MINUTES }, (_, i) => `2026-03-02T12:0${N_MINUTES - i}:00.000Z`);
  const sessions = new Set();
  for (const task of tasks) {
    const runs = await runsOf(task);
    assert.deepEqual(runs.map((run) => [run.due_at, run.status, run.reason]), wanted.map((due) => [due, 'completed', null]), task.title);
    for (const run of runs) sessions.add(run.session_id);
  }
  assert.equal(sessions.size, N_TASKS * N_MINUTES);
  // None was made and then not used: a session stands or falls with its run.
  const { total } = (await servers[0].ask('GET', '/api/sessions?limit=1')).json;
  assert.equal(total, N_TASKS * N_MINUTES);
  // How often they got into each other's way.
  const refused = await Promise.all(servers.map(async (server) => {
    const { text } = await server.raw('GET', '/metrics');
    return Number(text.match(/^parley_commit_failures_total\S* (\d+)/m)?.[1]);
  }));
  t.diagnostic(`transactions refused, by server: ${refused.join(', ')}`);
  for (const server of servers) await endsWell(server);
});
