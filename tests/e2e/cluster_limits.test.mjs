// Limits and budgets that several nodes share: a request admitted on one node counts on all.
import assert from 'node:assert/strict';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { until } from './live.mjs';

const call = (node, key) => node.raw('POST', '/v1/chat/completions', { key, body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] } });

// Limits count by the minute of the database: the test begins early in a minute.
const early = (made) => until(() => Number(made.sql('SELECT extract(second FROM clock_timestamp())')) < 35, 'a minute begins', 60_000);

async function limited(made, limits, name = 'ada') {
  const [a] = made.nodes;
  const user = (await a.ask('POST', '/api/users', { body: { name } })).json;
  const { status, text } = await a.ask('PATCH', `/api/users/${user.id}`, { body: { limits } });
  assert.equal(status, 200, text);
  // A node that serves the user and reports the limits has received the change.
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
  // Unevenly: most calls go to one node.
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

test('a third node that starts in the middle of a minute shares what is left of it', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const minute = () => made.sql('SELECT CAST(extract(epoch FROM clock_timestamp()) AS BIGINT) / 60');
  // A busy machine may need more than one minute: then the test repeats with another user and another node.
  for (let i = 0; ; i++) {
    assert.ok(i < 5, 'no start fits into a minute');
    const key = await limited(made, { rpm: 100 }, `ada${i}`);
    await early(made);
    const began = minute();
    const seen = {};
    const ask = async (node) => {
      const { status } = await call(node, key);
      seen[`${node.name} ${status}`] = (seen[`${node.name} ${status}`] ?? 0) + 1;
    };
    for (let k = 0; k < 40; k++) await ask(made.nodes[k % 2]);
    // It gets requests from its start on, while the others continue.
    let isHere = false;
    const others = (async () => {
      for (let k = 0; !isHere && k < 30; k++) await ask(made.nodes[k % 2]);
    })();
    const late = await made.add(`late${i}`);
    isHere = true;
    await Promise.all([others, ...Array.from({ length: 40 }, () => ask(late))]);
    for (let k = 0; k < 90; k++) await ask([late, made.nodes[0], made.nodes[1]][k % 3]);
    await made.kill(late);
    made.nodes.pop();
    if (minute() !== began) continue;
    const admitted = Object.entries(seen).reduce((sum, [what, n]) => sum + (what.endsWith(' 200') ? n : 0), 0);
    assert.ok(admitted <= 100, JSON.stringify(seen));
    // A call refused with 503 (the machine stalled for longer than a lease) has used nothing.
    if (Object.keys(seen).some((what) => !/ (200|429)$/.test(what))) continue;
    assert.ok(admitted >= 90, JSON.stringify(seen));
    break;
  }
});
