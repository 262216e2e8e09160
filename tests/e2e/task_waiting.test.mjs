// Tasks that are due together while their user runs the maximum of turns; and clocks that are set back.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { configure, Gated } from './gated.mjs';
import { endsWell, serve, until } from './live.mjs';

const skip = noClock;
const MINUTES = 180_000;
const HOUR = 3_600_000;
const at = (text) => new Date(text).toISOString();

async function begin(t, instant) {
  const held = await new Gated().listen();
  const data = mkdtempSync(join(tmpdir(), 'parley-waiting-'));
  configure(data, `probe: false\nproviders:\n  held:\n    dialect: openai-chat\n    base_url: ${held.url}\n`);
  const clock = new Clock(instant);
  const open = (options) => serve({ data, env: clock.env, ...options });
  const place = { held, clock, open, server: await open() };
  t.after(async () => {
    held.close();
    await place.server.stop('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  });
  return place;
}

async function make(server, body, key = server.key) {
  const { status, json, text } = await server.raw('POST', '/api/scheduled-tasks', { key, body: { title: 'A task', prompt: 'hello', cron: '0 12 * * *', model: 'held/one', ...body } });
  assert.equal(status, 201, text);
  return json;
}
const runsOf = async (server, task, key) => (await server.raw('GET', `/api/scheduled-tasks/${task.id}/runs?limit=100`, { key })).json.items;
// "queued", "skipped" and "missed" are reasons; the others are statuses.
const stateOf = (run) => run?.reason ?? run?.status;
const nudge = (server, task) => server.raw('PATCH', `/api/scheduled-tasks/${task.id}`, { body: { title: task.title } });

// How many runs of all tasks are in each status.
async function tally(server, tasks) {
  const counts = {};
  for (const task of tasks)
    for (const run of await runsOf(server, task)) counts[stateOf(run)] = (counts[stateOf(run)] ?? 0) + 1;
  return counts;
}

test('of 150 tasks due together 64 run, the others wait their turn, and none fails', { skip }, async (t) => {
  const { held, clock, server } = await begin(t, '2026-03-02T11:00:00Z');
  const other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
  const tasks = [];
  for (let i = 0; i < 150; i++) tasks.push(await make(server, { title: `Task ${i}` }));
  const theirs = await make(server, { title: 'Theirs', model: 'demo/echo' }, other);
  clock.set('2026-03-02T12:00:01Z');
  await nudge(server, tasks[0]);
  // Another user's task does not wait for these.
  await until(async () => (await runsOf(server, theirs, other))[0]?.status === 'completed', "the other user's task ran", MINUTES);
  await until(async () => {
    const counts = await tally(server, tasks);
    return counts.running === 64 && counts.queued === 86;
  }, '64 run and 86 wait', MINUTES);
  assert.equal(held.waiting.length, 64);
  // One ends, the next one begins.
  held.waiting[0].release();
  await until(() => held.keys.length === 65 && held.waiting.length === 64, 'the next one begins', MINUTES);
  held.open();
  await until(async () => (await tally(server, tasks)).completed === 150, 'all are completed', MINUTES);
  assert.deepEqual(await tally(server, tasks), { completed: 150 });
  assert.equal(held.most, 64);
  assert.equal(held.keys.length, 150, 'each once');
  await endsWell(server);
});

test('what waits survives a restart, is not missed however late it is, and is dropped with its task', { skip }, async (t) => {
  const place = await begin(t, '2026-03-02T11:00:00Z');
  const { held, clock } = place;
  const first = place.server;
  const tasks = [];
  for (let i = 0; i < 70; i++) tasks.push(await make(first, { title: `Task ${i}` }));
  clock.set('2026-03-02T12:00:01Z');
  await nudge(first, tasks[0]);
  await until(async () => (await tally(first, tasks)).queued === 6, '6 wait', MINUTES);
  const waiting = [];
  for (const task of tasks) if (stateOf((await runsOf(first, task))[0]) === 'queued') waiting.push(task);
  // An hour passes while they wait: they do not count as missed. The task of one of them is disabled.
  clock.put(HOUR);
  await nudge(first, tasks[0]);
  await first.raw('PATCH', `/api/scheduled-tasks/${waiting[0].id}`, { body: { enabled: false } });
  await first.stop('SIGKILL');
  held.open();
  place.server = await place.open({ login: false });
  place.server.key = first.key;
  await until(async () => (await tally(place.server, waiting)).completed === 5, 'they are run', MINUTES);
  assert.equal((await tally(place.server, waiting)).missed, undefined);
  assert.equal(stateOf((await runsOf(place.server, waiting[0]))[0]), 'queued', 'its task is stopped');
  await endsWell(place.server);
});

for (const [name, ms, instant] of [['an hour', HOUR, '2026-03-02T11:29:57Z'], ['a day', 24 * HOUR, '2026-03-01T12:29:57Z']]) {
  test(`a clock put back by ${name}: tasks run at their next time by the new clock, and no instant twice`, { skip }, async (t) => {
    const { clock, server } = await begin(t, '2026-03-02T12:29:58Z');
    const task = await make(server, { cron: '30 * * * *', model: 'demo/echo' });
    const isDone = (due) => async () => (await runsOf(server, task)).some((run) => run.due_at === at(due) && run.status === 'completed');
    await until(isDone('2026-03-02T12:30:00Z'), 'it ran', MINUTES);
    clock.set(instant);
    await nudge(server, task);
    await server.logged('the clock was set back by', MINUTES);
    const next = new Date(new Date(instant).getTime() + 3000).toISOString();
    await until(isDone(next), 'it runs by the new clock', MINUTES);
    // The old time comes again: the task has already run.
    clock.set('2026-03-02T12:29:59Z');
    await nudge(server, task);
    clock.set('2026-03-02T12:30:01Z');
    await nudge(server, task);
    await until(async () => (await server.raw('GET', `/api/scheduled-tasks/${task.id}`)).json.next_run_at === at('2026-03-02T13:30:00Z'), 'it has moved on', MINUTES);
    const due = (await runsOf(server, task)).filter((run) => run.status === 'completed').map((run) => run.due_at);
    assert.equal(new Set(due).size, due.length);
    assert.equal(due.filter((one) => one === at('2026-03-02T12:30:00Z')).length, 1);
    await endsWell(server);
  });
}

test('a clock that was put back while no server ran makes no task wait for the old time', { skip }, async (t) => {
  const place = await begin(t, '2026-03-02T12:29:00Z');
  const task = await make(place.server, { cron: '30 * * * *', model: 'demo/echo' });
  assert.equal(task.next_run_at, at('2026-03-02T12:30:00Z'));
  await endsWell(place.server);
  place.clock.put(-24 * HOUR);
  const { key } = place.server;
  place.server = await place.open({ login: false });
  place.server.key = key;
  await until(async () => (await place.server.raw('GET', `/api/scheduled-tasks/${task.id}`)).json.next_run_at === at('2026-03-01T12:30:00Z'), 'its next time is of the present clock', MINUTES);
  await endsWell(place.server);
});
