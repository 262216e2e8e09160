// The error of a tool is JSON {status, error_type, message} (seed 001, A.2.2) in every request to a model.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { directory, run } from './harness.mjs';
import { clientOf, script, serve, settled, until } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const key = 'sk-secret-0123456789abcdef';
let upstream;
let server;
let client;
before(async () => {
  upstream = await openUpstream({ key });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

const isError = (result, type, message) => {
  assert.deepEqual(Object.keys(result), ['status', 'error_type', 'message'], JSON.stringify(result));
  assert.equal(result.status, 'error');
  assert.equal(result.error_type, type);
  assert.match(result.message, message);
};

const cases = [
  ['a tool of ours that fails', { name: 'calc', args: { expression: '1/0' } }, 'ToolFailed', /divides by zero/],
  ['arguments its schema refuses', { name: 'calc', args: { expr: '1' } }, 'InvalidArguments', /arguments are wrong/],
  ['arguments that are no JSON', { name: 'calc', args: '{bad' }, 'InvalidArguments', /./],
  ['a tool that is not there', { name: 'nosuch', args: {} }, 'UnknownTool', /no tool nosuch/],
  ['an Agent without a prompt', { name: 'Agent', args: {} }, 'InvalidArguments', /prompt/],
];
for (const [what, call, type, message] of cases)
  test(`openai-chat gets ${what} as JSON`, async () => {
    upstream.next({ calls: [call] }, { say: 'I see.' });
    const { id } = await client.createSession({ model: 'openai-chat/gpt-5' });
    await client.chat(id, { message: 'go' });
    await settled(client, id);
    const tool = upstream.last().body.messages.find(({ role }) => role === 'tool');
    isError(JSON.parse(tool.content), type, message);
    const { turns } = await client.messages(id, { limit: '10' });
    const [made] = turns.flatMap(({ tool_calls: calls }) => calls);
    assert.equal(made.status, 'error');
    isError(made.result, type, message);
    const document = await (await client.request('GET', `/api/sessions/${id}/export?format=harmony`)).json();
    const said = (document.messages ?? document).find(({ role }) => role === 'tool');
    isError(JSON.parse(said.content[0].text), type, message);
  });

test('anthropic gets the same JSON and its own flag', async () => {
  upstream.next({ calls: [{ name: 'calc', args: { expression: '1/0' } }] }, { say: 'I see.' });
  const { id } = await client.createSession({ model: 'anthropic/claude-sonnet-4-5' });
  await client.chat(id, { message: 'go' });
  await settled(client, id);
  const result = upstream.last().body.messages.flatMap(({ content }) => content).find(({ type }) => type === 'tool_result');
  assert.equal(result.is_error, true);
  isError(JSON.parse(typeof result.content === 'string' ? result.content : result.content[0].text), 'ToolFailed', /divides by zero/);
});

test('a denial is an error of its own type', async () => {
  const { id } = await client.createSession({ model: 'demo/echo' });
  await client.chat(id, { message: script('call publish {"title":"t","html":"h"}', '---', 'say Done.') });
  const question = await until(async () => (await (await client.request('GET', `/api/sessions/${id}/questions`)).json())[0]
    ?? (await client.messages(id)).turns.flatMap(({ tool_calls: calls }) => calls).find(({ status }) => status === 'awaiting_answer'), 'the question');
  const callId = question.tool_call_id ?? question.id;
  await client.request('POST', `/api/sessions/${id}/chat`, { askuser_answer: { tool_call_id: callId, answer: { approve: false, reason: 'not today' } } });
  await settled(client, id);
  const [call] = (await client.messages(id)).turns.flatMap(({ tool_calls: calls }) => calls);
  isError(call.result, 'PermissionDenied', /^Denied: not today$/);
});

// A plain conversion keeps the text for a vendor unchanged, and reports the flag.
const convert = async (from, to, document) =>
  JSON.parse((await run(['convert', '--mode', 'repair', '--from', from, '--to', to, '-'], { input: JSON.stringify(document) })).out);
const anthropic = (content, isError_ = true) => ({
  model: 'm', max_tokens: 5, messages: [
    { role: 'user', content: 'q' }, { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content, is_error: isError_ }] }],
});

for (const to of ['openai-chat', 'harmony'])
  test(`convert: a flag of anthropic is JSON in ${to}, and a flag again`, async () => {
    const made = await convert('anthropic', to, anthropic('boom'));
    const { content } = made.messages.find(({ role }) => role === 'tool');
    isError(JSON.parse(typeof content === 'string' ? content : content[0].text), 'ToolError', /^boom$/);
    const back = await convert(to, 'anthropic', made);
    assert.equal(back.messages.at(-1).content[0].is_error, true);
    assert.equal(JSON.stringify(back.messages.at(-1).content[0].content).match(/boom|status/)[0], 'boom');
    // A result that already is such an object is unchanged, and so is a result without an error.
    const own = '{"status":"error","error_type":"Late","message":"x"}';
    const kept = (await convert('anthropic', to, anthropic(own))).messages.find(({ role }) => role === 'tool').content;
    assert.equal(typeof kept === 'string' ? kept : kept[0].text, own);
    const fine = (await convert('anthropic', to, anthropic('ok', false))).messages.find(({ role }) => role === 'tool').content;
    assert.equal(typeof fine === 'string' ? fine : fine[0].text, 'ok');
  });

test('convert: nothing is reported as lost where the JSON says it', async () => {
  const { out: stdout } = await run(['convert', '--mode', 'repair', '--from', 'anthropic', '--to', 'openai-chat', '--report', '/dev/stderr', '-'],
    { input: JSON.stringify(anthropic([{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }])) });
  const [tool] = JSON.parse(stdout).messages.filter(({ role }) => role === 'tool');
  isError(JSON.parse(tool.content), 'ToolError', /^a\nb$/);
});

test('convert: a plain conversion keeps the words for a vendor, and reports the flag', async () => {
  const report = join(directory, 'flag-report.json');
  const { out } = await run(['convert', '--from', 'anthropic', '--to', 'openai-chat', '--report', report, '-'], { input: JSON.stringify(anthropic('boom')) });
  assert.equal(JSON.parse(out).messages.find(({ role }) => role === 'tool').content, 'boom');
  const { losses } = JSON.parse(readFileSync(report, 'utf8'));
  assert.ok(losses.some(({ code, pointer }) => code === 'dropped' && pointer === '/messages/2/content/0/is_error'), JSON.stringify(losses));
});
