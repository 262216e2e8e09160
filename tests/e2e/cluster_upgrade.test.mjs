// Two program versions on one database: nodes are replaced one after the other under load, by a program with another version
// and one more migration (tests/upgrade).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { Cluster, cluster, skip as noPostgres } from './cluster.mjs';
import { textOf, until } from './live.mjs';

const next = process.env.PARLEY_NEXT;
const old = process.env.PARLEY ?? 'build/parley';
const skip = noPostgres || (!next && 'PARLEY_NEXT names no program (tests/meson.build: parley-next)');

// A client behind a proxy: uses any node that is up, and repeats requests that may be repeated.
class Behind {
  constructor(made) { Object.assign(this, { made, n: 0, failed: [] }); }

  async ask(method, path, body) {
    for (let tries = 0; tries < 400; tries++) {
      const nodes = this.made.nodes.filter((node) => !node.isLeft);
      const node = nodes[this.n++ % nodes.length];
      try {
        const answer = await node.raw(method, path, { body });
        if (answer.status < 400) return answer.json;
        const retryable = answer.status === 503 || answer.json?.retryable || answer.json?.error?.retryable;
        if (!retryable) { this.failed.push(`${method} ${path} ${answer.status} ${answer.text}`); return answer.json; }
      } catch (error) {
        if (!['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code) && !/socket hang up/.test(error.message)) throw error;
      }
      await sleep(25);
    }
    this.failed.push(`${method} ${path} was refused for too long`);
    return undefined;
  }
}

async function talk(behind, id, wants) {
  const said = [];
  for (let i = 0; wants() || i < 3; i++) {
    const message = `message ${i} of ${id}`;
    // The number of words makes the turn long; the id makes a repetition harmless.
    await behind.ask('POST', `/api/sessions/${id}/chat`, { message, client_message_id: `m${i}` });
    said.push(message);
    let session;
    do {
      await sleep(5);
      session = await behind.ask('GET', `/api/sessions/${id}`);
    } while (session?.status === 'running');
    if (session?.status !== 'completed') behind.failed.push(`${id} is ${session?.status} after message ${i}`);
  }
  return said;
}

test('three nodes are replaced one after the other under load: nothing fails, no turn is interrupted', { skip }, async (t) => {
  const made = await cluster(t, 3, { acceptMs: 1000, args: ['--drain', '60000'], env: { PARLEY_DEMO_WORD_MS: '20' } });
  const behind = new Behind(made);
  const before = [...made.nodes];
  const ids = [];
  for (let i = 0; i < 9; i++) ids.push((await behind.ask('POST', '/api/sessions', { model: 'demo/slow' })).id);
  let isOver = false;
  const talks = ids.map((id) => talk(behind, id, () => !isOver));
  for (const node of before) {
    const fresh = await made.add(`${node.name}b`, { command: next });
    assert.match((await fresh.raw('GET', '/api/version')).json.version, /-next$/);
    const exit = new Promise((resolve) => { node.child.once('exit', resolve); });
    node.child.kill('SIGTERM');
    // The proxy stops using a node that is not ready; it notices a moment later.
    await until(async () => (await node.raw('GET', '/readyz')).status === 503, 'it is not ready');
    node.isLeft = true;
    assert.equal(await exit, 0);
  }
  isOver = true;
  const said = await Promise.all(talks);
  assert.deepEqual(behind.failed, []);
  for (const [i, id] of ids.entries()) {
    // The newest page and the total: each message and each answer once, in order.
    const { turns, total } = await made.nodes.at(-1).client.messages(id);
    const all = said[i].flatMap((message) => [message, message]);
    assert.equal(total, all.length);
    assert.deepEqual(turns.map(textOf), all.slice(-turns.length));
    for (const turn of turns) assert.notEqual(turn.status, 'interrupted');
  }
  // The list of nodes is as old as the last renewal, which may precede the end of the last node that left.
  const shown = async () => (await made.nodes.at(-1).ask('GET', '/api/cluster')).json.nodes;
  await until(async () => (await shown()).length === 3, 'who left is not shown any more');
  assert.deepEqual((await shown()).map(({ name, version }) => [name, /-next$/.test(version)]), [['n1b', true], ['n2b', true], ['n3b', true]]);
});

test('an older program uses a newer schema within compatible_from, and refuses one outside it', { skip }, async (t) => {
  const made = new Cluster(t);
  const fresh = await made.add('new', { command: next });
  const newest = Number(made.sql('SELECT max(version) FROM schema_version'));
  assert.equal(made.sql('SELECT compatible_from FROM schema_version ORDER BY version DESC LIMIT 1'), '25');
  assert.equal(made.sql("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('sessions_trial')"), 't');
  const older = await made.add('old', { command: old });
  const { id } = await fresh.client.createSession();
  assert.equal((await older.client.chat(id, { message: 'hello' })).queued, false);
  await until(async () => (await older.ask('GET', '/api/cluster')).json.nodes.length === 2, 'they see each other');
  assert.equal(Number(made.sql('SELECT max(version) FROM schema_version')), newest);
  made.sql(`UPDATE schema_version SET compatible_from = ${newest} WHERE version = ${newest}`);
  const data = mkdtempSync(join(tmpdir(), 'parley-old-'));
  t.after(() => rmSync(data, { recursive: true }));
  const refused = spawnSync(old, ['serve', '--port', '0', '--data', data, '--store', made.url], { encoding: 'utf8' });
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, new RegExp(`schema version ${newest}, which needs a Parley that supports version ${newest} at least`));
});

test('an index that was cut off is built again at the next start', { skip }, async (t) => {
  const made = new Cluster(t);
  const node = await made.add('n1', { command: next });
  await node.stop('SIGTERM');
  // The state after an interrupted index build.
  made.sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('sessions_trial')");
  await Promise.all(['n2', 'n3'].map((name) => made.add(name, { command: next })));
  assert.equal(made.sql("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('sessions_trial')"), 't');
});

// A letter in the table `letters` as another node would send it: sealed with the cluster's secret.
const sealed = `
import hashlib, sys
secret, receiver, sender, kind, number = bytes.fromhex(sys.argv[1]), bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
letter = bytes([int(sys.argv[6]), kind]) + sender + number.to_bytes(8, 'big')
letter += hashlib.blake2b(receiver + letter, key=secret, digest_size=16).digest()
print((bytes([0]) + len(letter).to_bytes(4, 'big') + letter).hex())
`;

test('a letter of a kind that nobody knows is answered with "unknown"', { skip }, async (t) => {
  const made = await cluster(t, 1);
  const me = made.sql("SELECT encode(writer, 'hex') FROM nodes WHERE name = 'n1'");
  const secret = made.sql("SELECT encode(value, 'hex') FROM settings WHERE name = 'cluster_secret'");
  const stranger = 'ab'.repeat(16);
  made.sql(`INSERT INTO commits (writer, number, generation, created_ms) SELECT '\\x${stranger}', number, generation, created_ms FROM commits WHERE writer = '\\x${me}'`);
  made.sql(`INSERT INTO nodes (writer, name, state, until_ms, renewed_ms, build, protocol, address) VALUES ('\\x${stranger}', 'later', 'up', 9999999999999, 9999999999999, 'later', 7, '')`);
  const parcel = execFileSync('python3', ['-c', sealed, secret, me, stranger, '99', '1', '1'], { encoding: 'utf8' }).trim();
  made.sql(`INSERT INTO letters (receiver, sender, number, sent_ms, body) VALUES ('\\x${me}', '\\x${stranger}', 1, 9999999999999, '\\x${parcel}')`);
  // Other letters to the stranger may come before the answer, or in one parcel with it: each after 1 byte "to all" and 4
  // bytes with its length.
  const lettersOf = (bytes) => {
    const letters = [];
    for (let at = 0, size; at < bytes.length; at += 5 + size) {
      size = bytes.readUInt32BE(at + 1);
      letters.push(bytes.subarray(at + 5, at + 5 + size));
    }
    return letters;
  };
  await until(() => {
    const parcels = made.sql(`SELECT encode(body, 'hex') FROM letters WHERE receiver = '\\x${stranger}' ORDER BY key`).split('\n').filter(Boolean);
    // The version that both understand, and the kind UNKNOWN.
    return parcels.flatMap((hex) => lettersOf(Buffer.from(hex, 'hex'))).some(([version, kind]) => version === 1 && kind === 8);
  }, 'the stranger is answered');
});
