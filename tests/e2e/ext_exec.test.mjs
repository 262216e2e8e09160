// exec: what a program in its own cell can write, see and reach, and what remains of it.
import assert from 'node:assert/strict';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { called, extend, tool } from './extending.mjs';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

let server, home, web, port, reader;
const workspace = mkdtempSync(join(directory, 'exec-'));
const host = hostname();
// A tool that runs the shell commands of its input in order and returns their results.
const code = `
def on(f):
    if f["type"] != "tool_call": return
    todo, done = list(f["payload"]["input"]["runs"]), []
    def step(p=None):
        if p is not None: done.append({"output": p["output"], "error": p.get("error"), "chunk": p.get("chunk")})
        if p is not None and p.get("chunk") and not p["chunk"]["is_last"]: return
        if not todo: return result(f, {"done": done})
        run = todo.pop(0)
        if "log" in run:
            return call("log", "log", {"message": "the value is " + bytes.fromhex(run["log"]).decode()}, step)
        call("exec", "exec", {"cmd": "sh", "args": ["-c", run["sh"]], "options": run.get("options", {})}, step)
    step()
`;
const exec = { capability: 'exec' };
const write = (...paths) => ({ capability: 'write', scope: { paths } });

before(async () => {
  web = createServer((request, response) => response.end(`hello ${request.url}`));
  await new Promise((resolve) => { web.listen(0, '0.0.0.0', resolve); });
  ({ port } = web.address());
  const config = join(directory, 'exec.yaml');
  writeFileSync(config, `allow_fetch:\n  - ${host}\next_env:\n  - PLAIN=seen\n  - OTHER=unseen\n  - API_KEY=hidden-value-1\n  - BOUND@${host}=hidden-value-2\n`);
  server = await start({ args: ['--workspace', workspace, '--config', config] });
  home = join(workspace, (await server.ask('POST', '/api/sessions', { body: {} })).json.user_id);
  for (const dir of ['src/deep', 'docs', '.git', 'elsewhere']) mkdirSync(join(home, dir), { recursive: true });
  writeFileSync(join(home, '.envrc'), 'mine');
  writeFileSync(join(home, 'docs', 'a.md'), 'old');
  symlinkSync('elsewhere', join(home, 'linked'));
  const add = (id, capabilities, more) => extend(server, id, { tools: [tool(id)], capabilities: [exec, { capability: 'log' }, ...capabilities], code, ...more });
  reader = await add('reader', []);
  await add('scoped', [write('src/**', 'docs/*.md', 'linked/**', 'missing/**', '.git/**')]);
  await add('whole', [{ capability: 'write' }]);
  await add('narrowed', [{ capability: 'write' }], { register: { capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [exec, write('src/deep/**')] } } });
  await add('asked', [{ capability: 'write' }], { profile: 'permissive', deny: ['write'] });
  await add('env', [{ capability: 'env', scope: { env: ['PLAIN', 'API_KEY', 'BOUND', 'NONE'] } }]);
  await add('net', [{ capability: 'http', scope: { hosts: [`http://${host}:${port}`] } }]);
});
after(() => web.close());

async function running(id, ...runs) {
  const [call] = await called(server, `call ${id} ${JSON.stringify({ runs: runs.map((run) => (typeof run === 'string' ? { sh: run } : run)) })}\n---\nsay done`);
  assert.equal(call.status, 'done', JSON.stringify(call));
  return call.result.done;
}
const wrote = (path) => existsSync(join(home, path));
const said = ({ output, error }) => (error ? error.code : `${output.code} ${output.stdout}${output.stderr}`.trim());
const readOnly = /Read-only file system/;

test('a hard link to a protected file, or to one outside, is read-only by every name', async () => {
  const outside = join(directory, 'outside.txt');
  writeFileSync(outside, 'theirs');
  writeFileSync(join(home, 'src', 'one'), 'both');
  for (const [from, to] of [[join(home, '.envrc'), 'innocent'], [outside, 'shared'], [join(home, 'src', 'one'), 'two']]) linkSync(from, join(home, 'src', to));
  const done = await running('whole', 'echo x > src/innocent', 'echo x >> src/shared', 'rm src/innocent', 'mv src/innocent src/moved', 'ln src/innocent src/again', 'mv src moved && echo x > moved/innocent; mv moved src', 'echo new > src/one && cat src/two');
  for (const one of done.slice(0, 2)) assert.match(said(one), readOnly);
  for (const one of done.slice(2, 5)) assert.notEqual(one.output.code, 0, said(one));
  assert.match(said(done[5]), readOnly);
  assert.equal(said(done[6]), '0 new'); // all its hard links are visible here: it is an ordinary file
  assert.deepEqual([readFileSync(join(home, '.envrc'), 'utf8'), readFileSync(outside, 'utf8')], ['mine', 'theirs']);
  // More mounts than a cell can have: refused, with the reason.
  mkdirSync(join(home, 'src', 'many'));
  for (let i = 0; i < 513; i++) linkSync(outside, join(home, 'src', 'many', `${i}`));
  const [many] = await running('whole', 'true');
  assert.match(many.error.message, /each file that has a hard link elsewhere; 512 are possible: make a smaller directory writable/);
  rmSync(join(home, 'src', 'many'), { recursive: true });
  for (const name of ['innocent', 'shared', 'one', 'two']) rmSync(join(home, 'src', name));
});

test('without write the workspace is read-only', async () => {
  const done = await running('reader', 'cat docs/a.md', 'echo x > new', 'echo x > src/new', 'LC_ALL=C mkdir .git/hooks');
  assert.equal(said(done[0]), '0 old');
  for (const one of done.slice(1)) assert.match(said(one), readOnly);
  assert.ok(!wrote('new') && !wrote('src/new') && !wrote('.git/hooks'));
});

test('a program writes where the scope is a directory, and nowhere else', async () => {
  const done = await running('scoped', 'echo x > src/in && echo y > src/deep/in && cat src/in', 'echo x > out', 'echo x > docs/a.md', 'echo x > docs/new.md',
    'echo x > elsewhere/out', 'echo x > linked/out', 'LC_ALL=C mkdir missing', 'echo x > .git/x', 'mv src gone', 'ln -s ../elsewhere src/away && echo x > src/away/out');
  assert.equal(said(done[0]), '0 x');
  assert.equal(readFileSync(join(home, 'src/deep/in'), 'utf8'), 'y\n');
  for (const one of done.slice(1)) assert.match(said(one), /Read-only file system|Device or resource busy/);
  assert.ok(!wrote('out') && !wrote('docs/new.md') && !wrote('elsewhere/out') && !wrote('missing') && !wrote('.git/x') && wrote('src/in'));
  assert.equal(readFileSync(join(home, 'docs/a.md'), 'utf8'), 'old');
});

test('the narrowest manifest and the policy count', async () => {
  const done = await running('narrowed', 'echo x > src/deep/n', 'echo x > src/n');
  assert.equal(said(done[0]), '0');
  assert.match(said(done[1]), readOnly);
  assert.match(said((await running('asked', 'echo x > src/n'))[0]), readOnly);
  assert.ok(!wrote('src/n'));
});

test('protected paths are not written, and those made anew are removed and reported', async () => {
  const audited = async (path) => (await server.ask('GET', '/api/audit?limit=200')).json.items
    .find(({ action, detail }) => action === 'protected_path.removed' && detail.removed.includes(path));
  const [first, second, third] = await running('whole', 'mkdir -p .git/hooks && echo evil > .git/hooks/x && echo fine > good', 'echo evil > .envrc',
    { sh: 'mkdir .husky; echo evil > .husky/a; echo said', options: { stream: true } });
  assert.deepEqual([first.output.code, first.output.removed], [0, ['.git/hooks']]);
  assert.ok(wrote('good') && wrote('.git') && !wrote('.git/hooks'));
  assert.match(said(second), readOnly);
  assert.equal(second.output.removed, undefined);
  assert.equal(readFileSync(join(home, '.envrc'), 'utf8'), 'mine');
  assert.equal(third.output.stdout, 'said\n');
  assert.ok(!wrote('.husky'));
  assert.ok(await audited('.git/hooks') && await audited('.husky'));
  const scoped = await running('scoped', 'echo evil > src/.npmrc', { sh: 'mkdir -p src/.git/hooks; echo made; sleep 600', options: { timeout_ms: 1500 } });
  assert.deepEqual(scoped[0].output.removed, ['src/.npmrc']);
  assert.deepEqual([scoped[1].error.code, scoped[1].error.details.removed], ['timeout', ['src/.git/hooks']]);
  assert.ok(!wrote('src/.npmrc') && !wrote('src/.git/hooks'));
});

test('what a program leaves behind is removed also if nobody waits for it any more', async () => {
  const session = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/agent' } })).json.id;
  await server.ask('POST', `/api/sessions/${session}/chat`, { body: { message: `#!demo\ncall whole ${JSON.stringify({ runs: [{ sh: 'mkdir .idea; echo ready > begun; sleep 600' }] })}\n---\nsay done` } });
  await until(() => wrote('begun'), 'the program never began');
  await server.ask('POST', `/api/sessions/${session}/stop`);
  await until(() => !wrote('.idea'), 'the protected path is still there');
});

test('past its time a program gets SIGTERM, then SIGKILL, and what it printed is in details', async () => {
  const [soft, hard] = await running('reader', { sh: 'trap "echo ended; exit 3" TERM; echo begun; while :; do sleep 0.1; done', options: { timeout_ms: 1500 } },
    { sh: 'trap "" TERM; echo stays; echo hidden-value-1 >&2; while :; do sleep 0.1; done', options: { timeout_ms: 1500 } });
  assert.deepEqual([soft.error.code, soft.error.details], ['timeout', { stdout: 'begun\nended\n', stderr: soft.error.details.stderr, code: 3, killed: false, truncated: false }]);
  assert.equal(hard.error.code, 'timeout');
  assert.deepEqual([hard.error.details.stdout, hard.error.details.killed], ['stays\n', true]);
  assert.ok(!JSON.stringify(hard).includes('hidden-value'));
  await reader.prove();
});

test('variables reach a program as they are granted, secrets as placeholders', async () => {
  const show = 'echo "$PLAIN|$OTHER|$API_KEY|$BOUND|$NONE"';
  assert.equal(said((await running('env', show))[0]), '0 seen||{{parley-secret:API_KEY}}|{{parley-secret:BOUND}}|');
  assert.equal(said((await running('reader', show))[0]), '0 ||||');
});

test('a program reaches the hosts that were granted, and no other', async () => {
  const get = (path) => `python3 -c 'import urllib.request as u; print(u.urlopen("http://${host}:${port}${path}", timeout=20).read().decode())' 2>&1 | tail -n 1`;
  const elsewhere = `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 5)' 2>&1 | tail -n 1`;
  const done = await running('net', get('/a'), elsewhere);
  assert.equal(said(done[0]), '0 hello /a');
  assert.match(said(done[1]), /Error/);
  assert.match(said((await running('reader', get('/b')))[0]), /Error/);
  const audit = (await server.ask('GET', '/api/audit?limit=200')).json.items;
  assert.ok(audit.some(({ action, object, detail }) => action === 'host_call.connect' && object === 'net' && detail.host === host && detail.port === port));
});

test('the values of secrets are in no log', async () => {
  await running('reader', ...['hidden-value-1', 'hidden-value-2'].map((value) => ({ log: Buffer.from(value).toString('hex') })));
  const log = JSON.stringify((await server.ask('GET', '/api/extensions/reader/log')).json.items);
  assert.match(log, /the value is \[REDACTED\]/);
  assert.ok(!log.includes('hidden-value'));
});
