// Copies of sessions: fork, export, import, share, handoff; and no access to sessions of others.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { LiveError, Socket, clientOf, closing, endsWell, script, serve, settled, textOf } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const post = async (path, body, own = client) => (await own.request('POST', path, body)).json();

// A session with words, thinking, a tool call and its result.
async function spoken() {
  const { id } = await client.createSession({ intent: 'to be copied' });
  await client.chat(id, {
    message: script('think hm', 'say I will look.', 'call echo {"n":9007199254740993,"s":"ü"}', '---',
      'say Found it.'),
  });
  await settled(client, id);
  await client.chat(id, { message: 'thank you' });
  await settled(client, id);
  return id;
}

// The parts of a conversation that a reader would compare: roles, words and calls.
const essence = (turns) => turns.map(({ role, blocks, tool_calls: calls }) => ({
  role,
  words: blocks.filter(({ type }) => type === 'text').map(({ content }) => content).join(''),
  calls: calls.map(({ tool_name: name, arguments: given }) => [name, JSON.parse(given)]),
}));

test('a fork has the same turns up to a place, and goes its own way', async () => {
  const id = await spoken();
  const { turns } = await client.messages(id);
  const whole = await post(`/api/sessions/${id}/fork`, {});
  assert.notEqual(whole.id, id);
  assert.equal(whole.intent, 'to be copied');
  const copied = (await client.messages(whole.id)).turns;
  assert.deepEqual(copied.map(({ blocks }) => blocks), turns.map(({ blocks }) => blocks));
  assert.ok(copied.every((turn, i) => turn.turn_id !== turns[i].turn_id && turn.sequence === i));
  const part = await post(`/api/sessions/${id}/fork`, { turn_id: turns[2].turn_id, intent: 'other' });
  assert.equal(part.intent, 'other');
  await client.chat(part.id, { message: 'different' });
  await settled(client, part.id);
  const went = (await client.messages(part.id)).turns;
  assert.equal(went.length, 5);
  assert.equal(textOf(went[4]), 'different');
  assert.equal((await client.messages(id)).turns.length, turns.length);
});

test('a session is exported in every format and imported again', async () => {
  const id = await spoken();
  const { turns } = await client.messages(id);
  const formats = ['turns', 'harmony', 'openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'envelope'];
  for (const format of formats) {
    const response = await client.request('GET', `/api/sessions/${id}/export?format=${format}`);
    const text = await response.text();
    assert.ok(text.includes('Found it.'), format);
    const document = format === 'gpt-oss' ? text : JSON.parse(text);
    const made = await post('/api/sessions/import', { document, from: format, intent: `as ${format}` });
    assert.equal(made.intent, `as ${format}`);
    const imported = (await client.messages(made.id, { limit: '100' })).turns;
    const words = (list) => list.map(textOf).filter(Boolean).join('|');
    if (format !== 'envelope') assert.equal(words(imported), words(turns), format);
    if (format === 'turns') assert.deepEqual(essence(imported), essence(turns));
    await client.chat(made.id, { message: 'go on' });
    assert.equal((await settled(client, made.id)).status, 'completed', format);
    const last = (await client.messages(made.id)).turns.at(-1);
    assert.equal(textOf(last), 'go on', format);
  }
  await assert.rejects(client.request('GET', `/api/sessions/${id}/export?format=none`),
    ({ problem }) => problem.code === 'invalid_request');
  const wrong = [{ document: 'not a conversation' }, { document: {}, from: 'harmony' }, { document: [], from: 'none' }];
  for (const body of wrong)
    await assert.rejects(client.request('POST', '/api/sessions/import', body),
      ({ problem }) => problem.code === 'invalid_request');
});

test('what is exported as turns and imported is exported the same', async () => {
  const id = await spoken();
  const first = await (await client.request('GET', `/api/sessions/${id}/export`)).text();
  const made = await post('/api/sessions/import', { document: JSON.parse(first), from: 'turns' });
  const second = await (await client.request('GET', `/api/sessions/${made.id}/export`)).json();
  assert.deepEqual(essence(second), essence(JSON.parse(first)));
});

test('a member of an imported turn that has the wrong type is reported, and no other', async () => {
  const turn = { id: 'e0', sequence: 0, turn_id: 't0', loop_id: 'root', kind: 'message', role: 'assistant', status: 'failed',
    blocks: [{ type: 'text', content: 'Hello' }], tool_calls: [], usage: { input_tokens: 1, output_tokens: 1 }, memory_refs: [],
    metadata: {}, timing: { total_ms: 1 }, error: 'It broke.', error_info: { code: 'upstream_error' }, name: 'ann', duration_ms: 1 };
  const said = { ...turn, role: 'user', status: 'completed' };
  const dropped = async (document) => (await post('/api/sessions/import?report=body', { document, from: 'turns' })).report.losses
    .filter(({ code }) => code === 'dropped').map(({ pointer }) => pointer);
  assert.deepEqual(await dropped([turn]), []);
  for (const key of ['tool_calls', 'usage', 'memory_refs', 'metadata', 'timing', 'error_info', 'name', 'duration_ms']) {
    const wrong = typeof turn[key] === 'object' && !Array.isArray(turn[key]) ? [] : { a: 1 };
    assert.deepEqual(await dropped([{ ...said, id: 'e1', turn_id: 't1', sequence: 1 }, { ...turn, [key]: wrong }]), [`/1/${key}`], key);
  }
});

test('proofs stay with their session: a stranger gets none, another vendor gets none', async () => {
  const proof = (vendor, signature) => ({ vendor, signature });
  const turn = (sequence, role, blocks, calls = []) => ({ id: `e${sequence}`, sequence, turn_id: `t${sequence}`,
    loop_id: 'root', kind: 'message', role, status: 'completed', blocks, tool_calls: calls });
  const document = [
    turn(0, 'user', [{ type: 'text', content: 'Hello' }]),
    turn(1, 'assistant', [{ type: 'thinking', content: 'A greeting.', proof: proof('anthropic', 'c2lnMQ') },
      { type: 'text', content: 'Hi', proof: proof('gemini', 'c2lnMg') }],
    [{ id: 'tc_1', tool_name: 'echo', arguments: '{}', status: 'done', result: 1, proof: proof('gemini', 'c2lnMw') }]),
  ];
  const signatures = async (path, request = {}) => {
    const { text } = await server.ask('GET', path, request);
    assert.match(text, /A greeting|Hi/);
    return [...text.matchAll(/c2lnM./g)].map(([found]) => found);
  };
  const { id } = await post('/api/sessions/import', { document, from: 'turns' });
  assert.deepEqual(await signatures(`/api/sessions/${id}/messages`), ['c2lnMQ', 'c2lnMg', 'c2lnMw']);
  const exported = (format) => signatures(`/api/sessions/${id}/export?format=${format}`);
  assert.deepEqual(await exported('turns'), ['c2lnMQ', 'c2lnMg', 'c2lnMw']);
  assert.deepEqual(await exported('anthropic'), ['c2lnMQ']);
  assert.deepEqual(await exported('gemini'), ['c2lnMg', 'c2lnMw']);
  assert.deepEqual(await exported('openai-responses'), []);
  const fork = await post(`/api/sessions/${id}/fork`, {});
  assert.deepEqual(await signatures(`/api/sessions/${fork.id}/messages`), ['c2lnMQ', 'c2lnMg', 'c2lnMw']);
  const { path } = await post(`/api/sessions/${id}/share`);
  assert.deepEqual(await signatures(path, { key: null }), []);
  const replay = await post(`/api/sessions/${id}/replay`, { speed: 0 });
  await settled(client, replay.id);
  assert.deepEqual(await signatures(`/api/sessions/${replay.id}/messages`), []);
});

test('a share link is read by anybody, changes nothing, and ends with the sharing', async () => {
  const id = await spoken();
  const { token, path } = await post(`/api/sessions/${id}/share`);
  assert.equal((await client.session(id)).shared, true);
  const read = await server.ask('GET', path, { key: null });
  assert.equal(read.status, 200);
  assert.equal(read.json.session.intent, 'to be copied');
  assert.equal(read.json.session.user_id, undefined);
  // Everything except the owner's data: the metadata have trace, cost and session.
  const mine = (await client.messages(id)).turns.map(({ metadata, ...turn }) => turn);
  assert.deepEqual(read.json.turns, mine);
  // Node sends the body of a DELETE without its length, so the server would read it as the next request.
  for (const [method, body] of [['POST', {}], ['PATCH', {}], ['DELETE'], ['PUT', {}]])
    assert.ok([401, 404, 405].includes((await server.raw(method, path, { key: null, body })).status), method);
  assert.equal((await server.raw('GET', `/api/sessions/${id}`, { key: token })).status, 401);
  assert.equal((await server.raw('GET', `/api/share/${token.slice(0, -1)}x`, { key: null })).status, 404);
  await client.request('PATCH', `/api/sessions/${id}/sharing`, { shared: false });
  assert.equal((await server.ask('GET', path, { key: null })).status, 404);
  await client.request('PATCH', `/api/sessions/${id}/sharing`, { shared: true });
  assert.equal((await server.ask('GET', path, { key: null })).status, 404, 'an ended link stays ended');
});

test('a deleted session ends its links', async () => {
  const id = await spoken();
  const { path } = await post(`/api/sessions/${id}/share`);
  await client.deleteSession(id);
  assert.equal((await server.ask('GET', path, { key: null })).status, 404);
});

test('a share made twice with one Idempotency-Key is one link', async () => {
  const id = await spoken();
  const make = async () => (await client.request('POST', `/api/sessions/${id}/share`, undefined,
    { 'idempotency-key': 'share-once' })).json();
  const [first, second] = [await make(), await make()];
  assert.equal(first.id, second.id);
});

test('a handoff is made of a session and accepted as another', async () => {
  const id = await spoken();
  const packet = await post(`/api/sessions/${id}/handoff`, {
    target: 'somebody', objective: 'finish it', status: 'half done', next: 'the other half', summary: 'short',
  });
  const made = await post('/api/handoffs', { packet, agent: 'somebody' });
  assert.equal(made.intent, 'finish it');
  const { turns } = await client.messages(made.id);
  assert.equal(turns.length, 1);
  assert.match(textOf(turns[0]), /finish it/);
  await assert.rejects(client.request('POST', '/api/handoffs', { packet, agent: 'another' }),
    ({ problem }) => problem.code === 'invalid_request');
  await assert.rejects(client.request('POST', '/api/handoffs', { packet: {} }),
    ({ problem }) => problem.code === 'invalid_request');
});

test('nobody sees another\'s session: every route says 404', async (t) => {
  const id = await spoken();
  const { turns } = await client.messages(id);
  const user = await post('/api/users', { name: 'other' });
  const key = user.key.plaintext;
  const other = clientOf(server, key);
  const routes = Object.entries((await server.raw('GET', '/openapi.json', { key: null })).json.paths)
    .flatMap(([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path]))
    .filter(([, path]) => path.startsWith('/api/sessions/{'));
  assert.ok(routes.length >= 18, `${routes.length} routes`);
  const bodies = {
    chat: { message: 'mine?' }, answer: { answer: 1 }, result: { result: 1 }, handoff: { target: 'x' }, pin: { is_pinned: true },
    sharing: { shared: true }, memory: { memory_enabled: true }, '{id}': { intent: 'mine' },
  };
  for (const [method, path] of routes) {
    const target = path.replace('{id}', id).replace('{turn_id}', turns[0].turn_id).replace('{tool_call_id}', 'tc_x');
    const body = method === 'GET' || method === 'DELETE' ? undefined : bodies[path.split('/').at(-1)] ?? {};
    const answer = await server.ask(method, target, { key, body });
    assert.deepEqual([answer.status, answer.json.code], [404, 'not_found'], `${method} ${path}`);
  }
  assert.deepEqual((await other.sessions()).items, []);
  const live = closing(t, other.live());
  await assert.rejects(live.subscribe(id), (error) => error instanceof LiveError && error.problem.code === 'not_found');
  const socket = closing(t, await new Socket(server, { key }).opened);
  for (const [event, more] of [['chat:send', { message: 'mine?' }], ['chat:stop'], ['chat:compact']])
    assert.equal((await socket.ask(event, { session_id: id, ...more })).error.code, 'not_found', event);
  const mine = await other.createSession();
  const keys = (await (await other.request('GET', '/api/user/api-keys')).json()).items;
  assert.equal(keys.length, 1);
  assert.deepEqual((await other.sessions()).items.map((session) => session.id), [mine.id]);
  assert.equal((await client.messages(id)).turns.length, turns.length);
  assert.equal((await client.session(id)).shared, false);
  await assert.rejects(client.session(mine.id), ({ problem }) => problem.status === 404, 'an administrator too');
});

test('a number that is none is told so, wherever a stranger may write one', async () => {
  const id = await spoken();
  const { id: memory } = await post('/api/memories', { content: 'the first of all' });
  const { token } = await post(`/api/sessions/${id}/share`);
  for (const junk of ['x', '1x', '-1', '1.0', '1e1', '99999999999999999999']) {
    for (const [path, code] of [
      [`/api/sessions/${id}/messages?before=${junk}`, 'invalid_request'],
      /* -1 is the position before all messages. */
      [`/api/sessions/${id}/messages?after=${junk === '-1' ? '-2' : junk}`, 'invalid_request'],
      [`/api/share/${token}?before=${junk}`, 'invalid_request'],
      [`/api/memories/${junk}`, 'not_found'],
      [`/api/memories?cursor=${Buffer.from(junk).toString('base64url')}`, 'invalid_request'],
    ]) {
      await assert.rejects(client.request('GET', path), ({ problem }) => problem?.code === code, path);
    }
    await assert.rejects(client.request('PATCH', `/api/sessions/${id}`, { intent: 'new' }, { 'if-match': `"${junk}"` }),
      ({ problem }) => problem?.code === 'precondition_failed');
  }
  assert.equal((await (await client.request('GET', `/api/memories/${memory}`)).json()).id, memory);
});

test('the server ends in good order', () => endsWell(server));
