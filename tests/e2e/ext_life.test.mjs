// Timeouts and ends: back-off, quarantine and leaving it, timeouts and cancels of every method, late hooks, streams
// with credits, and tools that are offered after a search.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';
import { until } from './waiting.mjs';

const host = hostname();
const workspace = mkdtempSync(join(directory, 'life-'));
let server, web, upstream, home;
before(async () => {
  web = createServer(() => {}); // it never answers
  await new Promise((resolve) => { web.listen(0, '0.0.0.0', resolve); });
  upstream = await openUpstream({});
  const config = join(directory, 'life.yaml');
  writeFileSync(config, `allow_fetch:\n  - ${host}\n`);
  server = await start({ args: ['--workspace', workspace, '--config', config], env: upstream.env() });
  home = join(workspace, (await server.ask('POST', '/api/sessions', { body: {} })).json.user_id);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'big.txt'), 'x'.repeat(12 << 20));
});
after(async () => {
  web.closeAllConnections();
  web.close();
  await upstream.close();
});
const one = async (id, input) => (await called(server, `call ${id} ${JSON.stringify(input)}\n---\nsay done`))[0];
const audit = async (id, action) => (await server.ask('GET', '/api/audit?limit=1000')).json.items.filter((row) => row.object === id && row.action === action);

test('five crashes quarantine it; its closed hooks stay closed, also after a restart, until an administrator helps', async () => {
  const session = [{ capability: 'session' }, { capability: 'events' }, { capability: 'log' }];
  await extend(server, 'crashes', {
    tools: [tool('crashes')], capabilities: session, hooks: ['tool_call:clock'],
    code: 'def on(f):\n    if f["type"] == "tool_call":\n        if f["payload"]["input"].get("die"): os._exit(9)\n        result(f, {"text": "alive"})\n    elif f["type"] == "event_hook": answer(f, {})',
  });
  assert.equal((await one('clock', {})).status, 'done');
  const state = async () => (await server.ask('GET', '/api/extensions/crashes')).json;
  // Each restart after a crash is delayed longer than the one before; a call waits for it.
  for (let i = 1; i <= 5; i++) {
    const died = await one('crashes', { die: true });
    assert.match(died.result.message, /exited with code 9/, JSON.stringify(died));
  }
  await until(async () => (await state()).state === 'quarantined', async () => JSON.stringify(await state()));
  assert.match((await state()).last_error, /exited with code 9/);
  assert.match(JSON.stringify((await one('crashes', {})).result), /quarantined|UnknownTool/);
  const blocked = async () => (await one('clock', {})).result.message;
  assert.equal(await blocked(), 'Blocked by crashes: it is quarantined');
  assert.equal((await audit('crashes', 'extension.exit')).length, 5);
  const { data, key } = server;
  await server.stop();
  server = await start({ data, login: false, args: ['--workspace', workspace, '--config', join(directory, 'life.yaml')], env: upstream.env() });
  server.key = key;
  assert.equal(await blocked(), 'Blocked by crashes: it is quarantined');
  // After a manual restart it works, and its crashes are forgotten.
  assert.equal((await server.ask('POST', '/api/extensions/crashes/restart')).status, 200);
  assert.equal((await one('crashes', {})).result, 'alive');
  assert.equal((await one('clock', {})).status, 'done');
  assert.equal((await state()).state, 'enabled');
  await server.ask('DELETE', '/api/extensions/crashes');
});

test('a hook that answers late is a block, and what it says then changes nothing', async () => {
  const ext = await extend(server, 'late', {
    capabilities: [{ capability: 'session' }, { capability: 'log' }], hooks: ['tool_call:clock'],
    code: `held = []
def on(f):
    if f["type"] != "event_hook": return
    if f["payload"]["event"] == "cancel": answer(held[0], {}); answer(held[0], {})
    elif f["payload"]["event"] == "tool_call" and not held: held.append(f)
    elif f["payload"]["event"] == "tool_call": answer(f, {})`,
  });
  await called(server, 'say ready');
  assert.match((await one('clock', {})).result.message, /^Blocked by late: The extension late did not answer in time$/);
  await ext.sent((f) => f.payload.event === 'cancel');
  assert.equal((await one('clock', {})).status, 'done'); // the same instance, called again
  assert.equal((await audit('late', 'extension.exit')).length, 0);
  await ext.remove();
});

test('every method ends at its time and when it is cancelled, once', async () => {
  await extend(server, 'mute', { tools: [tool('mute')], code: 'def on(f):\n    pass' });
  const ext = await extend(server, 'timed', {
    tools: [tool('timed', { timeout_ms: 60000 })],
    capabilities: [{ capability: 'exec' }, { capability: 'tool' }, { capability: 'ui' }, { capability: 'log' }, { capability: 'session' }, { capability: 'http', scope: { hosts: [`http://${host}:${web.address().port}`] } }],
    code: `def on(f):
    if f["type"] != "tool_call": return
    i = f["payload"]["input"]
    got = []
    def done(p):
        got.append(p["error"])
        threading.Timer(0.2, lambda: result(f, {"got": got})).start()
    cid = call(i["method"], i["capability"], i["params"], done, **i.get("more", {}))
    if i.get("cancel"):
        def stop():
            for k in range(2): send("event_hook", {"event": "cancel", "data": {"cancel_token": "t"} if i["cancel"] == "token" else {"call_id": cid}})
        threading.Timer(0.3, stop).start()`,
  });
  const slow = [
    ['exec', 'exec', { cmd: 'sleep', args: ['600'] }], ['tool', 'exec', { name: 'bash', input: { command: 'sleep 600' } }],
    ['tool', 'tool', { name: 'mute', input: {} }], ['http', 'http', { url: `http://${host}:${web.address().port}/` }],
  ];
  for (const [method, capability, params] of slow) {
    const { got } = (await one('timed', { method, capability, params, more: { timeout_ms: 400 } })).result;
    assert.deepEqual(got.map(({ code }) => code), ['timeout'], `${method} ${capability}: ${JSON.stringify(got)}`);
  }
  for (const [method, capability, params] of [...slow, ['ui', 'ui', { op: 'confirm', title: 'Well?', message: 'm' }]])
    for (const cancel of ['call', 'token']) {
      const { got } = (await one('timed', { method, capability, params, cancel, more: { cancel_token: 't' } })).result;
      assert.deepEqual(got.map(({ code, details }) => [code, details?.reason]), [['timeout', 'cancelled']], `${method} ${cancel}: ${JSON.stringify(got)}`);
    }
  // The child that ran the call is told, too.
  const mute = (await server.ask('GET', '/api/extensions/mute/log')).json.items.map(({ message }) => message.replaceAll('-', '')).join('\n');
  assert.ok(mute.includes(Buffer.from('"cancel"').toString('hex')), 'the owner of the tool was never told');
  await ext.prove();
  await ext.remove();
});

test('streams: credits are given one by one, or never', async () => {
  const streaming = (id, more) => extend(server, id, {
    tools: [tool(id, { timeout_ms: 120000 })], capabilities: [{ capability: 'read' }, { capability: 'log' }],
    code: `def on(f):
    if f["type"] != "tool_call": return
    seen = []
    def chunk(p):
        seen.append(p)
        if not p.get("chunk") or p["chunk"]["is_last"]: return result(f, {"n": len(seen), "left": [s["chunk"].get("backpressure", {}).get("credits") for s in seen[:4] if s.get("chunk")], "error": p.get("error"), "size": p["output"].get("size")})
        ${more}
    call("fs", "read", {"op": "read", "path": "big.txt", "stream": {"credits": 2}, "limit": 200000}, chunk, timeout_ms=90000)`,
  });
  const giving = await streaming('gives', 'send("event_hook", {"event": "stream.credit", "data": {"call_id": p["call_id"], "credits": 1}})');
  const greedy = await streaming('ignores', 'pass');
  const [gave, ignored] = await Promise.all([one('gives', {}), one('ignores', {})]);
  assert.equal(gave.result.error, null);
  assert.equal(gave.result.n, 8); // 200,000 bytes in pieces of 32 KiB, and the end
  // Two chunks, then only the timeout.
  assert.deepEqual([ignored.result.n, ignored.result.error.code, ignored.result.error.details.reason], [3, 'timeout', 'stalled']);
  assert.deepEqual(ignored.result.left.slice(0, 2), [1, 0]);
  for (const ext of [giving, greedy]) { await ext.prove(); await ext.remove(); }
});

test('one that never reads what it asked for is killed; the server goes on', async () => {
  const ext = await extend(server, 'deaf', {
    tools: [tool('deaf', { timeout_ms: 120000 })], capabilities: [{ capability: 'read' }, { capability: 'log' }],
    code: 'def on(f):\n    if f["type"] == "tool_call":\n        for i in range(4): call("fs", "read", {"op": "read", "path": "big.txt", "stream": True})\n        time.sleep(600)',
  });
  const id = await play(server, 'call deaf {}\n---\nsay done');
  await until(async () => (await calls(server, id)).length, 'the call');
  assert.equal((await one('clock', {})).status, 'done'); // others are unaffected
  await rested(server, id);
  const [call] = await calls(server, id);
  assert.equal(call.result.error_type, 'Interrupted');
  assert.match((await audit('deaf', 'extension.exit'))[0].detail.reason, /does not read/);
  await ext.remove();
});

test('tools that take too much of the window are found by tool_search', async () => {
  const many = Array.from({ length: 60 }, (_, i) => tool(`far_${i}`, { exposure: 'deferred', description: `Number ${i} of many. ${'words '.repeat(300)}` }));
  const ext = await extend(server, 'many', {
    tools: [tool('near'), ...many, tool('pears', { exposure: 'deferred', description: 'Counts pears in a basket' }), tool('unseen', { exposure: 'hidden' })],
    code: 'def on(f):\n    if f["type"] == "tool_call": result(f, {"text": "ran " + f["payload"]["name"]})',
  });
  await called(server, 'say ready');
  upstream.reset();
  upstream.next({ calls: [{ name: 'tool_search', args: { query: 'basket pears' } }] }, { calls: [{ name: 'pears', args: {} }] }, { say: 'done' });
  const id = (await server.ask('POST', '/api/sessions', { body: { model: 'anthropic/claude-sonnet-4-5' } })).json.id;
  await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'count' } });
  await rested(server, id);
  const offered = upstream.requests.map(({ body }) => body.tools.map(({ name }) => name));
  assert.equal(offered.length, 3);
  for (const names of offered) assert.ok(names.includes('near') && names.includes('tool_search') && !names.includes('far_1') && !names.includes('unseen'), String(names));
  assert.ok(!offered[0].includes('pears') && offered[1].includes('pears') && offered[2].includes('pears'));
  const [search, ran] = await calls(server, id);
  assert.equal(search.result.tools[0].name, 'pears');
  assert.equal(ran.result, 'ran pears');
  await ext.remove();
});
