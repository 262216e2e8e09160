// Messages that wait in sessions count as their user's memory, like bodies: a user cannot fill the server by queueing
// messages. The amount in use is the server's own count (parley_body_bytes).
import assert from 'node:assert/strict';
import test from 'node:test';
import { clientOf, endsWell, script, serve, settled } from './live.mjs';
import { until } from './waiting.mjs';

const MIB = 1 << 20;

test('messages that wait count as memory of their user, hold up no other user, and are given back', async (t) => {
  const server = await serve({ args: ['--body-memory', '64', '--model', 'demo/agent'] });
  t.after(() => server.stop('SIGKILL'));
  const [one, other] = await Promise.all(['one', 'other'].map(async (name) => (await server.ask('POST', '/api/users', { body: { name } })).json.key.plaintext));
  const counted = async () => Number((await server.raw('GET', '/metrics')).text.match(/^parley_body_bytes (\d+)$/m)[1]);
  const client = clientOf(server, one);
  const busy = async (message) => {
    const { id } = await client.createSession({});
    await client.chat(id, { message });
    return id;
  };
  const say = (id, message, key = one) => server.raw('POST', `/api/sessions/${id}/chat`, { key, body: { message } });
  const large = 'x'.repeat(1.5 * MIB);

  // Per session: 4 MiB in total.
  const first = await busy(script('wait 600000'));
  assert.equal((await say(first, large)).status, 202);
  assert.equal((await say(first, large)).status, 202);
  const more = await say(first, large);
  assert.deepEqual([more.status, more.json.code], [429, 'rate_limited'], more.text);
  assert.match(more.json.detail, /waiting have 4 MiB together/);
  assert.ok(Number(more.headers['retry-after']) > 0);
  assert.equal((await say(first, 'a short one')).status, 202);
  await until(async () => await counted() >= 2 * large.length, 'it is counted');

  // All sessions of a user: half of the memory for bodies.
  const sessions = [first];
  const full = await until(async () => {
    sessions.push(await busy(script('wait 600000')));
    const answer = await say(sessions.at(-1), large);
    return answer.status !== 202 && answer;
  }, 'a message that may not wait');
  assert.deepEqual([full.status, full.json.code], [429, 'rate_limited'], full.text);
  assert.match(full.json.detail, /your share of the memory/i);
  assert.ok(Number(full.headers['retry-after']) > 0);
  assert.ok(sessions.length <= 24, `${sessions.length} sessions had room`);
  assert.ok(await counted() <= 36 * MIB);

  // Another user still has memory; so does a short message.
  const theirs = clientOf(server, other);
  const { id } = await theirs.createSession({});
  await theirs.chat(id, { message: script('wait 600000') });
  assert.equal((await say(id, large, other)).status, 202);
  await theirs.stop(id);
  assert.equal((await say(sessions[1], 'short')).status, 202);

  // After a stop, waiting messages are gone or sent, and their memory is released.
  for (const session of sessions) {
    await client.stop(session);
    await settled(client, session);
  }
  await until(async () => await counted() === 0, 'nothing is held any more');
  await endsWell(server);
});

test('what waits is counted again after a restart, and given back when the session is deleted', async (t) => {
  const first = await serve({ args: ['--model', 'demo/agent'] });
  const { id } = await clientOf(first).createSession({});
  await clientOf(first).chat(id, { message: script('wait 600000') });
  for (let i = 0; i < 2; i++)
    assert.equal((await first.raw('POST', `/api/sessions/${id}/chat`, { body: { message: `${script('wait 600000')}\n${'say a\n'.repeat(50_000)}` } })).status, 202);
  await first.stop('SIGKILL');
  const server = await serve({ data: first.data, login: false, args: ['--model', 'demo/agent'] });
  t.after(() => server.stop('SIGKILL'));
  server.key = first.key;
  const counted = async () => Number((await server.raw('GET', '/metrics')).text.match(/^parley_body_bytes (\d+)$/m)[1]);
  // The first of them is sent; the second waits.
  await until(async () => await counted() >= 300_000, 'it is counted');
  await clientOf(server).deleteSession(id);
  await until(async () => await counted() === 0, 'it is given back');
  await endsWell(server);
});
