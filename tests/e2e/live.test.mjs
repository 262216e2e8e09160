// Readers of a session: their view equals the server's state, however often the connection breaks.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import {
  LiveError, RawSocket, SessionView, Socket, clientOf, closing, endsWell, sameAsServer, script, serve, settled,
  textOf, until,
} from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const live = (t, options) => closing(t, client.live({ retryMs: 1, ...options }));

// Two thousand patches in a few seconds: thinking and text alternate, so that each ends the other's block.
const talk = (n, pause) => script(...Array.from({ length: n / 2 },
  (_, i) => `think t${i}\nsay s${i}\nwait ${pause}`));

test('loading and then subscribing shows every event once', async (t) => {
  const { id } = await client.createSession();
  await client.chat(id, { message: script(...Array.from({ length: 30 }, () => 'repeat 200 word\nwait 30')) });
  const { turns, position } = await client.messages(id);
  const view = new SessionView();
  view.load(turns, position);
  await until(async () => (await client.messages(id)).position.sequence > position.sequence, 'it goes on');
  const reader = live(t);
  const sequences = [];
  reader.onevent = ({ event, data }) => {
    assert.notEqual(event, 'session:snapshot');
    if (data.session_id === id) sequences.push(data.sequence);
  };
  await reader.subscribe(id, { from: view });
  await settled(client, id);
  await sameAsServer(client, id, view);
  assert.ok(sequences.length > 3);
  sequences.forEach((sequence, i) => assert.equal(sequence, position.sequence + 1 + i));
});

// The number of comparisons during one answer: a slow machine has few opportunities.
async function compare(t) {
  const { id } = await client.createSession();
  const reader = live(t);
  const view = await reader.subscribe(id);
  const seen = new Map();
  const hash = (value) => createHash('sha1').update(JSON.stringify(value)).digest('hex');
  let turnId;
  reader.listen(id, ({ event, data }) => {
    if (event === 'turn:start' && data.turn.role === 'assistant') turnId ??= data.turn.turn_id;
    if (turnId) seen.set(data.sequence, hash(view.turns.get(turnId)));
  });
  await client.chat(id, {
    message: script('think hm', ...Array.from({ length: 40 }, () => 'repeat 30 abcdefgh\nwait 20'), 'say more words',
      'block text "whole"', 'wait 30', 'call echo {"a":[1,2,{"b":"ü\\n"}]}', 'wait 30', 'say after', '---',
      'repeat 2000 xyz', 'say done'),
  });
  await until(() => turnId, 'the assistant begins');
  let n = 0;
  for (let over = false; !over;) {
    const response = await client.request('GET', `/api/sessions/${id}/turns/${turnId}`);
    const [epoch, sequence] = response.headers.get('x-stream-position').split(':').map(Number);
    const turn = await response.json();
    assert.equal(epoch, 1);
    await until(() => view.position.sequence >= sequence, 'the reader comes to the position');
    /* A finished turn keeps its last hash. */
    const at = Math.max(...[...seen.keys()].filter((key) => key <= sequence));
    assert.equal(seen.get(at), hash(turn), `at ${sequence}`);
    n++;
    over = (await client.session(id)).status === 'completed';
  }
  const turns = await sameAsServer(client, id, view);
  assert.equal(turns.length, 3);
  return n;
}

test('during streaming and at the end a reader equals GET at the same position', async (t) => {
  for (let n = 0; n < 3;) n += await compare(t);
});

test('readers cut at every one of 2,000 patches resume without a gap', async (t) => {
  const { id } = await client.createSession();
  const N = 20;
  const cuts = new Set();
  const modes = new Set();
  const readers = await Promise.all(Array.from({ length: N }, async (_, lane) => {
    const reader = live(t);
    const view = await reader.subscribe(id);
    reader.onevent = ({ event, data }) => {
      if (event === 'session:snapshot') modes.add(data.mode);
    };
    reader.listen(id, ({ event, data }) => {
      if (event !== 'turn:patch' || data.sequence % N !== lane || cuts.has(data.sequence)) return;
      cuts.add(data.sequence);
      reader.cut();
    });
    return { reader, view };
  }));
  const { turn_id: said } = await client.chat(id, { message: talk(2000, 5) });
  assert.match(said, /^turn_/);
  await settled(client, id);
  const { position } = await client.messages(id);
  for (const { view } of readers)
    await until(() => view.position.sequence === position.sequence, 'every reader comes to the end');
  assert.ok(cuts.size >= 2000, `cut at ${cuts.size} patches`);
  for (const { view } of readers) await sameAsServer(client, id, view);
  assert.deepEqual([...modes], [], 'all that was missed was still held');
});

test('what is no longer held comes compacted, and a foreign epoch as a snapshot', async (t) => {
  const { id } = await client.createSession();
  const reader = live(t);
  const view = await reader.subscribe(id);
  await client.chat(id, { message: 'first' });
  await settled(client, id);
  await sameAsServer(client, id, view);
  reader.close();
  /* Over 1 MiB of events: the session drops the oldest ones. */
  await client.chat(id, { message: script(`repeat 3000 ${'x'.repeat(512)}`) });
  await settled(client, id);
  const socket = closing(t, await new Socket(server).opened);
  const { data } = await socket.ask('session:subscribe', { session_id: id, since: view.position });
  assert.equal(data.mode, 'compacted');
  const frame = await socket.next(({ event }) => event === 'session:snapshot');
  assert.equal(frame.data.mode, 'compacted');
  assert.deepEqual(frame.data.turns.map((turn) => turn.role), ['user', 'assistant']);
  view.apply(frame);
  await sameAsServer(client, id, view);

  const other = closing(t, await new Socket(server).opened);
  for (const since of [{ epoch: 7, sequence: 3 }, { epoch: 1, sequence: 10 ** 9 }, { epoch: 0, sequence: 0 }]) {
    const answer = await other.ask('session:subscribe', { session_id: id, since });
    assert.equal(answer.data.mode, 'snapshot');
  }
  const replayed = await other.ask('session:subscribe', { session_id: id, since: view.position });
  assert.equal(replayed.data.mode, 'replay');
  assert.deepEqual(replayed.data.position, view.position);
});

test('a reader that stops reading gets a snapshot instead of its queue, and others do not notice', async (t) => {
    const { id } = await client.createSession();
    const raw = closing(t, await new RawSocket(server).open());
    raw.send(1, JSON.stringify({ id: 1, event: 'session:subscribe', data: { session_id: id, content: 'always' } }));
    await raw.next(({ payload }) => String(payload).startsWith('{"ack":1'));
    const quick = live(t);
    const snapshots = [];
    quick.onevent = ({ event, data }) => event === 'session:snapshot' && snapshots.push(data.sequence);
    const view = await quick.subscribe(id);
    raw.net.pause();
    const text = 'y'.repeat(600);
    await client.chat(id, { message: script(...Array.from({ length: 400 }, () => `repeat 1 ${text}\nwait 1`)) });
    await settled(client, id);
    await sameAsServer(client, id, view);
    assert.equal(snapshots.length, 1, 'only the first one');
    raw.net.resume();
    const slow = new SessionView();
    let n = 0;
    await until(() => {
      for (let one = raw.take(); one; one = raw.take()) {
        if (one.opcode !== 1) continue;
        const event = JSON.parse(String(one.payload));
        if (event.event === 'session:snapshot') n++;
        slow.apply(event);
      }
      return slow.position?.sequence === view.position.sequence;
    }, 'the slow reader comes to the end', 60_000);
    assert.ok(n >= 2, `${n} snapshots`);
    await sameAsServer(client, id, slow);
    const metrics = await (await client.request('GET', '/metrics')).text();
    assert.match(metrics, /^parley_socket_slow_total(\{[^}]*\})? [1-9]/m);
  });

test('content always gives the whole text of the block with every patch', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  const plain = closing(t, await new Socket(server).opened);
  await socket.ask('session:subscribe', { session_id: id, content: 'always' });
  await plain.ask('session:subscribe', { session_id: id });
  await client.chat(id, { message: script(...Array.from({ length: 20 }, (_, i) => `say word${i} \nwait 25`)) });
  await settled(client, id);
  await socket.next(({ event }) => event === 'chat:end');
  await plain.next(({ event }) => event === 'chat:end');
  const patches = socket.events('turn:patch').filter(({ data }) => 'text_delta' in data.data);
  assert.ok(patches.length >= 10);
  let text = '';
  for (const { data: { data } } of patches) {
    text += data.text_delta;
    assert.equal(data.content, text);
  }
  const total = plain.events('turn:patch').map(({ data: { data } }) => data.content ?? '').join('').length;
  assert.ok(total <= 2 * text.length + 512, `${total} bytes of content for ${text.length} of text`);
  const last = plain.events('turn:patch').findLast(({ data }) => 'text_delta' in data.data);
  assert.equal(last.data.data.content, text, 'a closed block is said whole');
});

test('an event stream tells the same, and resumes by Last-Event-ID', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  await socket.ask('session:subscribe', { session_id: id });
  // Reads events until one matches; returns them with their ids.
  let begun = false;
  const read = async (headers, isLast) => {
    const response = await fetch(`${server.url}/api/sessions/${id}/events`,
      { headers: { authorization: `Bearer ${server.key}`, ...headers } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const events = [];
    let text = '';
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      text += decoder.decode(piece.value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const fields = Object.fromEntries(text.slice(0, end).split('\n').filter((line) => !line.startsWith(':'))
          .map((line) => line.split(/: (.*)/s).slice(0, 2)));
        text = text.slice(end + 2);
        if (!fields.event) continue;
        events.push({ id: fields.id, event: fields.event, data: JSON.parse(fields.data) });
        begun = true;
        if (isLast(events.at(-1))) {
          await reader.cancel();
          return events;
        }
      }
    }
    return events;
  };
  const all = read({}, ({ event }) => event === 'chat:end');
  await until(() => begun, 'the stream has begun');
  await client.chat(id, { message: script('say one two three', 'wait 30', 'say four', 'wait 30', 'say five') });
  const events = await all;
  await socket.next(({ event }) => event === 'chat:end');
  assert.equal(events[0].event, 'session:snapshot');
  assert.deepEqual(events.slice(1).map(({ event, data }) => ({ event, data })),
    socket.frames.filter(({ event, data }) => event && event !== 'session:snapshot'
      && data.sequence <= events.at(-1).data.sequence));
  for (const { id: position, data } of events) assert.equal(position, `1:${data.sequence}`);
  const middle = events[Math.floor(events.length / 2)];
  const rest = await read({ 'last-event-id': middle.id }, ({ event }) => event === 'chat:end');
  assert.deepEqual(rest, events.slice(events.indexOf(middle) + 1));
});

test('one socket listens to many sessions, and to each on its own', async (t) => {
  const sessions = await Promise.all(Array.from({ length: 30 }, () => client.createSession()));
  const reader = live(t);
  const views = await Promise.all(sessions.map(({ id }) => reader.subscribe(id)));
  await reader.unsubscribe(sessions[0].id);
  await Promise.all(sessions.map(({ id }, i) => client.chat(id, { message: `words for number ${i}` })));
  await Promise.all(sessions.map(({ id }) => settled(client, id)));
  for (let i = 1; i < sessions.length; i++) {
    const turns = await sameAsServer(client, sessions[i].id, views[i]);
    assert.equal(textOf(turns[1]), `words for number ${i}`, JSON.stringify(turns));
  }
  assert.equal(views[0].turns.size, 0, 'an unsubscribed session is silent');
  await reader.unsubscribe(sessions[0].id);
});

test('a 257th session on one socket is refused', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  /* Sessions that do not exist are refused one by one, and do not count. */
  for (let i = 0; i < 3; i++) {
    const { ok, error } = await socket.ask('session:subscribe', { session_id: `${id.slice(0, -3)}00${i}` });
    assert.deepEqual([ok, error.code], [false, 'not_found']);
  }
  const many = await Promise.all(Array.from({ length: 256 }, () => client.createSession()));
  for (const session of many) assert.equal((await socket.ask('session:subscribe', { session_id: session.id })).ok, true);
  const refused = await socket.ask('session:subscribe', { session_id: id });
  assert.equal(refused.error.code, 'rate_limited');
});

test('deleting a session tells its listeners, and stops what it did', async (t) => {
  const { id } = await client.createSession();
  const reader = live(t);
  const lost = [];
  reader.onlost = (session, problem) => lost.push([session, problem.code]);
  await reader.subscribe(id);
  const stream = await fetch(`${server.url}/api/sessions/${id}/events`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  await client.chat(id, { message: script('wait 60000') });
  await client.deleteSession(id);
  await until(() => lost.length, 'the listener is told');
  assert.deepEqual(lost, [[id, 'not_found']]);
  const told = await stream.text();
  assert.match(told, /event: system:error\ndata: .*not_found/);
  await assert.rejects(client.session(id), ({ problem }) => problem.status === 404);
  await assert.rejects(reader.subscribe(id), LiveError);
  const metrics = await (await client.request('GET', '/metrics')).text();
  assert.match(metrics, /^parley_turns_running(\{[^}]*\})? 0$/m);
});

test('the server ends in good order', () => endsWell(server));
