// Each operation of the methods session, ui and events, and the limits of fs and exec: the result at the limit, and the
// error one beyond it. ext_broker tests scopes, ext_wrong_types tests wrong types.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const workspace = mkdtempSync(join(directory, 'methods-'));
let server, home;
// A tool that makes the host calls of its input, in order or all at once, and returns their results.
const code = `
def on(f):
    if f["type"] != "tool_call": return
    todo, done = list(f["payload"]["input"]["calls"]), []
    def ended(p):
        # A tool's result has a limit of its own: of a long text it tells the length.
        short = {key: len(text) if isinstance(text, str) and len(text) > 1000 else text for key, text in p["output"].items()}
        done.append({"output": short, "error": p.get("error")})
        if len(done) == len(f["payload"]["input"]["calls"]): result(f, {"done": done})
        elif not f["payload"]["input"].get("together"): step()
    def step():
        c = todo.pop(0)
        call(c["method"], c["capability"], c["params"], ended, timeout_ms=c.get("timeout_ms", 0))
    step()
    while f["payload"]["input"].get("together") and todo: step()
`;
before(async () => {
  server = await start({ args: ['--workspace', workspace] });
  home = join(workspace, (await server.ask('POST', '/api/sessions', { body: {} })).json.user_id);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'large'), 'x'.repeat((4 << 20) + 1));
  await extend(server, 'does', { tools: [tool('does', { timeout_ms: 300000 })], commands: [{ name: 'hum', description: 'Hums' }], code });
});
const input = (list, together) => JSON.stringify({ together, calls: list.map(([method, params, capability = method]) => ({ method, capability, params })) });
async function doing(list, together) {
  const id = await play(server, `call does ${input(list, together)}\n---\nsay done`);
  await rested(server, id);
  const [call] = await calls(server, id);
  assert.equal(call.status, 'done', JSON.stringify(call));
  return { id, done: call.result.done };
}
const fates = ({ done }) => done.map(({ output, error }) => (error ? `${error.code} ${error.details?.reason ?? error.message}` : output));

test('session: model, context, entries and name of the session at hand', async () => {
  const { id, done } = await doing([
    ['session', { op: 'get_model' }], ['session', { op: 'get_context' }], ['session', { op: 'set_name', name: 'Named' }], ['session', { op: 'append_entry', type: 'a', data: { n: 1 } }],
    ['session', { op: 'get_entries' }], ['session', { op: 'get_messages', limit: 1 }], ['session', { op: 'get_messages', limit: 0 }], ['session', { op: 'set_name' }],
    ['session', { op: 'append_entry', data: {} }], ['session', { op: 'set_model' }]]);
  assert.match(JSON.stringify(done[0].output), /demo\/agent/);
  assert.ok(Object.keys(done[1].output).length, JSON.stringify(done[1]));
  assert.deepEqual(done[4].output.entries.map(({ type, data }) => [type, data]), [['a', { n: 1 }]]);
  assert.equal(done[5].output.messages.length, 1);
  assert.deepEqual(done.slice(6).map(({ error }) => error?.code), ['invalid_request', 'invalid_request', 'invalid_request', 'invalid_request']);
  assert.ok(done.slice(6).every(({ error }) => error.message.length > 5));
  assert.equal((await server.ask('GET', `/api/sessions/${id}`)).json.intent, 'Named');
});

test('events: tools and commands are listed and narrowed', async () => {
  const { done } = await doing([
    ['events', { op: 'get_all_tools' }], ['events', { op: 'get_commands' }], ['events', { op: 'set_active_tools', tools: ['calc', 'does'] }], ['events', { op: 'get_active_tools' }],
    ['events', { op: 'set_active_tools', tools: ['no_such_tool'] }], ['events', { op: 'set_active_tools', tools: 'calc' }], ['events', { op: 'emit', data: {} }], ['events', { op: 'send_user_message', content: 'x', deliver_as: 'post' }]]);
  assert.ok(done[0].output.tools.includes('does') && done[0].output.tools.length > 2);
  assert.match(JSON.stringify(done[1].output), /"hum"/);
  assert.deepEqual(done[3].output.tools.sort(), ['calc', 'does']);
  assert.deepEqual(done.slice(4).map(({ error }) => error?.code), ['invalid_request', 'invalid_request', 'invalid_request', 'invalid_request']);
});

test('events: what is emitted is heard by those who follow the topic', async () => {
  const ear = await extend(server, 'ear', { hooks: ['bus:news'], tools: [tool('ear')], code: 'def on(f):\n    if f["type"] == "tool_call": result(f, {"text": "awake"})' });
  assert.equal((await called(server, 'call ear {}\n---\nsay done'))[0].result, 'awake');
  await doing([['events', { op: 'emit', topic: 'other', data: { n: 1 } }], ['events', { op: 'emit', topic: 'news', data: { n: 2 } }]]);
  const heard = await ear.sent((f) => f.type === 'event_hook' && f.payload.event === 'bus:news', 'the news');
  assert.match(JSON.stringify(heard.payload.data), /"n":2/);
  assert.ok(!(await ear.frames()).some((f) => f.payload.event === 'bus:other'));
  await ear.prove();
  await ear.remove();
});

test('ui: what is only shown needs nobody; one over its size is told', async () => {
  assert.deepEqual(fates(await doing([
    ['ui', { op: 'notify', message: 'seen', level: 'info' }], ['ui', { op: 'set_status', key: 'k', text: 't' }], ['ui', { op: 'set_widget', key: 'k', lines: ['a', 'b'] }], ['ui', { op: 'set_title', title: 'T' }],
    ['ui', { op: 'set_widget', key: 'k', lines: ['x'.repeat(64 << 10)] }]])), [{}, {}, {}, {}, 'invalid_request too_large']);
});

test('ui: a confirmation is true or false, an editor gives the text', async () => {
  const asks = [['ui', { op: 'confirm', title: 'Sure?', message: 'It is late.' }], ['ui', { op: 'confirm', title: 'Again?' }], ['ui', { op: 'editor', title: 'Write', prefill: 'Dear' }]];
  const id = await play(server, `call does ${input(asks)}\n---\nsay done`);
  const questions = async () => (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items;
  for (const [words, answer] of [[/Sure\?/, 'yes'], [/Again\?/, 'no'], [/Write/, 'Dear Ada']]) {
    let list;
    await until(async () => { list = await questions(); return list.length && words.test(JSON.stringify(list[0])); }, () => `no question: ${JSON.stringify(list)}`);
    assert.deepEqual(list[0].questions[0].options.map(({ label }) => label), answer === 'Dear Ada' ? [] : ['yes', 'no']);
    assert.equal((await server.ask('POST', `/api/sessions/${id}/questions/${list[0].tool_call_id}/answer`, { body: { answer } })).status, 200);
  }
  await rested(server, id);
  assert.deepEqual((await calls(server, id))[0].result.done.map(({ output }) => output.value), [true, false, 'Dear Ada']);
});

test('fs: 4 MiB are read at once, and more in parts', async () => {
  const { done } = await doing([['fs', { op: 'read', path: 'large' }, 'read'], ['fs', { op: 'stat', path: 'large' }, 'read'], ['fs', { op: 'read', path: 'large', offset: 4 << 20 }, 'read']]);
  assert.match(done[0].error.message, /more than 4 MiB: use offset and limit, or stream/);
  assert.equal(done[1].output.size, (4 << 20) + 1);
  assert.deepEqual(done[2].output, { content: 'x', size: (4 << 20) + 1 });
});

test('exec: a signal is its negative number, 1 MiB is kept of each stream, and eight run at once', async () => {
  const sh = (text) => ['exec', { cmd: 'sh', args: ['-c', text] }];
  const { done } = await doing([sh('kill -9 $$'), sh('head -c 1048577 /dev/zero | tr "\\0" x'), sh('head -c 1048576 /dev/zero | tr "\\0" x >&2')]);
  assert.equal(done[0].output.code, -9);
  assert.deepEqual([done[1].output.stdout, done[1].output.truncated], [1 << 20, true]);
  assert.deepEqual([done[2].output.stderr, done[2].output.truncated], [1 << 20, false]);
  const many = await doing(Array.from({ length: 9 }, () => sh('sleep 2; echo ran')), true);
  assert.equal(many.done.filter(({ output }) => output.stdout === 'ran\n').length, 8, JSON.stringify(many.done));
  assert.deepEqual(many.done.filter(({ error }) => error).map(({ error }) => [error.code, error.details.reason, error.retryable]), [['io', 'quota', true]]);
});

test('the profile safe denies what it does not allow, and asks nobody', async () => {
  const ext = await extend(server, 'meek', { profile: 'safe', tools: [tool('meek')], code });
  const list = [['fs', { op: 'write', path: 'new', content: 'x' }, 'write'], ['exec', { cmd: 'true', args: [] }], ['env', { name: 'A' }], ['log', { message: 'm' }]];
  const [call] = await called(server, `call meek ${input(list)}\n---\nsay done`);
  assert.deepEqual(call.result.done.map(({ error }) => error?.details.reason), ['not_in_default_caps', 'deny_caps', 'scope', undefined]);
  await ext.remove();
});

test('an id that a log claims is not believed', async () => {
  const ext = await extend(server, 'claims', {
    tools: [tool('claims')],
    code: 'def on(f):\n    if f["type"] != "tool_call": return\n    send("log", {"schema": "pi.ext.log.v1", "ts": "2026-01-01T00:00:00Z", "level": "info", "event": "e", "message": "it was not me", "correlation": {"extension_id": "does", "scenario_id": "s"}})\n    result(f, {"text": "said"})',
  });
  assert.equal((await called(server, 'call claims {}\n---\nsay done'))[0].result, 'said');
  let line;
  await until(async () => { line = (await ext.log()).find(({ message }) => message === 'it was not me'); return line; }, 'the line');
  assert.equal(line.correlation.extension_id, 'claims');
  assert.ok(!(await server.ask('GET', '/api/extensions/does/log')).json.items.some(({ message }) => message === 'it was not me'));
  await ext.remove();
});

test('ten messages a minute, and the third over it ends the extension', async () => {
  const ext = await extend(server, 'chatty', { tools: [tool('chatty')], code });
  const id = await play(server, `call chatty ${input(Array.from({ length: 13 }, (_, i) => ['events', { op: 'send_message', content: `word ${i}` }]))}\n---\nsay done`);
  await rested(server, id);
  let reasons;
  await until(async () => {
    reasons = (await server.ask('GET', '/api/audit?limit=500')).json.items.filter(({ action, object }) => action === 'extension.exit' && object === 'chatty').map(({ detail }) => detail.reason);
    return reasons.some((reason) => /quota of messages/.test(reason));
  }, () => `it goes on: ${reasons}`);
  assert.equal((await calls(server, id))[0].result.error_type, 'Interrupted');
  await ext.remove();
});
