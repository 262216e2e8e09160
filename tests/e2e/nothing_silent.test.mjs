// No silent losses in recorded documents: every text and number of a source is in the output, or the report names
// it. A report that names a container covers its content only if the container was dropped, or if the detail says
// so for everything in it.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { directory, root, run } from './harness.mjs';
import { silent } from './silence.mjs';

const formats = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'gpt-oss', 'harmony', 'envelope', 'structured-chat', 'turns'];
const corpora = process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora');
const recorded = join(corpora, 'recorded', 'compact.ndjson.gz');

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

// All documents of one format and kind: one run of the program for each target.
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
