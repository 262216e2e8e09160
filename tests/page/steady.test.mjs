// Bounded growth: memory over many runs, the DOM with the length of a text.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ask, example, field, kept, lacks, person } from './bench.mjs';
import { until } from './browser.mjs';

const options = { skip: lacks };

test('memory is flat over 100 runs', options, async () => {
  const { id } = await example({}, { messages: [{ id: 'm', role: 'user', content: 'hello there' }] });
  const one = await person();
  const page = await one.open(`/p/${id}?m=demo/echo`);
  const cdp = await one.context.newCDPSession(page);
  await cdp.send('Performance.enable');
  await field(page, 'm').focus();
  const column = page.locator('[data-run="demo/echo"]');
  const run = async (times) => {
    for (let i = 0; i < times; i++) {
      // the previous answer is still shown: the server's list shows when this run is over
      const { total } = await ask('GET', '/api/runs?limit=1');
      await page.keyboard.press('Control+Enter');
      await until(async () => (await ask('GET', '/api/runs?limit=1')).total > total, () => `run ${i} did not end`);
      await page.locator('[data-run="demo/echo"][data-status=done]').waitFor();
    }
  };
  const held = async () => {
    for (let i = 0; i < 3; i++) await cdp.send('HeapProfiler.collectGarbage');
    const { metrics } = await cdp.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  };
  await run(10);
  const before = await held();
  await run(100);
  const after = await held();
  assert.ok(await column.getByText('hello there').count());
  assert.ok(after.Nodes < before.Nodes + 200, `${before.Nodes} nodes became ${after.Nodes}`);
  assert.ok(after.JSEventListeners < before.JSEventListeners + 50, `${before.JSEventListeners} listeners became ${after.JSEventListeners}`);
  // a run that is kept whole would need more than 20 KB
  assert.ok(after.JSHeapUsedSize < before.JSHeapUsedSize + 1_500_000, `${before.JSHeapUsedSize} bytes became ${after.JSHeapUsedSize}`);
  await one.done();
});

test('a long text is drawn as far as it is seen, and edited like a short one', options, async () => {
  const lines = Array.from({ length: 8000 }, (_, i) => `line ${i} of a long text with {{name}} in it`);
  const { id } = await example({}, { messages: [{ id: 'm', role: 'user', content: lines.join('\n') }, { id: 'n', role: 'assistant', content: 'short' }] });
  const one = await person();
  const page = await one.open(`/p/${id}`);
  const block = page.locator('[data-block-id=m]');
  const text = block.getByRole('textbox', { name: 'User, block 1 of 2' });
  await block.locator('.longfield .cm-line').first().waitFor();
  assert.ok(await block.locator('.cm-line').count() < 300);
  assert.equal(await block.locator('textarea').count(), 0);
  assert.ok(await block.locator('.cm-line .var').count() > 3);
  await text.focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' and its end');
  await kept(page);
  const content = async () => (await ask('GET', `/api/prompts/${id}/draft`)).content.messages[0].content;
  assert.ok((await content()).endsWith('in it and its end'));
  assert.equal((await content()).length, lines.join('\n').length + ' and its end'.length);
  // keys of a block work inside it: a selection becomes a variable, and Ctrl Z reverts that
  for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('{');
  await page.locator('[data-var]').nth(1).waitFor();
  assert.equal(await page.locator('[data-var] textarea').nth(1).inputValue(), 'end');
  await page.keyboard.press('Control+z');
  await block.locator('.cm-line').last().filter({ hasText: 'and its end' }).waitFor();
  await page.keyboard.press('Alt+ArrowDown');
  await page.waitForFunction(() => document.querySelectorAll('.blocks [data-block-id]')[2]?.dataset.blockId === 'm');
  // composed keys do nothing else
  await text.evaluate((node) => { for (const init of [{ key: 'ArrowUp', altKey: true }, { key: '{' }]) node.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, composed: true, cancelable: true, isComposing: true })); });
  assert.equal(await page.locator('.blocks [data-block-id]').nth(2).getAttribute('data-block-id'), 'm');
  await one.done();
});

test('a text that grows long keeps the place of the person', options, async () => {
  const { id } = await example({}, { messages: [{ id: 'm', role: 'user', content: 'x'.repeat(9_990) }] });
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await field(page, 'm').focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(' beyond the limit');
  await page.locator('[data-block-id=m] .longfield .cm-content').waitFor();
  await page.waitForFunction(() => document.activeElement?.matches('.longfield'));
  await page.keyboard.insertText(' of it');
  await kept(page);
  assert.ok((await ask('GET', `/api/prompts/${id}/draft`)).content.messages[0].content.endsWith('x beyond the limit of it'));
  await one.done();
});
