// Commands that need a server but find none running start one themselves. It is shared, and ends with its last command.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory as root, parley } from './harness.mjs';
import { until } from './waiting.mjs';

const directory = () => mkdtempSync(join(root, 'alone-'));
const env = (data, more = {}) => ({ ...process.env, PARLEY_DATA: data, XDG_CONFIG_HOME: data, PARLEY_SERVER: '', ...more });
const run = (data, words, input = '', more) => spawnSync(parley, words, { input, encoding: 'utf8', env: env(data, more) });

// The servers on a data directory, from /proc.
function serversOn(data) {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words[1] === 'serve' && words.includes(data) && readlinkSync(`/proc/${pid}/exe`);
    } catch {
      return false; // it has ended
    }
  });
}

function start(data, words) {
  const child = spawn(parley, words, { env: env(data) });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => { said.out += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { said.err += text; });
  const exited = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...said })));
  return { child, said, exited };
}

test('parley chat needs nothing before it, keeps the session, and leaves no server', () => {
  const data = join(directory(), 'new');
  const first = run(data, ['chat'], 'hello there\n');
  assert.deepEqual([first.status, first.stdout, first.stderr], [0, 'hello there\n', '']);
  assert.deepEqual(serversOn(data), []);
  const again = run(data, ['chat', '--session', 'last'], 'and again\n');
  assert.deepEqual([again.status, again.stdout], [0, 'and again\n'], again.stderr);
});

test('parley run answers without a server and leaves no session', () => {
  const data = join(directory(), 'new');
  const { status, stdout, stderr } = run(data, ['run', '-'], 'one question');
  assert.deepEqual([status, stdout, stderr], [0, 'one question\n', '']);
  assert.deepEqual(serversOn(data), []);
  assert.match(run(data, ['chat', '--session', 'last'], 'hi\n').stderr, /no session to continue/);
});

test('commands that run at the same time share one server, and all get their answers', async () => {
  const data = join(directory(), 'new');
  const runs = Array.from({ length: 8 }, () => start(data, ['run', '-']));
  runs.forEach(({ child }, i) => child.stdin.end(`question ${i}`));
  for (const [i, { exited }] of runs.entries()) assert.deepEqual(await exited, { code: 0, signal: null, out: `question ${i}\n`, err: '' });
  await until(() => !serversOn(data).length, 'no server is left');
});

test('the command that started the server may leave before the others', async () => {
  const data = join(directory(), 'new');
  const first = start(data, ['chat']);
  first.child.stdin.write('begin\n');
  await until(() => first.said.out.includes('begin'), 'the first answer');
  const second = start(data, ['chat']);
  second.child.stdin.write('also here\n');
  await until(() => second.said.out.includes('also here'), 'the second answer');
  assert.equal(serversOn(data).length, 1);
  first.child.stdin.end();
  assert.equal((await first.exited).code, 0);
  second.child.stdin.end('still here\n');
  assert.deepEqual(await second.exited, { code: 0, signal: null, out: 'also here\nstill here\n', err: '' });
  await until(() => !serversOn(data).length, 'no server is left');
});

test('a command that is killed leaves no server either', async () => {
  const data = join(directory(), 'new');
  const { child, said, exited } = start(data, ['chat']);
  child.stdin.write('hello\n');
  await until(() => said.out.includes('hello'), 'the answer');
  child.kill('SIGKILL');
  assert.equal((await exited).signal, 'SIGKILL');
  await until(() => !serversOn(data).length, 'no server is left');
  assert.equal(run(data, ['chat', '--session', 'last'], 'on\n').stdout, 'on\n');
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  test(`${signal} stops what parley run asked for, and leaves neither session nor server`, async () => {
    const data = join(directory(), 'new');
    const watching = start(data, ['chat']); // so that the server outlives the command
    watching.child.stdin.write('watch\n');
    await until(() => watching.said.out.includes('watch'), 'the first answer');
    const { child, said, exited } = start(data, ['run', '-', '--model', 'demo/slow']);
    child.stdin.end(Array.from({ length: 4000 }, (_, i) => `word${i}`).join(' '));
    await until(() => said.out.includes('word3'), 'the beginning of the answer');
    child.kill(signal);
    assert.equal((await exited).code, 1);
    const { items } = JSON.parse(run(data, ['session', 'list', '--json']).stdout);
    assert.deepEqual(items.map(({ intent }) => intent), ['watch']);
    watching.child.stdin.end();
    assert.equal((await watching.exited).code, 0);
    await until(() => !serversOn(data).length, 'no server is left');
  });

test('parley run ends on every refusal, with the reason', () => {
  const data = join(directory(), 'new');
  const refusals = [
    ['', [], /<stdin>: the last message is empty/],
    ['a\0b', [], /<stdin>: it has a NUL character/],
    ['hello', ['--model', 'nosuch/model'], /no model nosuch\/model/],
    ['hello', ['--model', 'demo/echo', '--model', 'nosuch/model'], /no model nosuch\/model/],
  ];
  for (const [input, words, why] of refusals) {
    const { status, stdout, stderr } = run(data, ['run', '-', ...words], input);
    assert.deepEqual([status, stdout], [1, ''], `${JSON.stringify(input)}: ${stderr}`);
    assert.match(stderr, why);
  }
  assert.match(run(data, ['chat', '--session', 'last'], 'hi\n').stderr, /no session to continue/);
});

test('a server that cannot be started, a wrong configuration, and a named server that is away: exit 4 or 2, with the reason', () => {
  const data = directory();
  const file = join(data, 'file');
  writeFileSync(file, '');
  const blocked = run(join(file, 'data'), ['chat'], 'hi\n');
  assert.deepEqual([blocked.status, blocked.stdout], [4, '']);
  assert.match(blocked.stderr, /cannot be created|Not a directory/);
  const config = join(data, 'wrong.yaml');
  writeFileSync(config, 'modle: demo/echo\n');
  const wrong = run(join(data, 'new'), ['run', '-'], 'hi', { PARLEY_CONFIG: config });
  assert.notEqual(wrong.status, 0);
  assert.match(wrong.stderr, /modle/);
  const away = run(join(data, 'away'), ['chat', '--server', 'http://127.0.0.1:1'], 'hi\n');
  assert.equal(away.status, 4);
  assert.ok(!existsSync(join(data, 'away')), 'nothing is started for another server');
});
