// Aliases with several targets, the limit of concurrent calls to a provider, and the requests and answers of a
// provider: spreads are counted over calls; queues use a vendor that answers on command.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { directory, parley } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

// A vendor whose models "held…" wait until released; its other models answer at once.
async function openHeld() {
  const held = []; const seen = [];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const body = JSON.parse(text);
    seen.push({ model: body.model, headers: request.headers });
    const answer = () => response.writeHead(body.model === 'busy' ? 503 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body.model === 'leak'
      ? {} : { id: 'c', object: 'chat.completion', created: 1, model: body.model, choices: [{ index: 0, message: { role: 'assistant', content: body.model }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
    if (body.model === 'leak') { response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `bad header ${request.headers['x-secret']}` } })); return; }
    if (body.stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: body.model, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);
      return;
    }
    if (body.model.startsWith('held')) held.push({ model: body.model, answer });
    else answer();
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { url: `http://127.0.0.1:${server.address().port}`, held, seen, letGo: (n = held.length) => { for (const { answer } of held.splice(0, n)) answer(); }, close: () => { server.closeAllConnections(); server.close(); } };
}

const homeOf = (text) => {
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), text);
  return home;
};

let vendor; let server; let file;
const config = (more = '') => `probe: false
providers:
  a: {dialect: openai-chat, base_url: ${vendor.url}}
  b: {dialect: openai-chat, base_url: ${vendor.url}}
  c: {dialect: openai-chat, base_url: ${vendor.url}}
  narrow: {dialect: openai-chat, base_url: ${vendor.url}, max_concurrent: 2, queue: 3, queue_ms: 600000}
  short: {dialect: openai-chat, base_url: ${vendor.url}, max_concurrent: 1, queue: 1, queue_ms: 20}
  strict: {dialect: openai-chat, base_url: ${vendor.url}, max_concurrent: 1, queue: 0}
  labelled:
    dialect: openai-chat
    base_url: ${vendor.url}
    headers: {X-Team: blue, X-Secret: {env: TEAM_SECRET}, User-Agent: team}
  hasty: {dialect: openai-chat, base_url: ${vendor.url}, first_byte_ms: 30}
aliases:
  chain: [a/x, b/x]
  turns: {spread: round_robin, targets: [a/x, b/x, c/x]}
  shares: {spread: weighted, targets: [{model: a/x, weight: 5}, {model: b/x, weight: 2}, c/x]}
  calm: {spread: least_busy, targets: [a/held-1, b/held-2, c/held-3]}
  talks: {spread: round_robin, targets: [a/one, b/two, c/three]}
  mended: {spread: round_robin, targets: [a/busy, b/x]}
  spill: [strict/held-9, a/x]
${more}`;
before(async () => {
  vendor = await openHeld();
  const home = homeOf(config());
  file = join(home, 'parley', 'config.yaml');
  server = await start({ args: ['--shards', '2'], env: { XDG_CONFIG_HOME: home, TEAM_SECRET: 'blue-secret-0123456789' } });
});
after(() => vendor.close());

const body = (model) => ({ model, messages: [{ role: 'user', content: 'x' }] });
const chat = (model, options = {}) => server.raw('POST', '/v1/chat/completions', { body: body(model), ...options });
const counted = async (model, n) => {
  const counts = {};
  for (let i = 0; i < n; i++) {
    const { headers, status, text } = await chat(model);
    assert.equal(status, 200, text);
    counts[headers['parley-model']] = (counts[headers['parley-model']] ?? 0) + 1;
  }
  return counts;
};
const metric = async (name) => Number((await server.raw('GET', '/metrics')).text.match(new RegExp(`^parley_provider_${name} (\\S+)$`, 'm'))?.[1]);

describe('spread', () => {
  test('a list is a chain, as it was: the first, as long as it answers', async () => assert.deepEqual(await counted('chain', 4), { 'a/x': 4 }));
  test('round_robin asks each in turn', async () => assert.deepEqual(await counted('turns', 9), { 'a/x': 3, 'b/x': 3, 'c/x': 3 }));
  test('weighted keeps the weights', async () => assert.deepEqual(await counted('shares', 16), { 'a/x': 10, 'b/x': 4, 'c/x': 2 }));

  test('least_busy asks the one with the fewest calls, whoever made them', async () => {
    const first = [chat('a/held-1'), chat('a/held-1'), chat('b/held-2')];
    await until(() => vendor.held.length === 3, 'three are under way');
    const next = [];
    for (const expected of ['held-3', 'held-2', 'held-3']) { // calls in progress: 2, 1, 0; then 2, 1, 1, so the last two in turn
      next.push(chat('calm'));
      await until(() => vendor.held.length === 3 + next.length, 'it is under way');
      if (next.length === 1) assert.equal(vendor.held.at(-1).model, expected);
    }
    const counts = vendor.held.map(({ model }) => model).sort();
    assert.deepEqual(counts, ['held-1', 'held-1', 'held-2', 'held-2', 'held-3', 'held-3']);
    vendor.letGo();
    await Promise.all([...first, ...next]);
  });

  test('the others are fallbacks, and one that is cooling down is left out', async () => assert.deepEqual(await counted('mended', 6), { 'b/x': 6 }));

  test('a session goes the same way', async () => {
    const before = vendor.seen.length;
    for (let i = 0; i < 6; i++) {
      const { id } = (await server.ask('POST', '/api/sessions', { body: { model: 'talks' } })).json;
      await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'hello' } });
      await until(async () => (await server.ask('GET', `/api/sessions/${id}`)).json.status === 'completed', 'the turn is over');
    }
    assert.deepEqual(vendor.seen.slice(before).map(({ model }) => model), ['one', 'two', 'three', 'one', 'two', 'three']);
  });
});

describe('a provider with max_concurrent', () => {
  test('has as many calls as it may have, and the others wait for their turn', async () => {
    const calls = Array.from({ length: 5 }, () => chat('narrow/held-n'));
    await until(async () => vendor.held.length === 2 && await metric('waiting\\{provider="narrow"\\}') === 3, 'two are there and three wait');
    assert.equal(await metric('running\\{provider="narrow"\\}'), 2);
    const refused = await chat('narrow/held-n');
    assert.equal(refused.status, 429, refused.text);
    assert.deepEqual([refused.json.error.code, Number(refused.headers['retry-after']) >= 1], ['rate_limit_exceeded', true]);
    for (const left of [2, 2, 2, 1, 0]) {
      vendor.letGo(1);
      await until(() => vendor.held.length === left, `${left} are there`);
    }
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
    await until(async () => await metric('running\\{provider="narrow"\\}') === 0, 'all have left');
    assert.ok(await metric('refused_total\\{provider="narrow"\\}') >= 1);
  });

  test('refuses what has waited for too long, in the shape of each client', async () => {
    const first = chat('short/held-s');
    await until(() => vendor.held.length === 1, 'one is there');
    const late = await chat('short/held-s');
    assert.equal(late.status, 503, late.text);
    assert.match(late.json.error.message, /waited in vain/);
    assert.ok(Number(late.headers['retry-after']) >= 1);
    const claude = await server.raw('POST', '/v1/messages', { body: { model: 'short/held-s', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] } });
    assert.deepEqual([claude.status, claude.json.error.type], [503, 'overloaded_error']);
    const google = await server.raw('POST', '/v1beta/models/short/held-s:generateContent', { body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] } });
    assert.deepEqual([google.status, google.json.error.status], [503, 'UNAVAILABLE']);
    assert.equal(vendor.held.length, 1);
    vendor.letGo();
    assert.equal((await first).status, 200);
  });

  test('without a queue sends a chain on', async () => {
    const first = chat('strict/held-9');
    await until(() => vendor.held.length === 1, 'one is there');
    assert.equal((await chat('spill')).headers['parley-model'], 'a/x');
    assert.equal((await chat('strict/held-9')).status, 429);
    vendor.letGo();
    await first;
  });

  test('forgets a client that left while it waited', async () => {
    const calls = [chat('narrow/held-n'), chat('narrow/held-n')];
    await until(() => vendor.held.length === 2, 'two are there');
    const leaving = http.request({ host: '127.0.0.1', port: server.port, method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${server.key}` } });
    leaving.on('error', () => {});
    leaving.end(JSON.stringify(body('narrow/held-n')));
    await until(async () => await metric('waiting\\{provider="narrow"\\}') === 1, 'it waits');
    leaving.destroy();
    await until(async () => await metric('waiting\\{provider="narrow"\\}') === 0, 'it has left');
    vendor.letGo();
    await Promise.all(calls);
    const seen = vendor.seen.length;
    assert.equal((await Promise.all([chat('narrow/y'), chat('narrow/y')])).every(({ status }) => status === 200), true);
    assert.equal(vendor.seen.length, seen + 2);
  });

  test('keeps count over a reload, which changes its limits', async () => {
    const calls = [chat('narrow/held-n'), chat('narrow/held-n'), chat('narrow/held-n')];
    await until(async () => vendor.held.length === 2 && await metric('waiting\\{provider="narrow"\\}') === 1, 'one waits');
    writeFileSync(file, config().replace('max_concurrent: 2, queue: 3', 'max_concurrent: 3, queue: 0'));
    assert.equal(spawnSync(parley, ['reload', '--data', server.data], { encoding: 'utf8' }).status, 0);
    await until(() => vendor.held.length === 3, 'the third has its turn');
    await until(async () => (await chat('narrow/held-n')).status === 429, 'a fourth is refused');
    vendor.letGo();
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
    writeFileSync(file, config());
    assert.equal(spawnSync(parley, ['reload', '--data', server.data], { encoding: 'utf8' }).status, 0);
  });
});

describe('a provider of the configuration', () => {
  test('is sent its headers, and they are never told', async () => {
    await chat('labelled/x');
    const { headers } = vendor.seen.at(-1);
    assert.deepEqual([headers['x-team'], headers['x-secret'], headers['user-agent']], ['blue', 'blue-secret-0123456789', 'team']);
    const leaked = await chat('labelled/leak');
    assert.equal(leaked.status, 400);
    assert.doesNotMatch(leaked.text, /blue-secret|0123456789/);
    const shown = spawnSync(parley, ['serve', '--print-config', '--config', file], { encoding: 'utf8', env: { ...process.env, TEAM_SECRET: 'blue-secret-0123456789' } });
    assert.equal(shown.status, 0, shown.stderr);
    assert.match(shown.stdout, /provider labelled: .*headers X-Team X-Secret User-Agent/);
    assert.match(shown.stdout, /provider narrow: .*max_concurrent 2, queue 3, queue_ms 600000/);
    assert.match(shown.stdout, /alias shares: a\/x \(weight 5\), b\/x \(weight 2\), c\/x \(weight 1\); spread weighted/);
    assert.match(shown.stdout, /alias chain: a\/x, then b\/x\n/);
    assert.doesNotMatch(shown.stdout + shown.stderr, /blue/);
  });

  test('has its own times', async () => {
    const { status, json } = await chat('hasty/held-h');
    assert.equal(status, 504, JSON.stringify(json));
    vendor.letGo();
  });

  test('and an alias are held to the rules, with file, line and suggestion', () => {
    const wrong = [
      ['  p: {dialect: openai-chat, base_url: http://x, max_concurrent: 0}', /line 10: max_concurrent of the provider p must be a whole number from 1/],
      ['  p: {dialect: openai-chat, base_url: http://x, max_concurrent: 100001}', /from 1 to 100000/],
      ['  p: {dialect: openai-chat, base_url: http://x, max_concurent: 3}', /line 10: .*did you mean "max_concurrent"/],
      ['  p: {dialect: openai-chat, base_url: http://x, queue: 3}', /line 10: .*no max_concurrent/],
      ['  p: {dialect: openai-chat, base_url: http://x, queue_ms: "3"}', /queue_ms of the provider p must be a whole number/],
      ['  p: {dialect: openai-chat, base_url: http://x, idle_ms: -1}', /idle_ms of the provider p must be/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: [a]}', /headers of the provider p must be \{NAME: value\}/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: {"A b": hidden-value}}', /line 10: the header "A b" of the provider p is not valid/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: {X: "hidden-value\\n"}}', /the header "X" of the provider p is not valid/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: {Authorization: hidden-value}}', /the header Authorization .* key_env/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: {X: 7}}', /headers of the provider p must be a string/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: {X: {env: NOT_SET_AT_ALL}}}', /takes its value from NOT_SET_AT_ALL, which is not set/],
      ['  p: {dialect: openai-chat, base_url: http://x, headers: {X: {file: y}}}', /must be a text or \{env: VARIABLE\}/],
      ['  p: {dialect: openai-chat, base_url: http://x, embeddings: cohere}', /embeddings "cohere"; they must be openai, ollama/],
      ['', /line 14: the alias s has the spread "random"/, '{spread: random, targets: [a/x, b/x]}'],
      ['', /did you mean "spread"/, '{spred: order, targets: [a/x, b/x]}'],
      ['', /line 14: .*only count with the spread weighted/, '{spread: round_robin, targets: [{model: a/x, weight: 2}, b/x]}'],
      ['', /only one model/, '{spread: weighted, targets: [a/x]}'],
      ['', /needs targets/, '{spread: weighted}'],
      ['', /must be a list of models/, '{spread: weighted, targets: a/x}'],
      ['', /a weight of the alias s must be a whole number from 1 to 1000/, '{spread: weighted, targets: [{model: a/x, weight: 0}, b/x]}'],
      ['', /did you mean "weight"/, '{spread: weighted, targets: [{model: a/x, wieght: 1}, b/x]}'],
      ['', /needs a model/, '{spread: weighted, targets: [{weight: 1}, b/x]}'],
      ['', /a target of the alias s is nobody\/x/, '{spread: weighted, targets: [nobody/x, b/x]}'],
    ];
    for (const [provider, why, alias] of wrong) {
      const text = `probe: false
# three lines
# of
# comment
providers:
  a: {dialect: openai-chat, base_url: http://127.0.0.1:1}
  b:
    dialect: openai-chat
    base_url: http://127.0.0.1:1
${provider || '  p: {dialect: openai-chat, base_url: http://127.0.0.1:1}'}
#
aliases:
  plain: a/x
  s: ${alias ?? 'a/x'}
`;
      const home = homeOf(text);
      const { status, stderr } = spawnSync(parley, ['serve', '--data', mkdtempSync(join(directory, 'data-')), '--port', '0'], { encoding: 'utf8', env: { ...process.env, XDG_CONFIG_HOME: home } });
      assert.notEqual(status, 0, text);
      assert.match(stderr, why, text);
      assert.match(stderr, /config\.yaml/);
      assert.doesNotMatch(stderr, /hidden-value/);
    }
  });
});
