// Outages of PostgreSQL and NATS during streaming turns: ownership does not change, and no data or event is lost.
import assert from 'node:assert/strict';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { Reader, checkReaders, hasNats, insist, natsDoes, postgresDoes, seedOf, stored, tellsNothing } from './cluster_watch.mjs';
import { isOver, script, sleep, until } from './live.mjs';

const stream = (name, n = 200, ms = 50) => script(...Array.from({ length: n }, (_, i) => `say ${name}w${i} \nwait ${ms}`));

// Sessions that stream, each with a reader on every node.
async function streaming(t, n, { args } = {}) {
  const made = await cluster(t, 3, { args });
  const ids = [];
  for (let i = 0; i < n; i++) ids.push((await made.nodes[i % 3].client.createSession()).id);
  const readers = ids.flatMap((id, i) => made.nodes.map((node, k) => new Reader(made, id, node, (i + k) % 2 ? { content: 'always' } : {})));
  t.after(() => {
    made.isOver = true;
    return Promise.all(readers.map((reader) => reader.close()));
  });
  await until(() => readers.every(({ snapshots }) => snapshots), 'all listen');
  for (const [i, id] of ids.entries()) await made.nodes[(i + 1) % 3].client.chat(id, { message: stream(`s${i}`), client_message_id: 'first' });
  await until(() => readers.every(({ where }) => where.sequence > 5), 'all hear it');
  return { made, ids, readers };
}

const ready = async (node) => {
  const { status, json } = await node.raw('GET', '/readyz', { key: null });
  return { status, degraded: json?.degraded ?? [] };
};

// The ownership: the owner of running sessions, and the epoch of all.
const owners = (made, ids) => new Map(ids.map((id) => [id, made.sql(`SELECT status, epoch, encode(owner, 'hex') || ':' || generation FROM sessions WHERE encode(id, 'hex') = '${id.replace(/^sess_|-/g, '')}'`).split('|')]));

function sameOwners(made, before, what) {
  for (const [id, [status, epoch, owner]] of owners(made, [...before.keys()])) {
    assert.equal(epoch, before.get(id)[1], `${id} has its epoch ${what}`);
    if (status === 'running') assert.equal(owner, before.get(id)[2], `${id} has its owner ${what}`);
  }
}

const allReady = (made) => until(async () => (await Promise.all(made.nodes.map(ready))).every(({ status }) => status === 200), 'all are ready');

async function allDone(made, ids) {
  for (const id of ids) await until(async () => {
    const { status, json } = await made.any().raw('GET', `/api/sessions/${id}`);
    return status === 200 && isOver(json);
  }, `${id} comes to rest`);
}

async function allWhole(made, ids, readers, n = 200) {
  await allDone(made, ids);
  await checkReaders(made, readers);
  for (const [i, id] of ids.entries()) {
    const { turns } = await stored(made.any(), id);
    const { status, blocks } = turns.find(({ role }) => role === 'assistant');
    assert.equal(status, 'completed');
    assert.equal(blocks.map(({ content }) => content).join('').trim(), Array.from({ length: n }, (_, k) => `s${i}w${k}`).join(' '));
  }
}

test('PostgreSQL is restarted, killed and held: no session changes hands, no turn is interrupted', { skip }, async (t) => {
  const { made, ids, readers } = await streaming(t, 6);
  const before = owners(made, ids);
  const acknowledged = [];
  let n = 0;
  let isOver = false;
  const writer = (async () => {
    for (; !isOver; n++) {
      const answer = await insist(made, 'POST', '/api/sessions', { body: { intent: `made ${n}` }, headers: { 'Idempotency-Key': `k${n}` } }, ({ status }) => status === 201);
      acknowledged.push([`made ${n}`, answer.json.id]);
      await sleep(10);
    }
  })();
  writer.catch(() => {});
  for (const [begin, end] of [['--crash'], ['--pause', '--resume'], ['--stop', '--start']]) {
    postgresDoes(begin);
    if (end) {
      await sleep(1500);
      postgresDoes(end);
    }
    await allReady(made);
    sameOwners(made, before, `after ${begin}`);
  }
  isOver = true;
  await writer;
  await allWhole(made, ids, readers);
  for (const [intent, id] of acknowledged) assert.equal((await made.any().raw('GET', `/api/sessions/${id}`)).json.intent, intent);
  assert.equal(made.sql("SELECT count(*) FROM (SELECT intent FROM sessions WHERE intent LIKE 'made %' GROUP BY intent HAVING count(*) > 1) AS twice"), '0');
  for (const node of made.nodes) assert.ok(!node.err.includes('taken over'), node.err);
});

test('connections to PostgreSQL are cut in the middle of commits: nothing is lost or doubled', { skip }, async (t) => {
  const { made, ids, readers } = await streaming(t, 6);
  const random = seedOf(t);
  const name = made.sql('SELECT current_database()');
  const said = new Map(ids.map((id) => [id, []]));
  let isOver = false;
  const speakers = ids.map(async (id) => {
    for (let n = 0; !isOver && n < 40; n++) {
      const name = `q${n}`;
      const answer = await insist(made, 'PATCH', `/api/sessions/${id}`, { body: { intent: name }, headers: { 'Idempotency-Key': `${id}${name}` } }, ({ status }) => status === 200, random);
      said.get(id).push([name, Number(answer.headers.etag.match(/\d+/)[0])]);
      await sleep(20);
    }
  });
  for (const one of speakers) one.catch(() => {});
  for (let i = 0; i < 12; i++) {
    // Prefers connections that are in a transaction.
    made.sql(`SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid() ORDER BY (state <> 'idle') DESC, random() LIMIT ${1 + i % 3}) AS chosen`);
    await sleep(150);
  }
  isOver = true;
  await Promise.all(speakers);
  await allWhole(made, ids, readers);
  for (const [id, list] of said) {
    const versions = list.map(([, version]) => version);
    assert.deepEqual(versions, [...new Set(versions)].sort((a, b) => a - b), `each change of ${id} was made once: ${versions}`);
  }
  for (const node of made.nodes) assert.ok(!node.err.includes('taken over'), node.err);
});

test('without its database a node refuses changes, sends no event and is not ready; then it goes on', { skip }, async (t) => {
  const { made, ids, readers } = await streaming(t, 3);
  const before = owners(made, ids);
  t.after(() => postgresDoes('--resume'));
  postgresDoes('--pause');
  await until(async () => (await Promise.all(made.nodes.map(ready))).every(({ status }) => status === 503), 'no node is ready');
  for (const node of made.nodes) await node.logged('this node does not hold its lease');
  const heard = readers.map(({ events }) => events);
  for (const [i, node] of made.nodes.entries()) {
    for (const [method, path, body] of [['POST', `/api/sessions/${ids[i]}/chat`, { message: 'now' }], ['PATCH', `/api/sessions/${ids[i]}`, { intent: 'now' }], ['DELETE', `/api/sessions/${ids[i]}`], ['POST', '/api/sessions', {}]]) {
      const answer = await node.ask(method, path, { body });
      assert.equal(answer.status, 503, answer.text);
      assert.equal(answer.json.retryable, true);
      assert.ok(Number(answer.headers['retry-after']) >= 1);
      tellsNothing(answer.text);
    }
    assert.equal((await node.raw('GET', '/healthz', { key: null })).status, 200);
  }
  assert.deepEqual(readers.map(({ events }) => events), heard, 'nobody hears anything');
  postgresDoes('--resume');
  await allReady(made);
  await allDone(made, ids);
  sameOwners(made, before, 'at the end');
  await checkReaders(made, readers);
  for (const id of ids) assert.equal((await made.any().raw('GET', `/api/sessions/${id}`)).json.status, 'completed');
});

const noNats = skip || (!hasNats && (process.env.PARLEY_TEST_NATS_SKIP ?? 'run it by tests/contract/with_nats'));
test('NATS is killed, held and started again: every reader has every event once, and `degraded` is told', { skip: noNats }, async (t) => {
  const { made, ids, readers } = await streaming(t, 6);
  const before = owners(made, ids);
  const times = (node, text) => node.err.split(text).length - 1;
  const told = (text, n) => until(() => made.nodes.every((node) => times(node, text) >= n), `all nodes say: ${text}`);
  await told('the bus between the nodes works', 1);
  for (const [n, [begin, end]] of [['--kill', '--start'], ['--pause', '--resume']].entries()) {
    natsDoes(begin);
    await told('letters go by the database', n + 1);
    for (const node of made.nodes) assert.equal((await ready(node)).status, 200);
    for (const [i, id] of ids.entries()) assert.equal((await made.nodes[i % 3].ask('PATCH', `/api/sessions/${id}`, { body: { intent: begin } })).status, 200);
    natsDoes(end);
    await told('the bus between the nodes works', n + 2);
  }
  sameOwners(made, before, 'at the end');
  await allWhole(made, ids, readers);
  for (const node of made.nodes) assert.ok(!node.err.includes('taken over'), node.err);
});
