// Messages to and from a client: patches alone describe a turn, REST and the socket accept the same messages, and a
// chat may be answered with its own events.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, test } from 'node:test';
import { Socket, clientOf, closing, endsWell, script, serve, settled, textOf, until } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;
const question = `call AskUserQuestion ${JSON.stringify({ questions: [{ question: 'Which?', options: [{ label: 'A' }] }] })}`;
const asked = (id) => until(async () => (await client.questions(id))[0], 'a question');

// A client of seed 003 that handles only turn:patch.
function patched(frames) {
  const turns = new Map();
  for (const { event, data } of frames) {
    if (event !== 'turn:patch') continue;
    const turn = turns.get(data.turn_id) ?? { status: 'streaming', calls: new Map(), text: '' };
    turns.set(data.turn_id, turn);
    const { data: patch } = data;
    if (data.patch_type === 'set_status') turn.status = patch.status;
    else if (data.patch_type === 'add_tool_call') turn.calls.set(patch.id, patch.status);
    else if (data.patch_type === 'add_content') turn.text += patch.text_delta ?? '';
    else turn.calls.set(patch.tool_call_id, patch.status);
  }
  return turns;
}

const ways = {
  completed: { message: script('say done') },
  failed: { message: script('say so far', 'fail the line broke') },
  interrupted: { message: script('say waiting', 'call wait {"ms":60000}', question), stops: true },
};
for (const [status, { message, stops }] of Object.entries(ways)) {
  test(`patches alone tell that a turn is ${status}, and what became of its calls`, async (t) => {
    const { id } = await client.createSession({ model: 'demo/agent' });
    const socket = closing(t, await new Socket(server).opened);
    await socket.ask('session:subscribe', { session_id: id });
    await client.chat(id, { message });
    if (stops) {
      await asked(id);
      await client.stop(id);
    }
    await socket.next(({ event }) => event === 'chat:end');
    const told = patched(socket.frames);
    for (const turn of await turnsOf(id)) {
      const patches = told.get(turn.turn_id);
      assert.equal(patches.status, turn.status);
      assert.deepEqual([...patches.calls], turn.tool_calls.map((call) => [call.id, call.status]));
    }
    const [, assistant] = await turnsOf(id);
    assert.equal(assistant.status, status);
    if (stops) assert.deepEqual(assistant.tool_calls.map((call) => call.status), ['cancelled', 'cancelled']);
    const ends = socket.frames.flatMap(({ event }, i) => (event === 'turn:end' ? [socket.frames[i - 1]] : []));
    for (const { event, data } of ends) assert.deepEqual([event, data.patch_type], ['turn:patch', 'set_status']);
  });
}

test('every patch of text has the whole content where content is always wanted', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  await socket.ask('session:subscribe', { session_id: id, content: 'always' });
  await client.chat(id, { message: script('say one \nwait 25', 'say two \nwait 25', 'say three') });
  await socket.next(({ event }) => event === 'chat:end');
  let text = '';
  for (const { data: { patch_type: type, data } } of socket.events('turn:patch')) {
    if (type !== 'add_content') continue;
    text += data.text_delta;
    assert.equal(data.content, text);
  }
  assert.match(text, /one.*two.*three/s);
});

// --- the same messages -----------------------------------------------------------------------------------------------

// The answers of both to the same message.
async function both(id, message, t) {
  const socket = closing(t, await new Socket(server).opened);
  const overSocket = await socket.ask('chat:send', { session_id: id, ...message });
  const overRest = await server.raw('POST', `/api/sessions/${id}/chat`, { body: message });
  return [overSocket.ok ? null : overSocket.error, overRest.status < 300 ? null : overRest.json];
}

test('REST and the socket take the same parts and refuse the same, with the same words', async (t) => {
  const { id } = await client.createSession();
  for (const message of ['hi', [{ type: 'text', text: 'hi' }], [{ type: 'text', content: 'hi' }],
    [{ type: 'text', content: 'hi' }, { type: 'ask_user_answer', content: { a: 1 } }]])
    assert.deepEqual(await both(id, { message }, t), [null, null], JSON.stringify(message));
  const wrong = [
    {}, { message: '' }, { message: [] }, { message: 7 }, { message: null }, { message: 'x', client_mesage_id: 'c' },
    { message: 'x', mode: 'plan' }, { message: 'x', client_message_id: 7 }, { message: [{ text: 'x' }] },
    { message: [{ type: 'text' }] }, { message: [{ type: 'text', text: 7 }] }, { message: [{ type: 'txet', text: 'x' }] },
    { askuser_answer: 'A' }, { askuser_answer: { tool_call_id: 'tc_1' } }, { askuser_answer: { answer: 'A' } },
    { askuser_answer: { tool_call_id: 'tc_1', answer: 'A', why: 1 } },
    { askuser_answer: { tool_call_id: 'tc_1', answer: 'A' }, message: 'x' },
  ];
  for (const message of wrong) {
    const [socket, rest] = await both(id, message, t);
    assert.equal(socket?.code, 'invalid_request', JSON.stringify(message));
    assert.deepEqual([rest.code, rest.errors], [socket.code, socket.errors], JSON.stringify(message));
  }
  const [{ detail }] = await both(id, { message: 'x', client_mesage_id: 'c' }, t);
  assert.match(detail, /"client_mesage_id".*did you mean "client_message_id"/);
});

test('a question is answered with askuser_answer over REST as over the socket', async (t) => {
  for (const way of ['socket', 'rest']) {
    const { id } = await client.createSession({ model: 'demo/agent' });
    await client.chat(id, { message: script(question, '---', 'say thanks') });
    const { tool_call_id } = await asked(id);
    const answer = { askuser_answer: { tool_call_id, answer: { Which: 'A' } } };
    if (way === 'rest') await client.chat(id, answer);
    else {
      const socket = closing(t, await new Socket(server).opened);
      assert.equal((await socket.ask('chat:send', { session_id: id, ...answer })).ok, true);
    }
    await settled(client, id);
    assert.equal(textOf((await turnsOf(id)).at(-1)), 'thanks');
  }
});

test('what a chat may say over the socket is what it may say over REST', async () => {
  const { $defs: schemas, components } = (await server.raw('GET', '/openapi.json', { key: null })).json;
  const { ChatRequest, SocketChat, CompactRequest, SocketCompact } = components?.schemas ?? schemas;
  const names = ({ properties }) => Object.keys(properties).sort();
  assert.deepEqual(names(SocketChat), [...names(ChatRequest), 'session_id'].sort());
  assert.deepEqual(names(SocketCompact), [...names(CompactRequest), 'session_id'].sort());
});

test('a frame with an unknown or mistyped member is refused, with its place and a suggestion', async (t) => {
  const { id } = await client.createSession();
  const socket = closing(t, await new Socket(server).opened);
  const wrong = [
    ['session:subscribe', { session_id: id, since: '1:60' }, '/since'],
    ['session:subscribe', { session_id: id, since: { epoch: 1 } }, '/since'],
    ['session:subscribe', { session_id: id, since: { epoch: '1', sequence: 2 } }, '/since/epoch'],
    ['session:subscribe', { session_id: id, since: { epoch: 1, sequence: -2 } }, '/since/sequence'],
    ['session:subscribe', { session_id: id, content: 'allways' }, '/content'],
    ['session:subscribe', { session_id: 7 }, '/session_id'],
    ['session:subscribe', { sesion_id: id }, ''],
    ['session:unsubscribe', { session_id: id, now: true }, ''],
    ['chat:stop', { session_id: id, reason: 'x' }, ''],
    ['chat:compact', { session_id: id, loop_id: 7 }, '/loop_id'],
    ['chat:compact', {}, ''],
  ];
  for (const [event, data, pointer] of wrong) {
    const { ok, error } = await socket.ask(event, data);
    assert.deepEqual([ok, error?.code], [false, 'invalid_request'], JSON.stringify(data));
    assert.ok(error.errors.some((one) => one.pointer.startsWith(pointer)), JSON.stringify(error));
  }
  const { error } = await socket.ask('session:subscribe', { session_id: id, sinse: { epoch: 1, sequence: 1 } });
  assert.match(error.detail, /did you mean "since"/);
  for (const frame of [{ id: 'a', event: 'ping', dta: {} }, { id: 'b', event: 'ping', data: [] }, { id: 'c', event: 7 }, { id: 'd' }]) {
    socket.send(frame);
    const answer = await socket.next(({ ack }) => ack === frame.id);
    assert.equal(answer.error.code, 'invalid_request', JSON.stringify(frame));
  }
  assert.equal((await socket.ask('session:subscribe', { session_id: id, since: null, content: null })).ok, true);
});

// --- a chat answered with its events ---------------------------------------------------------------------------------

// A raw connection: the head and the events of an answer as they arrive.
class Stream {
  constructor(id, message, { headers = {}, path = `/api/sessions/${id}/chat` } = {}) {
    const { hostname, port } = new URL(server.url);
    const body = JSON.stringify(message);
    this.text = '';
    this.isOver = false;
    this.net = connect(port, hostname, () => this.net.write([
      `POST ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${server.key}`, 'Accept: text/event-stream',
      'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n')));
    this.net.setEncoding('utf8').on('data', (data) => { this.text += data; });
    this.net.on('close', () => { this.isOver = true; }).on('error', () => {});
  }

  get head() { return this.text.split('\r\n\r\n')[0]; }

  get events() {
    return this.text.slice(this.head.length + 4).split('\n\n').slice(0, -1).map((event) => {
      const fields = Object.fromEntries(event.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]));
      return fields.event && { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
    }).filter(Boolean);
  }

  over() { return until(() => this.isOver && this, 'the end of the stream'); }

  heard(name) { return until(() => this.events.find(({ event }) => event === name), name); }
}

test('a chat with Accept: text/event-stream is answered with its events, to its end', async (t) => {
  const { id } = await client.createSession({ model: 'demo/agent' });
  await client.chat(id, { message: script('say before') });
  await settled(client, id);
  const socket = closing(t, await new Socket(server).opened);
  await socket.ask('session:subscribe', { session_id: id });
  const stream = await new Stream(id, { message: script('say one ', 'wait 50', 'call calc {"expression":"6*7"}', '---', 'say two') }).over();
  assert.match(stream.head, /^HTTP\/1\.1 200 /);
  assert.match(stream.head, /content-type: text\/event-stream/i);
  const { events } = stream;
  assert.deepEqual([events[0].event, events.at(-1).event], ['chat:start', 'chat:end']);
  assert.equal(events.filter(({ event }) => event === 'chat:end').length, 1);
  // The same events, with the same ids, as all other readers get. The two connections end independently.
  await until(() => socket.frames.some(({ event }) => event === 'chat:end'), 'the end on the socket');
  const told = socket.frames.filter(({ event }) => event && event !== 'session:snapshot');
  const from = told.findIndex(({ event }) => event === 'chat:start');
  const same = told.slice(from, from + events.length);
  assert.deepEqual(events.map(({ event, data }) => ({ event, data })), same);
  for (const { id: name, data } of events) assert.match(name, new RegExp(`^\\d+:${data.sequence}$`));
  assert.equal(textOf((await turnsOf(id)).at(-1)), 'two');
});

test('the client gives the events of a chat one by one', async () => {
  const { id } = await client.createSession();
  const names = [];
  let text = '';
  for await (const { event, data } of client.stream(id, { message: 'hello there' })) {
    names.push(event);
    text += data.data?.text_delta ?? '';
  }
  assert.deepEqual([names[0], names.at(-1), text], ['chat:start', 'chat:end', 'hello there']);
});

test('the stream of a chat that waits has that chat only', async () => {
  const { id } = await client.createSession();
  const first = new Stream(id, { message: script('wait 300', 'say first') });
  await first.heard('turn:start');
  const second = new Stream(id, { message: 'second' });
  const third = new Stream(id, { message: 'third' });
  for (const stream of [first, second, third]) await stream.over();
  const texts = [first, second, third].map(({ events }) => {
    assert.deepEqual([events[0].event, events.at(-1).event], ['chat:start', 'chat:end']);
    return textOf(events.findLast(({ event }) => event === 'turn:end').data.turn);
  });
  assert.equal(texts[0], 'first');
  assert.deepEqual(texts.slice(1).sort(), ['second', 'third']);
});

test('a chat that interrupts, one that is stopped and one that is never begun end their streams', async () => {
  const { id } = await client.createSession();
  const first = new Stream(id, { message: script('say waiting', 'wait 60000') });
  await first.heard('turn:patch');
  const queued = new Stream(id, { message: 'later' });
  await until(async () => (await client.request('GET', `/api/sessions/${id}/messages`)).ok, 'the queue');
  await until(() => queued.text, 'the head of the answer');
  const second = new Stream(id, { message: script('say again', 'wait 60000'), when_busy: 'interrupt' });
  await first.over();
  assert.equal(first.events.at(-1).data.status, 'interrupted');
  await queued.over();
  assert.deepEqual(queued.events.map(({ event }) => event), ['chat:end']);
  assert.equal(queued.events[0].data.cancelled_messages.length, 1);
  await second.heard('turn:patch');
  await client.stop(id);
  await second.over();
  assert.deepEqual([second.events[0].event, second.events.at(-1).data.status], ['chat:start', 'interrupted']);
});

test('a stream goes on while a person is asked, and an answer is streamed too', async () => {
  const { id } = await client.createSession({ model: 'demo/agent' });
  const stream = new Stream(id, { message: script(question, '---', 'say thanks') });
  const { data: { question: { tool_call_id } } } = await stream.heard('question:asked');
  const answer = await new Stream(id, { askuser_answer: { tool_call_id, answer: 'A' } }).over();
  await stream.over();
  for (const { events } of [stream, answer]) {
    assert.equal(events.at(-1).event, 'chat:end');
    assert.equal(textOf(events.findLast(({ event }) => event === 'turn:end').data.turn), 'thanks');
  }
  assert.ok(!answer.events.some(({ event }) => event === 'chat:start'));
});

test('a disconnect does not cancel the work of a streamed chat', async () => {
  const { id } = await client.createSession();
  const stream = new Stream(id, { message: script('say one ', 'wait 200', 'say two') });
  await stream.heard('chat:start');
  stream.net.destroy();
  await settled(client, id);
  assert.equal(textOf((await turnsOf(id)).at(-1)), 'one two');
});

test('what is refused, and what was said before, is answered as JSON', async () => {
  const { id } = await client.createSession();
  const json = async (message, options) => {
    const stream = new Stream(id, message, options);
    await until(() => stream.text.includes('\r\n\r\n') && stream.text.endsWith('}'), 'an answer');
    stream.net.destroy();
    return [Number(stream.head.split(' ')[1]), JSON.parse(stream.text.slice(stream.head.length + 4))];
  };
  assert.equal((await json({ message: 7 }))[0], 400);
  const [status, steer] = await json({ message: 'x', when_busy: 'steer' });
  assert.deepEqual([status, steer.errors[0].pointer], [400, '/when_busy']);
  assert.equal((await json({ message: 'x' }, { path: '/api/sessions/sess_none/chat' }))[0], 404);
  await new Stream(id, { message: 'once', client_message_id: 'c1' }).over();
  const [code, again] = await json({ message: 'once', client_message_id: 'c1' });
  assert.deepEqual([code, again.duplicate], [202, true]);
  assert.equal((await turnsOf(id)).length, 2);
});

test('a long answer to a slow reader arrives whole, and its stream ends', async () => {
  const { id } = await client.createSession();
  const stream = new Stream(id, { message: script(`repeat 4000 ${'x'.repeat(500)}`) });
  stream.net.pause();
  await settled(client, id);
  stream.net.resume();
  await stream.over();
  const last = stream.events.at(-1);
  assert.ok(['chat:end', 'session:snapshot'].includes(last.event), last.event);
  const turn = last.event === 'chat:end' ? stream.events.findLast(({ event }) => event === 'turn:end').data.turn
    : last.data.turns.at(-1);
  assert.equal(textOf(turn).length, 2_000_000);
});

test('the server ends in good order', () => endsWell(server));
