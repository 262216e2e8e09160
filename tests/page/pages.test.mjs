// The smaller pages: every action on each, hostile text in every place, and axe-core in both themes and languages.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { run } from '../e2e/harness.mjs';
import { ask, at, example, field, lacks, person } from './bench.mjs';
import { accessible, script, session, until } from './browser.mjs';

const options = { skip: lacks };
const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e{{x}}"\'`</textarea>';

test('a task is made, runs, and stands on its day', options, async () => {
  const one = await person();
  const page = await one.open('/t');
  await page.getByRole('button', { name: 'New task' }).first().click();
  await page.getByLabel('Title').fill('Morning words');
  await page.getByLabel('When (cron)').fill('30 7 * * MON#2');
  await page.getByText('At 07:30, on the second Monday of the month').waitFor();
  await page.getByLabel('Time zone').fill('America/New_York');
  await page.getByLabel('What it says').fill('Good morning');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Morning words' }).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.locator('[data-occurrence][data-status=completed]').first().waitFor();
  await page.locator('[data-run-id][data-status=completed]').first().waitFor();
  await page.getByRole('switch', { name: 'Morning words' }).click();
  await page.locator('[role=switch][aria-checked=false]').waitFor();
  // A month with a clock change in New York shows it.
  const { id } = (await ask('GET', '/api/scheduled-tasks')).items[0];
  await ask('POST', `/api/scheduled-tasks/${id}/start`);
  await page.goto(`/t?month=2026-11`);
  await page.locator('[data-day="2026-11-01"]').getByText('−1 h').waitFor();
  await page.getByRole('tab', { name: 'Agenda' }).click();
  await page.waitForURL(/view=agenda/);
  await page.reload();
  await page.getByRole('tab', { name: 'Agenda', selected: true }).waitFor();
  await one.done();
});

test('things that are alike stand beside each other: runs of one second, files, choices, calls of one id', options, async () => {
  const one = await person();
  const { id } = await ask('POST', '/api/scheduled-tasks', { title: 'Three at once', cron: '0 7 1 1 *', timezone: 'Asia/Shanghai', prompt: 'hello', model: 'demo/echo', overlap: 'allow' });
  // Runs of a task in the same second share a place on the calendar.
  const seconds = async () => (await ask('GET', `/api/scheduled-tasks/${id}/runs`)).items.map((run) => run.due_at.slice(0, 19));
  while (new Set(await seconds()).size === (await seconds()).length) await Promise.all([1, 2, 3].map(() => ask('POST', `/api/scheduled-tasks/${id}/run`)));
  const page = await one.open('/t');
  // A day of the month view shows a few of them, the agenda all.
  for (const [view, n] of [['/t', 1], ['/t?view=agenda', 2]]) {
    await page.goto(view);
    await page.locator(`[data-occurrence][data-task="${id}"]`).nth(n - 1).waitFor();
  }
  // The same file twice is one blob.
  await page.goto('/s?new');
  for (let i = 1; i <= 2; i++) {
    await page.locator('.composer input[type=file]').setInputFiles({ name: 'same.txt', mimeType: 'text/plain', buffer: Buffer.from('the same') });
    await page.locator('[data-file-name]').nth(i - 1).waitFor();
  }
  // A variable whose choices repeat.
  const prompt = await example({}, { messages: [{ id: 'msg_1', role: 'user', content: 'In {{tone}}' }], variables: [{ name: 'tone', type: 'select', options: ['calm', 'calm', 'loud'] }] });
  await page.goto(`/p/${prompt.id}`);
  await page.getByRole('combobox', { name: 'tone' }).waitFor();
  // An imported conversation whose calls share one id.
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const imported = await ask('POST', '/api/sessions/import', { document: { model: 'gpt-5', messages: [{ role: 'user', content: 'Look twice' }, { role: 'assistant', content: null, tool_calls: [call, call] }] } });
  await page.goto(`/s/${imported.session?.id ?? imported.id}`);
  await page.locator('[data-tool], [data-call], .tool').first().waitFor();
  await one.done();
});

test('a session that comes to the top while the list is read is not there twice', options, async () => {
  const one = await person();
  const made = [];
  for (let i = 0; i < 103; i++) made.push((await ask('POST', '/api/sessions', { intent: `number ${i}`, model: 'demo/echo' })).id);
  const page = await one.open('/s');
  const shown = (id) => page.locator(`.list a[href="/s/${id}"]`);
  await shown(made.at(-1)).waitFor();
  assert.equal(await shown(made[0]).count(), 0, 'it is among the older ones');
  await ask('PATCH', `/api/sessions/${made[0]}`, { intent: 'the oldest' });
  await shown(made[0]).waitFor();
  await page.getByRole('button', { name: 'Older sessions' }).click();
  await shown(made[1]).waitFor();
  assert.equal(await shown(made[0]).count(), 1);
  await one.done();
});

test('a memory is written, found, disabled and superseded', options, async () => {
  const one = await person();
  const page = await one.open('/m');
  await page.getByRole('button', { name: 'New memory' }).first().click();
  await page.getByRole('dialog').getByLabel('What is remembered').fill('Answers in tables');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Supersede' }).click();
  await page.getByRole('dialog').getByLabel('What is remembered').fill('Answers in short tables');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.memtext').filter({ hasText: 'Answers in short tables' }).waitFor();
  await page.getByText('What took its place').waitFor();
  await page.getByRole('switch', { name: 'Use this memory' }).click();
  await page.locator('.memhead').getByText('disabled').waitFor();
  const all = (await ask('GET', '/api/memories')).items;
  assert.deepEqual(all.map((memory) => [memory.content, memory.disabled, memory.superseded_by !== null]).sort(), [['Answers in short tables', true, false], ['Answers in tables', false, true]]);
  await page.getByRole('combobox', { name: 'State' }).selectOption('all');
  await page.getByRole('searchbox').fill('short');
  await page.waitForURL(/q=short/);
  await page.locator('[data-memory]').nth(1).waitFor({ state: 'detached' });
  await one.done();
});

test('a key is shown once and copied; a user is made; the audit log tells both and no secret', options, async () => {
  const one = await person();
  const page = await one.open('/settings/keys');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).last().click();
  const secret = await page.locator('[data-plaintext]').textContent();
  assert.match(secret, /^sk-parley-v1-.{20}/);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.locator('[data-key-id]').filter({ hasText: 'laptop' }).waitFor();
  assert.ok(!(await page.content()).includes(secret));
  await page.goto(`/settings/users`);
  await page.getByRole('button', { name: 'New user' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('ada');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const given = await page.locator('[data-plaintext]').textContent();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.locator('[data-user]').filter({ hasText: 'ada' }).waitFor();
  await page.goto(`/audit`);
  await page.locator('[data-chain=ok]').waitFor();
  await page.locator('[data-audit]').filter({ hasText: 'user.create' }).waitFor();
  const text = await page.content();
  for (const one of [secret, given, at.key]) assert.ok(!text.includes(one.slice(13)));
  await one.done();
});

test('a draft that runs is listed among the runs, and a model is chosen first', options, async () => {
  const { id } = await example({}, { messages: [{ id: 'm', role: 'user', content: 'hello' }] });
  const one = await person();
  const page = await one.open(`/p/${id}`);
  await field(page, 'm').press('Control+Enter');
  await page.locator('[data-run][data-status=done]').waitFor();
  await page.goto(`/r`);
  await page.locator('[data-run-id]').filter({ hasText: 'Workbench' }).first().waitFor();
  await page.getByRole('combobox', { name: 'From' }).selectOption('gateway');
  await page.getByText('No runs here').waitFor();
  await page.goto(`/settings/models`);
  await page.locator('[data-model="demo/slow"] input').check();
  await page.goto(`/p/${(await example()).id}`);
  await page.locator('.runempty').getByText('slow').waitFor();
  await until(async () => (await ask('GET', '/api/settings')).settings.model === 'demo/slow', () => 'the choice is not kept');
  await one.done();
  await ask('PUT', '/api/settings', { settings: {} });
});

test('an extension: what it may and why, its tools and its words; a choice, a profile and the switch hold', options, async () => {
  const added = run(['ext', 'add', 'demo', '--yes'], { env: { PARLEY_DATA: at.data } });
  assert.equal(added.code, 0, added.err);
  const one = await person();
  const page = await one.open('/x');
  const row = (name) => page.locator(`[data-cap=${name}]`);
  const extension = () => ask('GET', '/api/extensions/demo');
  await page.getByRole('heading', { name: 'Demo' }).waitFor();
  await row('exec').and(page.locator('[data-grant=ask]')).getByText('The person is asked each time.').waitFor();
  await row('read').and(page.locator('[data-grant=allow]')).getByText('The profile allows it.').waitFor();
  assert.equal(await row('read').locator('.path').textContent(), '**');
  // The isolation around it, as the server reports it.
  const { walls, sandbox } = await extension();
  assert.equal(await page.locator(`[data-sandbox=${sandbox}] .walls li`).count(), walls.length);
  await page.getByText(`${walls.filter(({ stands }) => stands).length} of ${walls.length} walls are up`).waitFor();
  await row('exec').getByRole('radio', { name: 'Allow' }).click();
  await row('exec').and(page.locator('[data-grant=allow]')).getByText('Allowed for this extension.').waitFor();
  await row('exec').getByRole('radio', { name: 'Deny' }).click();
  await row('exec').and(page.locator('[data-grant=deny]')).getByText('Denied for this extension.').waitFor();
  assert.deepEqual([(await extension()).granted, (await extension()).denied], [[], ['exec']]);
  await row('exec').getByRole('radio', { name: 'Profile' }).click();
  await row('exec').and(page.locator('[data-grant=ask]')).waitFor();
  await page.getByRole('combobox', { name: 'Profile' }).selectOption('safe');
  await row('exec').getByText('The profile forbids it, whatever else is set.').waitFor();
  // A change by another client appears here.
  assert.equal((await at.ask('PATCH', '/api/extensions/demo', { body: { profile: 'permissive' } })).status, 200);
  await row('exec').and(page.locator('[data-grant=allow]')).waitFor();
  await page.getByRole('switch', { name: 'Demo' }).click();
  await page.locator('[data-state=disabled]').waitFor();
  await page.getByRole('switch', { name: 'Demo' }).click();
  await page.locator('[data-state=enabled]').waitFor();
  // After its first run the page lists what it registered.
  await page.getByRole('tab', { name: /Tools it brings/ }).click();
  await page.getByText('Not known until it has run once.').waitFor();
  await session(at, script('call demo_card {"title":"x","numbers":[1]}'));
  await until(async () => (await extension()).tools.length);
  await page.getByRole('button', { name: 'Read again' }).click();
  await page.locator('[data-tool=demo_card]').getByText('numbers').waitFor();
  await page.getByRole('tab', { name: /Listens to/ }).click();
  await page.getByText('tool_call', { exact: true }).waitFor();
  await accessible(page, '/x/demo');
  // Removing can be undone; otherwise it is removed from the server, too.
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Restart' }).click();
  await page.getByText('Stopped. The next use starts it anew.').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Remove with its files' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.waitForURL('**/x/demo');
  await page.getByRole('heading', { name: 'Demo' }).waitFor();
  await one.done();
});

test('a version that asks for more says so until it is decided; a member sees the extensions as they are for the member', options, async () => {
  const manifest = (version, capabilities) => ({ schema: 'pi.ext.manifest.v1', extension_id: 'grows', name: 'Grows', version, api_version: '1.0', runtime: 'remote', capability_manifest: { schema: 'pi.ext.cap.v1', capabilities } });
  const add = (json, more = {}) => {
    const accepts = createHash('sha256').update(run(['json', '--canonical', '-'], { input: JSON.stringify(json) }).out.trimEnd()).digest('hex');
    return ask('POST', '/api/extensions', { files: [{ path: 'extension.json', content: JSON.stringify(json) }], accepts, ...more });
  };
  await add(manifest('1.0.0', [{ capability: 'log' }]));
  await add(manifest('1.1.0', [{ capability: 'log' }, { capability: 'ui' }]), { update: true });
  const one = await person();
  const page = await one.open('/x/grows');
  const row = page.locator('[data-cap=ui]');
  await page.locator('[data-fresh]').getByText('This version asks for more than the last one').waitFor();
  await row.getByText('New in 1.1.0, not decided yet.').waitFor();
  await page.locator('[data-sandbox=remote]').getByText('It runs elsewhere').waitFor();
  await accessible(page, '/x/grows');
  await row.getByRole('radio', { name: 'Allow' }).click();
  await page.locator('[data-fresh]').waitFor({ state: 'detached' });
  await one.done();
  const member = await ask('POST', '/api/users', { name: 'reads-extensions' });
  const other = await person({ key: member.key.plaintext });
  const view = await other.open('/x');
  const mine = view.locator('[data-mine=grows][data-state=enabled]');
  await mine.getByRole('heading', { name: 'Grows' }).waitFor();
  await mine.getByText('Allowed').first().waitFor();
  await accessible(view, '/x as a member');
  await other.done();
  await at.ask('DELETE', '/api/extensions/grows');
});

test('hostile words stay words, in every place', options, async () => {
  const { id } = await example({ name: hostile, folder: '<b>x' }, { system_prompt: hostile, messages: [{ id: 'm', role: 'user', content: `${hostile} ${hostile}` }], config: { stop: hostile }, variables: [{ name: 'x', label: hostile, type: 'select', options: [hostile] }] });
  await ask('POST', `/api/prompts/${id}/versions`, { content: { protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: 'now' }] }, note: hostile });
  await ask('POST', '/api/memories', { content: hostile, topic: hostile });
  await ask('POST', '/api/scheduled-tasks', { title: hostile, cron: '0 9 * * *', prompt: hostile });
  await ask('POST', '/api/users', { name: 'x<svg onload=alert(3)>' });
  await ask('POST', '/api/user/api-keys', { name: '<svg onload=alert(4)>' });
  const one = await person();
  const page = await one.open(`/p/${id}?tab=versions&diff=1`);
  await page.locator('del').first().waitFor();
  for (const path of [`/p/${id}?tab=export`, `/p/${id}`, '/m', '/t', '/settings/users', '/settings/keys', '/audit']) {
    await page.goto(path);
    await page.waitForFunction(() => document.body.textContent.includes('alert('));
    assert.equal(await page.locator('img, main script, main svg[onload], [onerror]').count(), 0, path);
  }
  await page.goto(`/p/${id}`);
  await field(page, 'm').fill(hostile.replace('{{x}}', ''));
  await page.keyboard.press('Control+Enter');
  await page.locator('[data-run][data-status=done]').filter({ hasText: 'alert(1)' }).waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  await one.done();
});
