// Help, manual pages, completion and tables in Chinese: complete and aligned by cells; output for programs stays unchanged.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { missing, run, shell } from './harness.mjs';
import { endsWell, serve } from './live.mjs';

const zh = { LC_ALL: 'zh_CN.UTF-8' };
const commands = [...run([]).out.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map((match) => match[1]);
const verbsOf = (command) => [...(run(['help', command]).out.split('\nActions\n')[1] ?? '').split('\n\n')[0].matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
const topics = [[], ...commands.flatMap((command) => [[command], ...verbsOf(command).map((verb) => [command, verb])])];

const wide = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;
const cells = (line) => [...line].reduce((n, c) => n + (wide.test(c) ? 2 : 1), 0);
const hasChinese = (text) => /[\u4e00-\u9fff]/.test(text);

test('--lang, LC_ALL, LC_MESSAGES and LANG choose the language of help', () => {
  const none = { LC_ALL: '', LC_MESSAGES: '', LANG: '' };
  const chinese = run(['--lang', 'zh', 'help']).out;
  assert.ok(hasChinese(chinese));
  for (const env of [{ LC_ALL: 'zh_CN.UTF-8' }, { LC_MESSAGES: 'zh_CN.UTF-8' }, { LANG: 'zh_TW' }])
    assert.equal(run(['help'], { env: { ...none, ...env } }).out, chinese);
  assert.equal(run(['help', '--lang', 'zh']).out, chinese);
  assert.ok(!hasChinese(run(['--lang', 'en', 'help'], { env: zh }).out));
});

test('every way to ask for help of a command gives the same', () => {
  const help = run(['help', 'prompt', 'run'], { env: zh });
  assert.equal(run(['prompt', 'run', '--help'], { env: zh }).out, help.out);
  assert.equal(help.code, 0);
  assert.match(help.out, /^用法\n {2}parley prompt run \[选项\]\.\.\. ID$/m);
});

test('help in Chinese has no line of more than 80 cells, but for what is typed and lists of values', () => {
  for (const words of topics)
    for (const line of run(['help', ...words], { env: zh }).out.split('\n'))
      if (!/^ {2}parley |^ {2}--[a-z-]+ .*（/.test(line)) assert.ok(cells(line) <= 80, `${words.join(' ')}: ${line}`);
});

test('help in Chinese has every option and example of the English', () => {
  const typed = (text) => text.split('\n').flatMap((line) => line.match(/^ {2}(?:-\w, )?--[a-z-]+|^ {2}parley .*\w$/)?.[0] ?? []).filter((line) => !/[[\]]/.test(line));
  for (const words of topics.filter((one) => one.length))
    assert.deepEqual(typed(run(['help', ...words], { env: zh }).out).filter((line) => !hasChinese(line)),
      typed(run(['help', ...words]).out).filter((line) => !/ FILE| VIDEO| ID$| NAME| [A-Z]+$/.test(line)), words.join(' '));
});

test('every sentence of help in Chinese is Chinese', () => {
  for (const words of topics)
    for (const line of run(['help', ...words], { env: zh }).out.split('\n'))
      if (/[a-z]{3,} [a-z]{2,} [a-z]{2,}/.test(line) && !/^ {2}parley /.test(line)) assert.ok(hasChinese(line), `${words.join(' ')}: ${line}`);
});

const known = /first section is not "NAME"|description line outside NAME section|referenced manual not found/;
for (const [program, line] of [['mandoc', 'mandoc -Tlint -Wwarning'], ['groff', 'groff -Kutf8 -mandoc -ww -Tutf8 2>&1 >/dev/null']])
  test(`${program} finds no fault in the manual pages in Chinese`, { skip: missing(program) }, () => {
    for (const command of ['', ...commands]) {
      const { out, err } = shell(`"$P" --lang zh help --man ${command} | ${line}`);
      assert.deepEqual(`${out}${err}`.split('\n').filter((one) => one && !known.test(one)), [], command);
    }
  });

for (const [program, line] of [['mandoc', 'mandoc -Tutf8'], ['groff', 'groff -Kutf8 -mandoc -Tutf8 -rLL=78n -P-cbou']])
  test(`${program} renders the manual pages in Chinese, with every section and lines that end in time`, { skip: missing(program) }, () => {
    const most = program === 'groff' ? 80 : 110; // mandoc breaks Chinese only after punctuation
    for (const command of ['', ...commands]) {
      const page = shell(`"$P" --lang zh help --man ${command} | ${line}`).out.replace(/.\x08/g, '');
      for (const heading of ['名称', '概要', '描述', '环境变量', '退出状态', '示例', '另见']) assert.match(page, new RegExp(`^${heading}$`, 'm'), command);
      assert.ok(!/\\[:c*&]|zb/.test(page), `${command}: an escape is shown`);
      for (const one of page.split('\n')) if (hasChinese(one)) assert.ok(cells(one) <= most, `${command}: ${one}`);
    }
  });

test('groff puts no space between Chinese characters', { skip: missing('groff') }, () => {
  const page = shell('"$P" --lang zh help --man serve | groff -Kutf8 -mandoc -Tutf8 -P-cbou').out.replace(/\s*\n\s*/g, '');
  assert.ok(page.includes('每个选项也可以写成配置文件中的一行'), page.slice(0, 2000));
});

test('completion in Chinese has the words of the English and Chinese descriptions', { skip: missing('zsh') }, () => {
  const script = run(['completion', 'zsh'], { env: zh });
  assert.ok(script.out.includes("'chat:在终端里与模型对话'"));
  assert.equal(run(['completion', 'bash'], { env: zh }).out, run(['completion', 'bash']).out);
  assert.equal(shell('LC_ALL=zh_CN "$P" completion zsh | zsh -n').code, 0);
  const options = (text) => [...text.matchAll(/'\*?--([a-z-]+)\[/g)].map(([, name]) => name);
  assert.deepEqual(options(script.out), options(run(['completion', 'zsh']).out));
});

let server;
const home = mkdtempSync(join(tmpdir(), 'parley-zh-'));
const env = (more) => ({ PARLEY_DATA: server.data, HOME: home, TZ: 'UTC', ...more });
before(async () => { server = await serve(); });
after(() => rmSync(home, { recursive: true, force: true }));

test('tables have Chinese headings and states, aligned by cells', () => {
  const id = run(['session', 'new', '--intent', '名字 and words'], { env: env() }).out.trim();
  const lines = run(['session', 'list'], { env: env(zh) }).out.trimEnd().split('\n');
  assert.match(lines[0], /^ID +状态 +改动时间 +模型 +意图$/);
  const row = lines.find((line) => line.startsWith(id));
  const column = (line, word) => cells(line.slice(0, line.indexOf(word)));
  assert.equal(column(row, '新建'), column(lines[0], '状态'));
  assert.equal(column(row, '名字'), column(lines[0], '意图'));
  assert.match(run(['session', 'show', id], { env: env(zh) }).out, /^ {2}意图 {6}名字 and words\n {2}状态 {6}新建$/m);
});

test('what is for machines is the same in every language', () => {
  const lines = [['version', '--json'], ['models', '--json'], ['models', 'show', 'demo/echo', '--json'], ['session', 'list', '--json'],
    ['session', 'list', '--format', 'id,status'], ['models', '--format', 'model,state'], ['user', 'list', '--json'], ['task', 'explain', '0 9 * * *', '--from', '2026-01-01T00:00:00Z', '--json']];
  for (const words of lines) {
    const english = run(words, { env: env({ LC_ALL: 'C' }) }), chinese = run(words, { env: env(zh) });
    assert.equal(english.code, 0, words.join(' ') + english.err);
    assert.equal(chinese.out, english.out, words.join(' '));
  }
});

test('the server ends in good order', () => endsWell(server));
