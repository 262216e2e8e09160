// Sessions with vendors' models: each dialect, tools, failures of every kind, and a conversation that changes its
// vendor at every turn. The vendors are upstreams.mjs, which checks the requests with the vendors' rules.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { run } from './harness.mjs';
import { clientOf, closing, endsWell, serve, settled, textOf, until } from './live.mjs';
import { dialectNames, openUpstream, signature } from './upstreams.mjs';

const key = 'sk-secret-0123456789abcdef';
const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};

let upstream;
let server;
let client;
// Servers with short timeouts for the first byte, or for the next one. Only used with vendors that hang.
let impatient;
before(async () => {
  upstream = await openUpstream({ key });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
  impatient = {
    head: await serve({ env: { ...upstream.env(), PARLEY_UPSTREAM_FIRST_BYTE_MS: '400' } }),
    body: await serve({ env: { ...upstream.env(), PARLEY_UPSTREAM_IDLE_MS: '400' } }),
  };
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

// A session with an answer, and its turns.
async function chat(message, { model, id, by = client, ...rest } = {}) {
  const session = id ?? (await by.createSession({ ...(model ? { model } : {}) })).id;
  await by.chat(session, { message, ...(id && model ? { model } : {}), ...rest });
  await settled(by, session);
  const { turns } = await by.messages(session, { limit: '100' });
  return { id: session, turns, last: turns.at(-1) };
}
const blocksOf = (turn, type) => turn.blocks.filter((block) => block.type === type);
const failed = async (t, model, script, what, { requests, by } = {}) => {
  upstream.next(...[script].flat());
  const { last } = await chat('hello', { model, by });
  assert.equal(last.status, 'failed', JSON.stringify(last));
  const said = JSON.stringify(last);
  assert.match(said, what);
  assert.ok(!said.includes(key), said);
  if (requests) assert.equal(upstream.requests.length, requests);
  return last;
};

for (const dialect of dialectNames) {
  const model = models[dialect];

  test(`${dialect}: text comes as it is said, and what it cost is kept`, async (t) => {
    upstream.next({ say: 'Good "day" — é 😀\n\nto you.', usage: { input: 1000, output: 100, cached: 400 }, drip: 5 });
    const { id } = await client.createSession({ model });
    const reader = closing(t, client.live({ retryMs: 1 }));
    const view = await reader.subscribe(id);
    await client.chat(id, { message: 'hello' });
    await settled(client, id);
    const { turns } = await client.messages(id, { limit: '10' });
    const [, turn] = turns;
    assert.equal(turn.status, 'completed');
    assert.equal(textOf(turn), 'Good "day" — é 😀\n\nto you.');
    assert.equal(turn.model, model);
    assert.equal(turn.usage.input_tokens, 1000);
    assert.equal(turn.usage.output_tokens, 100);
    assert.equal(turn.usage.cache_read_tokens, 400);
    await until(() => view.ordered.at(-1)?.status === 'completed', 'the reader sees the end');
    const [request] = upstream.requests;
    assert.equal(request.isStream, true);
    assert.ok(request.body.tools.length, 'the tools are offered');
    upstream.check();
  });

  test(`${dialect}: two tools at once, their results in order, then the answer`, async () => {
    upstream.next({ think: 'Two things.', calls: [{ name: 'clock' }, { name: 'echo', args: { n: 12345678901234567890n.toString(), é: ['\u2028', null] } }] },
      { say: 'Done.' });
    const { turns } = await chat('do both', { model });
    const calls = turns.flatMap((turn) => turn.tool_calls ?? []);
    assert.deepEqual(calls.map((call) => [call.tool_name, call.status]), [['clock', 'done'], ['echo', 'done']]);
    assert.equal(textOf(turns.at(-1)), 'Done.');
    assert.equal(upstream.requests.length, 2);
    upstream.check();
    assert.ok(!upstream.last().text.includes('_meta'));
  });

  test(`${dialect}: an answer in single bytes is the same`, async () => {
    upstream.next({ think: 'Hm é', say: 'Ünïcödé 😀', bytes: 1 });
    const { last } = await chat('hello', { model });
    assert.equal(textOf(last), 'Ünïcödé 😀');
    assert.equal(blocksOf(last, 'thinking').map((block) => block.content).join(''), 'Hm é');
  });

  test(`${dialect}: an answer that was cut off or filtered says so`, async () => {
    upstream.next({ say: 'And then', finish: 'length' });
    const long = await chat('hello', { model });
    assert.equal(textOf(long.last), 'And then');
    assert.match(blocksOf(long.last, 'system_notification')[0].content, /incomplete: it reached the model's limit/);
    upstream.next({ say: 'And then', finish: 'filter' });
    const filtered = await chat('hello', { model });
    assert.match(blocksOf(filtered.last, 'system_notification')[0].content, /filter|refused/);
    // Notices for people are not sent to the model as its own words.
    upstream.next({ say: 'Fine.' });
    await chat('again', { id: filtered.id });
    assert.ok(!upstream.last().text.includes('stopped the answer'));
    upstream.check();
  });

  test(`${dialect}: a refused request fails the turn with the vendor's sentence`, async (t) => {
    await failed(t, model, { status: 400, error: 'temperature is odd' }, /temperature is odd/, { requests: 1 });
    await failed(t, model, { status: 404, error: 'nope' }, /has no model/);
  });

  test(`${dialect}: 429 and 5xx are tried again, as Retry-After says, and then told`, async (t) => {
    const busy = { status: 429, error: 'slow down', headers: { 'retry-after': '0' } };
    upstream.next(busy, { status: 503, headers: { 'retry-after': '0' } }, { say: 'At last.' });
    assert.equal(textOf((await chat('hello', { model })).last), 'At last.');
    upstream.reset();
    await failed(t, model, [busy, busy, busy], /429.*slow down/, { requests: 3 });
    upstream.reset();
    await failed(t, model, { ...busy, headers: { 'retry-after': '600' } }, /429/, { requests: 1 });
  });

  test(`${dialect}: hangs, drops and nonsense fail the turn and leave nothing open`, async (t) => {
    await failed(t, model, { hang: 'head' }, /did not begin to answer/, { by: clientOf(impatient.head) });
    await failed(t, model, { say: 'one two three four', hang: 'body' }, /stopped sending in the middle/, { by: clientOf(impatient.body) });
    // A kept connection that turns out to be dead does not count as an answer: the request is repeated on a new one.
    await failed(t, model, [{ drop: 'head' }, { drop: 'head' }], /broke off/);
    upstream.scripts = [];
    await failed(t, model, { say: 'one two three four', drop: 'body' }, /broke off/);
    await failed(t, model, { say: 'one two three four', bad: true }, /broke off/);
    await until(() => upstream.requests.every((request) => request.isClosed), 'all connections of failed calls are closed');
  });

  test(`${dialect}: stopping closes the connection to the vendor`, async () => {
    upstream.next({ say: 'word '.repeat(1000), drip: 20 });
    const { id } = await client.createSession({ model });
    await client.chat(id, { message: 'talk' });
    await until(async () => (await client.messages(id, { limit: '10' })).turns.some((turn) => turn.role === 'assistant' && textOf(turn)), 'the first words');
    await client.stop(id);
    await until(() => upstream.requests[0].isClosed, 'the connection is closed');
    await settled(client, id);
  });

  test(`${dialect}: a context that is too long is compacted and asked again`, async () => {
    const words = {
      anthropic: 'prompt is too long: 210000 tokens > 200000 maximum',
      'openai-chat': "This model's maximum context length is 128000 tokens.",
      'openai-responses': 'Your input exceeds the context window of this model.',
      gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    };
    upstream.next({ say: 'One.' });
    const { id } = await chat('first', { model });
    let n = 0;
    upstream.answer = (request) => (n++ === 0 ? { status: 400, error: words[request.dialect] } : { say: 'Short enough.' });
    try {
      const { turns } = await chat('second', { id });
      assert.ok(turns.some((turn) => turn.kind === 'compaction'), JSON.stringify(turns.map((turn) => turn.kind)));
      assert.equal(textOf(turns.at(-1)), 'Short enough.');
    } finally {
      upstream.answer = undefined;
    }
  });
}

test('a wrong key is told without being shown, though the vendor repeats it', async (t) => {
  const wrong = await serve({ env: upstream.env('sk-wrong-abcdefghijklmnop') });
  t.after(() => wrong.stop());
  const other = clientOf(wrong);
  for (const [dialect, variable] of [['anthropic', 'ANTHROPIC_API_KEY'], ['openai-responses', 'OPENAI_API_KEY'], ['gemini', 'GEMINI_API_KEY']]) {
    const { id } = await other.createSession({ model: models[dialect] });
    await other.chat(id, { message: 'hello' });
    await settled(other, id);
    const said = JSON.stringify((await other.messages(id, { limit: '10' })).turns.at(-1));
    assert.match(said, new RegExp(`key from ${variable} \\(401\\)`));
    assert.ok(!said.includes('abcdefgh'), said);
  }
  assert.ok(!wrong.err.includes('sk-wrong'));
});

test('ten turns, another vendor at each, with tools and thinking', async () => {
  const order = [...dialectNames, ...[...dialectNames].reverse(), dialectNames[2], dialectNames[0]];
  let id;
  for (const [i, dialect] of order.entries()) {
    upstream.next(
      { think: `Thinking ${i}.`, say: `Looking ${i}.`, calls: [{ name: 'clock' }, { name: 'echo', args: { i } }] },
      { think: `More ${i}.`, calls: [{ name: 'echo', args: { again: i } }] },
      { say: `Answer ${i}.` });
    // Models whose calls must be signed in the current turn.
    const model = dialect === 'gemini' ? 'gemini/gemini-3-pro' : models[dialect];
    const { id: session, last } = await chat(`question ${i}`, { model, id });
    id = session;
    assert.equal(last.status, 'completed', JSON.stringify(last));
    assert.equal(textOf(last), `Answer ${i}.`);
    assert.equal(upstream.last().dialect, dialect);
  }
  assert.equal(upstream.requests.length, 30);
  upstream.check();
  for (const request of upstream.requests) {
    for (const other of dialectNames.filter((name) => name !== request.dialect)) {
      assert.ok(!request.text.includes(signature(other)), `${request.dialect} is shown a proof of ${other}`);
    }
  }
  // Each vendor gets its own thinking again; Responses is told to include the data it would otherwise store.
  for (const dialect of ['anthropic', 'gemini', 'openai-responses']) {
    const own = upstream.requests.filter((request) => request.dialect === dialect);
    assert.ok(own.at(-1).text.includes(signature(dialect)), `${dialect} gets its proofs back`);
  }
  const responses = upstream.requests.find((request) => request.dialect === 'openai-responses').body;
  assert.equal(responses.store, false);
  assert.deepEqual(responses.include, ['reasoning.encrypted_content']);
  const { text } = upstream.last();
  for (let i = 0; i < 9; i++) assert.ok(text.includes(`Answer ${i}.`) && text.includes(`question ${i}`));
});

test('a session changes between models of Claude, and plans', async () => {
  const beta = 'thinking-binding-controls-2026-08-01';
  let id;
  for (const [i, [name, isPlanning]] of [['claude-opus-5-5', false], ['claude-fable-5-2', true], ['claude-sonnet-5-5', false], ['claude-sonnet-5', false]].entries()) {
    upstream.next({ think: `Thinking ${i}.`, say: `Answer ${i}.` });
    const { id: session, last } = await chat(`question ${i}`, { model: `anthropic/${name}`, id, ...(isPlanning ? { mode: 'planning' } : {}) });
    id = session;
    assert.equal(textOf(last), `Answer ${i}.`);
    const { body, headers } = upstream.last();
    // The vendor decides which thinking it can still read; thinking that it cannot read must not cause an error.
    const isBound = i > 0 && name !== 'claude-sonnet-5';
    assert.deepEqual(body.thinking, isBound ? { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } : undefined, name);
    assert.equal(headers['anthropic-beta'], name === 'claude-sonnet-5' ? undefined : beta);
    assert.equal(body.messages.filter(({ content }) => JSON.stringify(content).includes(signature('anthropic'))).length, i);
  }
  upstream.check();
});

// Increases the time limit until some words have arrived: on a busy machine the first limits are too short.
async function cutOff(t, endless) {
  for (const ms of [2000, 8000, 32_000]) {
    const hasty = await serve({ env: { ...upstream.env(), PARLEY_UPSTREAM_ANSWER_MS: String(ms) } });
    t.after(() => hasty.stop());
    const other = clientOf(hasty);
    upstream.reset();
    upstream.next(endless);
    const { id, last } = await chat('talk', { model: models.anthropic, by: other });
    assert.equal(last.status, 'failed');
    assert.match(last.error, new RegExp(`longer than this server allows \\(upstream_answer_ms: ${ms}\\)`));
    await until(() => upstream.requests[0].isClosed, 'the vendor is told');
    if (textOf(last)) return { other, id, cut: last };
  }
  return assert.fail('no word came in time');
}

test('an answer that never ends is ended, and so is a summary', async (t) => {
  const endless = { say: 'word '.repeat(10_000), drip: 20 };
  const { other, id, cut } = await cutOff(t, endless);
  assert.match(textOf(cut), /^word/, 'what was said stays');
  upstream.next({ say: 'Quick.' }, endless);
  await other.chat(id, { message: `again${' and so on'.repeat(400)}` }); // long enough that a summary is shorter
  await settled(other, id);
  await other.request('POST', `/api/sessions/${id}/compact`, {});
  const summary = await until(async () => (await other.messages(id, { limit: '10' })).turns.find(({ kind }) => kind === 'compaction'), 'a summary');
  assert.match(summary.summary_full, /user: talk/, 'the first words stand in');
  assert.equal(summary.usage, null);
  await until(() => upstream.requests.length === 3 && upstream.requests[2].isClosed, 'the vendor is told');
});

test('planning is said to the model', async () => {
  upstream.next({ say: 'A plan.' });
  await chat('plan it', { model: models.anthropic, mode: 'planning' });
  assert.match(JSON.stringify(upstream.last().body.system), /planning mode/);
  upstream.next({ say: 'Done.' });
  await chat('do it', { model: models.anthropic });
  assert.ok(!upstream.last().text.includes('You are in planning mode'));
  upstream.check();
});

test('models are listed, and one without a key says what to set', async (t) => {
  const { items } = (await server.ask('GET', '/api/models')).json;
  const names = items.map((item) => item.name);
  assert.ok(names.includes('anthropic/claude-sonnet-4-5') && names.includes('gemini/gemini-2.5-pro'));
  assert.equal(items.find((item) => item.name === 'anthropic/claude-opus-4-8').context_window, 1000000);
  assert.deepEqual(items.find((item) => item.name === 'openai-chat/gpt-4o-mini').prices,
    { input: 150000, output: 600000, cache_read: 75000, cache_write: null, dated: '2026-10-27' });
  assert.equal(items.find((item) => item.name === 'demo/echo').prices, null);
  const bare = await serve({ env: { PARLEY_PROBE: 'false' } });
  t.after(() => bare.stop());
  const few = (await bare.ask('GET', '/api/models')).json.items.map((item) => item.name);
  assert.ok(few.every((name) => name.startsWith('demo/')), few.join());
  await assert.rejects(clientOf(bare).createSession({ model: 'claude-sonnet-4-5' }), ({ problem }) => /ANTHROPIC_API_KEY/.test(problem.detail));
});

test('providers, keys in files and aliases of the configuration file', async (t) => {
  const config = mkdtempSync(join(tmpdir(), 'parley-models-'));
  t.after(() => rmSync(config, { recursive: true, force: true }));
  mkdirSync(join(config, 'parley'));
  const secret = join(config, 'corp.key');
  writeFileSync(secret, `${key}\n`, { mode: 0o600 });
  const down = await openUpstream();
  await down.close();
  writeFileSync(join(config, 'parley', 'config.yaml'), [
    'probe: false',
    'providers:',
    `  corp: {dialect: openai-chat, base_url: "${upstream.url}/v1/", key_file: ${secret}, models: [big, small]}`,
    `  gone: {dialect: anthropic, base_url: "${down.url}"}`,
    'aliases:',
    '  fast: corp/small',
    '  sure: [gone/claude-x, corp/big]',
  ].join('\n'));
  const env = { XDG_CONFIG_HOME: config };
  const mine = await serve({ env });
  t.after(() => mine.stop());
  const other = clientOf(mine);
  const ask = async (model) => {
    const { id } = await other.createSession({ model });
    await other.chat(id, { message: 'hello' });
    await settled(other, id);
    return (await other.messages(id, { limit: '10' })).turns.at(-1);
  };
  assert.equal((await ask('fast')).model, 'corp/small');
  assert.equal(upstream.last().headers.authorization, `Bearer ${key}`);
  const sure = await ask('sure');
  assert.equal(sure.model, 'corp/big', JSON.stringify(sure));
  assert.equal(textOf(await ask('big')), 'Hello.');
  const listed = (await mine.ask('GET', '/api/models')).json.items.map((item) => item.name);
  assert.deepEqual(listed.filter((name) => !name.startsWith('demo/')), ['fast', 'sure', 'corp/big', 'corp/small']);
  upstream.check();

  const shown = run(['serve', '--print-config', '--json'], { env });
  assert.equal(shown.code, 0, shown.err);
  assert.ok(!shown.out.includes(key));
  assert.deepEqual(JSON.parse(shown.out).providers.corp, { dialect: 'openai-chat', base_url: `${upstream.url}/v1/`, key_from: secret });
  assert.ok(!run(['serve', '--print-config'], { env }).out.includes(key));
  const refusedWith = (mode) => {
    chmodSync(secret, mode);
    const { code, err } = run(['serve', '--print-config'], { env });
    if (code !== 0) assert.match(err, /chmod 600/);
    return code !== 0;
  };
  for (const mode of [0o644, 0o604, 0o660, 0o650]) assert.ok(refusedWith(mode), mode.toString(8));
  // A file that root makes readable for one group is also secret, as in a pod of Kubernetes; a file of another owner is not.
  assert.equal(refusedWith(0o640), process.getuid() !== 0);
  if (process.getuid() === 0) {
    chownSync(secret, 65534, 65534);
    assert.ok(refusedWith(0o640));
    assert.ok(!refusedWith(0o600));
  }
});

test('a mistake in the configuration of models is named', (t) => {
  const config = mkdtempSync(join(tmpdir(), 'parley-models-'));
  t.after(() => rmSync(config, { recursive: true, force: true }));
  mkdirSync(join(config, 'parley'));
  const provider = (rest) => `providers: {corp: {dialect: openai-chat, base_url: "https://llm.example", ${rest}}}`;
  for (const [text, what] of [
    ['providers: {corp: {dialect: openai-chat}}', /corp needs a dialect and a base_url/],
    ['providers: {corp: {dialect: klingon, base_url: "https://llm.example"}}', /has the dialect "klingon"/],
    ['providers: {corp: {dialect: gemini, base_url: "https://me:secret@llm.example"}}', /base_url of the provider corp/],
    ['providers: {demo: {dialect: gemini, base_url: "https://llm.example"}}', /"demo" is not a valid provider name: .* but not demo or replay/],
    [provider('key_evn: X'), /did you mean "key_env"/],
    [provider('key_env: NOT_SET_ANYWHERE'), /NOT_SET_ANYWHERE, which is not set/],
    [provider('key_file: /nowhere/at/all'), /\/nowhere\/at\/all cannot be read/],
    [provider('profile: none'), /no profile "none"/],
    [provider('models: 7'), /models of the provider corp must be a string/],
    ['providers: 7', /"providers"/],
    ['aliases: {fast: []}', /the alias fast must have 1 to 8 models/],
    ['aliases: {a/b: demo\/echo}', /"a\/b" is not a valid alias/],
    ['provider: {}', /did you mean "providers"/],
  ]) {
    writeFileSync(join(config, 'parley', 'config.yaml'), `${text}\n`);
    const { code, out, err } = run(['serve', '--print-config'], { env: { XDG_CONFIG_HOME: config } });
    assert.notEqual(code, 0, text);
    assert.match(err, what);
    assert.ok(!(out + err).includes('secret'));
  }
});

test('a session whose vendor is gone says so instead of being answered by another', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'parley-gone-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const first = await serve({ data, env: upstream.env() });
  const { id } = await clientOf(first).createSession({ model: models.anthropic });
  const { key: mine } = first;
  await first.stop();
  const second = await serve({ data, env: { PARLEY_PROBE: 'false' } });
  t.after(() => second.stop());
  const other = clientOf(second, mine);
  await other.chat(id, { message: 'hello' });
  await settled(other, id);
  const turn = (await other.messages(id, { limit: '10' })).turns.at(-1);
  assert.equal(turn.status, 'failed');
  assert.match(turn.error, /ANTHROPIC_API_KEY/);
});

test('servers of models on this machine are found', async (t) => {
  const local = await openUpstream({ models: ['qwen3:8b', 'llama3.2'] });
  t.after(() => local.close());
  const mine = await serve({ env: { OLLAMA_HOST: local.url } });
  t.after(() => mine.stop());
  const listed = await until(async () => {
    const names = (await mine.ask('GET', '/api/models')).json.items.map((item) => item.name);
    return names.includes('ollama/qwen3:8b') && names;
  }, 'its models are listed');
  assert.ok(listed.includes('ollama/llama3.2'));
  const other = clientOf(mine);
  const { id } = await other.createSession({ model: 'llama3.2' });
  await other.chat(id, { message: 'hello' });
  await settled(other, id);
  assert.equal(local.last().body.model, 'llama3.2');
  assert.equal(local.last().path, '/v1/chat/completions');
  assert.equal(local.last().headers.authorization, undefined);
});

test('all of it ends well, and the key is in no log', async () => {
  for (const one of Object.values(impatient)) await endsWell(one);
  await endsWell(server);
  assert.ok(!server.err.includes(key) && !server.out.includes(key));
});
