// Shared by the tests of the workbench: a server, a person with several tabs, the example of seed 002, and the places of
// blocks in the page.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { noBrowser, serve, visit } from './browser.mjs';

/** The reason why the page cannot be tested here; false: it can. */
export const lacks = noBrowser;
export const at = lacks ? null : await serve();
after(async () => { await at?.stop(); });

/** A signed-in person with a clean profile and any number of tabs. `allow` matches console messages that the test provokes. */
export async function person({ allow, ...options } = {}) {
  const one = await visit(at, { timezoneId: 'Asia/Shanghai', allow, ...options });
  await one.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: at.url.replace(/\/$/, '') });
  let isFirst = true;
  const open = async (path) => {
    const page = isFirst ? one.page : await one.context.newPage();
    if (!isFirst) {
      page.on('console', (message) => { if (!allow?.test(message.text())) one.said.push(`${message.type()}: ${message.text()}`); });
      page.on('pageerror', (error) => one.said.push(`error: ${error.stack}`));
    }
    isFirst = false;
    page.setDefaultTimeout(60_000);
    await page.goto(path);
    return page;
  };
  return { context: one.context, open, done: one.close };
}

export const ask = async (method, path, body) => {
  const answer = await at.ask(method, path, body === undefined ? {} : { body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
};

let n = 0;
/** The example of seed 002, under its own name. */
export const example = async (fields = {}, content = {}) => ask('POST', '/api/prompts', {
  name: `audit ${++n}`, folder: 'security', type: 'structured', ...fields,
  content: {
    protocol: 'structured-chat', system_prompt: '你是一位资深的代码审计专家...',
    messages: [
      { id: 'msg_1', role: 'user', content: '这是一段有漏洞的 Python 代码：\n```python\nprint(eval(input()))\n```' },
      { id: 'msg_2', role: 'assistant', content: '这段代码存在严重的安全漏洞。`eval()` 函数可以执行任意代码...' },
      { id: 'msg_3', role: 'user', content: '实际任务：请审计以下代码：\n{{input_code}}' },
    ],
    config: { temperature: 0.7 }, ...content,
  },
});

export const ids = (page) => page.locator('.blocks [data-block-id]').evaluateAll((nodes) => nodes.map((node) => node.dataset.blockId).filter((id) => id !== 'system'));
export const field = (page, id) => page.locator(`[data-block-id="${id}"] textarea`);
/** Waits until the server has stored the draft. */
export const kept = (page) => page.locator('[data-kept=kept]').waitFor({ state: 'attached' });
