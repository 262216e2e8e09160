// The documents in a browser: what axe calls serious, the search, the theme, and no page wider than a phone.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { accessible, noBrowser, serve, until, visit } from './browser.mjs';

let server, skip = noBrowser;
before(async () => {
  if (skip) return;
  server = await serve();
  if ((await server.raw('GET', '/docs', { key: null })).status === 404) skip = 'the program was built without its documents';
});

const PAGES = ['index.html', 'tour.html', 'reference/events.html', 'reference/settings.html', 'guide/page.html'];

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

test('the theme is kept, and the menu of a phone opens', async (t) => {
  if (skip) return t.skip(skip);
  const { page, close } = await visit(server, { key: null, phone: true });
  await page.goto('/docs/index.html');
  await page.click('#docs-theme');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.click('#docs-menu');
  assert.equal(await page.getAttribute('#docs-menu', 'aria-expanded'), 'true');
  await page.click('#docs-pages a[href="tour.html"]');
  await until(() => page.url().endsWith('/docs/tour.html'), 'the page is shown');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await close();
});
