// The user's view of the nodes: GET /api/cluster, parley cluster, headers, /readyz, metrics; and the settings of a node.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { serve, settled, until } from './live.mjs';

const bin = process.env.PARLEY ?? 'build/parley';

function run(args, env = {}) {
  return new Promise((resolve) => {
    execFile(bin, args, { env: { ...process.env, ...env }, encoding: 'utf8' }, (error, out, err) => resolve({ code: error ? error.code : 0, out, err }));
  });
}
const asking = (node) => ['--server', node.url];
const keyOf = (node) => ({ PARLEY_KEY: node.key });

test('every node lists all nodes and the bus', { skip }, async (t) => {
  const { nodes } = await cluster(t, 3, { args: ['--address', '10.1.2.3:8787'] });
  const kind = process.env.PARLEY_TEST_NATS ? 'nats' : 'pg';
  for (const node of nodes) {
    await until(async () => (await node.ask('GET', '/api/cluster')).json.nodes.length === 3, 'it has heard of the others');
    const { status, json } = await node.ask('GET', '/api/cluster');
    assert.equal(status, 200);
    assert.deepEqual(json.nodes.map((one) => [one.name, one.state, one.address]), [['n1', 'up', '10.1.2.3:8787'], ['n2', 'up', '10.1.2.3:8787'], ['n3', 'up', '10.1.2.3:8787']]);
    for (const one of json.nodes) {
      assert.ok(one.lease_ms_left > 0 && one.lease_ms_left <= 4000, `${one.lease_ms_left}`);
      assert.match(one.version, /^\d/);
    }
    assert.deepEqual(json.bus, { kind, state: 'up' });
  }
});

test('the list counts sessions, turns and sockets of each node', { skip }, async (t) => {
  const { nodes: [a, b] } = await cluster(t, 2);
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  const live = a.client.live({ retryMs: 1 });
  t.after(() => live.close());
  await live.subscribe(id);
  await a.client.chat(id, { message: Array.from({ length: 4000 }, (_, i) => `w${i}`).join(' ') });
  await until(async () => {
    const one = (await b.ask('GET', '/api/cluster')).json.nodes.find(({ name }) => name === 'n1');
    return one?.sessions === 1 && one.running === 1 && one.sockets === 1;
  }, 'the other node shows them');
});

test('parley cluster prints a table, chosen columns and JSON', { skip }, async (t) => {
  const { nodes: [a] } = await cluster(t, 2);
  await until(async () => (await a.ask('GET', '/api/cluster')).json.nodes.length === 2, 'it has heard of the other');
  const table = await run(['cluster', ...asking(a), '--format', 'name,state'], keyOf(a));
  assert.equal(table.code, 0, table.err);
  assert.equal(table.out, 'n1\tup\nn2\tup\n');
  const json = await run(['cluster', '--json', ...asking(a)], keyOf(a));
  assert.deepEqual(JSON.parse(json.out).nodes.map(({ name }) => name), ['n1', 'n2']);
  const wrong = await run(['cluster', ...asking(a), '--format', 'nam'], keyOf(a));
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /name/);
});

test('only an administrator sees the nodes', { skip }, async (t) => {
  const { nodes: [a] } = await cluster(t, 1);
  const made = await a.ask('POST', '/api/users', { body: { name: 'ada' } });
  for (const [method, path] of [['GET', '/api/cluster'], ['POST', '/api/cluster/nodes/n1/drain']]) {
    const { status } = await a.raw(method, path, { headers: { authorization: `Bearer ${made.json.key.plaintext}` } });
    assert.equal(status, 403);
  }
});

test('a misspelt node, and the last one, are not drained', { skip }, async (t) => {
  const { nodes: [a] } = await cluster(t, 1);
  const misspelt = await a.raw('POST', '/api/cluster/nodes/n11/drain', { headers: { authorization: `Bearer ${a.key}` } });
  assert.equal(misspelt.status, 404);
  assert.match(misspelt.text, /did you mean \\"n1\\"/);
  const last = await a.raw('POST', '/api/cluster/nodes/n1/drain', { headers: { authorization: `Bearer ${a.key}` } });
  assert.equal(last.status, 409);
  assert.match(last.text, /only node that is up/);
  const told = await run(['cluster', 'drain', 'n1', ...asking(a)], keyOf(a));
  assert.notEqual(told.code, 0);
  assert.match(told.err, /only node that is up/);
  assert.equal((await a.raw('GET', '/readyz')).status, 200);
});

test('a server that is alone is one node, with a local bus', async (t) => {
  const node = await serve({ args: ['--node', 'solo'] });
  t.after(() => node.stop('SIGKILL'));
  const { json } = await node.ask('GET', '/api/cluster');
  assert.deepEqual(json.nodes.map(({ name, state, lease_ms_left }) => [name, state, lease_ms_left]), [['solo', 'up', null]]);
  assert.deepEqual(json.bus, { kind: 'local', state: 'up' });
  const refused = await node.raw('POST', '/api/cluster/nodes/solo/drain', { headers: { authorization: `Bearer ${node.key}` } });
  assert.equal(refused.status, 409);
});

test('answers name their node, and the owner where a session was asked', { skip }, async (t) => {
  const { nodes: [a, b] } = await cluster(t, 2);
  assert.equal((await a.raw('GET', '/healthz')).headers['x-parley-node'], 'n1');
  assert.equal((await b.raw('GET', '/nothing')).headers['x-parley-node'], 'n2');
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  await a.client.chat(id, { message: Array.from({ length: 2000 }, (_, i) => `w${i}`).join(' ') });
  const asked = await b.raw('GET', `/api/sessions/${id}`, { headers: { authorization: `Bearer ${b.key}` } });
  assert.equal(asked.headers['x-parley-node'], 'n2');
  assert.equal(asked.headers['x-parley-owner'], 'n1');
  const here = await a.raw('GET', `/api/sessions/${id}`, { headers: { authorization: `Bearer ${a.key}` } });
  assert.equal(here.headers['x-parley-owner'], 'n1');
});

test('metrics of a node have help and type', { skip }, async (t) => {
  const { nodes: [a, b] } = await cluster(t, 2);
  const { id } = await a.client.createSession({ model: 'demo/slow' });
  await a.client.chat(id, { message: Array.from({ length: 2000 }, (_, i) => `w${i}`).join(' ') });
  await b.client.session(id);
  const { text } = await b.ask('GET', '/metrics');
  for (const name of ['lease_age_seconds', 'sessions_owned', 'takeovers_total', 'fenced_total', 'asks_forwarded_total', 'link_gaps_total', 'letters_dropped_total', 'bus_up', 'commit_seconds', 'loop_lag_seconds']) {
    assert.match(text, new RegExp(`^# HELP parley_node_${name} .+$`, 'm'));
    assert.match(text, new RegExp(`^# TYPE parley_node_${name} (gauge|counter|histogram)$`, 'm'));
  }
  assert.match(text, /^parley_node_bus_up 1$/m);
  assert.match(text, /^parley_node_asks_forwarded_total [1-9]/m);
  assert.match(text, /^parley_store_rewinds_total 0$/m);
});

test('wrong settings of a node are refused with what to do', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-node-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'file');
  writeFileSync(file, 'nats://user:secret@127.0.0.1:4222\n');
  const pg = ['--store', 'postgres://127.0.0.1:1/none'];
  const cases = [
    [['--node', 'a b'], /1 to 63 letters/],
    [['--node', 'n'.repeat(64)], /1 to 63 letters/],
    [['--node', ''], /1 to 63 letters|node/],
    [['--address', 'a b'], /without spaces/],
    [['--address', 'a'.repeat(256)], /up to 255/],
    [['--bus', 'nats://127.0.0.1:4222'], /--store postgres/],
    [[...pg, '--bus', 'http://127.0.0.1'], /nats:/],
    [[...pg, '--bus-ca', file], /bus_ca needs bus/],
    [[...pg, '--bus', 'nats://127.0.0.1:4222', '--bus-cert', file], /--bus-key/],
    [[...pg, '--bus', 'nats://127.0.0.1:4222', '--bus-creds', join(dir, 'none')], /cannot be read/],
  ];
  for (const [args, says] of cases) {
    const { code, err } = await run(['serve', '--data', join(dir, 'data'), ...args]);
    assert.notEqual(code, 0, args.join(' '));
    assert.match(err, says, args.join(' '));
  }
  const both = await run(['serve', '--data', join(dir, 'data'), ...pg, '--bus', 'nats://h:1'], { PARLEY_BUS_FILE: file });
  assert.match(both.err, /bus and bus_file/);
  const good = await run(['serve', '--print-config', '--node', 'n'.repeat(63), '--address', 'a'.repeat(255), ...pg, '--bus', 'nats://user:secret@127.0.0.1:4222,nats://x@h:1']);
  assert.equal(good.code, 0, good.err);
  assert.match(good.out, /^bus: nats:\/\/\*\*\*@127\.0\.0\.1:4222,nats:\/\/\*\*\*@h:1 /m);
  const byFile = await run(['serve', '--print-config', ...pg], { PARLEY_BUS_FILE: file });
  assert.equal(byFile.code, 0, byFile.err);
  assert.ok(!byFile.out.includes('secret'));
});
