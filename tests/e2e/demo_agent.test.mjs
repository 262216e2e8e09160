// The demo agent produces each kind of content in a session once, and every failure on request.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { clientOf, closing, isOver, serve, until } from './live.mjs';

let server, client;
before(async () => { server = await serve(); client = clientOf(server); });

async function say(t, message, { answers = {} } = {}) {
  const live = closing(t, client.live());
  const { id } = await client.createSession({ model: 'demo/agent' });
  const view = await live.subscribe(id);
  const answered = new Set();
  await client.chat(id, { message });
  await until(async () => {
    for (const question of view.questions.values()) {
      if (answered.has(question.tool_call_id)) continue;
      answered.add(question.tool_call_id);
      const answer = question.kind === 'ask' ? { answers: { 0: 'The figures' } } : { approve: answers.approve ?? true };
      const said = await server.ask('POST', `/api/sessions/${id}/questions/${question.tool_call_id}/answer`, { body: { answer } });
      assert.equal(said.status, 200, said.text);
    }
    return isOver(view.session) && view.session.status !== 'waiting_for_input';
  }, () => `the session is ${view.session.status}`);
  return { id, view, turns: [...view.turns.values()], answered };
}

for (const [language, message] of [['English', 'show me'], ['Chinese', '给我看看']]) {
  test(`the tour has every kind of block, in ${language}`, async (t) => {
    const { id, view, turns, answered } = await say(t, message);
    assert.equal(view.session.status, 'completed');
    const types = new Set(turns.flatMap(({ blocks }) => blocks.map(({ type }) => type)));
    for (const type of ['text', 'thinking', 'tool_use', 'tool_result', 'tool_ui', 'tool_bridge', 'system_notification', 'mode_change', 'planning_enter', 'planning_exit', 'plan_status', 'ask_user_answer']) assert.ok(types.has(type), `no ${type}: ${[...types]}`);
    assert.equal(answered.size, 3, 'a question, a plan and a confirmation');
    const calls = turns.flatMap(({ tool_calls = [] }) => tool_calls);
    assert.ok(turns.some(({ tool_calls = [] }) => tool_calls.length === 3 && tool_calls.filter(({ status }) => status === 'error').length === 1), 'three calls at once, of which one fails');
    assert.ok(turns.some(({ loop_id }) => loop_id && loop_id !== 'root'), 'a helper has a loop of its own');
    assert.ok(turns.some(({ metadata }) => metadata?.citation_map?.cit_1), 'something is cited');
    // The data for a timeline: when a call ran, and when a person was asked.
    const stored = (await server.ask('GET', `/api/sessions/${id}/messages?limit=100`)).json.items ?? [];
    const asked = (stored.length ? stored.flatMap(({ tool_calls = [] }) => tool_calls) : calls).find(({ tool_name }) => tool_name === 'publish');
    assert.ok(asked.asked_at && asked.answered_at && asked.started_at >= asked.answered_at, JSON.stringify(asked));
    assert.match(turns.flatMap(({ blocks }) => blocks).find(({ type, content }) => type === 'text' && content)?.content ?? '', language === 'Chinese' ? /[一-鿿]/ : /[a-z]/);
  });
}

test('a confirmation has all it is about', async (t) => {
  const live = closing(t, client.live());
  const { id } = await client.createSession({ model: 'demo/agent' });
  const view = await live.subscribe(id);
  await client.chat(id, { message: '#!demo\ncall publish {"title":"T","html":"<p>long</p>"}' });
  await until(() => view.questions.size, () => 'no question');
  const [{ questions: [asked], kind }] = [...view.questions.values()];
  assert.deepEqual([kind, asked.tool_name, JSON.parse(asked.arguments)], ['confirm', 'publish', { title: 'T', html: '<p>long</p>' }]);
});

test('a tool that was allowed for the session does not ask again there', async () => {
  const publish = '#!demo\ncall publish {"title":"T","html":"<p>x</p>"}';
  const { id } = await client.createSession({ model: 'demo/agent' });
  const asked = async () => (await server.ask('GET', `/api/sessions/${id}/questions`)).json.items;
  await client.chat(id, { message: publish });
  await until(async () => (await asked()).length === 1, () => 'no question');
  const [{ tool_call_id, questions: [{ scope_rule }] }] = await asked();
  const answer = (body) => server.ask('POST', `/api/sessions/${id}/questions/${tool_call_id}/answer`, { body: { answer: body } });
  assert.equal(scope_rule, 'publish');
  assert.equal((await answer({ approve: true, scope: 'for ever' })).status, 400);
  assert.equal((await answer({ approve: true, scope: 'session' })).status, 200);
  const done = async () => (await server.ask('GET', `/api/sessions/${id}`)).json.status;
  await until(async () => await done() === 'completed', () => 'not done');
  await client.chat(id, { message: publish });
  await until(async () => await done() === 'completed', () => 'it asks again');
  assert.deepEqual(await asked(), []);
  // Another session asks.
  const second = (await client.createSession({ model: 'demo/agent' })).id;
  await client.chat(second, { message: publish });
  await until(async () => (await server.ask('GET', `/api/sessions/${second}/questions`)).json.items.length === 1, () => 'no question');
});

test('each failure on request has its code', async (t) => {
  for (const [name, code, more] of [['429', 'rate_limited', { retryable: true, retry_after_ms: 20000, vendor_status: 429 }], ['drop', 'upstream_broken', { retryable: true }], ['200k', 'context_length_exceeded', { retryable: false }]]) {
    const { view, turns } = await say(t, `/demo ${name}`);
    assert.equal(view.session.status, 'failed', name);
    const failed = turns.filter(({ error_info }) => error_info).at(-1);
    assert.equal(failed.error_info.code, code);
    assert.equal(failed.error_info.detail, failed.error);
    for (const [key, value] of Object.entries(more)) assert.equal(failed.error_info[key], value, `${name}: ${key}`);
  }
  const { view, turns } = await say(t, '/demo badjson');
  assert.equal(view.session.status, 'completed');
  assert.ok(turns.some(({ tool_calls = [] }) => tool_calls.some(({ status }) => status === 'error')));
  const known = await say(t, '/demo unknown');
  assert.match(JSON.stringify(known.turns), /429, drop, badjson and 200k/);
});
