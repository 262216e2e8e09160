// A task that is handed from agent to agent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { file, run } from './harness.mjs';

const chat = file('task.json', JSON.stringify({ messages: [
  { role: 'system', content: 'Comment everything.' },
  { role: 'user', content: '为用户构建一个 Python 贪吃蛇游戏' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'plan', arguments: '{"n":1}' } }] },
  { role: 'tool', tool_call_id: 'c1', content: 'done' },
  { role: 'assistant', content: 'Next is the loop.' },
], model: 'demo' }));

function make(name, ...args) {
  const { code, out, err } = run(['handoff', 'make', ...args, chat]);
  assert.equal(err, '');
  assert.equal(code, 0);
  return { path: file(name, out), packet: JSON.parse(out) };
}

const first = make('p1.json', '--source', 'planner', '--target', 'coder', '--constraint', 'black background',
  '--artifact', 'spec=./spec.md', '--trace', 't1', '--done', 'it runs');

test('a packet holds what the receiver needs', () => {
  const { meta, context, ...rest } = first.packet;
  assert.equal(context.primary_objective, '为用户构建一个 Python 贪吃蛇游戏');
  assert.deepEqual(context.completed_steps, ['plan {"n":1}']);
  assert.deepEqual(context.constraints, ['Comment everything.', 'black background']);
  assert.deepEqual(context.artifacts, { spec: './spec.md' });
  assert.equal(rest.history_summary, '5 messages. The user last said: 为用户构建一个 Python 贪吃蛇游戏 The assistant last said: Next is the loop.');
  assert.deepEqual([rest.hop_count, rest.visited, rest.trace_id, rest.definition_of_done], [1, ['planner'], 't1', ['it runs']]);
  assert.ok(Math.abs(Date.parse(meta.timestamp) - Date.now()) < 60_000, meta.timestamp);
});

test('the packet is valid and is accepted by whom it is for', () => {
  assert.equal(run(['validate', '--as', 'handoff', first.path]).code, 0);
  assert.equal(run(['handoff', 'check', first.path]).code, 0);
  const yes = run(['handoff', 'accept', '--agent', 'coder', first.path]);
  assert.equal(yes.code, 0);
  assert.equal(JSON.parse(yes.out).answer, 'accepted');
  const no = run(['handoff', 'accept', '--agent', 'tester', first.path]);
  assert.equal(no.code, 1);
  assert.equal(JSON.parse(no.out).answer, 'refused');
  assert.equal(JSON.parse(no.out).reasons[0].pointer, '/meta/target_agent');
});

test('a packet is refused with reasons', () => {
  const { code, out } = run(['handoff', 'refuse', '--reason', 'no access', first.path]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out).reasons, [{ pointer: '', message: 'no access' }]);
  assert.equal(run(['handoff', 'refuse', first.path]).code, 2);
});

test('the next hop keeps the objective', () => {
  const second = make('p2.json', '--previous', first.path, '--target', 'tester');
  assert.deepEqual([second.packet.hop_count, second.packet.visited], [2, ['planner', 'coder']]);
  assert.equal(run(['handoff', 'check', '--previous', first.path, second.path]).code, 0);
  const changed = file('p3.json', JSON.stringify({ ...second.packet,
    context: { ...second.packet.context, primary_objective: 'something else' } }));
  const { code, out } = run(['handoff', 'check', '--json', '--previous', first.path, changed]);
  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(out).errors.map((e) => e.pointer), ['/meta/objective_hash', '/context/primary_objective']);
  const other = run(['handoff', 'make', '--previous', first.path, '--target', 'x', '--objective', 'y', chat]);
  assert.equal(other.code, 1);
  assert.match(other.err, /must not change/);
});

test('the packet of the seed is one', () => {
  const seed = file('seed.json', `{ "protocol": "harmony_handoff_v1",
  "meta": { "source_agent": "planner_v2", "target_agent": "coder_v1", "timestamp": "2024-03-20T10:00:00Z" },
  "context": { // 1.
    "primary_objective": "x", "status": "in_progress", "completed_steps": ["a"], "next_immediate_step": "b",
    "constraints": [ "c" ], "artifacts": { "design_doc": "s3://.../spec.md" } },
  "history_summary": "..." }`);
  assert.equal(run(['handoff', 'check', seed]).code, 0);
});

test('what cannot be done with a packet is said', () => {
  assert.equal(run(['handoff', 'eat', first.path]).code, 2);
  assert.equal(run(['handoff', 'make', chat]).code, 2);
});

test('a packet can be made of gpt-oss text', () => {
  const text = '<|start|>user<|message|>Count<|end|><|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|><|start|>functions.f<|message|>1<|end|>';
  const { code, out } = run(['handoff', 'make', '--target', 'b', '-'], { input: text });
  assert.equal(code, 0);
  assert.deepEqual([JSON.parse(out).context.primary_objective, JSON.parse(out).context.completed_steps], ['Count', ['f {}']]);
});
