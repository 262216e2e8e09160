// Running extensions: tools in sessions, the life of an instance, and reports about it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { called, calls, extend, play, rested, tool } from './extending.mjs';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

let server;
before(async () => { server = await start({ args: ['--ext-sandbox', 'none'] }); });

test('a session calls the tool of an extension, which starts then', async () => {
  const ext = await extend(server, 'greeter', {
    tools: [tool('greet', { label: 'Greets', parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } })],
    code: 'def on(f):\n    if f["type"] == "tool_call":\n        result(f, {"content": [{"type": "text", "text": "Hello " + f["payload"]["input"]["name"]}]})',
  });
  const [call] = await called(server, 'call greet {"name":"Ada"}\n---\nsay done');
  assert.deepEqual({ name: call.tool_name, shown: call.display_name, status: call.status, result: call.result }, { name: 'greet', shown: 'Greets', status: 'done', result: 'Hello Ada' });
  const ready = await ext.sent((f) => f.payload.event === 'extension.ready', 'extension.ready');
  assert.equal(ready.id, 'r1');
  assert.deepEqual(ready.payload.data.tools, { greet: 'Greets' });
  assert.equal(ready.payload.data.extension_id, 'greeter');
  assert.deepEqual(ready.payload.data.limits, { line_bytes: 8388608, calls_at_once: 16, calls_queued: 256, calls_per_s: 50, chunk_bytes: 32768, answer_bytes: 4194304 });
  const sent = await ext.sent((f) => f.type === 'tool_call');
  assert.deepEqual(Object.keys(sent.payload.context).sort(), ['deadline_ms', 'has_person', 'loop_id', 'session_id', 'tool_call_id', 'turn_id', 'workspace']);
  const [wrong] = await called(server, 'call greet {"name":1}\n---\nsay done');
  assert.equal(wrong.result.error_type, 'InvalidArguments');
  await ext.prove();
  const explained = (await server.ask('GET', '/api/extensions/greeter/explain')).json;
  assert.deepEqual(explained.tools, { greet: 'Greets' });
  assert.equal((await server.ask('POST', '/api/extensions/greeter/restart')).status, 200);
  const [again] = await called(server, 'call greet {"name":"Bo"}\n---\nsay done');
  assert.equal(again.result, 'Hello Bo');
  assert.equal((await ext.remove()).status, 204);
  const [gone] = await called(server, 'call greet {"name":"Bo"}\n---\nsay done');
  assert.equal(gone.result.error_type, 'UnknownTool');
});

test('a message, a prompt that is run and a session name the tool of an extension', async () => {
  const ext = await extend(server, 'namer', { tools: [tool('named')], code: 'def on(f):\n    if f["type"] == "tool_call":\n        result(f, {"content": [{"type": "text", "text": "I ran"}]})' });
  const script = '#!demo\ncall named {}\n---\nsay done';
  const told = async (id) => { await rested(server, id); return (await calls(server, id)).map(({ result }) => result?.error_type ?? result); };
  // Its tools are known after its first run.
  assert.equal((await called(server, 'call named {}\n---\nsay done'))[0].result, 'I ran');
  const none = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/agent', tools: 'none' } })).json.id;
  assert.equal((await server.ask('POST', `/api/sessions/${none}/chat`, { body: { message: script, tools: ['named'] } })).status, 202);
  assert.deepEqual(await told(none), ['I ran']);
  // For this message only.
  assert.equal((await server.ask('POST', `/api/sessions/${none}/chat`, { body: { message: script } })).status, 202);
  assert.deepEqual(await told(none), ['I ran', 'UnknownTool']);
  const prompt = (await server.ask('POST', '/api/prompts', { body: { name: 'namer', content: script } })).json.id;
  const ran = await server.ask('POST', `/api/prompts/${prompt}/run`, { body: { model: 'demo/agent', tools: ['named'] } });
  assert.ok(ran.status < 300, ran.text);
  assert.deepEqual(await told(ran.json.items[0].session_id), ['I ran']);
  // From the command line: from a file and from the library.
  const path = join(directory, 'namer.txt');
  writeFileSync(path, script);
  const nCalls = async () => (await ext.frames()).filter(({ type }) => type === 'tool_call').length;
  let n = 3; // calls so far
  for (const what of [['run', path], ['run', 'namer'], ['prompt', 'run', 'namer']]) {
    const cli = (...more) => run([...what, '--data', server.data, '--model', 'demo/agent', '--json', ...more]);
    for (const more of [[], ['--tool', 'named', '--tool', 'calc']]) {
      const { code, out, err } = cli(...more);
      assert.equal(code, 0, out + err);
      assert.match(out, /done/);
    }
    n += 1; // only one of the two runs calls the tool
    await until(async () => (await nCalls()) >= n, 'the call of the tool');
    assert.equal(await nCalls(), n, `${what}`);
    const wrong = cli('--tool', 'nothing');
    assert.equal(wrong.code, 1, wrong.err);
    assert.match(JSON.parse(wrong.out).detail, /no built-in tool "nothing"/);
  }
  // After the extension is removed.
  assert.equal((await ext.remove()).status, 204);
  const { status, json } = await server.ask('POST', `/api/sessions/${none}/chat`, { body: { message: 'hi', tools: ['named'] } });
  assert.deepEqual([status, json.errors[0].pointer], [400, '/tools/0']);
  assert.match(json.detail, /no .*tool "named"/);
});
