// PostgreSQL that hangs or is down: the server stays up, answers 503, and continues when the database is back.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import net from 'node:net';
import test from 'node:test';
import { run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const url = process.env.PARLEY_TEST_POSTGRES;
const skip = !url && (process.env.PARLEY_TEST_POSTGRES_SKIP ?? 'run it by tests/contract/with_postgres');

const control = (word) => assert.equal(spawnSync(process.env.PARLEY_TEST_POSTGRES_CONTROL, [word], { stdio: 'inherit' }).status, 0);

const isReady = async (server, status) => (await server.raw('GET', '/readyz', { key: null })).status === status;

// Checks that a text says nothing about the database, its address or its queries.
function tellsNothing(text) {
  for (const secret of ['postgres', 'socket', 'parley-pg', 'SELECT', 'INSERT', 'UPDATE'])
    assert.ok(!text.includes(secret), text);
}

test('a PostgreSQL that is silent, away or restarted is told by 503, and nothing acknowledged is lost', { skip }, async (t) => {
  const server = await start({ args: ['--store', url], env: { PARLEY_STORE_ANSWER_MS: '300' } });
  t.after(() => server.stop('SIGKILL'));
  const acknowledged = [];
  let n = 0;
  const create = async () => {
    const answer = await server.raw('POST', '/api/sessions', { body: { intent: `session ${n++}` } });
    if (answer.status === 201) acknowledged.push(answer.json.id);
    return answer;
  };
  assert.equal((await create()).status, 201);
  for (const [begin, end] of [['--pause', '--resume'], ['--stop', '--start'], ['--pause', '--resume']]) {
    control(begin);
    // Some requests are in progress at that moment: their answers are correct.
    const sent = Array.from({ length: 8 }, create);
    await until(() => isReady(server, 503), `/readyz says 503 after ${begin}`);
    const list = await server.ask('GET', '/api/sessions?limit=100');
    assert.equal(list.status, 503);
    assert.ok(Number(list.headers['retry-after']) >= 1);
    tellsNothing(list.text);
    const refused = await create();
    assert.equal(refused.status, 503, refused.text);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    tellsNothing(refused.text);
    assert.equal((await server.raw('GET', '/healthz', { key: null })).status, 200);
    control(end);
    await until(() => isReady(server, 200), `/readyz says 200 after ${end}`);
    for (const { status } of await Promise.all(sent)) assert.ok([201, 503].includes(status), `${status}`);
    await until(async () => (await create()).status === 201, 'a session can be made again');
  }
  const { json } = await server.ask('GET', '/api/sessions?limit=100');
  const kept = new Set(json.items.map((item) => item.id));
  for (const id of acknowledged) assert.ok(kept.has(id), id);
  assert.equal(server.child.exitCode, null);
  assert.equal((await server.stop()).code, 0);
});

test('keys are made beside a server on PostgreSQL, by the server or in the store', { skip }, async (t) => {
  const server = await start({ args: ['--store', url], login: false });
  t.after(() => server.stop('SIGKILL'));
  const asked = run(['key', 'create', '--name', 'by the server', '--data', server.data, '--store', url]);
  assert.equal(asked.code, 0, asked.err);
  assert.equal((await server.raw('GET', '/api/me', { key: asked.out.trim() })).status, 200);
  // Changed from outside: the server reads it at its next start.
  const elsewhere = run(['key', 'create', '--name', 'in the store', '--data', `${server.data}-elsewhere`, '--store', url]);
  assert.equal(elsewhere.code, 0, elsewhere.err);
  assert.equal((await server.raw('GET', '/readyz', { key: null })).status, 200);
  assert.equal((await server.stop()).code, 0);
  const again = await start({ args: ['--store', url], data: server.data, login: false });
  t.after(() => again.stop('SIGKILL'));
  assert.equal((await again.raw('GET', '/api/me', { key: elsewhere.out.trim() })).status, 200);
  await again.stop();
});

// A connection to PostgreSQL that can be cut like a cable: nothing is closed, and no byte gets through.
class Cable {
  constructor(path) {
    this.isCut = false;
    this.pairs = new Set();
    this.server = net.createServer((near) => {
      const far = net.connect(path);
      const pair = [near, far];
      this.pairs.add(pair);
      for (const [from, to] of [[near, far], [far, near]]) {
        from.on('data', (bytes) => { if (!this.isCut) to.write(bytes); });
        from.on('error', () => {});
        from.on('close', () => { if (!this.isCut) to.destroy(); });
        to.on('close', () => { if (from.destroyed) this.pairs.delete(pair); });
      }
    });
  }

  async listen() {
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this.server.address().port;
  }

  cut() { this.isCut = true; }

  // Connections from before the cut have lost bytes: they are dead.
  mend() {
    for (const pair of this.pairs) for (const end of pair) end.destroy();
    this.isCut = false;
  }

  close() {
    this.server.close();
    this.mend();
  }
}

test('a network to PostgreSQL that is cut ends reads at their time, and the server comes back with it', { skip }, async (t) => {
  const cable = new Cable(`${url.match(/host=([^&]+)/)[1]}/.s.PGSQL.5432`);
  const port = await cable.listen();
  const server = await start({ args: ['--store', `postgres://postgres@127.0.0.1:${port}/postgres`], login: false, env: { PARLEY_STORE_ANSWER_MS: '300' } });
  t.after(async () => {
    await server.stop('SIGKILL');
    cable.close();
  });
  server.key = (await server.raw('POST', '/api/user/api-keys', { key: null, socketPath: `${server.data}/parley.sock`, body: { name: 'by cable' } })).json.plaintext;
  const made = await server.ask('POST', '/api/sessions', { body: { intent: 'before the cut' } });
  assert.equal(made.status, 201);
  for (let round = 0; round < 2; round++) {
    cable.cut();
    const reads = await Promise.all(Array.from({ length: 8 }, () => server.raw('GET', '/api/sessions')));
    for (const { status, text } of reads) {
      assert.equal(status, 503, text);
      tellsNothing(text);
    }
    await until(() => isReady(server, 503), '/readyz says 503');
    assert.equal((await server.raw('GET', '/healthz', { key: null })).status, 200);
    cable.mend();
    await until(() => isReady(server, 200), '/readyz says 200');
    await until(async () => (await server.raw('GET', `/api/sessions/${made.json.id}`)).status === 200, 'what was made is there');
    await until(async () => (await server.raw('POST', '/api/sessions', { body: {} })).status === 201, 'a session can be made');
  }
  assert.equal(server.child.exitCode, null);
  assert.equal((await server.stop()).code, 0);
});
