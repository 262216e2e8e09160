// Calls every route of /openapi.json as every kind of caller and compares with the table below. A route that is
// missing in the table fails the test.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

// The callers that a route admits. `public`: everybody. Otherwise the scopes besides `all`, and whether it is for administrators.
const P = 'public', R = 'read', S = 'sessions', G = 'gateway';
const table = {
  'GET /': P, 'GET /healthz': P, 'GET /readyz': P, 'GET /api/version': P, 'GET /openapi.json': P, 'POST /api/login': P, 'GET /api/login': P, 'GET /api/login/oidc': P, 'GET /api/login/oidc/callback': P,
  'GET /api/share/{token}': P, 'GET /api/share/{token}/blobs/{id}': P, 'GET /api/ws': P,
  ...Object.fromEntries(['/p', '/p/{id}', '/s', '/s/{id}', '/v', '/r', '/m', '/t', '/x', '/x/{id}', '/settings', '/settings/{part}', '/audit', '/share/{token}', '/cards/{hash}', '/assets/{file}', '/embed/{file}', '/{file}', '/docs', '/docs/{file}', '/docs/{folder}/{file}', '/docs/{folder}/{part}/{file}'].map((path) => [`GET ${path}`, P])),
  'GET /metrics': [R], 'GET /api/models': [R, S], 'GET /api/tools': [R, S], 'GET /api/me': [R, S],
  'POST /api/convert': [R], 'POST /api/detect': [R], 'POST /api/validate': [R], 'POST /api/lint': [R], 'POST /api/tokens': [R], 'POST /api/trim': [R], 'POST /api/render': [R],
  'POST /api/user/api-keys': [], 'GET /api/user/api-keys': [R], 'PATCH /api/user/api-keys/{id}': [], 'DELETE /api/user/api-keys/{id}': [], 'POST /api/user/api-keys/{id}/rotate': [],
  'POST /api/ws-tickets': [R, S], 'POST /api/logout': [R, S, G],
  'POST /api/users': ['admin'], 'GET /api/users': ['admin', R], 'GET /api/users/{id}': [R], 'PATCH /api/users/{id}': ['admin'], 'DELETE /api/users/{id}': [],
  'POST /api/users/{id}/api-keys': ['admin'], 'GET /api/users/{id}/api-keys': ['admin', R], 'DELETE /api/users/{id}/api-keys': ['admin'],
  'PATCH /api/users/{id}/api-keys/{key_id}': ['admin'], 'DELETE /api/users/{id}/api-keys/{key_id}': ['admin'], 'POST /api/users/{id}/api-keys/{key_id}/rotate': ['admin'],
  'GET /api/audit': ['admin', R], 'GET /api/audit/verify': ['admin', R], 'GET /api/usage': [R], 'GET /api/admin/data': ['admin', R], 'GET /api/cluster': ['admin', R], 'POST /api/cluster/nodes/{name}/drain': ['admin'], 'POST /api/admin/backup': ['admin'], 'POST /api/admin/reload': ['admin', 'control'],
  'POST /api/sessions': [S], 'GET /api/sessions': [R, S], 'GET /api/sessions/{id}': [R, S], 'PATCH /api/sessions/{id}': [S], 'DELETE /api/sessions/{id}': [S],
  'PATCH /api/sessions/{id}/pin': [S], 'PATCH /api/sessions/{id}/sharing': [S], 'PATCH /api/sessions/{id}/replay': [S], 'PATCH /api/sessions/{id}/memory': [S],
  'GET /api/sessions/{id}/messages': [R, S], 'GET /api/sessions/{id}/turns/{turn_id}': [R, S], 'POST /api/sessions/{id}/chat': [S], 'POST /api/sessions/{id}/stop': [S],
  'POST /api/sessions/{id}/compact': [S], 'GET /api/sessions/{id}/questions': [R, S], 'POST /api/sessions/{id}/questions/{tool_call_id}/answer': [S],
  'POST /api/sessions/{id}/tool-calls/{tool_call_id}/result': [S], 'GET /api/sessions/{id}/context': [R, S], 'GET /api/sessions/{id}/export': [R, S],
  'GET /api/sessions/{id}/events': [R, S], 'POST /api/sessions/{id}/share': [S], 'POST /api/sessions/{id}/fork': [S], 'POST /api/sessions/{id}/replay': [S],
  'POST /api/sessions/{id}/handoff': [S], 'POST /api/sessions/import': [S], 'POST /api/handoffs': [S], 'POST /api/handoffs/check': [R, S],
  'POST /api/prompts': [], 'GET /api/prompts': [R], 'GET /api/prompts/folders': [R], 'GET /api/prompts/tags': [R], 'GET /api/prompts/files': [R], 'POST /api/prompts/import': [],
  'GET /api/prompts/{id}': [R], 'PATCH /api/prompts/{id}': [], 'DELETE /api/prompts/{id}': [], 'POST /api/prompts/{id}/render': [R], 'POST /api/prompts/{id}/lint': [R],
  'GET /api/prompts/{id}/export': [R], 'GET /api/prompts/{id}/versions': [R], 'POST /api/prompts/{id}/versions': [], 'GET /api/prompts/{id}/versions/{version}': [R],
  'GET /api/prompts/{id}/versions/{version}/diff/{other}': [R], 'POST /api/prompts/{id}/versions/{version}/diff': [R], 'POST /api/prompts/{id}/rollback': [],
  'PUT /api/prompts/{id}/labels/{label}': [], 'DELETE /api/prompts/{id}/labels/{label}': [], 'POST /api/prompts/{id}/run': [],
  'GET /api/prompts/{id}/draft': [R], 'PUT /api/prompts/{id}/draft': [], 'DELETE /api/prompts/{id}/draft': [],
  'GET /api/providers': [R, S], 'GET /api/settings': [R, S], 'PUT /api/settings': [], 'GET /api/deleted': [R], 'POST /api/deleted/{id}/restore': [], 'DELETE /api/deleted/{id}': [], 'DELETE /api/deleted': [], 'GET /api/sessions/{id}/outline': [R, S],
  'POST /api/run': [], 'GET /api/runs': [R], 'GET /api/runs/series': [R], 'GET /api/runs/{id}': [R], 'POST /api/runs/{id}/stop': [],
  'POST /api/memories': [], 'GET /api/memories': [R], 'POST /api/memories/batch': [], 'POST /api/memories/search': [R], 'GET /api/memories/{id}': [R], 'PUT /api/memories/{id}': [],
  'PATCH /api/memories/{id}': [], 'DELETE /api/memories/{id}': [], 'POST /api/memories/{id}/supersede': [],
  'POST /api/scheduled-tasks': [], 'GET /api/scheduled-tasks': [R], 'GET /api/scheduled-tasks/{id}': [R], 'PATCH /api/scheduled-tasks/{id}': [], 'DELETE /api/scheduled-tasks/{id}': [],
  'POST /api/scheduled-tasks/{id}/start': [], 'POST /api/scheduled-tasks/{id}/stop': [], 'POST /api/scheduled-tasks/{id}/run': [], 'GET /api/scheduled-tasks/explain': [R],
  'GET /api/scheduled-tasks/calendar': [R], 'GET /api/scheduled-tasks/{id}/runs': [R], 'GET /api/scheduled-tasks/{id}/occurrences': [R],
  'POST /api/blobs': [S], 'GET /api/blobs': [R, S], 'POST /api/blobs/fetch': [S], 'GET /api/blobs/{id}': [R, S], 'DELETE /api/blobs/{id}': [S], 'GET /api/blobs/{id}/info': [R, S],
  'POST /api/media/frames': [S],
  'GET /api/extensions': ['admin', R], 'POST /api/extensions': ['admin'], 'GET /api/extensions/connect': ['extension'], 'GET /api/extensions/{id}': ['admin', R], 'PATCH /api/extensions/{id}': ['admin'], 'DELETE /api/extensions/{id}': ['admin'],
  'GET /api/extensions/{id}/log': [S, R], 'GET /api/extensions/{id}/explain': [S, R], 'GET /api/user/extensions': [S, R], 'POST /api/extensions/{id}/restart': ['admin'],
  'POST /v1/chat/completions': [G], 'POST /v1/responses': [G], 'POST /v1/messages': [G], 'POST /v1/messages/count_tokens': [G], 'POST /v1beta/models/{model}': [G],
  'POST /v1beta/models/{vendor}/{model}': [G], 'POST /v1/models/{model}': [G], 'POST /v1/models/{vendor}/{model}': [G], 'GET /v1/models': [G, R], 'GET /v1/models/{model}': [G, R],
  'GET /v1/models/{vendor}/{model}': [G, R], 'GET /v1beta/models': [G, R], 'GET /v1beta/models/{model}': [G, R], 'GET /v1beta/models/{vendor}/{model}': [G, R],
  'POST /v1beta/models/{vendor}/{owner}/{model}': [G], 'POST /v1/models/{vendor}/{owner}/{model}': [G], 'GET /v1/models/{vendor}/{owner}/{model}': [G, R], 'GET /v1beta/models/{vendor}/{owner}/{model}': [G, R],
  'POST /v1/embeddings': [G], 'GET /v1/responses/{id}': [G, R], 'DELETE /v1/responses/{id}': [G], 'GET /v1/responses/{id}/input_items': [G, R],
};

let server, keys, own, routes;
before(async () => {
  server = await start();
  const post = async (path, body, key = server.key) => { const answer = await server.ask('POST', path, { body, key }); assert.ok(answer.status < 300, answer.text); return answer.json; };
  const ada = await post('/api/users', { name: 'ada' }), other = await post('/api/users', { name: 'other' }), gone = await post('/api/users', { name: 'disabled' });
  const keyOf = async (body, user = ada) => (await post(`/api/users/${user.id}/api-keys`, { name: 'k', ...body })).plaintext;
  // Far enough ahead that the request that makes the key arrives earlier, even on a busy machine.
  const soon = () => new Date(Date.now() + 10_000).toISOString();
  keys = {
    none: null, read: await keyOf({ scope: R }), gateway: await keyOf({ scope: G }), sessions: await keyOf({ scope: S }), member: ada.key.plaintext, admin: server.key,
    disabled: gone.key.plaintext, expired: await keyOf({ expires_at: soon() }), 'over budget': await keyOf({ limits: { rpm: 1 } }), other: other.key.plaintext,
  };
  await server.ask('PATCH', `/api/users/${gone.id}`, { body: { is_disabled: true } });
  // One call uses up the budget of the minute.
  await server.raw('POST', '/v1/chat/completions', { key: keys['over budget'], body: { model: 'demo/echo', messages: [{ role: 'user', content: 'x' }] } });
  await until(async () => (await server.raw('GET', '/api/me', { key: keys.expired })).status === 401, () => 'the key does not expire');
  const session = await post('/api/sessions', {}, ada.key.plaintext);
  const prompt = await post('/api/prompts', { name: 'p', content: 'hello', type: 'text' }, ada.key.plaintext);
  const task = await post('/api/scheduled-tasks', { title: 't', cron: '0 0 1 1 *', prompt: 'x' }, ada.key.plaintext);
  own = { sessions: session.id, prompts: prompt.id, 'scheduled-tasks': task.id, users: ada.id };
  const openapi = (await server.raw('GET', '/openapi.json', { key: null })).json;
  routes = Object.entries(openapi.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, operation })));
});

// The path of an object of ada's if one exists; otherwise an id that does not exist.
function pathOf(path) {
  const resource = path.match(/^\/api\/([a-z-]+)\/\{/)?.[1];
  return path.replace(/\{(\w+)\}/g, (_, name) => (name === 'id' && own[resource]) || (name === 'model' ? 'demo:none' : name === 'version' || name === 'other' ? '1' : 'nothing'));
}

const isIn = (rule, who) => {
  if (rule === P) return true;
  if (['none', 'disabled', 'expired'].includes(who)) return false;
  if (['read', 'gateway', 'sessions'].includes(who) && !rule.includes(who)) return false;
  if (rule.includes('control')) return false; // only over the control socket, whatever the key
  return who === 'admin' || !rule.includes('admin');
};

test('the table knows every route, and no other; the description says the same', () => {
  assert.deepEqual(routes.map(({ name }) => name).sort(), Object.keys(table).sort());
  for (const { name, operation } of routes) {
    const rule = table[name];
    if (rule === P) assert.deepEqual(operation.security, [], name);
    else {
      assert.deepEqual([...operation['x-parley-scopes']].sort(), ['all', ...rule.filter((word) => !['admin', 'control'].includes(word))].sort(), name);
      assert.equal(operation['x-parley-admin'] ?? false, rule.includes('admin'), name);
    }
  }
});

// A body that no route accepts: an admitted caller fails at its check, so nothing changes.
const ask = (method, path, key) => server.raw(method, pathOf(path), { key, ...(['GET', 'DELETE'].includes(method) ? {} : { body: '[]', headers: { 'content-type': 'application/json' } }) });

for (const who of ['none', 'disabled', 'expired', 'read', 'gateway', 'sessions', 'member', 'other', 'admin', 'over budget']) {
  test(`${who}: every route answers as the table says`, async () => {
    for (const { name, method, path } of routes) {
      const rule = table[name];
      // A request that would succeed and change something, or never end, is sent only by callers who are refused.
      const isHeavy = method === 'DELETE' || path.endsWith('/events') || path === '/api/ws' || ['POST /api/admin/backup', 'POST /api/ws-tickets'].includes(name) || /\/(stop|start|run|compact|handoff|share|fork|rotate)$/.test(path);
      const expected = isIn(rule, who);
      if (expected && isHeavy) continue;
      const { status, text } = await ask(method, path, keys[who]);
      const said = `${who}: ${name}: ${status} ${text.slice(0, 300)}`;
      if (expected) {
        assert.ok(rule === P || ![401, 403].includes(status), said);
        assert.ok(status < 500, said);
        // Another user's objects do not exist for this user.
        if (who === 'other' && method === 'GET' && /^\/api\/(sessions|prompts|scheduled-tasks|users)\/\{id\}/.test(path)) assert.equal(status, 404, said);
      } else assert.equal(status, ['none', 'disabled', 'expired'].includes(who) ? 401 : 403, said);
    }
  });
}

test('who is over a limit calls no model, and reads on', async () => {
  const asked = (path, body) => server.raw('POST', path, { key: keys['over budget'], body });
  const messages = [{ role: 'user', content: 'x' }];
  for (const [path, body] of [['/v1/chat/completions', { model: 'demo/echo', messages }], ['/v1/messages', { model: 'demo/echo', max_tokens: 5, messages }], ['/v1/responses', { model: 'demo/echo', input: 'x' }], ['/v1beta/models/demo/echo:generateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }], ['/v1/embeddings', { model: 'demo/embed', input: 'x' }]]) {
    // A new minute admits one more call, and the next is refused.
    let answer = await asked(path, body);
    for (let i = 0; i < 3 && answer.status !== 429; i++) answer = await asked(path, body);
    const { status, headers, text } = answer;
    assert.equal(status, 429, `${path}: ${text}`);
    assert.ok(Number(headers['retry-after']) >= 1, path);
  }
  assert.equal((await server.raw('GET', '/api/sessions', { key: keys['over budget'] })).status, 200);
});

test('a member erases himself, and nobody else', async () => {
  assert.equal((await server.raw('DELETE', `/api/users/${own.users}`, { key: keys.other })).status, 404);
  assert.equal((await server.raw('DELETE', `/api/users/${own.users}`, { key: keys.read })).status, 403);
  assert.equal((await server.raw('DELETE', `/api/users/${own.users}`, { key: keys.member })).status, 204);
  for (const who of ['member', 'read', 'gateway', 'sessions', 'over budget']) assert.equal((await server.raw('GET', '/api/me', { key: keys[who] })).status, 401, who);
  assert.equal((await server.raw('GET', '/api/me', { key: keys.other })).status, 200);
});
