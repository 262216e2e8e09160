// The nodes of a cluster on the administrator's page: their list, their state, and draining one.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { cluster, skip as noPostgres } from '../e2e/cluster.mjs';
import { root } from '../e2e/harness.mjs';
import { go, noBrowser, serve, until, visit } from './browser.mjs';

const words = {
  'en-US': { part: 'Nodes', up: 'Up', drain: 'Drain', ask: 'Drain n2?', told: 'n2 was asked to drain', last: /Only one node is up/ },
  'zh-CN': { part: '节点', up: '运行中', drain: '退出', ask: '让 n2 退出？', told: '已请求 n2 退出', last: /只有一个节点在运行/ },
};

for (const [lang, say] of Object.entries(words)) {
  test(`an administrator sees the nodes and drains one, after a question: ${lang}`, { skip: noBrowser || noPostgres }, async (t) => {
    const { nodes: [one, two] } = await cluster(t, 2, { args: ['--ui-dir', join(root, 'web/dist')] });
    const { page, close } = await visit(one, { lang });
    await go(page, '/settings/about');
    await page.getByRole('link', { name: say.part, exact: true }).click();
    const row = page.locator('[data-node=n2]');
    await row.waitFor();
    assert.match(await row.innerText(), new RegExp(say.up));
    await page.locator('[data-node=n1][data-state=up]').waitFor();
    await page.locator('[data-bus=up]').waitFor();
    // the first choice offered is no
    await row.getByRole('button', { name: say.drain, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: say.ask });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(two.child.exitCode, null);
    await row.getByRole('button', { name: say.drain, exact: true }).click();
    await dialog.getByRole('button', { name: say.drain, exact: true }).click();
    await page.locator('[data-toast]').filter({ hasText: say.told }).waitFor();
    await until(() => two.child.exitCode !== null, () => 'n2 did not end');
    await page.getByText(say.last).waitFor();
    assert.ok(await page.locator('[data-node=n1]').getByRole('button').isDisabled());
    await close();
  });
}

test('a server that is alone has no page of nodes', { skip: noBrowser }, async () => {
  const server = await serve();
  const { page, close } = await visit(server);
  await go(page, '/settings/nodes');
  await page.waitForURL('**/settings');
  await page.getByRole('link', { name: 'Models' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Nodes' }).count(), 0);
  await close();
  await server.stop();
});
