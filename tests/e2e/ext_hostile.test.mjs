// Extensions that break every rule of the protocol. Each is stopped with a reason in the log, and the server's other work continues.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

let server;
before(async () => { server = await start(); });
const register = (id, more = {}) => JSON.stringify(JSON.stringify({ id: 'r', version: '1.0', type: 'register', payload: { name: id, version: '1.0.0', api_version: '1.0', capabilities: ['log', 'session'], tools: [tool(`t_${id}`)], ...more } }));
const raw = (id, body) => ({ raw: `import sys, time, json, os\ndef w(t):\n    sys.stdout.write(t); sys.stdout.flush()\n${body(register(id))}\n`, tools: [] });
const exits = async (id) => (await server.ask('GET', '/api/audit?limit=500')).json.items.filter(({ action, object }) => action === 'extension.exit' && object === id).map(({ detail }) => detail.reason);
async function ends(id, body, pattern, script = `call t_${id} {}\n---\nsay done`) {
  const ext = await extend(server, id, raw(id, body));
  await play(server, script);
  let list;
  await until(async () => { list = await exits(id); return list.some((reason) => pattern.test(reason)); }, () => `${id} did not end: ${list}`);
  await ext.remove();
}

test('garbage, endless lines and floods end the instance', async () => {
  await Promise.all([
    ends('garbage', (r) => `w(json.loads(${r}) and ${r} + "\\n")\nfor i in range(5): w("not json\\n")\ntime.sleep(600)`, /lines that are no frames/),
    ends('endless', (r) => `w(${r} + "\\n")\nwhile True: w("x" * 65536)`, /more than 8 MiB/),
    ends('flood', (r) => `w(${r} + "\\n")\nf = json.dumps({"id": "l", "version": "1.0", "type": "log", "payload": {"schema": "pi.ext.log.v1", "ts": "2026-01-01T00:00:00Z", "level": "info", "event": "e", "message": "m", "correlation": {"extension_id": "x", "scenario_id": "y"}}}) + "\\n"\nwhile True: w(f)`, /quota of log lines/),
    ends('old', () => 'w(json.dumps({"id": "r", "version": "2.0", "type": "register", "payload": {}}) + "\\n")\ntime.sleep(600)', /lines that are no frames/),
    ends('foreign', () => `w(${register('somebody')} + "\\n")\ntime.sleep(600)`, /register was refused: name and version/),
    ends('caller', (r) => `w(${r} + "\\n")\nfor i in range(1000): w(json.dumps({"id": "h", "version": "1.0", "type": "host_call", "payload": {"call_id": "c%d" % i, "capability": "log", "method": "log", "params": {"message": "m"}}}) + "\\n")\ntime.sleep(600)`, /quota of (calls|log lines)/),
  ]);
});

test('one that never registers is killed, and its tools are unknown', async () => {
  await ends('silent', () => 'time.sleep(600)', /did not register within 10 seconds/);
});

test('duplicate and unknown ids run nothing', async () => {
  const ext = await extend(server, 'ids', {
    tools: [tool('ids')],
    code: `seen = []
def on(f):
    if f["type"] == "tool_call":
        send("tool_result", {"call_id": "nobody", "output": {}, "is_error": False})
        def first(p):
            seen.append(p.get("error", {}).get("code", "ok"))
            call("log", "log", {"message": "m"}, lambda p: (seen.append(p.get("error", {}).get("code", "ok")), result(f, {"seen": seen})), call_id="same")
        call("log", "log", {"message": "m"}, first, call_id="same")`,
  });
  const [call] = await called(server, 'call ids {}\n---\nsay done');
  assert.deepEqual(call.result, { seen: ['ok', 'invalid_request'] });
  assert.equal((await ext.sent((f) => f.type === 'error')).payload.code, 'unknown_call');
  await ext.prove();
  await ext.remove();
});

test('a call ends once when its child dies, and the next call starts another', async () => {
  const ext = await extend(server, 'mortal', {
    tools: [tool('mortal', { timeout_ms: 1500 })],
    code: 'def on(f):\n    if f["type"] != "tool_call": return\n    do = f["payload"]["input"].get("do")\n    if do == "die": os._exit(7)\n    if do == "late":\n        time.sleep(0.1)\n        return\n    result(f, {"text": "alive"})\n    result(f, {"text": "twice"})',
  });
  const result = async (input) => (await called(server, `call mortal ${JSON.stringify(input)}\n---\nsay done`))[0].result;
  assert.equal(await result({}), 'alive');
  const died = await result({ do: 'die' });
  assert.deepEqual([died.error_type, /exited with code 7/.test(died.message)], ['Interrupted', true]);
  assert.equal(await result({}), 'alive');
  assert.equal((await result({ do: 'late' })).error_type, 'Timeout');
  assert.ok(await ext.sent((f) => f.payload.event === 'cancel'));
  await ext.remove();
});

test('a second register widens nothing', async () => {
  const narrow = [{ capability: 'log' }, { capability: 'env', scope: { env: ['A'] } }];
  const ext = await extend(server, 'wider', {
    tools: [tool('wider')], capabilities: [...narrow, { capability: 'read' }], register: { capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: narrow } },
    code: `def on(f):
    if f["type"] == "tool_call":
        send("register", {"name": "wider", "version": "1.0.0", "api_version": "1.0", "capability_manifest": {"schema": "pi.ext.cap.v1", "capabilities": [{"capability": "read"}, {"capability": "exec"}, {"capability": "log"}]}, "tools": [{"name": "wider", "description": "The tool wider", "parameters": {"type": "object"}}]}, "r2")
        def later(): call("fs", "read", {"op": "read", "path": "x"}, lambda p: result(f, p["error"]))
        threading.Timer(0.3, later).start()`,
  });
  const [call] = await called(server, 'call wider {}\n---\nsay done');
  assert.deepEqual([call.result.code, call.result.details.reason], ['denied', 'not_declared']);
  const ready = await ext.sent((f) => f.id === 'r2' && f.type === 'log');
  assert.deepEqual(ready.payload.data.granted.map(({ capability }) => capability), ['log']);
  await ext.remove();
});

test('kill -9 of the server in the middle of a call: nothing runs twice', async () => {
  await extend(server, 'slow', { tools: [tool('slow')], code: 'def on(f):\n    pass' });
  const id = await play(server, 'call slow {}\n---\nsay done');
  await until(async () => (await calls(server, id)).length, 'a call');
  const { data, key } = server;
  await server.stop('SIGKILL');
  server = await start({ data, login: false });
  server.key = key;
  await rested(server, id);
  const [call] = await calls(server, id);
  assert.deepEqual([call.status, call.result.error_type], ['error', 'Interrupted']);
  const audit = (await server.ask('GET', '/api/audit?limit=500')).json.items;
  assert.ok((await server.ask('GET', '/api/audit/verify')).json.chain_ok);
  assert.ok(audit.some(({ action, object }) => action === 'extension.ready' && object === 'slow'));
});
