// parley run --cases: a table of the cases in a file, and every error in the file with its position.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { file, parley } from './harness.mjs';
import { clientOf, endsWell, serve } from './live.mjs';
import { Tmux } from './tmux.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});
after(() => server.stop());
const envOf = (more = {}) => ({ PATH: process.env.PATH, HOME: server.data, LC_ALL: 'C.UTF-8', PARLEY_DATA: server.data, ...more });
const run = (words, input = '') => {
  const { status, stdout, stderr } = spawnSync(parley, ['run', ...words], { input, encoding: 'utf8', env: envOf() });
  return { code: status, out: stdout, err: stderr };
};
const prompt = () => file('trip.txt', 'Three days in {{city}}, {{season:spring}}.');
const cases = (name, text) => run([prompt(), '--model', 'demo/echo', '--cases', file(name, text)]);
const rows = (out) => out.trimEnd().split('\n').map((line) => line.trim().split(/ {2,}/));
const count = async () => (await (await client.request('GET', '/api/sessions?limit=1')).json()).total;

const csv = 'city,expect,expect\nNara,contains:Nara,lacks:Rome\n"Rome, Italy",contains:Nara,\n京都,regex:^Three.*京都,contains:spring\n';

test('a table says which cases passed, a mark for each check, and why one failed', () => {
  const { code, out, err } = cases('three.csv', csv);
  assert.equal(code, 1, err);
  const [head, ...table] = rows(out);
  assert.deepEqual(head, ['CASE', 'MODEL', 'RESULT', 'CHECKS', 'TIME', 'IN', 'OUT', 'COST', 'VALUES']);
  assert.deepEqual(table.map(([at, model, result, checks]) => [at, model, result, checks]), [
    ['1', 'demo/echo', 'pass', '✓✓'], ['2', 'demo/echo', 'fail', '✗'], ['3', 'demo/echo', 'pass', '✓✓'],
  ]);
  for (const row of table) assert.match(row[4], /^\d+\.\d s$/), assert.match(`${row[5]} ${row[6]}`, /^\d+ \d+$/);
  assert.equal(table[1][8], 'city=Rome, Italy');
  assert.match(err, /three\.csv:3: demo\/echo: the answer does not contain "Nara"\n +2 of 3 cases passed\n$/);
});

test('JSON Lines say the same, with numbers, booleans and lists of checks', () => {
  const lines = [{ city: 'Nara', expect: ['contains:Nara', 'lacks:Rome'] }, { city: 7, season: true, expect: 'contains:7, true' }, { city: 'Oslo' }];
  const { code, out, err } = cases('three.jsonl', `\n${lines.map((line) => JSON.stringify(line)).join('\n\n')}\n`);
  assert.equal(code, 0, err);
  assert.deepEqual(rows(out).slice(1).map((row) => row.slice(2, 4)), [['pass', '✓✓'], ['pass', '✓'], ['pass', '-']]);
  assert.match(err, /3 of 3 cases passed/);
  // Without an extension the first byte decides; standard input is a file too.
  const piped = run([prompt(), '--model', 'demo/echo', '--cases', '-'], JSON.stringify(lines[0]));
  assert.equal(piped.code, 0, piped.err);
});

test('--json is one object with every answer', () => {
  const { code, out, err } = run([prompt(), '--model', 'demo/echo', '--model', 'demo/slow', '--expect', 'contains:days', '--cases', file('more.csv', csv), '--json']);
  assert.equal(code, 1);
  assert.equal(err, '');
  const said = JSON.parse(out);
  assert.deepEqual([said.passed, said.failed, said.cases.length], [2, 1, 3]);
  const [one, two] = said.cases;
  assert.deepEqual([one.case, one.line, one.variables, one.items.length], [1, 2, { city: 'Nara' }, 2]);
  assert.deepEqual(one.items.map(({ model, status, passed }) => [model, status, passed]), [['demo/echo', 'completed', true], ['demo/slow', 'completed', true]]);
  assert.equal(one.items[0].text, 'Three days in Nara, spring.');
  assert.ok(one.items[0].usage.input_tokens > 0 && one.items[0].usage.output_tokens > 0);
  assert.deepEqual(two.items[0].checks, [
    { check: 'contains:days', passed: true, why: null },
    { check: 'contains:Nara', passed: false, why: 'the answer does not contain "Nara"' },
  ]);
});

test('--format chooses columns; in a pipe they have tabs and no headings', () => {
  const { out } = run([prompt(), '--model', 'demo/echo', '--cases', file('some.csv', csv), '--format', 'result,case']);
  assert.equal(out, 'pass\t1\nfail\t2\npass\t3\n');
});

test('--var is for all cases, and a column comes before it', () => {
  const { out } = run([prompt(), '--model', 'demo/echo', '--var', 'season=winter', '--cases', file('var.jsonl', '{"city":"A"}\n{"city":"B","season":"fall"}'), '--json']);
  assert.deepEqual(JSON.parse(out).cases.map(({ items }) => items[0].text), ['Three days in A, winter.', 'Three days in B, fall.']);
});

test('a prompt of the library is tried with cases too', async () => {
  await client.request('POST', '/api/prompts', { name: 'trip', type: 'text', content: 'Go to {{city}}' });
  const { code, err } = run(['trip', '--model', 'demo/echo', '--cases', file('lib.csv', 'city,expect\nNara,contains:Go to Nara\n')]);
  assert.equal(code, 0, err);
});

test('more cases than run at once, in their order', () => {
  const many = ['city', ...Array.from({ length: 30 }, (_, i) => `town${i}`)].join('\n');
  const { out, err } = run([prompt(), '--model', 'demo/echo', '--cases', file('many.csv', many), '--json']);
  assert.deepEqual(JSON.parse(out).cases.map(({ items }) => items[0].text), Array.from({ length: 30 }, (_, i) => `Three days in town${i}, spring.`), err);
});

// The error, its position and the remedy: FILE:LINE:COLUMN. No model is called, and the exit code is 3.
const wrong = [
  ['unknown.csv', 'city,expct\nNara,x\n', /unknown\.csv:1:6: the column "expct" is neither a variable of the prompt nor "expect"; did you mean "expect"\?/],
  ['near.csv', 'citty\nNara\n', /near\.csv:1:1: the column "citty" .* did you mean "city"\?/],
  ['missing.csv', 'season\nspring\n', /missing\.csv:2:1: the variable "city" has no value in this case; add a column "city", or give it for all cases with --var city=…/],
  ['twice.csv', 'city,city\nA,B\n', /twice\.csv:1:6: there are two columns "city"/],
  ['nameless.csv', 'city,\nA,B\n', /nameless\.csv:1:6: column 2 has no name/],
  ['short.csv', 'city,expect\nNara\n', /short\.csv:2:1: this row has 1 of the 2 cells that the first line names/],
  ['long.csv', 'city\nNara,x\n', /long\.csv:2:6: this row has more cells than the first line names columns: 1/],
  ['open.csv', 'city\nNara\n"open\n', /open\.csv:3:1: the quote that begins this cell is not closed/],
  ['after.csv', 'city\n"a"b\n', /after\.csv:2:4: text after the quote that closes a cell/],
  ['inside.csv', 'city\na"b\n', /inside\.csv:2:2: a quote inside a cell/],
  ['check.csv', 'city,expect\nNara,contain:x\n', /check\.csv:2:6: expect must be contains:TEXT.*not "contain:x"; did you mean "contains"\?/],
  ['regex.csv', 'city,expect\nNara,regex:(\n', /regex\.csv:2:6: expect regex: "\("/],
  ['schema.csv', 'city,expect\nNara,schema:/nothing/here\n', /schema\.csv:2:6: expect "schema:\/nothing\/here": /],
  ['empty.csv', '', /empty\.csv:1:1: the file is empty; its first line names the columns/],
  ['head.csv', 'city\n\n', /head\.csv: the file has no cases/],
  ['bytes.csv', Buffer.from([0x63, 0x69, 0x74, 0x79, 0x0a, 0xff]), /bytes\.csv:2:1: the file is not UTF-8/],
  ['broken.jsonl', '{"city":"A"}\n{"city":\n', /broken\.jsonl:2:\d+: /],
  ['list.jsonl', '{"city":"A"}\n  [1]\n', /list\.jsonl:2:3: a case is an object, one on each line/],
  ['object.jsonl', '{"city":{}}\n', /object\.jsonl:1:9: the value of "city" must be a text, a number, true or false/],
  ['null.jsonl', '{"city":null}\n', /null\.jsonl:1:9: the value of "city"/],
  ['member.jsonl', '{"city":"A","seson":1}\n', /member\.jsonl:1:13: the member "seson" .* did you mean "season"\?/],
  ['expect.jsonl', '{"city":"A","expect":[1]}\n', /expect\.jsonl:1:23: expect must be a check in the syntax of --expect, or a list of checks/],
  ['lacks.jsonl', '{"season":"x"}\n', /lacks\.jsonl:1:1: the variable "city" has no value in this case/],
];
for (const [name, text, why] of wrong)
  test(`${name}: ${why.source.slice(0, 60)}`, () => {
    const { code, out, err } = cases(name, text);
    assert.deepEqual([code, out], [3, ''], err);
    assert.match(err, why);
    assert.match(err, /Nothing was asked\.\n$/);
  });

test('limits are said one step over them', () => {
  const many = cases('10001.csv', `city\n${'x\n'.repeat(10001)}`);
  assert.deepEqual([many.code, many.out], [3, '']);
  assert.match(many.err, /10001\.csv:10002:1: a file may have at most 10000 cases/);
  const wide = cases('257.csv', `${Array(257).fill('expect').join(',')}\n`);
  assert.match(wide.err, /257\.csv:1:1793: a file may have at most 256 columns/);
  assert.equal(wide.code, 3);
});

test('what does not go together is refused', () => {
  for (const [words, why] of [
    [['-', '--cases', '-'], /the prompt and --cases cannot both be standard input/],
    [[prompt(), '--cases', file('c.csv', 'city\nx\n'), '--format', 'case', '--json'], /--format and --json exclude each other/],
    [[prompt(), '--cases', file('c.csv', 'city\nx\n'), '--format', 'reslt'], /there is no column "reslt"; did you mean "result"\?/],
    [[prompt(), '--format', 'case'], /--format chooses columns of the table of --cases FILE/],
    [[prompt(), '--version', '2', '--var', 'city=x'], /--version works only for a prompt of the library, but ".*trip\.txt" is a file/],
  ]) {
    const { code, err } = run(words, 'hello');
    assert.equal(code, 2, err);
    assert.match(err, why);
  }
  assert.equal(run([prompt(), '--cases', '/nothing/here.csv']).code, 3);
});

test('at a wide terminal models are columns, at a narrow one rows', async (t) => {
  const words = [parley, 'run', prompt(), '--model', 'demo/echo', '--model', 'demo/slow', '--cases', file('wide.csv', csv)];
  const env = envOf({ TERM: 'tmux-256color', NO_COLOR: '1' });
  const wide = new Tmux(t, words, { env, columns: 120 });
  await wide.shows(/^CASE {2}demo\/echo +demo\/slow +VALUES\n1 +pass ✓✓ \d+\.\d s \d+\+\d+ .* pass ✓✓ .*city=Nara\n2 +fail ✗/m);
  await wide.shows(/^exit 1$/m);
  const narrow = new Tmux(t, words, { env, columns: 70 });
  await narrow.shows(/^CASE {2}MODEL +RESULT +CHECKS/m);
  await narrow.shows(/^exit 1$/m);
});

test('answers of several models stand side by side where there is room', async (t) => {
  const words = [parley, 'run', file('long.txt', `${'word '.repeat(20)}京都の町`), '--model', 'demo/echo', '--model', 'demo/slow'];
  const env = envOf({ TERM: 'tmux-256color', NO_COLOR: '1' });
  const wide = new Tmux(t, words, { env, columns: 100 });
  await wide.shows(/^demo\/echo {42}demo\/slow\n(word ){8}word +(word ){8}word\n[^]*京都の町 +.*京都の町\n\d+\.\d s, \d+ tokens in, \d+ out +\d+\.\d s, \d+ tokens in/m);
  await wide.shows(/^exit 0$/m);
  const narrow = new Tmux(t, words, { env, columns: 50 });
  await narrow.shows(/^## demo\/echo[^]*## demo\/slow/m);
  await narrow.shows(/^exit 0$/m);
});

test('--json of a file gives the items that a prompt of the library gives', () => {
  const { code, out } = run(['-', '--model', 'demo/echo', '--model', 'demo/slow', '--expect', 'lacks:x', '--json'], 'hi');
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out).items.map(({ model, text, passed, error }) => [model, text, passed, error]), [['demo/echo', 'hi', true, null], ['demo/slow', 'hi', true, null]]);
});

test('no run leaves a session', async () => assert.equal(await count(), 0));

test('the server ends in good order', () => endsWell(server));
