// Nodes that are killed or frozen while all sessions stream. PARLEY_ROUNDS sets the number of rounds (`make soak`: 30).
import assert from 'node:assert/strict';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { Reader, checkReaders, insist, seedOf, stored } from './cluster_watch.mjs';
import { isOver, script, sleep, textOf, until } from './live.mjs';

const ROUNDS = Number(process.env.PARLEY_ROUNDS ?? 3);
const SESSIONS = 50;

const long = (name) => script(...Array.from({ length: 30 }, (_, i) => `say ${name}w${i} \nwait 100`));

// Sends messages to one session until told to stop. Each message has an id and is repeated, to any node, until it is accepted.
async function speak(made, id, work, random) {
  for (let n = 0; !work.isOver; n++) {
    const name = `${id.slice(-4)}m${n}`;
    const message = n % 3 === 2 ? `short ${name}` : long(name);
    const answer = await insist(made, 'POST', `/api/sessions/${id}/chat`, { body: { message, client_message_id: name } },
      ({ status }) => status === 202, random);
    work.said.push({ id, name, turnId: answer.json.turn_id, isQueued: answer.json.queued });
    // At most two messages wait after the streaming one.
    while (!work.isOver && random.below(3)) {
      const look = await insist(made, 'GET', `/api/sessions/${id}`, {}, ({ status }) => status === 200, random);
      if (isOver(look.json)) break;
      await sleep(300);
    }
  }
}

// Creates sessions with an idempotency key; repeats a request until it is acknowledged.
async function make(made, work, random) {
  for (let n = 0; !work.isOver; n++) {
    const intent = `made ${n}`;
    const answer = await insist(made, 'POST', '/api/sessions', { body: { intent }, headers: { 'Idempotency-Key': `make-${n}` } },
      ({ status }) => status === 201, random);
    work.made.set(intent, answer.json.id);
    await sleep(50);
  }
}

async function checkSaid(made, ids, work) {
  const node = made.any();
  for (const id of ids) {
    const { turns } = await stored(node, id);
    const names = turns.filter(({ role }) => role === 'user').map((turn) => turn.client_message_id);
    assert.equal(new Set(names).size, names.length, `${id}: nothing was said twice: ${names}`);
    for (const { name, turnId } of work.said.filter((one) => one.id === id)) {
      const own = turns.filter((turn) => turn.client_message_id === name);
      assert.equal(own.length, 1, `${name}, which was acknowledged, is there once`);
      if (turnId) assert.equal(own[0].turn_id, turnId);
    }
    turns.forEach((turn, i) => {
      assert.equal(turn.sequence, turns[0].sequence + i, 'entries have no gap');
      assert.ok(['completed', 'interrupted', 'failed'].includes(turn.status), `${turn.turn_id} is ${turn.status}`);
      if (turn.role === 'assistant') assert.match(textOf(turn), /^((\S+w\d+ )*(\S+w\d+ ?)?|short \S+)$/);
    });
  }
}

async function checkMade(made, work) {
  const rows = made.sql("SELECT intent || ' ' || count(*) FROM sessions WHERE intent LIKE 'made %' GROUP BY intent").split('\n').filter(Boolean);
  for (const row of rows) assert.match(row, / 1$/, 'a session that was asked for with a key is there once');
  for (const [intent, id] of work.made) {
    assert.ok(rows.includes(`${intent} 1`), intent);
    assert.equal((await made.any().raw('GET', `/api/sessions/${id}`)).json.intent, intent);
  }
}

// The load while `fault` hits one node after the other, and the checks afterwards.
async function underLoad(t, fault, rounds) {
  const random = seedOf(t);
  const made = await cluster(t, 3);
  const ids = [];
  for (let i = 0; i < SESSIONS; i++) ids.push((await made.nodes[i % 3].client.createSession()).id);
  const work = { isOver: false, said: [], made: new Map() };
  // One reader each, on any node; a few sessions have a reader of both kinds on every node.
  const readers = ids.map((id, i) => new Reader(made, id, made.nodes[(i + 1) % 3]));
  for (const [i, id] of ids.slice(0, 4).entries())
    for (const node of made.nodes) readers.push(new Reader(made, id, node, i % 2 ? { content: 'always' } : {}));
  t.after(() => {
    work.isOver = made.isOver = true;
    return Promise.all(readers.map((reader) => reader.close()));
  });
  const speakers = [...ids.map((id) => speak(made, id, work, random)), make(made, work, random)];
  for (const one of speakers) one.catch(() => { work.isOver = true; });
  for (let round = 0; round < rounds && !work.isOver; round++) {
    await sleep(500 + random.below(1500));
    await fault(made, random, ids, readers);
  }
  await sleep(500);
  work.isOver = true;
  await Promise.all(speakers);
  await until(async () => made.sql("SELECT count(*) FROM sessions WHERE status = 'running'") === '0', 'all has come to rest');
  t.diagnostic(`${work.said.length} messages, ${work.made.size} sessions made; ` +
    `${readers.reduce((n, { events }) => n + events, 0)} events and ${readers.reduce((n, { snapshots }) => n + snapshots, 0)} snapshots read`);
  await checkReaders(made, readers);
  await checkSaid(made, ids, work);
  await checkMade(made, work);
  return made;
}

// Checks that each session accepts changes again. bench/cluster_figures.py measures how soon.
async function takeChanges(made, ids) {
  await Promise.all(ids.map((id) => insist(made, 'PATCH', `/api/sessions/${id}`, { body: { is_pinned: true } }, ({ status }) => status === 200)));
}

test(`${ROUNDS} times kill -9 of a node under ${SESSIONS} streaming turns: nothing acknowledged is lost or doubled`, { skip }, async (t) => {
  await underLoad(t, async (made, random, ids, readers) => {
    const node = random.of(made.nodes);
    const own = ids.filter((id, i) => i % 5 === 0 && made.owner(id) === node.name);
    await made.kill(node);
    await takeChanges(made, own);
    const next = await made.again(node, random.below(2) ? undefined : {});
    for (const reader of readers) if (reader.node === node) reader.node = next;
  }, ROUNDS);
});

const FREEZES = Math.max(1, Math.floor(ROUNDS / 3));
test(`${FREEZES} times SIGSTOP of a node under ${SESSIONS} streaming turns: what it writes late fails, and it enters again`, { skip }, async (t) => {
  await underLoad(t, async (made, random, ids, readers) => {
    const node = random.of(made.nodes);
    const own = ids.filter((id, i) => i % 5 === 0 && made.owner(id) === node.name);
    const before = made.sql("SELECT encode(writer, 'hex') FROM nodes WHERE state <> 'gone' AND name = '" + node.name + "'");
    made.hold(node);
    await takeChanges(made, own);
    await until(() => made.sql(`SELECT state FROM nodes WHERE encode(writer, 'hex') = '${before}'`) === 'gone', 'it is taken over');
    // Nothing of the old writer is committed any more, whatever it was working on.
    const mark = made.sql(`SELECT number FROM commits WHERE encode(writer, 'hex') = '${before}'`);
    made.letGo(node);
    await until(async () => (await node.raw('GET', '/readyz', { key: null }).catch(() => ({}))).status === 200 &&
      made.sql(`SELECT count(*) FROM nodes WHERE state = 'up' AND name = '${node.name}'`) === '1', 'it enters again');
    assert.equal(made.sql(`SELECT number FROM commits WHERE encode(writer, 'hex') = '${before}'`), mark);
    await node.logged('this node was taken over by another one');
  }, FREEZES);
});
