// One turn of an agent that uses the workspace, an MCP server and an extension of pi, with questions and a denial; the
// server is killed during the turn, and nothing runs twice.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { calls, play, rested } from './extending.mjs';
import { directory, root, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const modules = join(root, 'tests/adapters/node_modules');
const noSandbox = !/level full/.test(run(['doctor', '--data', join(directory, 'none')]).out) && 'there is no full sandbox on this machine';
const noPackages = !existsSync(modules) && 'tests/adapters has no packages: tools/install-deps test';
const workspaces = join(directory, 'story');

// Adds numbers, and can wait for ever; its name is among its arguments, so that the test finds the process.
const counting = `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const number = { type: 'number' };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'c', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'add', description: 'adds', inputSchema: { type: 'object', properties: { a: number, b: number } } }, { name: 'wait', description: 'waits', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call' && params.name === 'add') say({ id, result: { content: [{ type: 'text', text: String(params.arguments.a + params.arguments.b) }] } });
  else if (method !== 'tools/call' && id !== undefined) say({ id, error: { code: -32601, message: 'none' } });
});
`;

// Processes with this word in their arguments.
const processes = (word) => readdirSync('/proc').filter((name) => {
  try { return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word); } catch { return false; }
});

test('a turn with workspace, MCP and pi, with questions and a denial; kill -9 in the middle', { skip: noSandbox || noPackages }, async () => {
  mkdirSync(workspaces);
  const args = ['--workspace', workspaces];
  let server = await start({ args });
  const add = (...words) => {
    const { code, err } = run(['ext', 'add', '--data', server.data, '--yes', ...words], { env: { PARLEY_ESBUILD: join(modules, '.bin/esbuild') } });
    assert.equal(code, 0, err);
  };
  const script = join(directory, 'counting-of-the-story.mjs');
  writeFileSync(script, counting);
  add('workspace', '--grant', 'write');
  add('--mcp', 'count', '--', 'node', script);
  add(join(modules, '@earendil-works/pi-coding-agent/examples/extensions/permission-gate.ts'));
  const home = join(workspaces, (await server.ask('POST', '/api/sessions', { body: {} })).json.user_id);
  mkdirSync(join(home, 'docs'), { recursive: true });
  writeFileSync(join(home, 'docs', 'a.txt'), 'alpha');
  // All are registered: an unregistered gate could not refuse anything.
  await rested(server, await play(server, 'say ready'));

  const steps = [
    'call read {"path":"docs/a.txt"}', 'call mcp__count__add {"a":2,"b":40}', 'call write {"path":"notes.txt","content":"kept"}',
    'call edit {"path":"notes.txt","oldText":"kept","newText":"kept+"}',
    'call bash {"command":"echo once; cat notes.txt"}', 'call bash {"command":"rm -rf docs"}', 'call mcp__count__wait {}', 'say done',
  ];
  const id = await play(server, steps.join('\n---\n'));
  const questions = async () => (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items;
  const asked = [];
  const answer = async (body) => {
    let list;
    await until(async () => { list = await questions(); return list.length; }, async () => `no question: ${JSON.stringify(await calls(server, id))}`);
    asked.push([list[0].kind, list[0].questions[0].question]);
    assert.equal((await server.ask('POST', `/api/sessions/${id}/questions/${list[0].tool_call_id}/answer`, { body: { answer: body } })).status, 200);
    await until(async () => !(await questions()).some(({ tool_call_id }) => tool_call_id === list[0].tool_call_id), 'the end of the question');
  };
  await answer({ approve: true, remember: 'once' }); // exec, for the workspace
  await answer('No'); // the gate of pi
  assert.equal(asked[0][0], 'capability');
  assert.match(asked[0][1], /workspace use exec: echo once/);
  assert.equal(asked[1][0], 'ask');
  assert.match(asked[1][1], /Dangerous command.*rm -rf docs.*Allow\?/s);
  await until(async () => (await calls(server, id)).length === 7, 'the last call');
  const rows = async (action, object) => (await server.ask('GET', '/api/audit?limit=1000')).json.items.filter((row) => row.action === action && row.object === object);
  await until(async () => (await rows('tool_call.start', 'count')).some(({ detail }) => detail.tool === 'mcp__count__wait'), 'the call in the audit');
  await until(() => processes('counting-of-the-story').length, 'the process of the MCP server');

  const { data, key } = server;
  await server.stop('SIGKILL');
  await until(() => !processes('counting-of-the-story').length, () => `processes are left: ${processes('counting-of-the-story')}`);
  server = await start({ data, login: false, args });
  server.key = key;
  await rested(server, id);
  const made = await calls(server, id);
  assert.deepEqual(made.map(({ tool_name, status }) => `${tool_name} ${status}`), ['read done', 'mcp__count__add done', 'write done', 'edit done', 'bash done', 'bash error', 'mcp__count__wait error']);
  assert.deepEqual([made[0].result, made[1].result, made[6].result.error_type], ['alpha', '42', 'Interrupted']);
  assert.match(made[4].result, /once\nkept\+/);
  assert.match(made[5].result.message, /^Blocked by permission-gate: Blocked by user/);
  // Each effect happened once, and denied calls had none.
  assert.equal(readFileSync(join(home, 'notes.txt'), 'utf8'), 'kept+');
  assert.ok(existsSync(join(home, 'docs', 'a.txt')));
  assert.deepEqual((await rows('tool_call.start', 'count')).map(({ detail }) => detail.tool).sort(), ['mcp__count__add', 'mcp__count__wait']);
  assert.deepEqual((await rows('tool_call.end', 'count')).map(({ detail }) => detail.tool), ['mcp__count__add']);
  assert.deepEqual((await rows('host_call.start', 'workspace')).map(({ detail }) => detail.capability).sort(), ['exec', 'write', 'write']);
  assert.ok((await server.ask('GET', '/api/audit/verify')).json.chain_ok);
  // The conversation continues.
  assert.equal((await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: '#!demo\ncall mcp__count__add {"a":1,"b":2}\n---\nsay well' } })).status, 202);
  await rested(server, id);
  assert.equal((await calls(server, id)).at(-1).result, '3');
});
