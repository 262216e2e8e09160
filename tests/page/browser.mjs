// A real browser on the real page: Debian's chromium, driven by playwright-core, with a server of the test. Without
// chromium, without the packages of web/, or in a program built without its page, the tests are skipped with the
// reason.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { root } from '../e2e/harness.mjs';
import { start } from '../e2e/server.mjs';
import { SAFETY_MS, until } from '../e2e/waiting.mjs';

export { until };

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const packages = createRequire(join(root, 'web/package.json'));
const load = (name) => { try { return packages(name); } catch { return null; } };
const playwright = load('playwright-core');

export const noBrowser = !program ? 'chromium is not installed' : !playwright ? 'the packages of web/ are not installed'
  : !existsSync(join(root, 'web/dist/index.html')) && 'the page was not built (make page)';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
let browser, profile;
after(async () => {
  await browser?.close();
  if (profile) rmSync(profile, { recursive: true, force: true });
});

// A server with the page of web/dist, so that a test of the page needs no new build of the program.
export const serve = ({ args = [], ...rest } = {}) => start({ args: ['--ui-dir', join(root, 'web/dist'), ...args], ...rest });

// A new window, signed in unless `key` is null. Console messages count as findings, except those that `allow`
// matches: the browser itself reports each answer of 400 and more.
export async function visit(server, { key = server.key, lang = 'en-US', theme = 'light', phone = false, allow, ...more } = {}) {
  browser ??= await playwright.chromium.launch({ executablePath: program, args: flags, headless: true });
  const context = await browser.newContext({
    baseURL: server.url, locale: lang, colorScheme: theme, reducedMotion: 'reduce', acceptDownloads: true,
    viewport: phone ? { width: 390, height: 844 } : { width: 1440, height: 900 }, hasTouch: phone, isMobile: phone, ...more,
  });
  if (key) assert.equal((await context.request.post('/api/login', { data: { key, cookie: true } })).status(), 201);
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => { if (!allow?.test(message.text())) said.push(`${message.type()}: ${message.text()}`); });
  page.on('pageerror', (error) => said.push(`error: ${error.stack || `${error.name} ${error.message} at ${page.url()}`}`));
  page.on('dialog', (dialog) => { said.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.setDefaultTimeout(SAFETY_MS);
  return { page, context, said, close: async () => { await context.close(); assert.deepEqual(said, []); } };
}

export async function go(page, path) {
  await page.goto(path);
  await page.waitForSelector('body[data-page] main', { state: 'attached' });
}

// The violations that axe rates as serious or critical.
export async function findings(page, where) {
  // Injected through the protocol: the page's policy refuses foreign scripts.
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(load('axe-core').source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'], rules: { 'scrollable-region-focusable': { enabled: true } } }));
  return found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${where}: ${id}: ${nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.any.map((a) => a.message).join('; ').slice(0, 200)}`).join(' | ')}`);
}

export async function accessible(page, where) {
  assert.deepEqual(await findings(page, where), []);
}

export const tmp = (name) => { profile ??= mkdtempSync(join(tmpdir(), 'parley-page-')); return join(profile, name); };

export const script = (...lines) => ['#!demo', ...lines].join('\n');

// A session with one message, made over the API.
export async function session(server, message, { model = 'demo/agent', ...fields } = {}) {
  const { id } = (await server.ask('POST', '/api/sessions', { body: { model, ...fields } })).json;
  if (message) await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message } });
  return id;
}
