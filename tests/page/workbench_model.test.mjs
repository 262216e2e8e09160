// The workbench's logic without a page: blocks, variables, sets of values, merging, marks, calendars.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
const out = mkdtempSync(join(tmpdir(), 'parley-model-'));
after(() => rmSync(out, { recursive: true, force: true }));
const esbuild = createRequire(join(web, 'package.json'))('esbuild');

async function load(path) {
  const file = join(out, `${path.replaceAll('/', '_')}.mjs`);
  esbuild.buildSync({ entryPoints: [join(web, 'src/pages', `${path}.ts`)], bundle: true, format: 'esm', outfile: file, logLevel: 'silent' });
  return import(pathToFileURL(file));
}
const prompt = await load('workbench/model/prompt');
const variables = await load('workbench/model/variables');
const values = await load('workbench/model/values');
const merge = await load('workbench/model/merge');
const marks = await load('workbench/model/marks');
const sortable = await load('workbench/edit/sortable');
const calendar = await load('tasks/calendar');
const series = await load('runs/series');

const seed = {
  type: 'structured',
  content: {
    protocol: 'structured-chat',
    system_prompt: 'You audit code.',
    messages: [
      { id: 'msg_1', role: 'user', content: 'eval(input())' },
      { id: 'msg_2', role: 'assistant', content: 'Unsafe.', name: 'x' },
      { id: 'msg_3', role: 'user', content: 'Audit {{input_code}}' },
    ],
    config: { temperature: 0.7 },
    extra: { kept: [1] },
  },
};
const shape = (groups) => groups.map((group) => `${group.kind}${group.n ?? ''}:${group.blocks.length}`).join(' ');
const random = (seedNumber) => () => { seedNumber = (seedNumber * 1103515245 + 12345) & 0x7fffffff; return seedNumber / 0x7fffffff; };

test('a prompt that is read and written is the same, also what blocks do not show', () => {
  assert.deepEqual(prompt.write(prompt.read(seed)), seed);
  const text = { type: 'text', content: 'Dear {{name}}' };
  assert.deepEqual(prompt.write(prompt.read(text)), text);
  const grown = prompt.write({ ...prompt.read(text), system: 'Be kind.' });
  assert.equal(grown.type, 'structured');
  assert.deepEqual(grown.content.messages, [{ id: 'msg_1', role: 'user', content: 'Dear {{name}}' }]);
});

test('values of the wrong type do not break reading', () => {
  for (const content of [{}, { messages: 3, config: [], variables: 'x', system_prompt: 4 }, { messages: [null, 1, { role: 'bishop', content: {} }] }]) {
    const doc = prompt.read({ type: 'structured', content });
    assert.ok(Array.isArray(doc.blocks) && typeof doc.system === 'string');
    assert.ok(doc.blocks.every((block) => ['system', 'user', 'assistant', 'tool'].includes(block.role) && typeof block.text === 'string'));
  }
  for (const text of ['', 'x', '[]', '{"sets":[]}', '{"sets":[1,{"a":2,"b":"c"}],"at":9}', null]) assert.ok(values.readSets(text).sets.length >= 1);
  assert.deepEqual(values.readSets('{"sets":[1,{"a":2,"b":"c"}],"at":9}'), { sets: [{}, { b: 'c' }], at: 1 });
});

test('pairs before the last user block are examples, the rest is the task', () => {
  const of = (roles) => shape(prompt.groups([...roles].map((role, i) => ({ key: `${i}`, id: `${i}`, role: { u: 'user', a: 'assistant', t: 'tool', s: 'system' }[role], text: '', rest: {} }))));
  assert.equal(of('uau'), 'example1:2 task:1');
  assert.equal(of('uauau'), 'example1:2 example2:2 task:1');
  assert.equal(of('uaua'), 'example1:2 task:2');
  assert.equal(of('u'), 'task:1');
  assert.equal(of('ua'), 'task:2');
  assert.equal(of('auau'), 'loose:1 example1:2 task:1');
  assert.equal(of('a'), 'task:1');
  assert.equal(of('uuau'), 'loose:1 example1:2 task:1');
  assert.equal(of(''), '');
});

test('whatever is done to blocks, no text is lost and every id stays its own', () => {
  const next = random(7);
  const pick = (n) => Math.floor(next() * n);
  let doc = prompt.read(seed);
  let count = doc.blocks.length;
  for (let i = 0; i < 500; i++) {
    const at = pick(doc.blocks.length);
    const key = doc.blocks[at]?.key;
    const before = JSON.stringify(doc);
    const kept = doc;
    switch (pick(5)) {
      case 0: doc = prompt.insert(doc, pick(doc.blocks.length + 2), prompt.newBlock(doc, 'user', `t${i}`)); count++; break;
      case 1: if (count > 1) { doc = prompt.remove(doc, key); count--; } break;
      case 2: doc = prompt.duplicate(doc, key).doc; count++; break;
      case 3: doc = prompt.move(doc, at, pick(doc.blocks.length + 2) - 1, at + 1 < doc.blocks.length ? 1 + pick(2) : 1); break;
      default: doc = prompt.swapRole(doc, key);
    }
    assert.equal(JSON.stringify(kept), before, 'an edit changed the document before it');
    assert.equal(doc.blocks.length, count);
    assert.equal(new Set(doc.blocks.map((block) => block.id)).size, count);
    assert.equal(new Set(doc.blocks.map((block) => block.key)).size, count);
    assert.equal(shape(prompt.groups(doc.blocks)).length > 0, count > 0);
    assert.deepEqual(prompt.groups(doc.blocks).flatMap((group) => group.blocks.map((block) => block.key)), doc.blocks.map((block) => block.key));
  }
});

test('a pair moves as one, and a move over itself is none', () => {
  const doc = prompt.read({ type: 'structured', content: { protocol: 'structured-chat', messages: [...'abcdef'].map((id) => ({ id, role: 'user', content: id })) } });
  const order = (of) => of.blocks.map((block) => block.id).join('');
  assert.equal(order(prompt.move(doc, 0, 2, 2)), 'cdabef');
  assert.equal(order(prompt.move(doc, 4, 0, 2)), 'efabcd');
  assert.equal(order(prompt.move(doc, 2, 99)), 'abdefc');
  assert.equal(prompt.move(doc, 2, 2), doc);
  assert.equal(prompt.move(doc, 5, 0, 2), doc);
  for (const [gap, from, count, place] of [[0, 2, 1, 0], [3, 2, 1, 2], [4, 2, 1, 3], [6, 0, 2, 4], [1, 0, 2, 0], [2, 0, 2, 0]]) {
    assert.equal(sortable.placeAt(gap, from, count), place);
  }
  const boxes = [[0, 10], [10, 50], [50, 60]].map(([top, bottom]) => ({ top, bottom }));
  assert.deepEqual([-5, 4, 6, 29, 31, 70].map((y) => sortable.gapAt(boxes, y)), [0, 0, 1, 1, 2, 3]);
  assert.ok(sortable.edgeSpeed(2, 0, 500) < 0 && sortable.edgeSpeed(499, 0, 500) > 0 && sortable.edgeSpeed(250, 0, 500) === 0);
});

test('changes since a version are counted, a moved block once', () => {
  const doc = prompt.read(seed);
  assert.equal(prompt.countChanges(doc, doc), 0);
  assert.equal(prompt.countChanges(doc, prompt.move(doc, 0, 2)), 1);
  assert.equal(prompt.countChanges(doc, { ...doc, system: 'x', config: { temperature: 1, top_p: 1 } }), 3);
  assert.equal(prompt.countChanges(doc, prompt.remove(doc, doc.blocks[0].key)), 1);
  assert.equal(prompt.countChanges(doc, prompt.adopt(doc, 'yes').doc), 1);
});

test('variables are found by the server\'s rule', () => {
  const names = (text) => variables.spots(text).map((spot) => (spot.preset === undefined ? spot.name : `${spot.name}=${spot.preset}`));
  assert.deepEqual(names('{{a}} {{ b.c-d }} {{名字:默认 值}} \\{{no}} {{bad name}} {{}} {{x'), ['a', 'b.c-d', '名字=默认 值']);
  assert.deepEqual(names('{{{a}}}{{b{{c}}'), ['a', 'c']);
  assert.deepEqual(names('{{a:{x}}}'), ['a={x']);
  const doc = prompt.read(seed);
  assert.deepEqual(variables.variablesOf(doc).map((one) => [one.name, one.required, one.found]), [['input_code', true, true]]);
  const said = variables.declare(doc, 'tone', { type: 'select', options: ['mild', 2] });
  assert.deepEqual(variables.variablesOf(said).at(-1), { name: 'tone', type: 'select', declared: true, found: false, required: false, options: ['mild', '2'] });
  assert.deepEqual(variables.declare(said, 'tone', { type: 'text' }).variables, []);
  assert.deepEqual(variables.given([{ name: 'n', type: 'number' }, { name: 't', type: 'text' }, { name: 'e', type: 'text' }], { n: '3', t: '3', e: '' }), { n: 3, t: '3' });
});

test('a selection becomes a variable whose value it was', () => {
  const doc = prompt.read(seed);
  const key = doc.blocks[0].key;
  const made = variables.makeVariable(doc, key, 0, 4);
  assert.deepEqual([made.name, made.value, prompt.textOf(made.doc, key)], ['eval', 'eval', '{{eval}}(input())']);
  const again = variables.makeVariable(made.doc, prompt.SYSTEM, 0, 3);
  assert.equal(again.doc.system, '{{you}} audit code.');
  assert.equal(variables.suggestName('eval', ['eval', 'eval_2']), 'eval_3');
  assert.equal(variables.suggestName('，。', []), 'variable');
  assert.equal(variables.suggestName('审计 代码', []), '审计_代码');
  const renamed = variables.renameVariable(made.doc, 'eval', '代码');
  assert.equal(prompt.textOf(renamed, key), '{{代码}}(input())');
  for (const text of ['a\nb', '{{x}}', '', '  ']) assert.ok(variables.isName(variables.suggestName(text, [])));
});

test('tables are pasted as sets of values', () => {
  assert.deepEqual(values.parseTable('a,b\r\n"x, ""y""\nz",2\n'), [['a', 'b'], ['x, "y"\nz', '2']]);
  assert.deepEqual(values.parseTable('a\tb\n1,5\t2'), [['a', 'b'], ['1,5', '2']]);
  assert.deepEqual(values.parseTable('\uFEFFa;b\n1;2\n\n'), [['a', 'b'], ['1', '2']]);
  assert.deepEqual(values.parseTable(''), []);
  assert.deepEqual(values.tableToSets([['b', 'z', '{{a}}'], ['1', '2', '3']], ['a', 'b']), [{ b: '1', a: '3' }]);
  assert.deepEqual(values.tableToSets([['1', '2'], ['3']], ['a', 'b']), [{ a: '1', b: '2' }, { a: '3', b: '' }]);
  let state = values.setValue(values.noSets(), 'a', '1');
  state = values.setValue(values.addSet(state), 'a', '2');
  assert.deepEqual([state.at, values.current(state).a, values.current(values.step(state, 1)).a, values.step(state, -3).at], [1, '2', '1', 0]);
  assert.deepEqual(values.removeSet(state).sets, [{ a: '1' }]);
});

test('two writers: what one of them changed is kept, what both changed is offered', () => {
  assert.deepEqual(merge.merge3('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n'), { text: 'A\nb\nC\n', conflicts: 0 });
  assert.deepEqual(merge.merge3('a\nb\n', 'a\nX\n', 'a\nY\n'), { text: 'a\nX\nY\n', conflicts: 1 });
  assert.deepEqual(merge.merge3('a', 'b', 'c'), { text: 'b\nc', conflicts: 1 });
  assert.deepEqual(merge.merge3('', 'new', ''), { text: 'new', conflicts: 0 });
  const next = random(3);
  for (let i = 0; i < 200; i++) {
    const base = Array.from({ length: 8 }, (_, n) => `line ${n}\n`);
    const edit = (mark) => base.flatMap((line) => (next() < 0.2 ? [`${mark}${Math.floor(next() * 99)}\n`] : next() < 0.1 ? [] : [line]));
    const [mine, theirs] = [edit('m'), edit('t')];
    const { text } = merge.merge3(base.join(''), mine.join(''), theirs.join(''));
    for (const line of [...mine, ...theirs]) if (/^[mt]/.test(line)) assert.ok(text.includes(line), `${line} was lost`);
  }
});

test('a merged document has every word of both where both wrote', () => {
  const base = prompt.read(seed);
  const key = (doc, i) => doc.blocks[i].key;
  let mine = prompt.setText(base, key(base, 2), 'mine');
  mine = prompt.insert(mine, 3, prompt.newBlock(mine, 'assistant', 'only mine'));
  const other = prompt.read(seed);
  let theirs = prompt.setText(other, key(other, 2), 'theirs');
  theirs = prompt.insert({ ...theirs, system: 'New.' }, 0, { ...prompt.newBlock(theirs, 'user', 'only theirs'), id: 'x' });
  const rows = merge.compare(base, mine, theirs);
  assert.deepEqual(rows.map((one) => [one.id, one.choice, one.isConflict]),
    [['system', 'theirs', false], ['msg_3', 'both', true], ['msg_4', 'mine', false], ['x', 'theirs', false]]);
  const settled = merge.settle(base, mine, theirs, rows);
  assert.equal(settled.system, 'New.');
  assert.deepEqual(settled.blocks.map((block) => block.text), ['only theirs', 'eval(input())', 'Unsafe.', 'mine\ntheirs', 'only mine']);
  assert.equal(merge.settle(base, mine, theirs, rows.map((one) => ({ ...one, choice: 'mine' }))).blocks[2].text, 'mine');
});

test('ids that repeat: keys are each block\'s own, nothing counts as changed, and no word is lost', () => {
  const next = random(5);
  const docOf = (texts) => prompt.read({ type: 'structured', content: { protocol: 'structured-chat', messages: texts.map((content) => ({ id: `m${Math.floor(next() * 2)}`, role: 'user', content })), variables: [{ name: 'a' }, { name: 'a' }] } });
  for (let i = 0; i < 300; i++) {
    const texts = (mark) => Array.from({ length: 1 + Math.floor(next() * 5) }, (_, n) => `${mark}${n}`);
    const [base, mine, theirs] = ['b', 'm', 't'].map((mark) => docOf(texts(mark)));
    assert.equal(prompt.countChanges(mine, prompt.read(prompt.write(mine))), 0);
    for (let doc = mine, n = 0; n < 4; n++) {
      doc = prompt.keyed([mine, theirs, base, prompt.remove(mine, mine.blocks[0].key)][n], doc);
      assert.equal(new Set(doc.blocks.map((block) => block.key)).size, doc.blocks.length);
    }
    assert.deepEqual(prompt.keyed(prompt.read(prompt.write(mine)), mine).blocks.map((block) => block.key), mine.blocks.map((block) => block.key));
    const rows = merge.compare(base, mine, theirs);
    assert.equal(new Set(rows.map((one) => one.id)).size, rows.length);
    const settled = merge.settle(base, mine, theirs, rows.map((one) => ({ ...one, choice: 'both' })));
    for (const { text } of [...mine.blocks, ...theirs.blocks]) assert.ok(settled.blocks.some((block) => block.text.includes(text)), `${text} was lost`);
    assert.equal(variables.variablesOf(mine).length, 1);
  }
});

test('the marks of a text are the text, cut', () => {
  const next = random(11);
  const parts = ['{{a}}', '```py\n', '```\n', '`x`', 'word ', '\n', '{{', '}}', '中文', '~~~\n', '😀', '\\{{'];
  for (let i = 0; i < 300; i++) {
    const text = Array.from({ length: 12 }, () => parts[Math.floor(next() * parts.length)]).join('');
    const cut = marks.pieces(text, (name) => name !== 'b', [{ from: 1, to: 3 }]);
    assert.equal(cut.map((piece) => piece.text).join(''), text);
    let at = 0;
    for (const piece of cut) { assert.equal(piece.from, at); at += piece.text.length; }
  }
  assert.deepEqual(marks.pieces('a {{v}} `c`\n```\nx {{w}}\n```\nz', (name) => name === 'v').map((piece) => [piece.mark, piece.text]), [
    ['text', 'a '], ['var', '{{v}}'], ['text', ' '], ['code', '`c`'], ['text', '\n'], ['fence', '```\nx '], ['missing', '{{w}}'], ['fence', '\n```\n'], ['text', 'z']]);
  // Code between fences is one sheet, with any marks in it; two adjacent ones are two.
  assert.deepEqual(marks.runs(marks.pieces('a\n```\n{{w}}\n```\n~~~\nb\n~~~\nz')).map((run) => [run.isSheet, run.pieces.map((piece) => piece.text).join('')]), [
    [false, 'a\n'], [true, '```\n{{w}}\n```\n'], [true, '~~~\nb\n~~~\n'], [false, 'z']]);
});

test('months have whole weeks, and every day once', () => {
  for (let month = '2024-01'; month <= '2028-12'; month = calendar.addMonths(month, 1)) {
    const days = calendar.monthGrid(month);
    assert.equal(days.length % 7, 0);
    assert.equal(calendar.weekday(days[0]), 0);
    assert.ok(days.every((day, i) => !i || calendar.addDays(days[i - 1], 1) === day));
    assert.equal(days.filter((day) => day.startsWith(month)).length, new Date(Date.UTC(+month.slice(0, 4), +month.slice(5), 0)).getUTCDate());
  }
  assert.equal(calendar.addDays('2024-02-28', 1), '2024-02-29');
  assert.ok(!calendar.isMonth('2026-13') && !calendar.isMonth(null) && calendar.isMonth('2026-11'));
});

test('days on which the clock changes say how far', () => {
  const york = (day) => calendar.clockChange(day, 'America/New_York');
  assert.deepEqual([york('2026-11-01').minutes, york('2026-11-01').from, york('2026-11-01').to], [-60, '02:00', '01:00']);
  assert.deepEqual([york('2026-03-08').minutes, york('2026-03-08').from], [60, '02:00']);
  assert.equal(york('2026-11-02'), null);
  for (const zone of ['Asia/Shanghai', 'UTC']) {
    for (let day = '2026-01-01'; day < '2027-01-01'; day = calendar.addDays(day, 1)) assert.equal(calendar.clockChange(day, zone), null);
  }
  for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago', 'Africa/Cairo']) {
    let sum = 0;
    let n = 0;
    for (let day = '2026-01-01'; day < '2027-01-01'; day = calendar.addDays(day, 1)) {
      const change = calendar.clockChange(day, zone);
      if (change) { sum += change.minutes; n++; }
    }
    assert.deepEqual([sum, n], [0, 2], zone);
  }
});

test('an instant put into a zone and back is the same', () => {
  for (const zone of ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe']) {
    for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 37 * 3_600_000) {
      const at = calendar.local(ms, zone);
      const back = calendar.instant(at.day, at.time, zone);
      assert.ok(Math.abs(back - ms) === 0 || calendar.clockChange(at.day, zone), `${zone} ${at.day} ${at.time}`);
    }
  }
  assert.equal(calendar.instant('2026-03-08', '02:30', 'America/New_York').toISOString(), '2026-03-08T07:00:00.000Z');
  assert.equal(calendar.instant('2026-11-01', '01:30', 'America/New_York').toISOString(), '2026-11-01T05:30:00.000Z');
  assert.deepEqual(calendar.local('2026-11-16T23:30:00Z', 'Asia/Shanghai'), { day: '2026-11-17', time: '07:30' });
});

test('runs by day: no day is left out, times are weighed', () => {
  const days = series.daysBetween('2026-02-27', '2026-03-02');
  assert.equal(days.length, 4);
  const point = (day, model, runs, ttft, cost = 0) => ({ day, model, runs, failed: 0, cost, ttft, input: 0, output: 0 });
  const points = [point(days[0], 'a', 1, 100, 0.5), point(days[0], 'a', 3, 200, 0.5), point(days[2], 'b', 9, null)];
  assert.deepEqual(series.seriesOf(points, days, 'ttft'), [{ model: 'b', values: [null, null, null, null] }, { model: 'a', values: [175, null, null, null] }]);
  assert.deepEqual(series.seriesOf(points, days, 'cost')[1].values, [1, 0, 0, 0]);
  assert.deepEqual([0, 0.3, 1, 4.2, 99, 100, 101].map(series.niceTop), [1, 0.5, 1, 5, 100, 100, 200]);
});
