// Replaces every value of a body, for every operation of /openapi.json, by values that do not belong there: a member of a
// type that the description excludes is refused with 400, no answer is a 5xx, and every answer fits the description.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { endsWell, serve } from './live.mjs';
import { checkAnswer } from './server.mjs';
import { until } from './waiting.mjs';

// As JSON text, because the largest integers exceed JavaScript's numbers.
const VALUES = ['5', '[]', '{"a":"b"}', 'null', 'true', '"x"', '""', '-0.5', '1e300', '18446744073709551616', '"\\u0000"', `"${'é'.repeat(5000)}"`];
const TYPES = { 5: ['integer', 'number'], '[]': ['array'], '{"a":"b"}': ['object'], null: ['null'], true: ['boolean'], '"x"': ['string'], '-0.5': ['number'] };

const messages = [
  { role: 'system', content: 'Be short.' }, { role: 'user', content: [{ type: 'text', text: 'Hello' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
  { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }] }, { role: 'tool', tool_call_id: 'c1', content: 'seen' },
];
const schema = { type: 'object', properties: { a: { type: 'number' } } };
const chat = {
  model: 'demo/echo', messages, tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } }], tool_choice: 'auto',
  temperature: 0.5, max_tokens: 50, stream: false, stop: ['x'], response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
};
const short = { model: 'demo/echo', messages: messages.slice(0, 1) };
const responses = {
  model: 'demo/echo', instructions: 'Be short.', tools: [{ type: 'function', name: 'look', parameters: schema }], max_output_tokens: 50, stream: false, store: true, reasoning: { effort: 'low' }, text: { format: { type: 'text' } }, metadata: { a: 'b' },
  input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }, { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }, { type: 'function_call_output', call_id: 'c1', output: 'seen' }],
};
const anthropic = {
  model: 'demo/echo', system: [{ type: 'text', text: 'Be short.' }], tools: [{ name: 'look', input_schema: schema }], tool_choice: { type: 'auto' }, thinking: { type: 'enabled', budget_tokens: 1024 },
  messages: [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { a: 1 } }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'seen' }], is_error: false }] }],
};
const gemini = {
  systemInstruction: { parts: [{ text: 'Be short.' }] }, tools: [{ functionDeclarations: [{ name: 'look', parameters: schema }] }], generationConfig: { temperature: 0.5, maxOutputTokens: 50, stopSequences: ['x'], thinkingConfig: { thinkingBudget: 5 } },
  contents: [{ role: 'user', parts: [{ text: 'Hello' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }, { role: 'model', parts: [{ functionCall: { name: 'look', args: { a: 1 } } }] }, { role: 'user', parts: [{ functionResponse: { name: 'look', response: { b: 2 } } }] }],
};
const structured = { protocol: 'structured-chat', messages: [{ id: 'm0', role: 'user', content: 'Hello {{name:Ann}}' }] };
const tools = ['calc', { name: 'look', description: 'Looks.', input_schema: schema }];
const settings = { temperature: 0.5, top_p: 1, max_tokens: 50, stop: ['x'], seed: 1, effort: 'low', thinking: true, response_format: { type: 'json_schema', json_schema: { name: 'n', schema } }, tool_choice: 'auto', vendor: { openai: { a: 1 } } };
const memory = { type: 'feedback', content: 'Likes tea.', skill_name: 's', record_type: 'memory', scope: 'a', owner: 'o', topic: 't', mem0_id: 'm', write_reason: 'w', disabled: false, source_session: 'x' };
const task = { title: 'A task', prompt: 'hello', cron: '0 0 1 1 *', timezone: 'UTC', enabled: false, expires_at: '2099-01-01T00:00:00Z', skip_confirmations: false, model: 'demo/echo', overlap: 'skip' };

// A body for each operation, by its id. Some are refused even unchanged: the answer to a question that is not open, a login.
const BODIES = {
  convert: { document: chat, from: 'openai-chat', to: 'anthropic', kind: 'request', mode: 'convert', strict: false, report: true, carry: true },
  detect: { document: short },
  validate: { document: short, schema: { type: 'object', properties: { messages: { type: 'array', minItems: 1, items: { $ref: '#/$defs/m' } } }, required: ['model'], patternProperties: { '^x': false }, $defs: { m: { enum: [1] } } }, format_assertion: true },
  lint: { document: short, as: 'openai-chat', for: 'anthropic', fix: true },
  tokens: { document: short, as: 'openai-chat', model: 'gpt-4o' },
  trim: { document: short, as: 'openai-chat', encoding: 'o200k_base', max_tokens: 1000, summary: 'It was so.' },
  render: { document: structured, variables: { name: 'Bob' }, preview: true, to: 'openai-chat' },
  login: { code: 'x' },
  api_key_create: { name: 'another' },
  api_key_update: { name: 'renamed', limits: { rpm: 1e6, tpm: 1e9, budget_usd_day: 1e6, budget_usd_month: 1e6 } },
  api_key_rotate: { overlap_s: 60 },
  user_create: { name: 'somebody', is_admin: false },
  user_update: { name: 'renamed', is_admin: false, is_disabled: false, limits: { rpm: 1e6, max_sessions: 1000 } },
  user_api_key_create: { name: 'another', scope: 'read', models: ['demo/echo'], expires_at: '2099-01-01T00:00:00Z' },
  user_api_key_update: { name: 'renamed', scope: 'all', models: null, expires_at: null, limits: { rpm: 1e6 } },
  user_api_key_rotate: { overlap_s: 60 },
  session_create: { intent: 'x', solution_id: 's', biz_role_id: 'b', model: 'demo/echo', memory_enabled: true, is_persistent: true, is_pinned: true, shared: true, system_prompt: 'Be short.', settings, tools },
  session_patch: { intent: 'x', solution_id: 's', biz_role_id: 'b', model: 'demo/echo', shared: false, is_pinned: false, memory_enabled: false, is_persistent: true, system_prompt: 'Be short.', settings, tools },
  session_pin: { is_pinned: true },
  session_sharing: { shared: false },
  session_replay_change: { status: 'running', speed: 1 },
  session_replay: { speed: 0, intent: 'x' },
  session_memory: { memory_enabled: true },
  session_chat: { message: [{ type: 'text', text: 'hello' }], model: 'demo/echo', mode: 'executing', when_busy: 'interrupt', system_prompt: 'Be short.', settings, tools },
  session_compact: { loop_id: 'main' },
  session_answer: { answer: { approve: true } },
  session_tool_result: { result: { a: 1 }, is_error: false },
  session_import: { document: short, format: 'openai-chat', intent: 'x', media: 'keep', model: 'demo/echo' },
  session_fork: { intent: 'x' },
  session_handoff: { target: 'somebody', source: 'me', objective: 'Do it.', status: 'begun', steps: ['one'], next: 'two', constraints: ['none'], artifacts: { a: 'b' }, definition_of_done: ['done'], summary: 's', trace_id: 't' },
  handoff_accept: { agent: 'somebody' },
  handoff_check: { agent: 'somebody' },
  prompt_create: { name: 'p', description: 'd', folder: 'a/b', tags: ['t'], is_pinned: true, type: 'structured', content: structured, note: 'n' },
  prompt_update: { name: 'p', description: 'd', folder: 'a/b', tags: ['t'], is_pinned: true },
  prompt_version_create: { type: 'structured', content: structured, note: 'n' },
  prompt_draft_diff: { type: 'structured', content: structured },
  prompt_rollback: { version: 1, note: 'n' },
  prompt_label_put: { version: 1 },
  prompt_render: { version: 1, variables: { name: 'Bob' }, preview: true },
  prompt_lint: { version: 1, for: 'anthropic' },
  prompt_draft_put: { type: 'structured', content: structured, based_on: 1, extra: { a: 1 } },
  draft_run: { type: 'structured', content: structured, variables: { name: 'Bob' }, models: ['demo/echo'], tools, stream: false },
  settings_put: { settings: { theme: 'dark' } },
  prompt_run: { version: 1, variables: { name: 'Bob' }, models: ['demo/echo'], tools, mode: 'answer' },
  prompt_import: { files: [{ path: 'a/p.md', text: '# Hello' }, { path: 'p.json', text: '{"messages":[]}' }], folder: 'a', when_there: 'copy', media: 'keep' },
  memory_create: memory,
  memory_batch: { create: [memory], update: [{ id: 1, content: 'x' }], delete: [99] },
  memory_search: { query: 'tea', limit: 5, type: 'feedback', skill_name: 's', record_type: 'memory', scope: 'a', owner: 'o', topic: 't', include_disabled: true, include_superseded: true, is_typing: true },
  memory_put: memory,
  memory_patch: memory,
  memory_supersede: { by: null, expected: null },
  scheduled_task_create: task,
  scheduled_task_update: { ...task, prompt: undefined, prompt_ref: { prompt_id: 'pr_x', version: 1, variables: { name: 'Bob' } } },
  blob_fetch: { url: 'http://127.0.0.1:1/x', name: 'x' },
  media_frames: { blob: 'blob_x', every: '1s', from: '0s', to: '1s', max: 5, detail: 'low', sound: false },
  gateway_chat: chat,
  gateway_responses: responses,
  gateway_messages: { ...anthropic, max_tokens: 2000, stream: false, stop_sequences: ['x'], metadata: { user_id: 'u' } },
  gateway_count_tokens: anthropic,
  gateway_gemini: { contents: gemini.contents.slice(0, 1) },
  gateway_gemini_vendor: gemini,
  gateway_gemini_owner: { contents: gemini.contents.slice(0, 1) },
  gateway_gemini_v1_owner: { contents: gemini.contents.slice(0, 1) },
  gateway_embeddings: { model: 'demo/embed', input: ['Hello', 'you'], dimensions: 8, encoding_format: 'float', user: 'u' },
  gateway_gemini_v1: { contents: gemini.contents.slice(0, 1) },
  gateway_gemini_v1_vendor: { contents: gemini.contents.slice(0, 1) },
  extension_add: { files: [{ path: 'extension.json', content: '{}', executable: false }, { path: 'main.py', content_base64: 'AAAA' }], profile: 'safe', grant: ['read'], deny: ['exec'] },
  extension_update: { profile: 'safe', grant: ['read'], deny: ['exec'], state: 'enabled', accept_tools: [{ name: 'a', hash: 'b' }], forget_answers: true },
  backup_create: {},
};
const NOT_JSON = ['blob_create'];

// Each value below `at`, by its keys.
function* places(value, at = []) {
  if (at.length) yield at;
  if (value !== null && typeof value === 'object') for (const key of Object.keys(value)) yield* places(value[key], [...at, key]);
}
const MARK = '@here@';
function replaced(value, [key, ...rest], by) {
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[key] = rest.length ? replaced(copy[key], rest, by) : by;
  return copy;
}
const put = (body, at, value) => JSON.stringify(replaced(body, at, MARK)).replace(`"${MARK}"`, () => value);

let server, openapi, ids;
before(async () => {
  server = await serve({ env: { PARLEY_FETCH_MS: '2000' } });
  openapi = (await server.raw('GET', '/openapi.json', { key: null })).json;
  const post = async (path, body) => (await server.ask('POST', path, { body })).json;
  const session = await post('/api/sessions', { model: 'demo/echo' });
  await post(`/api/sessions/${session.id}/chat`, { message: 'hello' });
  await until(async () => (await server.ask('GET', `/api/sessions/${session.id}`)).json.status === 'completed', 'a session that has something to replay');
  const packet = await post(`/api/sessions/${session.id}/handoff`, { target: 'somebody', objective: 'Do it.' });
  BODIES.handoff_accept.packet = BODIES.handoff_check.packet = packet;
  ids = {
    '/api/user/api-keys/': (await post('/api/user/api-keys', { name: 'one' })).id, '/api/sessions/': session.id,
    '/api/prompts/': (await post('/api/prompts', { name: 'p', content: structured })).id, '/api/memories/': (await post('/api/memories', memory)).id,
    '/api/scheduled-tasks/': (await post('/api/scheduled-tasks', task)).id, '/v1beta/models/': '', '/v1/models/': '',
  };
});

const operations = () => Object.entries(openapi.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation }))).filter(({ requestBody }) => requestBody);
function pathOf({ path }) {
  const id = Object.entries(ids).find(([start]) => path.startsWith(start))?.[1];
  const more = { id, version: '1', label: 'x', tool_call_id: 'call_x', vendor: 'demo', model: path.includes('{vendor}') ? 'echo:generateContent' : 'echo:countTokens' };
  return path.replace(/{(\w+)}/g, (_, name) => more[name]);
}
const deref = (one) => (one?.$ref ? deref(openapi.components.schemas[one.$ref.split('/').at(-1)]) : one);

test('every operation with a body has one here', () => {
  assert.deepEqual(operations().map(({ operationId }) => operationId).sort(), [...Object.keys(BODIES), ...NOT_JSON].sort());
});

const seen = new Set();
async function judge(operation, body, isRefused, where) {
  const { method, operationId } = operation;
  const path = pathOf(operation);
  const answer = await server.raw(method, path, { body, headers: { 'content-type': 'application/json' } });
  const said = `${method} ${path} ${where}: ${answer.status} ${answer.text.slice(0, 600)}`;
  assert.ok(answer.status < 500, said);
  if (isRefused) assert.ok([400, 413].includes(answer.status), `${said}: the description excludes it`);
  const kind = `${operationId} ${answer.status} ${answer.json?.code}`;
  if (!seen.has(kind)) checkAnswer(openapi, method, path, answer);
  seen.add(kind);
}

for (const operationId of Object.keys(BODIES)) {
  test(`${operationId} takes no value for another`, async () => {
    const operation = operations().find((one) => one.operationId === operationId);
    const body = JSON.parse(JSON.stringify(BODIES[operationId]));
    const { properties = {} } = deref(operation.requestBody.content['application/json'].schema);
    await judge(operation, JSON.stringify(body), false, 'as it is');
    for (const value of VALUES) await judge(operation, value, value !== '{"a":"b"}', value.slice(0, 40));
    const members = [...places(body), ...Object.keys(properties).filter((name) => !(name in body)).map((name) => [name])];
    for (const at of members)
      for (const value of VALUES) {
        const types = at.length === 1 && [deref(properties[at[0]])?.type ?? []].flat();
        const isRefused = types && types.length && TYPES[value] && !TYPES[value].some((type) => types.includes(type));
        await judge(operation, put(body, at, value), isRefused, `/${at.join('/')} ${value.slice(0, 40)}`);
      }
  });
}

test('the server ends in good order', () => endsWell(server));
