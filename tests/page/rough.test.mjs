// Rough use of the page: signed out while writing, a server that restarts, very long names, windows of any size, a paste of
// megabytes, keys faster than answers, pages without permission.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { root, run } from '../e2e/harness.mjs';
import { accessible, go, noBrowser, script, serve, session, until, visit } from './browser.mjs';

const skip = noBrowser;
let server;
before(async () => { if (!noBrowser) server = await serve(); });
const content = (text) => ({ protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: text }] });
const prompt = async (name, text = 'hello', at = server) => (await at.ask('POST', '/api/prompts', { body: { name, type: 'structured', content: content(text) } })).json.id;
const field = (page) => page.locator('[data-block-id=m] textarea');
const composer = (page) => page.getByRole('textbox', { name: 'Say something…' });
const kept = (page, as) => page.waitForFunction((to) => document.querySelector('[data-kept]')?.dataset.kept === to, as);

test('signed out while writing: what was typed is there again', { skip }, async () => {
  const { page, context, close } = await visit(server, { allow: /401|WebSocket/ });
  const signIn = async () => {
    await page.getByLabel('Key').fill(server.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  // Removes the cookie at the moment when the page sends the typed text: any earlier, another request could show the sign-in.
  const signOutAt = (method, path) => {
    let isDone = false;
    return page.route(path, async (route) => {
      if (!isDone && route.request().method() === method) {
        isDone = true;
        await context.clearCookies();
      }
      await route.continue();
    });
  };
  const id = await prompt('signed out');
  await go(page, `/p/${id}`);
  await field(page).waitFor();
  await signOutAt('PUT', '**/draft');
  await field(page).fill('typed without a key');
  await signIn();
  await field(page).waitFor();
  assert.equal(await field(page).inputValue(), 'typed without a key');
  await until(async () => (await server.ask('GET', `/api/prompts/${id}/draft`)).json.content?.messages[0].content === 'typed without a key', () => 'the draft is not kept');
  // sent with Enter, refused, and not lost
  await go(page, `/s/${await session(server, null, { model: 'demo/echo' })}`);
  await composer(page).waitFor();
  await signOutAt('POST', '**/chat');
  await composer(page).fill('not lost');
  await page.keyboard.press('Enter');
  await signIn();
  await composer(page).waitFor();
  assert.equal(await composer(page).inputValue(), 'not lost');
  await composer(page).press('Enter');
  await page.locator('[data-role=assistant]', { hasText: 'not lost' }).waitFor();
  await close();
});

test('a server that restarts: what was said meanwhile stays, what was typed is kept when it is back', { skip }, async () => {
  const own = await serve();
  const id = await session(own, null, { model: 'demo/echo' });
  const { page, context, close } = await visit(own, { lang: 'zh-CN', allow: /WebSocket|Failed to load|ERR_/ });
  const says = page.getByRole('textbox', { name: '说点什么…' });
  await go(page, `/s/${id}`);
  await says.waitFor();
  await page.locator('body[data-conn=ok]').waitFor();
  const bench = await context.newPage();
  await go(bench, `/p/${await prompt('restart', 'hello', own)}`);
  await field(bench).waitFor();
  await bench.locator('body[data-conn=ok]').waitFor();
  await own.stop('SIGTERM', { keep: true });
  await page.waitForFunction(() => document.body.dataset.conn !== 'ok');
  await says.fill('said while away');
  await says.press('Enter');
  // in the page's own words, not the browser's
  await page.locator('[data-toast]', { hasText: '服务器没有应答' }).waitFor();
  assert.equal(await says.inputValue(), 'said while away');
  await field(bench).fill('typed while away');
  await kept(bench, 'failed');
  const again = await serve({ data: own.data, args: ['--port', new URL(own.url).port] });
  await page.locator('body[data-conn=ok]').waitFor();
  await says.press('Enter');
  await page.locator('[data-role=assistant]', { hasText: 'said while away' }).waitFor();
  await kept(bench, 'kept');
  await close();
  await again.stop();
});

test('reload, back and forward in mid-stream leave no word out', { skip }, async () => {
  const words = Array.from({ length: 120 }, (_, i) => `w${i}`).join(' ');
  const { page, close } = await visit(server);
  await go(page, `/s/${await session(server, null, { model: 'demo/slow' })}`);
  await composer(page).fill(words);
  await composer(page).press('Enter');
  await page.waitForFunction(() => document.querySelector('[data-role=assistant]')?.textContent.includes('w10 '));
  await page.reload();
  await page.locator('[data-turn]').first().waitFor();
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.waitForURL('**/r');
  await page.goBack();
  await page.locator('[data-turn]').first().waitFor();
  await page.goForward();
  await page.waitForURL('**/r');
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('[data-role=assistant]')?.dataset.status === 'completed');
  assert.equal((await page.locator('[data-role=assistant] .prose').innerText()).replace(/\s+/g, ' ').trim(), words);
  await close();
});

const names = ['W'.repeat(200), `${'مرحبا بالعالم '.repeat(6)}${'👩‍👩‍👧‍👦'.repeat(4)}${'Z̷̢̛͇̤̱̋'.repeat(8)}`];
test('names of any length and script, in windows of any size, push nothing off the screen', { skip }, async () => {
  const own = await serve();
  const ask = async (method, path, body) => {
    const answer = await own.ask(method, path, { body });
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return answer.json;
  };
  const paths = ['/?home', '/t?view=week', '/t?view=agenda', '/r', '/settings/keys', '/settings/users', '/settings/models', '/settings/data', '/audit', '/v'];
  for (const name of names) {
    const made = await ask('POST', '/api/prompts', { name, folder: [...name].slice(0, 60).join(''), type: 'structured', content: { ...content(`${name} {{${'v'.repeat(60)}}}`), system_prompt: name } });
    const task = await ask('POST', '/api/scheduled-tasks', { title: name, cron: '0 9 * * *', prompt: name, model: 'demo/echo' });
    const memory = await ask('POST', '/api/memories', { content: name.repeat(2), topic: [...name].slice(0, 60).join('') });
    await ask('POST', '/api/user/api-keys', { name: [...name].slice(0, 40).join('') });
    paths.push(`/p/${made.id}`, `/p/${made.id}?tab=versions`, `/t?task=${task.id}`, `/m?id=${memory.id}`, `/s/${await session(own, name, { intent: name.repeat(4), model: 'demo/echo' })}`);
  }
  const found = [];
  for (const [width, height] of [[320, 600], [800, 500], [1101, 700], [3840, 2160]]) {
    const { page, close } = await visit(own, { viewport: { width, height } });
    for (const path of paths) {
      await go(page, path);
      await page.waitForLoadState('networkidle');
      found.push(...await page.evaluate(() => {
        const out = document.documentElement.scrollWidth > innerWidth ? [`${document.documentElement.scrollWidth} px wide`] : [];
        const scrolls = (node) => { for (let at = node.parentElement; at; at = at.parentElement) if (/auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return true; return false; };
        for (const node of document.querySelectorAll('header.top button, header.top a, main button, main input, main select')) {
          const at = node.getBoundingClientRect();
          if (at.width && node.checkVisibility() && (at.right > innerWidth + 2 || at.left < -2) && !scrolls(node)) out.push(`${node.tagName} ${(node.ariaLabel || node.innerText || node.className).slice(0, 40)} at ${Math.round(at.left)} to ${Math.round(at.right)}`);
        }
        return out.slice(0, 3);
      }).then((all) => all.map((one) => `${width} ${path.replace(/_[\w-]+/, '')}: ${one}`)));
    }
    await close();
  }
  assert.deepEqual(found, []);
  await own.stop();
});

test('a paste of 5 MB: it is said what cannot be kept or sent, and the words stay', { skip }, async () => {
  const { page, context, close } = await visit(server, { allow: /Failed to load resource/ });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url.replace(/\/$/, '') });
  const big = 'The quick brown fox. '.repeat(250_000);
  // a toast may disappear before the browser has laid out so much text
  await page.addInitScript(() => {
    globalThis.told = [];
    new MutationObserver((list) => { for (const { addedNodes } of list) for (const node of addedNodes) if (node.matches?.('[data-toast]')) globalThis.told.push(node.textContent); }).observe(document, { subtree: true, childList: true });
  });
  await go(page, '/s?new');
  await composer(page).focus();
  await page.evaluate((text) => navigator.clipboard.writeText(text), big);
  await page.keyboard.press('Control+v');
  await page.keyboard.press('Control+Enter');
  await page.waitForFunction(() => globalThis.told.some((text) => text.includes('The message is over 4 MiB')));
  assert.equal(await composer(page).evaluate((node) => node.value.length), big.length);
  // its height is not computed from megabytes of text
  assert.equal(await composer(page).evaluate((node) => getComputedStyle(node).fieldSizing), 'fixed');
  await go(page, `/p/${await prompt('big')}`);
  await field(page).focus();
  await page.keyboard.press('Control+v');
  const notice = page.locator('.notice[data-error]');
  await notice.getByText('The draft is not kept: neither the server nor this browser takes it').waitFor();
  assert.match(await notice.innerText(), /MiB|bytes|large|over/);
  await close();
});

test('keys that are faster than answers: Enter in the palette takes what is typed; tasks and new prompts are reached', { skip }, async () => {
  const own = await serve();
  for (const name of ['alpha', 'beta']) await prompt(name, name, own);
  for (const title of ['Some other', 'Morning words']) await own.ask('POST', '/api/scheduled-tasks', { body: { title, cron: '0 9 * * *', prompt: 'x', model: 'demo/echo' } });
  const { page, close } = await visit(own);
  await go(page, '/v');
  await page.waitForLoadState('networkidle');
  const find = page.getByRole('combobox', { name: 'Search or jump to…' });
  const open = async () => { await page.keyboard.press('Control+k'); await find.waitFor(); await page.getByRole('option', { name: 'alpha' }).waitFor(); };
  await open();
  // the answers to this arrive late
  let goOn;
  const held = new Promise((done) => { goOn = done; });
  await page.route(/\/api\/\w+[-\w]*\?.*q=/, async (route) => { await held; await route.continue(); });
  await page.keyboard.type('Memory');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/m');
  goOn();
  await open();
  await find.fill('Morning');
  await page.getByRole('option', { name: 'Morning words' }).click();
  await page.waitForURL(/\/t\?task=/);
  await page.getByRole('heading', { name: 'Morning words' }).waitFor();
  await open();
  await find.fill('New prompt');
  await page.getByRole('option', { name: 'New prompt' }).click();
  await page.waitForURL('**/p/new');
  await page.locator('[data-role=system] textarea:focus').waitFor();
  await close();
  await own.stop();
});

test('what is not there, and what one may not see, is said with a way on', { skip }, async () => {
  const member = (await server.ask('POST', '/api/users', { body: { name: 'a-member' } })).json.key.plaintext;
  const { page, close } = await visit(server, { key: member, allow: /403|404|Failed to load/ });
  for (const [path, says] of [['/p/prompt_none', 'not_found'], ['/s/sess_none', 'not_found'], ['/share/none', 'not_found'], ['/audit', 'forbidden']]) {
    await go(page, path);
    const note = page.locator(`[role=alert][data-error=${says}]`);
    await note.waitFor();
    assert.ok(await note.locator('button, a').count() > 0, path);
  }
  // nothing can be sent to a session that does not exist
  await go(page, '/s/sess_none');
  await page.locator('[data-error]').waitFor();
  assert.equal(await page.locator('.composer').count(), 0);
  await page.getByRole('link', { name: 'Sessions' }).last().click();
  await page.waitForURL('**/s');
  for (const part of ['users', 'data', 'nowhere']) {
    await page.goto(`/settings/${part}`);
    await page.waitForURL('**/settings');
  }
  await close();
});

test('a vendor that says to wait, in words and on the button; a model that is busy keeps its name', { skip }, async () => {
  const { page, close } = await visit(server);
  const id = await session(server, null);
  await go(page, `/s/${id}`);
  await composer(page).fill('/demo 429');
  await composer(page).press('Enter');
  const note = page.locator('[data-error=rate_limited]');
  await note.getByText('demo/agent takes no more requests right now').waitFor();
  assert.match(await note.innerText(), /It says to wait 20\ss\. The text so far is kept\.[^]*Try again in 20\ss/);
  await close();
});

test('from the composer to a confirmation: the first focus is on No, and its key says no', { skip }, async () => {
  const { page, close } = await visit(server);
  const id = await session(server, script('call publish {"title":"x","html":"y"}', '---', 'say It was not allowed.'));
  await go(page, `/s/${id}`);
  await page.getByRole('button', { name: '1 question waits above' }).click();
  await page.waitForFunction(() => document.activeElement?.textContent.includes('Do not allow'));
  await page.locator('button:focus:not([aria-disabled])').waitFor(); // nothing is accepted in the first 400 ms
  await page.keyboard.press('Enter');
  await page.locator('[data-call][data-status=error]').waitFor();
  await close();
});

test('an extension has its rows of the audit log; the data say where they are and how much', { skip }, async () => {
  const own = await serve();
  assert.equal(run(['ext', 'add', 'demo', '--yes'], { env: { PARLEY_DATA: own.data } }).code, 0);
  await session(own, script('call demo_card {"title":"x","numbers":[1]}'));
  await until(async () => (await own.ask('GET', '/api/audit')).json.items.some((one) => one.action === 'tool_call.end'), () => 'the call is not in the log');
  const { page, close } = await visit(own);
  await go(page, '/x/demo');
  await page.getByRole('tab', { name: 'Audit' }).click();
  await page.locator('[data-audit]', { hasText: 'tool_call.end' }).waitFor();
  await page.locator('.xlog [data-chain=ok]').waitFor();
  assert.equal(await page.locator('[data-audit]', { hasText: 'key.create' }).count(), 0, 'only its own');
  await accessible(page, 'the audit of an extension');
  await page.getByRole('link', { name: 'The whole log' }).click();
  await page.waitForURL('**/audit?q=demo');
  for (const path of ['/settings/data', '/?home']) {
    await go(page, path);
    await page.getByText(own.data, { exact: true }).waitFor();
  }
  await go(page, '/settings/data');
  assert.match(await page.locator('[data-place]').innerText(), /\d+(\.\d)? [kM]B/);
  await close();
  await own.stop();
});

test('every handler of a key leaves composed ones alone', () => {
  const sources = join(root, 'web/src');
  const bad = [];
  for (const name of readdirSync(sources, { recursive: true })) {
    if (!/\.(svelte|ts)$/.test(name)) continue;
    const text = readFileSync(join(sources, name), 'utf8');
    for (const found of text.matchAll(/function (\w+)\((\w+): KeyboardEvent[^]*?\n(?: {2})?\}/g)) {
      if (!['keyName'].includes(found[1]) && !found[0].includes(`isComposing(${found[2]})`)) bad.push(`${name}: ${found[1]}`);
    }
  }
  assert.deepEqual(bad, []);
});
