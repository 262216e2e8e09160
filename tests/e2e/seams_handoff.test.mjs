// A task handed over through the server keeps its objective, constraints and artifacts, however many
// agents it passes through.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { file, run } from './harness.mjs';
import { clientOf, script, serve, settled } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const post = async (path, body) => (await client.request('POST', path, body)).json();
const refused = async (path, body) => {
  const answer = await server.ask('POST', path, { body });
  assert.equal(answer.status, 400, answer.text);
  return answer.json;
};
const hashOf = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

async function spoken() {
  const { id } = await client.createSession({ intent: 'a game' });
  await client.chat(id, { message: 'Build a game' });
  await settled(client, id);
  return id;
}

const full = {
  target: 'coder', source: 'planner', status: 'planned', steps: ['asked the user'], next: 'write the loop',
  constraints: ['black background', 'comment everything'], artifacts: { spec: './spec.md' },
  definition_of_done: ['it runs'], summary: 'A 2D game.', trace_id: 'trace-1',
};

async function accepted(packet, agent) {
  return (await post('/api/handoffs', { packet, agent })).id;
}

test('a packet made by the server has all that the command line can say', async () => {
  const packet = await post(`/api/sessions/${await spoken()}/handoff`, full);
  const { meta, context, ...rest } = packet;
  assert.equal(meta.source_agent, 'planner');
  assert.equal(meta.target_agent, 'coder');
  assert.equal(context.primary_objective, 'Build a game');
  assert.equal(meta.objective_hash, hashOf('Build a game'));
  assert.equal(context.status, 'planned');
  assert.deepEqual(context.completed_steps, ['asked the user']);
  assert.equal(context.next_immediate_step, 'write the loop');
  assert.deepEqual(context.constraints, full.constraints);
  assert.deepEqual(context.artifacts, full.artifacts);
  assert.deepEqual([rest.hop_count, rest.visited, rest.trace_id, rest.definition_of_done, rest.history_summary],
    [1, ['planner'], 'trace-1', ['it runs'], 'A 2D game.']);
  assert.equal(run(['handoff', 'check', file('made.json', JSON.stringify(packet))]).code, 0);
});

test('the hop after goes on from the packet the session accepted', async () => {
  const first = await post(`/api/sessions/${await spoken()}/handoff`, full);
  const second = await accepted(first, 'coder');
  assert.equal((await client.session(second)).intent, 'Build a game');
  await client.chat(second, { message: 'Something else entirely' });
  await settled(client, second);
  const packet = await post(`/api/sessions/${second}/handoff`, {
    target: 'tester', constraints: ['small'], artifacts: { code: './game.py' } });
  assert.equal(packet.meta.source_agent, 'coder');
  assert.equal(packet.context.primary_objective, 'Build a game');
  assert.equal(packet.meta.objective_hash, first.meta.objective_hash);
  assert.deepEqual(packet.context.constraints, ['black background', 'comment everything', 'small']);
  assert.deepEqual(packet.context.artifacts, { code: './game.py', spec: './spec.md' });
  assert.deepEqual([packet.hop_count, packet.visited, packet.trace_id, packet.definition_of_done],
    [2, ['planner', 'coder'], 'trace-1', ['it runs']]);
  const previous = file('first.json', JSON.stringify(first));
  const next = file('second.json', JSON.stringify(packet));
  assert.equal(run(['handoff', 'check', '--previous', previous, next]).code, 0);
  const fork = await post(`/api/sessions/${second}/fork`, {});
  assert.equal((await post(`/api/sessions/${fork.id}/handoff`, { target: 'tester' })).hop_count, 2);
});

test('a changed objective, a changed trace and a second previous packet are refused', async () => {
  const first = await post(`/api/sessions/${await spoken()}/handoff`, full);
  const path = `/api/sessions/${await accepted(first, 'coder')}/handoff`;
  assert.match((await refused(path, { target: 'x', objective: 'totally different' })).detail,
    /objective must not change; it was "Build a game"/);
  assert.match((await refused(path, { target: 'x', trace_id: 'trace-2' })).detail, /trace_id must not change/);
  assert.match((await refused(path, { target: 'x', previous: first })).detail, /leave "previous" out/);
  for (const wrong of [{ constraints: 'one' }, { artifacts: ['a'] }, { artifacts: { a: 1 } }, { steps: [1] },
    { definition_of_done: {} }, { previous: 'p' }, { constraint: ['x'] }])
    assert.equal((await refused(path, { target: 'x', ...wrong })).code, 'invalid_request', JSON.stringify(wrong));
});

test('a session that accepted nothing goes on from the packet it is given', async () => {
  const first = await post(`/api/sessions/${await spoken()}/handoff`, full);
  const packet = await post(`/api/sessions/${await spoken()}/handoff`, { target: 'tester', previous: first });
  assert.deepEqual([packet.hop_count, packet.visited, packet.meta.source_agent], [2, ['planner', 'coder'], 'coder']);
});

test('a task goes back to whoever gave it, and not in a circle', async () => {
  let packet = await post(`/api/sessions/${await spoken()}/handoff`, { target: 'coder', source: 'planner' });
  const go = async (agent, target) => {
    packet = await post(`/api/sessions/${await accepted(packet, agent)}/handoff`, { target });
  };
  await go('coder', 'planner');
  await go('planner', 'tester');
  assert.deepEqual(packet.visited, ['planner', 'coder', 'planner']);
  const path = `/api/sessions/${await accepted(packet, 'tester')}/handoff`;
  assert.match((await refused(path, { target: 'coder' })).detail, /circle/);
  assert.match((await refused(path, { target: 'tester' })).detail, /circle/);
  await go('tester', 'planner');
  await go('planner', 'writer');
  assert.equal(packet.hop_count, 5);
  const last = `/api/sessions/${await accepted(packet, 'writer')}/handoff`;
  assert.match((await refused(last, { target: 'planner' })).detail, /5 hops/);
});

test('what is missing in a packet, or was dropped from it, is named, by server and command', async () => {
  const first = await post(`/api/sessions/${await spoken()}/handoff`, full);
  const second = await post(`/api/sessions/${await accepted(first, 'coder')}/handoff`, { target: 'tester' });
  const { constraints: _, artifacts: __, ...bare } = second.context;
  const { objective_hash: ___, ...noHash } = second.meta;
  const cases = [
    [{ ...second, context: bare }, ['/context'], false],
    [{ ...second, context: { ...second.context, constraints: ['black background'] } }, ['/context/constraints'], true],
    [{ ...second, context: { ...second.context, artifacts: {} } }, ['/context/artifacts'], true],
    [{ ...second, meta: noHash, context: { ...second.context, primary_objective: 'other' } }, ['/meta'], false],
    [{ ...second, visited: ['tester', 'planner', 'coder'] }, ['/meta/target_agent'], false],
  ];
  const previous = file('before.json', JSON.stringify(first));
  for (const [packet, pointers, needsPrevious] of cases) {
    const body = { packet, ...(needsPrevious && { previous: first }) };
    const told = await post('/api/handoffs/check', body);
    assert.equal(told.valid, false);
    assert.deepEqual([...new Set(told.errors.map(({ pointer }) => pointer))], pointers);
    const args = ['handoff', 'check', '--json', ...(needsPrevious ? ['--previous', previous] : [])];
    assert.deepEqual(JSON.parse(run([...args, file('bad.json', JSON.stringify(packet))]).out).errors, told.errors);
    const problem = await refused('/api/handoffs', body);
    assert.deepEqual(problem.errors.map(({ pointer, detail }) => ({ pointer: pointer.slice('/packet'.length), message: detail })),
      told.errors);
  }
  const dropped = await post('/api/handoffs/check', { packet: cases[1][0], previous: first });
  assert.match(dropped.errors[0].message, /the constraint "comment everything" of the previous hop is missing/);
  const good = await post('/api/handoffs/check', { packet: second, previous: first, agent: 'tester' });
  assert.deepEqual(good, { valid: true, errors: [] });
});

test('the handoff tool takes the same, and goes on from the accepted packet', async () => {
  const first = await post(`/api/sessions/${await spoken()}/handoff`, full);
  const id = await accepted(first, 'coder');
  const call = async (args) => {
    await client.chat(id, { message: script(`call handoff ${JSON.stringify(args)}`, '---', 'say done') });
    await settled(client, id);
    return (await client.messages(id)).turns.flatMap(({ tool_calls: calls }) => calls).at(-1);
  };
  const { status, result } = await call({ target: 'tester', constraints: ['small'], artifacts: { code: './game.py' } });
  assert.equal(status, 'done');
  assert.deepEqual([result.packet.hop_count, result.packet.visited], [2, ['planner', 'coder']]);
  assert.deepEqual(result.packet.context.constraints, ['black background', 'comment everything', 'small']);
  assert.deepEqual(result.packet.context.artifacts, { code: './game.py', spec: './spec.md' });
  const no = await call({ target: 'tester', objective: 'totally different' });
  assert.equal(no.status, 'error');
  assert.match(JSON.stringify(no.result), /must not change/);
});
