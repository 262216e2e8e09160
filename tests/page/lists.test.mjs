// Lists with keys: no data makes two keys equal. First a static check of every `{#each}` of the page; then in the browser,
// with a server that sends every item twice.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import test from 'node:test';
import { root } from '../e2e/harness.mjs';
import { go, noBrowser, script, serve, session, visit } from './browser.mjs';
import { places, show } from './places.mjs';

const sources = join(root, 'web/src');
const files = readdirSync(sources, { recursive: true }).filter((name) => name.endsWith('.svelte')).map((name) => join(sources, name));

function* nodes(node) {
  if (!node || typeof node !== 'object') return;
  if (Array.isArray(node)) { for (const one of node) yield* nodes(one); return; }
  if (typeof node.type === 'string') yield node;
  for (const [name, value] of Object.entries(node)) if (name !== 'metadata' && name !== 'parent') yield* nodes(value);
}

// `once(list, (thing) => key)`, either inline or where the name was defined.
function onceCall(expression, ast) {
  if (expression?.type === 'CallExpression' && expression.callee.name === '$derived') return onceCall(expression.arguments[0], ast);
  if (expression?.type === 'CallExpression' && expression.callee.name === 'once') return expression;
  if (expression?.type !== 'Identifier') return null;
  const made = [...nodes(ast)].filter((node) => node.type === 'VariableDeclarator' && node.id.name === expression.name);
  return made.length === 1 && made[0].init?.name !== expression.name ? onceCall(made[0].init, ast) : null;
}

test('each list is drawn by its places, or by a key that `once` made its own', { skip: noBrowser }, async () => {
  const { parse } = createRequire(join(root, 'web/package.json'))('svelte/compiler');
  const bad = [];
  let n = 0;
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const ast = parse(text, { modern: true });
    const source = (node) => text.slice(node.start, node.end).replace(/^\((.*)\)$/, '$1');
    for (const each of nodes(ast)) {
      if (each.type !== 'EachBlock') continue;
      n++;
      const isPlace = !each.key || (each.key.type === 'Identifier' && each.key.name === each.index);
      const arrow = isPlace ? null : onceCall(each.expression, ast)?.arguments[1];
      const isOwn = arrow?.params.length === 1 && source(arrow.params[0]) === source(each.context) && source(arrow.body) === source(each.key);
      if (!isPlace && !isOwn) bad.push(`${relative(sources, file)}: ${text.slice(each.start, text.indexOf('}', each.key.end) + 1)}`);
    }
  }
  assert.ok(n > 100, `${n} lists`);
  assert.deepEqual(bad, []);
});

// Doubles each element of every list, at any depth.
const twice = (value) => (Array.isArray(value) ? value.flatMap((one) => [twice(one), twice(one)])
  : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, twice(one)])) : value);

test('a server that tells everything twice breaks no page', { skip: noBrowser }, async () => {
  const server = await serve();
  const { list } = await places(server);
  for (const phone of [false, true]) {
    const { page, close } = await visit(server, { phone, lang: phone ? 'zh-CN' : 'en-US', allow: /Failed to load resource/ });
    let doubled = 0;
    await page.route(/\/(api|openapi)/, async (route) => {
      const answer = await route.fetch().catch(() => null);
      if (!answer) return void await route.abort();
      if (!/json/.test(answer.headers()['content-type'] ?? '') || route.request().url().endsWith('/api/me')) return void await route.fulfill({ response: answer });
      doubled++;
      await route.fulfill({ response: answer, json: twice(await answer.json()) });
    });
    await page.routeWebSocket(/\/api\/ws/, (socket) => {
      const far = socket.connectToServer();
      far.onMessage((text) => socket.send(JSON.stringify(twice(JSON.parse(text)))));
    });
    for (const { act, ...place } of list) {
      await show(page, place);
      // a broken page shows nothing more
      await page.locator('main').first().waitFor();
    }
    assert.ok(doubled > 40, `${doubled} answers were doubled`);
    await close();
  }
  await server.stop();
});

test('a prompt whose messages and variables have one name twice is edited, compared and saved', { skip: noBrowser }, async () => {
  const server = await serve();
  const content = (...texts) => ({ protocol: 'structured-chat', messages: texts.map((text) => ({ id: 'same', role: 'user', content: text })), variables: [{ name: 'v', type: 'text' }, { name: 'v', type: 'number' }] });
  const { id } = (await server.ask('POST', '/api/prompts', { body: { name: 'same ids', type: 'structured', content: content('one {{v}}', 'two', 'three') } })).json;
  const { page, context, close } = await visit(server, { allow: /412/ });
  await go(page, `/p/${id}`);
  const field = (at, on = page) => on.getByRole('textbox', { name: `User, block ${at} of 3` });
  await field(3).waitFor();
  // the variables are drawn a moment after the messages
  await page.locator('[data-var=v]').first().waitFor();
  assert.equal(await page.locator('[data-var=v]').count(), 1);
  const other = await context.newPage();
  await go(other, `/p/${id}`);
  await field(2, other).fill('two, over there');
  await page.getByText('Changed in another tab. You see the newest.').waitFor();
  assert.equal(await field(2).inputValue(), 'two, over there');
  assert.equal(await field(3).inputValue(), 'three');
  await go(page, `/p/${id}?tab=versions&diff=1`);
  await page.locator('[data-block-id=same] ins').first().waitFor();
  await other.keyboard.press('Control+s');
  await other.locator('[data-toast]').filter({ hasText: 'Saved as v2' }).waitFor();
  assert.deepEqual((await server.ask('GET', `/api/prompts/${id}`)).json.latest.content.messages.map((one) => one.content), ['one {{v}}', 'two, over there', 'three']);
  await close();
  await server.stop();
});

test('what is loaded late asks for nothing again: a shared session in another language, a session that goes on under the palette', { skip: noBrowser }, async () => {
  const server = await serve();
  const id = await session(server, script('say Hello everybody.'));
  const { token } = (await server.ask('PATCH', `/api/sessions/${id}`, { body: { shared: true } })).json.share;
  const { page, close } = await visit(server);
  let asked = 0;
  page.on('request', (request) => { if (request.url().includes('/api/share/')) asked++; });
  // the identity arrives after the turns
  let goOn;
  const held = new Promise((done) => { goOn = done; });
  await page.route('**/api/me', async (route) => { await held; await route.continue(); });
  await page.goto(`/share/${token}`);
  await page.locator('[data-role=assistant]', { hasText: 'Hello everybody.' }).waitFor();
  const me = page.waitForResponse('**/api/me');
  goOn();
  await me;
  await page.getByRole('button', { name: '中文' }).click();
  await page.locator('body[data-lang=zh-CN]').waitFor();
  await page.getByRole('button', { name: 'English' }).click();
  await page.locator('body[data-lang=en]').waitFor();
  assert.equal(asked, 1);
  assert.equal(await page.locator('[data-turn]').count(), 2);
  // the palette announces its own text; later messages are still announced
  await page.unroute('**/api/me');
  await go(page, `/s/${id}`);
  await page.locator('[data-turn]').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or jump to…' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Language' }).click();
  await page.getByRole('menuitemcheckbox', { name: '简体中文' }).click();
  await page.locator('body[data-lang=zh-CN]').waitFor();
  await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: script('say Still here.') } });
  await page.locator('[data-role=assistant]', { hasText: 'Still here.' }).waitFor();
  await close();
  await server.stop();
});
