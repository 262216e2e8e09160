// Messages acknowledged as queued are sent after a restart, however the server ended. A message is identified by its
// client_message_id and its text.
import assert from 'node:assert/strict';
import test from 'node:test';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const texts = (turns) => turns.filter((turn) => turn.role === 'user').map((turn) => turn.blocks.map((block) => block.content).join(''));

for (const signal of ['SIGKILL', 'SIGTERM']) {
  test(`what was queued is said after ${signal}, in order and once`, async (t) => {
    let server = await start({ args: ['--drain', '0'] });
    const { data, key } = server;
    t.after(() => server.stop('SIGKILL'));
    const sessions = [];
    for (let i = 0; i < 5; i++) {
      const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
      // This turn runs until it is stopped.
      const { json } = await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: '#!demo\nsay x\nwait 600000', model: 'demo/agent' } });
      assert.equal(json.queued, false);
      sessions.push(id);
    }
    const answers = [];
    for (const id of sessions)
      for (const message of ['second', 'third']) answers.push((await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message, client_message_id: message, model: 'demo/echo' } })).json.queued);
    assert.deepEqual([...new Set(answers)], [true]);
    await server.stop(signal);
    server = await start({ data, login: false });
    server.key = key;
    for (const id of sessions) {
      const said = await until(async () => {
        const turns = (await server.ask('GET', `/api/sessions/${id}/messages?limit=100`)).json;
        return texts(turns).length >= 3 && texts(turns);
      }, `the queue of ${id} is said`);
      assert.deepEqual(said.slice(1), ['second', 'third']);
    }
    await server.stop();
  });
}

test('a client_message_id stands for one text: the same again is the first answer, another is 409', async (t) => {
  const server = await start();
  t.after(() => server.stop('SIGKILL'));
  const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
  const path = `/api/sessions/${id}/chat`;
  const chat = (message, name, more = {}) => server.ask('POST', path, { body: { message, client_message_id: name, ...more } });
  const blocks = [{ type: 'text', content: 'a "b" \u00e9' }, { type: 'text', content: 'c' }];
  const first = (await chat('hello', 'one', { mode: 'planning' })).json;
  const settled = () => until(async () => (await server.ask('GET', `/api/sessions/${id}`)).json.status === 'completed', 'it is over');
  await settled();
  const many = (await chat(blocks, 'many')).json;
  await settled();
  // The same message again, in any spelling.
  for (const [message, name, turn] of [['hello', 'one', first.turn_id], [[{ type: 'text', content: 'hello' }], 'one', first.turn_id], [blocks, 'many', many.turn_id]]) {
    const { status, json } = await chat(message, name);
    assert.deepEqual([status, json.duplicate, json.turn_id], [202, true, turn], JSON.stringify(message));
  }
  for (const [message, name] of [['hello!', 'one'], [' hello', 'one'], [blocks.slice(1), 'many'], ['a "b" \u00e9c', 'many'], [[...blocks, ...blocks], 'many']]) {
    const { status, json } = await chat(message, name);
    assert.deepEqual([status, json.code], [409, 'conflict'], JSON.stringify(message));
  }
  // The same for a waiting message.
  assert.equal((await chat('#!demo\nsay x\nwait 600000', 'long', { model: 'demo/agent' })).json.queued, false);
  assert.equal((await chat('later', 'waits')).json.queued, true);
  assert.deepEqual([(await chat('later', 'waits')).json.duplicate, (await chat('sooner', 'waits')).status], [true, 409]);
  const turns = (await server.ask('GET', `/api/sessions/${id}/messages?limit=100`)).json;
  assert.equal(texts(turns).length, 3);
});
