// No instance serves two users: memory, files, state, answers, questions, logs and sessions of one user never reach another.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const workspace = mkdtempSync(join(directory, 'users-'));
const code = `
n = [0]
words = []
def on(f):
    if f["type"] == "event_hook": words.append(json.dumps(f["payload"].get("data", {})))
    if f["type"] != "tool_call": return
    n[0] += 1
    todo, done = list(f["payload"]["input"].get("calls", [])), []
    def step(p=None):
        if p is not None: done.append({"output": p["output"], "error": p.get("error")})
        if not todo: return result(f, {"n": n[0], "done": done, "heard": "".join(words)})
        c = todo.pop(0)
        call(c["method"], c["capability"], c["params"], step)
    step()
`;
let server, ada, bo;
const as = (key) => ({ ask: (method, path, options) => server.ask(method, path, { key, ...options }) });
const call = async (who, ...list) => {
  const [made] = await called(who, `call own ${JSON.stringify({ calls: list.map(([method, capability, params]) => ({ method, capability, params })) })}\n---\nsay done`);
  assert.equal(made.status, 'done', JSON.stringify(made));
  return made.result;
};
const write = (path, root, content) => ['fs', 'write', { op: 'write', path, ...(root ? { root } : {}), content }];
const read = (path, root) => ['fs', 'read', { op: 'read', path, ...(root ? { root } : {}) }];

before(async () => {
  server = await start({ args: ['--workspace', workspace, '--shards', '3'] });
  for (const name of ['ada', 'bo']) {
    const made = (await server.ask('POST', '/api/users', { body: { name } })).json;
    const who = { ...as(made.key.plaintext), id: made.id };
    if (name === 'ada') ada = who;
    else bo = who;
    mkdirSync(join(workspace, made.id), { recursive: true });
    writeFileSync(join(workspace, made.id, `of-${name}.txt`), name);
  }
  await extend(server, 'own', { tools: [tool('own')], hooks: ['input', 'turn_end', 'message_end'], code: code.replace('if f["type"] == "event_hook":', 'if f["type"] == "event_hook" and f["payload"]["event"] == "input": answer(f, {"action": "continue"})\n    if f["type"] == "event_hook":') });
});

test('memory, state and files are a user\'s own', async () => {
  assert.equal((await call(ada)).n, 1);
  const second = await call(ada, write('kept', 'state', 'of ada'), write('new.txt', null, 'ada wrote'), read('of-ada.txt'));
  assert.equal(second.n, 2);
  assert.equal(second.done[2].output.content, 'ada');
  const other = await call(bo, read('kept', 'state'), read('new.txt'), read('of-ada.txt'), read(`../${ada.id}/of-ada.txt`), read('of-bo.txt'));
  assert.equal(other.n, 1);
  assert.deepEqual(other.done.map(({ output, error }) => error?.details?.reason ?? output.content), ['not_found', 'not_found', 'not_found', 'path_escape', 'bo']);
  assert.equal((await call(ada, read('kept', 'state'))).done[0].output.content, 'of ada');
});

test('sessions, messages and events of one are unknown to the other', async () => {
  const id = await play(ada, 'call own {}\nsay the secret of ada\n---\nsay done');
  await rested(ada, id);
  const ops = ['get_state', 'get_messages', 'get_entries', 'get_context'].map((op) => ['session', 'session', { op, session_id: id }]);
  const { done, heard } = await call(bo, ...ops, ['session', 'session', { op: 'set_name', name: 'taken', session_id: id }], ['session', 'session', { op: 'append_entry', type: 't', data: {}, session_id: id }],
    ['events', 'events', { op: 'send_user_message', content: 'hi', session_id: id }], ['ui', 'ui', { op: 'notify', message: 'hi', session_id: id }]);
  assert.deepEqual(done.map(({ error }) => error?.details?.reason), Array(8).fill('not_found'), JSON.stringify(done));
  // It hears only about other sessions; its own call contains the id, too, but with other quotes.
  const about = `"session_id": "${id}"`;
  assert.ok(!heard.includes(about) && !heard.includes('secret of ada'));
  assert.ok((await call(ada)).heard.includes(about));
  assert.equal((await bo.ask('GET', `/api/sessions/${id}/questions`)).status, 404);
});

test('an answer for ever is the answer of one user', async () => {
  await extend(server, 'asks', { tools: [tool('asks')], profile: 'balanced', capabilities: [{ capability: 'exec' }, { capability: 'log' }], code: 'def on(f):\n    if f["type"] == "tool_call": call("exec", "exec", {"cmd": "true", "args": []}, lambda p: result(f, {"said": p.get("error", {}).get("details", {}).get("reason", "ran")}))' });
  const begin = (who) => play(who, 'call asks {}\n---\nsay done');
  const question = async (who, id) => {
    let list;
    await until(async () => { list = (await who.ask('GET', `/api/sessions/${id}/questions`)).json.items; return list.length; }, 'a question');
    return list[0].tool_call_id;
  };
  const first = await begin(ada);
  const asked = await question(ada, first);
  // Another user can neither see nor answer the question.
  assert.equal((await bo.ask('POST', `/api/sessions/${first}/questions/${asked}/answer`, { body: { answer: { approve: true } } })).status, 404);
  await ada.ask('POST', `/api/sessions/${first}/questions/${asked}/answer`, { body: { answer: { approve: true, remember: 'always' } } });
  await rested(ada, first);
  const [again] = await called(ada, 'call asks {}\n---\nsay done');
  assert.equal(again.result.said, 'ran');
  const other = await begin(bo);
  await bo.ask('POST', `/api/sessions/${other}/questions/${await question(bo, other)}/answer`, { body: { answer: { approve: false } } });
  await rested(bo, other);
  assert.equal((await calls(bo, other))[0].result.said, 'prompt_user_deny');
});

test('the log shows each user the own lines, and an administrator all', async () => {
  await extend(server, 'talks', { tools: [tool('talks')], code: 'def on(f):\n    if f["type"] == "tool_call":\n        call("log", "log", {"message": "word of " + f["payload"]["input"]["who"]}, lambda p: result(f, {}))' });
  await called(ada, 'call talks {"who":"ada"}\n---\nsay done');
  await called(bo, 'call talks {"who":"bo"}\n---\nsay done');
  const words = async (who) => {
    const { status, json } = await who.ask('GET', '/api/extensions/talks/log');
    return status === 200 ? json.items.map(({ message }) => message).filter((message) => message.startsWith('word of')).sort() : status;
  };
  assert.deepEqual(await words(server), ['word of ada', 'word of bo']);
  for (const [who, other] of [[ada, 'bo'], [bo, 'ada']]) {
    const seen = await words(who);
    assert.ok(seen === 403 || (seen.length === 1 && !seen[0].endsWith(other)), JSON.stringify(seen));
  }
});

test('one who makes an extension crash takes it from nobody else', async () => {
  await extend(server, 'fragile', {
    tools: [tool('fragile')], hooks: ['tool_call:calc'],
    code: 'def on(f):\n    if f["type"] == "tool_call":\n        if f["payload"]["input"].get("die"): os._exit(9)\n        result(f, {"text": "alive"})\n    elif f["type"] == "event_hook" and f["payload"]["event"] == "tool_call": answer(f, {})',
  });
  const one = async (who, input = {}) => (await called(who, `call fragile ${JSON.stringify(input)}\n---\nsay done`))[0].result;
  const calc = async (who) => (await called(who, 'call calc {"expression":"6*7"}\n---\nsay done'))[0].result;
  const seen = async () => (await server.ask('GET', '/api/extensions/fragile')).json;
  assert.deepEqual([await one(ada), await one(bo)], ['alive', 'alive']);
  for (let i = 0; i < 5; i++) assert.match((await one(ada, { die: true })).message, /exited with code 9/);
  let shown;
  await until(async () => { shown = await seen(); return shown.quarantined_users === 1; }, () => JSON.stringify(shown));
  assert.equal(shown.state, 'enabled'); // for the administrator, for whom it did not crash
  // Each user sees their own state, and nothing for administrators.
  const mine = async (who) => (await who.ask('GET', '/api/user/extensions')).json.items.find(({ id }) => id === 'fragile');
  const [ofAda, ofBo] = [await mine(ada), await mine(bo)];
  assert.deepEqual([ofAda.state, ofAda.is_running, ofBo.state, ofBo.last_error, ofBo.is_running, ofBo.restarts], ['quarantined', false, 'enabled', '', true, 0]);
  assert.match(ofAda.last_error, /exited with code 9/);
  assert.ok(ofAda.restarts >= 5 && ofBo.is_measured && ofBo.tools.includes('fragile'), JSON.stringify([ofAda, ofBo]));
  assert.ok(!('artifact' in ofAda) && !('source' in ofAda) && !('quarantined_users' in ofAda));
  assert.equal((await ada.ask('GET', '/api/extensions/fragile/explain')).json.state, 'quarantined');
  assert.equal((await ada.ask('GET', '/api/extensions/fragile')).status, 403);
  assert.equal((await calc(ada)).message, 'Blocked by fragile: it is quarantined');
  assert.match(JSON.stringify(await one(ada)), /quarantined|UnknownTool/);
  // The others continue.
  assert.deepEqual([await one(bo), await calc(bo), await one(server)], ['alive', 42, 'alive']);
  // The quarantine survives a restart of the server, for this user only; the administrator ends it for all.
  const { data, key } = server;
  await server.stop();
  server = await start({ data, login: false, args: ['--workspace', workspace, '--shards', '3'] });
  server.key = key;
  assert.equal((await calc(ada)).message, 'Blocked by fragile: it is quarantined');
  assert.deepEqual([await one(bo), await calc(bo)], ['alive', 42]);
  assert.equal((await server.ask('POST', '/api/extensions/fragile/restart')).json.quarantined_users, 0);
  assert.deepEqual([await one(ada), await calc(ada)], ['alive', 42]);
  await server.ask('DELETE', '/api/extensions/fragile');
});
