// Hooks on the request to a model, as the vendor receives it; and the events that an extension can only observe.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';
import { until } from './waiting.mjs';

const key = 'sk-secret-0123456789abcdef';
const model = 'anthropic/claude-sonnet-4-5';
let upstream, server;
before(async () => {
  upstream = await openUpstream({ key });
  server = await start({ env: upstream.env(), args: ['--shards', '3'] });
});
after(() => upstream.close());

const session = [{ capability: 'session' }, { capability: 'events' }, { capability: 'log' }];
const hooking = (rules) => `def on(f):\n    if f["type"] != "event_hook": return\n    e = f["payload"]["event"]\n    d = f["payload"].get("data", {})\n${rules}`;
const events = async (ext, name) => (await ext.frames()).filter((f) => f.type === 'event_hook' && f.payload.event === name).map((f) => f.payload.data);

// A session with an answer, and the requests that the vendor received meanwhile.
async function asked(message, { script = { say: 'fine' }, body = {}, id } = {}) {
  upstream.reset();
  upstream.next(...[script].flat());
  const session_id = id ?? (await server.ask('POST', '/api/sessions', { body: { model, ...body } })).json.id;
  assert.equal((await server.ask('POST', `/api/sessions/${session_id}/chat`, { body: { message } })).status, 202);
  const { status } = await rested(server, session_id);
  const turns = (await server.ask('GET', `/api/sessions/${session_id}/messages`)).json;
  return { id: session_id, status, turns, requests: upstream.requests.map(({ body: sent }) => sent) };
}
const textOf = (value) => JSON.stringify(value);

test('before_agent_start adds messages and another system prompt, to every request of that answer and to no other', async () => {
  const first = await extend(server, 'adds', { capabilities: session, hooks: ['before_agent_start'], code: hooking('    answer(f, {"message": "NOTE ONE", "system_prompt": d["system_prompt"] + " And be brief."} if "note" in d["prompt"] else {})') });
  const second = await extend(server, 'more', { capabilities: session, hooks: ['before_agent_start'], code: hooking('    answer(f, {"message": {"content": [{"type": "text", "text": "NOTE TWO after %d" % len(d.get("messages", []))}]}} if "note" in d["prompt"] else {})') });
  await asked('wake up');
  const { requests, turns, id } = await asked('please note this', {
    script: [{ calls: [{ name: 'calc', args: { expression: '1+1' } }] }, { say: 'two' }], body: { system_prompt: 'Be kind.' },
  });
  assert.equal(requests.length, 2);
  for (const request of requests) {
    assert.match(textOf(request.system), /Be kind\. And be brief\./);
    const text = textOf(request.messages);
    assert.ok(text.indexOf('please note this') < text.indexOf('NOTE ONE') && text.indexOf('NOTE ONE') < text.indexOf('NOTE TWO after 1'), text);
  }
  assert.match(textOf(requests[1].messages), /NOTE TWO after 1.*tool_use/s);
  // The session keeps the person's message unchanged, and the hook was called once for this answer.
  assert.doesNotMatch(textOf(turns), /NOTE/);
  assert.equal((await events(first, 'before_agent_start')).filter(({ prompt }) => prompt === 'please note this').length, 1);
  assert.equal((await events(first, 'before_agent_start')).at(-1).system_prompt, 'Be kind.');
  const later = await asked('and now', { id });
  assert.doesNotMatch(textOf(later.requests), /NOTE|brief/);
  await first.prove();
  await second.prove();
  await first.remove();
  await second.remove();
});

test('before_provider_request sees what the vendor gets, without its key, and changes it', async () => {
  const ext = await extend(server, 'payload', { capabilities: session, hooks: ['before_provider_request', 'context'], code: hooking(`    if e == "context":
        answer(f, {"messages": json.loads(json.dumps(d["messages"]).replace("apples", "pears"))})
    else:
        p = d["payload"]
        p["max_tokens"] = 77
        answer(f, {"payload": p})`) });
  await asked('wake up');
  const { requests, turns } = await asked('I like apples', {});
  assert.equal(requests[0].max_tokens, 77);
  assert.match(textOf(requests[0].messages), /I like pears/);
  assert.equal(turns[0].blocks[0].content, 'I like apples');
  const seen = (await events(ext, 'before_provider_request')).at(-1);
  assert.deepEqual([seen.format, seen.model], ['anthropic', model]);
  assert.match(textOf(seen.payload.messages), /I like pears/);
  assert.ok(!textOf(await ext.frames()).includes(key));
  // For a model without a vendor's request, the hook gets the document itself.
  const id = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/echo' } })).json.id;
  await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'hello' } });
  await rested(server, id);
  assert.equal((await events(ext, 'before_provider_request')).at(-1).format, 'turns');
  await ext.prove();
  await ext.remove();
});

test('they fail open, and closed with an exclamation mark', async () => {
  const open = await extend(server, 'open', { capabilities: session, hooks: ['before_agent_start', 'context', 'before_provider_request'], code: hooking('    answer(f, {"nonsense": 1})') });
  await asked('wake up');
  assert.equal((await asked('hello')).turns.at(-1).blocks[0].content, 'fine');
  await open.remove();
  for (const hook of ['before_agent_start', 'context', 'before_provider_request']) {
    const id = `closed-${hook.replaceAll('_', '-')}`;
    const closed = await extend(server, id, { capabilities: session, hooks: [`${hook}!`], code: hooking('    if "hello" in json.dumps(d): answer(f, {"nonsense": 1})\n    else: answer(f, {})') });
    await asked('wake up');
    const { status, turns, requests } = await asked('hello');
    assert.equal(status, 'failed', hook);
    assert.match(textOf(turns.at(-1)), new RegExp(`Blocked by ${id}: an answer to ${hook} has no member`));
    assert.equal(requests.length, 0, 'the model was asked');
    await closed.remove();
  }
});

test('session_before_switch refuses a new session and a replay; a dead hook is a refusal', async () => {
  const id = (await asked('before')).id;
  const ext = await extend(server, 'stay', { capabilities: session, hooks: ['session_before_switch'], code: hooking('    answer(f, {"cancel": d["reason"] == "replay", "reason": "stay here"})') });
  await asked('hi', { id }); // it is registered now
  const replay = await server.ask('POST', `/api/sessions/${id}/replay`, { body: {} });
  assert.equal(replay.status, 403);
  assert.match(replay.json.detail, /Blocked by stay: stay here/);
  assert.equal((await server.ask('POST', '/api/sessions', { body: {} })).status, 201);
  assert.deepEqual((await events(ext, 'session_before_switch')).map(({ reason }) => reason), ['replay', 'new']);
  await ext.prove();
  await ext.remove();
  const dying = await extend(server, 'dies', { capabilities: session, hooks: ['session_before_switch'], code: hooking('    os._exit(4)') });
  await asked('hi', { id });
  const made = await server.ask('POST', '/api/sessions', { body: {} });
  assert.equal(made.status, 403);
  assert.match(made.json.detail, /Blocked by dies/);
  await dying.remove();
  assert.equal((await server.ask('POST', '/api/sessions', { body: {} })).status, 201);
});

test('what is only seen: startup, sessions, models, words as they come, progress', async () => {
  const seen = ['startup', 'session_start', 'session_shutdown', 'model_select', 'message_update', 'message_end', 'tool_execution_start', 'tool_execution_update', 'tool_execution_end', 'shutdown'];
  const ext = await extend(server, 'sees', {
    capabilities: session, hooks: seen, tools: [tool('steps')],
    code: `def on(f):
    if f["type"] == "tool_call":
        send("event_hook", {"event": "tool_execution_update", "data": {"call_id": f["payload"]["call_id"], "content": [{"type": "text", "text": "half"}]}})
        result(f, {"text": "whole"})`,
  });
  const [step] = await called(server, 'call steps {}\n---\nsay done');
  assert.equal(step.result, 'whole');
  assert.deepEqual((await server.ask('GET', '/api/extensions/sees/explain')).json.denied_hooks, []);
  const startup = await ext.sent((f) => f.payload.event === 'startup');
  assert.equal(startup.payload.data.reason, 'start');
  const update = await ext.sent((f) => f.payload.event === 'tool_execution_update');
  assert.deepEqual([update.payload.data.tool_name, update.payload.data.content[0].text], ['steps', 'half']);

  const id = (await server.ask('POST', '/api/sessions', { body: { model } })).json.id;
  assert.equal((await ext.sent((f) => f.payload.event === 'session_start' && f.payload.data.session_id === id)).payload.data.reason, 'chat');
  const words = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');
  const { turns } = await asked('go', { id, script: { say: words, drip: 5 } });
  assert.equal(turns.at(-1).blocks[0].content, words);
  // The last update has the whole text; each update has at least the text of the previous one.
  await ext.sent((f) => f.payload.event === 'message_update' && f.payload.data.text === words, 'the last update');
  const updates = (await events(ext, 'message_update')).filter(({ session_id }) => session_id === id);
  assert.ok(updates.every(({ text, type, offset }, i) => type === 'text' && offset === 0 && words.startsWith(text) && (!i || text.length > updates[i - 1].text.length)), textOf(updates));
  assert.ok(updates.length < 40, 'each word was told alone');

  await server.ask('PATCH', `/api/sessions/${id}`, { body: { model: 'demo/echo' } });
  const select = await ext.sent((f) => f.payload.event === 'model_select' && f.payload.data.session_id === id);
  assert.deepEqual([select.payload.data.model, select.payload.data.previous_model], ['demo/echo', model]);
  await server.ask('DELETE', `/api/sessions/${id}`);
  assert.equal((await ext.sent((f) => f.payload.event === 'session_shutdown' && f.payload.data.session_id === id)).payload.data.reason, 'deleted');
  await ext.prove();
  await ext.remove();
});

test('a call by the method tool passes the hooks of the model\'s own calls', async () => {
  const guard = await extend(server, 'guards', {
    capabilities: session, hooks: ['tool_call', 'tool_call_final', 'tool_result', 'tool_execution_start', 'tool_execution_end'],
    code: hooking(`    t = d.get("input", {}).get("text", "")
    if e == "tool_call": answer(f, {"block": True, "reason": "not six"} if t == "6" else {"ask": True, "reason": "seven?"} if t == "7" else {"input": {"text": "changed"}} if t == "8" else {"input": {"text": 8}} if t == "9" else {})
    elif e == "tool_call_final": answer(f, {"block": True, "reason": "last word"} if t == "5" else {})
    elif e == "tool_result": answer(f, {"content": [{"type": "text", "text": "masked"}]} if d["content"][0].get("text") == "echo 4" else {})`),
  });
  const inner = await extend(server, 'inner', { tools: [tool('echo_it', { parameters: { type: 'object', properties: { text: { type: 'string' } } } })], code: 'def on(f):\n    if f["type"] == "tool_call": result(f, {"content": [{"type": "text", "text": "echo " + f["payload"]["input"]["text"]}]})' });
  const outer = await extend(server, 'outer', {
    tools: [tool('relay')],
    code: `def on(f):
    if f["type"] == "tool_call":
        call("tool", "tool", {"name": "echo_it", "input": {"text": f["payload"]["input"]["say"]}}, lambda p: result(f, p.get("error") or {"text": p["output"]["content"][0]["text"]}))`,
  });
  const relay = async (say) => (await called(server, `call relay {"say":"${say}"}\n---\nsay done`))[0].result;
  assert.equal(await relay('1'), 'echo 1');
  assert.equal(await relay('1'), 'echo 1'); // all are registered now
  const blocked = await relay('6');
  assert.deepEqual([blocked.code, blocked.message, blocked.details.reason], ['denied', 'Blocked by guards: not six', 'blocked']);
  assert.equal((await relay('5')).message, 'Blocked by guards: last word');
  assert.equal(await relay('8'), 'echo changed');
  assert.equal((await relay('9')).code, 'invalid_request'); // a changed input is validated again
  assert.equal(await relay('4'), 'masked');
  // The session asks a person.
  for (const approve of [true, false]) {
    const id = await play(server, 'call relay {"say":"7"}\n---\nsay done');
    let list;
    await until(async () => { list = (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items; return list.length; }, 'a question');
    assert.match(list[0].questions[0].question, /guards asks whether the tool echo_it, called by outer, may run: seven\?/);
    await server.ask('POST', `/api/sessions/${id}/questions/${list[0].tool_call_id}/answer`, { body: { answer: { approve } } });
    await rested(server, id);
    const [call] = await calls(server, id);
    if (approve) assert.equal(call.result, 'echo 7');
    else assert.deepEqual([call.result.code, call.result.details.reason], ['denied', 'prompt_user_deny']);
  }
  const nested = (await events(guard, 'tool_call')).filter(({ tool_name }) => tool_name === 'echo_it');
  assert.ok(nested.every(({ parent_tool_call_id, extension_id }) => parent_tool_call_id && extension_id === 'outer'), textOf(nested));
  assert.ok((await events(guard, 'tool_execution_end')).some(({ tool_name, is_error }) => tool_name === 'echo_it' && is_error === false));

  // The audit log has each tool call, before and after, with the hash of its input but not the input itself.
  let rows;
  await until(async () => {
    rows = (await server.ask('GET', '/api/audit?limit=1000')).json.items.filter(({ action, object }) => action.startsWith('tool_call.') && object === 'inner').reverse();
    return rows.filter(({ action }) => action === 'tool_call.start').length === rows.filter(({ action }) => action === 'tool_call.end').length;
  }, () => `an end is missing: ${textOf(rows)}`);
  assert.equal(rows.filter(({ action }) => action === 'tool_call.start').length, 5); // 1, 1, 8, 4, 7
  const [start1] = rows;
  assert.deepEqual([start1.action, start1.detail.tool], ['tool_call.start', 'echo_it']);
  assert.match(start1.detail.params_hash, /^[0-9a-f]{64}$/);
  const end1 = rows.find(({ action, detail }) => action === 'tool_call.end' && detail.tool_call_id === start1.detail.tool_call_id);
  assert.deepEqual([end1.detail.is_error, end1.detail.params_hash], [false, start1.detail.params_hash]);
  assert.ok(!textOf(rows).includes('changed'));
  assert.ok((await server.ask('GET', '/api/audit/verify')).json.chain_ok);
  for (const ext of [guard, inner, outer]) { await ext.prove(); await ext.remove(); }
});
