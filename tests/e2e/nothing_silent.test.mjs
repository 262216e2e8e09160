// Nothing silent, over documents that others wrote: every text and number of a source stands in the output, or the
// report names it. A report that names a container excuses what is in it only when the container was dropped, or
// when the detail says that the writer speaks for all of it.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { directory, root, run } from './harness.mjs';

const formats = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'harmony', 'envelope', 'structured-chat', 'turns'];
const corpora = process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora');
const recorded = join(corpora, 'recorded', 'compact.ndjson.gz');

// Words of a grammar, and counters that other formats count differently: said in the target's own words.
const grammar = /^(type|role|kind|object|status|finish_reason|stop_reason|finishReason|mode|tool_choice|function_call|effort|reasoning_effort|thinking_level|thinkingLevel|format|mimeType|mime_type|mediaType|media_type|responseMimeType|response_mime_type|service_tier|reason|index|total_tokens|totalTokenCount|prompt_tokens|completion_tokens|input_tokens|output_tokens|candidatesTokenCount|promptTokenCount|toolUsePromptTokenCount|code|outcome|include|detail|thinking_budget|thinkingBudget|budget_tokens|protocol|version|charCount|sequence|timestamp|created_at|vendor|\d+)$/;
// What every other vendor does anyway, and has no word for: code runs in Python, and a server's tools are called without
// asking.
const usual = new Map([['language', 'PYTHON'], ['require_approval', 'never'], ['loop_id', 'root']]);
// Details that speak for everything in the container they stand at.
const speaksForAll = [/^the schema is written as a type of TypeScript/];

function goldenDocuments() {
  const golden = join(root, 'tests', 'golden');
  const documents = [];
  for (const format of formats.filter((name) => name !== 'gpt-oss' && existsSync(join(golden, name))))
    for (const name of readdirSync(join(golden, format))) {
      const args = join(golden, format, name, 'args');
      const isResponse = existsSync(args) && /--kind\s+response/.test(readFileSync(args, 'utf8'));
      documents.push({ id: `${format}/${name}`, format, kind: isResponse ? 'response' : 'request', text: readFileSync(join(golden, format, name, 'in.json'), 'utf8') });
    }
  return documents;
}

function recordedDocuments() {
  return gunzipSync(readFileSync(recorded)).toString('utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line))
    .filter((d) => d.kind !== 'stream' && d.format !== 'gpt-oss')
    .map((d) => ({ ...d, kind: d.kind === 'error' ? 'response' : d.kind }));
}

// What a document says: its keys and values, also those of JSON inside its texts.
function wordsOf(text) {
  const words = [text];
  const listen = (value) => {
    if (Array.isArray(value)) value.forEach(listen);
    else if (value && typeof value === 'object') for (const [key, inner] of Object.entries(value)) { words.push(key); listen(inner); }
    else if (value !== null) {
      words.push(String(value));
      if (typeof value === 'string' && /^\s*[[{]/.test(value)) try { listen(JSON.parse(value)); } catch { /* it only looks like JSON */ }
    }
  };
  try { listen(JSON.parse(text)); } catch { words.push(text.replace(/\n\/\/ /g, '\n')); }
  return words.join('\n');
}

function says(words, value) {
  const text = String(value);
  // As it is, as JSON spells it, or as JSON in ASCII does.
  const ascii = (s) => s.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const spelled = (s) => [s, JSON.stringify(s).slice(1, -1), ascii(JSON.stringify(s).slice(1, -1))];
  const has = (s) => spelled(s).some((t) => words.includes(t));
  if (has(text)) return true;
  if (typeof value === 'number') return !Number.isInteger(value) || has(String(Number(value.toPrecision(15))));
  if (/^\d{4}-\d\d-\d\dT/.test(text) && has(String(Math.floor(Date.parse(text) / 1000)))) return true;
  if (/^data:/.test(text) && has(text.slice(text.indexOf(',') + 1))) return true;
  if (/^\s*[[{]/.test(text)) try {
    const leaves = [];
    const collect = (v) => { if (v && typeof v === 'object') Object.values(v).forEach(collect); else if (v !== null && v !== '') leaves.push(String(v)); };
    collect(JSON.parse(text));
    return leaves.every(has);
  } catch { /* no JSON after all */ }
  return text.split('\n').every((line) => has(line.trim()));
}

// The values that are neither said nor reported.
function silent(source, out, losses) {
  const words = wordsOf(out);
  const reported = new Map();
  for (const loss of losses) if (loss.code !== 'synthesised') reported.set(loss.pointer, [...(reported.get(loss.pointer) ?? []), loss]);
  const excuses = (loss) => loss.code === 'dropped' || speaksForAll.some((words) => words.test(loss.detail));
  const found = [];
  const walk = (value, pointer) => {
    const here = reported.get(pointer) ?? [];
    const isContainer = value !== null && typeof value === 'object';
    if (pointer !== '' && here.some((loss) => !isContainer || excuses(loss))) return;
    if (isContainer) {
      for (const [key, inner] of Object.entries(value)) walk(inner, `${pointer}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`);
      return;
    }
    const key = pointer.slice(pointer.lastIndexOf('/') + 1);
    if (grammar.test(key) || value === null || value === '' || value === 0 || typeof value === 'boolean' || usual.get(key) === value || says(words, value)) return;
    found.push(`${pointer}: ${String(value).slice(0, 60)}`);
  };
  walk(source, '');
  return found;
}

// All documents of one format and kind at a time: one run of the program for each target.
function check(documents) {
  const problems = [];
  let n = 0;
  const groups = new Map();
  for (const d of documents) groups.set(`${d.format} ${d.kind}`, [...(groups.get(`${d.format} ${d.kind}`) ?? []), d]);
  for (const [group, list] of groups) {
    const [from, kind] = group.split(' ');
    const sources = mkdtempSync(join(directory, 'sources-'));
    const paths = list.map((d, i) => { const path = join(sources, `${i}.json`); writeFileSync(path, d.text); return path; });
    for (const to of formats.filter((name) => name !== from)) {
      const made = mkdtempSync(join(directory, 'made-')), reports = mkdtempSync(join(directory, 'reports-'));
      for (let i = 0; i < paths.length; i += 400)
        run(['convert', '--from', from, '--to', to, '--kind', kind, '--out', made, '--report', reports, ...paths.slice(i, i + 400)]);
      const names = new Map(readdirSync(made).map((name) => [name.split('.')[0], name]));
      list.forEach((d, i) => {
        if (!names.has(String(i))) return; // refused, with a reason
        n++;
        const losses = JSON.parse(readFileSync(join(reports, `${i}.report.json`), 'utf8')).losses;
        for (const what of silent(JSON.parse(d.text), readFileSync(join(made, names.get(String(i))), 'utf8'), losses))
          problems.push(`${d.id} -> ${to} (${kind}) ${what}`);
      });
    }
  }
  assert.ok(n > 0, 'nothing was converted');
  assert.deepEqual(problems.slice(0, 40), [], `${problems.length} values in ${n} conversions`);
}

test('the report hides nothing of the golden cases', () => check(goldenDocuments()));

test('the report hides nothing of recorded traffic', { skip: existsSync(recorded) ? false : 'no recorded/compact.ndjson.gz in the corpora' }, () => check(recordedDocuments()));
