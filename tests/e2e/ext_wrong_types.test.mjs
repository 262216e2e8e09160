// Host calls and frames with values of the wrong type in any place: each gets one answer that fits the seed, nothing
// is executed, and the instance and the server are unaffected.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { called, extend, tool } from './extending.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';

const workspace = mkdtempSync(join(directory, 'wrong-'));
let server, home;
before(async () => {
  server = await start({ args: ['--workspace', workspace] });
  home = join(workspace, (await server.ask('POST', '/api/sessions', { body: {} })).json.user_id);
  mkdirSync(join(home, 'docs'), { recursive: true });
  writeFileSync(join(home, 'docs', 'a'), 'alpha');
});

// A valid call of each method; each value in it, at every depth, is replaced in turn by each of the others.
const good = [
  ['tool', 'read', { name: 'read', input: { path: 'docs/a', offset: 1, limit: 1 } }], ['tool', 'write', { name: 'edit', input: { path: 'docs/a', oldText: 'none', newText: 'x' } }],
  ['tool', 'read', { name: 'grep', input: { pattern: '(', path: 'docs', glob: '*', literal: false, limit: 1 } }], ['tool', 'exec', { name: 'bash', input: { command: 'exit 1' } }],
  ['fs', 'read', { op: 'read', path: 'docs/none', root: 'workspace', offset: 0, limit: 1 }], ['fs', 'write', { op: 'write', path: '../x', content: 'x', mode: 'replace' }],
  ['exec', 'exec', { cmd: 'no-such-program', args: ['a'], options: { cwd: 'docs', timeout_ms: 100 } }], ['http', 'http', { url: 'https://none.example/', method: 'GET', headers: { a: 'b' }, body: '', timeout_ms: 100 }],
  ['session', 'session', { op: 'get_messages', limit: 1, before: 1 }], ['session', 'session', { op: 'append_entry', type: 't', data: {} }], ['ui', 'ui', { op: 'notify', message: 'm', level: 'info' }],
  ['events', 'events', { op: 'emit', topic: 't', data: {} }], ['env', 'env', { name: 'A', names: ['B'] }], ['log', 'log', { level: 'info', message: 'm', event: 'e', data: {} }],
];
const odd = [null, true, -1, 1.5, 1e300, '', '\u0000', 'x'.repeat(5000), [], [[[]]], {}, { '': { '': null } }];
function* mutations(value) {
  yield* odd;
  if (value === null || typeof value !== 'object') return;
  for (const key of Object.keys(value)) {
    for (const inner of mutations(value[key])) yield Array.isArray(value) ? value.map((one, i) => (String(i) === key ? inner : one)) : { ...value, [key]: inner };
    if (!Array.isArray(value)) { const { [key]: left, ...rest } = value; yield rest; }
  }
}

test('wrong values in host calls', async () => {
  const ext = await extend(server, 'wrong', {
    tools: [tool('wrong', { timeout_ms: 600000 })],
    code: `def on(f):
    if f["type"] != "tool_call": return
    todo, counts, codes = list(f["payload"]["input"]["calls"]), {}, {}
    def step(p=None):
        if p is not None:
            counts[p["call_id"]] = counts.get(p["call_id"], 0) + 1
            code = p.get("error", {}).get("code", "ok")
            codes[code] = codes.get(code, 0) + 1
        if not todo: return result(f, {"codes": codes, "twice": [c for c in counts if counts[c] != 1], "n": len(counts)})
        time.sleep(0.021)
        m, c, params = todo.pop(0)
        call(m, c, params, step)
    step()`,
  });
  // Params that are not an object violate the schema of the frame, which has a different answer.
  const calls = good.flatMap(([method, capability, params]) => [...mutations(params)].filter((one) => one && typeof one === 'object' && !Array.isArray(one)).map((one) => [method, capability, one]));
  const before = readdirSync(home).sort();
  // A message has a size limit, so the calls are sent in groups.
  const codes = {};
  let n = 0;
  for (let i = 0; i < calls.length; i += 150) {
    const some = calls.slice(i, i + 150);
    const [call] = await called(server, `call wrong ${JSON.stringify({ calls: some })}\n---\nsay done`);
    assert.equal(call.status, 'done', JSON.stringify(call).slice(0, 500));
    assert.deepEqual([call.result.twice, call.result.n], [[], some.length]);
    for (const [code, times] of Object.entries(call.result.codes)) codes[code] = (codes[code] ?? 0) + times;
    n += some.length;
  }
  assert.equal(n, calls.length);
  assert.ok(codes.invalid_request > n / 3, JSON.stringify(codes));
  assert.equal(codes.internal, undefined, JSON.stringify(codes));
  assert.deepEqual(Object.keys(codes).filter((code) => !['ok', 'timeout', 'denied', 'io', 'invalid_request'].includes(code)), []);
  assert.deepEqual(readdirSync(home).sort(), before);
  assert.ok(!existsSync(join(workspace, 'x')));
  assert.equal((await server.ask('GET', '/api/audit?limit=1000')).json.items.filter(({ action, object }) => action === 'extension.exit' && object === 'wrong').length, 0);
  await ext.remove();
});

test('wrong values in frames: an error each with its place, and the extension goes on', async () => {
  const ext = await extend(server, 'frames', {
    tools: [tool('frames', { timeout_ms: 600000 })],
    code: `def on(f):
    if f["type"] == "error": return
    if f["type"] != "tool_call": return
    bad = [{"id": 5}, {"type": "fly"}, {"payload": []}, {"version": 1.0}, {"payload": {"call_id": 1, "output": {}, "is_error": False}}, {"payload": {"call_id": "c", "output": [], "is_error": False}}, {"payload": {"call_id": "c", "output": {}, "is_error": "no"}}]
    for i, more in enumerate(bad):
        write(json.dumps(dict({"id": "b%d" % i, "version": "1.0", "type": "tool_result", "payload": {}}, **more)))
        send("log", {"schema": "pi.ext.log.v1", "ts": "2026-01-01T00:00:00Z", "level": "info", "event": "e", "message": "between", "correlation": {"extension_id": "x", "scenario_id": "y"}})
    result(f, {"text": "alive"})`,
  });
  const [call] = await called(server, 'call frames {}\n---\nsay done');
  assert.equal(call.result, 'alive');
  await ext.sent((f) => f.type === 'error' && f.id === 'b6', 'the last error');
  const errors = (await ext.frames()).filter(({ type }) => type === 'error');
  assert.equal(errors.length, 7);
  assert.deepEqual(errors.map(({ payload }) => payload.code), ['schema_violation', 'unknown_type', 'schema_violation', 'schema_violation', 'schema_violation', 'schema_violation', 'schema_violation']);
  assert.ok(errors.every(({ payload }) => payload.message && payload.details), JSON.stringify(errors));
  await ext.prove();
  await ext.remove();
});
