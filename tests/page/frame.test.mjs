// The frame: the first minute without a key, palette and keys, budgets, people who cannot see or use a mouse, the element.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { gzipSync } from 'node:zlib';
import { root } from '../e2e/harness.mjs';
import { go, noBrowser, script, serve, session, until, visit } from './browser.mjs';

let server, talk;
before(async () => {
  if (noBrowser) return;
  server = await serve();
  talk = await session(server, script('think A thought.', 'say Hello **there**.', 'call clock {}', 'call calc {"expression":"1+"}', '---',
    'call AskUserQuestion {"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}'), { intent: 'a talk' });
});
const skip = noBrowser;

test('the first minute: the link signs in, once, and leaves the address bar', { skip }, async () => {
  const fresh = await serve({ login: false });
  const { page, context, close } = await visit(fresh, { key: null, allow: /401/ });
  await page.goto(`/#login=${fresh.code}`);
  await page.getByText('You are signed in as administrator. This link has now been used up.').waitFor();
  assert.equal(new URL(page.url()).hash, '');
  const cookies = await context.cookies();
  assert.ok(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite === 'Strict') && cookies.length === 1);
  // Enter opens the example; from then on it is a prompt of the library
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/p\/\w+/);
  await page.goto('/?home');
  await page.getByRole('button', { name: 'demo/agent' }).click();
  await page.waitForURL(/\/s\/sess_/);
  await page.locator('[data-role=assistant]').first().waitFor();
  await page.goto('/');
  await page.waitForURL(/\/s\/sess_/); // `/` leads to the last place
  await close();
  // the same link in another browser: the page says so, and how to get another; a wrong key is reported, too
  const { page: late, close: leave } = await visit(fresh, { key: null, allow: /401|400/ });
  await late.goto(`/#login=${fresh.code}`);
  await late.getByText('This link was used already').waitFor();
  await late.getByText('Make a new one on the server: parley key create').waitFor();
  await late.getByLabel('Key').fill('sk-parley-v1-wrong');
  await late.getByRole('button', { name: 'Sign in' }).click();
  await late.getByText('This key does not open the door').waitFor();
  await leave();
  await fresh.stop();
});

test('the first minute: Ctrl Enter runs the example, which is there once', { skip }, async () => {
  const fresh = await serve();
  const { page, close } = await visit(fresh);
  await go(page, '/?home');
  await page.getByRole('button', { name: /^Open the example/ }).waitFor();
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(/\/p\/\w+/);
  await page.locator('[data-run][data-status=done]').first().waitFor();
  assert.deepEqual((await fresh.ask('GET', '/api/prompts')).json.items.map(({ name }) => name), ['code-audit']);
  await close();
  await fresh.stop();
});

// On its own server: the choices are stored there, for every browser of the person.
test('palette, keys and both languages; another browser has what was chosen', { skip }, async () => {
  const own = await serve();
  const talk = await session(own, 'Hello', { intent: 'a talk', model: 'demo/echo' });
  const { page, close } = await visit(own);
  await go(page, '/v');
  await page.getByRole('heading', { name: 'Viewer' }).waitFor();
  await page.keyboard.press('Control+k');
  const find = page.getByRole('combobox', { name: 'Search or jump to…' });
  await find.fill('会话'); // the words of the other language match
  await page.getByRole('option', { name: 'Sessions' }).waitFor();
  await find.fill('a talk');
  await page.getByRole('option', { name: 'a talk' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/s/${talk}`);
  await page.locator('[data-turn]').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  await page.waitForURL('**/v');
  await page.goBack();
  await page.waitForURL(`**/s/${talk}`);
  await page.locator('[data-turn]').first().waitFor();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'all keys' });
  await sheet.waitFor();
  assert.ok(await sheet.locator('kbd').count() > 12);
  await sheet.getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  assert.ok(page.url().endsWith(talk), 'single keys are off');
  await page.keyboard.press('Control+k'); // keys with Ctrl remain
  await find.waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Language' }).click();
  await page.getByRole('menuitemcheckbox', { name: '简体中文' }).click();
  await page.locator('html[lang=zh-CN]').waitFor();
  await page.getByRole('link', { name: '查看器' }).waitFor();
  await page.getByRole('button', { name: '外观' }).click();
  await page.getByRole('menuitemcheckbox', { name: '深色' }).click();
  await page.reload();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.locator('body[data-lang=zh-CN]').waitFor();
  await until(async () => (await own.ask('GET', '/api/settings')).json.settings.theme === 'dark', () => 'the server does not keep the theme');
  assert.deepEqual((await own.ask('GET', '/api/settings')).json.settings, { single_keys: false, language: 'zh-CN', theme: 'dark' });
  const { page: other, close: leave } = await visit(own);
  await go(other, '/v');
  await other.locator('html[data-theme=dark][lang=zh-CN] body[data-lang=zh-CN]').waitFor();
  // both windows are open: one follows the other, and settings that this page does not write stay
  const settings = { ...(await own.ask('GET', '/api/settings')).json.settings, language: 'en', last_place: '/v', panel_width: 300 };
  assert.equal((await own.ask('PUT', '/api/settings', { body: { settings } })).status, 200);
  for (const one of [page, other]) await one.locator('body[data-lang=en]').waitFor();
  await other.getByRole('button', { name: 'Theme' }).click();
  await other.getByRole('menuitemcheckbox', { name: 'Light' }).click();
  await page.locator('html[data-theme=light]').waitFor();
  const kept = (await own.ask('GET', '/api/settings')).json.settings;
  assert.deepEqual(kept, { ...settings, theme: 'light' });
  await leave();
  await close();
  await own.stop();
});

test('390 px: one column, nothing left out, fingers hit', { skip }, async () => {
  const { page, close } = await visit(server, { phone: true });
  await go(page, '/s');
  await page.locator('.biglist a', { hasText: 'a talk' }).click();
  await page.locator('[data-question]').waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scrolling');
  await page.getByRole('button', { name: /^Context/ }).click();
  await page.getByRole('dialog', { name: 'Context' }).getByText('What fills the window').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  for (const button of await page.locator('.bottom a, .composer button:visible, header.top button:visible').all()) {
    const box = await button.boundingBox();
    assert.ok(box.height >= 40 && box.width >= 40, `${await button.innerText()} ${box.width} × ${box.height}`);
  }
  await page.getByRole('button', { name: 'Back' }).click();
  await page.locator('.biglist').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Memory' }).waitFor();
  await close();
});

// The requests of the browser until the page is idle: with data, as a person first sees it.
const most = { js: 70 * 1024, css: 16 * 1024 };
test('budgets: the first look at each page, and what the program holds', { skip }, async () => {
  const { id: prompt } = (await server.ask('POST', '/api/prompts', { body: { name: 'budget', type: 'structured', content: { protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: 'hello' }] } } })).json;
  const { share } = (await server.ask('PATCH', `/api/sessions/${talk}`, { body: { shared: true } })).json;
  const shows = { [`/s/${talk}`]: '[data-question]', [`/p/${prompt}`]: '[data-block-id] textarea', [`/share/${share.token}`]: '[data-turn] .prose' };
  const found = [];
  for (const path of ['/?home', '/v', '/s', `/s/${talk}`, '/p', `/p/${prompt}`, '/r', '/m', '/t', '/x', '/settings', '/settings/users', '/audit', `/share/${share.token}`]) {
    const { page, context } = await visit(server);
    const sizes = { js: 0, css: 0 };
    page.on('response', (response) => {
      const kind = /\/assets\/.*\.(js|css)$/.exec(new URL(response.url()).pathname)?.[1];
      if (kind) sizes[kind] += gzipSync(readFileSync(join(root, 'web/dist', new URL(response.url()).pathname))).length;
    });
    await go(page, path);
    await page.locator(shows[path] ?? 'main > *').first().waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    await page.waitForFunction(() => !document.querySelector('.skel'));
    await page.waitForLoadState('networkidle');
    await context.close();
    assert.ok(sizes.js > 10_000 && sizes.css > 1000, `${path}: ${JSON.stringify(sizes)}`);
    for (const kind of ['js', 'css']) if (sizes[kind] > most[kind]) found.push(`${path}: ${sizes[kind]} bytes of ${kind}, ${sizes[kind] - most[kind]} too many`);
  }
  assert.deepEqual(found, []);
  const all = readdirSync(join(root, 'web/dist'), { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  const total = all.reduce((sum, e) => sum + gzipSync(readFileSync(join(e.parentPath ?? e.path, e.name))).length, 0);
  assert.ok(total <= 900 * 1024, `${total} bytes`);
});

test('no style is written into a template, and no folder is a heap', { skip: false }, () => {
  const folders = new Map();
  for (const entry of readdirSync(join(root, 'web/src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const dir = entry.parentPath ?? entry.path;
    folders.set(dir, (folders.get(dir) ?? 0) + 1);
    const text = readFileSync(join(dir, entry.name), 'utf8');
    if (entry.name.endsWith('.svelte')) assert.ok(!/\sstyle="[^"{]*"/.test(text), `${entry.name} has a literal style`);
    if (entry.name !== 'Icon.svelte') assert.ok(!/\{@html/.test(text), `${entry.name} writes HTML`);
  }
  for (const [dir, n] of folders) assert.ok(n <= 25, `${dir} has ${n} files`);
});

// A page of another origin, and a server that allows its requests.
async function hosted(t, html) {
  let own;
  const host = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(html(own.url));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => host.once('listening', done));
  t.after(() => host.close());
  const origin = `http://127.0.0.1:${host.address().port}`;
  own = await serve({ args: ['--allow-origin', origin] });
  return { own, origin };
}

test('<parley-session> in a page of another origin, with page actions for the host', { skip }, async (t) => {
  const { own, origin } = await hosted(t, (url) => `<!doctype html><title>host</title><link rel="icon" href="data:,"><script type="module" src="${url}/embed/parley-session.js"></script><parley-session style="height: 600px"></parley-session>`);
  const id = await session(own, null);
  const { page, close } = await visit(own, { key: null });
  await page.goto(origin);
  await page.evaluate(({ url, id, key }) => {
    globalThis.actions = [];
    addEventListener('parley:bridge', (e) => { globalThis.actions.push(e.detail); if (e.detail.action === 'map.highlight') e.preventDefault(); });
    const element = document.querySelector('parley-session');
    element.setAttribute('server', url);
    element.setAttribute('session', id);
    element.setAttribute('composer', '');
    element.key = key;
  }, { url: own.url, id, key: own.key });
  await page.getByRole('textbox', { name: 'Say something…' }).fill(script('say Hello host.', 'block tool_bridge {"action":"map.highlight","payload":{"cityIds":["hangzhou"]}}', 'block tool_bridge {"action":"other","payload":{}}'));
  await page.keyboard.press('Enter');
  await page.getByText('carried out by the page').waitFor();
  await page.getByText('this page has no such action').waitFor();
  assert.deepEqual(await page.evaluate(() => globalThis.actions.map((a) => [a.action, a.payload])), [['map.highlight', { cityIds: ['hangzhou'] }], ['other', {}]]);
  // a reload shows them, and does not notify the host again
  await page.evaluate(() => { const e = document.querySelector('parley-session'), copy = e.cloneNode(); globalThis.actions = []; copy.key = e.key; e.replaceWith(copy); });
  await page.getByText('Hello host.', { exact: true }).waitFor();
  assert.deepEqual(await page.evaluate(() => globalThis.actions), []);
  await close();
  await own.stop();
});

test('the example of the guide works as it is written, from another origin', { skip }, async (t) => {
  const example = readFileSync(join(root, 'docs/guide/examples/embed.html'), 'utf8');
  const { own, origin } = await hosted(t, (url) => example.replaceAll('http://127.0.0.1:8787', url).replace('<title>', '<link rel="icon" href="data:,"><title>'));
  const id = await session(own, null);
  const { page, close } = await visit(own, { key: null });
  await page.goto(origin);
  await page.getByPlaceholder('sess_').fill(id);
  await page.getByPlaceholder('sk-parley').fill(own.key);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('textbox', { name: 'Say something…' }).fill(script('say Look there.', 'block tool_bridge {"action":"map.highlight","payload":{"cityIds":["ningbo"]}}'));
  await page.keyboard.press('Enter');
  await page.getByText('carried out by the page').waitFor();
  assert.deepEqual(await page.locator('#cities li').evaluateAll((all) => all.map((one) => one.style.fontWeight)), ['', 'bold']);
  // its icons are included
  assert.ok(await page.locator('parley-session svg.i path').count() > 0);
  await close();
  await own.stop();
});

test('<parley-session> shows a shared session without a key', { skip }, async (t) => {
  let token;
  const { own, origin } = await hosted(t, (url) => `<!doctype html><title>host</title><link rel="icon" href="data:,"><script type="module" src="${url}/embed/parley-session.js"></script><parley-session server="${url}" share="${token}" style="height: 600px"></parley-session>`);
  const id = await session(own, script('say Hello everybody.'));
  ({ share: { token } } = (await own.ask('PATCH', `/api/sessions/${id}`, { body: { shared: true } })).json);
  const { page, close } = await visit(own, { key: null });
  await page.goto(origin);
  await page.getByText('Hello everybody.', { exact: true }).waitFor();
  assert.equal(await page.getByRole('textbox').count(), 0);
  await close();
  await own.stop();
});
