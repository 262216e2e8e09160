// Pictures of the workbench and the quieter pages, in both languages and themes, on a desk and in a hand. They are made
// where PARLEY_PICTURES names a directory: PARLEY_PICTURES=docs/guide/pictures node --test tests/page/pictures.test.mjs
import { join } from 'node:path';
import test from 'node:test';
import { ask, example, field, lacks, person } from './bench.mjs';

const to = process.env.PARLEY_PICTURES;
const wanted = (process.env.PARLEY_PICTURES_OF ?? '').split(',').filter(Boolean);

async function fill() {
  const { id, latest } = await example({ name: 'code-audit', note: '从 OpenAI 导入' });
  const { content } = latest;
  const change = (fields, note) => ask('POST', `/api/prompts/${id}/versions`, { content: { ...content, ...fields }, note });
  await change({ system_prompt: '你是一位资深的代码审计专家。只报告能在代码里指出行号的问题。' }, '收紧输出格式：先结论后依据');
  await change({ config: { temperature: 0.7, max_tokens: 4096 } }, '去掉口号');
  await ask('PUT', `/api/prompts/${id}/labels/production`, { version: 2 });
  for (const name of ['依赖审查', 'threat-model']) await example({ name });
  await example({ name: 'weekly-digest', folder: '', is_pinned: true });
  const task = (title, cron, timezone = 'Asia/Shanghai') => ask('POST', '/api/scheduled-tasks', { title, cron, timezone, prompt: 'What is new?', model: 'demo/echo' });
  for (const [title, cron, zone] of [['Daily report', '0 9 * * MON-FRI'], ['Weekly digest', '30 8 * * MON'], ['Backup check', '30 2 * * SUN', 'America/New_York']]) {
    const { id: made } = await task(title, cron, zone);
    await ask('POST', `/api/scheduled-tasks/${made}/run`);
  }
  for (const words of ['Answers in tables where there is something to compare', '回答先给结论，再给依据', 'The build runs on Debian 12 with gcc and clang']) await ask('POST', '/api/memories', { content: words, type: words.includes('Debian') ? 'experience' : 'feedback' });
  return id;
}

test('pictures', { skip: lacks || (to ? false : 'PARLEY_PICTURES names no directory') }, async () => {
  const id = await fill();
  const pages = { workbench: `/p/${id}?m=demo/echo,demo/slow`, versions: `/p/${id}?tab=versions&diff=1`, export: `/p/${id}?tab=export`, tasks: '/t', memory: '/m', runs: '/r', extensions: '/x', settings: '/settings/models', keys: '/settings/keys', audit: '/audit' };
  for (const [lang, theme, phone] of [['en-US', 'light', false], ['zh-CN', 'dark', false], ['en-US', 'dark', true], ['zh-CN', 'light', true]]) {
    const one = await person({ lang, theme, phone });
    const page = await one.open(pages.workbench);
    await field(page, 'msg_3').waitFor();
    if (!phone) {
      await page.locator('[data-var=input_code] textarea').fill('import os, sys\ndef backup(path):\n    os.system("tar czf out.tgz " + path)\nbackup(sys.argv[1])');
      await field(page, 'msg_3').press('Control+Enter');
      await page.locator('[data-run="demo/slow"][data-status=done]').waitFor();
    }
    for (const [name, path] of Object.entries(pages)) {
      const file = `${name}-${phone ? 'phone' : 'desk'}-${theme}-${lang.slice(0, 2)}`;
      if (wanted.length && !wanted.includes(file)) continue;
      if (name !== 'workbench') await page.goto(path);
      await page.waitForLoadState('networkidle');
      await page.waitForFunction(() => !document.querySelector('.skel'));
      await page.screenshot({ path: join(to, `${file}.png`) });
    }
    await one.done();
  }
});
