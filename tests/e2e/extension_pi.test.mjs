// Extensions from pi's npm package, unchanged: bundled by `parley ext add`, run by the adapter, with a host played by the
// test. All extensions that need no terminal register and answer.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { promisify } from 'node:util';
import { Driver, textOf } from './extension_driver.mjs';
import { directory, parley, root, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const modules = join(root, 'tests/adapters/node_modules');
const examples = join(modules, '@earendil-works/pi-coding-agent/examples/extensions');
const skip = !existsSync(examples) && 'tests/adapters has no packages: tools/install-deps test';
const env = { PATH: process.env.PATH, HOME: '/nonexistent', LC_ALL: 'C.UTF-8', PARLEY_ESBUILD: join(modules, '.bin/esbuild') };
let server;
before(async () => { if (!skip) server = await start(); });

async function withPi(name, body, hostCall = () => ({})) {
  const added = run(['ext', 'add', join(examples, name), '--yes', '--data', server.data], { env });
  assert.equal(added.code, 0, added.err);
  const id = name.replace(/\.ts$/, '');
  const made = (await server.ask('GET', `/api/extensions/${id}`)).json;
  assert.equal(made.runtime, 'js');
  const dir = join(server.data, 'extensions', id, made.artifact);
  const calls = [];
  const driver = new Driver('node', [join(dir, '.parley/pi.mjs'), join(dir, 'extension.mjs')], { cwd: directory, hostCall: (payload) => { calls.push(payload); return hostCall(payload); } });
  try {
    await body(driver, await driver.registered(), { calls, made });
    await driver.end();
  } finally {
    driver.child.kill('SIGKILL');
  }
  assert.equal((await server.ask('DELETE', `/api/extensions/${id}`)).status, 204);
}

test('hello: a tool with a TypeBox schema', { skip }, async () => {
  await withPi('hello.ts', async (driver, registered) => {
    assert.deepEqual(registered.tools, [{ name: 'hello', description: 'A simple greeting tool', label: 'Hello', parameters: { type: 'object', properties: { name: { type: 'string', description: 'Name to greet' } }, required: ['name'] } }]);
    const { output } = await driver.tool('hello', { name: 'Ada' });
    assert.deepEqual(output, { content: [{ type: 'text', text: 'Hello, Ada!' }], details: { greeted: 'Ada' } });
  });
});

test('permission-gate: asks before a dangerous command, and blocks without a person', { skip }, async () => {
  let choice = 'Yes';
  await withPi('permission-gate.ts', async (driver, registered, { calls }) => {
    assert.deepEqual(registered.event_hooks, ['tool_call']);
    const ask = async (command, more) => (await driver.hook('tool_call', { tool_name: 'bash', tool_call_id: 't', input: { command }, ...more })).data;
    assert.deepEqual(await ask('ls'), {});
    assert.equal(calls.length, 0);
    assert.deepEqual(await ask('rm -rf x'), {});
    assert.deepEqual(calls[0].params.options, ['Yes', 'No']);
    choice = 'No';
    assert.deepEqual(await ask('sudo ls'), { block: true, reason: 'Blocked by user' });
    assert.equal((await ask('sudo ls', { has_person: false })).block, true);
  }, () => ({ value: choice }));
});

test('protected-paths: blocks writes by their path', { skip }, async () => {
  await withPi('protected-paths.ts', async (driver) => {
    const write = async (path) => (await driver.hook('tool_call', { tool_name: 'write', tool_call_id: 't', input: { path } })).data;
    assert.equal((await write('.env')).block, true);
    assert.deepEqual(await write('src/a.ts'), {});
  });
});

test('todo: reads the session while it stands still, and explain lists the drawing it misses', { skip }, async () => {
  const entries = [{ type: 'message', message: { role: 'toolResult', toolName: 'todo', details: { action: 'add', todos: [{ id: 7, text: 'kept', done: false }], nextId: 8 } } }];
  await withPi('todo.ts', async (driver, registered, { calls, made }) => {
    await driver.hook('session_start', { session_id: 's' });
    assert.deepEqual(calls.map(({ method, params }) => [method, params.op]), [['session', 'get_entries']]);
    assert.match(textOf((await driver.tool('todo', { action: 'list' })).output), /kept/);
    assert.match(textOf((await driver.tool('todo', { action: 'add', text: 'new' })).output), /8/);
    assert.ok(made.notes.some((note) => note.includes('ui.custom')) && made.notes.some((note) => note.includes('renderResult')), JSON.stringify(made.notes));
    assert.match(run(['ext', 'explain', 'todo', '--data', server.data]).out, /notes:\n[^]*ui\.custom draws in a terminal: it does nothing/);
    assert.equal((await driver.command('todos')).is_error, false);
  }, () => ({ entries }));
});

test('frames that come while the program stands still are not lost', { skip }, async () => {
  let driver;
  await withPi('todo.ts', async (own) => {
    driver = own;
    own.send('event_hook', { event: 'session_start', data: {} }, 'first');
    own.send('tool_call', { call_id: 'meanwhile', name: 'todo', input: { action: 'list' }, context: {} });
    await own.heard((frame) => frame.type === 'tool_result' && frame.payload.call_id === 'meanwhile');
  }, async () => { await until(() => driver); return { entries: [] }; });
});

test('dynamic-tools: a tool that comes later is registered again', { skip }, async () => {
  await withPi('dynamic-tools.ts', async (driver) => {
    await driver.hook('session_start', {});
    await driver.heard((frame) => frame.type === 'register' && frame.payload.tools.length === 1);
    await driver.command('add-echo-tool', ['shout']);
    const again = await driver.heard((frame) => frame.type === 'register' && frame.payload.tools.length === 2);
    assert.match(textOf((await driver.tool(again.payload.tools[1].name, { message: 'x' })).output), /x/);
  });
});

test('git-checkpoint and send-user-message: programs and messages go through the host', { skip }, async () => {
  await withPi('git-checkpoint.ts', async (driver, registered, { calls }) => {
    await driver.hook('turn_start', {});
    assert.deepEqual(calls.filter(({ method }) => method === 'exec').map(({ params }) => [params.cmd, params.args[0]]), [['git', 'stash']]);
  }, ({ method }) => (method === 'exec' ? { stdout: 'abc\n', stderr: '', code: 0, killed: false } : {}));
  await withPi('send-user-message.ts', async (driver, registered, { calls }) => {
    const name = registered.slash_commands[0].name;
    await driver.command(name, ['hello', 'there']);
    await until(() => calls.some(({ method, params }) => method === 'events' && params.op === 'send_user_message'));
    assert.match(calls.find(({ params }) => params.op === 'send_user_message').params.content, /hello there/);
  });
});

test('notify: what it writes to the terminal is no frame', { skip }, async () => {
  await withPi('notify.ts', async (driver) => {
    assert.deepEqual((await driver.hook('agent_end', { messages: [] })).data, {});
    await until(() => driver.stderr.includes('Ready for input'));
  });
});

// The extensions in corpora/pi-ext/usage/pi-classes.json that need no terminal, as far as 0.74.2 has them.
const plain = ['auto-commit-on-exit.ts', 'bookmark.ts', 'claude-rules.ts', 'commands.ts', 'confirm-destructive.ts', 'dirty-repo-guard.ts', 'dynamic-resources', 'event-bus.ts', 'file-trigger.ts', 'inline-bash.ts', 'input-transform.ts',
  'model-status.ts', 'pirate.ts', 'plan-mode', 'prompt-customizer.ts', 'reload-runtime.ts', 'rpc-demo.ts', 'session-name.ts', 'shutdown-command.ts', 'status-line.ts', 'structured-output.ts', 'subagent', 'system-prompt-header.ts',
  'timed-confirm.ts', 'titlebar-spinner.ts', 'tool-override.ts', 'trigger-compact.ts', 'truncated-tool.ts', 'widget-placement.ts', 'with-deps'];
test('every extension that needs no terminal passes parley ext test', { skip }, async () => {
  const waiting = [...plain], failed = [];
  const work = async () => {
    for (let name; (name = waiting.shift());) {
      await promisify(execFile)(parley, ['ext', 'test', join(examples, name)], { env, cwd: directory }).catch((error) => failed.push(`${name}: ${error.stdout}${error.stderr}`));
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  assert.deepEqual(failed, []);
});

test('a file that is no extension of pi, and one that cannot be bundled', { skip }, () => {
  const made = join(directory, 'wrong.ts');
  assert.ok(readFileSync(join(examples, 'hello.ts')));
  const { code, err } = run(['ext', 'test', join(examples, 'sandbox')], { env });
  assert.equal(code, 1);
  assert.match(err, /esbuild cannot bundle/);
  assert.equal(run(['ext', 'test', made], { env }).code, 2);
});
