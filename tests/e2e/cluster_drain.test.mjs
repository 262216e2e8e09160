// A node that shuts down under load: it tells the others, finishes its turns, closes its sockets, and exits with 0.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { clientOf, closing, sameAsServer, Socket, settled, textOf, until } from './live.mjs';

const words = (n) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');
const states = (made) => made.sql("SELECT string_agg(name || ' ' || state, ', ' ORDER BY name) FROM nodes WHERE state <> 'gone'");
const exited = (node) => new Promise((resolve) => {
  const { exitCode, signalCode } = node.child;
  if (exitCode !== null || signalCode) resolve(exitCode ?? signalCode);
  else node.child.once('exit', (code, signal) => resolve(code ?? signal));
});

test('after SIGTERM others know at once, running turns end well, quiet sessions move', { skip }, async (t) => {
  const made = await cluster(t, 2, { acceptMs: 3000, args: ['--drain', '60000'] });
  const [a, b] = made.nodes;
  const quiet = await a.client.createSession();
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  await a.client.chat(id, { message: words(400) });
  await until(async () => (await a.ask('GET', '/api/cluster')).json.nodes.length === 2, 'it knows the other');
  a.child.kill('SIGTERM');
  await until(() => states(made) === 'n1 draining, n2 up', 'the others are told');
  const ready = await a.raw('GET', '/readyz');
  assert.equal(ready.status, 503);
  assert.equal((await a.raw('GET', '/healthz')).status, 200);
  // It still answers; any other node may take over an idle session.
  assert.equal((await a.raw('GET', `/api/sessions/${id}`, { headers: { authorization: `Bearer ${a.key}` } })).json.status, 'running');
  await until(() => made.sql(`SELECT count(*) FROM sessions JOIN nodes ON writer = owner WHERE name = 'n1' AND status <> 'running'`) === '0', 'it gives quiet sessions back');
  await b.client.chat(quiet.id, { message: 'hello' });
  assert.equal(await exited(a), 0);
  assert.equal((await b.client.session(id)).status, 'completed');
  const { turns } = await b.client.messages(id);
  assert.equal(textOf(turns.at(-1)), words(400));
  await settled(b.client, quiet.id);
  assert.equal(states(made), 'n2 up');
});

test('a turn that is longer than the drain is ended as a shut-down, and goes on elsewhere', { skip }, async (t) => {
  const made = await cluster(t, 2, { args: ['--drain', '300'] });
  const [a, b] = made.nodes;
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  await a.client.chat(id, { message: words(100000) });
  await until(async () => (await a.client.messages(id)).position.sequence > 5, 'it streams');
  const queued = await b.client.chat(id, { message: 'and this' });
  assert.equal(queued.queued, true);
  a.child.kill('SIGTERM');
  assert.equal(await exited(a), 0);
  await until(async () => (await b.client.messages(id)).turns.some((turn) => turn.role === 'assistant' && textOf(turn) === 'and this'), 'the queued message is answered by the other');
});

// A TCP proxy to the first node that accepts. The nodes may start after the proxy.
async function proxy(t, nodes) {
  const server = createServer((client) => {
    const reach = ([node, ...rest]) => {
      if (!node) { client.destroy(); return; }
      const { port } = new URL(node.url);
      const to = connect(Number(port), '127.0.0.1');
      to.once('connect', () => { client.pipe(to).pipe(client); });
      to.on('error', () => (to.connecting || !to.bytesRead ? reach(rest) : client.destroy()));
      client.on('error', () => to.destroy());
      to.on('close', () => { if (to.bytesRead) client.destroy(); });
    };
    reach(nodes);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => server.close());
  return server.address().port;
}

test('sockets are told and closed with 1001, and clients come back to another node by themselves', { skip }, async (t) => {
  const nodes = [];
  const port = await proxy(t, nodes);
  const made = await cluster(t, 2, { args: ['--drain', '2000', '--allow-host', `127.0.0.1:${port}`] });
  nodes.push(...made.nodes);
  const [a, b] = nodes;
  const { id } = await b.client.createSession({ model: 'demo/slow' });
  await until(async () => (await a.ask('GET', '/api/cluster')).json.nodes.length === 2, 'it knows the other');
  const sockets = [];
  for (let i = 0; i < 8; i++) sockets.push(await new Socket(a).opened);
  const front = clientOf(Object.assign(Object.create(a), { url: `http://127.0.0.1:${port}`, port }));
  const view = await closing(t, front.live({ retryMs: 1 })).subscribe(id);
  await until(async () => (await b.ask('GET', '/api/cluster')).json.nodes[0].sockets === 9, 'all are at the first node');
  a.child.kill('SIGTERM');
  for (const socket of sockets) {
    assert.equal((await socket.closed).code, 1001);
    assert.equal(socket.frames.at(-1).event, 'system:going_away');
  }
  assert.equal(await exited(a), 0);
  await until(async () => (await b.ask('GET', '/api/cluster')).json.nodes[0].sockets === 1, 'the client is at the other node');
  await b.client.chat(id, { message: words(50) });
  await settled(b.client, id);
  await sameAsServer(b.client, id, view);
});

test('parley cluster drain ends a node from another one', { skip }, async (t) => {
  const made = await cluster(t, 3);
  // The nodes after the first were ready in any order.
  const [a, b, c] = ['n1', 'n2', 'n3'].map((name) => made.nodes.find((node) => node.name === name));
  const drained = await a.ask('POST', '/api/cluster/nodes/n2/drain');
  assert.equal(drained.status, 202, drained.text);
  assert.deepEqual(drained.json, { name: 'n2', is_draining: true });
  assert.equal(await exited(b), 0, b.err);
  await until(async () => (await c.ask('GET', '/api/cluster')).json.nodes.length === 2, 'the others see two');
  const rows = await a.ask('GET', '/api/audit?limit=10');
  assert.ok(rows.json.items.some(({ action, object }) => action === 'node.drain' && object === 'n2'));
  // Two drains at the same time: one of the two nodes stays.
  const both = await Promise.all([a.raw('POST', '/api/cluster/nodes/n3/drain', { headers: { authorization: `Bearer ${a.key}` } }), c.raw('POST', '/api/cluster/nodes/n1/drain', { headers: { authorization: `Bearer ${c.key}` } })]);
  assert.equal(both.filter(({ status }) => status === 202).length, 1, both.map(({ text }) => text).join());
});
