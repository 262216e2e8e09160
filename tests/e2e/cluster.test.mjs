// Any node serves any session: a request to one node reaches the owner, and its effect is visible on all nodes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { clientOf, closing, endsWell, sameAsServer, script, SessionView, settled, textOf, until } from './live.mjs';

test('a message to any node is answered, and every node shows the same', { skip }, async (t) => {
  const { nodes } = await cluster(t, 3);
  const { id } = await nodes[0].client.createSession({});
  for (const [i, node] of [...nodes, ...nodes].entries()) {
    const said = await node.ask('POST', `/api/sessions/${id}/chat`, { body: { message: `word ${i}` } });
    assert.equal(said.status, 202, said.text);
    await settled(node.client, id);
  }
  const seen = await Promise.all(nodes.map((node) => node.client.messages(id)));
  for (const { turns } of seen) {
    assert.deepEqual(turns, seen[0].turns);
    assert.deepEqual(turns.map(textOf), Array.from({ length: 6 }, (_, i) => [`word ${i}`, `word ${i}`]).flat());
  }
});

const words = (n) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');

async function readers(t, nodes, id) {
  const views = [];
  for (const node of nodes) views.push(await closing(t, node.client.live({ retryMs: 1 })).subscribe(id));
  return views;
}

test('a reader on every node sees a streamed answer whole and once', { skip }, async (t) => {
  const { nodes } = await cluster(t, 3);
  const { id } = await nodes[1].client.createSession({ model: 'demo/slow' });
  const views = await readers(t, nodes, id);
  await nodes[2].client.chat(id, { message: words(100) });
  await settled(nodes[0].client, id);
  for (const [i, node] of nodes.entries()) await sameAsServer(node.client, id, views[i]);
});

test('looking at a session claims nothing, and a session follows its only listener', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  const owner = () => made.sql('SELECT name FROM sessions JOIN nodes ON writer = owner');
  const { id } = await a.client.createSession();
  assert.equal(owner(), 'n1');
  await until(() => owner() === '', 'a quiet session is given back');
  const generation = made.sql('SELECT generation FROM sessions');
  await b.client.session(id);
  await a.client.messages(id);
  assert.equal(made.sql('SELECT generation FROM sessions'), generation);
  await readers(t, [b], id);
  assert.equal(owner(), 'n2');
  await a.client.chat(id, { message: 'hello' });
  await settled(a.client, id);
  assert.equal(owner(), 'n2');
});

test('the sessions of a killed node are interrupted by the others, and go on there', { skip }, async (t) => {
  const { nodes } = await cluster(t, 3);
  const [a, ...rest] = nodes;
  const ids = [];
  for (let i = 0; i < 6; i++) {
    const { id } = await a.client.createSession({ model: 'demo/slow' });
    await a.client.chat(id, { message: words(5000) });
    ids.push(id);
  }
  const queued = await rest[0].client.chat(ids[0], { message: 'and this' });
  assert.equal(queued.queued, true);
  const views = await readers(t, rest, ids[1]);
  await until(() => views.every((view) => view.position.sequence > 5), 'the answer is heard elsewhere');
  await a.stop('SIGKILL');
  for (const id of ids.slice(1)) assert.equal((await settled(rest[1].client, id)).status, 'interrupted');
  // A new owner has a new epoch: older sequence numbers do not apply.
  const { position: { epoch } } = await rest[0].client.messages(ids[1]);
  await until(() => views.every((view) => view.position.epoch === epoch), 'the readers begin anew');
  for (const [i, node] of rest.entries()) await sameAsServer(node.client, ids[1], views[i]);
  // A message that was acknowledged as queued is sent.
  await until(async () => (await rest[1].client.messages(ids[0])).turns.some((turn) => textOf(turn) === 'and this' && turn.role === 'assistant'), 'the queued message is answered');
  const again = await rest[1].client.chat(ids[2], { message: 'once more' });
  assert.equal(again.queued, false);
});

test('a frozen node is taken over; what it wants to write later fails, and it enters again', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  await a.client.chat(id, { message: words(5000) });
  await until(async () => (await a.client.messages(id)).position.sequence > 5, 'it streams');
  a.child.kill('SIGSTOP');
  assert.equal((await settled(b.client, id)).status, 'interrupted');
  const { turns } = await b.client.messages(id);
  a.child.kill('SIGCONT');
  await a.logged('this node was taken over by another one');
  await until(async () => (await a.raw('GET', `/api/sessions/${id}`)).json?.status === 'interrupted', 'it shows what the others did');
  assert.deepEqual((await b.client.messages(id)).turns, turns);
  await until(async () => {
    const { status } = await a.raw('POST', `/api/sessions/${id}/chat`, { body: { message: 'again', client_message_id: 'm1' } });
    return status === 202;
  }, 'it works again');
  await settled(b.client, id);
  assert.equal(made.sql("SELECT count(*) FROM nodes WHERE state = 'up'"), '2');
});

test('a node that ends gives everything back at once, and one that starts disturbs nobody', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  const { id } = await b.client.createSession({ model: 'demo/slow' });
  await b.client.chat(id, { message: words(200) });
  const c = await made.add('n3');
  assert.equal((await c.client.session(id)).status, 'running');
  const mine = await a.client.createSession();
  await endsWell(a);
  assert.equal(made.sql("SELECT count(*) FROM sessions JOIN nodes ON writer = owner WHERE state = 'gone'"), '0');
  assert.equal((await c.client.chat(mine.id, { message: 'hello' })).queued, false);
  assert.equal((await settled(c.client, id)).status, 'completed');
});

test('a killed node that starts again settles its own sessions before it listens', { skip }, async (t) => {
  const made = await cluster(t, 1);
  const [a] = made.nodes;
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  await a.client.chat(id, { message: words(5000) });
  await until(async () => (await a.client.messages(id)).position.sequence > 5, 'it streams');
  await a.stop('SIGKILL');
  const again = await made.add('n1', { data: a.data });
  assert.equal((await again.client.session(id)).status, 'interrupted');
});
