// The Viewer: every format, every kind, losses and their places, broken input, hostile input.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { before } from 'node:test';
import { go, noBrowser, serve, tmp, until, visit } from './browser.mjs';

let server;
before(async () => { if (!noBrowser) server = await serve(); });
const skip = noBrowser;

const put = (page, text, name = 'a.json') => page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
// Drops a file as a person does: the browser notifies the page during the drag, then passes the file.
async function drop(page, text, name) {
  const files = await page.evaluateHandle(([words, called]) => {
    const data = new DataTransfer();
    data.items.add(new File([words], called, { type: 'application/json' }));
    return data;
  }, [text, name]);
  const zone = page.locator('.vdrop');
  for (const type of ['dragover', 'drop']) await zone.dispatchEvent(type, { dataTransfer: files });
  await files.dispose();
}
const chat = { model: 'gpt-5', seed: 7, messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', name: 'ann', content: 'Weather in Kyoto?' }] };
const convert = async (document, to) => (await server.ask('POST', '/api/convert', { body: { document, to, report: false } })).json.document;
const kinds = ['text', 'static_var', 'system_prompt', 'memory', 'skills', 'tool_overview', 'tool_call_request', 'tool_call_result', 'document', 'long_text', 'media'];

test('each kind has its own silhouette, and folds', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, '/v');
  await page.getByRole('button', { name: 'revenue.envelope.json' }).first().click();
  await page.waitForSelector('[data-kind=media]');
  for (const kind of kinds) assert.ok(await page.locator(`.env [data-kind=${kind}]`).count(), kind);
  // no two kinds have the same border, radius and background
  const looks = await page.evaluate((names) => names.filter((k) => !['text', 'static_var'].includes(k)).map((k) => {
    const s = getComputedStyle(document.querySelector(`[data-kind=${k}]`)), box = document.querySelector(`[data-kind=${k}] .box, [data-kind=${k}] .sheet`), b = box ? getComputedStyle(box) : s;
    return [s.borderTopStyle, s.borderLeftStyle, s.borderRadius, s.display, b.borderTopStyle, b.maskImage, s.borderTopWidth, s.borderLeftWidth].join();
  }), kinds);
  assert.equal(new Set(looks).size, looks.length, looks.join('\n'));
  // `collapsed` in the file is honoured: the long text is folded
  assert.ok(await page.locator('[data-kind=long_text] .fade').count());
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
  assert.equal(await page.locator('[data-kind=long_text] .fade').count(), 0);
  // V cycles through names and values, names, values; the address contains it
  await page.keyboard.press('v');
  assert.match(page.url(), /show=names/);
  assert.equal(await page.locator('[data-var=tone]').innerText(), '{{tone}}');
  await page.keyboard.press('v');
  assert.equal(await page.locator('[data-var=tone]').innerText(), '正式、简短');
  // kinds as a filter
  await page.locator('.filter [data-k=skills]').click();
  assert.deepEqual(await page.locator('.env [data-kind]').evaluateAll((all) => [...new Set(all.map((e) => e.dataset.kind))]), ['skills']);
  await page.goBack();
  await close();
});

test('any of the nine formats is dropped and shown as an envelope', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, '/v');
  for (const format of ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'harmony', 'envelope', 'structured-chat', 'turns']) {
    const document = format === 'openai-chat' ? chat : await convert(chat, format);
    await drop(page, typeof document === 'string' ? document : JSON.stringify(document), `${format}.json`);
    const { format: found } = (await server.ask('POST', '/api/detect', { body: { document } })).json;
    await page.getByText(`Recognised as ${found}`).waitFor();
    await page.locator('.env').getByText('Weather in Kyoto?').first().waitFor();
  }
  await close();
});

test('a loss is one row with its count, and shows its place in source and envelope', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, '/v');
  await page.getByRole('button', { name: 'revenue.envelope.json' }).first().click();
  const rows = page.locator('[data-loss]');
  await rows.first().waitFor();
  const told = await rows.evaluateAll((all) => all.reduce((sum, row) => sum + Number(row.dataset.count), 0));
  const text = await page.evaluate(() => JSON.parse(localStorage['parley.viewer.recent'])[0].text);
  const report = (await server.ask('POST', '/api/convert', { body: { document: text, from: 'envelope', to: 'anthropic' } })).json.report;
  assert.equal(told, report.losses.length);
  const row = page.locator('[data-loss]', { hasText: '/messages/0/segments/1/description' });
  await row.getByRole('button').click();
  assert.equal(await page.locator('.env [data-marked]').getAttribute('data-kind'), 'memory');
  assert.match(await page.locator('.src [data-marked]').first().innerText(), /description/);
  // and back: the number on a segment leads to its row
  await page.locator('[data-kind=skills] .lossmark').click();
  assert.equal(await page.locator('.env [data-marked]').getAttribute('data-kind'), 'skills');
  // another target; the result is copied and the carry leads home
  await page.getByRole('button', { name: /^Convert to/ }).click();
  await page.getByRole('combobox').fill('envel');
  await page.getByRole('combobox').press('Enter');
  await page.getByText('Nothing is lost').waitFor();
  await page.getByRole('button', { name: /^Convert to/ }).click();
  await page.getByRole('combobox').fill('openai-chat');
  await page.getByRole('combobox').press('Enter');
  await rows.first().waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download carry' }).click()]);
  await file.saveAs(tmp('carry.json'));
  const there = (await server.ask('POST', '/api/convert', { body: { document: text, from: 'envelope', to: 'openai-chat' } })).json.document;
  const home = (await server.ask('POST', '/api/convert', { body: { document: there, from: 'openai-chat', to: 'envelope', with_carry: JSON.parse(readFileSync(tmp('carry.json'), 'utf8')) } })).json.document;
  assert.deepEqual(home, JSON.parse(text));
  await close();
});

test('broken input says line, column and what was expected, and shows the rest before it', { skip }, async () => {
  const { page, close } = await visit(server, { allow: /Failed to load resource/ });
  await go(page, '/v');
  const text = JSON.stringify(chat, null, 1);
  const at = text.indexOf('"Weather');
  await put(page, `${text.slice(0, at)}tru${text.slice(at)}`);
  const lines = text.slice(0, at).split('\n');
  const flaw = page.locator('[data-error=invalid]');
  await flaw.waitFor();
  assert.match(await flaw.innerText(), new RegExp(`Line ${lines.length}, column ${lines.at(-1).length + 1}: expected`));
  await page.locator('.env').getByText('Be brief.').waitFor();
  assert.ok(await page.locator(`.ln.bad[data-line="${lines.length}"]`).count());
  // JSON that is not a conversation is reported as such, and stays readable
  await put(page, '{"a": 12345678901234567890123}');
  await page.getByText('No format we know').waitFor();
  assert.match(await page.locator('.src').innerText(), /12345678901234567890123/);
  // valid JSON that violates the schema is reported with the place
  await put(page, JSON.stringify({ version: '1.0', messages: [{ id: 'a', role: 'user', timestamp: 1, segments: [{ kind: 'text' }] }] }, null, 1));
  await flaw.first().waitFor();
  assert.match(await flaw.first().innerText(), /content/);
  // twenty edits of a file: the page always shows a message and never breaks
  for (let i = 0; i < text.length; i += Math.ceil(text.length / 20)) {
    await put(page, text.slice(0, i) + text.slice(i + 1), `edit-${i}.json`);
    await page.locator('h1', { hasText: `edit-${i}.json` }).waitFor();
    await page.locator('.env .msg, .env [data-error], .env .empty').first().waitFor();
  }
  await close();
});

test('in Chinese a loss says what it means, and its detail stands beside it', { skip }, async () => {
  const { page, close } = await visit(server, { lang: 'zh-CN' });
  await go(page, '/v');
  await put(page, JSON.stringify(chat));
  const row = page.locator('[data-loss=dropped]').first();
  await row.getByText('目标格式没有对应的位置，因此不会写入。').waitFor();
  assert.match(await row.locator('[lang=en]').innerText(), /[a-z]{3}/);
  await close();
  const { page: english, close: leave } = await visit(server);
  await go(english, '/v');
  await put(english, JSON.stringify(chat));
  await english.locator('[data-loss=dropped] [lang=en]').first().waitFor();
  assert.equal(await english.getByText('so it is left out').count(), 0, 'the detail says it already');
  await leave();
});

test('hostile text stays text: names, values, file names, unknown kinds', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, '/v');
  const bad = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
  const segments = [
    { kind: 'text', content: bad }, { kind: 'static_var', name: bad, value: bad }, { kind: 'system_prompt', content: bad, collapsed: false },
    { kind: 'memory', items: [{ title: bad, content: bad }], collapsed: false }, { kind: 'skills', items: [{ name: bad, description: bad }], collapsed: false },
    { kind: 'tool_overview', items: [{ name: bad, description: bad, parameters: bad, schema: { type: 'object', properties: { [bad]: { type: bad } } } }], collapsed: false },
    { kind: 'tool_call_request', toolName: bad, arguments: { [bad]: bad }, collapsed: false }, { kind: 'tool_call_result', toolName: bad, result: bad, success: false, collapsed: false },
    { kind: 'document', fileName: bad, mimeType: bad, snippet: bad, sizeBytes: 1, parsedContent: bad }, { kind: 'long_text', content: bad, charCount: 3, collapsed: false },
    { kind: 'media', mediaType: 'image', url: 'javascript:document.title="owned"', altText: bad }, { kind: 'media', mediaType: 'image', url: 'https://evil.invalid/x.png' },
  ];
  const asked = [];
  page.on('request', (request) => { if (!request.url().startsWith(server.url)) asked.push(request.url()); });
  await put(page, JSON.stringify({ version: '1.0', messages: [{ id: bad, role: 'user', timestamp: 1, segments }] }), `${bad}.json`);
  await page.getByRole('button', { name: 'Load from evil.invalid' }).waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  assert.notEqual(await page.title(), 'owned');
  assert.equal(await page.locator('main img[src=x], main script').count(), 0);
  assert.deepEqual(asked, []);
  await close();
});

test('a file of 100,000 lines is scrolled without being in the page', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, '/v');
  const many = JSON.stringify({ messages: Array.from({ length: 4000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `message ${i}` })) }, null, 1);
  await put(page, many, 'many.json');
  await page.getByText('Recognised as openai-chat').waitFor();
  assert.ok(await page.locator('.ln').count() < 200);
  await page.locator('.src .body').evaluate((box) => { box.scrollTop = box.scrollHeight; });
  await until(async () => (await page.locator('.ln').last().innerText()).includes('}'), () => 'the end is not shown');
  await close();
});
