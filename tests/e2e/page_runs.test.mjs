// The API for the workbench of the page: drafts with a revision; runs of a draft with several models at once, each
// stopped separately; and lists that receive every change to their user's objects.
import assert from 'node:assert/strict';
import http from 'node:http';
import test, { before } from 'node:test';
import { run } from './harness.mjs';
import { clientOf, closing, serve, script, until, WebSocket } from './live.mjs';

// The same on PostgreSQL, if the runner has one.
const postgres = process.env.PARLEY_TEST_POSTGRES;

let server, ada, other;
before(async () => {
  server = await serve({ args: postgres ? ['--store', postgres] : [] });
  const user = async (name) => { const made = (await server.ask('POST', '/api/users', { body: { name } })).json; return { id: made.id, key: made.key.plaintext }; };
  ada = await user('ada');
  other = await user('other');
});
const ask = (method, path, options = {}) => server.ask(method, path, { key: ada.key, ...options });
const prompt = async (content = 'hello {{name}}') => (await ask('POST', '/api/prompts', { body: { name: 'p', content } })).json;

// --- drafts ---------------------------------------------------------------------------------------------------------

test('a draft has a revision of its own, and nobody overwrites one he has not seen', async () => {
  const { id } = await prompt();
  const path = `/api/prompts/${id}/draft`, put = (content, headers = {}, more = {}) => ask('PUT', path, { body: { content, ...more }, headers });
  assert.equal((await ask('GET', path)).status, 404);
  assert.equal((await put('x', { 'if-match': '"1"' })).status, 412);
  const first = await put('one', { 'if-none-match': '*' }, { extra: { variables: { name: 'x' } } });
  assert.deepEqual([first.status, first.json.revision, first.json.based_on, first.json.type, first.headers.etag], [200, 1, 1, 'text', '"1"']);
  assert.equal((await put('two', { 'if-none-match': '*' })).status, 412);
  assert.equal((await put('two', { 'if-match': '"2"' })).status, 412);
  assert.equal((await put('two', { 'if-match': '"1"' })).json.revision, 2);
  const read = (await ask('GET', path)).json;
  assert.deepEqual([read.content, read.revision, read.extra], ['two', 2, {}]);
  assert.equal((await ask('GET', path, { headers: { 'if-none-match': '"2"' } })).status, 304);
  // Two at once: one of them gets the conflict.
  const both = await Promise.all(['a', 'b'].map((content) => put(content, { 'if-match': '"2"' })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
  // A draft need not be a whole prompt; it is not a version, and is deleted with its prompt.
  assert.equal((await put({ messages: [] })).json.type, 'structured');
  assert.equal((await ask('GET', `/api/prompts/${id}`)).json.latest_version, 1);
  assert.equal((await ask('DELETE', path, { headers: { 'if-match': '"1"' } })).status, 412);
  assert.equal((await ask('DELETE', path)).status, 204);
  assert.equal((await ask('GET', path)).status, 404);
  await put('again');
  assert.equal((await ask('DELETE', `/api/prompts/${id}`)).status, 204);
  assert.equal((await ask('GET', path)).status, 404);
});

test('without a draft the newest version can be had in its place', async () => {
  const { id } = (await ask('POST', '/api/prompts', { body: { name: 'or', content: 'first' } })).json;
  const path = `/api/prompts/${id}/draft`;
  assert.equal((await ask('GET', path)).status, 404);
  const none = await ask('GET', `${path}?or=latest`);
  assert.deepEqual([none.status, none.json.revision, none.json.based_on, none.json.type, none.json.content, none.json.extra], [200, 0, 1, 'text', 'first', {}]);
  assert.equal(none.headers.etag, undefined);
  assert.equal((await ask('GET', `${path}?or=nothing`)).status, 400);
  await ask('PUT', path, { body: { content: 'second' } });
  assert.equal((await ask('GET', `${path}?or=latest`)).json.content, 'second');
});

test('a draft has limits, and belongs to one user', async () => {
  const { id } = await prompt();
  const path = `/api/prompts/${id}/draft`, put = (body) => ask('PUT', path, { body });
  assert.equal((await put({ content: 'x'.repeat(1 << 20) })).status, 200);
  assert.equal((await put({ content: 'x'.repeat((1 << 20) + 1) })).status, 413);
  assert.equal((await put({ content: 'x', extra: { a: 'x'.repeat(65000) } })).status, 200);
  assert.equal((await put({ content: 'x', extra: { a: 'x'.repeat(65536) } })).status, 413);
  for (const body of [{}, { content: 1 }, { content: 'a', type: 'structured' }, { content: {}, type: 'text' }, { content: 'a', based_on: 2 }, { content: 'a', based_on: -1 }, { content: 'a', more: 1 }, []]) assert.equal((await put(body)).status, 400, JSON.stringify(body).slice(0, 80));
  for (const [method, body] of [['GET'], ['PUT', { content: 'mine' }], ['DELETE']]) assert.equal((await ask(method, path, { body, key: other.key })).status, 404);
});

// --- runs -----------------------------------------------------------------------------------------------------------

// Reads an event stream; `on` sees each event.
function stream(body, on = () => {}, key = ada.key) {
  const events = [];
  let request;
  const done = new Promise((resolve, reject) => {
    request = http.request({ host: '127.0.0.1', port: server.port, method: 'POST', path: '/api/run', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } }, (response) => {
      let rest = '';
      response.setEncoding('utf8').on('data', (piece) => {
        rest += piece;
        for (let at; (at = rest.indexOf('\n\n')) >= 0; rest = rest.slice(at + 2)) {
          const [, event, data] = rest.slice(0, at).match(/^event: (\S+)\ndata: (.*)$/s);
          events.push({ event, data: JSON.parse(data) });
          on(events.at(-1), request);
        }
      });
      response.on('end', () => resolve({ response, events }));
      response.on('error', () => resolve({ response, events }));
    });
    request.on('error', reject);
    request.end(JSON.stringify({ ...body, stream: true }));
  });
  return { done, events, close: () => request.destroy() };
}
const textOf = (events, index) => events.filter(({ event, data }) => event === 'run:text' && data.index === index && data.kind === 'text').map(({ data }) => data.text).join('');

test('a draft runs with several models at once, and leaves no session', async () => {
  const { response, events } = await stream({ content: 'hello {{name}}, 世界', variables: { name: 'wörld' }, models: ['demo/echo', 'demo/echo', 'demo/agent'] }).done;
  assert.equal(response.headers['content-type'], 'text/event-stream');
  assert.deepEqual(events.slice(0, 3).map(({ event, data }) => [event, data.index]), [['run:start', 0], ['run:start', 1], ['run:start', 2]]);
  assert.equal(events.at(-1).event, 'run:over');
  for (const index of [0, 1]) assert.equal(textOf(events, index), 'hello wörld, 世界');
  const ends = events.filter(({ event }) => event === 'run:end').map(({ data }) => data);
  assert.deepEqual(ends.map(({ status }) => status), ['completed', 'completed', 'completed']);
  assert.equal((await ask('GET', '/api/sessions')).json.total, 0);
  const ids = ends.map(({ run_id }) => run_id);
  await until(async () => (await ask('GET', '/api/runs?limit=100')).json.items.filter(({ id }) => ids.includes(id)).length === 3, () => 'the runs are not kept');
  const run = (await ask('GET', `/api/runs/${ids[0]}`)).json;
  assert.deepEqual([run.source, run.status, run.model, run.session_id], ['prompt', 'completed', 'demo/echo', null]);
  assert.ok(run.input_tokens > 0 && run.output_tokens > 0 && run.ttft_ms >= 0);
  assert.equal((await ask('GET', `/api/runs/${ids[0]}`, { key: other.key })).status, 404);
  assert.equal((await ask('GET', '/api/runs', { key: other.key })).json.total, 0);
});

test('one is stopped, and the others go on', async () => {
  let stopped;
  const { done, events } = stream({ content: script('say begun', 'wait 600000'), models: ['demo/echo', 'demo/echo'] }, ({ event, data }) => {
    if (event === 'run:text' && data.index === 1 && !stopped) stopped = ask('POST', `/api/runs/${data.run_id}/stop`);
    if (event === 'run:end' && data.index === 1) void ask('POST', `/api/runs/${events[0].data.run_id}/stop`);
  });
  await done;
  assert.equal((await stopped).json.status, 'stopping');
  const ends = Object.fromEntries(events.filter(({ event }) => event === 'run:end').map(({ data }) => [data.index, data]));
  assert.equal(ends[1].status, 'stopped');
  assert.equal(ends[0].status, 'stopped');
  assert.equal(textOf(events, 0), 'begun');
  await until(async () => (await ask('GET', `/api/runs/${ends[1].run_id}`)).status === 200, () => 'the stopped run is not kept');
  // The run is over: stopping it again returns its end. Another user's run cannot be stopped.
  assert.equal((await ask('POST', `/api/runs/${ends[1].run_id}/stop`)).json.status, 'stopped');
  assert.equal((await ask('POST', `/api/runs/${ends[1].run_id}/stop`, { key: other.key })).status, 404);
  assert.equal((await ask('POST', '/api/runs/nothing/stop')).status, 404);
});

test('a client that leaves stops its runs', async () => {
  const run = stream({ content: script('say begun', 'wait 600000'), models: ['demo/echo'] }, () => run.close());
  await run.done.catch(() => {});
  const { run_id } = run.events[0].data;
  await until(async () => (await ask('GET', `/api/runs/${run_id}`)).json.status === 'stopped', () => 'the run goes on');
});

test('without a stream everything comes at the end; a saved prompt runs by its id', async () => {
  const { id } = await prompt();
  const { status, json } = await ask('POST', '/api/run', { body: { prompt_id: id, variables: { name: 'Ada' }, model: 'demo/echo' } });
  assert.equal(status, 200);
  assert.deepEqual([json.items.length, json.items[0].text, json.items[0].status, json.items[0].error], [1, 'hello Ada', 'completed', null]);
  await until(async () => (await ask('GET', `/api/runs?prompt_id=${id}`)).json.items[0]?.version === 1, () => 'the run does not name its prompt');
  const draft = (await ask('POST', '/api/run', { body: { prompt_id: id, content: 'other', model: 'demo/echo' } })).json;
  assert.equal(draft.items[0].text, 'other');
});

test('what cannot be run is refused before anybody is asked', async () => {
  const bad = async (body, key) => ask('POST', '/api/run', { body, ...(key ? { key } : {}) });
  const { id } = await prompt();
  for (const body of [{}, { content: '' }, { content: 'a', models: [] }, { content: 'a', models: Array(9).fill('demo/echo') }, { content: 'a', model: 'demo/echo', models: ['demo/echo'] }, { content: 'a', model: 'no/such' }, { content: 'a', version: 1 }, { content: '{{x}}' }, { content: 'a', tools: [{ name: 'a' }, { name: 'a' }] }, { content: { messages: [{ role: 'assistant', content: 'x' }] } }, { content: 'a', stream: 'yes' }]) assert.equal((await bad(body)).status, 400, JSON.stringify(body));
  assert.equal((await bad({ content: 'a', models: Array(8).fill('demo/echo') })).json.items.length, 8);
  assert.equal((await bad({ prompt_id: id }, other.key)).status, 404);
  assert.equal((await bad({ prompt_id: id, version: 7 })).status, 404);
});

test('a series has a line for each bucket and group', async () => {
  const { json } = await ask('GET', '/api/runs/series?group=model&bucket=hour&utc_offset=330');
  assert.ok(json.items.some(({ group, runs }) => group === 'demo/echo' && runs > 0));
  assert.equal(new Date(json.items[0].at).getUTCMinutes(), 30);
  for (const query of ['bucket=year', 'group=colour', 'utc_offset=841', 'utc_offset=x', 'from=yesterday', 'prompt_id=x']) assert.equal((await ask('GET', `/api/runs/series?${query}`)).status, 400, query);
  assert.deepEqual((await ask('GET', '/api/runs/series?to=2001-01-01T00:00:00Z')).json.items, []);
  // Pages by cursor.
  const all = (await ask('GET', '/api/runs?limit=100')).json, seen = [];
  for (let cursor = ''; cursor !== null;) {
    const page = (await ask('GET', `/api/runs?limit=3${cursor && `&cursor=${cursor}`}`)).json;
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  assert.deepEqual(seen, all.items.map(({ id }) => id));
  assert.equal((await ask('GET', '/api/runs?cursor=AAAA')).status, 400);
  assert.equal((await ask('GET', '/api/runs?limit=101')).status, 400);
});

// --- lists ----------------------------------------------------------------------------------------------------------

function follow(t, key) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/ws`, 'parley.v1'), heard = [];
  closing(t, socket);
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => {
      socket.send(JSON.stringify({ id: 1, event: 'auth', data: { key } }));
      socket.send(JSON.stringify({ id: 2, event: 'user:subscribe', data: {} }));
    });
    socket.on('message', (text) => {
      const frame = JSON.parse(text);
      heard.push(frame);
      if (frame.ack === 2) resolve({ socket, heard, names: () => heard.map(({ event }) => event) });
    });
  });
}

test('lists are told of every change of their user, and of nobody else', async (t) => {
  const mine = await follow(t, ada.key), theirs = await follow(t, other.key);
  const client = clientOf(server, ada.key);
  const { id } = await prompt();
  await ask('PUT', `/api/prompts/${id}/draft`, { body: { content: 'x' } });
  await ask('DELETE', `/api/prompts/${id}`);
  const memory = (await ask('POST', '/api/memories', { body: { content: 'remember' } })).json;
  await ask('DELETE', `/api/memories/${memory.id}`);
  const session = (await ask('POST', '/api/sessions', { body: {} })).json;
  await client.chat(session.id, { message: 'hello' });
  const of = (event, more = () => true) => mine.heard.some((frame) => frame.event === event && more(frame.data));
  await until(() => of('session:updated', (data) => data.session?.id === session.id && data.session.status === 'completed'), () => `no end of the session: ${mine.names()}`);
  await ask('DELETE', `/api/sessions/${session.id}`);
  await until(() => of('session:deleted', (data) => data.id === session.id), () => `no deletion: ${mine.names()}`);
  assert.ok(of('prompt:updated', (data) => data.id === id && data.operation === 'prompt_create'));
  assert.ok(of('prompt:draft', (data) => data.id === id && data.revision === '1'));
  assert.ok(of('prompt:deleted', (data) => data.id === id));
  assert.ok(of('memory:updated') && of('memory:deleted', (data) => String(data.id) === String(memory.id)));
  assert.ok(of('run:updated', (data) => data.run.session_id === session.id && data.run.source === 'chat'));
  // A run is announced only when it can be read, even if it waited for the next second of usage.
  assert.equal((await ask('POST', '/api/run', { body: { content: 'hello', models: ['demo/echo'] } })).status, 200);
  const ofDraft = () => mine.heard.find((frame) => frame.event === 'run:updated' && frame.data.run.source === 'prompt');
  await until(ofDraft, () => `no run: ${mine.names()}`);
  assert.equal((await ask('GET', `/api/runs/${ofDraft().data.run.id}`)).status, 200);
  assert.deepEqual(theirs.heard.filter(({ event }) => event), []);
  // Without a list there are no events; refused changes cause none.
  mine.socket.send(JSON.stringify({ id: 3, event: 'user:unsubscribe', data: {} }));
  await until(() => mine.heard.some(({ ack }) => ack === 3), () => 'no answer');
  const n = mine.heard.length;
  await prompt();
  mine.socket.send(JSON.stringify({ id: 4, event: 'user:subscribe', data: { more: 1 } }));
  await until(() => mine.heard.some(({ ack }) => ack === 4), () => 'no answer');
  assert.equal(mine.heard.at(-1).ok, false);
  assert.equal(mine.heard.length, n + 1);
});

test('an administrator is told of extensions and tasks, and others are not', async (t) => {
  const mine = await follow(t, server.key), theirs = await follow(t, ada.key);
  const of = (event, id) => mine.heard.filter((frame) => frame.event === event && (!id || frame.data.id === id)).map(({ data }) => data.operation);
  const added = run(['ext', 'add', 'demo', '--yes'], { env: { PARLEY_DATA: server.data } });
  assert.equal(added.code, 0, added.err);
  const patch = (body) => server.ask('PATCH', '/api/extensions/demo', { body });
  assert.equal((await patch({ profile: 'safe' })).status, 200);
  assert.equal((await patch({ profile: 'none' })).status, 400);
  assert.equal((await server.ask('POST', '/api/extensions/demo/restart')).status, 200);
  assert.equal((await server.ask('DELETE', '/api/extensions/demo')).status, 204);
  await until(() => of('extension:deleted', 'demo').length, () => `no deletion: ${mine.names()}`);
  assert.deepEqual(of('extension:updated', 'demo').slice(-2), ['extension_update', 'extension_restart']);
  assert.ok(of('extension:updated').length <= 3, 'a refused change is none');
  const task = (await server.ask('POST', '/api/scheduled-tasks', { body: { title: 't', cron: '0 9 * * *', prompt: 'x' } })).json;
  await until(() => mine.heard.some(({ event }) => event === 'task:updated'), () => `no task: ${mine.names()}`);
  assert.equal((await server.ask('DELETE', `/api/scheduled-tasks/${task.id}`)).status, 204);
  await until(() => of('task:deleted', task.id).length, () => `no deletion of a task: ${mine.names()}`);
  assert.deepEqual(theirs.heard.filter(({ event }) => event), []);
});
