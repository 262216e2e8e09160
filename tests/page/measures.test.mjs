// The figures of the specification: widths, heights, sizes of text and of targets, when a bar folds, when a transcript
// follows.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { go, noBrowser, serve, until, visit } from './browser.mjs';
import { places, show } from './places.mjs';

const skip = noBrowser;
let server, list;
before(async () => {
  if (noBrowser) return;
  server = await serve();
  ({ list } = await places(server));
});

test('the frame: 236 and 52 px, folded below 1,100; [ and ] fold; the panel keeps its width', { skip }, async () => {
  const { page, close } = await visit(server);
  const talk = list.find(({ name }) => name === 'session').path;
  await go(page, talk);
  await page.locator('[data-turn]').first().waitFor();
  const box = async (selector) => page.locator(selector).first().boundingBox();
  assert.equal((await box('.side')).width, 236);
  assert.equal((await box('header.top')).height, 52);
  const panel = page.locator('aside.panel');
  const { width } = await panel.boundingBox();
  assert.ok(width >= 324 && width <= 372, `${width} px`);
  await page.keyboard.press('[');
  await until(async () => (await box('.side')).width < 80, () => 'the side bar is not folded');
  await page.keyboard.press('[');
  await until(async () => (await box('.side')).width === 236, () => 'the side bar is folded');
  await page.keyboard.press(']');
  await panel.waitFor({ state: 'detached' });
  await page.keyboard.press(']');
  await panel.waitFor();
  await page.locator('aside.panel .sizer').focus();
  await page.keyboard.press('ArrowLeft');
  await until(async () => (await panel.boundingBox()).width === width + 16, () => 'the panel is as wide as before');
  await page.reload();
  await page.locator('[data-turn]').first().waitFor();
  assert.equal((await panel.boundingBox()).width, width + 16);
  await close();
  const { page: narrow, close: leave } = await visit(server, { viewport: { width: 1090, height: 700 } });
  await go(narrow, '/m');
  assert.ok((await narrow.locator('.side').boundingBox()).width < 80);
  await leave();
});

test('no words under 12 px, nothing to hit under 28 px, or under 44 in a hand', { skip }, async () => {
  const found = [];
  for (const phone of [false, true]) {
    const { page, close } = await visit(server, { phone });
    for (const place of list) {
      await show(page, place);
      found.push(...(await page.evaluate((least) => {
        const out = new Set();
        const seen = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && node.getBoundingClientRect().width > 2;
        for (const node of document.querySelectorAll('body *')) {
          const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
          const size = parseFloat(getComputedStyle(node).fontSize);
          if (own && size < 12 && seen(node) && !node.closest('svg, iframe, .vh, [aria-hidden=true]')) out.add(`${size} px: ${node.tagName}.${node.className} ${node.textContent.slice(0, 30)}`);
        }
        for (const node of document.querySelectorAll('button, select, [role=tab], nav a, .list a, input:not([type=checkbox], [type=radio], [type=file], .vh)')) {
          // excludes words in a sentence, and the edge of a panel, which ] and its arrow keys also move
          if (!seen(node) || node.closest('.vh, [aria-hidden=true], p, dd, .prose, .sizer')) continue;
          const { width, height } = node.getBoundingClientRect();
          // the area around it may belong to the target
          const after = getComputedStyle(node, '::after');
          const isRow = after.content !== 'none' && after.position === 'absolute' && getComputedStyle(node).position === 'static';
          const { width: w, height: h } = (isRow ? node.offsetParent : node.closest('label') ?? node).getBoundingClientRect();
          const more = after.content !== 'none' && after.position === 'absolute' ? Math.max(0, -parseFloat(after.top) || 0) * 2 : 0;
          if (Math.max(height, h) + more < least - 0.5 || Math.max(width, w) + more < 24) out.add(`${Math.round(width)} × ${Math.round(height)}: ${node.tagName}.${node.className} ${(node.ariaLabel || node.innerText || '').slice(0, 30)}`);
        }
        return [...out].slice(0, 12);
      }, phone ? 44 : 28)).map((one) => `${phone ? 'hand' : 'desk'} ${place.name}: ${one}`));
    }
    await close();
  }
  assert.deepEqual(found, []);
});

test('a transcript follows its end only while the reader is there; sending goes there', { skip }, async () => {
  const own = await serve();
  const turns = Array.from({ length: 60 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}\n\n${'words '.repeat(60)}` }));
  const { id } = (await own.ask('POST', '/api/sessions/import', { body: { document: { model: 'demo/echo', messages: turns }, from: 'openai-chat', intent: 'long' } })).json;
  const { page, close } = await visit(own);
  await go(page, `/s/${id}`);
  const left = () => page.locator('.main > .body').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await page.getByText('turn 59').waitFor();
  await until(async () => await left() < 64, () => 'it is not at its end');
  await page.locator('.main > .body').hover();
  await page.mouse.wheel(0, -2000);
  await until(async () => await left() > 1000, () => 'it did not scroll');
  await own.ask('POST', `/api/sessions/${id}/chat`, { body: { message: 'from elsewhere' } });
  await page.locator('.newpill').waitFor();
  assert.ok(await left() > 1000, 'the reader was moved');
  await page.locator('.newpill').click();
  await until(async () => await left() < 64, () => 'the pill does not lead to the end');
  await page.mouse.wheel(0, -2000);
  await until(async () => await left() > 1000, () => 'it did not scroll');
  await page.getByRole('textbox', { name: 'Say something…' }).fill('by the reader');
  await page.keyboard.press('Enter');
  await page.locator('[data-role=assistant]', { hasText: 'by the reader' }).waitFor();
  await until(async () => await left() < 64, () => 'sending does not scroll');
  // compacted by hand: a torn strip that shows its summary on demand
  await page.getByRole('button', { name: 'Sum up now' }).click();
  const strip = page.locator('[data-block=compaction]');
  await strip.getByText(/turns? summed up/).waitFor();
  await strip.getByRole('button', { name: 'Show summary' }).click();
  await strip.locator('.summary').waitFor();
  await close();
  await own.stop();
});
