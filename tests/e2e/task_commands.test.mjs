// parley task against a server: scheduled work. task.test.mjs tests the parts that need no server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commanding, lines } from './commanding.mjs';
import { run } from './harness.mjs';
import { until } from './waiting.mjs';

const { server, any, ok, json, made } = await commanding('task');
const daily = (...args) => made(['new', 'news', '--cron', '0 7 * * *', '--prompt', 'What is new?', ...args]);

test('a task that is made is listed and shown', () => {
  const id = made(['new', 'morning news', '--cron', '0 7 * * *', '--zone', 'Asia/Shanghai', '--prompt', 'What is\nnew?', '--model', 'demo/echo', '--overlap', 'queue', '--expires', '2100-01-01T00:00:00Z', '--skip-confirmations']);
  assert.match(id, /^task_[0-9a-f-]{36}$/);
  const one = json(['show', id]);
  assert.deepEqual([one.title, one.prompt, one.cron, one.timezone, one.model, one.overlap, one.enabled, one.skip_confirmations],
    ['morning news', 'What is\nnew?', '0 7 * * *', 'Asia/Shanghai', 'demo/echo', 'queue', true, true]);
  assert.equal(one.expires_at.slice(0, 10), '2100-01-01');
  assert.match(one.next_run_at, /T23:00:00/);
  assert.match(ok(['show', id]).out, new RegExp(`^${id}\n  title     morning news\n  cron      0 7 \\* \\* \\*\n  zone      Asia/Shanghai\n`));
  assert.match(ok(['show', id]).out, /\n\nWhat is\nnew\?\n$/);
  const table = lines(ok(['list', '-q', 'morning']).out);
  assert.match(table[0], /^ID +TITLE +STATE +CRON +ZONE +NEXT$/);
  assert.match(table[1], new RegExp(`^${id} +morning news +started +0 7 \\* \\* \\* +Asia/Shanghai +\\d{4}-\\d\\d-\\d\\d 23:00:00 UTC$`));
});

test('a task may use a prompt of the library, by name and label', () => {
  const prompt = run(['prompt', 'new', 'report', '--folder', 'team', '--file', '-', '--data', server.data], { input: 'Report for {{team}}' }).out.trim();
  run(['prompt', 'label', prompt, 'production', '1', '--data', server.data]);
  const id = made(['new', 'report', '--cron', '@weekly', '--use', 'team/report@production', '--var', 'team=blue']);
  assert.deepEqual(json(['show', id]).prompt_ref, { prompt_id: prompt, version: 'production', variables: { team: 'blue' } });
  assert.equal(ok(['run', id, '--follow']).out, 'Report for blue\n');
  ok(['edit', id, '--use', prompt, '--var', 'team=red']);
  assert.equal(ok(['run', id, '--follow']).out, 'Report for red\n');
});

test('run starts it now, and runs tells how it went', async () => {
  const id = daily();
  assert.match(made(['run', id]), /^sess_/);
  assert.equal(ok(['run', id, '--follow']).out, 'What is new?\n');
  await until(() => json(['runs', id]).items.every((one) => one.status === 'completed'));
  const { items } = json(['runs', id]);
  assert.equal(items.length, 2);
  assert.ok(items.every((one) => one.is_manual && one.status === 'completed'));
  assert.match(ok(['runs', id]).out, /^DUE +STATUS +SESSION +ENDED +ERROR\n\d{4}.* completed +sess_/);
  assert.match(ok(['runs', daily()]).err, /has not run yet/);
});

test('occurrences and the calendar say when, in the zone that is asked for', () => {
  const id = daily('--zone', 'Europe/Berlin');
  const { items } = json(['occurrences', id, '--from', '2027-03-27T00:00:00Z', '--count', '2']);
  assert.deepEqual(items.map((one) => one.local), ['2027-03-27T07:00:00+01:00', '2027-03-28T07:00:00+02:00']);
  assert.equal(lines(ok(['occurrences', id]).out).length, 11);
  const only = made(['new', 'once a year', '--cron', '30 22 24 12 *', '--prompt', 'x']);
  const calendar = (...args) => ok(['calendar', '--from', '2027-12-24', '--to', '2027-12-26', ...args]).out;
  assert.match(calendar(), /^2027-12-24 Friday\n(?: {2}.*\n)* {2}22:30 {2}once a year\n/m);
  assert.match(calendar('--zone', 'Asia/Tokyo'), /\n2027-12-25 Saturday\n(?: {2}.*\n)* {2}07:30 {2}once a year\n/);
  assert.ok(json(['calendar', '--from', '2027-12-24', '--to', '2027-12-26']).items.some((one) => one.task_id === only));
  assert.equal(any(['calendar', '--from', 'tomorrow']).code, 2);
  assert.equal(any(['calendar', '--zone', 'Nowhere/Land']).code, 3);
});

test('what has run stands in the calendar with how it ended', () => {
  const id = made(['new', 'seen', '--cron', '@yearly', '--prompt', 'x']);
  ok(['run', id, '--follow']);
  assert.match(ok(['calendar']).out, /\d\d:\d\d {2}seen {2}\((completed|running)\)/);
});

test('stop, start and edit change a task', () => {
  const id = daily('--stopped');
  assert.equal(json(['show', id]).enabled, false);
  assert.match(ok(['start', id]).err, /started; next due at \d{4}-\d\d-\d\d 07:00:00 UTC/);
  ok(['stop', id]);
  assert.equal(json(['show', id]).enabled, false);
  ok(['edit', id, '--title', 'evening', '--cron', '0 19 * * *', '--zone', 'Asia/Tokyo', '--prompt', '-', '--expires', '2100-01-01T00:00:00Z'], { input: 'Good evening\n' });
  const one = json(['show', id]);
  assert.deepEqual([one.title, one.cron, one.timezone, one.prompt], ['evening', '0 19 * * *', 'Asia/Tokyo', 'Good evening']);
  ok(['edit', id, '--expires', '']);
  assert.equal(json(['show', id]).expires_at, null);
  assert.match(any(['edit', id]).err, /nothing to change; give/);
});

test('a deleted task is gone', () => {
  const id = daily();
  ok(['delete', id, '--yes']);
  assert.equal(any(['show', id]).code, 1);
});

for (const [args, wanted, says] of [
  [['new', 'x', '--prompt', 'y'], 2, /the task needs a cron expression; give --cron/],
  [['new', 'x', '--cron', '@daily'], 2, /the task needs a prompt; give --prompt TEXT/],
  [['new', 'x', '--cron', '@daily', '--prompt', 'y', '--use', 'z'], 2, /not both/],
  [['new', 'x', '--cron', '@daily', '--prompt', 'y', '--var', 'a=b'], 2, /--var needs --use/],
  [['new', 'x', '--cron', '61 * * * *', '--prompt', 'y'], 1, /minute field/],
  [['new', 'x', '--cron', '@daily', '--zone', 'Nowhere/Land', '--prompt', 'y'], 1, /time zone/],
  [['new', 'x', '--cron', '@daily', '--use', 'nobody'], 1, /there is no prompt "nobody"/],
  [['new', 'x', '--cron', '@daily', '--prompt', 'y', '--overlap', 'maybe'], 2, /--overlap must be skip, queue, allow or replace/],
  [['show', 'task_nothing'], 1, /./],
  [['shwo', 'x'], 2, /did you mean "show"\?/],
]) {
  test(`refused: ${args.join(' ')}`, () => {
    const { code, err } = any(args);
    assert.equal(code, wanted, err);
    assert.match(err, says);
  });
}

test('explain speaks both languages and needs no server', () => {
  const { code, out } = run(['task', 'explain', '0 9 * * MON#2', '--from', '2026-11-16T00:00:00Z']);
  assert.equal(code, 0);
  const said = out.split('\n');
  assert.deepEqual(said.slice(0, 4), ['At 09:00, on the second Monday of the month', '每月第二个周一，09:00', '', '2026-12-14T09:00:00Z']);
  assert.equal(said.length, 3 + 10 + 1);
  const { en, zh, next } = JSON.parse(run(['task', 'explain', '@daily', '--json']).out);
  assert.deepEqual([en, zh, next.length], ['At 00:00 every day', '每天 00:00', 10]);
});

test('zones come from the directory that is named, and doctor looks there', () => {
  const env = { PARLEY_TZDIR: '/nowhere/zones' };
  assert.equal(run(['task', 'next', '@daily', '--zone', 'Europe/Berlin'], { env }).code, 3);
  assert.match(run(['doctor', '--data', server.data], { env }).out, /zones +there are no time zones in \/nowhere\/zones/);
});
