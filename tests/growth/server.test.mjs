// The server's own operations also scale in proportion: four times as many turns, prompts, words of an answer or pieces
// of a message take about four times the steps. The server counts its steps itself (steps.c), in all its threads.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { RawSocket, Socket, endsWell, frame, script } from '../e2e/live.mjs';
import { start } from '../e2e/server.mjs';
import { until } from '../e2e/waiting.mjs';
import { conversations, repeat, words } from './shapes.mjs';
import { figures, place, program } from './steps.mjs';

const N = 250; // turns, files, versions: large enough that one-time work does not count
const TIMES = 4, LIMIT = 5.5;
const counted = join(place, 'served');

let server, socket;
before(async () => {
  server = await start({ command: program, env: { PARLEY_STEPS: counted }, args: ['--shards', '1', '--workers', '2', '--model', 'demo/echo'] });
  socket = await new Socket(server).opened;
});

// The steps so far, once the server is idle: a small request then has a constant cost.
async function atRest() {
  for (let was = 0, cost = 0; ;) {
    await server.raw('GET', '/healthz');
    const { steps } = figures(counted);
    if (was && steps - was <= cost) return steps;
    cost = Math.max(cost, was && 2 * Math.min(steps - was, 2000));
    was = steps;
  }
}

async function ok(method, path, body, headers) {
  const answer = await server.raw(method, path, { body, headers });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer;
}
const post = async (path, body, headers) => (await ok('POST', path, body, headers)).json;
const get = async (path) => (await ok('GET', path)).json;

// Runs the same operation on the objects of both sizes; `prepare` is not counted.
async function compare(what, prepare, act) {
  const seen = [];
  for (const n of [N, TIMES * N]) {
    const thing = await prepare(n);
    const from = await atRest();
    await act(thing, n);
    seen.push((await atRest()) - from);
  }
  const [small, large] = seen;
  return large > LIMIT * small ? [`${what}: ${small} steps became ${large}, ${(large / small).toFixed(1)} times as many for ${TIMES} times as much`] : [];
}

const grows = (name, prepare, acts) => test(`grows in proportion: ${name}`, async () => {
  const said = [];
  for (const [what, act] of Object.entries(acts)) said.push(...await compare(what, prepare, act));
  assert.deepEqual(said, []);
});

// Waits for the end of a session through a listener, instead of polling.
async function heard(id, act, isLast) {
  assert.equal((await socket.ask('session:subscribe', { session_id: id })).ok, true);
  socket.frames.length = 0;
  const result = await act();
  await socket.next((one) => one.data?.session_id === id && isLast(one), `the end of ${id}`);
  await socket.ask('session:unsubscribe', { session_id: id });
  return result;
}
const isEnd = ({ event }) => event === 'chat:end';
const chat = (id, message, more) => heard(id, () => post(`/api/sessions/${id}/chat`, { message, ...more }), isEnd);

async function pages(path, of = (page) => page.items) {
  let n = 0;
  for (let cursor = ''; cursor !== null;) {
    const page = await get(`${path}${path.includes('?') ? '&' : '?'}limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    n += of(page).length;
    cursor = page.next_cursor ?? null;
  }
  return n;
}

const imported = async (n, shape = 'many messages') => (await post('/api/sessions/import', { document: JSON.parse(conversations[shape](n)), format: 'openai-chat' })).id;

grows('a session is imported', (n) => n, {
  'of messages': (n) => imported(n),
  'of calls and results': (n) => imported(n, 'calls and results in turn'),
  'of one message with many parts': (n) => imported(n, 'parts of one message'),
});

const listen = (path) => new Promise((resolve, reject) => {
  const peer = connect(server.port, '127.0.0.1', () => peer.write(head('GET', path)));
  let said = '';
  peer.on('error', reject).on('data', (piece) => {
    said += piece.toString('latin1');
    if (/event: (session:snapshot|session:resumed)/.test(said)) resolve(peer.destroy());
  });
});

grows('a session of many turns', (n) => imported(n), {
  'read from the end': async (id) => {
    for (let before = ''; ;) {
      const { json, headers } = await ok('GET', `/api/sessions/${id}/messages?limit=100${before}`);
      if (json.length < 100) return;
      assert.ok(headers['x-stream-position']);
      before = `&before=${json[0].sequence}`;
    }
  },
  exported: (id) => get(`/api/sessions/${id}/export?format=anthropic`),
  'exported as turns': (id) => get(`/api/sessions/${id}/export?format=turns`),
  forked: (id) => post(`/api/sessions/${id}/fork`, {}),
  'handed over': (id) => post(`/api/sessions/${id}/handoff`, { target: 'somebody' }),
  'its context': (id) => get(`/api/sessions/${id}/context`),
  'goes on': (id) => chat(id, 'and now'),
  'its events': (id) => listen(`/api/sessions/${id}/events`),
  'shared, and read': async (id) => {
    const { token } = await post(`/api/sessions/${id}/share`, {});
    for (let before = ''; ;) {
      const { turns, has_more: hasMore } = await get(`/api/share/${token}?limit=100${before}`);
      if (!hasMore) return;
      before = `&before=${turns[0].sequence}`;
    }
  },
  replayed: async (id) => ok('DELETE', `/api/sessions/${(await post(`/api/sessions/${id}/replay`, { speed: 0 })).id}`),
  'subscribed to': async (id) => { await socket.ask('session:subscribe', { session_id: id }); await socket.ask('session:unsubscribe', { session_id: id }); },
  deleted: (id) => ok('DELETE', `/api/sessions/${id}`),
});

// Long messages, because a summary that saves nothing is discarded.
grows('a session of many long turns', (n) => imported(n, 'many long messages'), {
  summed: (id) => heard(id, () => post(`/api/sessions/${id}/compact`, {}), ({ event, data }) => {
    assert.notEqual(event, 'system:notification', JSON.stringify(data));
    return event === 'turn:end' && data.turn?.kind === 'compaction';
  }),
});

grows('an answer', async (n) => ({ n, id: (await post('/api/sessions', { model: 'demo/agent' })).id }), {
  'of many words': ({ id, n }) => chat(id, words(4 * n), { model: 'demo/echo' }),
  'of words and thoughts in turn': ({ id, n }) => chat(id, script(...repeat(n, (i) => `think t${i}\nsay s${i}`))),
  // More calls than a turn may have: the excess is dropped, at little cost.
  'that calls tools without end': ({ id, n }) => chat(id, script(...repeat(4 * n, (i) => `call calc {"expression":"${i}+1"}`), '---', 'say done')),
  'of blocks without end': ({ id, n }) => chat(id, script(...repeat(8 * n, () => 'block plan_status {}'))),
});

grows('a handoff is accepted', async (n) => {
  const packet = await post(`/api/sessions/${await imported(n)}/handoff`, { target: 'somebody' });
  return packet;
}, {
  checked: (packet) => post('/api/handoffs/check', { packet }),
  accepted: (packet) => post('/api/handoffs', { packet }),
});

// A client's messages to a session: parts of a message, its own tools, the result of a call.
grows('a message to a session', async (n) => ({ n, id: (await post('/api/sessions', { model: 'demo/echo' })).id }), {
  'of one long text': ({ id, n }) => chat(id, words(20 * n)),
  'of many parts': ({ id, n }) => chat(id, repeat(n / 10, (i) => ({ type: 'text', text: `part ${i}` }))),
  'with many settings': ({ id, n }) => chat(id, 'hello', { settings: { vendor: { openai: Object.fromEntries(repeat(n, (i) => [`a${i}`, i])) } } }),
});
const asking = async (n) => {
  const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];
  const { id } = await post('/api/sessions', { model: 'demo/agent', tools });
  await post(`/api/sessions/${id}/chat`, { message: script('call look {}') });
  const asked = async () => (await get(`/api/sessions/${id}/messages`)).flatMap((turn) => turn.tool_calls ?? []).find(({ runs, status }) => runs === 'client' && status === 'pending');
  const { id: call } = await until(asked, 'the call');
  return { n, id, call };
};
grows('the answer of a tool of the client', asking, {
  'of many members': ({ id, call, n }) => heard(id, () => post(`/api/sessions/${id}/tool-calls/${call}/result`, { result: Object.fromEntries(repeat(4 * n, (i) => [`a${i}`, i])) }), isEnd),
});

grows('sessions are listed', async (n) => {
  const intent = name();
  for (let i = 0; i < n / 5; i++) await post('/api/sessions', { intent: `${intent} ${i}` });
  return intent;
}, { listed: (intent) => pages(`/api/sessions?q=${encodeURIComponent(intent)}`) });

let nNames = 0;
const name = () => `grown ${nNames++}`;
const document = (content) => ({ protocol: 'structured-chat', messages: content.map((text, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', content: text })) });
// Two versions of one prompt.
const versions = (one, other) => async (n) => {
  const { id } = await post('/api/prompts', { name: name(), content: one(n) });
  await post(`/api/prompts/${id}/versions`, { content: other(n) });
  return id;
};
const diff = { compared: (id) => get(`/api/prompts/${id}/versions/1/diff/2`) };
const blocks = (n) => document(repeat(n, (i) => `line ${i} of many`));
grows('versions with every block changed', versions(blocks, (n) => document(repeat(n, (i) => `line ${i} of more`))), diff);
grows('versions with the blocks in reverse', versions(blocks, (n) => ({ ...blocks(n), messages: blocks(n).messages.reverse() })), diff);
grows('versions with blocks of one text', versions((n) => document(repeat(n, () => 'same')), (n) => document(repeat(n + 1, () => 'same'))), diff);
grows('versions of one long text, every second word another', versions((n) => words(4 * n), (n) => repeat(4 * n, (i) => (i % 2 ? 'other' : `n${i}`)).join(' ')), diff);
grows('versions of one long text of one word', versions((n) => 'a '.repeat(4 * n), (n) => 'a b '.repeat(2 * n)), diff);

grows('a prompt', (n) => post('/api/prompts', { name: name(), content: document(repeat(n + 1, (i) => `say {{v${i}:d}}`)) }).then(({ id }) => id), {
  linted: (id) => post(`/api/prompts/${id}/lint`, {}),
  rendered: (id) => post(`/api/prompts/${id}/render`, {}),
  exported: (id) => get(`/api/prompts/${id}/export?format=anthropic&model=m`),
  run: (id) => post(`/api/prompts/${id}/run`, { model: 'demo/echo', mode: 'answer' }),
  'compared with a draft': (id, n) => post(`/api/prompts/${id}/versions/1/diff`, { content: document(repeat(n, (i) => `say {{v${i}:e}}`)) }),
  'another version of': (id, n) => post(`/api/prompts/${id}/versions`, { content: document(repeat(n, (i) => `tell {{v${i}:d}}`)) }),
});

grows('prompts are imported', (n) => repeat(n, (i) => ({ path: `${name()}/p${i}.md`, text: `Hello ${i}` })), {
  'as files': (files) => post('/api/prompts/import', { files, when_there: 'copy' }),
});
// By a new user without other objects.
let nUsers = 0;
const user = async () => (await post('/api/users', { name: `user ${nUsers++}` })).key.plaintext;
const pagesOf = async (path, key, of = (page) => page.items) => {
  for (let cursor = ''; cursor !== null;) {
    const { status, json } = await server.raw('GET', `${path}${path.includes('?') ? '&' : '?'}${cursor && `cursor=${encodeURIComponent(cursor)}`}`, { key });
    assert.equal(status, 200);
    assert.ok(of(json).length);
    cursor = json.next_cursor;
  }
};
grows('a library', async (n) => {
  const key = await user();
  const { status, text } = await server.raw('POST', '/api/prompts/import', { key, body: { files: repeat(n, (i) => ({ path: `f${i}/p${i}.md`, text: `---\ntags: [t${i}]\n---\nHello ${i}` })), when_there: 'copy' } });
  assert.ok(status < 300, text);
  return key;
}, {
  listed: (key) => pagesOf('/api/prompts?limit=100', key),
  'its folders': (key) => pagesOf('/api/prompts/folders?limit=100', key),
  'as files': (key) => pagesOf('/api/prompts/files', key, (page) => page.files),
});
grows('many blobs', async (n) => {
  const key = await user();
  for (let i = 0; i < n / 5; i++) await server.raw('POST', '/api/blobs', { key, body: `blob ${i}`, headers: { 'content-type': 'text/plain' } });
  return key;
}, { listed: (key) => pagesOf('/api/blobs?limit=100', key) });

grows('a model is asked through the gateway', (n) => repeat(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `word ${i} of many` })).concat({ role: 'user', content: 'go' }), {
  'Chat Completions': (messages) => post('/v1/chat/completions', { model: 'demo/echo', messages }),
  'Chat Completions, streamed': (messages) => ok('POST', '/v1/chat/completions', { model: 'demo/echo', messages, stream: true }),
  Messages: (messages) => post('/v1/messages', { model: 'demo/echo', max_tokens: 10, messages }),
  'a count of tokens': (messages) => post('/v1/messages/count_tokens', { model: 'demo/echo', messages }),
  Responses: (messages) => post('/v1/responses', { model: 'demo/echo', input: messages }),
  Gemini: (messages) => post('/v1beta/models/demo/echo:generateContent', { contents: messages.map(({ role, content }) => ({ role: role === 'user' ? 'user' : 'model', parts: [{ text: content }] })) }),
});

grows('an answer through the gateway', (n) => words(4 * n), {
  'in events of Anthropic': (text) => ok('POST', '/v1/messages', { model: 'demo/echo', max_tokens: 100000, stream: true, messages: [{ role: 'user', content: text }] }),
  'in events of Responses': (text) => ok('POST', '/v1/responses', { model: 'demo/echo', stream: true, input: text }),
  'in events of Chat Completions': (text) => ok('POST', '/v1/chat/completions', { model: 'demo/echo', stream: true, messages: [{ role: 'user', content: text }] }),
});

grows('a conversation of Responses goes on', async (n) => (await post('/v1/responses', { model: 'demo/echo', input: repeat(n + 1, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `word ${i}` })) })).id, {
  'from an id': (id) => post('/v1/responses', { model: 'demo/echo', input: 'and now', previous_response_id: id }),
});

grows('a request is repeated', async (n) => {
  const key = name(), body = { document: JSON.parse(conversations['many messages'](n)), format: 'openai-chat' };
  await post('/api/sessions/import', body, { 'idempotency-key': key });
  return { key, body };
}, { 'with its Idempotency-Key': ({ key, body }) => post('/api/sessions/import', body, { 'idempotency-key': key }) });

grows('memories', async (n) => {
  const topic = name();
  for (let i = 0; i < n; i += 50) await post('/api/memories/batch', { create: repeat(50, (k) => ({ type: 'experience', topic, content: `note ${i + k} about ${topic}` })) });
  return { topic, id: (await post('/api/sessions', {})).id };
}, {
  listed: ({ topic }) => pages(`/api/memories?topic=${encodeURIComponent(topic)}`),
  searched: ({ topic }) => post('/api/memories/search', { query: topic, limit: 100 }),
  'told to a model': ({ topic, id }) => chat(id, `tell me about ${topic}`),
});
grows('memories are changed', (n) => repeat(n / 10, (k) => ({ type: 'experience', content: `note ${k} of ${n}` })), {
  'as a batch': (create) => post('/api/memories/batch', { create }),
});
grows('a query', (n) => words(4 * n).slice(0, 4 * n), { searched: (query) => post('/api/memories/search', { query }) });

grows('tasks', async (n) => {
  const title = name();
  for (let i = 0; i < n / 5; i++) await post('/api/scheduled-tasks', { title: `${title} ${i}`, prompt: 'hello', cron: '0 0 1 1 *' });
  return title;
}, { listed: (title) => pages(`/api/scheduled-tasks?q=${encodeURIComponent(title)}`) });
grows('occurrences of a task', async (n) => ({ n, id: (await post('/api/scheduled-tasks', { title: name(), prompt: 'hello', cron: '* * * * *', enabled: false })).id }), {
  listed: ({ id, n }) => get(`/api/scheduled-tasks/${id}/occurrences?limit=${n / 10}`),
});
grows('a blob', (n) => words(40 * n), { stored: (text) => ok('POST', '/api/blobs', text, { 'content-type': 'text/plain' }) });

// Raw bytes that no correct client sends; ends after `n` whole answers.
async function raw(bytes, n) {
  const peer = connect(server.port, '127.0.0.1');
  let said = '';
  peer.on('data', (piece) => { said += piece.toString('latin1'); });
  for (const piece of bytes) if (!peer.write(piece, 'latin1')) await once(peer, 'drain');
  await until(() => said.split('HTTP/1.1 ').length > n, 'the answers');
  peer.destroy();
  assert.match(said, /^HTTP\/1\.1 2/);
}
const head = (method, path, more = '') => `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.key}\r\n${more}\r\n`;
grows('bytes on a connection', (n) => n, {
  'many requests at once': (n) => raw([head('GET', '/api/version').repeat(n)], n),
  'a body in chunks of one byte': (n) => {
    const text = JSON.stringify({ document: { messages: [{ role: 'user', content: 'a'.repeat(10 * n) }] } });
    return raw([head('POST', '/api/detect', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'), [...text].map((c) => `1\r\n${c}\r\n`).join(''), '0\r\n\r\n'], 1);
  },
  'a message of a socket in pieces of one byte': async (n) => {
    const peer = await new RawSocket(server).open();
    const text = JSON.stringify({ id: 1, event: 'ping', data: { pad: 'a'.repeat(10 * n) } });
    const pieces = [...text].map((c, i) => frame(i ? 0 : 1, c, { fin: i === text.length - 1 }));
    peer.net.write(Buffer.concat(pieces));
    await peer.next(({ opcode }) => opcode === 1, 'its answer');
    peer.net.destroy();
  },
});

test('the server ends in good order', async () => {
  socket.close();
  await endsWell(server);
});
