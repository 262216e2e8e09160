// Every page in both languages and themes, on a desktop and a phone, checked with axe-core; without colours; with the
// colours of the system. If PARLEY_PICTURES names a directory, the first of these tests make the pictures of the guide
// instead:
// PARLEY_PICTURES=docs/guide/pictures node --test --test-name-pattern=axe tests/page/seen.test.mjs
// With PARLEY_PICTURES_OF=session,share only those pages are used.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { findings, noBrowser, serve, visit } from './browser.mjs';
import { places, show } from './places.mjs';

const skip = noBrowser;
let server, list;
before(async () => {
  if (noBrowser) return;
  server = await serve();
  ({ list } = await places(server));
});

const pictures = process.env.PARLEY_PICTURES;
const only = pictures ? process.env.PARLEY_PICTURES_OF?.split(',') : undefined;
async function picture(page, context, name) {
  mkdirSync(pictures, { recursive: true });
  const camera = await context.newCDPSession(page);
  const { data } = await camera.send('Page.captureScreenshot', { format: 'webp', quality: 50 });
  await camera.detach();
  writeFileSync(join(pictures, `${name}.webp`), Buffer.from(data, 'base64'));
}

for (const lang of ['en-US', 'zh-CN']) {
  for (const theme of ['light', 'dark']) {
    test(`axe-core finds nothing serious on any page: ${lang}, ${theme}`, { skip }, async () => {
      for (const phone of [false, true]) {
        const { page, context, close } = await visit(server, { lang, theme, phone, bypassCSP: true, timezoneId: 'Asia/Shanghai' });
        const found = [];
        for (const place of list.filter(({ name }) => !only || only.includes(name))) {
          await show(page, place);
          const name = `${place.name}-${phone ? 'phone' : 'desk'}-${theme}-${lang.slice(0, 2)}`;
          if (pictures) await picture(page, context, name);
          else found.push(...await findings(page, name));
          if (!await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)) found.push(`${name}: wider than the screen`);
        }
        assert.deepEqual(found, []);
        assert.equal(await page.evaluate(() => document.documentElement.lang), lang === 'en-US' ? 'en' : 'zh-CN');
        await close();
      }
    });
  }
}

// Hue is never the only sign: elements that differ in colour also differ in text or icon.
const signs = '[data-status], [data-kind], [data-loss], [data-grant], [data-change], .pill, [data-block]';
test('without colours every state still has a word or a sign of its own', { skip }, async () => {
  const { page, close } = await visit(server);
  for (const place of list) {
    await show(page, place);
    const found = await page.evaluate((selector) => {
      const by = new Map();
      for (const node of document.querySelectorAll(selector)) {
        if (!node.checkVisibility()) continue;
        const state = node.dataset.status ?? node.dataset.loss ?? node.dataset.grant ?? node.dataset.change;
        if (state === undefined) continue;
        const kind = ['status', 'loss', 'grant', 'change'].find((name) => node.dataset[name] !== undefined);
        const shape = [...node.querySelectorAll('svg')].map((icon) => icon.innerHTML).join() + node.textContent.replace(/[\d\s]/g, '');
        (by.get(kind) ?? by.set(kind, new Map()).get(kind)).set(state, (by.get(kind).get(state) ?? '') + shape);
      }
      return [...by].map(([kind, states]) => [kind, [...states]]);
    }, signs);
    for (const [kind, states] of found) {
      assert.equal(new Set(states.map(([, shape]) => shape)).size, states.length, `${place.name}: two of ${kind} look the same without colour: ${states.map(([state]) => state)}`);
    }
  }
  await close();
});

test('with the colours of the system words are read and controls have edges', { skip }, async () => {
  const { page, close } = await visit(server, { forcedColors: 'active' });
  for (const place of list) {
    await show(page, place);
    const bad = await page.evaluate(() => {
      const seen = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && node.getBoundingClientRect().width > 2;
      const rgb = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
      const ground = (node) => { for (let at = node; at; at = at.parentElement) { const c = rgb(getComputedStyle(at).backgroundColor); if (c.length && (c[3] ?? 1) > 0.5) return c; } return [255, 255, 255]; };
      const light = ([r, g, b]) => { const f = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4); return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
      const out = [];
      for (const node of document.querySelectorAll('main *')) {
        const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        if (!own || !seen(node) || node.closest('[aria-hidden=true], .vh, svg, :disabled, [aria-disabled=true]')) continue;
        const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) out.push(`${node.tagName}.${node.className} ${node.textContent.slice(0, 40)}`);
      }
      for (const node of document.querySelectorAll('main input:not([type=checkbox], [type=radio], .vh, .own), main select')) {
        if (seen(node) && getComputedStyle(node).borderTopStyle === 'none') out.push(`no edge: ${node.outerHTML.slice(0, 80)}`);
      }
      return out.slice(0, 5);
    });
    assert.deepEqual(bad, [], place.name);
  }
  await close();
});
