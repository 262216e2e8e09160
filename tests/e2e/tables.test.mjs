// Tables of lists: --format chooses columns, a pager shows more than a screen, and columns are aligned.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resolve } from 'node:path';
import { missing, parley, run as plain, shell } from './harness.mjs';
import { start } from './server.mjs';
import { Tmux } from './tmux.mjs';

let server;
before(async () => {
  server = await start();
  for (let i = 0; i < 40; i++)
    assert.equal((await server.raw('POST', '/api/prompts', { body: JSON.stringify({ name: `第${i}号提示`, type: 'text', content: 'x', tags: ['one'] }) })).status, 201);
  for (const [path, body] of [['/api/sessions', { intent: '京都の旅' }], ['/api/memories', { content: 'likes tea' }]])
    assert.equal((await server.raw('POST', path, { body: JSON.stringify(body) })).status, 201);
});
after(() => server.stop());
const run = (...args) => plain(args, { env: { PARLEY_DATA: server.data } });

// Every verb that prints a table names its columns in the heading.
const tables = [
  ['session', 'list'], ['prompt', 'list'], ['prompt', 'folders'], ['prompt', 'tags'], ['prompt', 'versions', '第0号提示'], ['memory', 'list'], ['memory', 'search', 'tea'],
  ['models', 'list'], ['models'], ['key', 'list'], ['user', 'list'], ['audit', 'list'], ['audit'],
];
for (const words of tables)
  test(`parley ${words.join(' ')} --format takes each of its columns`, () => {
    const whole = run(...words);
    assert.equal(whole.code, 0, whole.err);
    const names = whole.out.split('\n')[0].trim().split(/ {2,}/).map((name) => name.toLowerCase().replaceAll(' ', '_'));
    const rows = whole.out.trimEnd().split('\n').length - 1;
    assert.ok(names.length > 1 && rows > 0, whole.out);
    const all = run(...words, '--format', names.join(','));
    assert.equal(all.code, 0, all.err);
    const cells = all.out.trimEnd().split('\n').map((line) => line.split('\t'));
    assert.equal(cells.length, rows);
    for (const row of cells) assert.equal(row.length, names.length, row.join('|'));
    for (const [i, name] of names.entries())
      assert.deepEqual(run(...words, '--format', name).out.trimEnd().split('\n'), cells.map((row) => row[i]), name);
    const turned = run(...words, '--format', `${names[1]},${names[0]}`).out.trimEnd().split('\n')[0].split('\t');
    assert.deepEqual(turned, [cells[0][1], cells[0][0]]);
  });

test('a column that there is not, one named twice, and two forms of output are refused', () => {
  for (const [words, why] of [
    [['session', 'list', '--format', 'id,statsu'], /--format: there is no column "statsu"; did you mean "status"\?/],
    [['session', 'list', '--format', 'colour'], /there is no column "colour"; there are id,status,changed,model,intent/],
    [['session', 'list', '--format', ''], /there is no column ""/],
    [['session', 'list', '--format', 'id,'], /there is no column ""/],
    [['session', 'list', '--format', 'id,id'], /the column "id" is named twice/],
    [['key', 'list', '--format', 'id', '--json'], /--format and --json exclude each other; --json has every field/],
    [['usage', '--format', 'group', '--csv'], /--format and --csv exclude each other/],
    [['usage', '--format', 'cost'], /there is no column "cost"; did you mean|there are group,/],
    [['session', 'show', 'x', '--format', 'id'], /--format works with list, export, not with show/],
    [['session', 'export', 'sess_x', '--format', 'anthropc'], /did you mean "anthropic"\?/],
    [['blob', 'get', 'x', '--no-pager'], /--no-pager works with list, not with get/],
  ]) {
    const { code, out, err } = run(...words);
    assert.deepEqual([code, out], [2, ''], `${words.join(' ')}: ${err}`);
    assert.match(err, why);
  }
});

const terminal = (t, words, more = {}, size = {}) =>
  new Tmux(t, [resolve(parley), ...words], { env: { PATH: process.env.PATH, HOME: server.data, LC_ALL: 'C.UTF-8', NO_COLOR: '1', TERM: 'tmux-256color', TZ: 'UTC', PARLEY_DATA: server.data, ...more }, columns: 80, rows: 20, ...size });

test('at a terminal a long table goes to PAGER, a short one does not', async (t) => {
  const long = terminal(t, ['prompt', 'list', '--limit', '40'], { PAGER: 'sed s/^/paged:/ | head -n 5' });
  await long.shows(/^paged:ID +NAME +VERSION/m);
  await long.shows(/^exit 0$/m);
  const short = terminal(t, ['prompt', 'list', '--limit', '3'], { PAGER: 'sed s/^/paged:/' });
  await short.shows(/^exit 0$/m);
  assert.ok(!/paged:/.test(short.screen()));
});

test('less shows it, and q ends it', { skip: missing('less') }, async (t) => {
  const one = terminal(t, ['prompt', 'list', '--limit', '40']);
  await one.shows(/^:$/m);
  one.press('q');
  await one.shows(/^exit 0$/m);
});

test('--no-pager, an empty PAGER, a pager that is not there and a dumb terminal print it', async (t) => {
  for (const [words, env] of [[['--no-pager'], { PAGER: 'sed s/^/paged:/' }], [[], { PAGER: '' }], [[], { PAGER: 'cat' }], [[], { PAGER: '/nothing/here' }], [[], { TERM: 'dumb', PAGER: 'sed s/^/paged:/' }]]) {
    const one = terminal(t, ['prompt', 'list', '--limit', '40', ...words], env);
    await one.shows(/^exit 0$/m);
    await one.shows(/第\d+号提示/);
    assert.ok(!/paged:/.test(one.screen()), JSON.stringify(env));
  }
});

test('in a pipe there is no pager', () => {
  const { out } = shell(`"${resolve(parley)}" prompt list --limit 40 | cat`, { env: { PARLEY_DATA: server.data, PAGER: 'sed s/^/paged:/' } });
  assert.ok(out.split('\n').length > 40 && !/paged:/.test(out));
});

test('wide characters take two cells, so that columns line up', async (t) => {
  const cells = (text) => [...text].reduce((n, c) => n + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/.test(c) ? 2 : 1), 0);
  const lines = run('prompt', 'list').out.trimEnd().split('\n');
  const at = lines[0].indexOf('VERSION');
  for (const line of lines.slice(1)) assert.equal(cells(line.slice(0, line.search(/ {2,}1 {2,}/))) <= at, true, line);
  const starts = lines.slice(1).map((line) => cells(line.slice(0, line.search(/(?<= )1 {2,}/))));
  assert.deepEqual([...new Set(starts)], [at]);
  const narrow = terminal(t, ['session', 'list', '--format', 'id,intent'], {}, { columns: 58 });
  await narrow.shows(/sess_[0-9a-f-]{36} {2}京都の旅/);
});
