// parley doctor about nodes: leases, standbys of the database, the bus, extensions with missing files; in both languages.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Cluster, cluster, postgres, skip, sql } from './cluster.mjs';
import { hasNats, natsDoes } from './cluster_watch.mjs';
import { extend } from './extending.mjs';
import { run } from './harness.mjs';
import { until } from './waiting.mjs';

const doctor = (made, data, ...more) => run(['doctor', '--data', data, '--store', made.url, '--port', '0', ...more]);
const checks = (made, data, ...names) => JSON.parse(doctor(made, data, '--json').out).checks.filter(({ check }) => names.includes(check));
const freshData = (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-doctor-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

test('doctor shows the nodes, their leases and the bus', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  const nodes = checks(made, a.data, 'nodes');
  assert.deepEqual(nodes.map(({ level, says }) => [level, says.replace(/version \S+;/, 'version V;').replace(/[\d.]+ s more/, 'N s more')]),
    ['n1', 'n2'].map((name) => ['ok', `node ${name} is up, version V; its lease lasts N s more`]));
  assert.deepEqual(checks(made, a.data, 'bus').map(({ level, says }) => [level, says]), [['ok', `messages between the nodes go through ${hasNats ? 'nats' : 'pg'}`]]);
  // Run on a machine without a node.
  const elsewhere = freshData(t);
  assert.equal(checks(made, elsewhere, 'nodes').length, 2);
  assert.match(checks(made, elsewhere, 'bus')[0].says, /only a running node can tell whether that works/);
  const chinese = doctor(made, a.data, '--lang', 'zh').out;
  assert.match(chinese, /节点 +节点 n1 正在运行，版本 .*；租约还剩 [\d.]+ 秒/);
  assert.match(chinese, /总线 +节点之间的消息经由/);
  // Pauses both nodes: the second must not take over from the first.
  made.hold(a);
  made.hold(b);
  t.after(() => { made.letGo(a); made.letGo(b); });
  const silent = await until(() => {
    const found = checks(made, elsewhere, 'nodes').filter(({ level }) => level === 'warning');
    return found.length === 2 && found;
  }, 'their leases have run out');
  for (const { says, advice } of silent) {
    assert.match(says, /^the lease of node n\d has run out: it was renewed [\d.]+ s ago$/);
    assert.match(advice, /look whether it runs/);
  }
});

test('doctor compares names and versions of nodes', { skip }, async (t) => {
  const made = await cluster(t, 2);
  made.sql("UPDATE nodes SET name = 'n1', build = '0.0.1' WHERE name = 'n2'");
  const says = checks(made, freshData(t), 'nodes').filter(({ level }) => level === 'warning').map((one) => `${one.says}: ${one.advice}`);
  assert.deepEqual(says, ['two nodes have the name n1: give each its own name (--node), unless one has just been replaced', 'the nodes have different versions: finish the upgrade: end and start one node after the other']);
});

test('doctor says when NATS is away', { skip: skip || (!hasNats && 'run it by tests/contract/with_nats') }, async (t) => {
  const made = await cluster(t, 1);
  natsDoes('--kill');
  t.after(() => natsDoes('--start'));
  await made.nodes[0].logged('letters go by the database');
  const [{ level, says, advice }] = checks(made, made.nodes[0].data, 'bus');
  assert.equal(level, 'warning');
  assert.match(says, /NATS does not answer/);
  assert.match(advice, /--bus/);
});

test('doctor names extensions whose files are not here', { skip }, async (t) => {
  const made = await cluster(t, 1);
  const [a] = made.nodes;
  await extend(a, 'lost', {});
  assert.deepEqual(checks(made, a.data, 'extensions').map(({ level, says }) => [level, says]), [['ok', 'there are 1 extensions']]);
  rmSync(join(a.data, 'extensions', 'lost'), { recursive: true, force: true });
  const [lost] = checks(made, a.data, 'extensions');
  assert.deepEqual([lost.level, lost.says, lost.advice], ['warning', 'extension lost is not installed on this node', 'add it again with parley ext update']);
});

// The database counts a receiver of its log as a standby.
async function receiving(t) {
  const dir = freshData(t);
  const url = postgres.replace(/^postgres:/, 'postgresql:');
  const child = spawn('pg_receivewal', ['-D', dir, '-d', url, '--no-loop', '-s', '1'], { stdio: 'ignore' });
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  t.after(async () => { child.kill('SIGKILL'); await ended; });
  await until(() => sql(postgres, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") === '1', 'it receives');
}

test('doctor and a start warn of standbys that nobody waits for', { skip: skip || (spawnSync('pg_receivewal', ['--version']).error && 'pg_receivewal is not installed') }, async (t) => {
  const made = new Cluster(t);
  const node = await made.add();
  assert.deepEqual(checks(made, node.data, 'standbys').map(({ level }) => level), ['ok']);
  await receiving(t);
  const [{ level, says, advice }] = checks(made, node.data, 'standbys');
  assert.deepEqual([level, says], ['warning', 'the database has 1 standbys, and a change waits for none of them']);
  assert.match(advice, /synchronous_standby_names/);
  const second = await made.add();
  await second.logged('the database has 1 standbys and waits for none');
});

test('doctor says nothing of nodes where the store has none', async (t) => {
  const { out } = run(['doctor', '--data', freshData(t), '--port', '0', '--json']);
  assert.deepEqual(JSON.parse(out).checks.filter(({ check }) => ['nodes', 'standbys', 'bus', 'extensions'].includes(check)), []);
});
