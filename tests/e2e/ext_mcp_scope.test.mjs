// MCP servers that may write or reach hosts, in their cells: only the granted resources are available, and the first call of a
// tool asks the person.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { directory, root, run } from './harness.mjs';
import { script } from './live.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const modules = join(root, 'tests/adapters/node_modules');
const noSandbox = !/level full/.test(run(['doctor', '--data', join(directory, 'none')]).out) && 'there is no full sandbox on this machine';
const skip = noSandbox || (!existsSync(modules) && 'tests/adapters has no packages: tools/install-deps test');
const workspaces = join(directory, 'mcp-workspaces'), outside = join(directory, 'outside');
const host = hostname();
let server, home, port, web;
after(() => web?.close());

// A package of npm bundled into one file, as `add --mcp ID -- node FILE` copies it.
function bundled(name) {
  const to = join(directory, `${name}.mjs`);
  execFileSync(join(modules, '.bin/esbuild'), ['--bundle', '--platform=node', '--format=esm', '--log-level=error', "--banner:js=import{createRequire}from'module';const require=createRequire(import.meta.url);", `--outfile=${to}`, join(modules, '@modelcontextprotocol', name, 'dist/index.js')]);
  return to;
}

before(async () => {
  if (skip) return;
  mkdirSync(workspaces);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  web = createServer((_, response) => response.end('from the host'));
  await new Promise((resolve) => { web.listen(0, '0.0.0.0', resolve); });
  ({ port } = web.address());
  const config = join(directory, 'mcp.yaml');
  writeFileSync(config, `allow_fetch:\n  - ${host}\n`);
  server = await start({ args: ['--workspace', workspaces, '--config', config] });
  const session = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/agent' } })).json.id;
  home = join(workspaces, (await server.ask('GET', `/api/sessions/${session}`)).json.user_id);
  for (const dir of ['docs', 'private', 'docs/.git/hooks']) mkdirSync(join(home, dir), { recursive: true });
  writeFileSync(join(home, 'docs/a.txt'), 'alpha');
  writeFileSync(join(home, 'private/b.txt'), 'beta');
  symlinkSync(outside, join(home, 'docs/out'));
  symlinkSync(outside, join(home, 'link'));
});

function add(...args) {
  const { code, err } = run(['ext', 'add', '--data', server.data, '--yes', ...args]);
  assert.equal(code, 0, err);
}
const newSession = async () => (await server.ask('POST', '/api/sessions', { body: { model: 'demo/agent' } })).json.id;
const messages = async (id) => (await server.ask('GET', `/api/sessions/${id}/messages?limit=100`)).json;
const remove = async (id) => assert.equal((await server.ask('DELETE', `/api/extensions/${id}`)).status, 204);

// The result of one call. Questions in between are answered, and kept in `asked`.
async function call(session, name, input, reply, asked = []) {
  const n = (await messages(session)).length;
  await server.ask('POST', `/api/sessions/${session}/chat`, { body: { message: script(`call ${name} ${JSON.stringify(input)}`, '---', 'say done') } });
  const settled = await until(async () => {
    const { json } = await server.ask('GET', `/api/sessions/${session}/questions`);
    for (const question of json.items ?? json) {
      if (asked.some(({ tool_call_id }) => tool_call_id === question.tool_call_id)) continue;
      assert.ok(reply, `nobody expected ${JSON.stringify(question)}`);
      asked.push(question);
      const { status, text } = await server.ask('POST', `/api/sessions/${session}/questions/${question.tool_call_id}/answer`, { body: { answer: reply } });
      assert.ok(status < 300, text);
    }
    const turns = (await messages(session)).slice(n);
    return turns.at(-1)?.blocks?.some(({ content }) => content === 'done') && turns;
  }, () => `${name} does not end: ${server.err.slice(-2000)}`);
  const [made] = settled.flatMap((turn) => turn.tool_calls ?? []);
  return { ...made, text: JSON.stringify(made.result), asked };
}

test('server-filesystem writes where it may, and the first call of each tool asks', { skip }, async () => {
  add('--mcp', 'files', '--read', 'private/**', '--write', 'docs/**', '--', 'node', bundled('server-filesystem'), 'docs', 'private');
  const session = await newSession();
  const write = (path, reply, asked) => call(session, 'mcp__files__write_file', { path: join(home, path), content: 'new' }, reply, asked);
  const no = await write('docs/n.txt', { approve: false, remember: 'once' });
  assert.deepEqual([no.status, no.result.error_type], ['error', 'PermissionDenied']);
  assert.match(no.result.message, /may not use write: prompt_user_deny/);
  assert.ok(!existsSync(join(home, 'docs/n.txt')));
  const [question] = no.asked[0].questions ?? [no.asked[0]];
  assert.match(JSON.stringify(no.asked[0]), /May the extension files use write: mcp__files__write_file, which may write docs\/\*\*\?/, JSON.stringify(question));
  const yes = await write('docs/y.txt', { approve: true, remember: 'session' });
  assert.equal(yes.status, 'done', yes.text);
  assert.equal(readFileSync(join(home, 'docs/y.txt'), 'utf8'), 'new');
  // Granted for the session and this tool: another tool asks, and so does another session.
  assert.equal((await write('docs/z.txt')).status, 'done');
  const other = await call(session, 'mcp__files__read_text_file', { path: join(home, 'docs/a.txt') }, { approve: true, remember: 'once' });
  assert.deepEqual([other.asked.length, /alpha/.test(other.text)], [1, true], other.text);
  const elsewhere = await call(await newSession(), 'mcp__files__write_file', { path: join(home, 'docs/s.txt'), content: 'x' }, { approve: true, remember: 'always' });
  assert.equal(elsewhere.asked.length, 1);
  assert.equal((await call(await newSession(), 'mcp__files__write_file', { path: join(home, 'docs/t.txt'), content: 'x' })).status, 'done');
  // Not granted: read-only, missing, behind a link, protected.
  for (const path of ['private/w.txt', 'w.txt', 'docs/out/w.txt', 'link/w.txt', 'docs/.git/hooks/pre-commit']) {
    const refused = await write(path);
    assert.equal(refused.status, 'error', `${path}: ${refused.text}`);
    assert.ok(!existsSync(join(home, path)), path);
  }
  const through = await call(session, 'mcp__files__read_text_file', { path: join(home, 'docs/out/secret.txt') }, { approve: true, remember: 'session' });
  assert.ok(!/secret"/.test(through.text) && through.status === 'error', through.text);
  assert.match((await call(session, 'mcp__files__read_text_file', { path: join(home, 'private/b.txt') })).text, /beta/);
  await remove('files');
});

test('a protected path that a server made anew is removed after the call, and told', { skip }, async () => {
  add('--mcp', 'maker', '--write', 'docs/**', '--grant', 'write', '--', 'node', bundled('server-filesystem'), 'docs');
  // Granted: no question.
  const made = await call(await newSession(), 'mcp__maker__write_file', { path: join(home, 'docs/.envrc'), content: 'x' });
  assert.equal(made.status, 'done', made.text);
  await until(() => !existsSync(join(home, 'docs/.envrc')), 'the protected path goes');
  const told = async () => (await server.ask('GET', '/api/audit?limit=300')).json.items.filter(({ action, object }) => action === 'protected_path.removed' && object === 'maker');
  await until(async () => (await told()).length === 1, 'it is told');
  assert.deepEqual((await told())[0].detail.removed, ['docs/.envrc']);
  // Again while it runs; existing files stay.
  assert.equal((await call(await newSession(), 'mcp__maker__write_file', { path: join(home, 'docs/.git/config'), content: 'x' })).status, 'done');
  await until(() => !existsSync(join(home, 'docs/.git/config')), 'the next one goes');
  await until(async () => (await told()).length === 2, 'it is told too');
  assert.ok(existsSync(join(home, 'docs/.git/hooks')) && existsSync(join(home, 'docs/a.txt')));
  await remove('maker');
});

test('nobody there: what may write is denied; --deny takes the mount away', { skip }, async () => {
  add('--mcp', 'denied', '--read', 'docs/**', '--write', 'docs/**', '--deny', 'write', '--', 'node', bundled('server-filesystem'), 'docs');
  const refused = await call(await newSession(), 'mcp__denied__write_file', { path: join(home, 'docs/d.txt'), content: 'x' });
  assert.equal(refused.status, 'error', refused.text);
  assert.ok(!existsSync(join(home, 'docs/d.txt')));
  assert.match((await call(await newSession(), 'mcp__denied__read_text_file', { path: join(home, 'docs/a.txt') })).text, /alpha/);
  await remove('denied');
});

test('server-everything with a host: its tools ask, and the host is reached through the guard', { skip }, async () => {
  const fetching = join(directory, 'fetching.mjs');
  writeFileSync(fetching, `
import { createInterface } from 'node:readline';
import { get } from 'node:http';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const fetched = (url) => new Promise((done) => get(url, (r) => { let text = ''; r.on('data', (d) => { text += d; }).on('end', () => done(text)); }).on('error', ({ code }) => done(code)));
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'get', description: 'gets', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: await fetched(params.arguments.url) }] } });
  else if (id !== undefined) say({ id, error: { code: -32601, message: 'none' } });
});
`);
  add('--mcp', 'net', '--host', `http://${host}:${port}`, '--', 'node', fetching);
  const session = await newSession(), yes = { approve: true, remember: 'session' };
  const got = await call(session, 'mcp__net__get', { url: `http://${host}:${port}/` }, yes);
  assert.deepEqual([got.result, got.asked.length], ['from the host', 1], got.text);
  assert.match(JSON.stringify(got.asked[0]), new RegExp(`use http: mcp__net__get, which may reach ${host}`));
  for (const url of [`http://${host}:${port + 1}/`, `http://127.0.0.1:${port}/`, 'http://example.com/']) {
    const { result } = await call(session, 'mcp__net__get', { url });
    assert.match(String(result), /^E[A-Z_]+$/, url);
  }
  const audit = (await server.ask('GET', '/api/audit?limit=300')).json.items;
  assert.ok(audit.some(({ action, object, detail }) => action === 'host_call.connect' && object === 'net' && detail.host === host && detail.port === port));
  await remove('net');
  add('--mcp', 'all', '--host', 'api.example.com', '--', 'node', bundled('server-everything'), 'stdio');
  const denied = await call(await newSession(), 'mcp__all__echo', { message: 'x' }, { approve: false, remember: 'once' });
  assert.equal(denied.result.error_type, 'PermissionDenied');
  const echoed = await call(await newSession(), 'mcp__all__echo', { message: 'héllo' }, yes);
  assert.match(echoed.text, /Echo: héllo/);
  await remove('all');
});

test('the first call of a tool in a task, where nobody can be asked, is denied and the run ends', { skip }, async () => {
  add('--mcp', 'alone', '--write', 'docs/**', '--', 'node', bundled('server-filesystem'), 'docs');
  const path = join(home, 'docs/alone.txt');
  // Skipping confirmations of the model's own tools has no effect on extensions.
  for (const skip_confirmations of [true, false]) {
    const made = await server.ask('POST', '/api/scheduled-tasks', {
      body: { title: `Alone ${skip_confirmations}`, cron: '0 12 * * *', model: 'demo/agent', skip_confirmations, prompt: script(`call mcp__alone__write_file ${JSON.stringify({ path, content: 'x' })}`, '---', 'say done') },
    });
    assert.equal(made.status, 201, made.text);
    const runs = async () => (await server.ask('GET', `/api/scheduled-tasks/${made.json.id}/runs`)).json.items;
    // Twice: neither call waits for an answer that never comes.
    for (let n = 1; n <= 2; n++) {
      const ran = await server.ask('POST', `/api/scheduled-tasks/${made.json.id}/run`);
      assert.ok(ran.status < 300, ran.text);
      await until(async () => (await runs()).filter(({ status }) => status === 'completed').length === n, async () => `the run does not end: ${JSON.stringify(await runs())}`);
    }
    for (const { session_id } of await runs()) {
      const [call] = (await messages(session_id)).flatMap((turn) => turn.tool_calls ?? []);
      assert.deepEqual([call.status, call.result.error_type], ['error', 'PermissionDenied'], JSON.stringify(call));
      assert.match(call.result.message, /The tool mcp__alone__write_file may not use write: prompt_no_person/);
      const { json } = await server.ask('GET', `/api/sessions/${session_id}/questions`);
      assert.deepEqual(json.items ?? json, []);
    }
  }
  assert.ok(!existsSync(path));
  // The same call with a person present: they are asked.
  const asked = await call(await newSession(), 'mcp__alone__write_file', { path, content: 'x' }, { approve: true, remember: 'once' });
  assert.deepEqual([asked.status, asked.asked.length], ['done', 1], asked.text);
  await remove('alone');
});
