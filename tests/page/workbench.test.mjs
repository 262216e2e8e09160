// The workbench as people use it: with keys only, with a mouse, by touch, in two tabs, in Chinese, on a phone.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ask, at, example, field, ids, kept, lacks, person } from './bench.mjs';

const options = { skip: lacks };

test('a few-shot prompt is built and run with the keyboard only', options, async () => {
  const one = await person();
  const page = await one.open('/p');
  // Its keys work when a prompt is open, or when it says that there is none.
  await page.locator('.blocks textarea, .empty button').first().waitFor();
  await page.keyboard.press('n');
  await page.locator('[data-role=system] textarea:focus').waitFor();
  await page.keyboard.type('You sort feedback.');
  for (const text of ['The app is great', 'praise', 'It crashes', 'bug', 'Sort: {{text}}']) {
    await page.keyboard.press('Control+Shift+Enter');
    await page.keyboard.type(text);
  }
  assert.deepEqual(await page.locator('.blocks [data-role]').evaluateAll((nodes) => nodes.map((node) => node.dataset.role)),
    ['system', 'user', 'assistant', 'user', 'assistant', 'user']);
  assert.equal(await page.getByRole('group', { name: /^Example \d$/ }).count(), 2);
  assert.equal(await page.getByRole('textbox', { name: 'User, block 5 of 5' }).count(), 1);
  await page.waitForURL(/\/p\/prompt_/);
  await kept(page);
  // Without a value it does not run, and focuses the missing value.
  await page.keyboard.press('Control+Enter');
  await page.locator('[data-var=text] textarea:focus').waitFor();
  await page.keyboard.type('I love it');
  await page.keyboard.press('Control+Enter');
  await page.locator('[data-run][data-status=done]').filter({ hasText: 'Sort: I love it' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('a');
  assert.equal(await page.locator('.blocks [data-role]').last().locator('textarea').inputValue(), 'Sort: I love it');
  await page.keyboard.press('Control+s');
  await page.locator('[data-toast]').filter({ hasText: 'Saved as v2' }).waitFor();
  const id = page.url().match(/prompt_[^?]+/)[0];
  const saved = await ask('GET', `/api/prompts/${id}`);
  assert.deepEqual(saved.latest.content.messages.map((message) => message.role), ['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  assert.equal(saved.latest.content.system_prompt, 'You sort feedback.');
  await one.done();
});

test('a selection becomes a variable, and Ctrl Z takes it back', options, async () => {
  const { id } = await example();
  const one = await person();
  const page = await one.open(`/p/${id}`);
  const text = field(page, 'msg_2');
  const before = await text.inputValue();
  await text.focus();
  await text.evaluate((node) => node.setSelectionRange(0, 4));
  await page.keyboard.press('{');
  assert.match(await text.inputValue(), /^\{\{[^}]+\}\}存在严重/);
  assert.equal(await page.locator('[data-var]').count(), 2);
  assert.equal(await page.locator('[data-var] textarea').first().inputValue(), '这段代码');
  await page.keyboard.press('Control+z');
  assert.equal(await text.inputValue(), before);
  await one.done();
});

test('a block moves by mouse, by finger, by key and by button; a bracket moves the pair', options, async () => {
  const { id } = await example();
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await field(page, 'msg_3').waitFor();
  const middle = async (locator) => { const box = await locator.boundingBox(); return { x: box.x + box.width / 2, y: box.y + box.height / 2, bottom: box.y + box.height }; };
  const grip = (block) => page.locator(`[data-block-id="${block}"] [data-grip]`);
  // By mouse: the last above the first.
  let from = await middle(grip('msg_3'));
  const first = await page.locator('[data-block-id=msg_1]').boundingBox();
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, first.y + 20, { steps: 6 });
  assert.equal(await page.locator('.between.gap').count(), 1);
  await page.mouse.up();
  assert.deepEqual(await ids(page), ['msg_3', 'msg_1', 'msg_2']);
  // Esc cancels.
  from = await middle(grip('msg_3'));
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, from.y + 300, { steps: 4 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  assert.deepEqual(await ids(page), ['msg_3', 'msg_1', 'msg_2']);
  // With keys, in the field and on the grip.
  await field(page, 'msg_3').focus();
  await page.keyboard.press('Alt+ArrowDown');
  assert.deepEqual(await ids(page), ['msg_1', 'msg_3', 'msg_2']);
  assert.ok(await field(page, 'msg_3').evaluate((node) => node === document.activeElement));
  await grip('msg_3').focus();
  await page.keyboard.press('ArrowDown');
  assert.deepEqual(await ids(page), ['msg_1', 'msg_2', 'msg_3']);
  await page.getByText('Block moved to place 3 of 3').waitFor({ state: 'attached' });
  // With buttons.
  await field(page, 'msg_2').focus();
  await page.locator('[data-block-id=msg_2]').getByRole('button', { name: 'Move up' }).click();
  assert.deepEqual(await ids(page), ['msg_2', 'msg_1', 'msg_3']);
  await page.locator('[data-block-id=msg_2]').getByRole('button', { name: 'Move down' }).click();
  // The bracket moves the pair.
  await page.getByRole('button', { name: 'Move example 1' }).focus();
  await page.keyboard.press('ArrowDown');
  assert.deepEqual(await ids(page), ['msg_3', 'msg_1', 'msg_2']);
  await one.done();

  const hand = await person({ phone: true });
  const phone = await hand.open(`/p/${(await example()).id}`);
  await field(phone, 'msg_3').waitFor();
  const cdp = await hand.context.newCDPSession(phone);
  const touch = (type, x, y) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  const held = await middle(phone.locator('[data-block-id=msg_1] [data-grip]'));
  const target = await middle(phone.locator('[data-block-id=msg_2]'));
  await touch('touchStart', held.x, held.y);
  for (const part of [0.3, 0.7, 1]) await touch('touchMove', held.x, held.y + (target.bottom - 4 - held.y) * part);
  await touch('touchEnd');
  await phone.waitForFunction(() => document.querySelector('.blocks [data-block-id]:not([data-block-id=system])').dataset.blockId === 'msg_2');
  assert.deepEqual(await ids(phone), ['msg_2', 'msg_1', 'msg_3']);
  await hand.done();
});

test('versions: the diff stands in the blocks, an old one is restored, a label moves', options, async () => {
  const { id } = await example();
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await field(page, 'msg_3').fill('实际任务：只看第一行。\n{{input_code}}');
  await page.locator('body').click({ position: { x: 5, y: 5 } });
  await page.keyboard.press('h');
  await page.getByPlaceholder('What changed? (optional)').fill('narrower');
  await page.keyboard.press('Control+s');
  await page.locator('[data-version="2"]').waitFor();
  await field(page, 'msg_1').fill('short');
  await page.locator('[data-version="1"] .vrow').click();
  await page.waitForURL(/diff=1/);
  await page.locator('[data-block-id=msg_3] ins').first().waitFor();
  assert.ok(await page.locator('[data-block-id=msg_1] del').count() > 0);
  assert.equal(await page.locator('[data-block-id=msg_2] :is(ins, del)').count(), 0);
  // The diff was requested once; the other view needs no new request.
  let asked = 0;
  page.on('request', (request) => { if (request.url().endsWith('/diff')) asked++; });
  await page.getByRole('button', { name: 'Side by side' }).click();
  await page.waitForLoadState('networkidle');
  assert.equal(asked, 0);
  assert.ok(await page.locator('.sides').count() >= 2);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes('diff'));
  await page.goForward();
  await page.getByRole('button', { name: 'Restore as a new version' }).click();
  await page.locator('[data-version="3"]').waitFor();
  assert.equal(await field(page, 'msg_1').inputValue(), '这是一段有漏洞的 Python 代码：\n```python\nprint(eval(input()))\n```');
  await page.getByRole('button', { name: 'More for v2' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Set production here' }).click();
  await page.locator('[data-version="2"]').getByText('production').waitFor();
  const now = await ask('GET', `/api/prompts/${id}`);
  assert.deepEqual([now.latest_version, now.labels.production, now.latest.restored_from], [3, 2, 1]);
  await one.done();
});

test('two models stream side by side, and one is stopped', options, async () => {
  const words = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ');
  const { id } = await example({}, { messages: [{ id: 'm', role: 'user', content: '{{text}}' }] });
  const one = await person();
  const page = await one.open(`/p/${id}?m=demo/echo,demo/slow`);
  await page.locator('[data-var=text] textarea').fill(words);
  await page.keyboard.press('Control+Enter');
  const slow = page.locator('[data-run="demo/slow"]');
  await page.locator('[data-run="demo/echo"][data-status=done]').waitFor();
  await page.locator('[data-run="demo/slow"][data-status=streaming]').filter({ hasText: 'word3' }).waitFor();
  await slow.getByRole('button', { name: 'Stop demo/slow' }).click();
  await page.locator('[data-run="demo/slow"][data-status=stopped]').waitFor();
  assert.ok((await slow.locator('[role=log]').textContent()).length < words.length);
  assert.ok((await page.locator('[data-run="demo/echo"] [role=log]').textContent()).includes('word399'));
  await page.getByRole('table', { name: 'Answers compared' }).waitFor();
  assert.equal(await page.getByText('Demo', { exact: true }).count() >= 2, true);
  assert.equal((await ask('GET', '/api/sessions')).total, 0);
  await one.done();
});

test('a Claude Code command is copied, with values and with names', options, async () => {
  const { id } = await example();
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await page.locator('[data-var=input_code] textarea').fill("it's $HOME");
  await page.keyboard.press('Escape');
  await page.keyboard.press('e');
  await page.locator('.extext').waitFor();
  await page.keyboard.press('e');
  await page.keyboard.press('c');
  await page.locator('[data-toast]').filter({ hasText: /Copied\. \d+ lines\./ }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^claude -p --system-prompt='你是一位/);
  assert.ok(copied.includes(`it'\\''s $HOME`) || copied.includes(`it'"'"'s $HOME`), copied);
  // earlier turns are put between tags, and the command has no option for one setting
  assert.deepEqual(await page.locator('[data-loss]').evaluateAll((all) => all.map(({ dataset }) => dataset.loss)), ['approximated', 'dropped']);
  await page.getByRole('button', { name: 'With {{names}}' }).click();
  await page.locator('.extext').filter({ hasText: '{{input_code}}' }).waitFor();
  await page.locator('[data-form=yaml]').click();
  await page.locator('.extext').filter({ hasText: 'modelParameters:' }).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /^Download / }).click()]);
  assert.match(file.suggestedFilename(), /\.prompt\.yml$/);
  await one.done();
});

test('two tabs: an untouched one follows, a touched one is asked, and nothing is lost', options, async () => {
  const { id } = await example();
  const one = await person({ allow: /412/ });
  const [left, right] = [await one.open(`/p/${id}`), await one.open(`/p/${id}`)];
  await field(right, 'msg_3').waitFor();
  await right.locator('body[data-conn=ok]').waitFor();
  await field(left, 'msg_3').fill('left wrote');
  await kept(left);
  await right.getByText('Changed in another tab. You see the newest.').waitFor();
  assert.equal(await field(right, 'msg_3').inputValue(), 'left wrote');
  // Both write: the later one has to choose. What the right tab keeps arrives second: without that, a slow machine could
  // show it the left tab's words before it has any of its own.
  let release;
  const held = new Promise((go) => { release = go; });
  await right.route('**/draft', async (route) => { await held; await route.continue(); });
  await field(right, 'msg_3').fill('right at once');
  await field(left, 'msg_3').fill('left again');
  await kept(left);
  release();
  const asked = right;
  await asked.locator('[data-conflict=msg_3]').waitFor();
  const mine = await field(asked, 'msg_3').inputValue();
  await asked.locator('[data-conflict=msg_3]').getByRole('radio', { name: 'Merge' }).check();
  await asked.getByRole('button', { name: 'Go on with this' }).click();
  await kept(asked);
  const merged = (await ask('GET', `/api/prompts/${id}/draft`)).content.messages.at(-1).content;
  assert.ok(merged.includes('left again') && merged.includes('right at once') && merged.includes(mine), merged);
  // A version saved meanwhile by someone else.
  await ask('POST', `/api/prompts/${id}/versions`, { content: { protocol: 'structured-chat', system_prompt: 'theirs', messages: [] } });
  await asked.keyboard.press('Control+s');
  await asked.getByRole('heading', { name: 'Somebody saved v2 while you were writing' }).waitFor();
  await asked.getByRole('button', { name: 'Mine everywhere' }).click();
  await asked.getByRole('button', { name: 'Go on with this' }).click();
  await asked.locator('[data-toast]').filter({ hasText: 'Saved as v3' }).waitFor();
  assert.equal((await ask('GET', `/api/prompts/${id}`)).latest.content.messages.length, 3);
  await one.done();
});

test('what was typed within the last moment is there again after closing', options, async () => {
  const { id } = await example();
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await field(page, 'msg_3').fill('typed and gone');
  await page.close();
  const again = await one.open(`/p/${id}`);
  assert.equal(await field(again, 'msg_3').inputValue(), 'typed and gone');
  await kept(again);
  await one.done();
});

test('Chinese is composed in peace: no key of it does anything else', options, async () => {
  const { id } = await example();
  const one = await person();
  const page = await one.open(`/p/${id}`);
  const text = field(page, 'msg_3');
  await text.fill('');
  await text.focus();
  const cdp = await one.context.newCDPSession(page);
  for (const part of ['s', 'sh', 'shen', '审']) await cdp.send('Input.imeSetComposition', { text: part, selectionStart: part.length, selectionEnd: part.length });
  const before = await ids(page);
  await text.evaluate((node) => {
    for (const init of [{ key: 'ArrowUp', altKey: true }, { key: 'Enter', ctrlKey: true }, { key: 'Enter', ctrlKey: true, shiftKey: true }, { key: '{' }, { key: 's', ctrlKey: true }, { key: 'Backspace' }]) {
      node.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true, isComposing: true }));
      node.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true, keyCode: 229 }));
    }
  });
  assert.deepEqual(await ids(page), before);
  await cdp.send('Input.insertText', { text: '审计' });
  assert.equal(await text.inputValue(), '审计');
  assert.equal((await page.locator('[data-block-id=msg_3] .layer').textContent()).replace('\u200b', ''), '审计');
  assert.equal(await page.locator('[data-run][data-status=streaming]').count(), 0);
  await one.done();
});

test('390 px: everything is there, nothing is wider than the screen', options, async () => {
  const { id } = await example();
  const one = await person({ phone: true });
  const page = await one.open(`/p/${id}`);
  await field(page, 'msg_3').waitFor();
  const fits = async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it is wider than the screen');
  await fits();
  await page.getByRole('tab', { name: /Variables/ }).tap();
  await page.locator('[data-var=input_code] textarea').fill('x = 1');
  await fits();
  await page.getByRole('tab', { name: /Blocks/ }).tap();
  await page.getByRole('button', { name: 'Run' }).tap();
  await page.locator('[data-run][data-status=done]').waitFor();
  await fits();
  for (const name of ['Versions', 'Export']) {
    await page.locator('header.top').getByRole('button', { name: 'More', exact: true }).tap();
    await page.getByRole('menuitem', { name }).tap();
    await page.locator(name === 'Export' ? '.extext' : '[data-version]').first().waitFor();
    await fits();
  }
  await page.goto(`/p`);
  await page.getByRole('link', { name: /audit/ }).first().waitFor();
  await one.done();
});

test('values come in sets, also from a pasted table; a kind is chosen', options, async () => {
  const { id } = await example({}, { messages: [{ id: 'm', role: 'user', content: '{{city}} {{days}}' }] });
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await page.getByRole('button', { name: 'Value sets' }).click();
  await page.getByRole('menuitem', { name: 'Paste a table (CSV)' }).click();
  await page.getByRole('textbox', { name: 'Paste a table (CSV)' }).fill('days,city\n3,"Nara, Japan"\n5,Xi’an\n');
  await page.getByRole('button', { name: 'Use them' }).click();
  await page.getByText('Value set 1 of 2').waitFor();
  assert.equal(await page.locator('[data-var=city] textarea').inputValue(), 'Nara, Japan');
  await page.getByRole('button', { name: 'Next value set' }).click();
  assert.equal(await page.locator('[data-var=city] textarea').inputValue(), 'Xi’an');
  await page.getByRole('button', { name: 'Change variable days' }).click();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('number');
  await page.getByRole('button', { name: 'OK' }).click();
  await kept(page);
  assert.deepEqual((await ask('GET', `/api/prompts/${id}/draft`)).content.variables, [{ name: 'days', type: 'number' }]);
  await page.reload();
  await page.getByText('Value set 2 of 2').waitFor();
  await one.done();
});

test('findings are asked for in the language of the page, whatever that of the browser is', options, async () => {
  const { id } = await example();
  const one = await person({ lang: 'en-US' });
  const page = await one.open(`/p/${id}`);
  const asked = (lang) => page.waitForRequest((request) => request.url().endsWith('/api/lint') && request.headers()['accept-language'] === lang);
  await field(page, 'msg_3').waitFor();
  await Promise.all([asked('en'), field(page, 'msg_3').fill('changed')]);
  await page.getByRole('button', { name: 'Language' }).click();
  await Promise.all([asked('zh-CN'), page.getByRole('menuitemcheckbox', { name: '简体中文' }).click()]);
  await one.done();
  await ask('PUT', '/api/settings', { settings: {} });
});
