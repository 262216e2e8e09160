// parley chat in Chinese, on a terminal that tmux draws. Waits for text on the screen, never for time.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parley } from './harness.mjs';
import { clientOf, endsWell, script, serve } from './live.mjs';
import { Tmux } from './tmux.mjs';

let server;
let client;
const homes = [];
before(async () => {
  server = await serve();
  client = clientOf(server);
});
after(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

// The locale need not be installed: the program reads only its name.
async function chat(t, { words = ['--model', 'demo/agent'], more = { LANG: 'zh_CN.UTF-8' } } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'));
  homes.push(home);
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'tmux-256color', PARLEY_DATA: server.data, ...more };
  const one = new Tmux(t, [parley, 'chat', ...words], { env });
  await one.shows(/^> *$/m);
  return one;
}

const call = (name, input) => `call ${name} ${JSON.stringify(input)}`;
const asking = call('AskUserQuestion', { questions: [{ question: '哪种颜色？', options: [{ label: '红色' }, { label: '蓝色', description: '像大海' }] }] });
async function say(one, ...lines) {
  one.paste(script(...lines));
  await one.shows(new RegExp(`${lines.at(-1).slice(-12).replace(/[^\w ]/g, '\\$&')} *$`, 'm'));
  one.press('Enter');
}

test('a question and a confirmation are menus in Chinese', async (t) => {
  const one = await chat(t);
  await say(one, asking, call('publish', { title: 't', html: 'h' }), '---', 'results');
  await one.shows(/1\) 红色[^]*2\) 蓝色[^]*3\) 其他/);
  await one.looksLike('question_zh');
  one.press('Down', 'Enter');
  await one.shows(/y\) 是/);
  await one.looksLike('confirmation_zh');
  one.press('y');
  await one.shows(/\d 秒，输入 \d+ 词元，输出 \d+[^]*>$/);
  const { items } = await (await client.request('GET', '/api/sessions?limit=1')).json();
  const { turns } = await client.messages(items[0].id, { limit: '100' });
  assert.deepEqual(turns[1].tool_calls.map(({ status }) => status), ['done', 'done']);
});

test('thoughts, a tool that fails and the sum are in Chinese', async (t) => {
  const one = await chat(t);
  await say(one, 'think deep things', call('calc', { expression: '1/0' }), '---', 'say done now');
  await one.shows(/^done now$/m);
  await one.shows(/^\d+\.\d 秒，输入 \d+ 词元，输出 \d+$/m);
  assert.match(one.screen(), /^（思考了 \d+\.\d 秒；Ctrl-O 显示）$/m);
  assert.match(one.screen(), /^\[calc\] \{"expression":"1\/0"\} 失败：/m);
  one.press('C-o');
  await one.shows(/（思考）deep things/);
});

test('slash commands explain themselves in Chinese', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo', '--lang', 'zh'], more: { LC_ALL: 'C.UTF-8' } });
  one.type('/help');
  one.press('Enter');
  await one.shows(/\/quit[^]*>$/);
  await one.looksLike('slash_help_zh');
  one.type('/modle');
  one.press('Enter');
  await one.shows(/没有 \/modle；是否想写 \/model？/);
});

test('Ctrl-R searches in Chinese', async (t) => {
  const one = await chat(t, { words: ['--model', 'demo/echo'] });
  one.type('你好 one');
  one.press('Enter');
  await one.shows(/输入 \d+ 词元[^]*\n>$/);
  one.press('C-r');
  one.type('好');
  await one.shows(/^\(搜索：好\) 你好 one$/m);
});

test('Ctrl-C stops an answer, and says in Chinese how to end', async (t) => {
  const one = await chat(t);
  await say(one, 'say begun', 'wait 60000', 'say never');
  await one.shows(/^begun$/m);
  one.press('C-c');
  await one.shows(/已中断[^]*\n>$/);
  one.press('C-c');
  await one.shows(/再按 Ctrl-C/);
  one.press('C-c');
  await one.shows(/^exit 0$/m);
});

test('the server ends in good order', () => endsWell(server));
