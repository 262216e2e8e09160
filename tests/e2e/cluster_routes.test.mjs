// Access to a session through a node that does not own it: every route, live lists, long commands; letters that are forged,
// lost or duplicated; and nodes with wrong settings.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { Cluster, cluster, skip } from './cluster.mjs';
import { Reader, checkReaders, hasNats, insist, stored, tellsNothing } from './cluster_watch.mjs';
import { Socket, closing, script, settled, sleep, textOf, until } from './live.mjs';
import { parley } from './harness.mjs';
import { spawnSync } from 'node:child_process';
import { openUpstream } from './upstreams.mjs';

const question = { questions: [{ question: 'Really?', options: [{ label: 'yes' }, { label: 'no' }] }] };
const shell = { name: 'shell', description: 'Runs a command', input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] } };

// The node of the first reader becomes the owner, and keeps the session while the reader is connected.
async function owned(t, made, fields = {}) {
  const [a] = made.nodes;
  const { id } = await a.client.createSession(fields);
  const reader = new Reader(made, id, a);
  t.after(() => reader.close());
  await until(() => reader.snapshots, 'the owner has a reader');
  return { id, reader };
}

// An answer without the parts that differ between requests.
const plain = ({ status, headers, text }) => ({ status, type: headers['content-type'], etag: headers.etag, position: headers['x-stream-position'], text: text.replace(/"request_id":"[^"]*"/g, '') });

test('every route of a session answers on another node as on its owner', { skip }, async (t) => {
  const upstream = await openUpstream();
  t.after(() => upstream.close());
  const made = await cluster(t, 3, { env: upstream.env() });
  const [a, b, c] = made.nodes;
  const { id } = await owned(t, made);
  await b.client.chat(id, { message: 'hello there' });
  await settled(c.client, id);
  await c.client.chat(id, { message: script(`call AskUserQuestion ${JSON.stringify(question)}`, '---', 'say thanks') });
  await settled(b.client, id);
  const path = `/api/sessions/${id}`;
  const { turns } = await a.client.messages(id);
  const [{ tool_call_id: asked }] = await b.client.questions(id);
  assert.equal(made.owner(id), a.name);

  // Reads: the same bytes on all nodes.
  const reads = {
    'GET /api/sessions/{id}': '', 'GET /api/sessions/{id}/context': '/context', 'GET /api/sessions/{id}/export': '/export',
    'GET /api/sessions/{id}/messages': '/messages?limit=100', 'GET /api/sessions/{id}/outline': '/outline', 'GET /api/sessions/{id}/questions': '/questions',
    'GET /api/sessions/{id}/turns/{turn_id}': `/turns/${turns[1].turn_id}`,
  };
  for (const rest of Object.values(reads)) {
    const own = plain(await a.ask('GET', path + rest));
    assert.equal(own.status, 200, own.text);
    for (const node of [b, c]) {
      const seen = plain(await node.ask('GET', path + rest));
      if (rest !== '/export') assert.deepEqual(seen, own, `${rest} on ${node.name}`);
      else assert.equal(seen.text.replace(/"exported_at":"[^"]*"/, ''), own.text.replace(/"exported_at":"[^"]*"/, ''));
    }
    assert.equal((await b.ask('GET', `${path}${rest}`.replace(id, 'sess_01a1edc0-2784-73c0-b3f0-1afe41b2dc10'))).status, 404);
  }
  for (const node of [b, c]) {
    assert.deepEqual((await node.ask('GET', `/api/sessions?limit=100`)).json.items.find((item) => item.id === id), (await a.ask('GET', '/api/sessions?limit=100')).json.items.find((item) => item.id === id));
  }

  // Changes, each through another node: the owner shows it at once.
  const done = new Set();
  const change = async (node, method, rest, body) => {
    const answer = await node.ask(method, path + rest, { body });
    assert.ok(answer.status < 300, `${method} ${rest} on ${node.name}: ${answer.text}`);
    tellsNothing(answer.text);
    done.add(`${method} /api/sessions/{id}${rest.replace(asked, '{tool_call_id}')}`);
    for (const other of made.nodes) {
      const [own, seen] = [await a.raw('GET', path), await other.raw('GET', path)];
      if (own.headers.etag && own.headers.etag === seen.headers.etag) assert.equal(seen.text, own.text);
    }
    return answer;
  };
  await change(b, 'POST', `/questions/${asked}/answer`, { answer: { 'Really?': 'yes' } });
  await settled(c.client, id);
  await change(c, 'PATCH', '', { intent: 'from elsewhere' });
  assert.equal((await a.raw('GET', path)).json.intent, 'from elsewhere');
  await change(b, 'PATCH', '/pin', { is_pinned: true });
  await change(c, 'PATCH', '/memory', { memory_enabled: false });
  await change(b, 'PATCH', '/sharing', { shared: true });
  const shared = (await change(c, 'POST', '/share', {})).json;
  for (const node of made.nodes) assert.equal((await node.raw('GET', shared.path, { key: null })).status, 200);
  const etag = (await b.ask('GET', path)).headers.etag;
  assert.equal((await b.ask('PATCH', path, { body: { intent: 'again' }, headers: { 'If-Match': etag } })).status, 200);
  assert.equal((await c.ask('PATCH', path, { body: { intent: 'too late' }, headers: { 'If-Match': etag } })).status, 412);
  const forked = (await change(b, 'POST', '/fork', {})).json;
  assert.equal((await c.client.messages(forked.id)).turns.length, (await a.client.messages(id)).turns.length);
  const replay = (await change(c, 'POST', '/replay', { speed: 0.01 })).json;
  const paused = await b.ask('PATCH', `/api/sessions/${replay.id}/replay`, { body: { status: 'paused', speed: 0 } });
  assert.equal(paused.json.replay_state?.status, 'paused', paused.text);
  assert.deepEqual((await a.ask('GET', `/api/sessions/${replay.id}`)).json.replay_state, paused.json.replay_state);
  done.add('PATCH /api/sessions/{id}/replay');
  await change(b, 'POST', '/handoff', { target: 'somebody' });
  const exported = (await b.ask('GET', `${path}/export`)).json;
  const imported = await c.ask('POST', '/api/sessions/import', { body: { document: exported, intent: 'imported' } });
  assert.ok(imported.status < 300, imported.text);
  await change(c, 'POST', '/compact', {});
  await settled(b.client, id);
  // An answer as an event stream, through a node that does not own the session.
  const events = await b.raw('POST', `${path}/chat`, { body: { message: 'as events' }, headers: { accept: 'text/event-stream' } });
  assert.equal(events.status, 200);
  assert.match(events.text, /event: chat:end|event: turn:end/);
  done.add('POST /api/sessions/{id}/chat');
  await b.client.chat(id, { message: script('say begun', 'wait 600000') });
  await until(async () => (await c.client.session(id)).status === 'running', 'it runs');
  await change(c, 'POST', '/stop', {});
  await until(async () => (await b.client.session(id)).status === 'interrupted' || (await b.client.session(id)).status === 'cancelled' || (await b.client.session(id)).status === 'stopped', 'it is stopped');

  // A client's tool; the result is sent through another node.
  upstream.next({ calls: [{ name: 'shell', args: { command: 'ls' } }] }, { say: 'Done.' });
  const mine = await owned(t, made, { model: 'openai-chat/gpt-4o', tools: [shell] });
  await b.client.chat(mine.id, { message: 'look around' });
  const call = await until(async () => (await c.client.messages(mine.id)).turns.flatMap((turn) => turn.tool_calls).find((one) => one.status === 'pending'), 'a call waits');
  assert.equal((await c.ask('POST', `/api/sessions/${mine.id}/tool-calls/${call.id}/result`, { body: { result: { files: ['a'] } } })).status, 200);
  done.add('POST /api/sessions/{id}/tool-calls/{tool_call_id}/result');
  await settled(b.client, mine.id);
  assert.match(textOf((await b.client.messages(mine.id)).turns.at(-1)), /Done\./);

  await change(b, 'DELETE', '', undefined);
  for (const node of made.nodes) assert.equal((await node.raw('GET', path)).status, 404);
  assert.equal((await c.ask('POST', `/api/deleted/${id}/restore`)).status, 200);
  for (const node of made.nodes) assert.equal((await node.raw('GET', path)).json?.intent, 'again');
  await b.client.chat(id, { message: 'back again' });
  await settled(c.client, id);

  // Every described route was tested.
  const described = Object.entries((await a.raw('GET', '/openapi.json', { key: null })).json.paths).filter(([template]) => /^\/api\/sessions\/\{id\}/.test(template))
    .flatMap(([template, methods]) => Object.keys(methods).filter((method) => /^(get|post|patch|put|delete)$/.test(method)).map((method) => `${method.toUpperCase()} ${template}`));
  const covered = new Set([...Object.keys(reads), ...done, 'GET /api/sessions/{id}/events']);
  assert.deepEqual(described.filter((route) => !covered.has(route)), [], 'every route is asked from another node');
});

// Every node has heard of all others.
const acquainted = (made) => until(async () => (await Promise.all(made.there.map((node) => node.ask('GET', '/api/cluster'))))
  .every(({ json }) => json.nodes.length === made.there.length), 'the nodes know each other');

test('event streams, live lists and questions reach every node', { skip }, async (t) => {
  const made = await cluster(t, 3);
  const [a, b, c] = made.nodes;
  await acquainted(made);
  const lists = [];
  for (const node of [b, c]) {
    const socket = closing(t, await new Socket(node).opened);
    assert.equal((await socket.ask('user:subscribe')).ok, true);
    lists.push(socket);
  }
  // No one on `a` follows a list.
  const { id } = await a.client.createSession();
  for (const socket of lists) await socket.next(({ event, data }) => event === 'session:updated' && data.session?.id === id, 'a new session is listed');
  await a.client.chat(id, { message: script(`call AskUserQuestion ${JSON.stringify(question)}`, '---', 'say thanks') });
  for (const socket of lists) await socket.next(({ event, data }) => event === 'session:updated' && data.session?.status === 'waiting_for_input', 'that it waits is told');
  const socket = closing(t, await new Socket(b).opened);
  await socket.ask('session:subscribe', { session_id: id });
  const { data: { questions } } = await socket.next(({ event }) => event === 'session:snapshot', 'a snapshot');
  assert.equal(questions.length, 1);
  const answer = await socket.ask('chat:send', { session_id: id, askuser_answer: { tool_call_id: questions[0].tool_call_id, answer: { 'Really?': 'yes' } } });
  assert.equal(answer.ok, true, JSON.stringify(answer));
  await settled(c.client, id);
  await a.ask('DELETE', `/api/sessions/${id}`);
  for (const list of lists) await list.next(({ event }) => event === 'session:deleted', 'the end is told');
  await socket.next(({ event, data }) => event?.includes('error') || event?.includes('lost') || event?.includes('unsubscribed') || data?.session_id === id, 'its reader is told');
});

test('who listens on a node that another one does not know yet is told to read the lists again', { skip }, async (t) => {
  const made = await cluster(t, 1);
  const [a] = made.nodes;
  made.hold(a); // it does not hear of the next node
  const b = await made.add();
  const socket = closing(t, await new Socket(b).opened);
  assert.equal((await socket.ask('user:subscribe')).ok, true);
  made.letGo(a);
  await socket.next(({ event }) => event === 'user:missed', 'some events may be missing');
  await acquainted(made);
  const { id } = await a.client.createSession();
  await socket.next(({ event, data }) => event === 'session:updated' && data.session?.id === id, 'the events come from now on');
});

test('a command longer than a letter arrives, and a frame longer than one is a new beginning', { skip }, async (t) => {
  const made = await cluster(t, 3);
  const [, b, c] = made.nodes;
  const { id, reader } = await owned(t, made);
  const readers = [reader, new Reader(made, id, b), new Reader(made, id, c, { content: 'always' })];
  t.after(() => Promise.all(readers.map((one) => one.close())));
  await until(() => readers.every(({ snapshots }) => snapshots), 'all listen');
  const text = `${'long '.repeat(180_000)}end`; // 900 KiB
  const said = await b.ask('POST', `/api/sessions/${id}/chat`, { body: { message: text } });
  assert.equal(said.status, 202, said.text.slice(0, 500));
  await settled(c.client, id);
  const { turns } = await c.client.messages(id);
  assert.equal(textOf(turns[0]), text);
  assert.equal(textOf(turns[1]), text);
  await checkReaders(made, readers);
});

test('letters that are lost, sent twice or forged change nothing that anybody sees', { skip: skip || (hasNats && 'of letters by the database') }, async (t) => {
  const made = await cluster(t, 3);
  const [, b, c] = made.nodes;
  const { id, reader } = await owned(t, made);
  const readers = [reader, new Reader(made, id, b), new Reader(made, id, c)];
  t.after(() => Promise.all(readers.map((one) => one.close())));
  await until(() => readers.every(({ snapshots }) => snapshots), 'all listen');
  // Inserts of rows are dropped or doubled, or get another body.
  made.sql(`CREATE TABLE luck (n BIGINT); INSERT INTO luck VALUES (0);
    CREATE FUNCTION mishap() RETURNS trigger AS $$ BEGIN
      IF random() < 0.25 THEN RETURN NULL; END IF;
      IF random() < 0.2 AND pg_trigger_depth() < 2 THEN
        INSERT INTO letters (receiver, sender, number, sent_ms, body) VALUES (NEW.receiver, NEW.sender, NEW.number, NEW.sent_ms, NEW.body);
        INSERT INTO letters (receiver, sender, number, sent_ms, body) VALUES (NEW.receiver, '\\x${randomBytes(16).toString('hex')}', 1, NEW.sent_ms, set_byte(NEW.body, length(NEW.body) / 2, (get_byte(NEW.body, length(NEW.body) / 2) + 1) % 256));
        INSERT INTO letters (receiver, sender, number, sent_ms, body) VALUES (NEW.receiver, '\\x${randomBytes(16).toString('hex')}', 2, NEW.sent_ms, '\\x${randomBytes(300).toString('hex')}');
      END IF;
      RETURN NEW; END $$ LANGUAGE plpgsql;
    CREATE TRIGGER mishap BEFORE INSERT ON letters FOR EACH ROW EXECUTE FUNCTION mishap()`);
  const names = [];
  for (let i = 0; i < 6; i++) {
    const name = `m${i}`;
    const answer = await insist({ any: () => made.nodes[1 + i % 2], get there() { return made.there; } }, 'POST', `/api/sessions/${id}/chat`,
      { body: { message: script(...Array.from({ length: 20 }, (_, k) => `say ${name}w${k} \nwait 20`)), client_message_id: name } }, ({ status }) => status === 202);
    names.push([name, answer.json.turn_id]);
    const patched = await insist(made, 'PATCH', `/api/sessions/${id}`, { body: { intent: name } }, ({ status }) => status === 200);
    assert.equal(patched.json.intent, name);
  }
  made.sql('DROP TRIGGER mishap ON letters');
  await until(async () => (await made.nodes[0].client.session(id)).status === 'completed', 'it comes to rest');
  await checkReaders(made, readers);
  const { turns } = await stored(b, id);
  assert.deepEqual(turns.filter(({ role }) => role === 'user').map((turn) => turn.client_message_id), names.map(([name]) => name));
  for (const turn of turns.filter(({ role }) => role === 'assistant')) assert.equal(textOf(turn).trim().split(' ').length, 20);
  for (const node of made.nodes) assert.equal(node.child.exitCode, null);
});

test('two nodes of the same name are two nodes, and a bus that is not there is only slow', { skip }, async (t) => {
  const made = new Cluster(t);
  const a = await made.add('same');
  const b = await made.add('same');
  const c = await made.add('lost', { args: ['--bus', 'nats://127.0.0.1:9'] });
  assert.equal(made.sql("SELECT count(*) FROM nodes WHERE state = 'up'"), '3');
  const { id } = await a.client.createSession();
  for (const [i, node] of [b, c, a].entries()) {
    await insist({ any: () => node }, 'POST', `/api/sessions/${id}/chat`, { body: { message: `word ${i}`, client_message_id: `m${i}` } }, ({ status }) => status === 202);
    await settled(node.client, id);
  }
  for (const node of [a, b, c]) assert.equal((await node.client.messages(id)).turns.length, 6);
  assert.equal((await c.raw('GET', '/readyz', { key: null })).status, 200);
  // An invalid address is reported at start.
  const wrong = spawnSync(parley, ['serve', '--port', '0', '--data', `${a.data}-wrong`, '--store', made.url, '--bus', 'http://example'], { encoding: 'utf8', timeout: 60_000 });
  assert.notEqual(wrong.status, 0);
  assert.match(wrong.stderr, /nats:\/\//);
});
