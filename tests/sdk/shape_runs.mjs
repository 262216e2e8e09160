// Converts many documents in one run of the program, and back.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { directory, run } from '../e2e/harness.mjs';

// The reason why there are no shapes, or false.
const major = Number(process.versions.node.split('.')[0]);
export const problem = !existsSync(fileURLToPath(new URL('node_modules/typescript', import.meta.url)))
  ? 'the clients are not installed: npm ci in tests/sdk (tools/install-deps test does it)'
  : major < 20 && `the clients need Node 20 or later, this is ${process.versions.node}`;

const place = (name) => mkdtempSync(path.join(directory, `${name}-`));
const lines = (text) => text.split('\n').filter(Boolean);
const argsOf = ({ from, to, kind, mode = 'convert' }) => ['convert', '--from', from, '--to', to, '--kind', kind, '--mode', mode];

// For each text { out, report, carry }, or { error } if it is refused.
export function convertAll(texts, task) {
  return task.to === 'gpt-oss' ? convertFiles(texts, task) : convertLines(texts, task);
}

function endWell({ code, signal, err }) {
  assert.equal(signal, null, err);
  assert.ok(code === 0 || code === 1, `exit ${code}: ${err.slice(0, 2000)}`);
}

function convertLines(texts, task) {
  const at = place('lines');
  const [reports, carries] = ['report', 'carry'].map((name) => path.join(at, name));
  const done = run([...argsOf(task), '--ndjson', '--report', reports, '--carry', carries, '-'], { input: `${texts.join('\n')}\n` });
  endWell(done);
  const errors = new Map([...done.err.matchAll(/<stdin>:(\d+):\d+: (.*)/g)].map(([, line, message]) => [Number(line), message]));
  const out = lines(done.out);
  const carry = lines(readFileSync(carries, 'utf8'));
  const report = lines(readFileSync(reports, 'utf8')).map((line) => JSON.parse(line));
  assert.equal(report.length, texts.length, 'the report has a line for every document');
  assert.equal(out.length + errors.size, texts.length, 'a document is answered or refused');
  let n = 0;
  return texts.map((_, i) => (errors.has(i + 1) ? { error: errors.get(i + 1) } : { report: report[i], carry: carry[n], out: out[n++] }));
}

// gpt-oss is not JSON, so NDJSON cannot carry it.
function convertFiles(texts, task) {
  const [sources, made, reports, carries] = ['sources', 'made', 'reports', 'carries'].map(place);
  texts.forEach((text, i) => writeFileSync(path.join(sources, `${i}.json`), text));
  const done = run([...argsOf(task), '--out', made, '--report', reports, '--carry', carries, sources]);
  endWell(done);
  const errors = new Map([...done.err.matchAll(/\/(\d+)\.json:(?:\d+:\d+:)? (.*)/g)].map(([, i, message]) => [Number(i), message]));
  const files = new Map(readdirSync(made).map((name) => [Number.parseInt(name, 10), name]));
  assert.equal(files.size + errors.size, texts.length, 'a document is answered or refused');
  return texts.map((_, i) => (errors.has(i) ? { error: errors.get(i) } : {
    out: readFileSync(path.join(made, files.get(i)), 'utf8'),
    report: JSON.parse(readFileSync(path.join(reports, `${i}.report.json`), 'utf8')),
    carry: readFileSync(path.join(carries, `${i}.carry.json`), 'utf8'),
  }));
}

// The texts that are not restored byte for byte.
export function convertHome(texts, made, { from, to, kind }) {
  const there = texts.map((text, i) => ({ text, ...made[i] })).filter((it) => it.error === undefined);
  const task = { from: to, to: from, kind };
  const home = to === 'gpt-oss' ? filesHome(there, task) : linesHome(there, task);
  return there.filter((it, i) => home[i] !== it.text).map((it) => it.text);
}

function linesHome(there, task) {
  const carries = path.join(place('home'), 'carry');
  writeFileSync(carries, there.map((it) => `${it.carry}\n`).join(''));
  const done = run([...argsOf(task), '--ndjson', '--with-carry', carries, '-'], { input: there.map((it) => `${it.out}\n`).join('') });
  assert.equal(done.code, 0, done.err);
  return lines(done.out);
}

function filesHome(there, task) {
  const [sources, carries, home] = ['there', 'carries', 'home'].map(place);
  there.forEach((it, i) => {
    writeFileSync(path.join(sources, `${i}.json`), it.out);
    writeFileSync(path.join(carries, `${i}.carry.json`), it.carry);
  });
  const done = run([...argsOf(task), '--out', home, '--with-carry', carries, sources]);
  assert.equal(done.code, 0, done.err);
  return there.map((_, i) => readFileSync(path.join(home, `${i}.json`), 'utf8'));
}
