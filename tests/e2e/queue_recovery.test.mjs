// Messages that were acknowledged as queued are said after a restart, however the server ended; and a message is known by
// its client_message_id and its text.
import assert from 'node:assert/strict';
import test from 'node:test';
import { start } from './server.mjs';

async function until(condition, what) {
  const end = Date.now() + 120_000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const texts = (turns) => turns.filter((turn) => turn.role === 'user').map((turn) => turn.blocks.map((block) => block.content).join(''));

for (const signal of ['SIGKILL', 'SIGTERM']) {
  test(`what was queued is said after ${signal}, in order and once`, async (t) => {
    let server = await start({ args: ['--drain', '0'] });
    const { data, key } = server;
    t.after(() => server.stop('SIGKILL'));
    const sessions = [];
    for (let i = 0; i < 5; i++) {
      const { id } = (await server.ask('POST', '/api/sessions', { body: {} })).json;
      // It is at work until it is ended.
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
