// parley chat and parley run: through pipes, and on a terminal without cursor movement (TERM=dumb), which util-linux
// script(1) provides. terminal_chat.test.mjs tests other terminals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { extend, tool } from './extending.mjs';
import { parley, run } from './harness.mjs';
import { clientOf, endsWell, script, serve, textOf, until } from './live.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});

const env = () => ({
  PATH: process.env.PATH, HOME: server.data, LC_ALL: 'C.UTF-8', TERM: 'dumb', SHELL: '/bin/sh', PARLEY_DATA: server.data,
});

// A message of several lines as a user types it.
const typed = (text) => text.split('\n').join('\\\n');
const call = (name, input) => `call ${name} ${JSON.stringify(input)}`;
const asking = (question) => call('AskUserQuestion', { questions: [question] });
const colours = { question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }] };

// Through pipes: writes all input, then closes it.
function pipe(words, input) {
  return new Promise((resolve) => {
    const child = spawn(parley, words, { env: env() });
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => { said.out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { said.err += text; });
    child.on('close', (code) => resolve({ code, ...said }));
    child.stdin.on('error', () => {}); // the program may exit before it reads everything
    child.stdin.end(input);
  });
}

// On a terminal: sends keys, reads the screen.
class Terminal {
  constructor(...words) {
    const line = `exec ${[parley, ...words].map((word) => `'${word}'`).join(' ')}`;
    this.child = spawn('script', ['-q', '-e', '-c', line, '/dev/null'], { env: env() });
    this.screen = '';
    this.child.stdout.setEncoding('utf8').on('data', (text) => { this.screen += text; });
    this.child.stderr.setEncoding('utf8').on('data', (text) => { this.screen += text; });
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
  }

  type(text) { this.child.stdin.write(text); }

  // Types a message of several lines and waits for its echo.
  async says(text) {
    this.type(`${typed(text)}\n`);
    await this.sees(`${text.split('\n').at(-1).replace(/[^\w ]/g, '\\$&')}\r\n`);
  }

  // Waits until the screen shows this, and drops everything before it.
  async sees(pattern) {
    const found = await until(() => this.screen.match(pattern), () => `the screen does not say ${pattern}: ${JSON.stringify(this.screen.slice(-2000))}`);
    this.screen = this.screen.slice(found.index + found[0].length);
    return found;
  }
}

async function terminal(t, ...words) {
  const one = new Terminal(...words);
  t.after(() => one.child.kill('SIGKILL'));
  return one;
}

const newest = async () => (await (await client.request('GET', '/api/sessions?limit=1')).json()).items[0];
const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;

test('through a pipe every line is a message, and only the answers are on standard output', async () => {
  const { code, out, err } = await pipe(['chat', '--model', 'demo/echo'], 'hello world\n\nand again\n');
  assert.deepEqual([code, out, err], [0, 'hello world\nand again\n', '']);
  const session = await newest();
  assert.equal(session.intent, 'hello world');
  assert.equal((await turnsOf(session.id)).length, 4);
});

test('a session is gone on with, by its id or as the last one', async () => {
  const { id } = await newest();
  assert.equal((await pipe(['chat', '--session', id], 'third\n')).out, 'third\n');
  assert.equal((await pipe(['chat', '--session', 'last'], 'fourth')).out, 'fourth\n', 'the last line needs no break');
  assert.equal((await turnsOf(id)).length, 8);
  const none = await pipe(['chat', '--session', 'sess_00000000-0000-7000-8000-000000000000'], 'x\n');
  assert.equal(none.code, 1);
  assert.match(none.err, /You have no session sess_/);
  assert.equal((await pipe(['chat', '--session', id, '--new'], '')).code, 2);
});

test('nobody who says nothing leaves a session behind', async () => {
  const before = (await newest()).id;
  assert.equal((await pipe(['chat'], '')).code, 0);
  assert.equal((await newest()).id, before);
});

test('tools and their results are a line each on standard error', async () => {
  const { code, out, err } = await pipe(['chat', '--model', 'demo/agent'],
    `${typed(script('think hm', 'say one', call('calc', { expression: '6*7' }), call('calc', { expression: '1/0' }), '---', 'say two'))}\n`);
  assert.deepEqual([code, out], [0, 'one\ntwo\n']);
  assert.match(err, /\[calc\] \{"expression":"6\*7"\}/);
  assert.match(err, /= 42\n/);
  assert.match(err, /error This divides by zero/);
});

test('questions take the next lines: a number, words, several numbers, a yes and a no', async () => {
  const ask = typed(script(asking(colours), asking({ ...colours, question: 'Which two?', multiSelect: true }),
    asking({ question: 'Why?', options: [] }), '---', 'results'));
  const { code, out } = await pipe(['chat', '--model', 'demo/agent'], `${ask}\n2\n1, 2\nbecause I can\n`);
  assert.equal(code, 0);
  assert.match(out, /Which colour\?\n {2}1\) red\n {2}2\) blue: like the sea\n/);
  assert.match(out, /\{"Which colour\?":"blue"\}\{"Which two\?":\["red","blue"\]\}\{"Why\?":"because I can"\}\n$/);
  const publish = typed(script(call('publish', { title: 't', html: '<b>' }), '---', 'results'));
  const yes = await pipe(['chat', '--model', 'demo/agent'], `${publish}\ny\n`);
  assert.equal(yes.code, 0);
  assert.match(yes.out, /\[publish\] \{"title":"t","html":"<b>"\}\nMay the tool publish run with these arguments\?\n\{"ok":true\}?/);
  const no = await pipe(['chat', '--model', 'demo/agent'], `${publish}\nnot in this house\n`);
  assert.match(no.out, /"error_type":"PermissionDenied","message":"Denied: not in this house"\}\n$/);
});

test('what an extension may is allowed once, for the session or always, and refused for a reason', async (t) => {
  if (!/level full/.test(run(['doctor', '--data', server.data]).out)) return t.skip('there is no full sandbox on this machine');
  const extension = await extend(server, 'curious', {
    tools: [tool('curious')], profile: 'balanced', capabilities: [{ capability: 'env', scope: { env: ['A', 'B'] } }],
    code: 'def on(f):\n    if f["type"] == "tool_call": call("env", "env", {"name": f["payload"]["input"]["name"]}, lambda p: result(f, {"text": (p.get("error") or {}).get("details", {}).get("reason", "allowed")}))',
  });
  const look = (name) => typed(script(call('curious', { name }), '---', 'results'));
  const chat = async (...lines) => {
    const { code, out, err } = await pipe(['chat', '--model', 'demo/agent'], `${lines.join('\n')}\n`);
    assert.equal(code, 0, err);
    return out;
  };
  const asked = /use env: A\?/g;
  // "Once": the second call asks again; an answer that is not one of the words is a refusal.
  const once = await chat(look('A'), 'y', look('A'), 'not now');
  assert.equal(once.match(asked).length, 2, once);
  assert.match(once, /allowed[^]*prompt_user_deny/);
  const session = await chat(look('A'), 's', look('A'));
  assert.equal(session.match(asked).length, 1, session);
  assert.equal(session.match(/allowed/g).length, 2, session);
  assert.equal((await chat(look('B'), 'always')).match(/allowed/g).length, 1);
  assert.doesNotMatch(await chat(look('B')), /use env/);
  // A confirmation of a tool does not accept these words.
  const publish = await pipe(['chat', '--model', 'demo/agent'], `${typed(script(call('publish', { title: 't', html: 'h' }), '---', 'results'))}\nalways\n`);
  assert.match(publish.out, /Denied: always/);
  await extension.remove();
});

test('a question nobody answers waits, and is asked again when the session is gone on with', async () => {
  const left = await pipe(['chat', '--model', 'demo/agent'], `${typed(script(asking(colours), '---', 'results'))}\n`);
  assert.equal(left.code, 1);
  const [, id] = left.err.match(/parley chat --session (sess_\S+)" continues/);
  assert.equal((await client.session(id)).status, 'waiting_for_input');
  const { code, out } = await pipe(['chat', '--session', id], `1\n${typed(script('say bye'))}\n`);
  assert.equal(code, 0);
  assert.match(out, /Which colour\?.*\{"Which colour\?":"red"\}\nbye\n$|Which colour\?[^]*\{"Which colour\?":"red"\}\n/);
});

test('a chat that fails is exit code 1, and the next line is said all the same', async () => {
  const { code, out, err } = await pipe(['chat'], `${typed(script('fail so sad'))}\nstill here\n`);
  assert.deepEqual([code, out], [1, 'still here\n']);
  assert.match(err, /the chat is failed: so sad/);
});

test('at a terminal: a prompt, thoughts, an answer, Ctrl-D', async (t) => {
  const one = await terminal(t, 'chat', '--model', 'demo/agent');
  await one.sees(/Ctrl-C stops an answer, Ctrl-D ends/);
  await one.sees(/> /);
  await one.says(script('think about it', 'say hello there'));
  await one.sees(/this is session sess_/);
  await one.sees(/about it/);
  await one.sees(/hello there\r\n/);
  await one.sees(/> /);
  one.type('\x04');
  assert.equal(await one.exited, 0);
});

test('at a terminal: numbered options and a confirmation', async (t) => {
  const one = await terminal(t, 'chat', '--model', 'demo/agent');
  await one.sees(/> /);
  await one.says(script(asking(colours), call('publish', { title: 't', html: 'h' }), '---', 'say thanks'));
  await one.sees(/1\) red\r\n {2}2\) blue: like the sea\r\n/);
  await one.sees(/number or text> /);
  one.type('2\n');
  await one.sees(/\[publish\] \{"title":"t","html":"h"\}/);
  await one.sees(/y or n> /);
  one.type('y\n');
  await one.sees(/thanks\r\n/);
  await one.sees(/> /);
  const [, answered] = await turnsOf((await newest()).id);
  assert.deepEqual(answered.tool_calls.map(({ status }) => status), ['done', 'done']);
  one.type('\x04');
  assert.equal(await one.exited, 0);
});

test('Ctrl-C stops the turn and the talk goes on; twice at the prompt it ends', async (t) => {
  const one = await terminal(t, 'chat', '--model', 'demo/agent');
  await one.sees(/> /);
  await one.says(script('say begun', 'wait 60000', 'say never'));
  await one.sees(/begun/);
  one.type('\x03');
  await one.sees(/the chat is interrupted: stopped/);
  await one.sees(/> /);
  const { id } = await newest();
  assert.equal((await client.session(id)).status, 'interrupted');
  await one.says(script('say going on'));
  await one.sees(/going on\r\n/);
  await one.sees(/> /);
  one.type('\x03');
  await one.sees(/Ctrl-C again or Ctrl-D ends/);
  one.type('\x03');
  assert.equal(await one.exited, 0);
  assert.equal(textOf((await turnsOf(id)).at(-1)), 'going on');
});

// --- run ----------------------------------------------------------------------------------------

const files = mkdtempSync(join(tmpdir(), 'parley-run-'));
after(() => rmSync(files, { recursive: true, force: true }));
const file = (name, text) => {
  writeFileSync(join(files, name), text);
  return join(files, name);
};
const count = async () => (await (await client.request('GET', '/api/sessions?limit=1')).json()).total;

test('a file is run with its variables, and nothing is left behind', async () => {
  const before = await count();
  const text = file('hello.txt', 'Hello {{name}}!');
  const { code, out, err } = await pipe(['run', text, '--var', 'name=Ada', '--model', 'demo/echo'], '');
  assert.deepEqual([code, out, err], [0, 'Hello Ada!\n', '']);
  assert.equal((await pipe(['run', '-', '--model', 'demo/echo'], 'from a pipe')).out, 'from a pipe\n');
  const missing = await pipe(['run', text], '');
  assert.ok(missing.code > 0 && /name/.test(missing.err), missing.err);
  assert.equal(await count(), before);
});

test('a structured chat is run with what comes before its last message', async () => {
  const before = await count();
  const chat = file('chat.json', JSON.stringify({
    system_prompt: 'You are {{who}}.',
    messages: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, { role: 'user', content: script('told') }],
  }));
  const { code, out } = await pipe(['run', chat, '--var', 'who=kind', '--model', 'demo/agent'], '');
  assert.deepEqual([code, out], [0, 'You are kind.\n']);
  const wrong = await pipe(['run', file('wrong.json', '{"messages":[{"role":"assistant","content":"x"}]}')], '');
  assert.ok(wrong.code > 0);
  assert.match(wrong.err, /a user message must come before it/);
  assert.equal(await count(), before);
});

test('several models answer side by side, and a failure of one is exit code 1', async () => {
  const before = await count();
  const text = file('two.txt', 'twice');
  const { code, out } = await pipe(['run', text, '--model', 'demo/echo', '--model', 'demo/slow'], '');
  assert.deepEqual([code, out], [0, '## demo/echo\n\ntwice\n\n## demo/slow\n\ntwice\n']);
  assert.equal((await pipe(['run', file('fails.txt', script('fail no')), '--model', 'demo/echo'], '')).code, 1);
  assert.ok((await pipe(['run', text, '--model', 'none/such'], '')).code > 0);
  assert.equal(await count(), before);
});

test('a prompt of the library is run by its name', async () => {
  await client.request('POST', '/api/prompts', { name: 'greeting', type: 'text', content: 'Good {{time}}, {{name}}' });
  const { code, out, err } = await pipe(['run', 'greeting', '--var', 'time=day', '--var', 'name=Bo', '--model', 'demo/echo'], '');
  assert.deepEqual([code, out], [0, 'Good day, Bo\n'], err);
  assert.equal((await pipe(['run', 'no-such-prompt'], '')).code, 1);
});

test('the server ends in good order', () => endsWell(server));
