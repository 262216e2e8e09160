// parley ext: making, testing, calling, adding, updating, explaining and removing extensions, and the messages for errors.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { directory, has, root, run } from './harness.mjs';
import { start } from './server.mjs';

const esbuild = join(root, 'tests/adapters/node_modules/.bin/esbuild');
const noBundler = !existsSync(esbuild) && 'tests/adapters has no packages: tools/install-deps test';
let server;
before(async () => { server = await start(); });

const ext = (args, options = {}) => run(['ext', ...args], { cwd: directory, ...options, env: { PARLEY_ESBUILD: esbuild, ...options.env } });
const local = ([verb, ...args], options) => ext([verb, '--data', server.data, ...args], options);

// A package with a Python program that implements the protocol itself.
let nMade = 0;
function make(program, { capabilities = ['log'], id = `made-${++nMade}`, ...more } = {}) {
  const dir = join(directory, id);
  mkdirSync(dir);
  writeFileSync(join(dir, 'extension.json'), JSON.stringify({ schema: 'pi.ext.manifest.v1', extension_id: id, name: id, version: '1', api_version: '1.0', runtime: 'python', entrypoint: 'main.py', capabilities, ...more }));
  writeFileSync(join(dir, 'main.py'), program);
  return dir;
}
const speaking = (body) => `
import json, sys, time
def say(type, payload, id="x"):
    print(json.dumps({"id": id, "version": "1.0", "type": type, "payload": payload}), flush=True)
def register(**more):
    say("register", {"name": "x", "version": "1", "api_version": "1.0", "capabilities": ["log"], **more})
def tool(name, **more):
    return {"name": name, "description": "d", "parameters": {"type": "object"}, **more}
${body}
`;
const forever = `for line in sys.stdin:
    f = json.loads(line)
    if f["type"] == "tool_call" and f["payload"]["name"] == "no_such_tool": say("tool_result", {"call_id": f["payload"]["call_id"], "output": {}, "is_error": True}, f["id"])`;

for (const [language, program] of [['python', 'python3'], ['js', 'node'], ['ts', 'node'], ['c', 'cc']]) {
  test(`new: a skeleton in ${language} passes its test and counts words`, { skip: (!has(program) && `${program} is not installed`) || (language === 'ts' && noBundler) }, () => {
    const name = `words-${language}`;
    assert.equal(ext(['new', name, '--language', language]).code, 0);
    if (language === 'c') assert.equal(spawnSync('make', ['-s', '-C', join(directory, name)]).status, 0);
    const tested = ext(['test', name]);
    assert.equal(tested.code, 0, tested.out + tested.err);
    assert.match(tested.out, /it registers: 1 tools, 0 commands, 0 hooks\n/);
    const called = ext(['run', name, name, '{"text":"one two  three"}']);
    assert.deepEqual([called.code, called.out], [0, '3 words\n'], called.err);
  });
}

test('new: what it refuses', () => {
  assert.equal(ext(['new', 'Bad Name']).code, 2);
  assert.equal(ext(['new', 'twice']).code, 0);
  assert.match(ext(['new', 'twice']).err, /exists already/);
  assert.equal(ext(['new', 'x1', '--language', 'ruby']).code, 2);
  assert.equal(ext(['new', 'x2', '--profile', 'safe']).code, 2); // an option of add
  const deep = ext(['new', 'deep/er/there']);
  assert.equal(deep.code, 0, deep.err);
});

const wrongs = {
  'a program that ends at once': ['import sys', /does not register: the extension has ended/],
  'one that never registers': [speaking(forever), /does not register: no answer came in time/],
  'garbage': [speaking('print("hello there", flush=True); register(); ' + '\n' + forever), /no frame \(frame_invalid\)/],
  'a frame of another version': [speaking('print(json.dumps({"id":"x","version":"2.0","type":"log","payload":{}}), flush=True); register()\n' + forever), /unsupported_version/],
  'a frame that does not fit the schema': [speaking('say("register", {"name": 1})\nregister()\n' + forever), /schema_violation/],
  'a blank name': [speaking('say("register", {"name": " ", "version": "1", "api_version": "1.0"})\n' + forever), /register is refused/],
  'another version than its manifest': [speaking('say("register", {"name": "x", "version": "9", "api_version": "1.0", "capabilities": ["log"]})\n' + forever), /registers version "9"; extension.json says "1"/],
  'more than its manifest': [speaking('register(capabilities=["exec"])\n' + forever), /registers more than its extension.json declares/],
  'a bad tool and an unknown hook': [speaking('register(tools=[tool("no good!")], event_hooks=["nothing"])\n' + forever), /tool "no good!" is refused[^]*no event "nothing"/],
  'a tool that never answers': [speaking('register(tools=[tool("slow", timeout_ms=200)])\n' + forever), /tool "slow": no answer came in time/],
  'a result for another call': [speaking('register(tools=[tool("t")])\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("tool_result", {"call_id": "other", "output": {}, "is_error": True}, f["id"])'), /has the call_id "other"/],
  'blocks without a type': [speaking('register(tools=[tool("t")])\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("tool_result", {"call_id": f["payload"]["call_id"], "output": {"content": [{}]}, "is_error": True}, f["id"])'), /has no type/],
  'a call that it did not declare': [speaking('register(tools=[tool("t")])\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("host_call", {"call_id": "h", "capability": "exec", "method": "exec", "params": {"cmd": "ls"}}); say("tool_result", {"call_id": f["payload"]["call_id"], "output": {}, "is_error": True}, f["id"])'), /needs "exec", which extension.json does not declare/],
  'a capability that is another': [speaking('register(tools=[tool("t")])\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("host_call", {"call_id": "h", "capability": "log", "method": "http", "params": {}}); say("tool_result", {"call_id": f["payload"]["call_id"], "output": {}, "is_error": True}, f["id"])'), /declares the capability "log"; it needs "http"/],
  'a success for a tool that is not there': [speaking('register()\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("tool_result", {"call_id": f["payload"]["call_id"], "output": {}, "is_error": False}, f["id"])'), /a tool that does not exist gives a result that is no error/],
  'an end at the cancel of an unknown call': [speaking('register()\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("tool_result", {"call_id": f["payload"]["call_id"], "output": {}, "is_error": True}, f["id"])\n    if f["type"] == "event_hook" and f["payload"]["event"] == "cancel": sys.exit(3)'), /after the cancel of an unknown call, .*: the extension has ended/],
  'no end': [speaking('register()\nfor line in sys.stdin:\n    f = json.loads(line)\n    if f["type"] == "tool_call": say("tool_result", {"call_id": f["payload"]["call_id"], "output": {}, "is_error": True}, f["id"])\ntime.sleep(1000)'), /does not end within/],
};
for (const [what, [program, expected]] of Object.entries(wrongs)) {
  test(`test: ${what} is told`, { skip: !has('python3') && 'python3 is not installed' }, () => {
    const { code, out, err } = ext(['test', make(program)]);
    assert.equal(code, 1, out + err);
    assert.match(out, expected);
  });
}

test('run: wrong inputs and failing tools', { skip: !has('node') && 'node is not installed' }, () => {
  assert.equal(ext(['run', 'demo', 'demo_progress', '{"to":2}']).out, 'counted to 2\n');
  assert.equal(ext(['run', 'demo', 'demo_progress', '[]']).code, 2);
  assert.equal(ext(['run', 'demo', 'demo_progress', '{']).code, 2);
  assert.deepEqual([ext(['run', 'demo', 'demo_fail']).code, ext(['run', 'demo', 'nothing']).code], [1, 1]);
  const json = ext(['run', 'demo', 'demo_bridge', '{"target":"x"}', '--json']);
  assert.equal(JSON.parse(json.out).output._meta.bridge.target, 'x');
  assert.equal(ext(['run', '/nonexistent', 'x']).code, 2);
});

test('add, list, explain, change, update, log, remove', () => {
  const dir = make('print(1)', { id: 'life', capabilities: undefined, capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [{ capability: 'read', methods: ['fs'], scope: { paths: ['src/**'] } }, { capability: 'exec' }, { capability: 'http', scope: { hosts: ['*.example.com', 'http://a.example:8080'] } }] } });
  const refused = local(['add', dir]);
  assert.equal(refused.code, 2); // no terminal to ask on
  assert.match(refused.out, /life 1 \(python, profile balanced\) may:\n {2}read {5}allowed; by fs; in src\/\*\*\n {2}exec {5}asks each time\n {2}http {5}allowed to \*\.example\.com, http:\/\/a\.example:8080\n/);
  const added = local(['add', dir, '--yes', '--profile', 'safe', '--grant', 'exec,read', '--deny', 'http']);
  assert.equal(added.code, 0, added.err);
  assert.match(added.out, /exec {5}denied/); // the profile's deny is stronger than a grant
  assert.equal(local(['add', dir, '--yes']).code, 1);
  assert.match(local(['list']).out, /^ID +VERSION +RUNTIME +STATE +PROFILE +NAME\nlife +1 +python +enabled +safe +life\n/);
  const explained = local(['explain', 'life']);
  assert.match(explained.out, /read +allow +\(extension_allow\); by fs; in src\/\*\*/);
  assert.match(explained.out, /http +deny +\(extension_deny\); to \*\.example\.com, http:\/\/a\.example:8080/);
  assert.match(explained.out, /not known until it has run once/);
  assert.equal(local(['disable', 'life']).code, 0);
  assert.match(local(['list']).out, /disabled/);
  assert.equal(local(['enable', 'life']).code, 0);
  assert.equal(local(['accept', 'life']).code, 0);
  writeFileSync(join(dir, 'main.py'), 'print(2)');
  const updated = local(['update', dir]); // the same manifest: no question
  assert.equal(updated.code, 0, updated.err);
  const manifest = JSON.parse(readFileSync(join(dir, 'extension.json'), 'utf8'));
  writeFileSync(join(dir, 'extension.json'), JSON.stringify({ ...manifest, capability_manifest: { ...manifest.capability_manifest, capabilities: [{ capability: 'exec' }, { capability: 'write' }] } }));
  assert.equal(local(['update', dir]).code, 2);
  assert.equal(local(['update', dir, '--yes', '--grant', 'write']).code, 0);
  assert.deepEqual(JSON.parse(local(['explain', 'life', '--json']).out).granted, ['write']);
  assert.match(local(['log', 'life']).out, /extension\.update[^]*extension\.change[^]*extension\.add/);
  assert.equal(local(['log', 'nothing']).code, 1);
  assert.equal(local(['remove', 'life', '--yes']).code, 0);
  assert.equal(local(['remove', 'life', '--yes']).code, 1);
  assert.equal(local(['explain', 'life']).code, 1);
});

test('add: over HTTP the files are sent, with bytes that are no text and the executable bit', async () => {
  const dir = make('print(1)', { id: 'sent' });
  writeFileSync(join(dir, 'binary'), Buffer.from([0, 1, 2, 255]));
  chmodSync(join(dir, 'binary'), 0o755);
  const { code, err } = ext(['add', dir, '--yes', '--server', server.url], { env: { PARLEY_KEY: server.key } });
  assert.equal(code, 0, err);
  const { artifact } = (await server.ask('GET', '/api/extensions/sent')).json;
  assert.deepEqual([...readFileSync(join(server.data, 'extensions/sent', artifact, 'binary'))], [0, 1, 2, 255]);
  const again = local(['update', dir]);
  assert.equal(again.code, 0, again.err);
  assert.equal((await server.ask('GET', '/api/extensions/sent')).json.artifact, artifact); // the same tree, however it was sent
});

test('add: the shipped extensions, and what is none', async () => {
  for (const name of ['workspace', 'web', 'demo']) {
    const { code, err } = local(['add', name, '--yes']);
    assert.equal(code, 0, err);
  }
  const { artifact } = (await server.ask('GET', '/api/extensions/workspace')).json;
  assert.deepEqual(readdirSync(join(server.data, 'extensions/workspace', artifact)).sort(), ['extension.json', 'parley_ext.py', 'workspace.py']);
  assert.match(local(['add', 'nothing', '--yes']).err, /nor an extension that Parley ships/);
  assert.match(local(['add', 'workspce', '--yes']).err, /did you mean "workspace"\?/);
  const far = make('', { id: 'far', runtime: 'remote', entrypoint: undefined });
  for (const args of [['test', far], ['run', far, 'x']]) assert.match(ext(args).err, /"far" runs elsewhere \(runtime "remote"\), so there is nothing to start here/);
  assert.equal(local(['add', '--yes']).code, 2);
  assert.equal(local(['add', 'demo', '--host', 'a.example', '--yes']).code, 2);
  const linked = make('', { id: 'linked' });
  symlinkSync('/etc/passwd', join(linked, 'link'));
  assert.match(local(['add', linked, '--yes']).err, /symbolic link/);
  mkdirSync(join(directory, 'empty'), { recursive: true });
  assert.match(local(['add', join(directory, 'empty'), '--yes']).err, /no extension\.json/);
  assert.equal(local(['add', make('', { entrypoint: '../x' }), '--yes']).code, 1);
});

test('add --mcp: commands, npx and URLs become packages that are pinned', { skip: !has('npm') && 'npm is not installed' }, async () => {
  const tool = join(directory, 'tool');
  mkdirSync(tool);
  writeFileSync(join(tool, 'package.json'), JSON.stringify({ name: '@my/tool', version: '3.2.1', bin: { tool: './cli.js' }, scripts: { install: 'touch /tmp/parley-was-here' } }));
  writeFileSync(join(tool, 'cli.js'), 'process.exit(0)');
  const packed = spawnSync('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: tool, encoding: 'utf8' });
  assert.equal(packed.status, 0, packed.stderr);
  const file = join(tool, packed.stdout.trim());
  const added = local(['add', '--mcp', 'my.tool', '--read', 'docs/**', '--write', 'out/**', '--env', 'TOKEN', '--yes', '--', 'npx', '-y', file, '--flag', 'docs']);
  assert.equal(added.code, 0, added.err);
  const made = (await server.ask('GET', '/api/extensions/my.tool')).json;
  assert.equal(made.runtime, 'mcp');
  assert.deepEqual(made.capabilities.map(({ capability, paths, env }) => [capability, paths ?? env]), [['read', ['docs/**']], ['write', ['out/**']], ['env', ['TOKEN']], ['ui', undefined], ['log', undefined]]);
  const copy = join(server.data, 'extensions/my.tool', made.artifact);
  assert.deepEqual(JSON.parse(readFileSync(join(copy, 'server.json'), 'utf8')), { id: 'my.tool', command: ['node', '/ext/server/node_modules/@my/tool/cli.js', '--flag', 'docs'], env: ['TOKEN'] });
  assert.match(readFileSync(join(copy, 'server/package-lock.json'), 'utf8'), /"integrity"/);
  assert.ok(existsSync(join(copy, '.parley/mcp.mjs')));
  assert.ok(!existsSync('/tmp/parley-was-here'));

  const script = join(directory, 'server.py');
  writeFileSync(script, 'pass');
  assert.equal(local(['add', '--mcp', 'script', '--yes', '--', 'python3', script, 'x']).code, 0);
  const artifact = (await server.ask('GET', '/api/extensions/script')).json.artifact;
  const read = (name) => readFileSync(join(server.data, 'extensions/script', artifact, name), 'utf8');
  assert.deepEqual(JSON.parse(read('server.json')).command, ['python3', '/ext/server/server.py', 'x']);
  assert.equal(read('server/server.py'), 'pass');

  assert.equal(local(['add', '--mcp', 'far', '--host', 'mcp.example', '--env', 'KEY', '--yes', '--', 'https://mcp.example/mcp']).code, 0);
  assert.equal(local(['add', '--mcp', 'far2', '--yes', '--', 'https://mcp.example/mcp']).code, 2); // no --host
  assert.equal(local(['add', '--mcp', 'No', '--yes', '--', 'x']).code, 2);
  assert.equal(local(['add', '--mcp', 'no', '--yes']).code, 2);
  assert.equal(local(['add', '--mcp', 'no', '--yes', '--', 'npx']).code, 2);
  assert.match(local(['add', '--mcp', 'no', '--yes', '--', 'npx', join(directory, 'nothing.tgz')]).err, /npm cannot install/);
  assert.equal(local(['add', '--mcp', 'no', '--read', '../x', '--yes', '--', 'x']).code, 1);
});

test('a server that is not there, and no esbuild', () => {
  const nowhere = ext(['list', '--data', join(directory, 'nowhere')]);
  assert.notEqual(nowhere.code, 0);
  writeFileSync(join(directory, 'some.ts'), 'export default function () {}');
  const { code, err } = ext(['test', 'some.ts'], { env: { PARLEY_ESBUILD: '/nonexistent/esbuild' } });
  assert.deepEqual([code, /PARLEY_ESBUILD/.test(err)], [2, true]);
});
