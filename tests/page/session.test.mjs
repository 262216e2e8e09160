// Sessions: every block, questions and confirmations, a broken connection, long answers, many turns, composition, 390 px.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { go, noBrowser, script, serve, session, until, visit } from './browser.mjs';

let server;
before(async () => { if (!noBrowser) server = await serve(); });
const skip = noBrowser;
const status = async (id) => (await server.ask('GET', `/api/sessions/${id}`)).json.status;
const over = (id, as = 'completed') => until(async () => await status(id) === as, () => `the session is not ${as}`);
const say = async (page, text) => {
  await page.getByRole('textbox', { name: 'Say something…' }).fill(text);
  await page.keyboard.press('Enter');
};

const everything = script(
  'think Plan first.', 'block planning_enter null',
  'block plan_status {"title":"Audit","steps":[{"id":"1","title":"List","status":"done"},{"id":"2","title":"Read","status":"in_progress"}]}',
  'block planning_exit null', 'block mode_change {"from":"planning","to":"executing"}',
  'say I look at **both** at once.', 'call echo {"path":"app/run.py"}', 'call calc {"expression":"(1+2"}', '---',
  'block system_notification "Context is at 71 %."', 'block tool_bridge {"action":"editor.reveal","payload":{"file":"run.py"}}',
  'call AskUserQuestion {"questions":[{"question":"Which format?","header":"Format","options":[{"label":"HTML"},{"label":"Markdown","description":"fits"}]}]}', '---',
  'call Agent {"prompt":"#!demo\\nsay Both hold.","description":"Check the two"}', '---',
  'call publish {"title":"Findings","html":"<!doctype html><p>card</p>"}', '---', 'say Done. The report is there.');

test('demo/agent from question to confirmation to card to end, every block once', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, '/s?new');
  await page.getByRole('button', { name: /^Model:/ }).click();
  await page.getByRole('combobox').fill('agent');
  await page.getByRole('combobox').press('Enter');
  await say(page, everything);
  await page.waitForURL(/\/s\/sess_/);
  const id = page.url().split('/').at(-1);
  const question = page.locator('section[data-question]');
  await question.waitFor();
  assert.equal(await page.locator('body').getAttribute('data-page'), 'session');
  // It never takes the focus, and text typed in the composer does not answer it.
  assert.ok(await page.evaluate(() => !document.activeElement.closest('[data-question]')));
  await page.getByRole('textbox', { name: 'Say something…' }).focus();
  await page.keyboard.type('2');
  assert.equal(await question.locator('.opt.on').count(), 0);
  await page.keyboard.press('Backspace');
  await page.getByRole('button', { name: '1 question waits above' }).click();
  await page.keyboard.press('2');
  assert.match(await question.locator('.opt.on').innerText(), /Markdown/);
  await page.keyboard.press('Enter');
  // The confirmation: all arguments, No first in tab order, no key accepted in the first 400 ms.
  const no = page.getByRole('button', { name: 'Do not allow' });
  await no.waitFor();
  const confirm = page.locator('section[data-question]', { has: no });
  assert.match(await confirm.innerText(), /<!doctype html><p>card<\/p>/);
  assert.equal(await confirm.locator('button:not(.link)').first().innerText(), 'Do not allow');
  await confirm.getByRole('button', { name: 'Allow once' }).evaluate((button) => { if (button.hasAttribute('aria-disabled')) button.click(); });
  assert.equal(await status(id), 'waiting_for_input');
  await page.locator('button:not([aria-disabled])', { hasText: 'Allow once' }).click();
  await page.getByText('Done. The report is there.', { exact: true }).waitFor();
  await over(id);
  await page.locator('[data-block=tool_ui]').first().waitFor({ state: 'attached' }); // the code for cards is loaded with the first one
  const blocks = await page.locator('[data-block]').evaluateAll((all) => [...new Set(all.map((e) => e.dataset.block))]);
  for (const type of ['text', 'thinking', 'tool_use', 'tool_result', 'tool_ui', 'tool_bridge', 'system_notification', 'mode_change', 'planning_enter', 'planning_exit', 'plan_status', 'ask_user_answer'])
    assert.ok(blocks.includes(type), `${type} of ${blocks}`);
  assert.equal(await page.locator('.par [data-call]').count(), 2);
  assert.equal(await page.locator('[data-call][data-status=error] .io').count(), 1, 'a failed call opens itself');
  assert.match(await page.locator('[data-lane]').innerText(), /Check the two[^]*Both hold/);
  assert.match(await page.locator('[data-block=ask_user_answer]').innerText(), /Which format\?[^]*Markdown/);
  assert.ok(Number(await page.locator('[data-context=tools]').getAttribute('data-tokens')) > 0);
  assert.ok(await page.locator('[data-span=call]').count() >= 4 && await page.locator('[data-span=wait]').count() >= 1);
  await close();
});

test('a confirmation is refused with a reason, and the model is told', { skip }, async () => {
  const { page, close } = await visit(server);
  const id = await session(server, script('call publish {"title":"x","html":"y"}', '---', 'results'));
  await go(page, `/s/${id}`);
  await page.getByRole('button', { name: 'Why not? (told to the model)' }).click();
  await page.getByRole('textbox', { name: 'Why not? (told to the model)' }).fill('not on a Friday');
  await page.locator('button:not([aria-disabled])', { hasText: 'Do not allow' }).click();
  await over(id);
  await page.locator('[data-call][data-status=error]', { hasText: 'not on a Friday' }).waitFor();
  await close();
});

test('a session that waits for an answer is ended without one', { skip }, async () => {
  const { page, close } = await visit(server);
  const id = await session(server, script('call AskUserQuestion {"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}', '---', 'say never'));
  await go(page, `/s/${id}`);
  await page.locator('section[data-question]').waitFor();
  await page.locator('header.top').getByRole('button', { name: 'Stop' }).click();
  await over(id, 'interrupted');
  await page.locator('section[data-question]').waitFor({ state: 'detached' });
  await page.locator('header .pill', { hasText: 'Stopped' }).waitFor();
  assert.equal(await page.locator('header.top').getByRole('button', { name: 'Stop' }).count(), 0);
  await close();
});

test('hostile markup of a model, of tools and of names never runs', { skip }, async () => {
  const { page, context, close } = await visit(server);
  const bad = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  const id = await session(server, script(`say ${bad} [a](javascript:alert(3)) [b](data:text/html,x) ![c](https://evil.invalid/p.png) <iframe src=x>`,
    `think ${bad}`, `block system_notification ${JSON.stringify(bad)}`, `block mode_change {"to":${JSON.stringify(bad)}}`,
    `block plan_status {"title":${JSON.stringify(bad)},"steps":[{"title":${JSON.stringify(bad)}}]}`, `block tool_bridge {"action":${JSON.stringify(bad)},"payload":{}}`,
    `block tool_ui {"title":${JSON.stringify(bad)},"resourceUri":"https://evil.invalid/card"}`, `block tool_ui {"title":"x","resourceUri":"javascript:alert(4)"}`,
    `block ask_user_answer {${JSON.stringify(bad)}:${JSON.stringify(bad)}}`, `call echo {"x":${JSON.stringify(bad)}}`), { intent: bad });
  await over(id);
  const asked = [];
  page.on('request', (request) => { if (!request.url().startsWith(server.url)) asked.push(request.url()); });
  await go(page, `/s/${id}`);
  await page.locator('[data-block=tool_ui]').first().waitFor();
  await page.locator('[data-call]').getByRole('button').first().click();
  await page.locator('[data-block=tool_result]').waitFor();
  assert.equal(await page.locator('main script, main img[src=x], main iframe').count(), 0);
  assert.deepEqual(await page.locator('main .log a[href]').evaluateAll((all) => all.map((a) => new URL(a.href).protocol).filter((p) => !/^(https?|mailto):$/.test(p))), []);
  assert.deepEqual(asked, []);
  assert.equal(context.pages().length, 1);
  await close();
});

test('a card runs in its frame and reaches nothing else; its size is heard from that frame only', { skip }, async () => {
  const { page, close } = await visit(server, { allow: /Blocked|sandbox|cross-origin|SecurityError/i });
  const card = `<!doctype html><p id=p>card</p><script>let out = ''; try { out = parent.document.title; } catch { out = 'refused'; }
    try { localStorage.x = 1; out += ' stored'; } catch { out += ' refused'; } document.getElementById('p').textContent = out;
    parent.postMessage({ type: 'parley:size', height: 99999 }, '*'); try { top.location = 'https://evil.invalid/'; } catch {}</script>`;
  const id = await session(server, script(`call publish ${JSON.stringify({ title: 'A card', html: card })}`));
  await go(page, `/s/${id}`);
  await page.locator('button:not([aria-disabled])', { hasText: 'Allow once' }).click();
  const frame = page.locator('[data-block=tool_ui] iframe');
  await frame.waitFor();
  assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts');
  assert.match(await frame.getAttribute('src'), /^\/cards\/[0-9a-f]{64}$/);
  await page.frameLocator('[data-block=tool_ui] iframe').getByText('refused refused').waitFor();
  await page.waitForFunction(() => document.querySelector('[data-block=tool_ui] iframe').style.height === '2000px');
  await page.evaluate(() => window.postMessage({ type: 'parley:size', height: 50 }, '*'));
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  assert.equal(await frame.evaluate((f) => f.style.height), '2000px');
  assert.ok(page.url().startsWith(server.url));
  await close();
});

test('a connection that is cut in mid-stream heals without a lost or doubled word', { skip }, async () => {
  const { page, close } = await visit(server, { allow: /WebSocket|Failed to load resource/ });
  const id = await session(server, null, { model: 'demo/slow' });
  await page.addInitScript(() => {
    const Real = WebSocket;
    globalThis.sockets = [];
    globalThis.WebSocket = class extends Real { constructor(...a) { super(...a); globalThis.sockets.push(this); } };
  });
  await go(page, `/s/${id}`);
  const words = Array.from({ length: 150 }, (_, i) => `w${i}`).join(' ');
  await say(page, words);
  for (const at of [10, 40, 80, 120]) {
    await page.waitForFunction((n) => document.querySelector('[data-role=assistant]')?.textContent.includes(`w${n} `), at);
    await page.evaluate(() => globalThis.sockets.at(-1).close());
    await page.waitForFunction(() => document.body.dataset.conn !== 'ok');
  }
  await over(id);
  await page.waitForFunction(() => document.querySelector('[data-role=assistant]')?.dataset.status === 'completed');
  assert.equal((await page.locator('[data-role=assistant] .prose').innerText()).replace(/\s+/g, ' ').trim(), words);
  await page.waitForFunction(() => document.body.dataset.conn === 'ok');
  await close();
});

test('a streamed answer of 200 KB costs linear work, as one paragraph and as many', { skip }, async () => {
  const { page, close } = await visit(server);
  const lines = 1800;
  for (const end of ['', '\\n']) {
    const id = await session(server, null);
    await go(page, `/s/${id}`);
    await page.getByRole('textbox', { name: 'Say something…' }).waitFor();
    await page.evaluate(() => {
      globalThis.ops = 0;
      new MutationObserver((list) => { for (const m of list) globalThis.ops += 1 + m.addedNodes.length + m.removedNodes.length; })
        .observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
    });
    const text = Array.from({ length: lines }, (_, i) => `${'word '.repeat(18)}**${i}** and \`code\`.${end ? '\n\n' : ' '}`).join('');
    await server.ask('PATCH', `/api/sessions/${id}`, { body: { model: 'demo/echo' } });
    await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: text } });
    await over(id);
    await page.waitForFunction(() => [...document.querySelectorAll('[data-role=assistant]')].at(-1)?.dataset.status === 'completed');
    // the Markdown parser is loaded with the first answer
    await page.waitForFunction((n) => document.querySelectorAll('[data-role=assistant] b').length > n, lines);
    assert.equal(await page.locator('[data-role=assistant] b').count() - 1, lines);
    const ops = await page.evaluate(() => globalThis.ops);
    assert.ok(ops < lines * 40 + 10_000, `${ops} operations`);
  }
  await close();
});

test('3,000 turns: the newest hundred, older ones on demand with the place kept, jumps by link', { skip }, async () => {
  const { page, close } = await visit(server);
  const turns = Array.from({ length: 3000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn number ${i}` }));
  const { id } = (await server.ask('POST', '/api/sessions/import', { body: { document: { model: 'demo/echo', messages: turns }, from: 'openai-chat', intent: 'long' } })).json;
  await go(page, `/s/${id}`);
  await page.getByText('turn number 2999', { exact: true }).waitFor();
  assert.ok(await page.locator('[data-turn]').count() <= 101);
  const first = page.locator('[data-turn]').first();
  const old = await first.getAttribute('data-turn');
  await first.evaluate((turn) => { turn.closest('.body').scrollTop = 0; });
  await page.waitForFunction(() => document.querySelectorAll('[data-turn]').length > 150);
  // the turn that was visible is still visible
  assert.ok(await page.locator(`[data-turn="${old}"]`).evaluate((turn) => { const box = turn.closest('.body').getBoundingClientRect(), at = turn.getBoundingClientRect(); return at.top < box.bottom && at.bottom > box.top - 400; }));
  // also with its button; a mouse click would first scroll there, which loads turns by itself
  await page.getByRole('button', { name: 'Older turns' }).dispatchEvent('click');
  await page.waitForFunction(() => document.querySelectorAll('[data-turn]').length > 250);
  const far = (await server.ask('GET', `/api/sessions/${id}/messages?limit=1&before=2601`)).json[0];
  await go(page, '/s');
  await go(page, `/s/${id}#${far.turn_id}`);
  await page.locator(`[data-turn="${far.turn_id}"]`).waitFor();
  await page.waitForFunction((turn) => document.activeElement?.dataset.turn === turn, far.turn_id);
  // and the session still streams
  await say(page, 'one more');
  await page.waitForFunction(() => [...document.querySelectorAll('[data-turn]')].at(-1).textContent.includes('one more'));
  await close();
});

test('composed input sends nothing until it is composed; what was typed is kept', { skip }, async () => {
  const { page, close } = await visit(server, { lang: 'zh-CN' });
  const id = await session(server, null, { model: 'demo/echo' });
  await go(page, `/s/${id}`);
  assert.equal(await page.locator('body').getAttribute('data-lang'), 'zh-CN');
  const field = page.getByRole('textbox', { name: '说点什么…' });
  await field.fill('你好');
  for (const init of [{ isComposing: true }, { keyCode: 229 }])
    await field.evaluate((element, more) => { const e = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...more }); if (more.keyCode) Object.defineProperty(e, 'keyCode', { value: 229 }); element.dispatchEvent(e); }, init);
  assert.equal(await page.locator('[data-turn]').count(), 0);
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('再见');
  await page.reload();
  assert.equal(await field.inputValue(), '你好\n再见');
  await field.press('Enter');
  await page.locator('[data-role=assistant]', { hasText: '再见' }).waitFor();
  assert.equal(await field.inputValue(), '');
  await close();
});

test('stop, rename, pin, fork, share, replay, delete with undo; two tabs see the same list', { skip }, async () => {
  const { page, context, close } = await visit(server, { allow: /Failed to load resource/ });
  const id = await session(server, script('wait 600000', 'say never'), { intent: 'to be stopped' });
  await go(page, `/s/${id}`);
  const other = await context.newPage();
  await go(other, '/s');
  await other.locator('.list a', { hasText: 'to be stopped' }).waitFor();
  await page.locator('[data-turn][data-status=streaming]').waitFor();
  await page.keyboard.press('Control+.');
  await over(id, 'interrupted');
  await page.locator('header .pill', { hasText: 'Stopped' }).waitFor();
  await page.getByRole('banner').or(page.locator('header.top')).getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Rename' }).fill('a better name');
  await page.keyboard.press('Enter');
  await other.locator('.list a', { hasText: 'a better name' }).waitFor();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const link = await page.getByRole('dialog').getByRole('textbox').inputValue();
  const { page: stranger, close: leave } = await visit(server, { key: null, allow: /Failed to load resource/ });
  await stranger.goto(link);
  await stranger.locator('body[data-page=share] [data-turn]').first().waitFor();
  assert.equal(await stranger.locator('.side, .composer').count(), 0);
  await leave();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop sharing' }).click();
  await page.getByRole('button', { name: 'Fork from here' }).first().click();
  await page.waitForFunction((old) => !location.pathname.endsWith(old) && document.querySelector('[data-turn]'), id);
  const copy = page.url().split('/').at(-1);
  await page.locator('header.top').getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  assert.equal((await server.ask('GET', `/api/sessions/${copy}`)).status, 200);
  await page.waitForURL(`**/s/${copy}`);
  const said = await session(server, 'hello', { model: 'demo/echo' });
  await over(said);
  await go(page, `/s/${said}`);
  await page.locator('header.top').getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Play again' }).click();
  await page.locator('.replay').waitFor();
  await page.locator('[data-role=assistant]', { hasText: 'hello' }).waitFor();
  await close();
});
