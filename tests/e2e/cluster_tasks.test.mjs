// Schedules over three nodes: every occurrence runs once, on any node, and the run of a node that dies fails.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { cluster, skip } from './cluster.mjs';
import { script, until } from './live.mjs';

const N_TASKS = 6;

async function tasks(made, fields) {
  const list = [];
  for (let i = 0; i < N_TASKS; i++) {
    const { status, json, text } = await made.nodes[i % 3].ask('POST', '/api/scheduled-tasks', { body: { title: `Task ${i}`, prompt: 'hello', cron: '* * * * *', overlap: 'allow', ...fields } });
    assert.equal(status, 201, text);
    list.push(json);
  }
  return list;
}
const runsOf = async (made, task) => (await made.any().raw('GET', `/api/scheduled-tasks/${task.id}/runs?limit=100`)).json?.items ?? [];

test('every occurrence runs once over three nodes', { skip: skip || noClock }, async (t) => {
  const clock = new Clock('2026-03-02T12:00:10Z');
  const made = await cluster(t, 3, { env: clock.env });
  const list = await tasks(made);
  for (let minute = 1; minute <= 3; minute++) {
    clock.set(`2026-03-02T12:0${minute}:00.100Z`);
    // All of them read the clock at once.
    await Promise.all(made.nodes.map((node, i) => node.ask('PATCH', `/api/scheduled-tasks/${list[i].id}`, { body: { skip_confirmations: minute % 2 === 0 } })));
    await until(async () => (await Promise.all(list.map((task) => runsOf(made, task)))).every((runs) => runs.length >= minute && runs.every((run) => run.finished_at)), `the runs of minute ${minute}`);
  }
  for (const task of list) {
    const runs = await runsOf(made, task);
    assert.deepEqual(runs.map((run) => [run.due_at, run.status]), [3, 2, 1].map((minute) => [`2026-03-02T12:0${minute}:00.000Z`, 'completed']), task.title);
  }
  assert.equal((await made.any().ask('GET', '/api/sessions?limit=1')).json.total, N_TASKS * 3);
});

test('the run of a node that dies fails, and the next one runs elsewhere', { skip: skip || noClock }, async (t) => {
  const clock = new Clock('2026-03-02T12:00:10Z');
  const made = await cluster(t, 3, { env: clock.env });
  const list = await tasks(made, { prompt: script('say begun', 'wait 600000') });
  const runs = async (status) => (await Promise.all(list.map((task) => runsOf(made, task)))).flat().filter((run) => run.status === status);
  clock.set('2026-03-02T12:01:00.100Z');
  await Promise.all(made.nodes.map((node, i) => node.ask('PATCH', `/api/scheduled-tasks/${list[i].id}`, { body: { skip_confirmations: true } })));
  await until(async () => (await runs('running')).length === N_TASKS, 'all run');
  const begun = await runs('running');
  const [dead] = made.nodes;
  const owners = new Map(begun.map((run) => [run.id, made.owner(run.session_id)]));
  const lost = begun.filter((run) => owners.get(run.id) === dead.name).length;
  await made.kill(dead);
  await until(async () => (await runs('failed')).length === lost, 'those of the dead node fail, and no others');
  for (const run of await runs('failed')) assert.equal(owners.get(run.id), dead.name);
  clock.set('2026-03-02T12:02:00.100Z');
  await Promise.all(made.there.map((node, i) => node.ask('PATCH', `/api/scheduled-tasks/${list[i].id}`, { body: { skip_confirmations: false } })));
  await until(async () => (await runs('running')).length === N_TASKS * 2 - lost, 'the next ones run on the others');
});
