// Everything that waits has a deadline: a whole turn (turn_ms), a run of a task (task_ms). The waits are a vendor that never
// answers, a tool that waits for ten minutes, and a person who does not answer; nothing here measures time.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { configure, Gated } from './gated.mjs';
import { run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

// A server whose provider `held/…` never answers; `change` sets other settings.
async function begin(t, settings) {
  const held = await new Gated().listen();
  const data = mkdtempSync(join(tmpdir(), 'parley-deadlines-'));
  const write = (text) => configure(data, `probe: false\nproviders:\n  held:\n    dialect: openai-chat\n    base_url: ${held.url}\n${text}\n`);
  write(settings);
  const server = await start({ data });
  t.after(async () => {
    await server.stop('SIGKILL');
    held.close();
    rmSync(data, { recursive: true, force: true });
  });
  const change = async (text) => {
    write(text);
    server.err = '';
    server.child.kill('SIGHUP');
    await server.logged('was reloaded');
  };
  return { held, server, change };
}

async function say(server, message, model) {
  const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
  assert.equal((await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message, model } })).status, 202);
  return id;
}

const statusOf = async (server, id) => (await server.ask('GET', `/api/sessions/${id}`)).json.status;
const rests = (server, id, status) => until(async () => await statusOf(server, id) === status, `${id} is ${status}`);
const turnsOf = async (server, id) => (await server.ask('GET', `/api/sessions/${id}/messages?limit=100`)).json;

// Sends the message to new sessions until one gets as far as `look` wants: on a slow machine the deadline may pass earlier.
async function sayUntil(server, message, model, look) {
  return until(async () => {
    const id = await say(server, message, model);
    await until(async () => !['created', 'running'].includes(await statusOf(server, id)), `${id} is at rest`);
    return await look(id) && id;
  }, 'a session that comes so far');
}

test('a turn whose model never answers fails when its time is over, and the next message has a time of its own', async (t) => {
  const { server, held, change } = await begin(t, 'turn_ms: 1000');
  const id = await say(server, 'hello', 'held/one');
  assert.equal((await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'and now?', model: 'demo/echo' } })).status, 202);
  await change('turn_ms: 1800000');
  await rests(server, id, 'completed');
  const [first, second] = (await turnsOf(server, id)).filter((turn) => turn.role === 'assistant');
  assert.equal(first.status, 'failed');
  assert.match(first.error, /turn_ms: \d+/);
  assert.equal(second.status, 'completed');
  assert.ok(held.keys.length <= 1, `${held.keys.length} calls`);
});

test('a tool that goes on for too long ends with the turn', async (t) => {
  const { server } = await begin(t, 'turn_ms: 1000');
  const callOf = async (id) => (await turnsOf(server, id)).flatMap((turn) => turn.tool_calls ?? []).find((one) => one.tool_name === 'wait');
  const id = await sayUntil(server, '#!demo\ncall wait {"ms":600000}\nsay never', 'demo/agent', callOf);
  assert.equal(await statusOf(server, id), 'failed');
  const call = await callOf(id);
  assert.equal(call.status, 'error');
  assert.match(JSON.stringify(call.result), /turn_ms: 1000/);
  assert.match((await turnsOf(server, id)).at(-1).error, /turn_ms: 1000/);
});

test('a summary that the model does not write in time is the first words of each turn', async (t) => {
  const { server, held, change } = await begin(t, '');
  held.isOpen = true;
  const id = await say(server, `something long ago${' and so on'.repeat(400)}`, 'held/one');
  await rests(server, id, 'completed');
  held.isOpen = false;
  await change('turn_ms: 1000');
  const summary = await until(async () => {
    await server.ask('POST', `/api/sessions/${id}/compact`, { body: {} }); // refused while one runs
    return (await turnsOf(server, id)).find((turn) => turn.kind === 'compaction' && turn.status === 'completed');
  }, 'a summary');
  assert.match(JSON.stringify(summary.blocks), /something long ago/);
});

test('the time that a person takes is not counted', async (t) => {
  const { server, change } = await begin(t, 'turn_ms: 1000');
  const ask = '#!demo\ncall AskUserQuestion {"questions":[{"question":"Really?","options":[{"label":"yes"},{"label":"no"}]}]}\nsay good';
  const id = await sayUntil(server, ask, 'demo/agent', async (made) => await statusOf(server, made) === 'waiting_for_input');
  // Another turn, begun later, has used up the same time.
  await rests(server, await say(server, 'hello', 'held/one'), 'failed');
  assert.equal(await statusOf(server, id), 'waiting_for_input');
  await change('turn_ms: 1800000');
  const [{ tool_call_id: question }] = (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items;
  assert.equal((await server.ask('POST', `/api/sessions/${id}/questions/${question}/answer`, { body: { answer: { answers: ['yes'] } } })).status, 200);
  await rests(server, id, 'completed');
});

test('a run of a task that takes longer than task_ms is stopped and has failed', async (t) => {
  const { server } = await begin(t, 'task_ms: 300');
  const { id } = (await server.ask('POST', '/api/scheduled-tasks', { body: { title: 'held', prompt: 'hello', model: 'held/one', cron: '0 0 1 1 *' } })).json;
  const { json: begun } = await server.ask('POST', `/api/scheduled-tasks/${id}/run`);
  const ended = await until(async () => (await server.ask('GET', `/api/scheduled-tasks/${id}/runs`)).json.items.find((one) => one.status !== 'running'), 'the run has ended');
  assert.equal(ended.status, 'failed');
  assert.match(ended.error, /longer than 300 ms \(task_ms\)/);
  await rests(server, begun.session_id, 'interrupted');
});

test('times out of range are refused', () => {
  for (const [name, value] of [['PARLEY_TURN_MS', '0'], ['PARLEY_TURN_MS', '1800001'], ['PARLEY_TURN_MS', 'soon'], ['PARLEY_TASK_MS', '0'], ['PARLEY_TASK_MS', '86400001']]) {
    const { code, err } = run(['serve', '--check-config', '--data', tmpdir()], { env: { ...process.env, [name]: value } });
    assert.equal(code, 2, `${name}=${value}: ${err}`);
    assert.ok(err.includes(name), err);
  }
});
