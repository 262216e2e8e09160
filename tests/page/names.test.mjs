// File names from untrusted sources. Wherever one is shown or saved, markup is text and the extension is the one that is shown.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { go, noBrowser, serve, session, visit } from './browser.mjs';
import { makePdf } from './pdfs.mjs';

const skip = noBrowser;
const markup = '<img src=x onerror=alert(1)>';
// Drawn by a browser, the first would end in "exe.png" reversed, although it is a program.
const bad = `${markup}\u202egnp\u0007.exe`;
const shown = `${markup}\ufffdgnp\ufffd.exe`;
const hidden = /[\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/;
const bytes = Buffer.from('MZ, not a picture').toString('base64');
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let server, id, token;
before(async () => {
  if (noBrowser) return;
  server = await serve();
  const media = (content) => ({ type: 'media', content: { name: bad, ...content } });
  const document = [
    { role: 'user', blocks: [{ type: 'text', content: 'Files.' }, media({ kind: 'file', data: bytes, mime: 'application/octet-stream' }), media({ kind: 'image', data: pixel, mime: 'image/png' }), media({ kind: 'file', data: makePdf([['x']]).toString('base64'), mime: 'application/pdf' })] },
    { role: 'assistant', blocks: [{ type: 'text', content: 'So it is <cite id="c"/>.' }], metadata: { citation_map: { c: { source_type: 'pdf_document', source_name: bad, location: { page_number: 1 } } } } },
  ];
  ({ id } = (await server.ask('POST', '/api/sessions/import', { body: { format: 'turns', document } })).json);
  token = (await server.ask('PATCH', `/api/sessions/${id}`, { body: { shared: true } })).json.share.token;
});

// Checks every visible name: it equals the safe form, no part became an element, and no text or label has hidden characters.
async function plain(page, least, as = shown) {
  const names = await page.locator('[data-file-name]').allInnerTexts();
  assert.ok(names.length >= least, `${names.length} names`);
  for (const name of names) assert.equal(name, as);
  assert.equal(await page.locator('img[src$="/x"], img[src=x], [onerror]').count(), 0);
  const attributes = await page.evaluate(() => [...document.querySelectorAll('main [title], main [aria-label], main [alt], main [download], dialog [aria-label], dialog[aria-label]')].flatMap((e) => ['title', 'aria-label', 'alt', 'download'].map((a) => e.getAttribute(a) ?? '')));
  for (const text of attributes) assert.doesNotMatch(text, hidden);
  assert.doesNotMatch(await page.locator('main').innerText().then((text) => text.replace(/[\n\t]/g, '')), hidden);
}

test('in the composer', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, `/s/${await session(server, null, { model: 'demo/echo' })}`);
  // the server refuses names with control characters; the other tricks reach it
  const [attached, seen] = [bad, shown].map((name) => name.replace(/[\u0007\ufffd](?=\.exe$)/, ''));
  await page.locator('.composer input[type=file]').setInputFiles({ name: attached, mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') });
  await page.locator('.composer [data-file-name]').waitFor();
  await plain(page, 1, seen);
  await page.getByRole('button', { name: `Remove ${seen}` }).click();
  assert.equal(await page.locator('.composer [data-file-name]').count(), 0);
  await close();
});

test('in a transcript: files, pictures, sources, and a PDF that is open', { skip }, async () => {
  const { page, close } = await visit(server);
  await go(page, `/s/${id}`);
  await page.locator('[data-block=media] [data-file-name]').nth(1).waitFor();
  await page.locator('figcaption [data-file-name]').waitFor();
  await plain(page, 3);
  assert.deepEqual(await page.locator('.t-document .ext').allInnerTexts(), ['EXE', 'EXE']);
  await page.locator('.cite').first().click();
  await page.locator('[data-source]').getByText(shown).waitFor();
  await page.getByRole('button', { name: 'Open the PDF', exact: true }).click();
  await page.locator('[data-sheet="1"] canvas').waitFor({ state: 'attached' });
  assert.equal(await page.getByRole('dialog').getByRole('heading').innerText(), shown);
  await plain(page, 3);
  await close();
});

for (const [where, path] of [['a transcript', () => `/s/${id}`], ['a shared session', () => `/share/${token}`]]) {
  test(`saved from ${where}`, { skip }, async () => {
    const { page, close } = await visit(server, where === 'a transcript' ? {} : { key: null, allow: /401/ });
    await go(page, path());
    await page.locator('[data-block=media] [data-file-name]').nth(1).waitFor();
    await page.locator('figcaption [data-file-name]').waitFor();
    await page.waitForFunction(() => document.querySelector('.t-media img')?.naturalWidth > 0); // the image itself is loaded for the reader
    await plain(page, 3);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).first().click()]);
    assert.doesNotMatch(download.suggestedFilename(), hidden);
    assert.match(download.suggestedFilename(), /\.exe$/);
    await close();
  });
}

test('in the Viewer: the file that is open, the recent ones, a document in it, and what is saved', { skip }, async () => {
  const { page, close } = await visit(server);
  const envelope = { version: '1.0', messages: [{ id: 'm', role: 'user', timestamp: 0, segments: [{ kind: 'document', fileName: bad, mimeType: markup, snippet: 'x', sizeBytes: 1 }, { kind: 'media', mediaType: 'image', url: `data:image/png;base64,${pixel}`, altText: bad }] }] };
  await go(page, '/v');
  await page.locator('input[type=file]').setInputFiles({ name: bad, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(envelope)) });
  await page.locator('.env .t-document').waitFor();
  await page.getByRole('heading', { name: shown }).waitFor();
  const env = page.locator('.env');
  assert.deepEqual(await env.locator('[data-file-name]').allInnerTexts(), [shown, shown]);
  assert.equal(await env.locator('.ext').innerText(), 'EXE');
  assert.equal(await page.locator('img[src$="/x"], [onerror]').count(), 0);
  assert.doesNotMatch((await page.locator('aside, nav, header').allInnerTexts()).join('').replace(/[\n\t]/g, ''), hidden);
  const save = page.getByRole('button', { name: 'Carry' }).or(page.locator('.carry button'));
  const [download] = await Promise.all([page.waitForEvent('download'), save.first().click()]);
  assert.doesNotMatch(download.suggestedFilename(), hidden);
  assert.match(download.suggestedFilename(), /\.carry\.json$/);
  await close();
});
