// Limits are enforced, and usage is counted: sessions, prompts, summaries and the gateway.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';
import { openUpstream } from './upstreams.mjs';
import { until } from './waiting.mjs';

const KEY = 'sk-upstream-0123456789abcdef';
const open = [];
const upstream = () => new Promise((resolve) => {
  const holds = [];
  openUpstream({ key: KEY, answer: ({ model }) => (model === 'fails' ? { status: 400, error: 'no' } : model === 'hangs' ? { hang: 'head' } : model === 'slow' ? { say: 'Good day.', drip: 30 } : model === 'dear' ? { say: 'Good day.', usage: { input: 20, output: 980 } } : { say: 'Good day.' }) })
    .then((up) => { open.push(up); resolve({ url: up.url, up, holds }); });
});
after(() => { for (const up of open) up.close?.(); });

// Two providers with the same upstream: one has prices, the other has none.
function serve({ url }, { more = '', ...options } = {}) {
  const home = mkdtempSync(join(directory, 'limits-'));
  mkdirSync(join(home, 'parley'));
  const provider = (name, rest = '') => `  ${name}:\n    dialect: openai-chat\n    base_url: ${url}\n    key_env: UPSTREAM_KEY\n${rest}`;
  writeFileSync(join(home, 'parley', 'config.yaml'), `probe: false\n${more}providers:\n${provider('paid', '    prices:\n      "*": {input: 1000, output: 1000}\n')}${provider('bare')}`);
  return start({ ...options, env: { UPSTREAM_KEY: KEY, XDG_CONFIG_HOME: home, ...options.env } });
}

let server, up;
before(async () => { up = await upstream(); server = await serve(up); });

const ask = (key, model = 'paid/text', at = server) => at.raw('POST', '/v1/chat/completions', { key, body: { model, messages: [{ role: 'user', content: 'hello' }] } });
const post = async (path, body, key = server.key, at = server) => {
  const answer = await at.ask('POST', path, { body, key });
  assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  return answer.json;
};
const makeKey = (limits, at = server) => post('/api/user/api-keys', { name: 'limited', limits }, at.key, at);
const usage = async (query, key = server.key, at = server) => (await at.ask('GET', `/api/usage?${query}`, { key })).json.items;
const member = async (name) => { const made = await post('/api/users', { name }); return { id: made.id, key: made.key.plaintext, keyId: made.key.id }; };
const chat = async (key, model, message = 'hello', at = server) => {
  const { id } = await post('/api/sessions', { model }, key, at);
  await post(`/api/sessions/${id}/chat`, { message }, key, at);
  await until(async () => !['running', 'created'].includes((await at.ask('GET', `/api/sessions/${id}`, { key })).json.status), () => 'the session does not rest');
  return id;
};
const turns = async (id, key, at = server) => (await at.ask('GET', `/api/sessions/${id}/messages?limit=100`, { key })).json;

test('64 calls at once exceed a budget by at most one estimate', async () => {
  // A call costs 18 tokens at 0.001 dollars; its estimate is about 1000 tokens, a dollar.
  const { plaintext, id } = await makeKey({ budget_usd_day: 3.5 });
  const answers = await Promise.all(Array.from({ length: 64 }, () => ask(plaintext)));
  const admitted = answers.filter(({ status }) => status === 200).length;
  for (const { status, headers, json } of answers.filter(({ status: is }) => is !== 200)) {
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) >= 1);
    assert.equal(json.error.code, 'insufficient_quota');
  }
  assert.ok(admitted >= 1);
  const [row] = (await until(async () => { const rows = (await usage('group=key')).filter((item) => item.key_id === id); return rows[0]?.requests === admitted && rows; }, () => 'the calls are not counted'));
  assert.ok(row.cost_usd <= 3.5 + 1.1, `${row.cost_usd}`);
  assert.equal(Math.round(row.cost_usd * 1000), admitted * 18);
});

// Calls that cost a dollar each, exactly their estimate: without reservations all 64 would pass.
const spend = async (keys, sum) => {
  const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => ask(keys[i % keys.length], 'paid/dear')));
  const admitted = answers.filter(({ status }) => status === 200).length;
  assert.ok(answers.every(({ status }) => status === 200 || status === 429), answers.map(({ status }) => status).join());
  const spent = await until(async () => { const rows = await sum(); return rows.reduce((all, row) => all + row.requests, 0) === admitted && rows.reduce((all, row) => all + row.cost_usd, 0); }, () => 'the calls are not counted');
  assert.equal(Math.round(spent), admitted, 'a dollar each');
  return spent;
};

test('64 dear calls at once pass a budget by one estimate at most, of a key and of a user with several keys', async () => {
  const key = await makeKey({ budget_usd_day: 3.5 });
  const ofKey = await spend([key.plaintext], async () => (await usage('group=key')).filter((item) => item.key_id === key.id));
  assert.ok(ofKey >= 3 && ofKey <= 3.5 + 1.1, `${ofKey}`);
  const ada = await member('spends');
  const keys = [ada.key];
  for (let i = 0; i < 3; i++) keys.push((await post('/api/user/api-keys', { name: `k${i}` }, ada.key)).plaintext);
  assert.equal((await server.ask('PATCH', `/api/users/${ada.id}`, { body: { limits: { budget_usd_month: 2.5 } } })).status, 200);
  const ofUser = await spend(keys, () => usage('group=key', ada.key));
  assert.ok(ofUser >= 2 && ofUser <= 2.5 + 1.1, `${ofUser}`);
});

test('calls that are under way hold what they have reserved', async () => {
  const { plaintext } = await makeKey({ budget_usd_day: 1.5 });
  const gone = new AbortController();
  const hanging = Array.from({ length: 2 }, () => fetch(`${server.url}/v1/chat/completions`, { method: 'POST', signal: gone.signal, headers: { authorization: `Bearer ${plaintext}`, 'content-type': 'application/json' }, body: JSON.stringify({ model: 'paid/hangs', messages: [{ role: 'user', content: 'hello' }] }) }).catch((error) => error));
  // Two estimates exceed the budget: a third call is refused, although nothing has been spent yet.
  const refused = await until(async () => { const answer = await ask(plaintext); return answer.status === 429 && answer; }, () => 'all calls were let through');
  assert.match(refused.json.error.message, /under way/);
  gone.abort();
  await Promise.all(hanging);
  await until(async () => (await ask(plaintext)).status === 200, () => 'what was reserved does not come free');
});

test('a client that leaves is counted, and so is a call that fails', async () => {
  const ada = await member('leaves');
  const seen = up.up.requests.length;
  const gone = new AbortController();
  const left = fetch(`${server.url}/v1/chat/completions`, { method: 'POST', signal: gone.signal, headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' }, body: JSON.stringify({ model: 'paid/hangs', messages: [{ role: 'user', content: 'hello' }] }) }).catch((error) => error);
  await until(() => up.up.requests.length > seen, () => 'the vendor is not asked');
  gone.abort();
  await left;
  assert.equal((await ask(ada.key, 'paid/fails')).status, 400);
  const rows = await until(async () => { const got = await usage('group=model', ada.key); return got.length === 2 && got; }, () => 'they are not counted');
  const of = (model) => rows.find((row) => row.model === model);
  assert.deepEqual([of('paid/hangs').requests, of('paid/hangs').aborted], [1, 1]);
  assert.ok(of('paid/hangs').input_tokens > 0);
  assert.deepEqual([of('paid/fails').requests, of('paid/fails').failed, of('paid/fails').cost_usd], [1, 1, 0]);
});

test('sessions count by key, model, provider, day and user, and the totals are those of the turns', async () => {
  const ada = await member('counts');
  const ids = [await chat(ada.key, 'paid/text'), await chat(ada.key, 'bare/text'), await chat(ada.key, 'paid/fails')];
  const all = (await Promise.all(ids.map((id) => turns(id, ada.key)))).flat().filter((turn) => turn.role === 'assistant');
  const told = { input: 0, output: 0, cost: 0 };
  for (const turn of all) {
    told.input += turn.usage?.input_tokens ?? 0;
    told.output += turn.usage?.output_tokens ?? 0;
    told.cost += turn.timing?.cost_usd ?? 0;
  }
  assert.equal(all.length, 3);
  for (const group of ['key', 'model', 'provider', 'day', 'user']) {
    const rows = await usage(`group=${group}`, ada.key);
    const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
    assert.deepEqual([sum('requests'), sum('failed'), sum('unpriced'), sum('input_tokens'), sum('output_tokens')], [3, 1, 1, told.input, told.output], group);
    assert.ok(Math.abs(sum('cost_usd') - told.cost) < 1e-9, `${group}: ${sum('cost_usd')} and ${told.cost}`);
  }
  assert.deepEqual((await usage('group=provider', ada.key)).map((row) => row.provider), ['bare', 'paid']);
  assert.deepEqual((await usage('group=key', ada.key)).map((row) => row.key_id), [ada.keyId]);
  // A user sees their own usage; an administrator sees all users, or one.
  assert.ok((await usage('group=user')).some((row) => row.user_id === ada.id));
  assert.equal((await usage(`group=model&user=${ada.id}`)).reduce((n, row) => n + row.requests, 0), 3);
  assert.equal((await server.raw('GET', '/api/usage?user=all', { key: ada.key })).status, 403);
  const turned = await server.ask('GET', '/api/usage?from=2026-11-10&to=2026-11-01', { key: ada.key });
  assert.equal(turned.status, 400);
  assert.match(turned.json.detail, /from is after the last day, 2026-11-01/);
  const csv = await server.raw('GET', '/api/usage?group=model&format=csv', { key: ada.key });
  assert.match(csv.headers['content-type'], /text\/csv/);
  const lines = csv.text.trim().split('\r\n');
  assert.equal(lines[0], 'model,requests,failed,aborted,unpriced,input_tokens,output_tokens,cached_tokens,cost_usd');
  assert.equal(lines.length, 4);
  assert.match(lines.find((line) => line.startsWith('"paid/text"')), /^"paid\/text",1,0,0,0,11,7,0,0\.018000$/);
});

test('limits of a user bind all keys, also in sessions', async () => {
  const ada = await member('bound');
  const other = await post('/api/user/api-keys', { name: 'second' }, ada.key);
  const changed = (await server.ask('PATCH', `/api/users/${ada.id}`, { body: { limits: { rpm: 2, max_keys: 9 } } })).json;
  assert.deepEqual([changed.limits.rpm, changed.limits.max_keys, changed.limits.tpm], [2, 9, null]);
  assert.equal((await server.ask('PATCH', `/api/users/${ada.id}`, { body: { limits: { tpm: 1e6 } } })).json.limits.rpm, 2);
  assert.equal((await ask(ada.key)).status, 200);
  assert.equal((await ask(other.plaintext)).status, 200);
  const refused = await ask(ada.key);
  assert.equal(refused.status, 429);
  assert.match(refused.json.error.message, /This user may use 2 requests a minute/);
  const [turn] = (await turns(await chat(other.plaintext, 'paid/text'), ada.key)).filter(({ role }) => role === 'assistant');
  assert.equal(turn.status, 'failed');
  assert.match(JSON.stringify(turn), /2 requests a minute/);
  assert.equal((await server.raw('PATCH', `/api/users/${ada.id}`, { body: { limits: { rpm: null } }, key: ada.key })).status, 403);
  await server.ask('PATCH', `/api/users/${ada.id}`, { body: { limits: null } });
  assert.equal((await ask(ada.key)).status, 200);
});

test('the models of a key bind in sessions, too', async () => {
  const ada = await member('narrow');
  const { plaintext } = await post('/api/user/api-keys', { name: 'narrow', models: ['demo/echo'] }, ada.key);
  const [turn] = (await turns(await chat(plaintext, 'paid/text'), ada.key)).filter(({ role }) => role === 'assistant');
  assert.match(JSON.stringify(turn), /may not use this model/);
  const [fine] = (await turns(await chat(plaintext, 'demo/echo'), ada.key)).filter(({ role }) => role === 'assistant');
  assert.equal(fine.status, 'completed');
});

test('a model without a price does not pass a budget, unless the configuration says so', async () => {
  const { plaintext } = await makeKey({ budget_usd_month: 5 });
  const refused = await ask(plaintext, 'bare/text');
  assert.equal(refused.status, 403);
  assert.match(refused.json.error.message, /bare\/text has no price/);
  assert.equal((await ask(plaintext, 'paid/text')).status, 200);
  assert.equal((await ask(plaintext, 'demo/echo')).status, 200);
  const lax = await serve(up, { more: 'allow_unpriced: true\n' });
  const key = await makeKey({ budget_usd_month: 5 }, lax);
  assert.equal((await ask(key.plaintext, 'bare/text', lax)).status, 200);
  await lax.stop();
});

test('after kill -9 every call that began is counted', async () => {
  const at = await serve(up, { args: ['--shards', '1'] });
  const { plaintext, id } = await makeKey({ budget_usd_day: 100 }, at);
  for (let i = 0; i < 5; i++) assert.equal((await ask(plaintext, 'paid/text', at)).status, 200);
  const before = up.up.requests.length;
  for (let i = 0; i < 3; i++) ask(plaintext, 'paid/hangs', at).catch(() => {});
  await until(() => up.up.requests.length >= before + 3, () => 'the vendor is not asked');
  // The row of a call is written 20 ms after the call begins. A later and longer call is counted together with the others, or later.
  assert.equal((await at.raw('POST', '/v1/chat/completions', { key: plaintext, body: { model: 'paid/slow', stream: true, messages: [{ role: 'user', content: 'hello' }] } })).status, 200);
  await until(async () => (await usage('group=key', at.key, at)).find((row) => row.key_id === id)?.requests === 6, () => 'the first six are not counted');
  await at.stop('SIGKILL');
  const again = await serve(up, { data: at.data, login: false });
  const row = (await usage('group=key', at.key, again)).find((item) => item.key_id === id);
  assert.deepEqual([row.requests, row.aborted], [9, 3]);
  assert.ok(row.cost_usd > 3, `${row.cost_usd}`);
  await again.stop();
});

test('quotas: one too many is a clear refusal', async () => {
  const ada = await member('quotas');
  await server.ask('PATCH', `/api/users/${ada.id}`, { body: { limits: { max_sessions: 2, max_keys: 2, max_tasks: 1, max_blob_bytes: 10, max_sockets: 1, max_turns: 1 } } });
  const refused = async (path, body, status, says, options = {}) => {
    const answer = await server.raw('POST', path, { body, key: ada.key, ...options });
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.json.detail, says);
  };
  for (let i = 0; i < 2; i++) await post('/api/sessions', {}, ada.key);
  await refused('/api/sessions', {}, 409, /as many sessions as allowed/);
  await post('/api/user/api-keys', { name: 'two' }, ada.key);
  await refused('/api/user/api-keys', { name: 'three' }, 409, /as many keys as allowed/);
  const task = { title: 'x', cron: '0 0 1 1 *', prompt: 'hello' };
  await post('/api/scheduled-tasks', task, ada.key);
  await refused('/api/scheduled-tasks', task, 409, /as many scheduled tasks as allowed/);
  const blob = (text) => ({ body: Buffer.from(text), headers: { 'content-type': 'text/plain' } });
  assert.equal((await server.raw('POST', '/api/blobs', { key: ada.key, ...blob('0123456789') })).status, 201);
  const late = await server.raw('POST', '/api/blobs', { key: ada.key, ...blob('x') });
  assert.equal(late.status, 409, late.text);
  assert.match(late.json.detail, /as many bytes as allowed/);
  const [session] = (await server.ask('GET', '/api/sessions', { key: ada.key })).json.items;
  const events = () => fetch(`${server.url}/api/sessions/${session.id}/events`, { headers: { authorization: `Bearer ${ada.key}` } });
  const first = await events();
  assert.equal(first.status, 200);
  const second = await events();
  assert.equal(second.status, 429);
  assert.ok(second.headers.get('retry-after'));
  await first.body.cancel();
  await until(async () => { const third = await events(); const is = third.status === 200; await third.body.cancel(); return is; }, () => 'the place of a closed stream does not come free');
});

test('parley usage shows the same', async () => {
  await ask(server.key);
  await until(async () => (await usage('user=all')).length, () => 'nothing is counted');
  const shown = run(['usage', '--group', 'provider', '--user', 'all', '--data', server.data]);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^PROVIDER +REQUESTS +FAILED/);
  assert.match(shown.out, /^paid /m);
  assert.match(run(['usage', '--csv', '--data', server.data]).out, /^model,requests,/);
  const both = run(['usage', '--csv', '--json', '--data', server.data]);
  assert.deepEqual([both.code, /exclude each other/.test(both.err)], [2, true]);
  assert.equal(run(['usage', '--group', 'modle', '--data', server.data]).code, 2);
});
