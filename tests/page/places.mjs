// A server with content on every page, and the list of all pages: for the pictures, and for axe-core.
import assert from 'node:assert/strict';
import { run } from '../e2e/harness.mjs';
import { script, until } from './browser.mjs';

const audit = (system) => ({
  protocol: 'structured-chat', system_prompt: system,
  messages: [
    { id: 'msg_1', role: 'user', content: '这是一段有漏洞的 Python 代码：\n```python\nprint(eval(input()))\n```' },
    { id: 'msg_2', role: 'assistant', content: '这段代码存在严重的安全漏洞。`eval()` 函数可以执行任意代码...' },
    { id: 'msg_3', role: 'user', content: '实际任务：请审计以下代码：\n{{input_code}}' },
  ],
  config: { temperature: 0.7, max_tokens: 4096 },
});

async function library(ask) {
  const make = (name, folder, more = {}) => ask('POST', '/api/prompts', { name, folder, type: 'structured', content: audit('你是一位资深的代码审计专家...'), ...more });
  const { id } = await make('code-audit', 'security', { note: '从 OpenAI 导入' });
  const change = (system, note) => ask('POST', `/api/prompts/${id}/versions`, { content: audit(system), note });
  await change('你是一位资深的代码审计专家。只报告能在代码里指出行号的问题。', '收紧输出格式：先结论后依据');
  await change('你是一位资深的代码审计专家。只报告能指出行号的问题，先结论，后依据。', '去掉口号');
  await ask('PUT', `/api/prompts/${id}/labels/production`, { version: 2 });
  for (const name of ['依赖审查', 'threat-model']) await make(name, 'security');
  await make('reply-to-customer', 'support');
  await make('weekly-digest', '', { is_pinned: true });
  return id;
}

// All kinds of content of a turn, up to an unanswered question.
const agent = script(
  'think Plan first; read the two files that touch the outside; ask before writing anything.',
  'block planning_enter null',
  'block plan_status {"title":"Audit app/","steps":[{"id":"1","title":"List the files","status":"done"},{"id":"2","title":"Read the two risky ones","status":"done"},{"id":"3","title":"Have a helper check them","status":"in_progress"},{"id":"4","title":"Write report.html","status":"pending"}]}',
  'block planning_exit null', 'block mode_change {"from":"planning","to":"executing"}',
  'say I look at the two files that touch the outside world, both at once.',
  'call echo {"path":"app/run.py","lines":3}', 'call clock {}', 'call calc {"expression":"(1+2"}', '---',
  'block tool_bridge {"action":"editor.reveal","payload":{"file":"app/run.py","line":12}}',
  'block system_notification "Context is at 71 %. It will be summed up at 80 %."',
  'say Two findings so far. `eval()` on line 12 of `run.py` is **critical**.',
  'call Agent {"prompt":"#!demo\\nsay Both hold: the argument of `eval` comes from the query string.","description":"Check the two findings"}', '---',
  'call AskUserQuestion {"questions":[{"question":"Which format should the report have?","header":"Format","options":[{"label":"HTML","description":"can be previewed beside"},{"label":"Markdown","description":"fits into the repository"}]}]}');

async function sessions(server, ask) {
  const begin = async (intent, message, model = 'demo/echo') => {
    const { id } = await ask('POST', '/api/sessions', { model, intent });
    await ask('POST', `/api/sessions/${id}/chat`, { message });
    return id;
  };
  const ended = (id, as) => until(async () => (await ask('GET', `/api/sessions/${id}`)).status === as, () => `${id} is not ${as}`);
  const done = await begin('把合同条款翻成表格', '请把这三条合同条款翻成表格：付款、交付、违约。');
  await ended(done, 'completed');
  await ended(await begin('Import the old library', script('fail The vendor refused the key.'), 'demo/agent'), 'failed');
  await ended(await begin('Revenue 2023 against 2022', 'Compare the revenue of 2023 with that of 2022.'), 'completed');
  const talk = await begin('Audit app/ and report', agent, 'demo/agent');
  await ended(talk, 'waiting_for_input');
  return { talk, shared: `/share/${(await ask('PATCH', `/api/sessions/${done}`, { shared: true })).share.token}` };
}

async function tasks(ask) {
  const make = (title, cron, timezone = 'Asia/Shanghai') => ask('POST', '/api/scheduled-tasks', { title, cron, timezone, prompt: 'What is new since yesterday?', model: 'demo/echo' });
  for (const [title, cron, zone] of [['Daily report', '0 9 * * MON-FRI'], ['Weekly digest', '30 8 * * MON'], ['Backup check', '30 2 * * SUN', 'America/New_York']]) {
    const { id } = await make(title, cron, zone);
    await ask('POST', `/api/scheduled-tasks/${id}/run`);
    await until(async () => (await ask('GET', `/api/scheduled-tasks/${id}/runs`)).items[0]?.status === 'completed', () => `${title} did not run`);
  }
}

async function memories(ask) {
  const all = ['Answers in tables where there is something to compare', '回答先给结论，再给依据；数字带单位', 'The build runs on Debian 12 with gcc and clang'];
  for (const words of all) await ask('POST', '/api/memories', { content: words, topic: words.includes('Debian') ? 'build' : null, type: words.includes('Debian') ? 'experience' : 'feedback' });
}

/** Fills the server; returns for every page its address, and an element that appears when it is loaded. */
export async function places(server) {
  const ask = async (method, path, body) => {
    const answer = await server.ask(method, path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const prompt = await library(ask);
  const { talk, shared } = await sessions(server, ask);
  await tasks(ask);
  await memories(ask);
  const added = run(['ext', 'add', 'demo', '--yes'], { env: { PARLEY_DATA: server.data } });
  assert.equal(added.code, 0, added.err);
  await ask('POST', '/api/user/api-keys', { name: 'laptop' });
  await ask('POST', '/api/users', { name: 'ada' });
  return {
    prompt, talk,
    list: [
      ['first', '/?home', '.three'], ['library', '/p', '.list a', { phone: true }],
      ['workbench', `/p/${prompt}?m=demo/echo,demo/slow`, '[data-block-id=msg_3] textarea', { act: runBoth }],
      ['versions', `/p/${prompt}?tab=versions&diff=1`, 'ins, del'], ['export', `/p/${prompt}?tab=export`, '.extext'],
      ['sessions', '/s', '.list a, .biglist a'], ['session', `/s/${talk}`, '[data-question]', { act: contextRead }],
      ['viewer', '/v', '.drop, .dropzone, main .body'], ['envelope', '/v', '[data-loss]', { open: 'revenue.envelope.json' }],
      ['runs', '/r', '[data-run-id]'], ['memory', '/m', '[data-memory]'], ['tasks', '/t', '[data-task], [data-occurrence]'],
      ['agenda', '/t?view=agenda', '[data-occurrence]'], ['extensions', '/x/demo', '[data-cap]'],
      ...['models', 'keys', 'users', 'data', 'appearance', 'keyboard', 'about'].map((part) => [part, `/settings/${part}`, 'main h1, main h2']),
      ['audit', '/audit', '[data-audit]'], ['share', shared, '[data-turn]'],
      ['palette', '/m', '[role=dialog] [role=option], dialog [role=option]', { key: 'Control+k' }], ['keysheet', '/m', 'dialog kbd', { key: '?' }],
    ].map(([name, path, shows, how = {}]) => ({ name, path, shows, ...how })),
  };
}

/** Both models answer next to the blocks; on a phone the blocks stay. */
async function runBoth(page) {
  if (await page.locator('.phoneseg').count()) return;
  await page.locator('[data-var=input_code] textarea').fill('import os, sys\ndef backup(path):\n    os.system("tar czf out.tgz " + path)\nbackup(sys.argv[1])');
  await page.locator('[data-block-id=msg_3] textarea').press('Control+Enter');
  for (const model of ['demo/echo', 'demo/slow']) await page.locator(`[data-run="${model}"][data-status=done]`).waitFor();
}

/** The context is requested a moment after the turns: it appears in the panel next to them, on a phone as a share in the bar. */
async function contextRead(page) {
  if (await page.locator('.ring').count()) return void await page.locator('.ring[data-read]').waitFor();
  await page.locator('[data-context=history]').waitFor();
  await page.locator('[data-span=wait]').first().waitFor({ state: 'attached' });
}

/** Opens one of them, and waits until it is complete. */
export async function show(page, { path, shows, open, key, act }) {
  await page.goto(path);
  await page.waitForSelector('body[data-page] main');
  if (open) await page.getByRole('button', { name: open }).first().click();
  if (key) {
    await page.waitForLoadState('networkidle');
    await page.keyboard.press(key);
  }
  await page.locator(shows).first().waitFor({ state: 'attached' });
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => !document.querySelector('.skel'));
  await act?.(page);
}
