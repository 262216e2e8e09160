// The documents in a browser: violations that axe rates as serious, the search, the theme, and no page wider than a phone.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { accessible, noBrowser, serve, until, visit } from './browser.mjs';

let server, skip = noBrowser;
before(async () => {
  if (skip) return;
  server = await serve();
  if ((await server.raw('GET', '/docs', { key: null })).status === 404) skip = 'the program was built without its documents';
});

const PAGES = ['index.html', 'tour.html', 'reference/events.html', 'reference/settings.html', 'guide/page.html',
  'zh-CN/index.html', 'zh-CN/guide/page.html', 'zh-CN/guide/conversion.html', 'zh-CN/reference/protocol.html'];

for (const theme of ['light', 'dark'])
  for (const phone of [false, true])
    test(`axe-core finds nothing serious, and nothing is too wide: ${theme}, ${phone ? 'phone' : 'desk'}`, async (t) => {
      if (skip) return t.skip(skip);
      const { page, close } = await visit(server, { key: null, theme, phone });
      for (const name of PAGES) {
        await page.goto(`/docs/${name}`);
        await accessible(page, name);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
      }
      await close();
    });

test('the search finds sections, with the keyboard alone', async (t) => {
  if (skip) return t.skip(skip);
  const { page, close } = await visit(server, { key: null });
  await page.goto('/docs/index.html');
  await page.keyboard.press('/');
  await page.keyboard.type('add_tool_call');
  await page.waitForSelector('#docs-found a[aria-selected="true"]');
  await page.keyboard.press('Enter');
  await until(() => page.url().endsWith('/docs/reference/events.html#add_tool_call'), 'the section is shown');
  await page.fill('#docs-search', 'zxqv');
  await until(async () => (await page.textContent('#docs-found')).includes('Nothing found'), 'it says that there is nothing');
  await close();
});

test('the switch of the language leads to the same section, there and back', async (t) => {
  if (skip) return t.skip(skip);
  const { page, close } = await visit(server, { key: null });
  await page.goto('/docs/concepts.html#turn');
  await page.click('.language');
  await until(() => decodeURIComponent(page.url()).endsWith('/docs/zh-CN/concepts.html#轮次'), 'the Chinese section is shown');
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN');
  await page.click('.language');
  await until(() => page.url().endsWith('/docs/concepts.html#turn'), 'the English section is shown');
  await close();
});

test('the search of Chinese pages finds Chinese words that stand apart, and pages that only English has', async (t) => {
  if (skip) return t.skip(skip);
  const { page, close } = await visit(server, { key: null });
  await page.goto('/docs/zh-CN/tour.html');
  const found = async (query, href) => {
    await page.fill('#docs-search', query);
    await until(async () => (await page.locator('#docs-found a').evaluateAll((links) => links.map((link) => decodeURIComponent(link.href)))).some((to) => to.endsWith(href)), `${query} finds ${href}`);
  };
  await found('格式转换', '/docs/zh-CN/concepts.html#格式');
  await found('add_tool_call', '/docs/reference/events.html#add_tool_call');
  // A page with a Chinese version is found once.
  await page.fill('#docs-search', 'Parley');
  await until(async () => (await page.locator('#docs-found a').count()) > 3, 'there are results');
  const to = await page.locator('#docs-found a').evaluateAll((links) => links.map((link) => link.pathname));
  assert.ok(!to.includes('/docs/index.html') && !to.includes('/docs/tour.html'), to.join());
  await page.fill('#docs-search', 'zxqv');
  await until(async () => (await page.textContent('#docs-found')).includes('没有找到'), 'it says in Chinese that there is nothing');
  await close();
});

test('the theme is kept, and the menu of a phone opens', async (t) => {
  if (skip) return t.skip(skip);
  const { page, close } = await visit(server, { key: null, phone: true });
  await page.goto('/docs/index.html');
  await page.click('#docs-theme');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.click('#docs-menu');
  assert.equal(await page.getAttribute('#docs-menu', 'aria-expanded'), 'true');
  await page.click('#docs-pages a[href="tour.html"]');
  // The address changes before the script of the new page has run.
  await page.waitForURL('**/docs/tour.html');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await close();
});
