// Exports and imports of sessions: every loss is reported, and every export passes the program's own
// lint.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { file, run } from './harness.mjs';
import { clientOf, script, serve, settled, until } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const post = async (path, body) => (await client.request('POST', path, body)).json();
const formats = ['turns', 'harmony', 'openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'envelope', 'structured-chat'];

async function exported(id, query = 'format=harmony') {
  const answer = await server.raw('GET', `/api/sessions/${id}/export?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

// The messages of a harmony document, with or without settings around them.
const messagesOf = (document) => (Array.isArray(document) ? document : document.messages);

let n = 0;
const linted = (text, as) => run(['lint', '--json', ...(as ? ['--as', as] : []), file(`lint${n++}.json`, text)]);
function lints(text, as) {
  const { code, out } = linted(text, as);
  const errors = JSON.parse(out).findings.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, []);
  assert.equal(code, 0, out);
}

async function said(message, fields = {}) {
  const { id } = await client.createSession({ intent: 'to be exported', ...fields });
  await client.chat(id, { message });
  return id;
}

async function stopped() {
  const id = await said(script('say One moment.', 'call wait {"ms":600000}', 'call echo {"a":1}'));
  await until(async () => (await client.messages(id)).turns.some(({ tool_calls: calls }) => calls.length === 2 &&
    calls.some(({ status }) => status === 'pending')));
  await client.stop(id);
  await settled(client, id);
  return id;
}

test('a call that was stopped has its error in every export', async () => {
  const id = await stopped();
  const { text, json } = await exported(id);
  lints(text, 'harmony');
  const results = messagesOf(json).filter(({ role }) => role === 'tool');
  assert.equal(results.length, 2);
  const error = JSON.parse(results.find(({ name }) => name === 'wait').content[0].text);
  assert.deepEqual([error.status, error.error_type], ['error', 'Interrupted']);
  assert.ok(error.message);
  for (const format of ['openai-chat', 'anthropic', 'gemini', 'openai-responses']) {
    const one = await exported(id, `format=${format}`);
    assert.match(one.text, /Interrupted/, format);
    lints(one.text, format);
  }
});

test('while a person is asked, the open turn is exported, and its call is halted', async () => {
  const id = await said(script('say Shall I?', 'call publish {"title":"t","html":"<p>x</p>"}'));
  await settled(client, id);
  assert.equal((await client.session(id)).status, 'waiting_for_input');
  const { text, json } = await exported(id);
  lints(text, 'harmony');
  const last = messagesOf(json).at(-1);
  assert.equal(last.role, 'tool');
  const halt = JSON.parse(last.content[0].text);
  assert.deepEqual([halt.status, halt.reason], ['halted', 'human_confirmation_required']);
  assert.equal((await exported(id, 'format=turns')).json.at(-1).status, 'paused');

  const ask = await said(script('call AskUserQuestion {"questions":[{"question":"Which colour?","options":[{"label":"red"}]}]}'));
  await settled(client, ask);
  const question = JSON.parse(messagesOf((await exported(ask)).json).at(-1).content[0].text);
  assert.deepEqual(question, { status: 'halted', reason: 'human_input_required', message: 'Which colour?' });
});

async function withAgent() {
  const id = await said(script(`call Agent ${JSON.stringify({ prompt: script('say The child speaks.'), description: 'look' })}`,
    '---', 'say The main one speaks.'));
  await settled(client, id);
  return id;
}

test('a sub-agent is exported apart, with its name, and never in the main conversation', async () => {
  const id = await withAgent();
  const { turns } = await client.messages(id, { limit: '100' });
  const loop = turns.map(({ loop_id: of }) => of).find((of) => of !== 'root');
  for (const format of formats.filter((one) => one !== 'turns')) {
    const { text, headers } = await exported(id, `format=${format}`);
    // The person's message, the arguments and the result of the Agent call have the words; no other message has them.
    assert.equal(text.match(/The child speaks\./g).length, 3, format);
    assert.match(headers['parley-loss'] ?? '', /dropped/, format);
  }
  const main = messagesOf((await exported(id)).json);
  assert.ok(main.every(({ role, content }) => !(role === 'assistant' && JSON.stringify(content).includes('The child speaks'))));
  assert.equal(main.filter(({ role }) => role === 'user').length, 1);
  const child = await exported(id, `format=harmony&loop_id=${loop}`);
  lints(child.text, 'harmony');
  const spoken = messagesOf(child.json).filter(({ role }) => role === 'assistant');
  assert.ok(spoken.length && spoken.every(({ name }) => name === loop), child.text);
  assert.ok(!child.text.includes('The main one speaks'));
  const all = (await exported(id, 'format=turns')).json;
  assert.deepEqual([...new Set(all.map((turn) => turn.loop_id))].sort(), [loop, 'root'].sort());
  assert.ok((await exported(id, 'format=turns&loop_id=root')).json.every((turn) => turn.loop_id === 'root'));
  assert.equal((await server.ask('GET', `/api/sessions/${id}/export?loop_id=loop_none`)).status, 404);
});

test('an export tells what it loses, in a header and, where asked, in the body', async () => {
  const id = await said(script('think hm', 'say Found it.'));
  await settled(client, id);
  for (const format of formats) {
    const plain = await exported(id, `format=${format}`);
    const { json } = await exported(id, `format=${format}&report=body`);
    assert.deepEqual(Object.keys(json), ['from', 'to', 'document', 'report'], format);
    assert.deepEqual([json.from, json.to, json.report.to], ['turns', format, format]);
    assert.deepEqual(format === 'gpt-oss' ? json.document : JSON.stringify(json.document),
      format === 'gpt-oss' ? plain.text : JSON.stringify(plain.json), format);
    const lost = json.report.losses.filter(({ code }) => !['moved', 'synthesised'].includes(code));
    assert.equal(json.report.lossless, lost.length === 0);
    assert.equal(Boolean(plain.headers['parley-loss']), lost.length > 0, format);
    const strict = await server.ask('GET', `/api/sessions/${id}/export?format=${format}&strict=true`);
    assert.equal(strict.status, lost.length ? 400 : 200, format);
    if (lost.length) assert.deepEqual(strict.json.report, json.report);
  }
  for (const query of ['format=harmny', 'mode=mend', 'report=full', 'strict=yes', 'formats=turns'])
    assert.equal((await server.ask('GET', `/api/sessions/${id}/export?${query}`)).status, 400, query);
  const near = await server.ask('GET', `/api/sessions/${id}/export?mode=repare`);
  assert.match(near.json.errors[0].detail, /convert, repair or gateway, but is "repare"; did you mean "repair"/);
});

test('mode=repair and mode=gateway make the export legal for its target', async () => {
  const id = await said(script('say One.'));
  await settled(client, id);
  await client.chat(id, { message: script('say Two.') });
  await settled(client, id);
  for (const mode of ['repair', 'gateway']) {
    const { text } = await exported(id, `format=anthropic&mode=${mode}`);
    lints(text, 'anthropic');
  }
});

const harmony = {
  model: 'demo/echo',
  messages: [
    { id: 'msg_sys', role: 'system', created_at: 1715000000, content: [{ type: 'text', text: 'Be brief.', index: 0 }] },
    { id: 'msg_1', role: 'user', name: 'Ada', created_at: 1715000001, content: [{ type: 'text', text: 'Grew it?', index: 0 }],
      metadata: { trace_id: 'trace-1', session_id: 's' } },
    { id: 'msg_2', role: 'assistant', name: 'ResearchAgent_01', created_at: 1715000002, content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'search', arguments: '{"q":1}' } }] },
    { id: 'msg_3', role: 'tool', tool_call_id: 'call_1', name: 'search', created_at: 1715000003,
      content: [{ type: 'text', text: '{"status":"success"}', index: 0 }], metadata: { latency_ms: { total_time: 7 } } },
    { id: 'msg_4', role: 'assistant', name: 'ResearchAgent_01', created_at: 1715000004,
      content: [{ type: 'text', text: 'It grew <cite id="cit_01"/>.', index: 0 }],
      metadata: { citation_map: { cit_01: { source_type: 'web_search', url: 'https://example.org/' } },
        token_usage: { prompt_tokens: 5, completion_tokens: 2, total_cost_usd: 0.002 }, model_version: 'v1' } },
  ],
};

test('ids, names, times, metadata, citations and the model survive an import and the export after it', async () => {
  const made = await server.ask('POST', '/api/sessions/import?report=body', { body: { document: harmony, from: 'harmony' } });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.json.model, 'demo/echo');
  assert.equal(made.json.report.lossless, true, JSON.stringify(made.json.report));
  assert.equal(made.headers['parley-loss'], undefined);
  const { json, text } = await exported(made.json.id);
  assert.deepEqual(json.messages, harmony.messages);
  assert.equal(json.settings.model, 'demo/echo');
  lints(text, 'harmony');
  // Once more through turns, the format in which sessions move between servers.
  const turns = (await exported(made.json.id, 'format=turns')).json;
  const again = await post('/api/sessions/import', { document: turns, from: 'turns' });
  assert.deepEqual(messagesOf((await exported(again.id)).json), harmony.messages);
});

test('what an import cannot keep is in its report', async () => {
  const document = { ...harmony, model: 'nobody/knows-this', settings: { temperature: 0.5 } };
  const made = await server.ask('POST', '/api/sessions/import?report=body', { body: { document } });
  assert.equal(made.json.model, null);
  const pointers = made.json.report.losses.map(({ pointer }) => pointer);
  assert.ok(pointers.includes('/model') && pointers.includes('/settings'), JSON.stringify(pointers));
  assert.match(made.headers['parley-loss'], /dropped \/model/);
  const strict = await server.ask('POST', '/api/sessions/import?strict=true', { body: { document } });
  assert.equal(strict.status, 400);
  assert.deepEqual(strict.json.report, made.json.report);
  const turns = [{ id: 'e', role: 'user', blocks: [{ type: 'text', content: 'hi' }], mood: 'good' }];
  const odd = await server.ask('POST', '/api/sessions/import?report=body', { body: { document: turns, from: 'turns' } });
  assert.deepEqual(odd.json.report.losses.filter(({ code }) => code === 'dropped').map(({ pointer }) => pointer), ['/0/mood']);
  assert.equal((await server.ask('POST', '/api/sessions/import?report=all', { body: { document: turns } })).status, 400);
});

test('the model of an envelope is the session\'s', async () => {
  const id = await said(script('say Hello.'), { model: 'demo/echo' });
  await settled(client, id);
  const { json } = await exported(id, 'format=envelope');
  const made = await server.ask('POST', '/api/sessions/import?report=body', { body: { document: { ...json, model: 'demo/echo' }, from: 'envelope' } });
  assert.equal(made.json.model, 'demo/echo', JSON.stringify(made.json.report));
});

test('the harmony export of every kind of session passes lint', async () => {
  const scripts = [
    script('say a'), script('think b', 'say c'), script('say d', 'call echo {"x":1}', '---', 'say e'),
    script('call echo {}', 'call echo {"n":2}', 'call calc {"expression":"1/0"}', '---', 'say f'),
    script('call nosuch {}', '---', 'say g'), script('call calc {"expression":1}', '---', 'say h'),
    script('fail 500 broken'), script('call clock {}', '---', 'call clock {}', '---', 'say i'),
    'plain words', script('call handoff {"target":"x"}', '---', 'say j'),
  ];
  const ids = [await stopped(), await withAgent()];
  for (const one of scripts) {
    const id = await said(one);
    await settled(client, id);
    ids.push(id);
  }
  for (const { id } of (await server.ask('GET', '/api/sessions?limit=100')).json.items) ids.push(id);
  for (const id of new Set(ids)) {
    const { text } = await exported(id);
    lints(text, 'harmony');
    lints(text);
  }
});

test('a result that answers no call is exported as words of the user, and the report says so', async () => {
  const orphan = { role: 'tool', tool_call_id: 'nobody', content: 'x' };
  for (const document of [[orphan], [{ role: 'user', content: 'a' }, orphan, { role: 'user', content: 'b' }]]) {
    const { id } = await post('/api/sessions/import', { document, from: 'harmony' });
    for (const format of ['harmony', 'openai-chat', 'anthropic', 'openai-responses', 'gemini']) {
      const { json } = await exported(id, `format=${format}&report=body`);
      // Three consecutive messages of the user come from the document itself.
      const { findings } = JSON.parse(linted(JSON.stringify(json.document), format).out);
      assert.deepEqual(findings.filter(({ code }) => code !== 'turn.alternation'), []);
      const told = json.report.losses.filter(({ detail }) => /a result without its call/.test(detail));
      assert.equal(told.length, 1, JSON.stringify(json.report));
      assert.match(JSON.stringify(json.document), /Result of tool call nobody/);
    }
    const turns = await exported(id, 'format=turns');
    assert.equal(turns.json.flatMap(({ blocks }) => blocks).filter(({ tool_call_id: call }) => call === 'nobody').length, 1, turns.text);
  }
});

test('calls of one id that came in one turn have their own results, in the session and in its exports', async () => {
  const call = (path) => ({ id: 'call_0', type: 'function', function: { name: 'read', arguments: JSON.stringify({ path }) } });
  const result = (content) => ({ role: 'tool', tool_call_id: 'call_0', content });
  const document = { model: 'gpt-5', messages: [{ role: 'user', content: 'Read both.' }, { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] }, result('of a'), result('of b'), { role: 'assistant', content: 'Done.' }] };
  const { id } = await post('/api/sessions/import', { document });
  const { json: turns } = await exported(id, 'format=turns');
  const calls = turns.flatMap((turn) => turn.tool_calls);
  assert.deepEqual(calls.map((one) => [JSON.parse(one.arguments).path, one.result, one.status]), [['a', 'of a', 'done'], ['b', 'of b', 'done']]);
  assert.equal(new Set(calls.map((one) => one.id)).size, 2);
  for (const format of ['harmony', 'openai-chat', 'anthropic', 'openai-responses', 'gemini']) {
    const { json } = await exported(id, `format=${format}`);
    const { findings } = JSON.parse(linted(JSON.stringify(json), format).out);
    // The conversation ends with the assistant: Gemini's finding about that does not concern the calls.
    assert.deepEqual(findings.filter(({ code }) => code !== 'turn.prefill'), [], format);
  }
  // Turns with two calls of the same id are refused: the second could never be answered.
  for (const one of calls) one.id = 'call_0';
  const refused = await client.request('POST', '/api/sessions/import', { document: turns, from: 'turns' }).catch((error) => error.problem ?? error);
  assert.match(JSON.stringify(refused), /another call of this turn has the id \\"call_0\\"; give each its own/);
});

test('the command writes the report, says how much is lost, and refuses it when told to', async () => {
  const id = await said(script('think hm', 'call wait {"ms":1}', '---', 'say Found it.'));
  await settled(client, id);
  const where = ['--data', server.data];
  const report = file('report.json');
  const out = run(['session', 'export', id, '--format', 'harmony', '--report', report, ...where]);
  assert.equal(out.code, 0, out.err);
  assert.equal(out.err, '');
  const document = JSON.parse(out.out);
  assert.deepEqual(document, (await exported(id)).json);
  const told = JSON.parse(readFileSync(report, 'utf8'));
  assert.deepEqual(told, (await exported(id, 'format=harmony&report=body')).json.report);
  const quiet = run(['session', 'export', id, '--format', 'anthropic', ...where]);
  assert.equal(quiet.code, 0);
  assert.match(quiet.err, /not kept as .*--report FILE/);
  const strict = run(['session', 'export', id, '--format', 'anthropic', '--strict', '--report', report, ...where]);
  assert.equal(strict.code, 1);
  assert.equal(strict.out, '');
  assert.equal(JSON.parse(readFileSync(report, 'utf8')).to, 'anthropic');
  assert.match(run(['session', 'export', id, '--format', 'gpt-oss', ...where]).out, /^<\|start\|>/);
  assert.equal(run(['session', 'export', id, '--loop', 'loop_none', ...where]).code, 1);
  assert.equal(run(['session', 'export', id, '--mode', 'mend', ...where]).code, 2);

  const lossy = file('lossy.json', JSON.stringify({ ...harmony, settings: { temperature: 1 } }));
  const made = run(['session', 'import', lossy, '--report', report, ...where]);
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /^sess_/);
  assert.deepEqual(JSON.parse(readFileSync(report, 'utf8')).losses.filter(({ code }) => code === 'dropped').map(({ pointer }) => pointer), ['/settings']);
  const refused = run(['session', 'import', lossy, '--strict', ...where]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /would lose something/);
});
