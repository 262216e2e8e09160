// Host calls: what an extension may do, each possible error, and the questions to the person.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, linkSync, writeFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { called, extend, play, rested, tool, calls } from './extending.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

let server, home;
const workspace = mkdtempSync(join(directory, 'workspace-'));
// A tool that makes the host calls of its input in order and returns their results.
const code = `
def on(f):
    if f["type"] != "tool_call": return
    todo, done = list(f["payload"]["input"]["calls"]), []
    def step(p=None):
        if p is not None: done.append({"output": p["output"], "error": p.get("error"), "chunk": p.get("chunk")})
        if p is not None and p.get("chunk") and not p["chunk"]["is_last"]: return
        if not todo: return result(f, {"done": done})
        c = json.loads(json.dumps(todo.pop(0)).replace("MARK", "sk-" + "1234567890abcdefghij"))
        call(c["method"], c["capability"], c["params"], step, **c.get("more", {}))
    step()
`;
const scoped = [
  { capability: 'read', scope: { paths: ['docs/**', 'link/**'] } }, { capability: 'write', scope: { paths: ['docs/**'] } }, { capability: 'log' }, { capability: 'session' },
  { capability: 'ui' }, { capability: 'events' }, { capability: 'env', scope: { env: ['PLAIN', 'API_KEY'] } }, { capability: 'tool' }, { capability: 'exec' },
];

before(async () => {
  const config = join(directory, 'ext.yaml');
  writeFileSync(config, 'ext_env:\n  - PLAIN=seen\n  - API_KEY@api.example=sk-1234567890\n');
  server = await start({ args: ['--workspace', workspace, '--config', config] });
  home = join(workspace, (await server.ask('POST', '/api/sessions', { body: {} })).json.user_id);
  mkdirSync(join(home, 'docs'), { recursive: true });
  writeFileSync(join(home, 'docs', 'a.txt'), 'Ada\nBo\n');
  writeFileSync(join(home, 'secret.txt'), 'hidden');
  symlinkSync('../secret.txt', join(home, 'docs', 'out'));
  symlinkSync('/etc/passwd', join(home, 'docs', 'etc'));
  linkSync(join(home, 'secret.txt'), join(home, 'docs', 'hard'));
  await extend(server, 'hands', { tools: [tool('hands')], capabilities: scoped, code });
  await extend(server, 'asker', { tools: [tool('ask_hands')], capabilities: scoped, code, profile: 'balanced' });
});

const make = (...list) => list.map(([method, capability, params, more]) => ({ method, capability, params, more }));
async function doing(...list) {
  const [call] = await called(server, `call hands ${JSON.stringify({ calls: make(...list) })}\n---\nsay done`);
  assert.equal(call.status, 'done', JSON.stringify(call));
  return call.result.done;
}
const fs = (op, path, more = {}) => ['fs', ['write', 'mkdir', 'delete', 'remove', 'rm'].includes(op) ? 'write' : 'read', { op, path, ...more }];

test('fs reads and writes within its scope, and nowhere else', async () => {
  const done = await doing(
    fs('read', 'docs/a.txt'), fs('read', 'docs/a.txt', { offset: 1, limit: 2 }), fs('list', 'docs'), fs('stat', 'docs/a.txt'),
    fs('write', 'docs/b.txt', { content: 'new' }), fs('write', 'docs/b.txt', { content: '+', mode: 'append' }), fs('write', 'docs/b.txt', { content: 'x', mode: 'create' }),
    fs('mkdir', 'docs/deep'), fs('write', 'docs/deep/c', { content_bytes: 'AP8=' }), fs('read', 'docs/deep/c'), fs('delete', 'docs/deep/c'), fs('rm', 'docs/deep'));
  assert.deepEqual(done.map(({ output, error }) => (error ? `${error.code} ${error.details?.reason}` : output)), [
    { content: 'Ada\nBo\n', size: 7 }, { content: 'da', size: 7 },
    { entries: [{ name: 'a.txt', type: 'file', size: 7 }, { name: 'etc', type: 'link', size: 11 }, { name: 'hard', type: 'file', size: 6 }, { name: 'out', type: 'link', size: 13 }] },
    { type: 'file', size: 7, mtime: done[3].output.mtime }, {}, {}, 'invalid_request exists', {}, {}, { content_bytes: 'AP8=', size: 2 }, {}, {}]);
  assert.equal(readFileSync(join(home, 'docs', 'b.txt'), 'utf8'), 'new+');
});

test('every way out of the scope is denied, with its reason', async () => {
  const reasons = async (...list) => (await doing(...list)).map(({ error }) => `${error?.code} ${error?.details?.reason}`);
  assert.deepEqual(await reasons(
    fs('read', 'secret.txt'), fs('read', '../x'), fs('read', '/etc/passwd'), fs('read', 'docs/out'), fs('read', 'docs/etc'), fs('read', 'docs/../secret.txt'), fs('read', 'docs/none'),
    fs('write', 'docs/hard', { content: 'x' }), fs('write', 'docs/out', { content: 'x' }), fs('write', 'docs/.git/hooks/x', { content: 'x' }), fs('write', 'docs/.envrc', { content: 'x' }),
    fs('write', 'other', { content: 'x' })), [
    'denied scope', 'denied path_escape', 'denied path_escape', 'denied scope', 'denied path_escape', 'denied path_escape', 'invalid_request not_found',
    'denied path_escape', 'denied scope', 'denied protected_path', 'denied protected_path', 'denied scope']);
  assert.equal(readFileSync(join(home, 'secret.txt'), 'utf8'), 'hidden');
  assert.ok(!existsSync(join(home, 'other')));
});

test('wrong calls get an error each, and run nothing', async () => {
  const done = await doing(
    ['fs', 'write', { op: 'read', path: 'docs/a.txt' }], ['fs', 'read', { op: 'fly', path: 'x' }], ['nothing', 'read', {}], ['fs', 'read', { op: 'read', path: 7 }],
    ['fs', 'read', { op: 'read', path: 'docs/a.txt', colour: 1 }], ['fs', 'read', { op: 'read', path: 'docs/a.txt', limit: -1 }], ['fs', 'read', { op: 'read', path: 'docs/a.txt', stream: 'yes' }],
    ['http', 'http', { url: 'https://example.com/' }], ['env', 'env', { name: 'HOME' }], ['session', 'session', { op: 'dance' }], ['tool', 'tool', { name: 'nobody', input: {} }]);
  assert.deepEqual(done.map(({ error }) => error.code), [
    'invalid_request', 'invalid_request', 'invalid_request', 'invalid_request', 'invalid_request', 'invalid_request', 'invalid_request', 'denied', 'denied', 'invalid_request', 'invalid_request']);
  assert.equal(done[7].error.details.reason, 'not_declared');
  assert.equal(done[8].error.details.reason, 'scope');
});

test('state, env, log, session and events', async () => {
  const done = await doing(
    ['fs', 'write', { op: 'write', path: 'kept', root: 'state', content: 'mine' }], ['fs', 'read', { op: 'read', path: 'kept', root: 'state' }], ['env', 'env', { names: ['PLAIN', 'API_KEY'] }],
    ['log', 'log', { level: 'warn', message: 'a word with MARK' }], ['session', 'session', { op: 'get_state' }], ['session', 'session', { op: 'set_name', name: 'Renamed' }],
    ['session', 'session', { op: 'append_entry', type: 't', data: { n: 1 } }], ['session', 'session', { op: 'get_entries' }], ['session', 'session', { op: 'get_messages', limit: 1 }],
    ['session', 'session', { op: 'get_state', session_id: 'sess_00000000-0000-7000-8000-000000000000' }], ['events', 'events', { op: 'get_all_tools' }], ['session', 'session', { op: 'set_model', model: 'none/such' }]);
  assert.deepEqual(done[1].output, { content: 'mine', size: 4 });
  assert.deepEqual(done[2].output.values.PLAIN, 'seen');
  assert.match(done[2].output.values.API_KEY, /^\{\{parley-secret:API_KEY\}\}$/);
  assert.equal(done[4].output.session.status, 'running');
  assert.deepEqual(done[7].output.entries.map(({ type, data }) => ({ type, data })), [{ type: 't', data: { n: 1 } }]);
  assert.equal(done[8].output.messages.length, 1);
  assert.equal(done[9].error.details.reason, 'not_found');
  assert.ok(done[10].output.tools.includes('calc') && done[10].output.tools.includes('hands'));
  assert.equal(done[11].error.code, 'invalid_request');
  const log = (await server.ask('GET', '/api/extensions/hands/log')).json.items;
  assert.ok(log.some(({ level, message }) => level === 'warn' && message.startsWith('a word with') && !message.includes('1234567890')));
});

test('the tools of the workspace run under the caller\'s scopes', async () => {
  const t = (name, input) => ['tool', ['read', 'grep', 'find', 'ls'].includes(name) ? 'read' : 'write', { name, input }];
  const done = await doing(t('read', { path: 'docs/a.txt', offset: 2 }), t('write', { path: 'docs/new/t.txt', content: 'one two' }), t('edit', { path: 'docs/new/t.txt', oldText: 'two', newText: 'three' }),
    t('grep', { pattern: 'thr.e', path: 'docs' }), t('find', { pattern: '*.txt', path: 'docs/new' }), t('ls', { path: 'docs/new' }), t('edit', { path: 'docs/new/t.txt', oldText: 'none', newText: '' }), t('read', { path: 'secret.txt' }));
  assert.deepEqual(done.slice(0, 6).map(({ output, error }) => output.content?.[0].text ?? error), [
    'Bo\n', 'Wrote 7 bytes to docs/new/t.txt', 'Replaced text in docs/new/t.txt', 'docs/new/t.txt:1: one three\n', 'docs/new/t.txt\n', 't.txt\n']);
  assert.deepEqual(done.slice(6).map(({ error }) => error.code), ['invalid_request', 'denied']);
});

test('exec runs in a cell, sees the workspace, and ends at its time', async () => {
  const done = await doing(['exec', 'exec', { cmd: 'cat', args: ['docs/a.txt'] }], ['exec', 'exec', { cmd: 'sh', args: ['-c', 'echo no >&2; exit 3'] }],
    ['exec', 'exec', { cmd: 'no-such-program', args: [] }], ['exec', 'exec', { cmd: 'sleep', args: ['60'], options: { timeout_ms: 300 } }], ['tool', 'exec', { name: 'bash', input: { command: 'echo hi | tr a-z A-Z' } }],
    ['exec', 'exec', { cmd: 'cat', args: ['/etc/shadow'] }]);
  assert.deepEqual(done[0].output, { stdout: 'Ada\nBo\n', stderr: '', code: 0, killed: false, truncated: false });
  assert.deepEqual({ ...done[1].output }, { stdout: '', stderr: 'no\n', code: 3, killed: false, truncated: false });
  assert.equal(done[2].error.details.reason, 'not_found');
  assert.equal(done[3].error.code, 'timeout');
  assert.equal(done[4].output.stdout, 'HI\n');
  assert.notEqual(done[5].output.code, 0);
});

test('a file is streamed in chunks, with credits', async () => {
  writeFileSync(join(home, 'docs', 'big.txt'), 'äbc'.repeat(50000));
  const done = await doing(fs('read', 'docs/big.txt', { stream: true }));
  assert.deepEqual(done.map(({ chunk }) => chunk.index), [...done.keys()]);
  assert.deepEqual(done.filter(({ chunk }) => chunk.is_last).length, 1);
  assert.equal(done.slice(0, -1).map(({ output }) => output.content).join(''), 'äbc'.repeat(50000));
  assert.deepEqual(done.at(-1).output, { size: 200000 });
});

// --- the person ------------------------------------------------------------------------------------------------------

const questions = async (id) => (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items;
async function question(id) {
  let list;
  await until(async () => { list = await questions(id); return list.length; }, 'a question');
  return list[0];
}
const reply = (id, q, body) => server.ask('POST', `/api/sessions/${id}/questions/${q.tool_call_id}/answer`, { body: { answer: body } });
const begin = (...list) => play(server, `call ask_hands ${JSON.stringify({ calls: make(...list) })}\n---\nsay done`);
const outcome = async (id) => { await rested(server, id); return (await calls(server, id))[0].result.done.map(({ output, error }) => error?.details?.reason ?? output); };

test('a capability that is asked for is a question of the session', async () => {
  const write = (path) => fs('write', path, { content: 'x' });
  const id = await begin(write('docs/q1'), write('docs/q2'));
  const first = await question(id);
  assert.equal(first.kind, 'capability');
  assert.match(first.questions[0].question, /asker use write: docs\/q1\?/);
  assert.equal((await reply(id, first, { approve: 'yes' })).status, 400);
  assert.equal((await reply(id, first, { approve: true, remember: 'session' })).status, 200);
  assert.deepEqual(await outcome(id), [{}, {}]);
  const other = await begin(write('docs/q3'));
  assert.equal((await reply(other, await question(other), { approve: false })).status, 200);
  assert.deepEqual(await outcome(other), ['prompt_user_deny']);
  const third = await begin(write('docs/q4'));
  await reply(third, await question(third), { approve: true, remember: 'always' });
  assert.deepEqual(await outcome(third), [{}]);
  await server.ask('POST', '/api/extensions/asker/restart');
  const fourth = await begin(write('docs/q5'));
  assert.deepEqual(await outcome(fourth), [{}]);
  const audit = (await server.ask('GET', '/api/audit?limit=200')).json.items;
  assert.ok(audit.some(({ action, object, detail }) => action === 'question' && object === 'asker' && detail.reason === 'prompt_user_allow'));
  assert.ok(audit.some(({ action, detail }) => action === 'host_call.start' && detail.capability === 'write' && /^[0-9a-f]{64}$/.test(detail.params_hash)));
  assert.ok((await server.ask('GET', '/api/audit/verify')).json.chain_ok);
  // The last rows come from extensions: they are sealed without a row from anyone else.
  await until(async () => (await server.ask('GET', '/api/audit/verify')).json.unsealed === 0, 'all rows are sealed');
});

test('after three denials in a session nobody is asked any more', async () => {
  const id = await begin(...['a', 'b', 'c', 'd'].map((name) => ['exec', 'exec', { cmd: name, args: [] }]));
  for (let i = 0; i < 3; i++) {
    const q = await question(id);
    await reply(id, q, { approve: false });
    await until(async () => (await questions(id))[0]?.tool_call_id !== q.tool_call_id, 'the next question');
  }
  assert.deepEqual(await outcome(id), ['prompt_user_deny', 'prompt_user_deny', 'prompt_user_deny', 'prompt_cache_deny']);
});

test('ui asks a person and gets the answer; a stop ends question and call', async () => {
  const id = await begin(['ui', 'ui', { op: 'select', title: 'Which?', options: ['red', 'blue'] }], ['ui', 'ui', { op: 'notify', message: 'seen' }]);
  const q = await question(id);
  assert.deepEqual([q.kind, q.questions[0].question, q.questions[0].options.map(({ label }) => label)], ['ask', 'Which?', ['red', 'blue']]);
  await reply(id, q, 'blue');
  assert.deepEqual(await outcome(id), [{ value: 'blue' }, {}]);
  const other = await begin(['ui', 'ui', { op: 'input', title: 'Name?' }]);
  await question(other);
  await server.ask('POST', `/api/sessions/${other}/stop`);
  await rested(server, other);
  assert.deepEqual(await questions(other), []);
  assert.equal((await calls(server, other))[0].status, 'cancelled');
});

test('http goes to hosts of the scope, with secrets for those they are bound to, and to no private address', async (t) => {
  const host = hostname();
  const seen = [];
  const web = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-key'] ?? '-'}`);
    if (request.url === '/away') response.writeHead(302, { location: `http://elsewhere.example:${web.address().port}/` });
    else response.writeHead(request.url === '/no' ? 404 : 200, { 'x-more': 'yes' });
    let body = '';
    request.on('data', (part) => { body += part; }).on('end', () => response.end(`got ${body}`));
  });
  await new Promise((resolve) => { web.listen(0, '0.0.0.0', resolve); });
  t.after(() => web.close());
  const { port } = web.address();
  const config = join(directory, 'http.yaml');
  writeFileSync(config, `allow_fetch:\n  - ${host}\next_env:\n  - API_KEY@${host}=bound-value\n`);
  const own = await start({ args: ['--config', config] });
  await extend(own, 'webby', { tools: [tool('webby')], code, capabilities: [{ capability: 'http', scope: { hosts: [`http://${host}:${port}`, `http://127.0.0.1:${port}`] } }, { capability: 'env', scope: { env: ['API_KEY'] } }] });
  const url = `http://${host}:${port}`;
  const get = (path, more = {}) => ['http', 'http', { url: `${url}${path}`, ...more }];
  const [call] = await called(own, `call webby ${JSON.stringify({ calls: make(get('/a', { headers: { 'x-key': '{{parley-secret:API_KEY}}' } }), get('/b', { method: 'POST', body: 'hello' }), get('/no'), get('/away'),
    ['http', 'http', { url: `http://127.0.0.1:${port}/` }], ['http', 'http', { url: 'https://other.example/' }], get('/c', { method: 'BREW' }), get('/s', { stream: true })) })}\n---\nsay done`);
  const done = call.result.done;
  assert.deepEqual([done[0].output.status, done[0].output.body, done[0].output.headers['x-more']], [200, 'got ', 'yes']);
  assert.deepEqual([done[1].output.status, done[1].output.body, done[2].output.status], [200, 'got hello', 404]);
  assert.deepEqual(done.slice(3, 7).map(({ error }) => error.details?.reason ?? error.code), ['scope', 'private_address', 'scope', 'invalid_request']);
  assert.deepEqual(done.slice(7).map(({ output, chunk }) => [Object.keys(output)[0], chunk.is_last]), [['status', false], ['body', false], ['size_bytes', true]]);
  assert.deepEqual(seen, ['GET /a bound-value', 'POST /b -', 'GET /no -', 'GET /away -', 'GET /s -']);
});
