// The newest events: one stream for every object, alternative and word in the event types of the vendors' official
// clients (tools/shapes). Each is converted to one other dialect, all dialects in turn; with PARLEY_SHAPES_ALL (make
// soak) to every one. Nothing crashes, and content that the target's events lack is in the report.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { directory, shell } from '../e2e/harness.mjs';
import { isGrammar, says, wordsOf } from '../e2e/silence.mjs';
import { problem } from './shape_runs.mjs';

const dialects = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'patches'];
const shown = 40;

// The places of an event's members in the whole answer, which the report uses: [start of the path in an event, start
// in the answer]. Indexes in lists do not count. The first match counts.
const places = {
  'openai-chat': [[/^choices\/delta/, 'choices/message'], [/^/, '']],
  'openai-responses': [
    [/^response\//, ''], [/^item\//, 'output/'], [/^annotation\//, 'output/content/annotations/'], [/^logprobs/, 'output/content/logprobs'],
    [/^part\//, 'output/content/'], [/^error\//, 'error/'], [/^/, 'error/'],
  ],
  anthropic: [
    [/^message\//, ''], [/^content_block\//, 'content/'], [/^delta\/(text|thinking|signature)$/, 'content/$1'], [/^delta\/citation\//, 'content/citations/'],
    [/^delta\/partial_json/, 'content/input'], [/^delta\/(stop_|container)/, '$1'], [/^delta\//, 'content/'], [/^/, ''],
  ],
  gemini: [[/^/, '']],
};
// Counters that every event has; other dialects do not have them.
const isCount = (key) => /^(sequence_number|output_index|content_index|summary_index|item_id|obfuscation)$/.test(key);

// Where the pieces in an item's events are added.
const pieces = [
  [/output_text/, 'output/content/text'], [/refusal/, 'output/content/refusal'], [/reasoning_text/, 'output/content/text'],
  [/reasoning_summary/, 'output/summary/text'], [/_arguments/, 'output/arguments'], [/custom_tool_call_input/, 'output/input'],
  [/_code\./, 'output/code'], [/shell_call_command/, 'output/action/commands'], [/shell_call_output/, 'output/output'],
];

function placeOf(dialect, keys, event) {
  const at = keys.filter((key) => !/^\d+$/.test(key)).join('/');
  const piece = dialect === 'openai-responses' && /^(delta|text|refusal|arguments|input|code|command|output)(\/|$)/.test(at) && pieces.find(([type]) => type.test(event.type));
  if (piece) return at.replace(/^[a-z]+/, piece[1]);
  const [begin, there] = places[dialect].find(([pattern]) => pattern.test(at));
  return at.replace(begin, there);
}

// A loss covers the place it names; if it dropped a container or the event itself, it covers everything inside.
function excuses(loss, place, event) {
  if (loss.code === 'synthesised') return false;
  if (event.type && loss.detail.includes(event.type)) return true;
  const named = loss.pointer.split('/').filter((key) => key && !/^\d+$/.test(key)).join('/');
  return named === place || (loss.code === 'dropped' && named !== '' && place.startsWith(`${named}/`));
}

function unreported({ format, event }, out, losses) {
  const words = out.split('\n').map((line) => line.replace(/^data: /, '')).filter((line) => /^[{[]/.test(line) && line !== '[DONE]').map(wordsOf).join('\n');
  const found = [];
  const walk = (value, keys) => {
    if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) walk(inner, [...keys, key]);
      return;
    }
    const key = keys.at(-1);
    if (isGrammar(key, value) || isCount(key) || says(words, key === 'jsonPath' ? value.slice(2) : value)) return;
    if (!losses.some((loss) => excuses(loss, placeOf(format, keys, event), event))) found.push(`${keys.join('/')}: ${String(value).slice(0, 60)}`);
  };
  walk(event, []);
  return found;
}

// Converts all streams of a dialect to another in one shell: starting a program is most of the work.
function streamAll(list, from, to) {
  const at = mkdtempSync(path.join(directory, 'streams-'));
  list.forEach((it, i) => writeFileSync(path.join(at, String(i)), it.text));
  const done = shell(`cd "$AT" && for i in $(seq 0 "$LAST"); do
    "$P" stream --from "$FROM" --to "$TO" --report "$i.report" "$i" >"$i.out" 2>"$i.err"; echo $? >"$i.code"; done`,
    { env: { AT: at, FROM: from, TO: to, LAST: String(list.length - 1) } });
  assert.equal(done.code, 0, done.err);
  const read = (i, name) => readFileSync(path.join(at, `${i}.${name}`), 'utf8');
  return list.map((_, i) => ({ code: Number(read(i, 'code')), out: read(i, 'out'), err: read(i, 'err'), report: JSON.parse(read(i, 'report')) }));
}

function check(list, from, to) {
  const problems = [];
  streamAll(list, from, to).forEach((it, i) => {
    const complain = (what) => problems.push(`${list[i].id} -> ${to}: ${what}`);
    // A stream that reports an error ends with one.
    if (it.code !== 0 && !(it.code === 3 && it.err.length > 30)) complain(`exit ${it.code}: ${it.err}`);
    const lossy = it.report.losses.some((loss) => ['dropped', 'approximated', 'reordered', 'merged'].includes(loss.code));
    if (it.report.from !== from || it.report.to !== to || it.report.lossless === lossy) complain(`the report is ${JSON.stringify(it.report)}`);
    for (const what of unreported(list[i], it.out, it.report.losses)) complain(`is not told of ${what}`);
  });
  assert.deepEqual(problems.slice(0, shown), [], `${problems.length} problems with ${list.length} streams`);
}

if (problem) {
  test('the newest events', { skip: problem });
} else {
  const { readRoots } = await import('../../tools/shapes/roots.mjs');
  const { makeStreams } = await import('../../tools/shapes/corpus.mjs');
  const streams = makeStreams(readRoots());
  for (const from of new Set(streams.map((it) => it.format))) {
    const others = dialects.filter((it) => it !== from);
    for (const [turn, to] of others.entries()) {
      const isTurn = (i) => process.env.PARLEY_SHAPES_ALL || i % others.length === turn;
      const list = streams.filter((it) => it.format === from).filter((_, i) => isTurn(i));
      test(`${list.length} streams of ${from} reach ${to}, or what is lost is reported`, () => check(list, from, to));
    }
  }
}
