// Extensions in the API: added, read, changed, updated and removed; every kind of invalid package.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';

let server;
before(async () => { server = await start(); });

const manifest = (more = {}) => ({
  schema: 'pi.ext.manifest.v1', extension_id: 'weather', name: 'Weather', version: '1.0.0', api_version: '1.0', runtime: 'python', entrypoint: 'main.py',
  capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [{ capability: 'http', scope: { hosts: ['api.weather.example'] } }, { capability: 'log' }] }, ...more,
});
const files = (json, more = []) => [{ path: 'extension.json', content: typeof json === 'string' ? json : JSON.stringify(json) }, { path: 'main.py', content: 'print(1)\n' }, ...more];
const hashOf = (json) => createHash('sha256').update(run(['json', '--canonical', '-'], { input: JSON.stringify(json) }).out.trimEnd()).digest('hex');
const add = (body) => server.ask('POST', '/api/extensions', { body });
const accepted = (json, more = {}) => ({ files: files(json), accepts: hashOf(json), ...more });
const get = (id) => server.ask('GET', `/api/extensions/${id}`);

// The control socket, as `parley ext` uses it.
const control = (method, path, body) => new Promise((resolve, reject) => {
  const call = request({ socketPath: join(server.data, 'parley.sock'), method, path, headers: { 'content-type': 'application/json' } }, (answer) => {
    let text = '';
    answer.on('data', (part) => { text += part; }).on('end', () => resolve({ status: answer.statusCode, json: text && JSON.parse(text) }));
  });
  call.on('error', reject).end(body && JSON.stringify(body));
});

test('a package is added only after its manifest was accepted, and is copied by the hash of its files', async () => {
  const asked = await add({ files: files(manifest()) });
  assert.equal(asked.status, 409);
  assert.match(asked.json.detail, /http to api\.weather\.example; log/);
  assert.match(asked.json.detail, new RegExp(hashOf(manifest())));
  assert.equal((await get('weather')).status, 404);
  const wrong = await add({ files: files(manifest()), accepts: hashOf(manifest({ version: '9' })) });
  assert.equal(wrong.status, 409);

  const { status, json } = await add(accepted(manifest(), { profile: 'safe', grant: ['http'], deny: ['log'], source: 'a test' }));
  assert.equal(status, 201);
  const lines = [['- ', 'extension.json', JSON.stringify(manifest())], ['- ', 'main.py', 'print(1)\n']]
    .map(([mark, path, text]) => `${mark}${createHash('sha256').update(text).digest('hex')} ${path}\n`).join('');
  assert.equal(json.artifact, createHash('sha256').update(lines).digest('hex'));
  const copy = join(server.data, 'extensions', 'weather', json.artifact);
  assert.deepEqual(readdirSync(copy).sort(), ['extension.json', 'main.py']);
  assert.equal(statSync(join(copy, 'main.py')).mode & 0o777, 0o444);
  assert.equal(readFileSync(join(copy, 'main.py'), 'utf8'), 'print(1)\n');
  const { id, name, version, runtime, state, profile, granted, denied, source, capabilities, tools, hooks, manifest_hash } = json;
  assert.deepEqual({ id, name, version, runtime, state, profile, granted, denied, source, tools, hooks, manifest_hash },
    { id: 'weather', name: 'Weather', version: '1.0.0', runtime: 'python', state: 'enabled', profile: 'safe', granted: ['http'], denied: ['log'], source: 'a test', tools: [], hooks: [], manifest_hash: hashOf(manifest()) });
  assert.deepEqual(capabilities, [
    { capability: 'http', hosts: ['api.weather.example'], decision: 'allow', reason: 'extension_allow' }, { capability: 'log', decision: 'deny', reason: 'extension_deny' }]);
  const list = await server.ask('GET', '/api/extensions');
  assert.deepEqual(list.json.items.map((item) => item.id), ['weather']);
  assert.equal(list.json.total, 1);
});

test('a second one of the same id is an update, which asks again only for more', async () => {
  const id = 'updates';
  const first = manifest({ extension_id: id });
  const old = (await add(accepted(first, { profile: 'permissive', grant: ['http'] }))).json;
  assert.equal((await add(accepted(first))).status, 409);
  assert.equal((await add(accepted(manifest({ extension_id: 'nothing' }), { update: true }))).status, 404);

  // Within the accepted capabilities: no question, and the choices stay.
  const narrower = { ...first, version: '1.1.0', capabilities: undefined, capability_manifest: { ...first.capability_manifest, capabilities: [{ capability: 'http', methods: ['http'], scope: { hosts: ['api.weather.example'] } }] } };
  const updated = await add({ files: files(narrower), update: true });
  assert.equal(updated.status, 201, updated.text);
  assert.equal(updated.json.version, '1.1.0');
  assert.notEqual(updated.json.artifact, old.artifact);
  assert.deepEqual([updated.json.profile, updated.json.granted, updated.json.created_at], ['permissive', ['http'], old.created_at]);

  // The update lowered the ceiling: the capabilities accepted first now exceed it.
  const wider = await add({ files: files(first), update: true });
  assert.equal(wider.status, 409);
  assert.match(wider.json.detail, /may do more than what was accepted/);
  const runtime = { ...narrower, runtime: 'node' };
  assert.equal((await add({ files: files(runtime), update: true })).status, 409);
  assert.equal((await add(accepted(first, { update: true }))).json.version, '1.0.0');
});

test('what a version asks for and the one before did not is marked, until the next update', async () => {
  const of = (version, capabilities) => manifest({ extension_id: 'grows', version, capability_manifest: { schema: 'pi.ext.cap.v1', capabilities } });
  const read = { capability: 'read', scope: { paths: ['docs/**'] } };
  const marks = ({ capabilities }) => capabilities.map(({ capability, new_since_version: since }) => [capability, since]);
  const first = (await add(accepted(of('1.0.0', [read])))).json;
  assert.deepEqual([first.version_before, marks(first)], [undefined, [['read', undefined]]]);
  const wider = of('1.1.0', [{ ...read, scope: { paths: ['docs/**', 'src/**'] } }, { capability: 'exec' }, { capability: 'log' }]);
  const second = (await add(accepted(wider, { update: true }))).json;
  assert.deepEqual([second.version_before, marks(second)], ['1.0.0', [['read', '1.1.0'], ['exec', '1.1.0'], ['log', '1.1.0']]]);
  // Other files with the same manifest request nothing new; a change by an administrator does not change the version.
  const files2 = { files: files(wider, [{ path: 'more.py', content: '' }]), update: true };
  assert.deepEqual(marks((await add(files2)).json), marks(second));
  assert.deepEqual(marks((await server.ask('PATCH', '/api/extensions/grows', { body: { deny: ['exec'] } })).json), marks(second));
  const third = (await add(accepted(of('1.2.0', [read, { capability: 'exec' }, { capability: 'ui' }]), { update: true }))).json;
  assert.deepEqual([third.version_before, marks(third)], ['1.1.0', [['read', undefined], ['exec', undefined], ['ui', '1.2.0']]]);
  assert.equal((await server.ask('GET', '/api/extensions')).json.items.find(({ id }) => id === 'grows').capabilities[2].new_since_version, '1.2.0');
  await server.ask('DELETE', '/api/extensions/grows');
});

test('the walls of its sandbox are those that the doctor finds', async () => {
  await add(accepted(manifest({ extension_id: 'walled' })));
  const { sandbox, is_measured, is_running, restarts, walls } = (await get('walled')).json;
  const said = run(['doctor', '--data', server.data]).out;
  assert.match(said, new RegExp(`level ${sandbox}`));
  assert.deepEqual([is_measured, is_running, restarts], [false, false, 0]);
  assert.deepEqual(walls.map(({ name }) => name), ['uid', 'namespaces', 'root', 'landlock', 'seccomp', 'limits', 'memory']);
  if (sandbox === 'full') assert.ok(walls.every(({ stands }) => stands), JSON.stringify(walls));
  await server.ask('DELETE', '/api/extensions/walled');
});

test('profile, grants and state change; a stale change does not', async () => {
  const json = manifest({ extension_id: 'changes' });
  const made = (await add(accepted(json))).json;
  const patch = (body, headers) => server.ask('PATCH', '/api/extensions/changes', { body, headers });
  const changed = await patch({ profile: 'safe', deny: ['http'], grant: [], state: 'disabled' }, { 'if-match': `"${made.revision}"` });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual([changed.json.profile, changed.json.denied, changed.json.granted, changed.json.state], ['safe', ['http'], [], 'disabled']);
  assert.deepEqual(changed.json.capabilities.map(({ decision }) => decision), ['deny', 'allow']);
  assert.equal((await patch({ state: 'enabled' }, { 'if-match': `"${made.revision}"` })).status, 412);
  assert.equal((await patch({ state: 'enabled' })).json.state, 'enabled');
  assert.equal((await patch({ forget_answers: true })).status, 200);
  assert.equal((await patch({ accept_tools: [{ name: 'none', hash: 'x' }] })).status, 404);
  for (const body of [{}, { state: 'quarantined' }, { profile: 'none' }, { grant: ['nothing'] }, { deny: [1] }, { x: 1 }, { accept_tools: [{ name: 'a' }] }])
    assert.equal((await patch(body)).status, 400, JSON.stringify(body));
  assert.equal((await server.ask('PATCH', '/api/extensions/nothing', { body: { state: 'disabled' } })).status, 404);
});

test('a removed extension leaves no files, and may be added again', async () => {
  const json = manifest({ extension_id: 'removes' });
  await add(accepted(json));
  assert.ok(existsSync(join(server.data, 'extensions', 'removes')));
  assert.equal((await server.ask('DELETE', '/api/extensions/removes')).status, 204);
  assert.equal((await server.ask('DELETE', '/api/extensions/removes')).status, 404);
  assert.ok(!existsSync(join(server.data, 'extensions', 'removes')));
  assert.equal((await add(accepted(json))).status, 201);
});

test('who added, changed and removed is in the audit log', async () => {
  const { json } = await server.ask('GET', '/api/audit');
  const of = (action) => json.items.filter((item) => item.action === action).map((item) => item.object);
  assert.ok(of('extension.add').includes('weather') && of('extension.update').includes('updates'));
  assert.ok(of('extension.change').includes('changes') && of('extension.remove').includes('removes'));
});

const wrongManifests = {
  'not JSON': ['{', /line|expected|JSON/i],
  'no object': ['[]', /no object/],
  'a mistyped member': [{ ...manifest(), entry_point: 'x' }, /did you mean "entrypoint"\?/],
  'an unknown member': [{ ...manifest(), zzzzzzzzz: 1 }, /remove it/],
  'wasm': [manifest({ runtime: 'wasm' }), /wasm/],
  'an unknown runtime': [manifest({ runtime: 'ruby' }), /runtime/],
  'no id': [manifest({ extension_id: undefined }), /extension_id/],
  'an id with a slash': [manifest({ extension_id: 'a/b' }), /extension_id/],
  'an id with a capital': [manifest({ extension_id: 'Weather' }), /extension_id/],
  'a blank name': [manifest({ name: ' ' }), /name/],
  'another api': [manifest({ api_version: '2.0' }), /api_version/],
  'an entry point outside': [manifest({ entrypoint: '../main.py' }), /entry point/],
  'an absolute entry point': [manifest({ entrypoint: '/bin/sh' }), /entry point/],
  'an entry point that is not there': [manifest({ entrypoint: 'other.py' }), /no file of the package/],
  'an unknown capability': [manifest({ capability_manifest: undefined, capabilities: ['fly'] }), /is not a capability/],
  'a scope that leaves': [manifest({ capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [{ capability: 'read', scope: { paths: ['../x'] } }] } }), /scope\/paths\/0/],
  'a host that is none': [manifest({ capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [{ capability: 'http', scope: { hosts: ['a b'] } }] } }), /hosts\/0/],
  'an unknown member in a scope': [manifest({ capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [{ capability: 'read', scope: { path: ['x'] } }] } }), /scope/],
  'another schema': [manifest({ schema: 'pi.ext.manifest.v2' }), /schema/],
  ...Object.fromEntries(['schema', 'extension_id', 'name', 'version', 'description', 'api_version', 'runtime', 'entrypoint', 'args', 'capabilities', 'capability_manifest']
    .flatMap((member) => [1, null, {}, [[]], true].filter((value) => !(member === 'capability_manifest' && JSON.stringify(value) === 'none'))
      .map((value) => [`${member} is ${JSON.stringify(value)}`, [manifest({ [member]: value }), new RegExp(member)]]))),
};
test('a wrong manifest is refused with its place, and nothing is stored', async () => {
  for (const [what, [json, expected]] of Object.entries(wrongManifests)) {
    const { status, json: problem } = await add({ files: files(json), accepts: 'x' });
    assert.equal(status, 400, `${what}: ${JSON.stringify(problem)}`);
    assert.match(problem.detail, expected, what);
  }
  assert.equal((await add({ files: [{ path: 'main.py', content: '' }] })).status, 400);
});

test('files that may not be in a package are refused', async () => {
  const json = manifest({ extension_id: 'files' });
  const wrong = [{ path: '../x', content: '' }, { path: '/x', content: '' }, { path: 'a/../b', content: '' }, { path: './a', content: '' }, { path: 'a//b', content: '' }, { path: 'a\nb', content: '' },
    { path: 'main.py', content: 'twice' }, { path: 'main.py/x', content: '' }, { path: 'x', content_base64: '!' }, { path: 'x' }, { path: 'x', content: '', content_base64: '' }, { path: 'x'.repeat(401), content: '' },
    { path: '', content: '' }, { path: 1, content: '' }, { path: 'x', content: 1 }, { path: 'x', content: '', executable: 1 }, { path: 'x', content: '', mode: 1 }];
  for (const one of wrong) {
    const { status, text } = await add({ files: files(json, [one]), accepts: hashOf(json) });
    assert.equal(status, 400, `${JSON.stringify(one)}: ${text}`);
  }
  const { status, json: made } = await add({ files: files(json, [{ path: 'bin/tool', content_base64: Buffer.from([0, 255, 10]).toString('base64'), executable: true }]), accepts: hashOf(json) });
  assert.equal(status, 201);
  const tool = join(server.data, 'extensions', 'files', made.artifact, 'bin/tool');
  assert.deepEqual([...readFileSync(tool)], [0, 255, 10]);
  assert.equal(statSync(tool).mode & 0o777, 0o555);
});

test('grants go only to what the manifest declares', async () => {
  const json = manifest({ extension_id: 'grants' });
  const { status, text } = await add(accepted(json, { grant: ['exec'] }));
  assert.equal(status, 400);
  assert.match(text, /does not declare/);
});

test('a path is for the control socket only; links, devices and huge trees are refused there', async () => {
  const json = manifest({ extension_id: 'paths' });
  const dir = join(directory, 'package');
  mkdirSync(join(dir, 'deep/er'), { recursive: true });
  writeFileSync(join(dir, 'extension.json'), JSON.stringify(json));
  writeFileSync(join(dir, 'main.py'), '');
  writeFileSync(join(dir, 'deep/er/tool'), 'x');
  chmodSync(join(dir, 'deep/er/tool'), 0o755);
  assert.equal((await add({ path: dir, accepts: hashOf(json) })).status, 403);
  const made = await control('POST', '/api/extensions', { path: dir, accepts: hashOf(json) });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  assert.equal(statSync(join(server.data, 'extensions', 'paths', made.json.artifact, 'deep/er/tool')).mode & 0o777, 0o555);

  for (const body of [{ path: 'relative' }, { path: join(dir, 'main.py') }, { path: '/nonexistent' }, { path: `${dir}\0x` }, {}, { path: dir, files: files(json) }])
    assert.equal((await control('POST', '/api/extensions', { ...body, update: true })).status, 400, JSON.stringify(body));
  symlinkSync('/etc/passwd', join(dir, 'link'));
  const linked = await control('POST', '/api/extensions', { path: dir, update: true });
  assert.equal(linked.status, 400);
  assert.match(linked.json.detail, /"link" is a symbolic link/);
});

test('extensions survive a restart', async () => {
  const before = (await get('weather')).json;
  await server.stop();
  const again = await start({ data: server.data, login: false });
  again.key = server.key;
  server = again;
  assert.deepEqual((await get('weather')).json, before);
});
