// Shared data of nodes besides sessions: keys, tickets, the setup code, limits, and requests that are sent to all nodes at once.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Cluster, cluster, skip } from './cluster.mjs';
import { hasNats, natsDoes, tellsNothing } from './cluster_watch.mjs';
import { directory } from './harness.mjs';
import { Socket, closing, script, settled, until } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const post = async (node, path, body, options = {}) => {
  const answer = await node.ask('POST', path, { body, ...options });
  assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  return answer.json;
};

async function revoke(t, made, by) {
  const [a, b, c] = made.nodes;
  const key = await post(a, '/api/user/api-keys', { name: 'short-lived' });
  // Valid on all nodes at once.
  for (const node of made.nodes) assert.equal((await node.raw('GET', '/api/me', { key: key.plaintext })).status, 200);
  const sockets = [];
  for (const node of made.nodes) sockets.push(closing(t, await new Socket(node, { key: key.plaintext }).opened));
  assert.equal((await by.ask('DELETE', `/api/user/api-keys/${key.id}`)).status, 204);
  assert.equal((await by.raw('GET', '/api/me', { key: key.plaintext })).status, 401);
  for (const node of [a, b, c]) await until(async () => (await node.raw('GET', '/api/me', { key: key.plaintext })).status === 401, `${node.name} refuses it`);
  for (const socket of sockets) assert.equal((await socket.closed).code, 4401);
  for (const node of made.nodes) assert.equal((await node.raw('GET', '/api/me', { key: key.plaintext })).status, 401, 'it stays so');
}

test('a key is good everywhere at once; revoked on one node it is refused on all, and its sockets are closed', { skip }, async (t) => {
  const made = await cluster(t, 3);
  for (const by of made.nodes) await revoke(t, made, by);
  if (!hasNats) return;
  natsDoes('--kill');
  t.after(() => natsDoes('--start'));
  for (const node of made.nodes) await node.logged('letters go by the database');
  await revoke(t, made, made.nodes[1]);
});

test('a revoked key is refused also where every letter about it is lost', { skip }, async (t) => {
  const made = await cluster(t, 3);
  const key = await post(made.nodes[0], '/api/user/api-keys', { name: 'silent' });
  for (const node of made.nodes) assert.equal((await node.raw('GET', '/api/me', { key: key.plaintext })).status, 200);
  // No node is notified: the row is deleted directly, as if another program did it.
  made.sql(`DELETE FROM api_keys WHERE encode(id, 'hex') = '${key.id.replace(/^key_|-/g, '')}'; UPDATE counters SET number = number + 1 WHERE name = 'auth_version'`);
  for (const node of made.nodes) await until(async () => (await node.raw('GET', '/api/me', { key: key.plaintext })).status === 401, `${node.name} refuses it`);
});

test('a user who is disabled on one node is disabled on all, and what runs for them stops', { skip }, async (t) => {
  const made = await cluster(t, 3);
  const [a, b, c] = made.nodes;
  const ada = await post(a, '/api/users', { name: 'ada' });
  const key = ada.key.plaintext;
  const { id } = await post(b, '/api/sessions', { model: 'demo/slow' }, { key });
  await post(b, `/api/sessions/${id}/chat`, { message: Array.from({ length: 3000 }, (_, i) => `w${i}`).join(' ') }, { key });
  const socket = closing(t, await new Socket(b, { key }).opened);
  assert.equal((await c.ask('PATCH', `/api/users/${ada.id}`, { body: { is_disabled: true } })).status, 200);
  assert.equal((await socket.closed).code, 4401);
  for (const node of made.nodes) await until(async () => (await node.raw('GET', '/api/me', { key })).status === 401, `${node.name} refuses her`);
  await until(() => made.sql("SELECT count(*) FROM sessions WHERE status = 'running'") === '0', 'nothing runs for her');
});

test('a ticket is taken once, on any node', { skip }, async (t) => {
  const made = await cluster(t, 3);
  for (const maker of made.nodes) {
    const { ticket } = await post(maker, '/api/ws-tickets');
    const attempts = await Promise.all(made.nodes.flatMap((node) => [0, 1].map(() => new Socket(node, { ticket }).opened.then((socket) => closing(t, socket), (refusal) => refusal.statusCode ?? refusal))));
    const opened = attempts.filter((one) => one instanceof Socket);
    assert.equal(opened.length, 1, `${attempts}`);
    for (const refused of attempts.filter((one) => !(one instanceof Socket))) assert.equal(refused, 401);
  }
});

test('the code of the first start is one for all nodes, and is taken once', { skip }, async (t) => {
  const made = new Cluster(t);
  const { start } = await import('./server.mjs');
  const nodes = [];
  for (const name of ['n1', 'n2', 'n3']) {
    const node = await start({ args: ['--store', made.url, '--node', name], login: false });
    t.after(() => node.stop('SIGKILL'));
    nodes.push(node);
  }
  assert.equal(new Set(nodes.map(({ code }) => code)).size, 1, 'every node shows the same');
  const answers = await Promise.all(nodes.map((node) => node.raw('POST', '/api/login', { body: { code: nodes[0].code } })));
  const good = answers.filter(({ status }) => status < 300);
  assert.equal(good.length, 1, answers.map(({ text }) => text).join('\n'));
  for (const { text } of answers) tellsNothing(text);
  for (const node of nodes) assert.equal((await node.raw('GET', '/api/me', { key: good[0].json.plaintext })).status, 200);
});

// Waits until every node has renewed its lease since the last one joined, and so knows it.
async function knowEachOther(made) {
  const last = made.sql('SELECT max(renewed_ms) + 1500 FROM nodes');
  await until(() => made.sql(`SELECT count(*) FROM nodes WHERE renewed_ms > ${last}`) === `${made.nodes.length}`, 'all know each other');
}

test('5 requests a minute over three nodes are 5', { skip }, async (t) => {
  const made = await cluster(t, 3);
  await knowEachOther(made);
  const minute = () => made.sql('SELECT CAST(extract(epoch FROM now()) AS BIGINT) / 60');
  const ask = (node, key) => node.raw('POST', '/v1/chat/completions', { key, body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] } });
  // A minute may end during the test: then its count proves nothing, and the test repeats.
  for (let i = 0; ; i++) {
    assert.ok(i < 5, 'no try fits into a minute');
    const { plaintext } = await post(made.nodes[0], '/api/user/api-keys', { name: `five ${i}`, limits: { rpm: 5 } });
    const before = minute();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, k) => ask(made.nodes[k % 3], plaintext)));
    const more = [];
    for (const node of made.nodes) more.push(await ask(node, plaintext));
    if (minute() !== before) continue;
    for (const { status, text, headers } of [...answers, ...more]) {
      assert.ok(status === 200 || status === 429, text);
      if (status === 429) assert.ok(Number(headers['retry-after']) >= 1);
      tellsNothing(text);
    }
    assert.equal([...answers, ...more].filter(({ status }) => status === 200).length, 5);
    break;
  }
});

test('a budget that is spent on one node is spent on all', { skip }, async (t) => {
  const up = await openUpstream({ key: 'sk-upstream-0123456789abcdef', answer: () => ({ say: 'Good day.', usage: { input: 20, output: 980 } }) });
  t.after(() => up.close?.());
  const home = mkdtempSync(join(directory, 'cluster-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), `probe: false\nproviders:\n  paid:\n    dialect: openai-chat\n    base_url: ${up.url}\n    key_env: UPSTREAM_KEY\n    prices:\n      "*": {input: 1000, output: 1000}\n`);
  const made = await cluster(t, 3, { env: { UPSTREAM_KEY: 'sk-upstream-0123456789abcdef', XDG_CONFIG_HOME: home } });
  const { plaintext } = await post(made.nodes[0], '/api/user/api-keys', { name: 'poor', limits: { budget_usd_day: 3.5 } });
  const ask = (node) => node.raw('POST', '/v1/chat/completions', { key: plaintext, body: { model: 'paid/text', messages: [{ role: 'user', content: 'hello' }] } });
  let spent = 0;
  for (; spent < 20; spent++) {
    const answer = await ask(made.nodes[0]);
    if (answer.status === 429) break;
    assert.equal(answer.status, 200, answer.text);
  }
  assert.ok(spent >= 3 && spent <= 4, `${spent} dollars`);
  for (const node of made.nodes) {
    await until(async () => (await ask(node)).status === 429, `${node.name} knows that it is spent`);
  }
});

test('64 turns a user run at once, whichever nodes they are on', { skip }, async (t) => {
  const made = await cluster(t, 3);
  await knowEachOther(made);
  const waits = script('say begun', 'wait 600000');
  const ids = [];
  let n = 0;
  for (let i = 0; i < 75; i++) {
    const node = made.nodes[i % 3];
    const { id } = await post(node, '/api/sessions', {});
    const { status, json } = await node.ask('POST', `/api/sessions/${id}/chat`, { body: { message: waits } });
    assert.ok(status === 202 || status === 429, `${status}`);
    if (status === 429) assert.match(json.detail, /64 running turns/);
    n += status === 202;
    ids.push(id);
  }
  assert.ok(n >= 64 && n <= 67, `${n} turns`);
  await made.nodes[1].ask('POST', `/api/sessions/${ids[0]}/stop`);
});

// Sends the same request to all nodes at the same time: it is executed once, and every answer is its result or asks to try again.
async function atOnce(made, request, times = 2) {
  const answers = await Promise.all(made.nodes.flatMap((node) => Array.from({ length: times }, () => node.raw(...request(node)))));
  for (const answer of answers) {
    tellsNothing(answer.text);
    if (answer.status === 409) assert.equal(answer.json.retryable, true, answer.text);
    else assert.ok(answer.status < 300, answer.text);
  }
  const good = answers.filter(({ status }) => status < 300);
  assert.ok(good.length >= 1);
  const settledLater = await Promise.all(made.nodes.map((node) => until(async () => {
    const answer = await node.raw(...request(node));
    return answer.status < 300 && answer;
  }, 'the same answer later')));
  return [...good, ...settledLater];
}

test('the same Idempotency-Key sent to all nodes at once is one deed with one answer', { skip }, async (t) => {
  const made = await cluster(t, 3);
  for (let i = 0; i < 5; i++) {
    const headers = { 'Idempotency-Key': `deed-${i}` };
    const sessions = await atOnce(made, () => ['POST', '/api/sessions', { body: { intent: `deed ${i}` }, headers }]);
    assert.equal(new Set(sessions.map(({ json }) => json.id)).size, 1);
    assert.equal(made.sql(`SELECT count(*) FROM sessions WHERE intent = 'deed ${i}'`), '1');
    const { id } = sessions[0].json;
    const chats = await atOnce(made, () => ['POST', `/api/sessions/${id}/chat`, { body: { message: `hello ${i}` }, headers: { 'Idempotency-Key': `chat-${i}` } }]);
    assert.equal(new Set(chats.map(({ json }) => json.turn_id)).size, 1, chats.map(({ text }) => text).join('\n'));
    const { status } = await settled(made.nodes[i % 3].client, id);
    assert.equal(status, 'completed', 'nobody interrupts what the first has begun');
    const { turns } = await made.nodes[i % 3].client.messages(id);
    assert.deepEqual(turns.map(({ role, status: is }) => [role, is]), [['user', 'completed'], ['assistant', 'completed']]);
    const prompts = await atOnce(made, () => ['POST', '/api/memories', { body: { content: `I like tea ${i}` }, headers: { 'Idempotency-Key': `memory-${i}` } }]);
    assert.equal(new Set(prompts.map(({ json }) => JSON.stringify(json))).size, 1);
  }
});

test('the same client_message_id sent to all nodes at once is said once', { skip }, async (t) => {
  const made = await cluster(t, 3);
  for (let i = 0; i < 5; i++) {
    const { id } = await made.nodes[i % 3].client.createSession();
    const answers = await Promise.all([...made.nodes, ...made.nodes].map((node) => node.raw('POST', `/api/sessions/${id}/chat`, { body: { message: 'once', client_message_id: 'm1' } })));
    for (const { status, text } of answers) {
      assert.equal(status, 202, text);
      tellsNothing(text);
    }
    assert.equal(new Set(answers.map(({ json }) => json.turn_id)).size, 1);
    assert.equal(answers.filter(({ json }) => !json.duplicate).length, 1);
    await settled(made.nodes[0].client, id);
    const { turns } = await made.nodes[1].client.messages(id);
    assert.deepEqual(turns.map(({ role, status }) => [role, status]), [['user', 'completed'], ['assistant', 'completed']]);
    const other = await made.nodes[2].raw('POST', `/api/sessions/${id}/chat`, { body: { message: 'another', client_message_id: 'm1' } });
    assert.equal(other.status, 409);
    assert.equal(other.json.retryable, false);
  }
});
