// Failures of the server's environment: no disk space, no lock, no descriptors, no memory.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory } from './harness.mjs';
import { configure } from './gated.mjs';
import { Parley, Socket, allTurns, clientOf, endsWell, script, serve, settled, textOf, until } from './live.mjs';
import { noShim, starve } from './no_memory.mjs';
import { openUpstream } from './upstreams.mjs';

const withLimits = (limits) => ['sh', '-c', `${limits}; exec "$0" "$@"`];

// A file system of a few megabytes, in its own mount namespace.
const place = join(directory, 'small');
mkdirSync(place);
const inSmall = ['unshare', '-rm', 'sh', '-c', `mount -t tmpfs -o size=3m none '${place}' && exec "$0" "$@"`];
const hasSmall = spawnSync(inSmall[0], [...inSmall.slice(1), 'true']).status === 0;

test('a full disk refuses with 507, reads go on, and room mends it', { skip: !hasSmall && 'no tmpfs of one\'s own' },
  async () => {
    const server = await serve({ data: place, before: inSmall });
    const client = clientOf(server);
    const { id } = await client.createSession();
    const kept = [];
    const refused = await until(async () => {
      try {
        const name = `m${kept.length}`;
        await client.chat(id, { message: 'x'.repeat(100_000), client_message_id: name });
        kept.push(name);
        /* If the disk is full, even the failure of an answer cannot be stored. */
        await settled(client, id, 2000).catch(() => {});
        return null;
      } catch (error) {
        return error.problem;
      }
    }, 'the disk is full', 60_000);
    assert.deepEqual([refused.status, refused.code, refused.retryable], [507, 'storage_full', true]);
    assert.ok(kept.length >= 3, `${kept.length} were kept`);
    await assert.rejects(client.chat(id, { message: 'x'.repeat(200_000) }), ({ problem }) => problem.status === 507);
    const saved = (list) => list.filter((turn) => turn.role === 'user').map((turn) => turn.client_message_id);
    const read = () => allTurns(client, id);
    assert.deepEqual(saved(await read()), kept, 'nothing acknowledged is lost');
    const { status } = spawnSync('nsenter', ['-t', String(server.child.pid), '-U', '-m', '--preserve-credentials',
      'mount', '-o', 'remount,size=64m', place]);
    assert.equal(status, 0);
    await until(async () => client.chat(id, { message: 'there is room', client_message_id: 'last' })
      .then(() => true, ({ problem }) => problem.status !== 507 && assert.fail(JSON.stringify(problem))), 'it goes on');
    await settled(client, id);
    const turns = await read();
    assert.deepEqual(saved(turns), [...kept, 'last']);
    assert.equal(textOf(turns.at(-1)), 'there is room');
    for (const turn of turns) assert.notEqual(turn.status, 'streaming');
    await endsWell(server);
  });

test('a locked store is waited for, then 503; unlocked, all goes on', async () => {
  const server = await serve();
  const client = clientOf(server);
  const { id } = await client.createSession();
  const lock = spawn('python3', ['-c', `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
`, join(server.data, 'parley.db')], { stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise((resolve) => lock.stdout.once('data', resolve));
  const begun = Date.now();
  await assert.rejects(client.chat(id, { message: 'x' }), ({ problem }) => {
    assert.deepEqual([problem.status, problem.code, problem.retryable], [503, 'overloaded', true]);
    return true;
  });
  assert.ok(Date.now() - begun > 4000, 'it waited first');
  assert.equal((await client.session(id)).id, id, 'reads go on');
  /* The lock is released while a message waits: the message is processed. */
  const waiting = client.chat(id, { message: 'patient' });
  await until(async () => /^parley_turns_running(\{[^}]*\})? [1-9]/m.test((await server.raw('GET', '/metrics')).text), 'it waits for the store');
  lock.stdin.end('\n');
  await waiting;
  await settled(client, id);
  const { turns } = await client.messages(id);
  assert.deepEqual(turns.map(textOf), ['patient', 'patient']);
  await endsWell(server);
});

test('without descriptors the server keeps those it has, and takes new ones again', async () => {
  const server = await serve({ before: withLimits('ulimit -Sn 60; ulimit -Hn 60') });
  const client = clientOf(server);
  const { id } = await client.createSession();
  const socket = await new Socket(server).opened;
  await socket.ask('session:subscribe', { session_id: id });
  const many = Array.from({ length: 100 }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
  const files = () => readdirSync(`/proc/${server.child.pid}/fd`).length;
  await until(() => files() >= 60, 'there is no descriptor left');
  assert.equal((await socket.ask('chat:send', { session_id: id, message: 'still here' })).ok, true);
  await socket.next(({ event }) => event === 'chat:end');
  for (const one of many) one.destroy();
  await until(() => client.session(id).then(({ status }) => status === 'completed', () => false), 'it is reached again');
  assert.ok(await (await new Socket(server).opened).ask('ping'));
  socket.close();
  await endsWell(server);
});

test('without memory the server answers or ends, and loses nothing it acknowledged',
  { skip: noShim }, async () => {
    const data = join(directory, 'starved');
    mkdirSync(data);
    const first = await serve({ data });
    const { key } = first;
    const { id } = await clientOf(first).createSession();
    await endsWell(first);
    const kept = [];
    let nRefused = 0;
    await starve({ data, key, n: 40, paces: [29, 61, 97, 199, 401] }, async (server, from) => {
      const client = new Parley({ url: server.url, key });
      for (let i = 0; i < 6; i++) {
        const name = `f${from}m${i}`;
        try {
          await client.chat(id,
            { message: script('say a b c', 'call echo {"x":1}', '---', 'say d'), client_message_id: name });
          kept.push(name);
          const socket = new Socket(server);
          await socket.opened;
          socket.send({ id: 1, event: 'session:subscribe', data: { session_id: id } });
          await client.messages(id, { limit: '5' });
          socket.close();
        } catch (error) {
          nRefused++;
          if (error.problem) assert.ok([429, 500, 503].includes(error.problem.status), JSON.stringify(error.problem));
        }
      }
    });
    assert.ok(nRefused > 10 && kept.length > 10, `${nRefused} refused, ${kept.length} kept`);
    const last = await serve({ data, login: false });
    last.key = key;
    const client = clientOf(last);
    const seen = new Map();
    for (let before; ;) {
      const { turns, hasMore } = await client.messages(id, { limit: '100', ...(before ? { before } : {}) });
      for (const turn of turns) {
        assert.ok(!['streaming', 'paused'].includes(turn.status));
        if (turn.client_message_id) seen.set(turn.client_message_id, (seen.get(turn.client_message_id) ?? 0) + 1);
      }
      if (!hasMore) break;
      before = String(turns[0].sequence);
    }
    for (const name of kept) {
      /* A message that was queued may still wait; the server knows it and does not send it twice. */
      if (!seen.has(name)) {
        const { duplicate } = await client.chat(id, { message: 'x', client_message_id: name });
        assert.equal(duplicate, true, name);
      }
      assert.ok((seen.get(name) ?? 1) === 1, `${name} once`);
    }
    await endsWell(last);
  });

test('without memory prompts are written whole or not at all',
  { skip: noShim }, async () => {
    const data = join(directory, 'starved-prompts');
    mkdirSync(data);
    const first = await serve({ data });
    const { key } = first;
    const content = { protocol: 'structured-chat', system_prompt: 'x', messages: [{ id: 'm', role: 'user', content: 'say {{a}}' }] };
    const { id } = (await first.raw('POST', '/api/prompts', { body: { name: 'starved', content, tags: ['a'] } })).json;
    await endsWell(first);
    const kept = new Map();
    const seen = new Map();
    await starve({ data, key, n: 30, paces: [97, 401, 997, 1999, 4001] }, async (server, from) => {
      const requests = [
        ['POST', `/api/prompts/${id}/versions`, { content: { ...content, system_prompt: `${from}` } }],
        ['POST', `/api/prompts/${id}/versions`, { content: 'stale', based_on: 1 }],
        ['PUT', `/api/prompts/${id}/labels/l${from}`, { version: 1 }],
        ['GET', `/api/prompts/${id}/versions/1/diff/latest`],
        ['POST', `/api/prompts/${id}/run`, { version: 1, variables: { a: 'b' }, models: ['demo/echo', 'demo/agent'], mode: 'answer' }],
        ['POST', '/api/prompts/import', { files: [{ path: `f/${from}.md`, text: 'text' }, { path: `f/${from}.json`, text: JSON.stringify(content) }] }],
        ['GET', '/api/prompts/files'],
        ['GET', '/api/prompts?q=say'],
        ['GET', `/api/prompts/${id}/export?format=yaml`],
      ];
      for (const [method, path, body] of [...requests, ...requests]) {
        const { status, json, text } = await server.raw(method, path, { body }).catch(() => ({ status: 0 }));
        if (status) assert.ok([200, 201, 412, 429, 500, 503].includes(status), `${method} ${path}: ${status} ${text}`);
        if (status === 201 && path.endsWith('/versions')) kept.set(json.version, JSON.stringify(json.content));
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    });
    assert.ok(kept.size > 10 && seen.get(503) > 10, JSON.stringify([...seen]));
    const last = await serve({ data, login: false });
    last.key = key;
    const { latest_version: n } = (await last.ask('GET', `/api/prompts/${id}`)).json;
    for (let version = 1; version <= n; version++) {
      const { status, json } = await last.ask('GET', `/api/prompts/${id}/versions/${version}`);
      assert.equal(status, 200, `version ${version}`);
      if (kept.has(version)) assert.equal(JSON.stringify(json.content), kept.get(version));
    }
    for (const version of kept.keys()) assert.ok(version <= n);
    await endsWell(last);
  });

// Other features that an operator may have configured: a spread over a provider with a queue, traces, an access log, limits.
test('without memory the gateway, its stored answers, limits and traces answer or refuse, and what is counted stays',
  { skip: noShim }, async (t) => {
    const data = join(directory, 'starved-gateway');
    mkdirSync(data);
    const spans = createServer((request, response) => { request.resume().on('end', () => response.end('{}')); });
    await new Promise((resolve) => { spans.listen(0, '127.0.0.1', resolve); });
    t.after(() => spans.close());
    const up = await openUpstream({ key: 'k', answer: () => ({ say: 'Good day.' }) });
    t.after(() => up.close?.());
    configure(data, `probe: false
access_log: ${join(data, 'access.log')}
otlp_endpoint: http://127.0.0.1:${spans.address().port}
providers:
  one: {dialect: openai-chat, base_url: "${up.url}", key_env: UP_KEY, max_concurrent: 1, prices: {"*": {input: 1, output: 1}}}
  two: {dialect: anthropic, base_url: "${up.url}", key_env: UP_KEY, prices: {"*": {input: 1, output: 1}}}
aliases:
  shared: {spread: round_robin, targets: [one/text, two/text]}
`);
    const env = { UP_KEY: 'k' };
    const first = await serve({ data, env });
    const { key } = first;
    await endsWell(first);
    const kept = [], seen = new Map();
    let nAnswered = 0;
    await starve({ data, key, n: 30, paces: [97, 401, 997, 1999, 4001], env }, async (server, from) => {
      const session = (await server.raw('POST', '/api/sessions', { body: { model: 'shared' } }).catch(() => ({}))).json?.id;
      const requests = [
        ['POST', '/v1/embeddings', { model: 'demo/embed', input: ['one', 'two'] }],
        ['POST', '/v1/chat/completions', { model: 'shared', messages: [{ role: 'user', content: 'x' }] }],
        ['POST', '/v1/chat/completions', { model: 'shared', stream: true, messages: [{ role: 'user', content: 'x' }] }],
        ['POST', '/v1/responses', { model: 'shared', input: `x${from}` }],
        ['POST', '/api/users', { name: `u${from}` }],
        ['POST', '/api/user/api-keys', { name: `k${from}`, limits: { rpm: 5, budget_usd_day: 1 } }],
        ['POST', '/api/run', { content: 'x', models: ['demo/echo', 'shared'] }],
        ['GET', '/api/usage?group=key'], ['GET', '/api/runs?limit=5'], ['GET', '/api/audit?limit=5'], ['GET', '/api/users?limit=5'], ['GET', '/metrics'],
        ...(session ? [['POST', `/api/sessions/${session}/chat`, { message: 'x' }, { accept: 'text/event-stream' }], ['DELETE', `/api/sessions/${session}`]] : []),
      ];
      for (const [method, path, body, headers] of [...requests, ...requests]) {
        const { status, json, text } = await server.raw(method, path, { body, headers }).catch(() => ({ status: 0 }));
        if (status) assert.ok([200, 201, 202, 204, 404, 409, 429, 500, 502, 503].includes(status), `${method} ${path}: ${status} ${text}`);
        if (status === 404) assert.match(path, /sessions/);
        seen.set(status, (seen.get(status) ?? 0) + 1);
        nAnswered += status === 200 && path === '/v1/chat/completions' && !body.stream;
        if (status !== 200 || path !== '/v1/responses' || !json?.id) continue;
        kept.push(json.id);
        const again = await server.raw('GET', `/v1/responses/${json.id}`).catch(() => ({ status: 0 }));
        if (again.status === 200) assert.equal(again.json.output[0].content[0].text, 'Good day.');
      }
    });
    assert.ok(kept.length > 10 && (seen.get(503) ?? 0) + (seen.get(500) ?? 0) > 10, JSON.stringify([...seen]));
    const last = await serve({ data, env, login: false });
    last.key = key;
    const rows = (await last.ask('GET', '/api/usage?group=model')).json.items;
    const counted = rows.filter(({ model }) => /^(one|two)\//.test(model)).reduce((sum, row) => sum + row.requests, 0);
    assert.ok(counted >= nAnswered + kept.length, `${counted} counted, ${nAnswered} and ${kept.length} answered`);
    assert.equal((await last.ask('GET', '/api/audit/verify')).json.chain_ok, true);
    // Stored answers are complete, with their requests.
    for (const id of kept) {
      const { status, json } = await last.raw('GET', `/v1/responses/${id}`);
      if (status === 404) continue; // an answer is returned even if it could not be stored
      assert.equal(json.output[0].content[0].text, 'Good day.');
      assert.equal((await last.raw('GET', `/v1/responses/${id}/input_items`)).json.data.length, 1);
      assert.equal((await last.raw('DELETE', `/v1/responses/${id}`)).status, 200);
    }
    await endsWell(last);
  });

test('without memory blobs are stored whole or not at all',
  { skip: noShim }, async () => {
    const data = join(directory, 'starved-blobs');
    mkdirSync(data);
    const first = await serve({ data });
    const { key } = first;
    await endsWell(first);
    const headers = { 'content-type': 'application/octet-stream' };
    const kept = new Map();
    let nRefused = 0;
    await starve({ data, key, n: 30, paces: [97, 401, 997, 1999, 4001] }, async (server) => {
      for (let i = 0; i < 6; i++) {
        const bytes = randomBytes(700_000);
        const { status, json, text } = await server.raw('POST', '/api/blobs', { body: bytes, headers }).catch(() => ({ status: 0 }));
        if (status) assert.ok([201, 429, 500, 503].includes(status), `${status} ${text}`);
        if (status === 201) kept.set(json.url, bytes);
        else nRefused++;
        const some = [...kept.keys()].at(-1);
        const read = some && await server.raw('GET', some).catch(() => ({ status: 0 }));
        if (read?.status === 200) assert.ok(read.bytes.equals(kept.get(some)));
      }
    });
    assert.ok(nRefused > 10 && kept.size > 10, `${nRefused} refused, ${kept.size} kept`);
    const last = await serve({ data, login: false });
    last.key = key;
    for (const [url, bytes] of kept) assert.ok((await last.raw('GET', url)).bytes.equals(bytes), url);
    await endsWell(last);
  });
