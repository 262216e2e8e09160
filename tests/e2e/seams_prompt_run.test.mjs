// A prompt's config, tools, model and the prefix of its answer, from the library and from a file, to each vendor's
// request; and what is exported and merged on the way to a vendor.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { execFile } from 'node:child_process';
import { parley, run } from './harness.mjs';
import { serve, until } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-4o', 'openai-responses': 'openai/gpt-4o',
  gemini: 'gemini/gemini-2.5-pro',
};
let upstream;
let server;
let dir;
before(async () => {
  upstream = await openUpstream();
  server = await serve({ env: upstream.env() });
  dir = mkdtempSync(join(tmpdir(), 'parley-prompt-run-'));
});
beforeEach(() => upstream.reset());
after(() => {
  rmSync(dir, { recursive: true, force: true });
  return upstream.close();
});

const lookup = { type: 'function', function: { name: 'lookup', description: 'Looks a word up', parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } } };
const config = { temperature: 0.2, top_p: 0.9, max_tokens: 77, stop: ['END'], seed: 3, response_format: { type: 'json_object' } };
const chat = (rest = {}, more = []) => ({
  protocol: 'structured-chat', system_prompt: 'You are {{who}}.',
  messages: [{ id: 'm1', role: 'user', content: 'Say {{what}} as JSON' }, ...more],
  variables: [{ name: 'who' }, { name: 'what' }],
  ...rest,
});
const variables = { who: 'brief', what: 'hello' };

async function keep(document, name = `p${Math.random()}`) {
  const made = await server.ask('POST', '/api/prompts', { body: { name, type: 'structured', content: document } });
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}
const answer = async (document, rest = {}) =>
  server.ask('POST', `/api/prompts/${await keep(document)}/run`, { body: { mode: 'answer', variables, ...rest } });
const cli = (args) => new Promise((resolve) => {
  execFile(parley, [...args, '--data', server.data], (error, out, err) => resolve({ code: error?.code ?? 0, out, err }));
});
function file(document, name = 'prompt.json') {
  const path = join(dir, name);
  writeFileSync(path, JSON.stringify(document));
  return path;
}
const namesOf = (body) => (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [tool])
  .map((tool) => tool.name ?? tool.function.name);
const limits = {
  anthropic: (body) => body.max_tokens, 'openai-chat': (body) => body.max_completion_tokens ?? body.max_tokens,
  'openai-responses': (body) => body.max_output_tokens, gemini: (body) => body.generationConfig.maxOutputTokens,
};

for (const [dialect, model] of Object.entries(models)) {
  test(`${dialect}: the config of a prompt that is run reaches the model, and so do its own tools alone`, async () => {
    const { status, json, text } = await answer(chat({ config: { ...config, tools: [lookup] } }), { model });
    assert.equal(status, 201, text);
    assert.equal(json.items[0].status, 'completed', text);
    const { body } = upstream.last();
    assert.equal(limits[dialect](body), 77);
    const sampled = body.generationConfig ?? body;
    assert.ok(sampled.temperature === 0.2 || (sampled.top_p ?? sampled.topP) === 0.9);
    assert.deepEqual(namesOf(body), ['lookup']);
    assert.match(upstream.last().text, /You are brief/);
    upstream.check();
  });
}

test('a prompt is run without built-in tools, unless the request asks for them', async () => {
  const document = chat({ config: { model: models['openai-chat'] } });
  assert.equal((await answer(document)).json.items[0].status, 'completed');
  assert.equal(upstream.last().model, 'gpt-4o');
  assert.deepEqual(namesOf(upstream.last().body), []);
  await answer(document, { tools: ['calc'] });
  assert.deepEqual(namesOf(upstream.last().body), ['calc']);
  await answer(document, { tools: 'all' });
  assert.ok(namesOf(upstream.last().body).length > 4);
  assert.equal((await answer(document, { tools: ['clac'] })).status, 400);
});

test('what is for one vendor goes to it, and to no other', async () => {
  const document = chat({ config: { vendor: { anthropic: { metadata: { user_id: 'u' } }, 'openai-chat': { logit_bias: { 1: 2 } } } } });
  await answer(document, { models: [models.anthropic, models['openai-chat']] });
  const of = (dialect) => upstream.last(dialect).body;
  assert.deepEqual([of('anthropic').metadata, of('anthropic').logit_bias], [{ user_id: 'u' }, undefined]);
  assert.deepEqual([of('openai-chat').metadata, of('openai-chat').logit_bias], [undefined, { 1: 2 }]);
});

test('a session that a prompt began keeps its settings and tools, and its calls wait for the client', async () => {
  upstream.next({ calls: [{ name: 'lookup', args: { word: 'x' } }] }, { say: 'Found.' });
  const id = await keep(chat({ config: { ...config, model: models['openai-chat'], tools: [lookup] } }));
  const made = await server.ask('POST', `/api/prompts/${id}/run`, { body: { variables } });
  const session = made.json.items[0].session_id;
  const get = async () => (await server.ask('GET', `/api/sessions/${session}`)).json;
  await until(async () => (await get()).status === 'waiting_for_input', 'nobody waits');
  const { settings, tools } = await get();
  assert.deepEqual(settings, config);
  assert.deepEqual(tools, [{ name: 'lookup', description: 'Looks a word up', input_schema: lookup.function.parameters }]);
  const turns = (await server.ask('GET', `/api/sessions/${session}/messages`)).json;
  const call = turns.flatMap(({ tool_calls: calls }) => calls).find(({ runs }) => runs === 'client');
  await server.ask('POST', `/api/sessions/${session}/tool-calls/${call.id}/result`, { body: { result: 'a letter' } });
  await until(async () => (await get()).status === 'completed', 'it does not end');
  assert.equal(upstream.last().body.temperature, 0.2);
});

test('a prompt that ends with the assistant is the beginning of the answer, where the model continues it', async () => {
  const document = chat({}, [{ id: 'm2', role: 'assistant', content: '{"a":' }]);
  upstream.next({ say: ' 1}' });
  const { json, text } = await answer(document, { model: models.anthropic });
  assert.equal(json.items[0].text, '{"a": 1}', text);
  assert.deepEqual(upstream.last().body.messages.map(({ role }) => role), ['user', 'assistant']);
  for (const model of ['anthropic/claude-opus-5', models.gemini, 'demo/echo']) {
    const refused = await answer(document, { model });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.json.detail, /does not continue an answer/);
  }
});

test('a config that no session can have is refused with its place', async () => {
  for (const [wrong, what] of [
    [{ temperature: 9 }, /temperature/], [{ tools: [{ type: 'web_search' }] }, /Tool 1 of config.tools has no name/],
    [{ tools: [{ name: 'Agent' }] }, /belongs to a tool of every session/], [{ reasoning_effort: 'hard' }, /effort/],
  ]) {
    const refused = await answer(chat({ config: wrong }), { model: models['openai-chat'] });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, what);
  }
});

test('parley run FILE asks the model of its config, with its settings and tools', async () => {
  const path = file(chat({ config: { ...config, model: models['openai-chat'], tools: undefined } }));
  const { code, out, err } = await cli(['run', path, '--var', 'who=brief', '--var', 'what=hello']);
  assert.equal(code, 0, err);
  assert.match(out, /Hello/);
  const { body } = upstream.last();
  assert.deepEqual([body.model, body.temperature, body.seed, namesOf(body)], ['gpt-4o', 0.2, 3, []]);
  assert.equal((await server.ask('GET', '/api/sessions')).json.items.filter(({ intent }) => intent === '').length, 0);
  await cli(['run', path, '--model', models.anthropic, '--var', 'who=brief', '--var', 'what=hello']);
  assert.equal(upstream.last().dialect, 'anthropic'); // the command line has precedence
});

test('parley run FILE with the beginning of an answer has it continued', async () => {
  const path = file(chat({ config: { model: models.anthropic } }, [{ id: 'm2', role: 'assistant', content: '[' }]));
  upstream.next({ say: '1]' });
  const { code, out, err } = await cli(['run', path, '--var', 'who=brief', '--var', 'what=hello']);
  assert.equal(code, 0, err);
  assert.match(out, /\[1\]/);
});

test('parley prompt run uses the config of a prompt in the library', async () => {
  await keep(chat({ config: { ...config, model: models['openai-chat'] } }), 'greeting');
  const { code, err } = await cli(['prompt', 'run', 'greeting', '--var', 'who=brief', '--var', 'what=hello']);
  assert.equal(code, 0, err);
  assert.deepEqual([upstream.last().model, upstream.last().body.seed, namesOf(upstream.last().body)], ['gpt-4o', 3, []]);
});

test('/v1/responses with a prompt uses its config and tools', async () => {
  const id = await keep(chat({ config: { temperature: 0.2, max_tokens: 77, tools: [lookup] } }));
  const made = await server.raw('POST', '/v1/responses', { body: { model: models['openai-chat'], prompt: { id, variables } } });
  assert.equal(made.status, 200, made.text);
  const { body } = upstream.last();
  assert.deepEqual([body.temperature, limits['openai-chat'](body), namesOf(body)], [0.2, 77, ['lookup']]);
});

test('/v1/responses with a prompt: what is for one vendor goes to it, and to no other', async () => {
  const vendor = { anthropic: { metadata: { user_id: 'u' } }, openai: { service_tier: 'flex' }, 'openai-chat': { logit_bias: { 1: 2 } },
    'openai-responses': { truncation: 'auto', model: 'another' }, gemini: { generationConfig: { responseLogprobs: true } } };
  const id = await keep(chat({ config: { temperature: 0.2, vendor } }));
  const wanted = {
    anthropic: ({ metadata, service_tier, logit_bias }) => assert.deepEqual([metadata, service_tier, logit_bias], [{ user_id: 'u' }, undefined, undefined]),
    'openai-chat': ({ metadata, service_tier, logit_bias }) => assert.deepEqual([metadata, service_tier, logit_bias], [undefined, 'flex', { 1: 2 }]),
    'openai-responses': ({ truncation, service_tier, logit_bias, model }) => assert.deepEqual([truncation, service_tier, logit_bias, model !== 'another'], ['auto', 'flex', undefined, true]),
    gemini: ({ generationConfig }) => assert.deepEqual([generationConfig.responseLogprobs, generationConfig.temperature], [true, 0.2]),
  };
  for (const [dialect, check] of Object.entries(wanted)) {
    const made = await server.raw('POST', '/v1/responses', { body: { model: models[dialect], prompt: { id, variables } } });
    assert.equal(made.status, 200, made.text);
    const { body, text } = upstream.last();
    assert.ok(!text.includes('"vendor"'), text);
    check(body);
  }
});

test('the session of a run remembers the values of variables: its envelope and its context show them', async () => {
  for (const model of Object.values(models)) {
    upstream.reset();
    const made = await server.ask('POST', `/api/prompts/${await keep(chat())}/run`, { body: { mode: 'session', variables, models: [model] } });
    assert.ok(made.status < 300, made.text);
    const id = made.json.items[0].session_id;
    await until(async () => !['created', 'running'].includes((await server.ask('GET', `/api/sessions/${id}`)).json.status), 'the end');
    assert.ok(!upstream.requests[0].text.includes('"variables"'), 'a vendor is not told');
    const envelope = (await server.ask('GET', `/api/sessions/${id}/export?format=envelope`)).json;
    const found = envelope.messages.flatMap(({ segments }) => segments).filter(({ kind }) => kind === 'static_var');
    assert.deepEqual(found.map(({ name, value }) => [name, value]), [['who', 'brief'], ['what', 'hello']]);
    const context = (await server.ask('GET', `/api/sessions/${id}/context`)).json;
    assert.ok(context.segments.find(({ kind }) => kind === 'static_var').tokens >= 2, JSON.stringify(context.segments));
  }
});

test('a task runs a prompt with its config', async () => {
  const id = await keep(chat({ config: { ...config, model: models['openai-chat'] } }));
  const task = await server.ask('POST', '/api/scheduled-tasks', { body: { title: 't', cron: '0 0 1 1 *', prompt_ref: { prompt_id: id, variables } } });
  assert.equal(task.status, 201, task.text);
  const started = await server.ask('POST', `/api/scheduled-tasks/${task.json.id}/run`, { body: {} });
  assert.ok(started.status < 300, started.text);
  await until(() => upstream.last()?.body.seed === 3, () => JSON.stringify(upstream.last()?.body));
});

// --- on the way out --------------------------------------------------------------------------------------------------

const converted = (args, document) => {
  const { code, out, err } = run(['convert', ...args, '-'], { input: JSON.stringify(document) });
  assert.equal(code, 0, err);
  return out;
};
const bare = (model, ...more) => ({ protocol: 'structured-chat', messages: [{ id: 'a', role: 'user', content: 'one' }, ...more], config: { model } });

test('an exported model loses the provider that our server asks, wherever a vendor gets its name', () => {
  for (const [target, name, own] of [
    ['openai-chat', 'openai-chat/gpt-4o', 'gpt-4o'], ['openai-responses', 'openai/gpt-4o', 'gpt-4o'],
    ['anthropic', 'anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5'], ['openai-chat', 'anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5'],
    ['openai-chat', 'gpt-4o', 'gpt-4o'], ['openai-chat', 'meta-llama/llama-4', 'meta-llama/llama-4'],
  ]) assert.equal(JSON.parse(converted(['--to', target], bare(name))).model, own, `${name} to ${target}`);
  assert.equal(JSON.parse(converted(['--to', 'openai-chat', '--profile', 'openai-chat@openrouter'], bare('anthropic/claude-sonnet-4-5'))).model, 'anthropic/claude-sonnet-4-5');
  assert.match(converted(['--to', 'harmony'], bare('openai-chat/gpt-4o')), /"openai-chat\/gpt-4o"/); // ours
});

test('the commands of an export go to the vendor of the model', () => {
  for (const [name, url, own] of [
    ['anthropic/claude-sonnet-4-5', 'https://api.anthropic.com/v1/messages', '"model":"claude-sonnet-4-5"'],
    ['openai-chat/gpt-4o', 'https://api.openai.com/v1/chat/completions', '"model":"gpt-4o"'],
    ['openai/gpt-4o', 'https://api.openai.com/v1/chat/completions', '"model":"gpt-4o"'],
    ['gemini/gemini-2.5-pro', 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent', ''],
    ['gpt-4o', 'https://api.openai.com/v1/chat/completions', '"model":"gpt-4o"'],
  ]) {
    const command = converted(['--to', 'curl'], bare(name));
    assert.ok(command.startsWith(`curl ${url} `), command);
    assert.ok(command.includes(own), command);
  }
  assert.match(converted(['--to', 'claude'], bare('anthropic/claude-sonnet-4-5')), /^claude -p --model='?claude-sonnet-4-5/);
});

test('messages of one role in a row are merged in repair and gateway, where the target demands that turns alternate', () => {
  const twice = bare(undefined, { id: 'b', role: 'user', content: 'two' });
  const roles = (args) => JSON.parse(converted(args, twice)).messages.map(({ role }) => role);
  for (const mode of ['repair', 'gateway']) {
    assert.deepEqual(roles(['--to', 'anthropic', '--mode', mode]), ['user']);
    assert.deepEqual(roles(['--to', 'openai-chat', '--mode', mode, '--profile', 'openai-chat@deepseek']), ['user']);
    assert.deepEqual(roles(['--to', 'openai-chat', '--mode', mode]), ['user', 'user']);
  }
  assert.deepEqual(roles(['--to', 'anthropic']), ['user', 'user']); // a translation without other changes
});
