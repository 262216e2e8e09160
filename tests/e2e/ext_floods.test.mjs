// Extensions that flood the host with cheap messages: answers to no request, credits, cancels, registrations,
// progress, calls before registration. Each is ended by its quota, is in the audit log and leaves no process;
// other extensions are unaffected. ext_hostile tests lines that are not frames, calls and log lines.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test, { before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

let server;
before(async () => { server = await start(); });
const exits = async (id) => (await server.ask('GET', '/api/audit?limit=1000')).json.items.filter(({ action, object }) => action === 'extension.exit' && object === id).map(({ detail }) => detail.reason);
const processes = (word) => readdirSync('/proc').filter((name) => {
  try { return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word); } catch { return false; }
});
const register = (id) => ({ name: id, version: '1.0.0', api_version: '1.0', capabilities: ['log', 'session', 'read'], tools: [tool(id, { timeout_ms: 600000 })] });
// A thread reads standard input, so that answers do not block it. `f` is the call that started it.
const flooding = (id, line, first = true) => `import json, os, sys, threading
if "FLOOD-${id}" not in sys.argv: os.execv(sys.executable, [sys.executable, __file__, "FLOOD-${id}"])
def frame(type, payload, id="x"): return json.dumps({"id": id, "version": "1.0", "type": type, "payload": payload}) + "\\n"
def read():
    for line in sys.stdin: pass
registered = json.loads(${JSON.stringify(JSON.stringify(register(id)))})
f = None
if ${first ? 'True' : 'False'}:
    sys.stdout.write(frame("register", registered)); sys.stdout.flush()
    for line in sys.stdin:
        f = json.loads(line)
        if f["type"] == "tool_call": break
threading.Thread(target=read, daemon=True).start()
text = ${line}
out = (text * (65536 // len(text) + 1)).encode()
while True: os.write(1, out)
`;
const event = (name, data) => `frame("event_hook", {"event": "${name}", "data": ${data}})`;
const floods = {
  answers: ['frame("tool_result", {"call_id": "nobody", "output": {}, "is_error": False})', /quota of frames/],
  hooks: [event('tool_call', '{"block": True}'), /quota of frames/],
  credits: [event('stream.credit', '{"call_id": "nobody", "credits": 1}'), /quota of frames/],
  cancels: [event('cancel', '{"call_id": "nobody"}'), /quota of frames/],
  registers: ['frame("register", registered)', /quota of registers/],
  early: ['frame("host_call", {"call_id": "c", "capability": "log", "method": "log", "params": {"message": "m"}})', /quota of frames/, false],
};

for (const [id, [line, why, first]] of Object.entries(floods))
  test(`a flood of ${id} ends it, and nobody else notices`, async () => {
    const ext = await extend(server, id, { raw: flooding(id, line, first), tools: [] });
    const session = await play(server, `call ${id} {}\n---\nsay done`);
    let list;
    await until(async () => { list = await exits(id); return list.some((reason) => why.test(reason)); }, () => `${id} did not end: ${list}`);
    assert.equal((await called(server, 'call calc {"expression":"6*7"}\n---\nsay done'))[0].result, 42);
    await rested(server, session);
    assert.equal((await calls(server, session))[0].status, 'error');
    await ext.remove();
    await until(() => !processes(`FLOOD-${id}`).length, () => `${id} left processes`);
  });

test('a flood of progress costs others nothing, and ends with its call', async () => {
  const line = event('tool_execution_update', '{"call_id": f["payload"]["call_id"], "content": [{"type": "text", "text": "x" * 2000}]}');
  const ext = await extend(server, 'progress', { raw: flooding('progress', line).replace('600000', '3000'), tools: [] });
  const session = await play(server, 'call progress {}\n---\nsay done');
  await until(() => processes('FLOOD-progress').length, 'its process');
  assert.equal((await called(server, 'call calc {"expression":"6*7"}\n---\nsay done'))[0].result, 42);
  await rested(server, session);
  assert.equal((await calls(server, session))[0].status, 'error');
  await ext.remove();
  await until(() => !processes('FLOOD-progress').length, 'progress left processes');
});

test('progress that is too large is not told, and the extension hears so', async () => {
  const ext = await extend(server, 'broad', {
    tools: [tool('broad')],
    code: `def on(f):
    if f["type"] != "tool_call": return
    send("event_hook", {"event": "tool_execution_update", "data": {"call_id": f["payload"]["call_id"], "content": "x" * (256 << 10)}}, "large")
    send("event_hook", {"event": "tool_execution_update", "data": {"call_id": f["payload"]["call_id"], "content": "small"}}, "small")
    result(f, {"text": "alive"})`,
  });
  assert.equal((await called(server, 'call broad {}\n---\nsay done'))[0].result, 'alive');
  assert.equal((await ext.sent((f) => f.type === 'error' && f.id === 'large')).payload.code, 'quota_exceeded');
  assert.deepEqual((await ext.frames()).filter(({ type, id }) => type === 'error' && id !== 'large'), []);
  await ext.prove();
  await ext.remove();
});
