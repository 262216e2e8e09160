// Extensions in the real host, in their cells: the examples of the SDKs, a skeleton, the shipped ones, an MCP server and
// extensions of pi, called by a model in sessions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { script } from './live.mjs';
import { directory, root, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const modules = join(root, 'tests/adapters/node_modules');
const noSandbox = !/level full/.test(run(['doctor', '--data', join(directory, 'none')]).out) && 'there is no full sandbox on this machine';
const noPackages = !existsSync(modules) && 'tests/adapters has no packages: tools/install-deps test';
const workspaces = join(directory, 'workspaces');
let server;
before(async () => {
  mkdirSync(workspaces);
  server = await start({ args: ['--workspace', workspaces] });
});

function add(...args) {
  const { code, err } = run(['ext', 'add', '--data', server.data, '--yes', ...args], { env: { PARLEY_ESBUILD: join(modules, '.bin/esbuild') } });
  assert.equal(code, 0, err);
}

const newSession = async () => (await server.ask('POST', '/api/sessions', { body: { model: 'demo/agent' } })).json.id;
const messages = async (id) => (await server.ask('GET', `/api/sessions/${id}/messages`)).json;
const questions = async (id) => { const { json } = await server.ask('GET', `/api/sessions/${id}/questions`); return json.items ?? json; };

// The result of one tool call after the model has seen it. `answer` answers questions in between.
async function call(name, input, { answer, id } = {}) {
  const session = id ?? await newSession();
  const before = (await messages(session)).length;
  await server.ask('POST', `/api/sessions/${session}/chat`, { body: { message: script(`call ${name} ${JSON.stringify(input)}`, '---', 'say done') } });
  const settled = await until(async () => {
    if (answer) for (const question of await questions(session)) await answer(session, question);
    const turns = (await messages(session)).slice(before);
    return turns.at(-1)?.blocks?.some(({ content }) => content === 'done') && turns;
  }, () => `${name} does not end: ${server.err.slice(-2000)}`);
  const [made] = settled.flatMap((turn) => turn.tool_calls ?? []);
  assert.equal(made.tool_name, name);
  return made;
}

const examples = {
  python: ['parley_ext.py'], js: ['parley_ext.mjs'], c: ['parley_ext.h'],
};
for (const [language, files] of Object.entries(examples)) {
  test(`the example of the SDK for ${language} runs in its cell`, { skip: noSandbox }, async () => {
    const dir = join(directory, `example-${language}`);
    cpSync(join(root, 'sdk', language, 'example'), dir, { recursive: true });
    for (const name of files) cpSync(join(root, 'sdk', language, name), join(dir, name));
    if (language === 'c') execFileSync('cc', ['-O1', '-o', join(dir, 'greet'), join(dir, 'greet.c')]);
    add(dir);
    // All three examples have tools with these names, and a name can be used only once: so they run one after another.
    const greeted = await call('greet', { name: 'Ada é😀' });
    assert.deepEqual([greeted.status, greeted.result], ['done', 'Hello, Ada é😀!']);
    const missing = await call('measure', { path: 'nothing.txt' });
    assert.equal(missing.status, 'error', JSON.stringify(missing));
    const escaping = await call('measure', { path: '../../etc/passwd' });
    assert.equal(escaping.status, 'error');
    assert.equal((await server.ask('DELETE', `/api/extensions/greet-${language}`)).status, 204);
  });
}

test('workspace: what is granted is done, the rest asks, and nothing leaves the workspace', { skip: noSandbox }, async () => {
  add('workspace', '--grant', 'write');
  const written = await call('write', { path: 'notes/a.txt', content: 'one\ntwo\n' });
  assert.equal(written.status, 'done', JSON.stringify(written));
  const [own] = readdirSync(workspaces);
  assert.equal(readFileSync(join(workspaces, own, 'notes/a.txt'), 'utf8'), 'one\ntwo\n');
  assert.match((await call('read', { path: 'notes/a.txt' })).result, /two/);
  assert.match((await call('grep', { pattern: 'tw.' })).result, /a\.txt/);
  assert.match((await call('ls', { path: 'notes' })).result, /a\.txt/);
  assert.equal((await call('edit', { path: 'notes/a.txt', oldText: 'two', newText: 'three' })).status, 'done');
  assert.equal((await call('read', { path: '../../../etc/passwd' })).status, 'error');
  assert.equal((await call('write', { path: '.git/hooks/pre-commit', content: 'x' })).status, 'error');
  const asked = [];
  const answer = (approve) => async (session, question) => {
    asked.push(question);
    await server.ask('POST', `/api/sessions/${session}/questions/${question.tool_call_id}/answer`, { body: { answer: { approve, remember: 'once' } } });
  };
  const ran = await call('bash', { command: 'cat notes/a.txt; echo $((6*7))' }, { answer: answer(true) });
  assert.match(ran.result, /three\n42/, JSON.stringify(ran));
  assert.ok(asked.length >= 1);
  const denied = await call('bash', { command: 'echo no' }, { answer: answer(false) });
  assert.equal(denied.status, 'error', JSON.stringify(denied));
});

test('demo: progress, images and failures reach the session; its hook blocks other tools', { skip: noSandbox }, async () => {
  add('demo');
  assert.equal((await call('demo_progress', { to: 3 })).result, 'counted to 3');
  assert.equal((await call('demo_fail', {})).status, 'error');
  const blocked = await call('read', { path: 'demo-block' });
  assert.match(JSON.stringify(blocked), /Blocked by demo: the words demo-block were in it/);
  const bridge = await call('demo_bridge', { target: 'map' });
  assert.match(JSON.stringify(bridge), /was told to highlight map/);
});

test('pi: a tool and a gate of its own package run unchanged', { skip: noSandbox || noPackages }, async () => {
  const of = (name) => join(modules, '@earendil-works/pi-coding-agent/examples/extensions', name);
  add(of('hello.ts'));
  add(of('protected-paths.ts'));
  assert.equal((await call('hello', { name: 'Ada' })).result, 'Hello, Ada!');
  assert.match(JSON.stringify(await call('write', { path: '.env', content: 'x' })), /protected/i);
  for (const id of ['hello', 'protected-paths']) assert.equal((await server.ask('DELETE', `/api/extensions/${id}`)).status, 204);
});

test('mcp: a server in a cell gives its tools', { skip: noSandbox }, async () => {
  const path = join(directory, 'counting.mjs');
  writeFileSync(path, `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'c', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'add', description: 'adds', inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: String(params.arguments.a + params.arguments.b) }] } });
  else if (id !== undefined) say({ id, error: { code: -32601, message: 'none' } });
});
`);
  add('--mcp', 'count', '--', 'node', path);
  assert.equal((await call('mcp__count__add', { a: 2, b: 40 })).result, '42');
  const { tools } = (await server.ask('GET', '/api/extensions/count')).json;
  assert.deepEqual(tools.map(({ name, is_withheld }) => [name, is_withheld]), [['mcp__count__add', false]]);
});

test('mcp: a server reads what it was given, at the same path, and writes nothing', { skip: noSandbox || noPackages }, async () => {
  const { user_id } = (await server.ask('GET', `/api/sessions/${await newSession()}`)).json;
  const home = join(workspaces, user_id);
  mkdirSync(join(home, 'docs'), { recursive: true });
  writeFileSync(join(home, 'docs/a.txt'), 'alpha');
  writeFileSync(join(home, 'secret.txt'), 'no');
  const path = join(directory, 'looking.mjs');
  writeFileSync(path, `
import { createInterface } from 'node:readline';
import { readFileSync, writeFileSync } from 'node:fs';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const attempt = (what) => { try { return what(); } catch ({ code }) { return code; } };
const look = (home) => [readFileSync('docs/a.txt', 'utf8'), attempt(() => readFileSync(home + '/docs/a.txt', 'utf8')), attempt(() => readFileSync(home + '/secret.txt', 'utf8')), attempt(() => writeFileSync(home + '/docs/new', 'x'))];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'l', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: JSON.stringify(look(params.arguments.home)) }] } });
  else if (id !== undefined) say({ id, error: { code: -32601, message: 'none' } });
});
`);
  add('--mcp', 'look', '--read', 'docs/**', '--', 'node', path);
  assert.deepEqual(JSON.parse((await call('mcp__look__look', { home })).result), ['alpha', 'alpha', 'ENOENT', 'EROFS']);
  assert.equal((await server.ask('DELETE', '/api/extensions/look')).status, 204);
});
