// Scheduled tasks: a real server whose wall clock the test sets.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Clock, noClock } from './clock.mjs';
import { endsWell, script, serve, Socket, until } from './live.mjs';

const DAY = 86_400_000;
const skip = noClock;

const at = (text) => new Date(text).toISOString();

async function begin(t, instant, options = {}) {
  const clock = new Clock(instant);
  const server = await serve({ env: clock.env, ...options });
  t.after(() => server.stop('SIGKILL'));
  return { clock, server };
}

async function make(server, body, options) {
  const { status, json, text } = await server.ask('POST', '/api/scheduled-tasks', { body: { title: 'A task', prompt: 'hello', cron: '* * * * *', ...body }, ...options });
  assert.equal(status, 201, text);
  return json;
}

const get = async (server, path) => (await server.ask('GET', `/api/scheduled-tasks/${path}`)).json;
const runsOf = async (server, task, query = '') => (await get(server, `${task.id}/runs?limit=100${query}`)).items;
// A change of any task makes the scheduler read the clock at once.
const nudge = (server, task) => server.ask('PATCH', `/api/scheduled-tasks/${task.id}`, { body: { title: task.title } });

// The matching runs of a task, as soon as there are `n`.
const untilRuns = (server, task, n, fits = () => true) => until(async () => {
  const fitting = (await runsOf(server, task)).filter(fits);
  return fitting.length >= n && fitting;
}, `${n} runs of ${task.title}`);

const isDone = (run) => run.finished_at !== null;
const isMissed = (run) => run.reason === 'missed';

test('a task is run at its minute, in a session of its own, and told over sockets', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T11:59:57Z');
  const socket = await new Socket(server).opened;
  t.after(() => socket.close());
  const task = await make(server, { title: 'Noon', prompt: 'good noon', cron: '0 12 * * *' });
  assert.equal(task.next_run_at, at('2026-03-02T12:00:00Z'));
  const [run] = await untilRuns(server, task, 1, isDone);
  assert.equal(run.status, 'completed');
  assert.equal(run.due_at, at('2026-03-02T12:00:00Z'));
  assert.equal(run.is_manual, false);
  assert.equal(run.error, null);
  const session = (await server.ask('GET', `/api/sessions/${run.session_id}`)).json;
  assert.equal(session.intent, 'Noon');
  assert.equal(session.status, 'completed');
  const turns = (await server.ask('GET', `/api/sessions/${run.session_id}/messages`)).json;
  assert.deepEqual((turns.items ?? turns).map((turn) => turn.role), ['user', 'assistant']);
  const after = await get(server, task.id);
  assert.equal(after.next_run_at, at('2026-03-03T12:00:00Z'));
  assert.equal(after.last_run_at, at('2026-03-02T12:00:00Z'));
  const told = (status) => (frame) => frame.event === 'task:updated' && frame.data.run?.id === run.id && frame.data.run.status === status;
  assert.equal((await socket.next(told('running'), 'that it runs')).data.task.id, task.id);
  assert.equal((await socket.next(told('completed'), 'that it is done')).data.run.session_id, run.session_id);
  await endsWell(server);
});

test('with schedules off nothing that is due is run, by itself or after a change; a run by hand is', { skip }, async (t) => {
  const clock = new Clock('2026-03-02T12:00:10Z');
  const off = await serve({ env: { ...clock.env, PARLEY_SCHEDULES: 'false' } });
  t.after(() => off.stop('SIGKILL'));
  const task = await make(off, {});
  clock.put(DAY);
  await nudge(off, task);
  const { status } = await off.ask('POST', `/api/scheduled-tasks/${task.id}/run`, { body: {} });
  assert.ok(status < 300, `${status}`);
  const [run] = await untilRuns(off, task, 1, isDone);
  assert.equal(run.is_manual, true);
  await nudge(off, task);
  assert.equal((await runsOf(off, task)).length, 1);
  await endsWell(off);
});

test('a clock put forward a day makes one catch-up and one record of what was missed', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:10Z');
  const task = await make(server, {});
  clock.put(DAY);
  await nudge(server, task);
  const done = await untilRuns(server, task, 2, isDone);
  assert.equal(done.length, 2);
  const missed = done.find(isMissed);
  const run = done.find((one) => one.reason === null);
  assert.equal(run.status, 'completed');
  assert.equal(run.due_at, at('2026-03-03T12:00:00Z'));
  assert.equal(run.missed_count, 14); // 11:46 to 11:59
  assert.equal(missed.session_id, null);
  assert.equal(missed.due_at, at('2026-03-03T11:45:00Z'));
  assert.equal(1 + missed.missed_count + 1 + run.missed_count, 1440); // every minute of the day, once
  assert.equal((await get(server, task.id)).next_run_at, at('2026-03-03T12:01:00Z'));
});

test('a clock put back makes no minute due twice', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:57Z');
  const task = await make(server, {});
  await untilRuns(server, task, 1, isDone);
  clock.set('2026-03-02T12:00:58Z');
  await nudge(server, task);
  const second = await make(server, {});
  await untilRuns(server, second, 1, isDone); // 12:01 has come again
  assert.deepEqual((await runsOf(server, task)).map((run) => run.due_at), [at('2026-03-02T12:01:00Z')]);
  clock.set('2026-03-02T12:01:59Z');
  await nudge(server, task);
  const runs = await untilRuns(server, task, 2, isDone);
  assert.deepEqual(runs.map((run) => run.due_at), [at('2026-03-02T12:02:00Z'), at('2026-03-02T12:01:00Z')]);
});

test('a jump of the clock is noticed without anybody asking', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:10Z');
  const task = await make(server, { cron: '0 0 * * *' });
  clock.set('2026-03-03T00:00:05Z');
  const [run] = await untilRuns(server, task, 1, isDone);
  assert.equal(run.due_at, at('2026-03-03T00:00:00Z'));
});

test('what was due while no server ran is caught up with or missed', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:10Z');
  const task = await make(server, { cron: '*/10 * * * *' });
  await endsWell(server);
  clock.set('2026-03-02T13:12:00Z');
  const again = await serve({ env: clock.env, data: server.data });
  t.after(() => again.stop('SIGKILL'));
  again.key = server.key;
  const runs = await untilRuns(again, task, 2, isDone);
  assert.deepEqual(runs.map((run) => [run.due_at, run.reason, run.missed_count]), [
    [at('2026-03-02T13:10:00Z'), null, 1],
    [at('2026-03-02T12:50:00Z'), 'missed', 4],
  ]);
});

test('a run that a crash ends has failed, and the task goes on', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:58Z');
  const task = await make(server, { prompt: script('say a', 'wait 60000') });
  const [run] = await untilRuns(server, task, 1);
  assert.equal(run.status, 'running');
  await server.stop('SIGKILL');
  const again = await serve({ env: clock.env, data: server.data });
  t.after(() => again.stop('SIGKILL'));
  again.key = server.key;
  const [ended] = await runsOf(again, task);
  assert.equal(ended.id, run.id);
  assert.equal(ended.status, 'failed');
  assert.match(ended.error, /server ended/);
  assert.equal((await again.ask('GET', `/api/sessions/${run.session_id}`)).json.status, 'interrupted');
  clock.set('2026-03-02T12:02:00Z');
  await nudge(again, task);
  await untilRuns(again, task, 2);
});

test('overlap: skip leaves a run out while the one before is at work', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:58Z');
  const task = await make(server, { prompt: script('wait 60000') });
  await untilRuns(server, task, 1);
  clock.set('2026-03-02T12:02:01Z');
  await nudge(server, task);
  const [skipped] = await untilRuns(server, task, 1, (run) => run.reason === 'skipped');
  assert.equal(skipped.due_at, at('2026-03-02T12:02:00Z'));
  assert.equal(skipped.session_id, null);
  assert.match(skipped.error, /was still running/);
});

test('overlap: queue starts a run when the one before has ended', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:58Z');
  const task = await make(server, { prompt: script('wait 4000'), overlap: 'queue' });
  const [first] = await untilRuns(server, task, 1);
  clock.set('2026-03-02T12:02:01Z');
  await nudge(server, task);
  const [queued] = await untilRuns(server, task, 1, (run) => run.reason === 'queued');
  assert.equal(queued.status, 'running');
  assert.equal(queued.session_id, null);
  await untilRuns(server, task, 1, (run) => run.id === first.id && isDone(run));
  const [run] = await untilRuns(server, task, 1, (one) => one.id === queued.id && isDone(one));
  assert.equal(run.status, 'completed');
  assert.ok(run.session_id);
});

test('overlap: allow runs both, replace stops the one before', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:58Z');
  const allow = await make(server, { title: 'allow', prompt: script('wait 60000'), overlap: 'allow' });
  const replace = await make(server, { title: 'replace', prompt: script('wait 60000'), overlap: 'replace' });
  await untilRuns(server, allow, 1);
  const [first] = await untilRuns(server, replace, 1);
  clock.set('2026-03-02T12:02:01Z');
  await nudge(server, allow);
  const both = await untilRuns(server, allow, 2);
  assert.deepEqual(both.map((run) => run.status), ['running', 'running']);
  const [stopped] = await untilRuns(server, replace, 1, isDone);
  assert.equal(stopped.id, first.id);
  assert.equal(stopped.status, 'failed');
  assert.match(stopped.error, /replaced/);
  assert.equal((await server.ask('GET', `/api/sessions/${first.session_id}`)).json.status, 'interrupted');
  const [newest] = await untilRuns(server, replace, 2);
  assert.equal(newest.status, 'running');
  assert.equal((await get(server, replace.id)).failures, 0);
});

test('ten failures in a row disable a task, and its user is told', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { title: 'Broken', prompt: script('fail the roof is on fire'), cron: '0 0 1 1 *' });
  const socket = await new Socket(server).opened;
  t.after(() => socket.close());
  for (let i = 1; i <= 10; i++) {
    const { status } = await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
    assert.equal(status, 202);
    await until(async () => (await get(server, task.id)).failures === i, `${i} failures`);
    assert.equal((await get(server, task.id)).enabled, i < 10);
  }
  const after = await get(server, task.id);
  assert.match(after.disabled_reason, /Ten runs/);
  assert.equal(after.next_run_at, null);
  const { data } = await socket.next((frame) => frame.event === 'system:notification', 'a notification');
  assert.match(data.text, /"Broken" was disabled/);
  const [run] = await runsOf(server, task);
  assert.equal(run.error, 'the roof is on fire');
  const started = (await server.ask('POST', `/api/scheduled-tasks/${task.id}/start`)).json;
  assert.deepEqual([started.enabled, started.failures, started.disabled_reason], [true, 0, null]);
});

test('a good run forgets the failures before it', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { prompt: script('fail once'), cron: '0 0 1 1 *' });
  await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
  await until(async () => (await get(server, task.id)).failures === 1, 'a failure');
  await server.ask('PATCH', `/api/scheduled-tasks/${task.id}`, { body: { prompt: 'fine' } });
  await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
  await until(async () => (await get(server, task.id)).failures === 0, 'none');
});

test('a task that has expired is disabled and does not run', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:05Z');
  const socket = await new Socket(server).opened;
  t.after(() => socket.close());
  const task = await make(server, { title: 'Short', cron: '0 * * * *', expires_at: '2026-03-02T12:30:00Z' });
  assert.equal(task.next_run_at, null);
  clock.set('2026-03-02T12:30:00Z');
  await nudge(server, task);
  await until(async () => !(await get(server, task.id)).enabled, 'the end');
  assert.equal((await get(server, task.id)).disabled_reason, 'expired');
  assert.deepEqual(await runsOf(server, task), []);
  await socket.next((frame) => frame.event === 'system:notification' && /Short/.test(frame.data.text), 'a notification');
});

test('skip_confirmations answers what a tool asks first, and nothing else', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const publish = script('call publish {"title":"a","html":"<p>b</p>"}');
  const ask = script('call AskUserQuestion {"questions":[{"question":"Really?","options":[{"label":"yes"},{"label":"no"}]}]}');
  const run = async (body) => {
    const task = await make(server, { cron: '0 0 1 1 *', ...body });
    const { json } = await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
    assert.equal(json.is_manual, true);
    return { task, run: json };
  };
  const free = await run({ prompt: publish, skip_confirmations: true });
  assert.equal((await untilRuns(server, free.task, 1, isDone))[0].status, 'completed');
  const waits = await run({ prompt: publish });
  const asks = await run({ prompt: ask, skip_confirmations: true });
  for (const { run: one } of [waits, asks])
    await until(async () => (await server.ask('GET', `/api/sessions/${one.session_id}`)).json.status === 'waiting_for_input', 'a question');
  const [pending] = await runsOf(server, asks.task);
  assert.equal(pending.status, 'running');
  const [question] = (await server.ask('GET', `/api/sessions/${pending.session_id}/questions`)).json.items;
  await server.ask('POST', `/api/sessions/${pending.session_id}/questions/${question.tool_call_id}/answer`, { body: { answer: { answers: ['yes'] } } });
  await untilRuns(server, asks.task, 1, isDone);
});

test('a run that waits for a person goes on waiting after a restart', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { cron: '0 0 1 1 *', prompt: script('call publish {"title":"a","html":"b"}') });
  const { json: run } = await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
  const isWaiting = async (one) => (await one.ask('GET', `/api/sessions/${run.session_id}`)).json.status === 'waiting_for_input';
  await until(() => isWaiting(server), 'a question');
  await server.stop('SIGKILL');
  const again = await serve({ env: clock.env, data: server.data });
  t.after(() => again.stop('SIGKILL'));
  again.key = server.key;
  assert.ok(await isWaiting(again));
  assert.equal((await runsOf(again, task))[0].status, 'running');
  const [question] = (await again.ask('GET', `/api/sessions/${run.session_id}/questions`)).json.items;
  await again.ask('POST', `/api/sessions/${run.session_id}/questions/${question.tool_call_id}/answer`, { body: { answer: { approve: true } } });
  const [ended] = await untilRuns(again, task, 1, isDone);
  assert.equal(ended.status, 'completed');
});

test('a run that takes longer than 30 minutes is stopped and has failed', { skip }, async (t) => {
  const { clock, server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { cron: '0 0 1 1 *', prompt: script('call publish {"title":"a","html":"b"}') });
  const { json: run } = await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
  await until(async () => (await server.ask('GET', `/api/sessions/${run.session_id}`)).json.status === 'waiting_for_input', 'a question');
  await server.stop('SIGKILL');
  clock.put(31 * 60_000);
  const again = await serve({ env: clock.env, data: server.data });
  t.after(() => again.stop('SIGKILL'));
  again.key = server.key;
  const [ended] = await untilRuns(again, task, 1, isDone);
  assert.equal(ended.status, 'failed');
  assert.match(ended.error, /longer than 30 minutes/);
  assert.equal((await again.ask('GET', `/api/sessions/${run.session_id}`)).json.status, 'interrupted');
});

test('a prompt of the library is said as it stands when the task runs', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const prompt = (await server.ask('POST', '/api/prompts', { body: { name: 'greeting', content: 'hello {{who}}' } })).json;
  await server.ask('PUT', `/api/prompts/${prompt.id}/labels/production`, { body: { version: 1 } });
  const task = await make(server, {
    prompt: undefined, cron: '0 0 1 1 *', prompt_ref: { prompt_id: prompt.id, version: 'production', variables: { who: 'world' } },
  });
  assert.equal(task.prompt, '');
  const said = async () => {
    const { status, json } = await server.ask('POST', `/api/scheduled-tasks/${task.id}/run`);
    assert.equal(status, 202);
    const [run] = await untilRuns(server, task, 1, (one) => one.id === json.id && isDone(one));
    if (!run.session_id) return run.error;
    const turns = (await server.ask('GET', `/api/sessions/${run.session_id}/messages`)).json;
    return (turns.items ?? turns)[0].blocks.map((block) => block.content).join('');
  };
  assert.equal(await said(), 'hello world');
  await server.ask('POST', `/api/prompts/${prompt.id}/versions`, { body: { content: 'good day {{who}}', based_on: 1 } });
  assert.equal(await said(), 'hello world');
  await server.ask('PUT', `/api/prompts/${prompt.id}/labels/production`, { body: { version: 2 } });
  assert.equal(await said(), 'good day world');
  // The prompt's variables are checked when the task is made or changed; those of a later version, when it runs.
  for (const [variables, says] of [[{}, /"who" has no value/], [{ whp: 'x', who: 'y' }, /no variable "whp"; did you mean "who"\?/]]) {
    const ref = { prompt_id: prompt.id, version: 'production', variables };
    const refused = await Promise.all([server.ask('PATCH', `/api/scheduled-tasks/${task.id}`, { body: { prompt_ref: ref } }), server.ask('POST', '/api/scheduled-tasks', { body: { title: 't', cron: '0 0 1 1 *', prompt_ref: ref } })]);
    for (const { status, json } of refused) assert.deepEqual([status, says.test(json.detail), json.errors[0].pointer], [400, true, '/prompt_ref/variables'], JSON.stringify(json));
  }
  assert.equal(await said(), 'good day world');
  await server.ask('POST', `/api/prompts/${prompt.id}/versions`, { body: { content: 'good day {{whom}}', based_on: 2 } });
  await server.ask('PUT', `/api/prompts/${prompt.id}/labels/production`, { body: { version: 3 } });
  assert.match(await said(), /"whom" has no value/);
  await server.ask('DELETE', `/api/prompts/${prompt.id}`);
  assert.match(await said(), /prompt/);
  assert.equal((await get(server, task.id)).failures, 2);
});

test('another user sees nothing of a task', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { cron: '0 0 1 1 *' });
  const other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
  const id = task.id;
  for (const [method, path, body] of [
    ['GET', id], ['PATCH', id, { title: 'x' }], ['DELETE', id], ['POST', `${id}/start`], ['POST', `${id}/stop`],
    ['POST', `${id}/run`], ['GET', `${id}/runs`], ['GET', `${id}/occurrences`],
    ['GET', 'task_00000000-0000-7000-8000-000000000000'], ['GET', 'nothing'],
  ]) {
    const { status } = await server.ask(method, `/api/scheduled-tasks/${path}`, { body, key: other });
    assert.equal(status, 404, `${method} ${path}`);
  }
  assert.equal((await server.ask('GET', '/api/scheduled-tasks', { key: other })).json.total, 0);
  assert.deepEqual((await server.ask('GET', '/api/scheduled-tasks/calendar', { key: other })).json.items, []);
  assert.equal((await server.ask('GET', '/api/scheduled-tasks')).json.total, 1);
});

test('what is wrong with a task is said, and where', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  for (const [body, pointer, says] of [
    [{ cron: '61 * * * *' }, '/cron', /from 0 to 59/],
    [{ cron: '* * *' }, '/cron', /five/i],
    [{ cron: '* '.repeat(70) }, '/cron'],
    [{ timezone: 'Nowhere/Land' }, '/timezone', /no time zone/],
    [{ timezone: '../../etc/passwd' }, '/timezone', /not the name of a time zone/],
    [{ expires_at: '2026-03-02T11:00:00Z' }, '/expires_at', /must be in the future/],
    [{ model: 'nobody/nothing' }, '/model', /There is no model nobody\/nothing; GET \/api\/models lists/],
    [{ model: 'claude-sonnet-4-5' }, '/model', /set ANTHROPIC_API_KEY/],
    [{ prompt_ref: { prompt_id: 'x' } }, '/prompt', /not both/],
    [{ prompt: undefined }, '/prompt', /needs a prompt/],
    [{ prompt: undefined, prompt_ref: { prompt_id: 'prompt_00000000-0000-7000-8000-000000000000' } }, '/prompt_ref/prompt_id', /no prompt/],
    [{ overlap: 'both' }, '/overlap'],
    [{ title: '' }, '/title'],
  ]) {
    const { status, json } = await server.ask('POST', '/api/scheduled-tasks', { body: { title: 'A', prompt: 'x', cron: '* * * * *', ...body } });
    assert.equal(status, 400, JSON.stringify(body));
    assert.equal(json.errors?.[0].pointer, pointer, JSON.stringify(json));
    if (says) assert.match(json.detail, says);
  }
});

test('a change of the time counts from now on, other changes leave it alone', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { cron: '0 9 * * *', timezone: 'Europe/Berlin' });
  assert.equal(task.next_run_at, at('2026-03-03T08:00:00Z'));
  const change = async (body) => (await server.ask('PATCH', `/api/scheduled-tasks/${task.id}`, { body })).json;
  assert.equal((await change({ title: 'other' })).next_run_at, task.next_run_at);
  assert.equal((await change({ timezone: 'Asia/Shanghai' })).next_run_at, at('2026-03-03T01:00:00Z'));
  assert.equal((await change({ cron: '30 20 * * *' })).next_run_at, at('2026-03-02T12:30:00Z'));
  assert.equal((await change({ enabled: false })).next_run_at, null);
  assert.equal((await server.ask('POST', `/api/scheduled-tasks/${task.id}/start`)).json.next_run_at, at('2026-03-02T12:30:00Z'));
  assert.equal((await server.ask('POST', `/api/scheduled-tasks/${task.id}/stop`)).json.enabled, false);
  assert.equal((await server.ask('DELETE', `/api/scheduled-tasks/${task.id}`)).status, 204);
  assert.equal((await server.ask('GET', `/api/scheduled-tasks/${task.id}`)).status, 404);
});

test('tasks are listed by page, by title and by whether they are enabled', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  for (const i of [1, 2, 3, 4, 5]) await make(server, { title: `Report ${i}`, cron: '0 0 1 1 *', enabled: i !== 3 });
  const list = async (query) => (await server.ask('GET', `/api/scheduled-tasks?${query}`)).json;
  const first = await list('limit=2');
  assert.deepEqual(first.items.map((task) => task.title), ['Report 5', 'Report 4']);
  assert.equal(first.total, 5);
  const second = await list(`limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual(second.items.map((task) => task.title), ['Report 3', 'Report 2']);
  assert.deepEqual((await list('enabled=false')).items.map((task) => task.title), ['Report 3']);
  assert.equal((await list('q=report%204')).total, 1);
});

test('occurrences, the calendar and the meaning of an expression', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-28T12:00:30Z');
  const task = await make(server, { title: 'Night', cron: '30 2 * * *', timezone: 'Europe/Berlin' });
  const { items } = await get(server, `${task.id}/occurrences?limit=2`);
  assert.deepEqual(items, [
    { at: at('2026-03-29T01:00:00Z'), local: '2026-03-29T03:00:00+02:00' }, // skipped by daylight saving
    { at: at('2026-03-30T00:30:00Z'), local: '2026-03-30T02:30:00+02:00' },
  ]);
  assert.equal((await get(server, `${task.id}/occurrences?from=2026-04-01T00:00:00Z&to=2026-04-04T00:00:00Z`)).items.length, 3);
  assert.equal((await server.ask('GET', `/api/scheduled-tasks/${task.id}/occurrences?limit=101`)).status, 400);
  await make(server, { title: 'Always', enabled: true, cron: '* * * * *', prompt: script('wait 600000') });
  const calendar = await get(server, 'calendar?from=2026-03-28T00:00:00Z&to=2026-05-20T00:00:00Z');
  assert.equal(calendar.items.length, 1000);
  assert.equal(calendar.is_complete, false);
  assert.ok(calendar.items.every((item, i, all) => !i || item.at >= all[i - 1].at));
  const night = calendar.items.find((item) => item.title === 'Night');
  assert.equal(night.local, '2026-03-29T03:00:00+02:00');
  assert.equal((await server.ask('GET', '/api/scheduled-tasks/calendar?from=2026-03-01T00:00:00Z&to=2026-06-01T00:00:00Z')).status, 400);
  const explained = await get(server, `explain?cron=${encodeURIComponent('0 9 * * MON-FRI')}&timezone=Asia/Shanghai`);
  assert.equal(explained.en, 'At 09:00, on Monday to Friday');
  assert.match(explained.zh, /周一/);
  assert.equal(explained.next.length, 10);
  assert.equal(explained.next[0], at('2026-03-30T01:00:00Z'));
  assert.equal((await server.ask('GET', '/api/scheduled-tasks/explain?cron=x')).json.errors[0].pointer, '/cron');
});

test('what is past stands in the calendar with its run', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T11:59:58Z');
  const task = await make(server, { cron: '0 12 * * *' });
  const [run] = await untilRuns(server, task, 1, isDone);
  const { items, is_complete: isComplete } = await get(server, 'calendar?from=2026-03-02T00:00:00Z&to=2026-03-05T00:00:00Z');
  assert.deepEqual(items.map((item) => [item.at, item.run?.id ?? null]), [
    [at('2026-03-02T12:00:00Z'), run.id], [at('2026-03-03T12:00:00Z'), null], [at('2026-03-04T12:00:00Z'), null],
  ]);
  assert.equal(isComplete, true);
});

test('the event stream of a session says nothing of tasks, and neither does another user\'s socket', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const session = (await server.ask('POST', '/api/sessions', { body: { intent: 'watched' } })).json;
  const other = (await server.ask('POST', '/api/users', { body: { name: 'other' } })).json.key.plaintext;
  const mine = await new Socket(server).opened;
  const theirs = await new Socket(server, { key: other }).opened;
  const ending = new AbortController();
  t.after(() => { mine.close(); theirs.close(); ending.abort(); });
  const stream = await fetch(`${server.url}/api/sessions/${session.id}/events`, { headers: { authorization: `Bearer ${server.key}` }, signal: ending.signal });
  let said = '';
  (async () => { for await (const piece of stream.body) said += Buffer.from(piece); })().catch(() => {});
  await make(server, { cron: '0 0 1 1 *' });
  await mine.next((frame) => frame.event === 'task:updated', 'that it was made');
  await server.ask('PATCH', `/api/sessions/${session.id}`, { body: { intent: 'changed' } });
  await until(() => said.includes('session:updated'), 'the stream');
  await theirs.ask('ping');
  assert.ok(!said.includes('task:updated'));
  assert.deepEqual(theirs.events('task:updated'), []);
});

test('the same Idempotency-Key runs a task once', { skip }, async (t) => {
  const { server } = await begin(t, '2026-03-02T12:00:05Z');
  const task = await make(server, { cron: '0 0 1 1 *' });
  const ask = () => server.ask('POST', `/api/scheduled-tasks/${task.id}/run`, { headers: { 'idempotency-key': 'once' } });
  const first = await ask();
  const second = await ask();
  assert.equal(second.json.id, first.json.id);
  await untilRuns(server, task, 1, isDone);
  assert.equal((await runsOf(server, task)).length, 1);
});
