// Limits and budgets that several nodes share: what one admits, another does not admit again.
import assert from 'node:assert/strict';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { until } from './live.mjs';

const call = (node, key) => node.raw('POST', '/v1/chat/completions', { key, body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] } });

// Limits count by the minute of the database: what is counted begins early in one.
const early = (made) => until(() => Number(made.sql('SELECT extract(second FROM clock_timestamp())')) < 35, 'a minute begins', 60_000);

async function limited(made, limits) {
  const [a] = made.nodes;
  const user = (await a.ask('POST', '/api/users', { body: { name: 'ada' } })).json;
  const { status, text } = await a.ask('PATCH', `/api/users/${user.id}`, { body: { limits } });
  assert.equal(status, 200, text);
  // Every node has heard of it when it refuses nothing and knows the user.
  for (const node of made.nodes) await until(async () => (await node.raw('GET', `/api/users/${user.id}`)).json?.limits && (await node.raw('GET', '/api/me', { key: user.key.plaintext })).status === 200, 'it knows the user');
  return user.key.plaintext;
}

test('rpm 5 over three nodes admits five, all at once or one by one', { skip }, async (t) => {
  const made = await cluster(t, 3);
  const key = await limited(made, { rpm: 5 });
  await early(made);
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => call(made.nodes[i % 3], key)));
  const admitted = answers.filter(({ status }) => status === 200).length;
  assert.equal(admitted, 5, answers.map(({ status }) => status).join(' '));
  for (const { status, headers } of answers.filter((one) => one.status !== 200)) {
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) >= 1);
  }
});

test('of a larger limit at least nine tenths can be used, and never more than all', { skip }, async (t) => {
  const made = await cluster(t, 3);
  const key = await limited(made, { rpm: 100 });
  await early(made);
  let admitted = 0;
  // Unevenly: one node has most of the calls.
  for (let i = 0; i < 130; i++) admitted += (await call(made.nodes[i % 7 === 0 ? 1 : i % 11 === 0 ? 2 : 0], key)).status === 200;
  assert.ok(admitted <= 100 && admitted >= 90, `${admitted} were admitted`);
});

test('a node that is alone, and one that comes later, share the same minute', { skip }, async (t) => {
  const made = await cluster(t, 1);
  const key = await limited(made, { rpm: 4 });
  await early(made);
  for (let i = 0; i < 3; i++) assert.equal((await call(made.nodes[0], key)).status, 200);
  const late = await made.add('n2');
  const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => call(i % 2 ? late : made.nodes[0], key)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});
