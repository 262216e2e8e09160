// The SDKs, each with its example, against a host played by the test: results; host calls that are answered, refused,
// streamed and cancelled; commands; hooks; and a clean end.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Driver, textOf } from './extension_driver.mjs';
import { directory, has, root } from './harness.mjs';
import { until } from './waiting.mjs';

const sdk = (...path) => join(root, 'sdk', ...path);

// A package as `parley ext new` makes it: the example with the SDK.
function packageOf(language, ...files) {
  const dir = join(directory, `sdk-${language}`);
  cpSync(sdk(language, 'example'), dir, { recursive: true });
  for (const name of files) cpSync(sdk(language, name), join(dir, name));
  return dir;
}

const languages = {
  python: () => ['python3', [join(packageOf('python', 'parley_ext.py'), 'greet.py')], 'Python'],
  js: () => ['node', [join(packageOf('js', 'parley_ext.mjs'), 'greet.mjs')], 'JavaScript'],
  c: () => {
    const dir = packageOf('c', 'parley_ext.h');
    execFileSync('cc', ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O1', '-fsanitize=address,undefined', '-o', join(dir, 'greet'), join(dir, 'greet.c')], { cwd: dir, stdio: 'inherit' });
    return [join(dir, 'greet'), [], 'C'];
  },
};
const made = {}; // shared by all tests of a language
const programs = { python: 'python3', js: 'node', c: 'cc' };

const withExample = (language, name, body) => test(`${language}: ${name}`, { skip: !has(programs[language]) && `${programs[language]} is not installed` }, async () => {
  const [command, args, title] = (made[language] ??= languages[language]());
  let serve = () => ({});
  const driver = new Driver(command, args, { hostCall: (payload, host) => serve(payload, host) });
  try {
    const registered = await driver.registered();
    await body(driver, { title, registered, onHostCall: (answer) => { serve = answer; } });
    const { signal } = await driver.end();
    assert.equal(signal, null);
  } finally {
    driver.child.kill('SIGKILL');
  }
});

for (const language of Object.keys(languages)) {
  test(`${language}: the file is shorter than 300 lines`, () => {
    const name = { python: 'parley_ext.py', js: 'parley_ext.mjs', c: 'parley_ext.h' }[language];
    assert.ok(readFileSync(sdk(language, name), 'utf8').split('\n').length <= 300);
  });

  withExample(language, 'the register says what extension.json says', async (driver, { registered, title }) => {
    assert.equal(registered.name, `Greetings in ${title}`);
    assert.equal(registered.api_version, '1.0');
    assert.deepEqual(registered.capability_manifest.capabilities.map(({ capability }) => capability), ['read', 'session', 'events', 'log']);
    assert.deepEqual(registered.tools.map(({ name }) => name), ['greet', 'measure']);
    assert.deepEqual(registered.slash_commands.map(({ name }) => name), ['hello']);
    assert.deepEqual(registered.event_hooks, ['tool_call:bash']);
  });

  withExample(language, 'a tool answers, with progress and any characters', async (driver) => {
    const name = 'Ada "é😀\\\n\t\u0001 Löß';
    const { output, is_error } = await driver.tool('greet', { name }, { callId: 'one' });
    assert.equal(is_error, false);
    assert.equal(textOf(output), `Hello, ${name}!`);
    const update = await driver.heard((frame) => frame.payload.event === 'tool_execution_update');
    assert.deepEqual(update.payload.data, { call_id: 'one', content: [{ type: 'text', text: 'looking for words' }] });
  });

  withExample(language, 'a call of the host carries its parent and the derived capability', async (driver, { onHostCall }) => {
    const calls = [];
    onHostCall((payload) => { calls.push(payload); return { type: 'file', size: 12 }; });
    const { output } = await driver.tool('measure', { path: 'a "b"/c' }, { callId: 'two' });
    assert.equal(textOf(output), 'a "b"/c has 12 bytes.');
    const [{ call_id: callId, ...rest }] = calls;
    assert.ok(callId);
    assert.deepEqual(rest, { capability: 'read', method: 'fs', params: { op: 'stat', path: 'a "b"/c' }, context: { parent: 'two' } });
  });

  withExample(language, 'a refusal of the host is an error result', async (driver, { onHostCall }) => {
    onHostCall(() => { throw { code: 'denied', message: 'No: it is protected.', details: { reason: 'scope' } }; });
    const { output, is_error } = await driver.tool('measure', { path: 'x' });
    assert.equal(is_error, true);
    assert.equal(textOf(output), 'No: it is protected.');
  });

  withExample(language, 'a tool and a command that do not exist are error results', async (driver) => {
    assert.equal((await driver.tool('nothing', {})).is_error, true);
    assert.equal((await driver.command('nothing')).is_error, true);
  });

  withExample(language, 'commands and hooks answer', async (driver, { title }) => {
    assert.equal(textOf((await driver.command('hello', ['a b', 'c'])).output), `Hello from ${title}, a b.`);
    assert.equal(textOf((await driver.command('hello')).output), `Hello from ${title}, you.`);
    const bad = await driver.hook('tool_call', { tool_name: 'bash', tool_call_id: 't', input: { command: 'rm -rf / --x' } });
    assert.deepEqual(bad, { event: 'tool_call', data: { block: true, reason: 'that would remove everything' } });
    assert.deepEqual((await driver.hook('tool_call', { tool_name: 'bash', tool_call_id: 't', input: { command: 'ls' } })).data, {});
  });

  withExample(language, 'a cancelled call gives no result, and the next one does', async (driver, { onHostCall }) => {
    let asked = 0;
    onHostCall(() => { asked++; return null; }); // never answered
    driver.send('tool_call', { call_id: 'lost', name: 'measure', input: { path: 'x' }, context: {} });
    await until(() => asked === 1);
    driver.cancel('lost');
    assert.equal(textOf((await driver.tool('greet', { name: 'B' })).output), 'Hello, B!');
    assert.ok(!driver.frames.some(({ from, frame }) => from === 'child' && frame.payload.call_id === 'lost' && frame.type === 'tool_result'));
  });
}

// Features that the examples do not use.
const more = {
  python: ['more.py', `
from parley_ext import Extension, HostError
ext = Extension({"extension_id": "more", "name": "More", "version": "1", "api_version": "1.0"})
@ext.tool("stream", "streams")
def stream(call, input):
    print("this is no frame")
    return "".join(part.get("stdout", "") for part in call.stream("exec", {"cmd": "x", "args": []}))
@ext.tool("all", "every way to the host")
def every(call, input):
    call.exec("ls", "-l", timeout_ms=5); call.http("https://a.example/"); call.env("A")
    call.tool("read", path="a"); call.tool("bash", command="ls"); call.tool("other"); call.fs("rm", "a")
    return [{"type": "text", "text": f"{call.ask('one', options=['a'])} {call.ask('two', message='?')} {call.ask('three')}"}]
@ext.tool("wrong", "raises")
def wrong(call, input):
    raise ValueError("it went wrong")
@ext.tool("meta", "gives all", timeout_ms=1000)
def meta(call, input):
    return {"text": "t", "_meta": {"card": 1}}
@ext.hook("session_start")
def fails(call, data, event):
    raise ValueError("bad hook")
ext.run()
`],
  js: ['more.mjs', `
import { Extension } from './parley_ext.mjs';
const ext = new Extension({ extension_id: 'more', name: 'More', version: '1', api_version: '1.0' });
ext.tool('stream', 'streams', { type: 'object' }, async (call) => {
  console.log('this is no frame');
  let all = '';
  for await (const part of call.stream('exec', { cmd: 'x', args: [] })) all += part.stdout ?? '';
  return all;
});
ext.tool('all', 'every way to the host', { type: 'object' }, async (call) => {
  await call.exec('ls', ['-l'], { timeout_ms: 5 }); await call.http('https://a.example/'); await call.env('A');
  await call.tool('read', { path: 'a' }); await call.tool('bash', { command: 'ls' }); await call.tool('other', {}); await call.host('fs', { op: 'rm', path: 'a' });
  return [{ type: 'text', text: \`\${await call.ask('one', { options: ['a'] })} \${await call.ask('two', { message: '?' })} \${(await call.ask('three')) ?? 'None'}\` }];
});
ext.tool('wrong', 'throws', { type: 'object' }, () => { throw new Error('it went wrong'); });
ext.tool('meta', 'gives all', { type: 'object' }, () => ({ text: 't', _meta: { card: 1 } }), { timeout_ms: 1000 });
ext.hook('session_start', () => { throw new Error('bad hook'); });
ext.run();
`],
};
for (const language of Object.keys(more)) {
  test(`${language}: streams, questions, errors and logs`, { skip: !has(programs[language]) && 'not installed' }, async () => {
    const [command] = languages[language]();
    const dir = join(directory, `sdk-${language}`);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, more[language][0]), more[language][1]);
    const calls = [];
    const driver = new Driver(command, [join(dir, more[language][0])], {
      hostCall: (payload) => {
        calls.push(payload);
        if (payload.params.stream) return [{ stdout: 'a' }, { stdout: 'ß' }, { code: 0, killed: false }];
        if (payload.method === 'ui') return payload.params.op === 'input' ? { value: '', dismissed: true } : { value: payload.params.op };
        return payload.method === 'env' ? { values: { A: '1' } } : {};
      },
    });
    try {
      const registered = await driver.registered();
      assert.equal(registered.tools.find(({ name }) => name === 'meta').timeout_ms, 1000);
      assert.equal(textOf((await driver.tool('stream', {})).output), 'aß');
      assert.deepEqual(calls[0].params.stream, { credits: 16 });
      await until(() => driver.frames.filter(({ frame }) => frame.payload.event === 'stream.credit').length === 2);
      assert.match(driver.stderr, /this is no frame/);
      assert.equal(textOf((await driver.tool('all', {})).output), 'select confirm None');
      assert.deepEqual(calls.slice(1, 8).map(({ capability }) => capability), ['exec', 'http', 'env', 'read', 'exec', 'tool', 'write']);
      assert.deepEqual(await driver.tool('wrong', {}, { callId: 'w' }), { call_id: 'w', output: { text: 'it went wrong' }, is_error: true });
      assert.deepEqual((await driver.tool('meta', {})).output, { text: 't', _meta: { card: 1 } });
      assert.deepEqual(await driver.hook('session_start', {}), { code: 'internal', message: 'bad hook' });
      await driver.end();
    } finally {
      driver.child.kill('SIGKILL');
    }
  });
}
