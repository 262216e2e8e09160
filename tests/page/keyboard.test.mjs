// Every page with the keyboard alone: Tab reaches every control once, and the focus is visible; Enter and Space act; Escape
// closes open dialogs and menus, and the focus returns to its previous place.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { noBrowser, serve, visit } from './browser.mjs';
import { places, show } from './places.mjs';

const skip = noBrowser;
let server, list;
before(async () => {
  if (noBrowser) return;
  server = await serve();
  ({ list } = await places(server));
});

// The controls. In a group with arrow keys (tabs, radio buttons) Tab reaches one.
const controls = `a[href], button, input:not([type=hidden]), select, textarea, summary, [contenteditable=true], iframe,
  [role=button], [role=link], [role=switch], [role=tab], [role=menuitem], [role=checkbox], [role=radio], [role=combobox], [role=slider], [tabindex="0"]`;

/** Numbers every usable control, and marks those that form a group. */
const mark = (page) => page.evaluate((selector) => {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
  const seen = (node) => node.checkVisibility({ checkVisibilityCSS: true }) && !node.closest('[inert], [aria-hidden=true]');
  const all = [...dialog.querySelectorAll(selector)].filter((node) => seen(node) && !node.disabled && !node.closest('fieldset:disabled') && node.type !== 'file');
  const group = (node) => (node.type === 'radio' && node.name ? `radio ${node.name}` : node.role === 'tab' || node.getAttribute('role') === 'tab'
    ? `tabs ${[...document.querySelectorAll('[role=tablist]')].indexOf(node.closest('[role=tablist]'))}` : null);
  all.forEach((node, i) => node.setAttribute('data-walk', i));
  return all.map((node, i) => ({ i, group: group(node), says: node.outerHTML.slice(0, 160) }));
}, controls);

/** The signs of focus: an outline, a shadow, an edge or a background that appears only with it; of the node, its container or its drawing. */
const look = (page) => page.evaluate(() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const face = (of, pseudo) => {
    const s = getComputedStyle(of, pseudo);
    return [s.outlineStyle === 'none' ? '' : `${s.outlineWidth} ${s.outlineColor}`, s.boxShadow, s.borderColor, s.backgroundColor, s.opacity, s.content].join('|');
  };
  const around = [node, node.parentElement, node.closest('label'), node.closest('.b'), node.closest('.cbox, .opt, .memfind, .pal-in')].filter(Boolean);
  const faces = () => around.flatMap((of) => [face(of), face(of, '::before'), face(of, '::after')]).join('\n');
  const ruled = () => { const s = getComputedStyle(node); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1; };
  const [i, on, hasRing] = [node.getAttribute('data-walk'), faces(), ruled()];
  if (hasRing || node.tagName === 'IFRAME') return { i, visible: true };
  const { scrollX, scrollY } = window;
  node.blur();
  const off = faces();
  node.focus({ preventScroll: true });
  scrollTo(scrollX, scrollY);
  return { i, visible: on !== off, says: node.outerHTML.slice(0, 160) };
});

/** Presses Tab from the top until it comes round: returns the controls reached, and those that look the same with focus. */
async function walk(page, wanted) {
  const [reached, blind] = [new Set(), []];
  await page.evaluate(() => { document.activeElement?.blur?.(); getSelection()?.removeAllRanges(); });
  for (let n = 0, rounds = 0; n < wanted.length * 2 + 40 && rounds < 2; n++) {
    await page.keyboard.press('Tab');
    const at = await look(page);
    if (!at) { rounds++; continue; }
    if (at.i === null) continue;
    if (reached.has(Number(at.i))) { if (++rounds > 1) break; continue; }
    reached.add(Number(at.i));
    if (!at.visible) blind.push(at.says);
  }
  return { reached, blind };
}

for (const phone of [false, true]) {
  test(`Tab comes to every control of every page, and the focus is seen: ${phone ? 'phone' : 'desk'}`, { skip }, async () => {
    const { page, close } = await visit(server, { phone, timezoneId: 'Asia/Shanghai' });
    const found = [];
    for (const place of list) {
      await show(page, place);
      const wanted = await mark(page);
      const { reached, blind } = await walk(page, wanted);
      const groups = new Set(wanted.filter(({ i, group }) => group && reached.has(i)).map(({ group }) => group));
      found.push(...wanted.filter(({ i, group }) => !reached.has(i) && !(group && groups.has(group))).map(({ says }) => `${place.name}: not reached: ${says}`),
        ...blind.map((says) => `${place.name}: not seen: ${says}`));
    }
    assert.deepEqual(found, []);
    await close();
  });
}

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? '');

test('Enter and Space act, Escape closes, and the focus is where it was', { skip }, async () => {
  const { page, close } = await visit(server, { timezoneId: 'Asia/Shanghai' });
  await show(page, list.find(({ name }) => name === 'tasks'));
  // a dialog, by Enter; its controls are reached, and Tab does not leave it
  const edit = page.locator('[data-panel]').getByRole('button', { name: 'Edit' });
  await edit.focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog[open]').waitFor();
  for (let n = 0; n < 40; n++) {
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement === document.body || !!document.activeElement.closest('dialog[open]')), 'Tab left the dialog');
  }
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'Edit');
  // a menu, by Space; arrows go through it; Escape and Tab close it
  const more = page.locator('[data-panel]').getByRole('button', { name: 'More' });
  for (const key of ['Escape', 'Tab']) {
    await more.focus();
    await page.keyboard.press('Space');
    await page.locator('[role=menuitem]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    assert.match(await focused(page), /Delete/);
    await page.keyboard.press(key);
    await page.locator('.menu:popover-open').waitFor({ state: 'detached' });
    if (key === 'Escape') assert.equal(await more.evaluate((button) => document.activeElement === button), true);
  }
  // a switch, by Space
  const power = page.locator('[data-panel]').getByRole('switch');
  await power.focus();
  for (const now of ['false', 'true']) {
    await page.keyboard.press('Space');
    await page.locator(`[data-panel] [role=switch][aria-checked=${now}]`).waitFor();
  }
  // palette and key sheet give the focus back
  for (const key of ['Control+k', '?']) {
    await edit.focus();
    await page.keyboard.press(key);
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'Edit');
  }
  await close();
});

test('a sheet in a hand lies at the bottom, has the focus, and Escape gives it back', { skip }, async () => {
  const { page, close } = await visit(server, { phone: true, timezoneId: 'Asia/Shanghai' });
  for (const [path, opener] of [['/t', 'button[data-task]'], ['/m', '.memrow']]) {
    await page.goto(path);
    const row = page.locator(opener).first();
    await row.waitFor();
    await row.focus();
    await page.keyboard.press('Enter');
    const sheet = page.locator('.sheet-phone');
    await sheet.waitFor();
    assert.equal(await sheet.evaluate((node) => getComputedStyle(node).position), 'fixed', path);
    assert.equal(Math.round(await sheet.evaluate((node) => node.getBoundingClientRect().bottom)), 844, path);
    assert.equal(await sheet.evaluate((node) => node.contains(document.activeElement)), true, path);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    assert.equal(await row.evaluate((node) => node === document.activeElement), true, path);
  }
  await close();
});
