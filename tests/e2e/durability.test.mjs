// Acknowledged data survives: kill -9 while many turns stream, and restarts with connected readers and running tools.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from './harness.mjs';
import {
  SessionView, Socket, clientOf, closing, endsWell, sameAsServer, script, serve, settled, sleep, textOf, until,
} from './live.mjs';

const ROUNDS = Number(process.env.PARLEY_ROUNDS ?? 20);

// A data directory that outlives its servers.
function directory() {
  const path = mkdtempSync(join(tmpdir(), 'parley-durable-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

// Starts the server again on the same data, with the same key.
async function again(data, key, options = {}) {
  const server = await serve({ data, login: !key, ...options });
  server.key ??= key;
  return server;
}

const kill = (server) => server.stop('SIGKILL');
const allTurns = async (client, id) => (await client.messages(id, { limit: '100' })).turns;

test(`${ROUNDS} times kill -9 under 50 streaming turns: nothing acknowledged is lost or doubled`, async () => {
    const data = directory();
    let server = await again(data);
    const { key } = server;
    let client = clientOf(server);
    const sessions = await Promise.all(Array.from({ length: 50 }, () => client.createSession()));
    /* The server's acknowledgements: session -> client_message_id -> turn_id, and whole answers. */
    const said = new Map(sessions.map(({ id }) => [id, new Map()]));
    const ended = new Map();
    for (let round = 0; round < ROUNDS; round++) {
      const reader = client.live({ retryMs: 60_000 });
      await Promise.all(sessions.map(async ({ id }) => {
        await reader.subscribe(id);
        reader.listen(id, ({ event, data: { turn } }) => {
          if (event === 'turn:end') ended.set(turn.turn_id, [id, JSON.stringify(turn)]);
        });
      }));
      const message = script(...Array.from({ length: 200 }, (_, i) => `say r${round}w${i} \nwait 3`),
        ...(round % 2 ? ['call wait {"ms":5}'] : []));
      const chats = sessions.map(async ({ id }, i) => {
        const name = `m${round}`;
        const answer = await client.chat(id, { message: i % 5 ? message : 'short', client_message_id: name });
        said.get(id).set(name, answer.turn_id);
      });
      /* The checks below handle interrupted chats; until then their errors are ignored. */
      for (const one of chats) one.catch(() => {});
      /* Kills sometimes before all are acknowledged, sometimes in the middle of the text. */
      if (round % 3) await Promise.all(chats);
      await sleep((round * 37) % 400);
      await kill(server);
      await Promise.allSettled(chats);
      reader.close();
      server = await again(data, key);
      client = clientOf(server);
      const { items } = await client.sessions({ status: 'running' });
      assert.deepEqual(items, [], 'no session is left running');
      for (const { id } of sessions) {
        const turns = await allTurns(client, id);
        for (const [name, turnId] of said.get(id)) {
          if (!turns.some((turn) => turn.sequence === 0) && turnId !== turns[0]?.turn_id
            && Number(name.slice(1)) < round - 20) continue; /* on an earlier page */
          const own = turns.filter((turn) => turn.client_message_id === name);
          assert.equal(own.length, 1, `${name} of ${id} is there once`);
          if (turnId) assert.equal(own[0].turn_id, turnId);
        }
        turns.forEach((turn, i) => {
          assert.equal(turn.sequence, turns[0].sequence + i, 'entries have no gap');
          assert.ok(['completed', 'interrupted', 'failed'].includes(turn.status), turn.status);
          for (const call of turn.tool_calls) assert.notEqual(call.status, 'pending');
          const before = ended.get(turn.turn_id);
          if (before) assert.equal(JSON.stringify(turn), before[1], 'what ended stays as it was told');
          if (turn.role === 'assistant' && turn.status === 'interrupted')
            assert.match(textOf(turn), /^(r\d+w\d+ )*(r\d+w\d+ ?)?$/);
        });
      }
    }
    await endsWell(server);
  });

test('a message sent again after a crash is not said twice', async () => {
  const data = directory();
  const server = await again(data);
  const { id } = await clientOf(server).createSession();
  const first = await clientOf(server).chat(id, { message: 'once', client_message_id: 'x' });
  await kill(server);
  const next = await again(data, server.key);
  const second = await clientOf(next).chat(id, { message: 'once', client_message_id: 'x' });
  assert.deepEqual([second.duplicate, second.turn_id], [true, first.turn_id]);
  await endsWell(next);
});

test('a reader goes on after a crash: a new epoch, a snapshot, and the same at the end', async (t) => {
  const data = directory();
  const server = await again(data, null, { args: ['--port', '0'] });
  const client = clientOf(server);
  const { id } = await client.createSession();
  const reader = client.live({ retryMs: 1 });
  const view = await reader.subscribe(id);
  await client.chat(id, { message: script(...Array.from({ length: 100 }, (_, i) => `say w${i} \nwait 10`)) });
  await until(() => view.position.sequence > 20, 'some text');
  const { position } = view;
  reader.close();
  await kill(server);
  const next = await again(data, server.key);
  const client2 = clientOf(next);
  const socket = closing(t, await new Socket(next).opened);
  const { data: answer } = await socket.ask('session:subscribe', { session_id: id, since: position });
  assert.equal(answer.mode, 'snapshot');
  assert.ok(answer.position.epoch > position.epoch);
  view.apply(await socket.next(({ event }) => event === 'session:snapshot'));
  assert.equal(view.ordered.at(-1).status, 'interrupted');
  assert.match(textOf(view.ordered.at(-1)), /^w0 w1 /);
  const live = closing(t, client2.live({ retryMs: 1 }));
  await live.subscribe(id, { from: view });
  await client2.chat(id, { message: 'and on' });
  await settled(client2, id);
  await sameAsServer(client2, id, view);
  await endsWell(next);
});

test('a reader goes on after an orderly restart by what is durable', async (t) => {
  const data = directory();
  const server = await again(data);
  const { port } = server;
  const client = clientOf(server);
  const { id } = await client.createSession();
  const reader = closing(t, client.live({ retryMs: 20 }));
  const view = await reader.subscribe(id);
  await client.chat(id, { message: 'before' });
  await settled(client, id);
  const modes = [];
  reader.onevent = ({ event, data: { mode } }) => event === 'session:snapshot' && modes.push(mode);
  await endsWell(server);
  const next = await again(data, server.key, { args: ['--port', String(port)] });
  await clientOf(next).chat(id, { message: 'after' });
  await settled(clientOf(next), id);
  await sameAsServer(clientOf(next), id, view);
  await endsWell(next);
});

test('a question survives a crash and is answered behind it', async () => {
  const data = directory();
  const server = await again(data);
  const client = clientOf(server);
  const { id } = await client.createSession();
  const question = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] };
  await client.chat(id, { message: script(`call AskUserQuestion ${JSON.stringify(question)}`, '---', 'say thanks') });
  const [{ tool_call_id: call }] = await until(async () => {
    const list = await client.questions(id);
    return list.length && list;
  }, 'the question');
  await until(async () => (await client.session(id)).status === 'waiting_for_input', 'it waits');
  await kill(server);
  const next = await again(data, server.key);
  const client2 = clientOf(next);
  assert.equal((await client2.session(id)).status, 'waiting_for_input');
  assert.equal((await client2.questions(id))[0].tool_call_id, call);
  await client2.answer(id, call, { 'Which?': 'B' });
  assert.equal((await settled(client2, id)).status, 'completed');
  assert.equal(textOf((await allTurns(client2, id)).at(-1)), 'thanks');
  assert.ok(await client2.answer(id, call, { 'Which?': 'B' }), 'the same answer again is fine');
  await endsWell(next);
});

test('a tool that a crash interrupts is an error, and is not run again', async () => {
  const data = directory();
  const server = await again(data);
  const client = clientOf(server);
  const { id } = await client.createSession();
  await client.chat(id, { message: script('say go', 'call wait {"ms":60000}', '---', 'say never') });
  await until(async () => (await allTurns(client, id)).at(-1)?.tool_calls.length, 'the call');
  await kill(server);
  const next = await again(data, server.key);
  const turns = await allTurns(clientOf(next), id);
  assert.deepEqual(turns.map(({ status }) => status), ['completed', 'interrupted']);
  assert.deepEqual([turns[1].tool_calls[0].status, turns[1].tool_calls[0].result.error_type], ['error', 'Interrupted']);
  assert.equal((await clientOf(next).session(id)).status, 'interrupted');
  // Nothing runs, and after another message the call is unchanged.
  assert.match((await next.raw('GET', '/metrics')).text, /^parley_turns_running(\{[^}]*\})? 0$/m);
  await clientOf(next).chat(id, { message: 'and now', model: 'demo/echo' });
  await until(async () => (await clientOf(next).session(id)).status === 'completed', 'the next answer');
  const after = await allTurns(clientOf(next), id);
  assert.equal(after.length, 4);
  assert.deepEqual(after.slice(0, 2), turns);
  await endsWell(next);
});

// Changes a store that no server has open.
function fill(data, ...words) {
  const { status, stderr } = spawnSync('python3',
    [join(root, 'tests/e2e/fill_store.py'), join(data, 'parley.db'), ...words.map(String)], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

test('10,000 sessions that were running at the crash are interrupted', async () => {
  const data = directory();
  const server = await again(data);
  const client = clientOf(server);
  const { id } = await client.createSession();
  await client.chat(id, { message: script('say x', 'wait 60000') });
  await until(async () => (await allTurns(client, id)).at(-1)?.status === 'streaming', 'the answer began');
  await kill(server);
  fill(data, 'sessions', 10_000);
  const next = await again(data, server.key);
  const { items, total } = await clientOf(next).sessions({ status: 'running' });
  assert.deepEqual(items, []);
  assert.equal(total, 0);
  assert.equal((await clientOf(next).sessions({ status: 'interrupted' })).total, 10_001);
  await endsWell(next);
});

test('storage stays within one and a half times the text', async () => {
  const data = directory();
  const server = await again(data);
  const client = clientOf(server);
  const text = Array.from({ length: 4096 / 8 }, (_, i) => String(i % 1000).padStart(7, 'x')).join(' ');
  const N = 200;
  const sessions = await Promise.all(Array.from({ length: 10 }, () => client.createSession()));
  await Promise.all(sessions.map(async ({ id }) => {
    for (let i = 0; i < N / 10; i++) {
      await client.chat(id, { message: text });
      await settled(client, id);
    }
  }));
  await endsWell(server);
  fill(data, 'fold');
  const bytes = statSync(join(data, 'parley.db')).size;
  const words = 2 * N * text.length;
  assert.ok(bytes < 1.5 * words, `${bytes} bytes for ${words} of text`);
});

test('the newest 50 of 100,000 turns cost what the newest 50 of 100 cost', async () => {
  const data = directory();
  const server = await again(data);
  const client = clientOf(server);
  const small = await client.createSession();
  const large = await client.createSession();
  for (const { id } of [small, large])
    for (let i = 0; i < 50; i++) {
      await client.chat(id, { message: `message ${i}` });
      await settled(client, id);
    }
  await endsWell(server);
  fill(data, 'turns', 100_000);
  const next = await again(data, server.key);
  const client2 = clientOf(next);
  const page = async (id) => (await client2.messages(id, { limit: '50' })).turns;
  const newest = await page(large.id);
  assert.deepEqual([newest.length, newest[0].sequence, newest.at(-1).sequence], [50, 99_950, 99_999]);
  /* Processor time of the server in user and system ticks; other programs do not affect it. */
  const ticks = () => spawnSync('cat', [`/proc/${next.child.pid}/stat`], { encoding: 'utf8' }).stdout
    .split(') ')[1].split(' ').slice(11, 13).reduce((sum, n) => sum + Number(n), 0);
  const cost = async (id) => {
    await page(id);
    const before = ticks();
    for (let i = 0; i < 200; i++) await page(id);
    return ticks() - before;
  };
  const few = await cost(small.id);
  const many = await cost(large.id);
  assert.ok(many <= 2 * few + 10, `${many} ticks against ${few}`);
  const view = new SessionView();
  const socket = await new Socket(next).opened;
  await socket.ask('session:subscribe', { session_id: large.id });
  view.apply(await socket.next(({ event }) => event === 'session:snapshot'));
  assert.equal(view.turns.size, 50);
  socket.close();
  await endsWell(next);
});
