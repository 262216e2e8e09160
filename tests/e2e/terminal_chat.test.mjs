// parley chat as a person uses it, on a terminal that tmux draws. Waits for text on the screen, never for time.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { extend, tool } from './extending.mjs';
import { parley, run } from './harness.mjs';
import { clientOf, endsWell, script, serve, textOf, until } from './live.mjs';
import { Tmux } from './tmux.mjs';

let server;
let client;
const home = mkdtempSync(join(tmpdir(), 'parley-home-'));
before(async () => {
  server = await serve();
  client = clientOf(server);
});
after(() => rmSync(home, { recursive: true, force: true }));

let homes = 0;
const newHome = () => {
  const made = join(home, `${++homes}`);
  mkdirSync(made);
  return made;
};

const env = (more = {}) => ({
  PATH: process.env.PATH, HOME: newHome(), LC_ALL: 'C.UTF-8', TERM: 'tmux-256color', PARLEY_DATA: server.data, ...more,
});
const call = (name, input) => `call ${name} ${JSON.stringify(input)}`;
const colours = { question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }] };
const asking = (question) => call('AskUserQuestion', { questions: [question] });

async function chat(t, { words = ['--model', 'demo/agent'], env: given = env(), ...size } = {}) {
  const one = new Tmux(t, [parley, 'chat', ...words], { env: given, ...size });
  await one.shows(/^> *$/m);
  return one;
}

const newest = async () => (await (await client.request('GET', '/api/sessions?limit=1')).json()).items[0];
const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;
// Pastes and sends a message of several lines.
async function say(one, ...lines) {
  one.paste(script(...lines));
  await one.shows(new RegExp(`${lines.at(-1).slice(-12).replace(/[^\w ]/g, '\\$&')} *$`, 'm'));
  one.press('Enter');
}

test('arrows, words and kills edit the line, and Chinese characters go one by one', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo'] });
  one.type('hello wrld');
  one.press('Left', 'Left', 'Left');
  one.type('o');
  await one.shows(/^> hello world$/m);
  one.press('C-a');
  one.type('X ');
  one.press('C-e');
  one.type('!');
  await one.shows(/^> X hello world!$/m);
  one.press('C-w', 'C-w', 'C-y');
  await one.shows(/^> X hello world!$/m);
  one.press('C-u');
  await one.shows(/^>$/m);
  one.type('你好吗');
  one.press('BSpace');
  await one.shows(/^> 你好$/m);
  assert.equal(one.cursor().split(',')[0], '6', 'two cells for the prompt, two for each character');
  one.press('Left');
  one.type('a👍');
  await one.shows(/^> 你a👍好$/m);
  one.press('BSpace', 'BSpace', 'Enter');
  await one.shows(/^你好$/m);
  const [turn] = await turnsOf((await newest()).id);
  assert.equal(textOf(turn), '你好');
});

test('what was typed comes back with the arrows, is found with Ctrl-R, and lasts', async (t) => {
  const given = env();
  const first = await chat(t, { words: ['--model', 'demo/echo'], env: given });
  for (const text of ['alpha one', 'beta two', 'gamma three']) {
    first.type(text);
    first.press('Enter');
    await first.shows(new RegExp(`^${text}$`, 'm'));
    await first.shows(/tokens in[^]*\n>$/);
  }
  first.type('draft');
  first.press('Up');
  await first.shows(/^> gamma three$(?![^]*^>)/m);
  first.press('Up');
  await first.shows(/^> beta two$(?![^]*^>)/m);
  first.press('Down', 'Down');
  await first.shows(/^> draft$/m);
  first.press('C-c');
  await first.lacks(/^> draft$/m);
  first.press('C-d');
  await first.shows(/^exit 0$/m);
  const file = join(given.HOME, '.local/state/parley/history');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(readFileSync(file, 'utf8'), 'alpha one\nbeta two\ngamma three\n');
  const second = await chat(t, { words: ['--model', 'demo/echo'], env: given });
  second.press('C-r');
  second.type('alp');
  await second.shows(/^\(search: alp\) alpha one$/m);
  second.press('Enter');
  await second.shows(/^alpha one$/m);
});

test('three pasted lines are one message, and a long paste has no limit at 4,095 bytes', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo'] });
  one.paste('one\ntwo\nthree');
  await one.shows(/^> one\n {2}two\n {2}three$/m);
  await one.looksLike('paste');
  one.press('Enter');
  await one.shows(/^one\ntwo\nthree$/m);
  const { id } = await newest();
  assert.equal((await turnsOf(id)).length, 2, 'one message and its answer');
  const long = 'word '.repeat(4000).trim();
  one.paste(long);
  await one.shows(/word word\s*$/);
  one.press('Enter');
  await until(async () => (await turnsOf(id)).length === 4, 'the second message is there');
  assert.equal(textOf((await turnsOf(id))[2]), long);
});

test('Alt-Enter and a backslash begin a new line', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo'] });
  one.type('first');
  one.press('M-Enter');
  one.type('second\\');
  one.press('Enter');
  one.type('third');
  await one.shows(/^> first\n {2}second\n {2}third$/m);
  one.press('Enter');
  await one.shows(/^first\nsecond\nthird$/m);
});

test('an answer is rendered Markdown, and a model sends no control sequence', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo'] });
  one.paste('# Title\n\nSome **bold** and `code` 中文.\n\n- one\n- two\n\n```c\nint x;\n```\n\n| a | 数 |\n|---|---:|\n| x | 12 |\n');
  await one.shows(/\| x \| 12 \|/);
  one.press('C-a', 'BSpace', 'Enter');
  await one.shows(/└/);
  await one.shows(/tokens in/);
  one.type('/quit');
  one.press('Enter');
  await one.shows(/exit 0/);
  await one.looksLike('markdown');
  const hostile = await client.createSession({ model: 'demo/echo' });
  await client.chat(hostile.id, { message: 'a \x1b[2J\x1b]0;owned\x07 \u009b31m b' });
  await until(async () => (await client.session(hostile.id)).status === 'completed', 'the answer');
  const two = new Tmux(t, [parley, 'chat', '--session', hostile.id], { env: env() });
  await two.shows(/a \\u\{1B\}\[2J\\u\{1B\}\]0;owned\\u\{7\} \\u\{9B\}31m b\n[^]*>$/);
});

test('a question is a menu, a confirmation takes a key, and keys from before do not answer', async (t) => {
  const one = await chat(t);
  await say(one, asking(colours), call('publish', { title: 't', html: 'h' }), '---', 'results');
  await one.shows(/1\) red[^]*2\) blue: like the sea[^]*3\) something else/);
  await one.looksLike('question');
  one.press('Down', 'Enter');
  await one.shows(/\[publish\] \{"title":"t","html":"h"\}\nMay the tool publish[^]*y\) yes/);
  await one.looksLike('confirmation');
  one.press('y');
  await one.shows(/"Which colour\?":"blue"/);
  await one.shows(/tokens in[^]*>$/);
  const [, answered] = await turnsOf((await newest()).id);
  assert.deepEqual(answered.tool_calls.map(({ status }) => status), ['done', 'done']);
  await say(one, 'wait 300', call('publish', { title: 't', html: 'h' }), '---', 'results');
  one.type('y is typed too early');
  await one.shows(/r\) no, for a reason/);
  one.press('n');
  await one.shows(/^> y is typed too early$/m);
  const refused = (await turnsOf((await newest()).id)).flatMap(({ tool_calls: calls = [] }) => calls).at(-1);
  assert.match(JSON.stringify(refused), /PermissionDenied/);
});

test('a question of an extension is a menu while the answer goes on, and is remembered as it says', async (t) => {
  if (!/level full/.test(run(['doctor', '--data', server.data]).out)) return t.skip('there is no full sandbox on this machine');
  const extension = await extend(server, 'curious', {
    tools: [tool('curious')], profile: 'balanced', capabilities: [{ capability: 'env', scope: { env: ['A'] } }],
    code: 'def on(f):\n    if f["type"] == "tool_call": call("env", "env", {"name": "A"}, lambda p: result(f, {"text": (p.get("error") or {}).get("details", {}).get("reason", "allowed")}))',
  });
  const one = await chat(t);
  await say(one, call('curious', {}), '---', 'results');
  await one.shows(/use env: A\?[^]*y\) yes, this once[^]*s\) yes, for this session[^]*a\) yes, always[^]*n\) no/);
  one.press('s');
  await one.shows(/allowed[^]*tokens in[^]*>$/);
  await say(one, call('curious', {}), '---', 'results');
  await until(async () => (await turnsOf((await newest()).id)).flatMap(({ tool_calls: calls = [] }) => calls).filter(({ status }) => status === 'done').length === 2, 'the second call');
  await extension.remove();
});

test('thoughts are folded, tools are one line, and Ctrl-O opens them', async (t) => {
  const one = await chat(t);
  await say(one, 'think deep things', call('calc', { expression: '6*7' }), call('calc', { expression: '1/0' }), '---', 'say done now');
  await one.shows(/^done now$/m);
  await one.shows(/tokens in[^]*>$/);
  const screen = one.screen();
  assert.match(screen, /^\(thought for \d+\.\d s; Ctrl-O shows it\)$/m);
  assert.match(screen, /^\[calc\] \{"expression":"6\*7"\} = 42$/m);
  assert.match(screen, /^\[calc\] \{"expression":"1\/0"\} failed: This divides by zero/m);
  one.press('C-o');
  await one.shows(/\(thinking\) deep things/);
});

test('Ctrl-C stops an answer and the talk goes on; typing meanwhile does not mix into it', async (t) => {
  const one = await chat(t);
  await say(one, 'say begun', 'wait 60000', 'say never');
  await one.shows(/^begun$/m);
  one.type('typed meanwhile');
  one.press('C-c');
  await one.shows(/the chat is interrupted: stopped/);
  await one.shows(/^> typed meanwhile$/m);
  assert.ok(!/begun.*typed|typed meanwhile[^]*interrupted/.test(one.screen()), one.screen());
  one.press('C-c');
  await one.lacks(/^> typed meanwhile$/m);
  one.press('C-c');
  await one.shows(/Ctrl-C again or Ctrl-D ends/);
  one.press('C-c');
  await one.shows(/^exit 0$/m);
});

test('a resize draws the line anew', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo'], columns: 60, rows: 20 });
  one.type('these words are longer than thirty cells 中文中文');
  await one.shows(/^> these words are longer than thirty cells 中文中文$/m);
  one.resize(30, 20);
  await one.shows(/^> these words are longer than\n {3}?thirty cells 中文中文$|^> these words are longer than ?\n {2}thirty/m);
  one.resize(70, 20);
  await one.shows(/^> these words are longer than thirty cells 中文中文$/m);
  assert.equal(one.screen().match(/these words/g).length, 1, one.screen());
});

test('slash commands: completion, a suggestion, models, system, attachments, undo, fork, files', async (t) => {
  const given = env();
  const one = await chat(t, { words: ['--model', 'demo/echo'], env: given, rows: 50, columns: 100 });
  one.type('/mo');
  one.press('Tab');
  await one.shows(/^> \/model$/m);
  one.type('demo/ag');
  one.press('Tab', 'Enter');
  await one.shows(/demo\/agent answers from now on/);
  one.type('/modle');
  one.press('Enter');
  await one.shows(/there is no \/modle; did you mean \/model\?/);
  one.type('/system Be kind.');
  one.press('Enter');
  await one.shows(/the system prompt is set/);
  await say(one, 'told');
  await one.shows(/^Be kind\.$/m);
  const { id } = await newest();
  one.type('/model demo/echo');
  one.press('Enter');
  await one.shows(/demo\/echo answers from now on/);
  const notes = join(given.HOME, 'notes.txt');
  writeFileSync(notes, 'from a file');
  one.type(`/attach ${notes}`);
  one.press('Enter');
  await one.shows(/goes with the next message/);
  one.type('look');
  one.press('Enter');
  await until(async () => (await turnsOf(id)).length === 4, 'the message');
  assert.match(JSON.stringify((await turnsOf(id))[2].blocks), /notes\.txt:\\nfrom a file/);
  await one.shows(/tokens in[^]*>$/);
  one.type('/undo');
  one.press('Enter');
  await one.shows(/are taken back/);
  const copy = await newest();
  assert.notEqual(copy.id, id);
  assert.equal((await turnsOf(copy.id)).length, 2);
  one.type('/context');
  one.press('Enter');
  await one.shows(/tokens, for demo\/echo/);
  one.type(`/save ${join(given.HOME, 'answer.txt')}`);
  one.press('Enter');
  await one.shows(/written to/);
  assert.equal(readFileSync(join(given.HOME, 'answer.txt'), 'utf8'), 'Be kind.\n');
  one.type(`/export ${join(given.HOME, 'all.json')}`);
  one.press('Enter');
  await until(() => existsSync(join(given.HOME, 'all.json')) && readFileSync(join(given.HOME, 'all.json'), 'utf8').includes('Be kind.'), 'the export');
  one.press('C-l');
  one.type('/help');
  one.press('Enter');
  await one.shows(/\/quit +End/);
  one.type('/quit');
  one.press('Enter');
  await one.shows(/^exit 0$/m);
});

test('--session last shows what was said', async (t) => {
  const { id } = await client.createSession({ model: 'demo/echo' });
  await client.chat(id, { message: 'remember **this**' });
  await until(async () => (await client.session(id)).status === 'completed', 'the answer');
  const one = new Tmux(t, [parley, 'chat', '--session', 'last'], { env: env() });
  await one.shows(/^> remember \*\*this\*\*\nremember this\n>$/m);
});

test('TERM=dumb and NO_COLOR stay plain', async (t) => {
  const dumb = await chat(t, { words: ['--model', 'demo/echo'], env: env({ TERM: 'dumb' }) });
  dumb.type('some **words**');
  dumb.press('Enter');
  await dumb.shows(/^some \*\*words\*\*$/m);
  const plain = await chat(t, { words: ['--model', 'demo/echo'], env: env({ NO_COLOR: '1' }) });
  plain.type('some **words**');
  plain.press('Enter');
  await plain.shows(/^some \*\*words\*\*$/m);
  assert.ok(!/\x1b\[[0-9;]*m/.test(plain.tmux('capture-pane', '-e', '-p', '-t', 'a').stdout));
});

test('the server ends in good order', () => endsWell(server));
