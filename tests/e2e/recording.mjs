// Records real frames of a real server, one of each kind, for docs/reference/events.md: the page shows them, and
// its test compares their members with current frames.
import { Socket, clientOf, script, serve, settled, until } from './live.mjs';

const question = { questions: [{ question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue' }] }] };

// The name of an event in the page: a patch includes its type.
function nameOf({ event, data }) {
  if (event !== 'turn:patch') return event;
  return `turn:patch ${data.patch_type}${'text_delta' in data.data ? ' text' : ''}`;
}

// Keeps the first frame of each kind. A model's turns have more members than a person's.
class Shelf {
  constructor() {
    this.frames = new Map();
  }

  put(name, frame) {
    if (!this.frames.has(name)) this.frames.set(name, frame);
  }

  putEvents(socket) {
    for (const frame of socket.frames)
      if (frame.event && frame.data.turn?.role !== 'user') this.put(nameOf(frame), frame);
  }
}

// Sends a client's frame and records it with its answer.
async function say(shelf, socket, event, data) {
  const ack = await socket.ask(event, data);
  shelf.put(`> ${event}`, { id: ack.ack, event, data });
  shelf.put(`ack ${event}`, ack);
  return ack;
}

// A chat with a call that asks a person, with every kind of patch, and the session's other events.
async function recordChat(shelf, server, client) {
  await client.memories.create({ content: 'The house has a blue door.' });
  const { id } = await client.createSession({ intent: 'paint the house' });
  const socket = await new Socket(server).opened;
  await say(shelf, socket, 'session:subscribe', { session_id: id });
  await say(shelf, socket, 'chat:send', { session_id: id, client_message_id: 'c1', message: script(
    'think About the house.', 'say Let me ask.', `call AskUserQuestion ${JSON.stringify(question)}`, '---',
    'block plan_status {"title":"Paint","steps":[{"title":"Buy blue","status":"pending"}]}', 'say Blue it is, as the door of the house.') });
  const asked = await socket.next(({ event }) => event === 'question:asked');
  const { tool_call_id: call } = asked.data.question;
  const answer = await socket.ask('chat:send', { session_id: id, askuser_answer: { tool_call_id: call, answer: { 'Which colour?': 'blue' } } });
  shelf.put('> chat:send answer', { id: answer.ack, event: 'chat:send', data: { session_id: id, askuser_answer: { tool_call_id: call, answer: { 'Which colour?': 'blue' } } } });
  await socket.next(({ event }) => event === 'chat:end');
  shelf.putEvents(socket);
  const { position } = await client.messages(id);
  const again = await socket.ask('session:subscribe', { session_id: id, since: { epoch: position.epoch, sequence: position.sequence - 2 } });
  shelf.put('> session:subscribe since', { id: again.ack, event: 'session:subscribe', data: { session_id: id, since: { epoch: position.epoch, sequence: position.sequence - 2 } } });
  shelf.put('ack session:subscribe since', again);
  await say(shelf, socket, 'session:unsubscribe', { session_id: id });
  socket.close();
}

// Recalled memories are sent only if a memory matches the message.
async function recordMemory(shelf, server, client) {
  const { id } = await client.createSession();
  const socket = await new Socket(server).opened;
  await socket.ask('session:subscribe', { session_id: id });
  await client.chat(id, { message: 'Which door has the house?' });
  await socket.next(({ event }) => event === 'memory:inject:done');
  shelf.putEvents(socket);
  socket.close();
}

// A tool of the client, a stop, a summary, and refused commands.
async function recordCommands(shelf, server, client) {
  const tools = [{ name: 'door', description: 'Opens a door', input_schema: { type: 'object' } }];
  const { id } = await client.createSession({ tools });
  const socket = await new Socket(server).opened;
  await socket.ask('session:subscribe', { session_id: id });
  await client.chat(id, { message: script('call door {"which":"front"}', '---', 'wait 60000') });
  const waits = await socket.next(({ event, data }) => event === 'turn:patch' && data.patch_type === 'set_tool_status' && data.data.runs);
  shelf.put('turn:patch set_tool_status client', waits);
  await say(shelf, socket, 'tool:result', { session_id: id, tool_call_id: waits.data.data.tool_call_id, result: { open: true } });
  await socket.next(({ event, data }) => event === 'turn:start' && data.turn.role === 'assistant' && data.turn.sequence > 1);
  await say(shelf, socket, 'chat:stop', { session_id: id });
  await settled(client, id);
  await say(shelf, socket, 'chat:compact', { session_id: id });
  await socket.next(({ event, data }) => event === 'system:notification' || data?.turn?.kind === 'compaction');
  shelf.putEvents(socket);
  shelf.put('refused', await socket.ask('chat:send', { session_id: id }));
  await say(shelf, socket, 'ping', { at: 1 });
  socket.send({ event: 'nonsense' });
  await socket.next(({ event }) => event === 'system:error');
  shelf.putEvents(socket);
  socket.close();
}

// A summary that would save nothing is discarded, with a notice.
async function recordNotice(shelf, server, client) {
  const { id } = await client.createSession();
  const socket = await new Socket(server).opened;
  await socket.ask('session:subscribe', { session_id: id });
  await client.chat(id, { message: 'hello' });
  await settled(client, id);
  await socket.ask('chat:compact', { session_id: id });
  await socket.next(({ event }) => event === 'system:notification');
  shelf.putEvents(socket);
  socket.close();
}

// Lists: changes by another client of the same user.
async function recordLists(shelf, server, client) {
  const socket = await new Socket(server).opened;
  await say(shelf, socket, 'user:subscribe', {});
  const told = (name) => socket.next(({ event }) => event === name, name);
  const prompt = await client.prompts.create({ name: 'greeting', content: 'Hello {{name}}' });
  await told('prompt:updated');
  const { id } = await client.createSession();
  await client.chat(id, { message: 'hello' });
  await told('run:updated');
  await client.prompts.delete(prompt.id);
  await told('prompt:deleted');
  const task = await client.tasks.create({ title: 'daily', cron: '0 7 * * *', timezone: 'UTC', prompt: 'hello' });
  await client.tasks.run(task.id);
  await told('task:updated');
  await settled(client, id);
  for (const frame of socket.frames)
    if (frame.event) shelf.put(frame.event === 'session:updated' ? 'session:updated list' : frame.event, frame);
  await say(shelf, socket, 'user:unsubscribe', {});
  socket.close();
}

// The first message of a socket opened without a key.
async function recordAuth(shelf, server) {
  const socket = await new Socket(server, { key: null }).opened;
  const ack = await socket.ask('auth', { key: server.key });
  shelf.put('> auth', { id: 1, event: 'auth', data: { key: 'sk-parley-v1-…' } });
  shelf.put('ack auth', ack);
  return socket;
}

export async function record() {
  const shelf = new Shelf();
  const server = await serve();
  const client = clientOf(server);
  await recordChat(shelf, server, client);
  await recordMemory(shelf, server, client);
  await recordCommands(shelf, server, client);
  await recordNotice(shelf, server, client);
  await recordLists(shelf, server, client);
  const last = await recordAuth(shelf, server);
  await server.stop();
  await until(() => last.frames.some(({ event }) => event === 'system:going_away'), 'the farewell');
  shelf.putEvents(last);
  return shelf.frames;
}

// Frames as the page shows them: ids are short and stable, and times and durations do not change between recordings.
export function plain(frames) {
  const ids = new Map();
  const short = (whole, kind) => {
    if (!ids.has(whole)) ids.set(whole, `${kind}_${[...ids.values()].filter((id) => id.startsWith(`${kind}_`)).length + 1}`);
    return ids.get(whole);
  };
  const clean = (key, value) => {
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return '2026-11-18T09:00:00.000Z';
    if (typeof value === 'string' && /^[0-9a-f]{32}$/.test(value)) return '4bf92f3577b34da6a3ce929d0e0e4736';
    if (typeof value === 'string') return value.replace(/\b([a-z]+)_[0-9a-f]{8,}[0-9a-f-]*\b/g, short);
    return typeof value === 'number' && /(_ms|^ms)$/.test(key) ? 12 : value;
  };
  return new Map([...frames].map(([name, frame]) => [name, JSON.parse(JSON.stringify(frame, clean))]));
}

// The difference between two values in members or types, or ''. Null matches everything, an empty list every list.
export function difference(one, other, at = '') {
  if (one === null || other === null) return '';
  if (Array.isArray(one) && Array.isArray(other)) return one.length && other.length ? difference(one[0], other[0], `${at}/0`) : '';
  if (typeof one !== typeof other || Array.isArray(one) !== Array.isArray(other)) return `${at}: ${typeof one}, ${typeof other}`;
  if (typeof one !== 'object') return '';
  const names = Object.keys(one).join(), others = Object.keys(other).join();
  if (names !== others) return `${at}: ${names} | ${others}`;
  return Object.keys(one).map((key) => difference(one[key], other[key], `${at}/${key}`)).find(Boolean) ?? '';
}

// JSON in lines of up to 120 columns: a value that fits is on one line.
export function lines(value, indent = '') {
  const flat = JSON.stringify(value).replace(/("(?:[^"\\]|\\.)*")|([:,])/g, (all, text, mark) => text ?? `${mark} `);
  if (indent.length + flat.length <= 120 || value === null || typeof value !== 'object') return flat;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Array.isArray(value) ? value.map((item) => lines(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${lines(item, inner)}`);
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}
