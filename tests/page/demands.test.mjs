// Single requirements that the other tests do not cover: announcements for screen readers, copying without a clipboard, keys,
// findings that are fixed, multiple-choice answers, permission for a session, media that cannot be shown, densities.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { go, noBrowser, script, serve, session, until, visit } from './browser.mjs';

const skip = noBrowser;
let server;
before(async () => { if (!noBrowser) server = await serve(); });
const status = async (id) => (await server.ask('GET', `/api/sessions/${id}`)).json.status;
const over = (id, as = 'completed') => until(async () => await status(id) === as, () => `the session is not ${as}`);
const prompt = async (content, name) => (await server.ask('POST', '/api/prompts', { body: { name, type: 'structured', content: { protocol: 'structured-chat', ...content } } })).json.id;
const three = { system_prompt: 'Be brief.', messages: [{ id: 'a', role: 'user', content: 'one' }, { id: 'b', role: 'assistant', content: 'two' }, { id: 'c', role: 'user', content: 'three' }] };

/** All announcements of the polite region since the page was loaded. */
const listen = (page) => page.evaluate(() => {
  const region = document.querySelector('.vh[role=status]');
  globalThis.heard = [];
  new MutationObserver(() => globalThis.heard.push(region.textContent.trim())).observe(region, { childList: true, characterData: true, subtree: true });
});
const heard = (page, what) => until(() => page.evaluate((source) => globalThis.heard.some((one) => new RegExp(source).test(one)), what.source), () => `${what} was not said`);

test('what happens is said aloud once: writing, done, a block that moved; the transcript is a log that is busy', { skip }, async () => {
  const { page, close } = await visit(server);
  const id = await session(server, null, { model: 'demo/slow' });
  await go(page, `/s/${id}`);
  const log = page.locator('.log[role=log][aria-live=off]');
  await log.waitFor({ state: 'attached' });
  await listen(page);
  await page.getByRole('textbox', { name: 'Say something…' }).fill('one two three '.repeat(30));
  await page.keyboard.press('Enter');
  await page.locator('.log[aria-busy=true]').waitFor({ state: 'attached' });
  await heard(page, /^Writing an answer/);
  await page.locator('.log[aria-busy=false]').waitFor({ state: 'attached' });
  await heard(page, /^Done: 90 words, 0 tool calls/);
  assert.ok(await page.evaluate(() => globalThis.heard.length) < 6, 'not word by word');
  await go(page, `/p/${await prompt(three, 'said')}`);
  await page.locator('[data-block-id=c] textarea').waitFor();
  await listen(page);
  await page.locator('[data-block-id=c] textarea').press('Alt+ArrowUp');
  await heard(page, /^Block moved to place 2 of 3/);
  await close();
});

test('copying works without a clipboard, and says so where it does not', { skip }, async () => {
  const { page, close } = await visit(server);
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await go(page, `/p/${await prompt(three, 'copied')}?tab=export`);
  await page.locator('.extext').waitFor();
  const button = page.locator('.exout').getByRole('button', { name: /^Copy/ });
  await page.evaluate(() => document.addEventListener('copy', () => { globalThis.taken = document.getSelection().toString() || document.activeElement.value; }));
  await button.click();
  await page.locator('[data-toast]').filter({ hasText: /^Copied/ }).waitFor();
  assert.match(await page.evaluate(() => globalThis.taken), /Be brief\./);
  assert.equal(await button.evaluate((node) => node === document.activeElement), true, 'the focus came back');
  await page.evaluate(() => { document.execCommand = () => false; });
  await button.click();
  await page.locator('[data-toast][role=alert]').filter({ hasText: 'It could not be copied' }).waitFor();
  await close();
});

test('single keys of the workbench: J and K go through the blocks, H shows versions, D compares, M adds a model', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, `/p/${await prompt(three, 'keyed')}`);
  const at = () => page.evaluate(() => document.activeElement.closest('[data-block-id]')?.dataset.blockId);
  await page.locator('[data-block-id=c] textarea').focus();
  const outside = () => page.keyboard.press('Escape');
  await outside();
  await page.keyboard.press('k');
  await until(async () => await at() === 'b', () => 'K does not go up');
  await outside();
  await page.keyboard.press('j');
  await until(async () => await at() === 'c', () => 'J does not go down');
  await page.keyboard.type(' j k d');
  assert.match(await page.locator('[data-block-id=c] textarea').inputValue(), / j k d$/, 'in a field a key is a letter');
  await outside();
  await page.keyboard.press('h');
  await page.locator('[data-version="1"]').waitFor();
  await page.keyboard.press('d');
  await page.locator('[data-block-id=c] ins').first().waitFor();
  assert.match(page.url(), /diff=1/);
  await page.keyboard.press('d');
  await page.locator('[data-block-id=c] textarea').waitFor();
  await page.keyboard.press('m');
  await page.getByRole('combobox', { name: 'Add model' }).fill('slow');
  await page.keyboard.press('Enter');
  await page.waitForURL(/m=[^&]*demo(%2F|\/)slow/);
  await close();
});

test('a finding stands where it belongs, with a button that mends it', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, `/p/${await prompt({ ...three, config: { temperature: 0.7, max_tokens: 100 } }, 'mended')}?m=anthropic/claude-opus-4-8`);
  const finding = page.locator('[data-lint="setting.refused"]');
  await finding.waitFor();
  assert.match(await finding.innerText(), /claude-opus-4-8[^]*temperature/);
  await finding.getByRole('button', { name: 'Remove' }).click();
  await finding.waitFor({ state: 'detached' });
  assert.deepEqual((await page.locator('.strip .chip.line').allInnerTexts()).map((one) => one.split(/\s/)[0]), ['max_tokens']);
  await close();
});

test('several choices and own words are one answer; a tool that is allowed in the session is not asked for again', { skip }, async () => {
  const { page, close } = await visit(server);
  const ask = 'call AskUserQuestion {"questions":[{"question":"Which ones?","header":"Kinds","multiSelect":true,"options":[{"label":"Red"},{"label":"Green"},{"label":"Blue"}]}]}';
  const publish = (title) => `call publish {"title":"${title}","html":"<!doctype html><p>card</p>"}`;
  const id = await session(server, script(ask, '---', publish('First'), '---', publish('Second'), '---', 'say All done.'));
  await go(page, `/s/${id}`);
  const card = page.locator('section[data-question]');
  await card.getByRole('checkbox', { name: /Red/ }).check({ force: true });
  await card.getByRole('checkbox', { name: /Blue/ }).check({ force: true });
  await card.getByRole('textbox').fill('Ochre');
  await card.getByRole('button', { name: /^Answer/ }).click();
  await page.locator('[data-block=ask_user_answer]').getByText('Red, Blue, Ochre').waitFor();
  const always = page.getByRole('button', { name: /Allow in this session/ });
  await always.waitFor();
  assert.match(await always.innerText(), /publish/, 'it names its rule');
  await page.locator('button:not([aria-disabled])', { hasText: 'Allow in this session' }).click();
  await page.locator('[data-role=assistant]', { hasText: 'All done.' }).waitFor();
  await over(id);
  assert.equal(await page.locator('section[data-question]').count(), 0);
  assert.equal(await page.locator('[data-block=ask_user_answer] time').count(), 1, 'it says when');
  await close();
});

test('media: what lies elsewhere names its host, an expired link and a missing description are said; base64 is no text', { skip }, async () => {
  const { page, close } = await visit(server);
  const bytes = 'QUJD'.repeat(400);
  const document = { version: '1.0', messages: [{ id: 'm1', role: 'user', segments: [
    { kind: 'media', mediaType: 'image', url: 'https://pictures.invalid/a.png?X-Amz-Date=20200101T000000Z&X-Amz-Expires=60' },
    { kind: 'media', mediaType: 'image', url: 'https://other.invalid/b.png', altText: 'A red door' },
    { kind: 'tool_call_result', toolName: 'shot', success: true, collapsed: false, result: JSON.stringify({ data: bytes, note: 'taken' }) }] }] };
  await go(page, '/v');
  await page.locator('input[type=file]').setInputFiles({ name: 'media.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) });
  const media = page.locator('.env [data-kind=media]');
  await media.nth(1).waitFor();
  assert.match(await media.nth(0).innerText(), /expired [\d,]+ days ago[^]*Load from pictures\.invalid[^]*No description/);
  assert.match(await media.nth(1).innerText(), /Load from other\.invalid[^]*A red door/);
  assert.equal(await media.locator('img').count(), 0, 'nothing was loaded');
  assert.match(await page.locator('.env [data-kind=tool_call_result]').innerText(), /taken/);
  assert.ok(!(await page.locator('.env').innerText()).includes('QUJDQUJD'));
  await close();
});

test('rows of the context open their biggest items, and an item and the outline lead to their turns', { skip }, async () => {
  const { page, close } = await visit(server);
  const id = await session(server, script('call echo {"text":"a result to be counted"}', '---', 'say The first answer.'));
  await over(id);
  await go(page, `/s/${id}`);
  const row = page.locator('[data-context=results]');
  await row.getByRole('button').click();
  await page.getByRole('button', { name: /^Jump|^Go to/ }).or(page.locator('.legend .sub .link')).first().click();
  await page.locator('[data-turn]:focus').waitFor();
  await page.getByRole('tab', { name: 'Outline' }).click();
  await page.locator('#sp-panel button, #sp-panel a').first().click();
  await page.locator('[data-turn]:focus').waitFor();
  await close();
});

test('two densities: compact rows are lower, and it lasts', { skip }, async () => {
  const own = await serve();
  const { page, close } = await visit(own);
  await go(page, '/settings/appearance');
  const height = () => page.evaluate(() => parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')));
  const before = await height();
  await page.getByText('Compact', { exact: true }).click();
  await until(async () => await height() < before, () => `rows are ${before} px in both`);
  await page.reload();
  await page.getByText('Compact', { exact: true }).waitFor();
  assert.ok(await height() < before);
  await close();
  await own.stop();
});
