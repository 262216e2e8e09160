// parley run with additions from the command line, and with checks of the answer.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parley } from './harness.mjs';
import { clientOf, endsWell, script, serve } from './live.mjs';
import { Tmux } from './tmux.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});
const files = mkdtempSync(join(tmpdir(), 'parley-checks-'));
after(() => rmSync(files, { recursive: true, force: true }));
const file = (name, text) => {
  writeFileSync(join(files, name), text);
  return join(files, name);
};
const run = (input, ...words) => {
  const { status, stdout, stderr } = spawnSync(parley, ['run', '-', '--model', 'demo/echo', ...words], {
    input, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: server.data, LC_ALL: 'C.UTF-8', PARLEY_DATA: server.data },
  });
  return { code: status, out: stdout, err: stderr };
};
const count = async () => (await (await client.request('GET', '/api/sessions?limit=1')).json()).total;

const ask = (...words) => {
  const { status, stdout, stderr } = spawnSync(parley, ['run', '--model', 'demo/echo', ...words], {
    input: '', encoding: 'utf8', cwd: files, env: { PATH: process.env.PATH, HOME: server.data, LC_ALL: 'C.UTF-8', PARLEY_DATA: server.data },
  });
  return { code: status, out: stdout, err: stderr };
};

test('words that are no name are the text itself', async () => {
  const before = await count();
  for (const text of ['Say hello to Ada', 'Why?', '你好。', 'two\nlines', 'Is e.g. 1/2 a half?', 'word '.repeat(20000) + 'end']) assert.deepEqual(ask(text), { code: 0, out: `${text}\n`, err: '' });
  assert.equal(ask('Hello {{name}}, again', '--var', 'name=Ada').out, 'Hello Ada, again\n');
  const checked = ask('Say hello', '--expect', 'lacks:hello');
  assert.deepEqual([checked.code, checked.out], [1, 'Say hello\n']);
  assert.equal(await count(), before, 'no session is left');
});

test('a file and a prompt of the library come before a text', async () => {
  file('a file', 'from the file');
  assert.equal(ask('a file').out, 'from the file\n');
  await client.request('POST', '/api/prompts', { name: 'weekly report', type: 'text', content: 'from the library' });
  assert.equal(ask('weekly report').out, 'from the library\n');
  assert.equal(ask('weekly report', '--expect', 'contains:library').out, 'from the library\n');
});

test('what reads as a name is never sent as a text', () => {
  for (const word of ['Hello', 'my notes.txt', 'weekly', '用一句话']) {
    const { code, out, err } = ask(word);
    assert.deepEqual([code, out], [1, ''], word);
    assert.match(err, new RegExp(`there is no prompt "${word}"`));
  }
  const { code, err } = ask('Say hello', '--version', '2');
  assert.equal(code, 2);
  assert.match(err, /--version works only for a prompt of the library, but "Say hello" is a text/);
  assert.match(ask('Say {{x}} now').err, /the text: .*x/);
});

test('-s gives the system prompt', () => {
  const { code, out, err } = run(script('told'), '--model', 'demo/agent', '-s', 'Be kind.');
  assert.equal(code, 0, err);
  assert.match(out, /## demo\/agent\n\nBe kind\.\n/);
});

test('-a sends text as words and a picture as a blob', async () => {
  const { code, out, err } = run('look', '-a', file('notes.txt', 'from a file'), '-a', file('more.csv', 'a,b'));
  assert.equal(code, 0, err);
  assert.match(out, /look[^]*notes\.txt:\nfrom a file[^]*more\.csv:\na,b/);
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  const picture = run('what is this', '-a', file('dot.png', png));
  assert.equal(picture.code, 0, picture.err);
  assert.match(run('x', '-a', join(files, 'none.txt')).err, /none\.txt/);
  assert.match(run('x', '-a', file('odd.bin', Buffer.from([0, 255]))).err, /neither text .* nor a picture/);
});

test('--var NAME=@FILE is what the file contains, and @@ is one @', () => {
  assert.equal(run('[{{text}}]', '--var', `text=@${file('value.txt', 'two\nlines')}`).out, '[two\nlines]\n');
  assert.equal(run('[{{text}}]', '--var', 'text=@@bob').out, '[@bob]\n');
  const missing = run('[{{text}}]', '--var', 'text=@nothing.here');
  assert.equal(missing.code, 3);
  assert.match(missing.err, /nothing\.here[^]*write @@ for one @/);
});

const schema = () => file('schema.json', '{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}');

test('--schema asks for JSON and checks that it came', () => {
  assert.deepEqual([run('{"n":1}', '--schema', schema()).code, run('{"n":1}', '--schema', schema()).out], [0, '{"n":1}\n']);
  const wrong = run('{"n":"x"}', '--schema', schema());
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /demo\/echo: the answer breaks .*schema\.json: .*\(at \/n\)/);
  assert.match(run('words', '--schema', schema()).err, /the answer is not JSON/);
  const bad = run('x', '--schema', file('bad.json', '{"type":7}'));
  assert.equal(bad.code, 3);
  assert.match(bad.err, /nothing was asked/);
});

const checks = [
  ['hello world', 'contains:world', 0],
  ['hello world', 'contains:moon', 1, /demo\/echo: the answer does not contain "moon"/],
  ['hello world', 'lacks:moon', 0],
  ['hello world', 'lacks:world', 1, /the answer contains "world"/],
  ['hello 42', 'regex:^hello \\d+$', 0],
  ['hello', 'regex:\\d', 1, /does not match the regular expression \\d/],
  ['hello', 'regex:(', 2, /--expect regex/],
  ['hello', 'model-graded:demo/echo=PASS if it greets', 0],
  ['hello', 'model-graded:demo/echo=It is rude', 1, /does not meet "It is rude"/],
  ['{{{}', 'contains:{{{', 0],
  ['hello', 'model-graded:demo/echo', 2, /model-graded:MODEL=CRITERION/],
  ['hello', 'contain:x', 2, /did you mean "contains"\?/],
  ['hello', 'contains:', 2, /needs a text/],
];
for (const [input, check, code, why] of checks)
  test(`--expect ${check} on ${JSON.stringify(input)} is exit code ${code}`, () => {
    const result = run(input, '--expect', check);
    assert.equal(result.code, code, result.err);
    if (why) assert.match(result.err, why);
    else assert.equal(result.err, '');
  });

test('several models: each is checked, and at a terminal says what it took', async (t) => {
  const { code, err } = run('twice', '--model', 'demo/slow', '--expect', 'contains:twice', '--expect', 'lacks:x');
  assert.deepEqual([code, err], [0, '']);
  const env = { PATH: process.env.PATH, HOME: server.data, LC_ALL: 'C.UTF-8', PARLEY_DATA: server.data, TERM: 'tmux-256color' };
  const one = new Tmux(t, [parley, 'run', file('two.txt', 'twice'), '--model', 'demo/echo', '--model', 'demo/slow'], { env });
  await one.shows(/^demo\/echo +demo\/slow\ntwice +twice\n\d+\.\d s, \d+ tokens in, \d+ out +\d+\.\d s, /m);
  await one.shows(/^exit 0$/m);
});

test('a prompt of the library is checked like a file', async () => {
  await client.request('POST', '/api/prompts', { name: 'greeting', type: 'text', content: 'Hi {{name:you}}' });
  const ask = (...words) => spawnSync(parley, ['run', 'greeting', '--model', 'demo/echo', ...words], { encoding: 'utf8', env: { PATH: process.env.PATH, PARLEY_DATA: server.data } });
  const good = ask('--expect', 'contains:Hi Ada', '--var', 'name=Ada'), bad = ask('--expect', 'contains:x');
  assert.deepEqual([good.status, good.stdout, good.stderr], [0, 'Hi Ada\n', '']);
  assert.equal(bad.status, 1);
  assert.match(bad.stderr, /demo\/echo: the answer does not contain "x"/);
});

test('no run leaves a session', async () => assert.equal(await count(), 0));

test('the server ends in good order', () => endsWell(server));
