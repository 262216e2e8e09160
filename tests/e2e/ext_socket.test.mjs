// An extension that runs elsewhere: it connects by WebSocket with a key of its own. Here npm `ws` plays it, without any SDK.
// The same protocol, policy and quotas apply as for a child of the server.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { calls, called, hashOf, play, rested, tool } from './extending.mjs';
import { root, run } from './harness.mjs';
import { endsWell, frame, RawSocket, serve, Socket, until } from './live.mjs';

let server;
before(async () => { server = await serve({ args: ['--ext-sandbox', 'none'] }); });

const all = ['read', 'write', 'http', 'events', 'session', 'ui', 'exec', 'env', 'tool', 'log'].map((capability) => ({ capability }));
const manifestOf = (id, more = {}) => ({ schema: 'pi.ext.manifest.v1', extension_id: id, name: id, version: '1.0.0', api_version: '1.0', runtime: 'remote', capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: all }, ...more });
async function added(id, more = {}) {
  const manifest = manifestOf(id, more);
  const answer = await server.ask('POST', '/api/extensions', { body: { files: [{ path: 'extension.json', content: JSON.stringify(manifest) }], accepts: hashOf(manifest), profile: 'permissive' } });
  assert.equal(answer.status, 201, answer.text);
  return manifest;
}
async function keyOf(id, user) {
  const path = user ? `/api/users/${user}/api-keys` : '/api/user/api-keys';
  const answer = await server.ask('POST', path, { body: { name: id, scope: `extension:${id}` } });
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}
const connecting = (key, more = {}) => new Socket(server, { key, path: '/api/extensions/connect', protocol: 'pi.ext.v1', ...more });
// The reason for a refused handshake: status and text of the problem.
async function refusedWith(socket) {
  const response = await socket.opened.then(() => assert.fail('it was let in'), (r) => r);
  let text = '';
  for await (const piece of response) text += piece;
  return { status: response.statusCode, headers: response.headers, ...JSON.parse(text) };
}
const say = (socket, type, payload, id = 'x') => socket.send({ id, version: '1.0', type, payload });
const registerOf = (id, tools, more = {}) => ({ name: id, version: '1.0.0', api_version: '1.0', capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: all }, tools, ...more });
async function connected(t, id, key, { tools = [tool(`t_${id}`)], on = () => {}, ...more } = {}) {
  const socket = connecting(key);
  t.after(() => socket.close());
  await socket.opened;
  assert.equal(socket.ws.protocol, 'pi.ext.v1');
  socket.ws.on('message', (data) => on(JSON.parse(String(data))));
  say(socket, 'register', registerOf(id, tools, more), 'r1');
  socket.ready = await socket.next((f) => f.payload.event === 'extension.ready', 'extension.ready');
  return socket;
}
const exits = async (id) => (await server.ask('GET', '/api/audit?limit=500')).json.items.filter(({ action, object }) => action === 'extension.exit' && object === id).map(({ detail }) => detail.reason);
const endsAs = async (id, pattern) => { let list; await until(async () => { list = await exits(id); return list.some((reason) => pattern.test(reason)); }, () => `${id} did not end so: ${list}`); };
const gone = (id) => server.ask('DELETE', `/api/extensions/${id}`);

test('it registers, answers calls, calls the host, and may not what needs a cell', async (t) => {
  await added('far');
  const { plaintext } = await keyOf('far');
  const results = [];
  const socket = await connected(t, 'far', plaintext, {
    on(f) {
      if (f.type === 'tool_call' && f.payload.input.fs) say(socket, 'host_call', { call_id: 'c1', capability: 'read', method: 'fs', params: { op: 'read', path: 'x' } });
      else if (f.type === 'tool_call') say(socket, 'tool_result', { call_id: f.payload.call_id, output: { content: [{ type: 'text', text: `far ${f.payload.input.n}` }] }, is_error: false }, f.id);
      if (f.type === 'host_result' && f.payload.call_id === 'c1') { results.push(f.payload); const call = socket.frames.findLast(({ type }) => type === 'tool_call'); say(socket, 'tool_result', { call_id: call.payload.call_id, output: { text: f.payload.error.details.reason }, is_error: false }, call.id); }
    },
  });
  assert.equal(socket.ready.id, 'r1');
  assert.equal(socket.ready.payload.data.sandbox, 'remote');
  assert.deepEqual(socket.ready.payload.data.granted.map(({ capability }) => capability).sort(), ['events', 'log', 'session', 'tool', 'ui']);
  assert.deepEqual(Object.fromEntries(socket.ready.payload.data.denied.map(({ capability, reason }) => [capability, reason])), { read: 'remote', write: 'remote', http: 'remote', exec: 'remote', env: 'remote' });
  const [call] = await called(server, 'call t_far {"n":7}\n---\nsay done');
  assert.equal(call.result, 'far 7');
  const sent = socket.frames.find(({ type }) => type === 'tool_call');
  assert.equal(sent.payload.context.workspace, false);
  assert.equal((await called(server, 'call t_far {"fs":true}\n---\nsay done'))[0].result, 'remote');
  assert.equal(results[0].error.code, 'denied');
  for (const f of socket.frames) assert.equal(run(['validate', '--as', 'pi', '-'], { input: JSON.stringify(f) }).code, 0, JSON.stringify(f).slice(0, 300));
  const { sandbox, runtime, state } = (await server.ask('GET', '/api/extensions/far')).json;
  assert.deepEqual([runtime, state], ['remote', 'enabled']);
  assert.ok(sandbox === undefined || typeof sandbox === 'string');
  // A message with line feeds between its values counts as one line.
  socket.ws.send(JSON.stringify({ id: 'p', version: '1.0', type: 'host_call', payload: { call_id: 'pretty', capability: 'log', method: 'log', params: { message: 'm' } } }, null, 2));
  assert.equal((await socket.next((f) => f.payload.call_id === 'pretty', 'the answer')).payload.is_error, false);
  await gone('far');
  assert.equal((await socket.closed).code, 1001);
  assert.ok(socket.frames.some((f) => f.payload.event === 'shutdown'));
});

test('a line of 8 MiB is heard, one byte more closes with 1009 and is told', async (t) => {
  await added('long');
  const { plaintext } = await keyOf('long');
  const socket = await connected(t, 'long', plaintext);
  const line = (n) => { const f = { id: 'l', version: '1.0', type: 'host_call', payload: { call_id: `c${n}`, capability: 'log', method: 'log', params: { message: '' } } }; f.payload.params.message = 'x'.repeat(n - JSON.stringify(f).length); return JSON.stringify(f); };
  socket.ws.send(line(8 << 20));
  assert.ok(await socket.next((f) => f.payload.call_id === `c${8 << 20}`, 'an answer to a line of 8 MiB'));
  socket.ws.send(line((8 << 20) + 1));
  assert.equal((await socket.closed).code, 1009);
  await endsAs('long', /line of more than 8 MiB/);
  await gone('long');
});

test('who may connect: a key that is bound, an extension that runs elsewhere, one at a time', async (t) => {
  await added('one');
  const { plaintext, id: keyId } = await keyOf('one');
  const socket = await connected(t, 'one', plaintext);
  const twice = await refusedWith(connecting(plaintext));
  assert.deepEqual([twice.status, twice.headers['retry-after']], [409, '5']);
  assert.match(twice.detail, /connected already/);
  // The first connection is unaffected.
  say(socket, 'host_call', { call_id: 'still', capability: 'log', method: 'log', params: { message: 'm' } });
  await socket.next((f) => f.payload.call_id === 'still', 'an answer');
  assert.match((await refusedWith(connecting(server.key))).detail, /--scope extension:ID/);
  assert.equal((await refusedWith(connecting('sk-parley-v1-' + 'x'.repeat(43)))).status, 401);
  assert.equal((await refusedWith(connecting(null))).status, 401);
  assert.match((await refusedWith(connecting(plaintext, { protocol: 'parley.v1' }))).detail, /pi\.ext\.v1/);
  const nothing = await keyOf('nothing');
  assert.equal((await refusedWith(connecting(nothing.plaintext))).status, 404);
  // A key bound to an extension gives no other access.
  for (const path of ['/api/me', '/api/sessions', '/api/extensions', '/v1/models', '/api/settings']) assert.equal((await server.raw('GET', path, { key: plaintext })).status, 403, path);
  const plain = await server.raw('GET', '/api/extensions/connect', { key: plaintext });
  assert.deepEqual([plain.status, plain.json.detail], [400, 'This is a WebSocket: connect with Upgrade: websocket.']);
  for (const scope of ['extension', 'extension:', 'extension:../x', 'extension:UP', `extension:${'x'.repeat(65)}`]) {
    const { status, json } = await server.ask('POST', '/api/user/api-keys', { body: { name: 'k', scope } });
    assert.deepEqual([status, json.errors?.[0].pointer], [400, '/scope'], scope);
  }
  assert.equal((await server.ask('POST', '/api/user/api-keys', { body: { name: 'k', scope: `extension:${'x'.repeat(64)}` } })).status, 201);
  // An extension that runs on the server cannot connect from elsewhere.
  const local = { ...manifestOf('local'), runtime: 'python', entrypoint: 'main.py' };
  assert.equal((await server.ask('POST', '/api/extensions', { body: { files: [{ path: 'extension.json', content: JSON.stringify(local) }, { path: 'main.py', content: '' }], accepts: hashOf(local) } })).status, 201);
  assert.match((await refusedWith(connecting((await keyOf('local')).plaintext))).detail, /its runtime is "python"/);
  await gone('local');
  // When the key is revoked, the socket is closed at once.
  assert.equal((await server.ask('DELETE', `/api/user/api-keys/${keyId}`)).status, 204);
  assert.equal((await socket.closed).code, 4401);
  await endsAs('one', /the key was revoked/);
  await gone('one');
});

test('what its manifest may not say', async () => {
  for (const [more, pattern] of [[{ entrypoint: 'main.py' }, /remove entrypoint and args/], [{ args: [] }, /remove entrypoint and args/], [{ extension_id: 'connect', name: 'connect' }, /"connect" is a word of the API/], [{ runtime: 'python' }, /entrypoint/]]) {
    const manifest = { ...manifestOf('wrong'), ...more };
    const { status, json } = await server.ask('POST', '/api/extensions', { body: { files: [{ path: 'extension.json', content: JSON.stringify(manifest) }], accepts: hashOf(manifest) } });
    assert.equal(status, 400);
    assert.match(json.detail, pattern);
  }
});

test('a connection that is cut fails its calls once; it comes back and goes on', async (t) => {
  await added('cut');
  const { plaintext } = await keyOf('cut');
  const socket = await connected(t, 'cut', plaintext);
  const id = await play(server, 'call t_cut {}\n---\nsay done');
  await socket.next((f) => f.type === 'tool_call', 'the call');
  socket.close();
  await rested(server, id);
  const [call] = await calls(server, id);
  assert.deepEqual([call.status, call.result.error_type], ['error', 'Interrupted']);
  assert.match(call.result.message, /its connection was closed/);
  const [alone] = await called(server, 'call t_cut {}\n---\nsay done');
  assert.match(alone.result.message, /runs elsewhere, and is not connected/);
  // This is not a crash: it may reconnect at once, any number of times.
  for (let i = 0; i < 7; i++) {
    const again = await connected(t, 'cut', plaintext, { on(f) { if (f.type === 'tool_call') say(again, 'tool_result', { call_id: f.payload.call_id, output: { text: `back ${i}` }, is_error: false }, f.id); } });
    if (i === 6) assert.equal((await called(server, 'call t_cut {}\n---\nsay done'))[0].result, 'back 6');
    again.ws.close(1000);
    await again.closed;
    await until(async () => (await exits('cut')).length === i + 2, 'the end is told');
  }
  assert.equal((await server.ask('GET', '/api/extensions/cut')).json.state, 'enabled');
  await gone('cut');
});

test('garbage, binary messages, floods and silence end it, and it hears why', async (t) => {
  const log = { id: 'l', version: '1.0', type: 'log', payload: { schema: 'pi.ext.log.v1', ts: '2026-01-01T00:00:00Z', level: 'info', event: 'e', message: 'm', correlation: { extension_id: 'x', scenario_id: 'y' } } };
  const cases = {
    garbage: [async (s) => { for (let i = 0; i < 5; i++) s.ws.send('not json'); }, 1008, /lines that are no frames/],
    empty: [async (s) => { for (let i = 0; i < 5; i++) s.ws.send(''); }, 1008, /lines that are no frames/],
    binary: [async (s) => s.ws.send(Buffer.from([0, 1, 2])), 1003, /binary message/],
    flood: [async (s) => { for (let i = 0; i < 20000 && s.ws.readyState === 1; i++) s.ws.send(JSON.stringify(log)); }, 1008, /quota of log lines/],
    foreign: [async (s) => say(s, 'register', registerOf('somebody', []), 'r2'), 1008, /register was refused/],
    silent: [async () => {}, 1008, /did not register within 10 seconds/],
  };
  await Promise.all(Object.entries(cases).map(async ([id, [attack, code, pattern]]) => {
    await added(id);
    const { plaintext } = await keyOf(id);
    const socket = id === 'silent' ? connecting(plaintext) : await connected(t, id, plaintext);
    await socket.opened;
    await attack(socket);
    const closed = await socket.closed;
    assert.equal(closed.code, code, `${id}: ${closed.reason}`);
    assert.match(closed.reason, pattern);
    await endsAs(id, pattern);
    if (id === 'foreign') assert.equal(socket.frames.find((f) => f.type === 'error').id, 'r2');
    await gone(id);
  }));
  // The server's other work continues.
  assert.equal((await called(server, 'call calc {"expression":"1+1"}\n---\nsay done')).length, 1);
});

test('frames that break RFC 6455 end it', async (t) => {
  await added('bytes');
  const { plaintext } = await keyOf('bytes');
  const raw = new RawSocket(server, { key: plaintext, path: '/api/extensions/connect', protocol: 'pi.ext.v1' });
  t.after(() => raw.close());
  await raw.open();
  raw.net.write(frame(1, Buffer.from([0xff, 0xfe])));
  await endsAs('bytes', /UTF-8/);
  await gone('bytes');
});

test('five faults in ten minutes: it is quarantined, and not let in', async (t) => {
  await added('crasher');
  const { plaintext } = await keyOf('crasher');
  const refusals = [];
  for (let i = 0; i < 5; i++) {
    let socket;
    await until(async () => {
      socket = connecting(plaintext);
      return socket.opened.then(() => true, (response) => { refusals.push([response.statusCode, response.headers['retry-after']]); response.resume(); return false; });
    }, 'it is let in again', 60000);
    t.after(() => socket.close());
    socket.ws.send(Buffer.from([1]));
    await socket.closed;
    await until(async () => (await exits('crasher')).length === i + 1, 'the end is told');
  }
  // It had to wait before the last attempts: every refusal says when to try again.
  assert.ok(refusals.length > 0);
  for (const refusal of refusals) assert.deepEqual(refusal, [429, '5']);
  await until(async () => (await server.ask('GET', '/api/extensions/crasher')).json.state === 'quarantined', 'it is quarantined');
  assert.match((await refusedWith(connecting(plaintext))).detail, /is quarantined; an administrator enables it/);
  await gone('crasher');
});

test('each user has an instance of their own; a user who is disabled loses it', async (t) => {
  await added('shared');
  const { json: ada } = await server.ask('POST', '/api/users', { body: { name: 'ada' } });
  const [mine, hers] = [await keyOf('shared'), await keyOf('shared', ada.id)];
  const a = await connected(t, 'shared', mine.plaintext), b = await connected(t, 'shared', hers.plaintext);
  await play(server, 'call t_shared {}\n---\nsay done');
  await a.next((f) => f.type === 'tool_call', 'the call of its user');
  assert.ok(!b.frames.some((f) => f.type === 'tool_call'), 'another user saw the call');
  await server.ask('PATCH', `/api/users/${ada.id}`, { body: { is_disabled: true } });
  assert.equal((await b.closed).code, 4401);
  await endsAs('shared', /the user was disabled/);
  assert.equal((await refusedWith(connecting(hers.plaintext))).status, 401);
  assert.equal(a.ws.readyState, 1);
  await gone('shared');
});

test('one that is disabled or changed is told and closed', async (t) => {
  await added('changed');
  const { plaintext } = await keyOf('changed');
  const socket = await connected(t, 'changed', plaintext);
  await server.ask('PATCH', '/api/extensions/changed', { body: { state: 'disabled' } });
  assert.equal((await socket.closed).code, 1001);
  assert.equal(socket.frames.find((f) => f.payload.event === 'shutdown').payload.data.reason, 'it was changed');
  assert.match((await refusedWith(connecting(plaintext))).detail, /is disabled; an administrator enables it/);
  await server.ask('PATCH', '/api/extensions/changed', { body: { state: 'enabled' } });
  await connected(t, 'changed', plaintext);
  await gone('changed');
});

test('the SDK runs over a socket', async (t) => {
  const manifest = await added('kit');
  const { plaintext } = await keyOf('kit');
  const { Extension } = await import(join(root, 'sdk/js/parley_ext.mjs'));
  const ext = new Extension(manifest);
  ext.tool('kit', 'Counts.', { type: 'object' }, async (call, { n }) => { await call.host('log', { level: 'info', message: 'called' }).catch(() => {}); return `${n + 1}`; });
  const socket = connecting(plaintext);
  t.after(() => socket.close());
  await socket.opened;
  const over = ext.run({ socket: socket.ws });
  await until(() => ext.ready, 'it is ready');
  assert.equal((await called(server, 'call kit {"n":41}\n---\nsay done'))[0].result, '42');
  await gone('kit');
  assert.equal((await over).code, 1000);
});

test('the server ends: it hears so, answers what it has, and is closed', async (t) => {
  const mine = server;
  await added('last');
  const { plaintext } = await keyOf('last');
  const socket = await connected(t, 'last', plaintext);
  socket.ws.on('message', (data) => { if (JSON.parse(String(data)).payload.event === 'shutdown') socket.ws.close(1000); });
  const ended = mine.stop();
  assert.ok(await socket.next((f) => f.payload.event === 'shutdown', 'shutdown'));
  await socket.closed;
  assert.equal((await ended).code, 0);
  server = await serve({ args: ['--ext-sandbox', 'none'], data: mine.data, login: false });
  server.key = mine.key;
  const back = await connected(t, 'last', plaintext);
  assert.equal(back.ready.payload.data.tools.t_last, 't_last');
  await endsWell(server);
});
