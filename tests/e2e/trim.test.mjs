import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { directory, run } from './harness.mjs';

const words = (n) => Array(n).fill('word').join(' ');
const tokens = (as, input) => JSON.parse(run(['tokens', '--json', '--as', as, '-'], { input }).out).tokens;

// Trims, and checks that the result fits.
function trim(as, max, document, args = []) {
  const input = typeof document === 'string' ? document : JSON.stringify(document);
  const report = join(directory, 'report.json');
  const { code, out, err } = run(['trim', '--as', as, '--max-tokens', String(max), '--report', report, ...args, '-'], { input });
  assert.equal(code, 0, err);
  assert.ok(tokens(as, out) <= max);
  return { text: out, out: JSON.parse(out), report: JSON.parse(readFileSync(report, 'utf8')) };
}

const call = (id, name = 'read') => ({ role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }] });
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content });
const user = (content) => ({ role: 'user', content });
const assistant = (content) => ({ role: 'assistant', content });
const chat = (...messages) => ({ model: 'gpt-5', messages: [{ role: 'system', content: 'RULES' }, ...messages] });

test('what fits comes out byte for byte, and nothing is reported', () => {
  const input = ' { "model" : "gpt-5", "messages": [ {"role":"user","content":"h\\u0065llo"} ] }\n';
  const { text, report } = trim('openai-chat', 100, input);
  assert.equal(text, input);
  assert.deepEqual(report, { from: 'openai-chat', to: 'openai-chat', losses: [], lossless: true });
});

test('untouched messages keep their bytes', () => {
  const kept = '{"content" :"\\u0061nswer", "role": "assistant"}';
  const input = `{"model":"gpt-5","messages":[{"role":"user","content":"${words(200)}"},{"role":"assistant","content":"x"},`
    + `{"role":"user",  "content":"q"}, ${kept},\n {"role":"user","content":"LAST"}], "temperature":1.0}`;
  const { text } = trim('openai-chat', 80, input);
  assert.ok(text.includes(`{"role":"user",  "content":"q"}, ${kept},\n {"role":"user","content":"LAST"}`), text);
  assert.ok(text.endsWith(', "temperature":1.0}'));
  assert.ok(!text.includes('word word'));
});

test('a tool result becomes a stub that names the tool and the size, in the report with its tokens', () => {
  const { out, report } = trim('openai-chat', 60, chat(user('q'), call('c1'), result('c1', words(300)), assistant('a'), user('LAST')));
  assert.equal(out.messages.length, 6);
  assert.equal(out.messages[3].content, '[result of read left out: 300 tokens]');
  assert.deepEqual(report.losses.map(({ code, pointer }) => [code, pointer]), [['approximated', '/messages/3']]);
  assert.match(report.losses[0].detail, /300 tokens/);
  assert.equal(report.lossless, false);
});

test('whole exchanges go, replaced by the summary that is given', () => {
  const { out, report } = trim('openai-chat', 40, chat(user(words(100)), call('c1'), result('c1', 'r'), assistant('a'), user('LAST')), ['--summary', 'We read a file.']);
  assert.deepEqual(out.messages, [{ role: 'system', content: 'RULES' }, { role: 'user', content: '[history_summary: We read a file.]' }, { role: 'user', content: 'LAST' }]);
  assert.deepEqual(report.losses.map(({ code }) => code).sort(), ['dropped', 'dropped', 'dropped', 'dropped', 'synthesised']);
});

test('the summary says by itself how much is gone', () => {
  const { out } = trim('openai-chat', 60, chat(user(words(100)), assistant('a'), user('LAST')));
  assert.match(out.messages[1].content, /^\[history_summary: .*1 of the user, 1 of the assistant/);
});

test('who trims again keeps what an earlier summary said, and counts nothing twice', () => {
  const talk = (...rest) => chat(user(words(60)), assistant(words(60)), ...rest);
  const first = trim('openai-chat', 150, talk(user(words(60)), assistant('b'), user('LAST')), ['--summary', 'We chose 2D, blue.']).out;
  assert.equal(first.messages[1].content, '[history_summary: We chose 2D, blue.]');
  const again = trim('openai-chat', 70, first);
  assert.equal(again.out.messages[1].content,
    '[history_summary: We chose 2D, blue.\nearlier messages were left out to make room: 1 of the user, 1 of the assistant, 0 with tool results]');
  assert.ok(again.report.losses.some(({ code, pointer }) => code === 'merged' && pointer === '/messages/1'), JSON.stringify(again.report));
  const more = { ...again.out, messages: [...again.out.messages.slice(0, -1), user(words(60)), assistant('c'), user('LAST')] };
  assert.match(trim('openai-chat', 70, more).out.messages[1].content,
    /^\[history_summary: We chose 2D, blue\.\nearlier messages were left out to make room: 2 of the user, 2 of the assistant, 0 with tool results\]$/);
  assert.equal(trim('openai-chat', 60, more, ['--summary', 'Then red.']).out.messages[1].content, '[history_summary: We chose 2D, blue.\nThen red.]');
});

test('an agent at work keeps the question and its last step', () => {
  const steps = Array.from({ length: 50 }, (_, i) => [{ ...call(`c${i}`), content: words(20) }, result(`c${i}`, 'ok')]).flat();
  const { out } = trim('openai-chat', 200, chat(user('QUESTION'), ...steps));
  assert.ok(out.messages.some(({ content }) => content === 'QUESTION'));
  assert.equal(out.messages.at(-1).tool_call_id, 'c49');
  const called = out.messages.flatMap((m) => m.tool_calls ?? []).map(({ id }) => id);
  assert.deepEqual(out.messages.filter(({ role }) => role === 'tool').map((m) => m.tool_call_id), called);
});

test('the items of one turn of a vendor go together', () => {
  const document = { model: 'gpt-5', input: [
    user(words(100)),
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }, { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: '1' }, { type: 'function_call_output', call_id: 'b', output: '2' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }, user('LAST')] };
  const { out, report } = trim('openai-responses', 40, document, ['--summary', 'S']);
  assert.deepEqual(out.input, [user('[history_summary: S]'), user('LAST')]);
  for (let i = 0; i < 7; i++) assert.ok(report.losses.some(({ code, pointer }) => code === 'dropped' && pointer === `/input/${i}`), `/input/${i}`);
});

test('results inside a user message stay beside their calls', () => {
  const document = { model: 'claude-opus-5', max_tokens: 100, system: 'RULES', messages: [
    user(words(100)), assistant([{ type: 'tool_use', id: 't1', name: 'f', input: {} }]),
    user([{ type: 'tool_result', tool_use_id: 't1', content: 'r' }, { type: 'text', text: 'LAST' }])] };
  const { out } = trim('anthropic', 70, document, ['--summary', 'S']);
  assert.deepEqual(out.messages.map(({ role }) => role), ['user', 'assistant', 'user']);
  assert.equal(out.messages[0].content, '[history_summary: S]');
  assert.equal(out.system, 'RULES');
});

test('gpt-oss text comes out as text', () => {
  const input = `<|start|>user<|message|>${words(100)}<|end|><|start|>assistant<|channel|>final<|message|>a<|end|><|start|>user<|message|>LAST<|end|>`;
  const { code, out } = run(['trim', '--as', 'gpt-oss', '--max-tokens', '30', '--summary', 'S', '-'], { input });
  assert.equal(code, 0);
  assert.equal(out, '<|start|>user<|message|>[history_summary: S]<|end|><|start|>user<|message|>LAST<|end|>');
});

test('of a gpt-oss prompt the model, the instructions and the next turn stay', () => {
  const head = '<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06\n\nReasoning: high\n\n'
    + '# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>'
    + '<|start|>developer<|message|># Instructions\n\nBe brief.<|end|>';
  const tail = '<|start|>user<|message|>LAST<|end|><|start|>assistant';
  const input = `${head}<|start|>user<|message|>${words(100)}<|end|><|start|>assistant<|channel|>final<|message|>a<|end|>${tail}`;
  const { code, out, err } = run(['trim', '--as', 'gpt-oss', '--max-tokens', '90', '--summary', 'S', '-'], { input });
  assert.equal(code, 0, err);
  assert.equal(out, `${head}<|start|>user<|message|>[history_summary: S]<|end|>${tail}`);
});

test('what cannot fit is exit 1, nothing on standard output, and the reason says what would do', () => {
  const input = JSON.stringify(chat(user('a'), assistant('b'), user(words(50))));
  const { code, out, err } = run(['trim', '--as', 'openai-chat', '--max-tokens', '20', '-'], { input });
  assert.equal(code, 1);
  assert.equal(out, '');
  const [, least] = err.match(/cannot be made smaller than (\d+) tokens/);
  trim('openai-chat', Number(least), input);
});

test('the command line says what is missing', () => {
  assert.match(run(['trim', '-']).err, /--max-tokens N/);
  for (const max of ['0', '-5', '10k', '99999999999999999999']) assert.equal(run(['trim', '--max-tokens', max, '-']).code, 2, max);
  assert.equal(run(['trim', '--max-tokens', '5', '--summary', '', '-']).code, 2);
});
