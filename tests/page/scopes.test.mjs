// A sign-in with fewer rights than its user: forbidden actions are disabled or absent, with the reason; no available button leads to a
// refusal.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test, { before } from 'node:test';
import { go, noBrowser, serve, session, until, visit } from './browser.mjs';
import { places, show } from './places.mjs';

const skip = noBrowser;
let server, list, talk, prompt;
before(async () => {
  if (noBrowser) return;
  server = await serve();
  ({ list, talk, prompt } = await places(server));
});

const ok = async (method, path, body) => {
  const answer = await server.ask(method, path, body === undefined ? {} : { body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
};

/** A window whose sign-in an administrator has narrowed; `refused` collects the requests that the server denied. */
async function narrowed(scope, options = {}) {
  const one = await visit(server, options);
  const { key_id } = await (await one.context.request.get('/api/me')).json();
  await ok('PATCH', `/api/user/api-keys/${key_id}`, { scope });
  const refused = [];
  one.page.on('response', (response) => { if ([401, 403].includes(response.status())) refused.push(`${response.status()} ${response.request().method()} ${response.url()} on ${one.page.url()}`); });
  return { ...one, refused };
}

/** Presses every available button, also those of opened menus and dialogs, except signing out. */
async function pressAll(page, place) {
  const path = () => page.evaluate(() => location.pathname);
  const home = await path();
  const pressed = [];
  for (let n = 0; n < 90; n++) {
    const name = await page.evaluate((known) => {
      const says = (node) => `${node.getAttribute('aria-label') ?? ''} ${node.textContent.trim()} ${node.id}`;
      const all = [...document.querySelectorAll('main button, dialog[open] button')].filter((node) => !node.disabled && node.checkVisibility() && !/Sign out|as somebody else/.test(node.textContent));
      const next = all.find((node) => !known.includes(says(node)));
      next?.click();
      return next ? says(next) : null;
    }, pressed);
    if (name === null) break;
    pressed.push(name);
    if (await path() !== home) await show(page, place);
  }
  await page.waitForLoadState('networkidle');
  return pressed;
}

test('who may only read: every page is told so, and whatever is pressed, nothing is refused', { skip }, async () => {
  const { page, refused, close } = await narrowed('read', { timezoneId: 'Asia/Shanghai', allow: /status of 400/ }); // a form that wants a model is said to
  let n = 0;
  for (const place of list) {
    if (place.name === 'palette' || place.name === 'keysheet' || place.name === 'share') continue;
    const { act, ...still } = place;
    await show(page, still);
    assert.match(await page.locator('[data-scope=read]').innerText(), /may only read/, place.name);
    n += (await pressAll(page, still)).length;
  }
  assert.ok(n > 60, `${n} buttons were pressed`);
  assert.deepEqual(refused, []);
  await close();
});

test('who may only read: writing, answering, running and deciding are switched off, in both languages', { skip }, async () => {
  for (const [lang, says] of [['en-US', 'This sign-in may only read'], ['zh-CN', '此登录仅可查看']]) {
    const { page, refused, close } = await narrowed('read', { lang });
    await go(page, `/s/${talk}`);
    await page.locator('[data-question]').first().waitFor();
    assert.equal(await page.locator('.composer textarea').count(), 0);
    assert.equal((await page.locator('.composer').innerText()).trim(), says);
    assert.equal(await page.locator('[data-question] input:not(:disabled), [data-question] button:not(:disabled)').count(), 0);
    await page.locator('[data-question]').first().press('1');
    assert.equal(await page.locator('[data-question] input:checked').count(), 0);
    await page.keyboard.press('n');
    assert.equal(new URL(page.url()).pathname, `/s/${talk}`);

    await go(page, `/p/${prompt}`);
    const field = page.locator('[data-block-id=msg_3] textarea');
    await field.waitFor();
    assert.equal(await page.locator('.blocks textarea:not([readonly])').count(), 0);
    assert.equal(await page.locator('[data-grip]').count(), 0);
    const before = await field.inputValue();
    await field.press('x');
    await field.press('Control+Enter');
    await field.press('Control+s');
    assert.equal(await field.inputValue(), before);
    assert.equal(await page.locator('[data-run][data-status]').count(), 0);

    await go(page, '/t');
    await page.getByRole('switch').first().waitFor();
    assert.ok(await page.getByRole('switch').first().isDisabled());
    await go(page, '/x/demo');
    await page.locator('[data-cap]').first().waitFor();
    assert.equal(await page.locator('[data-cap] button:not(:disabled)').count(), 0);
    assert.deepEqual(refused, []);
    await close();
  }
});

test('for sessions alone: other pages are not offered, an address of one says why, and talking works', { skip }, async () => {
  for (const phone of [false, true]) {
    const { page, refused, close } = await narrowed('sessions', { phone });
    await go(page, '/');
    await page.waitForURL('**/s');
    const links = async () => page.locator('nav a[href^="/"]').evaluateAll((all) => all.map((one) => one.getAttribute('href')).filter((href) => /^\/[psvrmtx]$/.test(href)));
    assert.deepEqual(phone ? (await links()).filter((href) => href !== '/s') : await links(), phone ? [] : ['/s']);
    await go(page, '/m');
    await page.getByText('This sign-in does not reach this page').first().waitFor();
    await page.getByRole('link', { name: 'Sessions' }).last().click();
    await page.waitForURL('**/s');
    await go(page, '/settings/appearance');
    await page.getByText('Density').waitFor();
    assert.equal(await page.locator('a[href="/settings/keys"], a[href="/settings/users"], a[href="/audit"]').count(), 0);
    await go(page, '/s?new');
    await page.getByRole('textbox', { name: 'Say something…' }).fill('hello there');
    await page.keyboard.press('Enter');
    await page.locator('[data-turn][data-role=assistant][data-status=completed]').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(refused, []);
    await close();
  }
});

test('nobody signs in with a restricted key, and the page says what it is for', { skip }, async () => {
  const { plaintext } = await ok('POST', '/api/user/api-keys', { name: 'narrow', scope: 'read' });
  for (const [lang, label, button, title, why] of [['en-US', 'Key', 'Sign in', 'Nobody signs in with this key', /It is restricted/], ['zh-CN', '密钥', '登录', '这个密钥不能用来登录', /它受到限制/]]) {
    const { page, close } = await visit(server, { key: null, lang, allow: /Failed to load resource/ });
    await page.goto('/s');
    await page.getByLabel(label, { exact: true }).fill(plaintext);
    await page.getByRole('button', { name: button, exact: true }).click();
    const said = page.locator('[data-error=forbidden]');
    await said.waitFor();
    assert.equal(await said.locator('b').innerText(), title);
    assert.match(await said.innerText(), why);
    await close();
  }
});

test('an element whose key may only read shows the session, and offers nothing else', { skip }, async (t) => {
  const host = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>host</title><link rel="icon" href="data:,"><script type="module" src="${own.url}/embed/parley-session.js"></script><parley-session composer style="height: 600px"></parley-session>`));
  await new Promise((done) => { host.listen(0, '127.0.0.1', done); });
  t.after(() => host.close());
  const origin = `http://127.0.0.1:${host.address().port}`;
  const own = await serve({ args: ['--allow-origin', origin] });
  const id = await session(own, 'hello element', { model: 'demo/echo' });
  await until(async () => (await own.ask('GET', `/api/sessions/${id}`)).json.status === 'completed', () => 'it did not end');
  const { plaintext } = (await own.ask('POST', '/api/user/api-keys', { body: { name: 'shown', scope: 'read' } })).json;
  const { page, close } = await visit(own, { key: null });
  await page.goto(origin);
  await page.evaluate(({ url, id, key }) => Object.assign(document.querySelector('parley-session'), { key }).setAttribute('server', url) ?? document.querySelector('parley-session').setAttribute('session', id), { url: own.url, id, key: plaintext });
  await page.locator('[data-turn][data-role=assistant]').waitFor();
  await page.locator('.composer').getByText('may only read').waitFor();
  assert.equal(await page.getByRole('textbox').count(), 0);
  await close();
  await own.stop();
});

test('what waits for the person is counted on every page, and followed', { skip }, async () => {
  const own = await serve();
  const { page, close } = await visit(own);
  await go(page, '/m');
  const badge = page.locator('nav a[href="/s"] .badge');
  await page.waitForLoadState('networkidle');
  assert.equal(await badge.count(), 0);
  const id = await session(own, '#!demo\ncall AskUserQuestion {"questions":[{"question":"Which?","header":"H","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}');
  await badge.waitFor();
  assert.equal(await badge.innerText(), '1');
  await page.reload();
  await badge.waitFor();
  await own.ask('POST', `/api/sessions/${id}/stop`, { body: {} });
  await badge.waitFor({ state: 'detached' });
  await close();
  await own.stop();
});
