// Hooks on input and tools, and commands: chained in load order; they fail open or closed as the table says.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

let server;
before(async () => { server = await start(); });
const session = [{ capability: 'session' }, { capability: 'events' }, { capability: 'log' }];
const hooking = (rules) => `def on(f):\n    if f["type"] != "event_hook": return\n    d = f["payload"].get("data", {})\n${rules}`;

test('a call is blocked, changed, asked about and looked at again; a result is changed', async () => {
  const guard = await extend(server, 'guard', {
    capabilities: session, hooks: ['tool_call', 'tool_result:calc'],
    code: hooking(`    if f["payload"]["event"] == "tool_call":
        e = d["input"].get("expression", d["input"].get("text", ""))
        answer(f, {"block": True, "reason": "never six"} if e == "6" else {"ask": True, "reason": "seven?"} if e == "7" else {"input": {"expression": "40+2"}} if e == "8" else {})
    elif f["payload"]["event"] == "tool_result" and d["content"][0]["text"] == "9":
        answer(f, {"content": [{"type": "text", "text": "nine"}]})
    elif f["payload"]["event"] == "tool_result": answer(f, {})`),
  });
  const final = await extend(server, 'last', { capabilities: session, hooks: ['tool_call_final:calc'], code: hooking('    answer(f, {"block": True, "reason": "seen " + d["input"]["expression"]} if d["input"]["expression"] == "5" else {})') });
  const calc = async (text) => (await called(server, `call calc {"expression":"${text}"}\n---\nsay done`))[0];
  await calc('1'); // both are registered now
  assert.deepEqual((await calc('6')).result, { status: 'error', error_type: 'PermissionDenied', message: 'Blocked by guard: never six' });
  assert.equal((await calc('8')).result, 42);
  assert.equal((await calc('9')).result, 'nine');
  assert.match((await calc('5')).result.message, /^Blocked by last: seen 5$/);
  const id = await play(server, 'call calc {"expression":"7"}\n---\nsay done');
  let list;
  await until(async () => { list = (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items; return list.length; }, 'a question');
  assert.match(list[0].questions[0].question, /guard asks whether the tool calc may run: seven\?/);
  await server.ask('POST', `/api/sessions/${id}/questions/${list[0].tool_call_id}/answer`, { body: { answer: { approve: true } } });
  await rested(server, id);
  assert.equal((await calls(server, id))[0].result, 7);
  // The hooks also see the session's own tools.
  const [asked] = await called(server, 'call AskUserQuestion {"text":"6","questions":[{"question":"q","options":[]}]}\n---\nsay done');
  assert.match(asked.result.message, /^Blocked by guard/);
  const hash = (await final.sent((f) => f.payload.event === 'tool_call_final')).payload.data.arguments_hash;
  assert.match(hash, /^[0-9a-f]{64}$/);
  await guard.prove();
  await guard.remove();
  await final.remove();
});

test('a hook that says nothing, or nonsense, is a block where it fails closed, and nothing where it fails open', async () => {
  const mute = await extend(server, 'mute', { capabilities: session, hooks: ['tool_result'], code: hooking('    answer(f, {"is_error": "maybe"})') });
  const [open] = await called(server, 'call calc {"expression":"3"}\n---\nsay done');
  assert.equal(open.result, 3);
  await mute.remove();
  const dying = await extend(server, 'dying', { capabilities: session, hooks: ['tool_call'], code: hooking('    os._exit(3)') });
  const [closed] = await called(server, 'call calc {"expression":"3"}\n---\nsay done');
  assert.match(closed.result.message, /^Blocked by dying: .*ended before it answered/);
  await dying.remove();
  const dumb = await extend(server, 'dumb', { capabilities: [{ capability: 'log' }], hooks: ['tool_call'], code: hooking('    answer(f, {"block": True})') });
  const [unheard] = await called(server, 'call calc {"expression":"3"}\n---\nsay done');
  assert.equal(unheard.result, 3);
  assert.deepEqual((await server.ask('GET', '/api/extensions/dumb/explain')).json.denied_hooks, ['tool_call']);
  await dumb.remove();
});

test('input is changed, handled or refused; commands answer or speak for the person', async () => {
  const ext = await extend(server, 'talk', {
    capabilities: session, hooks: ['input'], commands: [{ name: 'hi', description: 'Greets' }, { name: 'say', description: 'Says' }],
    code: `def on(f):
    p = f["payload"]
    if f["type"] == "slash_command":
        send("slash_result", {"output": {"text": "hi " + "|".join(p["args"])} if p["name"] == "hi" else {"prompt": "said " + p["args"][0]}, "is_error": False}, f["id"])
    elif f["type"] == "event_hook" and p["event"] == "input":
        t = p["data"]["text"]
        answer(f, {"action": "handled"} if t == "mine" else {"action": "transform", "text": "CHANGED"} if t == "change" else {"action": "fly"} if t == "wrong" else {"action": "continue"})`,
  });
  await called(server, 'say ready');
  const id = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/echo' } })).json.id;
  const chat = (message) => server.ask('POST', `/api/sessions/${id}/chat`, { body: { message } });
  const said = async () => { await rested(server, id); return (await server.ask('GET', `/api/sessions/${id}/messages`)).json.filter(({ role }) => role === 'user').map(({ blocks }) => blocks[0].content); };
  assert.equal((await chat('change')).status, 202);
  assert.deepEqual(await said(), ['CHANGED']);
  assert.equal((await chat('mine')).json.handled, true);
  const wrong = await chat('wrong');
  assert.equal(wrong.status, 403);
  assert.match(wrong.json.detail, /Blocked by talk/);
  assert.equal((await chat('/hi "Ada L" Bo')).json.handled, true);
  assert.deepEqual((await ext.sent((f) => f.type === 'slash_command')).payload.args, ['Ada L', 'Bo']);
  assert.equal((await chat('/say one')).status, 202);
  assert.equal((await chat('/unknown x')).status, 202);
  assert.deepEqual(await said(), ['CHANGED', 'said one', '/unknown x']);
  await ext.prove();
  await ext.remove();
});

test('context, compaction and fork are decided; events are seen', async () => {
  const ext = await extend(server, 'over', {
    capabilities: session, hooks: ['context', 'session_before_compact', 'session_before_fork', 'turn_end', 'agent_end', 'tool_execution_end', 'before_provider_request'],
    code: hooking(`    e = f["payload"]["event"]
    if e == "context":
        text = json.dumps(d["messages"])
        answer(f, {"messages": json.loads(text.replace("swap me", "SWAPPED"))} if "swap me" in text else {})
    elif e == "session_before_compact": answer(f, {"summary": "What an extension wrote."})
    elif e == "before_provider_request": answer(f, {})
    elif e == "session_before_fork": answer(f, {"cancel": True, "reason": "not today"})`),
  });
  await called(server, 'call calc {"expression":"1"}\n---\nsay done');
  const id = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/echo' } })).json.id;
  await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'please swap me' } });
  await rested(server, id);
  const turns = (await server.ask('GET', `/api/sessions/${id}/messages`)).json;
  assert.equal(turns.at(-1).blocks[0].content, 'please SWAPPED');
  assert.equal(turns[0].blocks[0].content, 'please swap me');
  const fork = await server.ask('POST', `/api/sessions/${id}/fork`, { body: {} });
  assert.equal(fork.status, 403);
  assert.match(fork.json.detail, /Blocked by over: not today/);
  const end = await ext.sent((f) => f.payload.event === 'agent_end');
  assert.equal(end.payload.data.status, 'completed');
  assert.ok(await ext.sent((f) => f.payload.event === 'turn_end' && f.payload.data.role === 'assistant'));
  const over = await ext.sent((f) => f.payload.event === 'tool_execution_end');
  assert.deepEqual([over.payload.data.tool_name, over.payload.data.is_error], ['calc', false]);
  assert.deepEqual((await server.ask('GET', '/api/extensions/over/explain')).json.denied_hooks, []);
  await ext.prove();
  await ext.remove();
});
