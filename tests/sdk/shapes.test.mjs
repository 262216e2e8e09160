// The newest shapes: one document for every member, alternative and word in the types of the vendors' official clients
// (tools/shapes). Each is converted to every format; nothing crashes, every loss is reported, and all come home.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { escaped, reader, silent } from '../e2e/silence.mjs';
import { convertAll, convertHome, problem } from './shape_runs.mjs';

const formats = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'harmony', 'envelope', 'structured-chat', 'turns'];
const shown = 40;

// Members that may be omitted with these values: the default of every vendor, and words of the grammar.
const goesWithoutSaying = [
  [/\/parallel_tool_calls$/, true], // calls may be parallel with every vendor unless forbidden
  [/\/(response_format|format)$/, { type: 'text' }], // an answer is text by default
  [/\/image_url\/detail$/, 'auto'],
  [/\/(input|output)\/\d+\/status$/, 'completed'], // of an item in a history, or in a finished answer
  [/\/input\/\d+\/type$/, 'message'], // the default item, whose type is optional
  [/\/tools\/\d+\/type$/, 'custom'], // of Anthropic's ordinary tool, likewise
  [/\/candidates\/0\/index$/, 0],
  [/\/thinkingLevel$/, 'MEDIUM', 'gpt-oss'],
  [/\/(reasoning_effort|effort)$/, 'medium', 'gpt-oss'], // always written, and medium by default
];

// The pointer to the value that `whole` has and `less` lacks.
function findExtra(whole, less, pointer = '') {
  if (whole === null || typeof whole !== 'object' || less === null || typeof less !== 'object')
    return JSON.stringify(whole) === JSON.stringify(less) ? null : pointer;
  for (const [key, value] of Object.entries(whole)) {
    const at = `${pointer}/${escaped(key)}`;
    const found = key in less ? findExtra(value, less[key], at) : at;
    if (found) return found;
  }
  return null;
}

const valueAt = (document, pointer) => pointer.split('/').slice(1).reduce((value, key) => value[key], document);
const isBare = (value) => value === null || (typeof value === 'object' && Object.values(value).every(isBare));

// Whether a member changes the output, or is in the report. An object without any value has no content, unless its
// presence switches something on.
function isHeard(document, to, made, without) {
  const whole = JSON.parse(document.text);
  const pointer = findExtra(whole, JSON.parse(document.without));
  if (!pointer || without.error || made.out !== without.out || JSON.stringify(made.report.losses) !== JSON.stringify(without.report.losses)) return true;
  const value = valueAt(whole, pointer);
  if (value === null || (isBare(value) && !document.isSwitch)) return true;
  const report = reader(made.report.losses);
  if (report.has(pointer)) return true;
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf('/'))) if (report.covers(at)) return true;
  return goesWithoutSaying.some(([place, usual, where = to]) => place.test(pointer) && where === to && JSON.stringify(usual) === JSON.stringify(value));
}

const codes = ['dropped', 'approximated', 'reordered', 'merged', 'moved', 'synthesised'];
function faultOf(report, from, to) {
  if (report.from !== from || report.to !== to) return 'the report names other formats';
  const wrong = report.losses.find((loss) => !codes.includes(loss.code) || !/^(\/|$)/.test(loss.pointer) || !loss.detail);
  if (wrong) return `this is no loss: ${JSON.stringify(wrong)}`;
  return report.lossless === !report.losses.some((loss) => codes.indexOf(loss.code) < 4) ? null : 'lossless is not what the losses say';
}

// Converts all documents of one format and kind to one format, in one run of the program.
function check(list, from, to, kind, mode) {
  const texts = [...new Set(list.flatMap((it) => [it.text, ...(it.without ? [it.without] : [])]))];
  const made = convertAll(texts, { from, to, kind, mode });
  const at = new Map(texts.map((text, i) => [text, made[i]]));
  const problems = [];
  for (const document of list) {
    const it = at.get(document.text);
    const complain = (what) => problems.push(`${document.id} -> ${to}, ${mode}: ${what}`);
    if (it.error !== undefined) {
      if (it.error.length < 20) complain(`refused with "${it.error}"`);
      continue;
    }
    const fault = faultOf(it.report, from, to);
    if (fault) complain(fault);
    if (to !== 'gpt-oss') JSON.parse(it.out);
    for (const value of silent(JSON.parse(document.text), it.out, it.report.losses)) complain(`is not told of ${value}`);
    if (document.without && !isHeard(document, to, it, at.get(document.without))) complain('nobody hears of it');
  }
  if (mode === 'convert') problems.push(...convertHome(texts, made, { from, to, kind }).map((text) => `not home from ${to}: ${text.slice(0, 200)}`));
  assert.ok(made.some((it) => it.error === undefined), 'nothing was converted');
  assert.deepEqual(problems.slice(0, shown), [], `${problems.length} problems with ${texts.length} documents`);
}

if (problem) {
  test('the newest shapes', { skip: problem });
} else {
  const { readRoots } = await import('../../tools/shapes/roots.mjs');
  const { listVendors } = await import('../../tools/shapes/listing.mjs');
  const { makeDocuments } = await import('../../tools/shapes/corpus.mjs');
  // Slow work runs before the first test: the runner ends when its tests are done.
  const roots = readRoots();
  const documents = await makeDocuments(roots);

  for (const [vendor, text] of listVendors(roots))
    test(`the listing of ${vendor}'s types is that of the installed client`, () => {
      const committed = readFileSync(new URL(`../shapes/${vendor}.txt`, import.meta.url), 'utf8').split('\n');
      const changed = text.split('\n').filter((line) => !committed.includes(line));
      assert.ok(text === committed.join('\n'), `run node tools/shapes/list.mjs --update and read the difference. New lines: ${changed.slice(0, shown).join('\n')}`);
    });

  const groups = new Map();
  for (const document of documents) {
    const key = `${document.format} ${document.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), document]);
  }
  for (const [group, list] of groups) {
    const [from, kind] = group.split(' ');
    test(`${list.length} shapes of ${group}s give the same bytes in their own format`, () => {
      convertAll(list.map((it) => it.text), { from, to: from, kind, mode: 'convert' })
        .forEach((it, i) => assert.equal(it.out, list[i].text, list[i].id));
    });
    for (const to of formats.filter((it) => it !== from))
      for (const mode of ['convert', 'gateway'])
        test(`shapes of ${group}s reach ${to} in mode ${mode}, or are reported`, () => check(list, from, to, kind, mode));
  }
}
