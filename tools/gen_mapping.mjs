// Writes docs/guide/mapping.md: what maps to what, for all pairs of formats.
//
//     node tools/gen_mapping.mjs build/parley > docs/guide/mapping.md
//
// The tables are generated: each cell is the program's own loss report for one probe (gen_mapping_probes.mjs).
// tests/e2e/docs.test.mjs checks that the page is current.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { answerConcepts, answers, concepts, requests } from './gen_mapping_probes.mjs';

const short = {
  harmony: 'harmony', envelope: 'envelope', 'structured-chat': 'struct.', turns: 'turns', 'openai-chat': 'chat', 'openai-responses': 'responses',
  anthropic: 'anthropic', gemini: 'gemini', 'gpt-oss': 'gpt-oss',
};
const targets = Object.keys(requests);
const codes = ['dropped', 'approximated', 'reordered', 'merged', 'moved', 'synthesised'];
const words = { dropped: 'dropped', approximated: 'approx.', reordered: 'reordered', merged: 'merged', moved: 'moved', synthesised: 'synth.' };

const steps = (pointer) => pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function put(doc, pointer, value) {
  if (pointer === '') return structuredClone(value);
  const path = steps(pointer);
  let at = doc;
  for (const step of path.slice(0, -1)) at = at[step];
  at[path.at(-1)] = structuredClone(value);
  return doc;
}

// The text of the source's document with the probe in it.
function documentOf(base, [, where, value, more = {}]) {
  if (typeof base === 'string') return value;
  let doc = structuredClone(base);
  for (const [pointer, extra] of Object.entries(more)) doc = put(doc, pointer, extra);
  return JSON.stringify(put(doc, where, value));
}

const isInside = (pointer, where) => pointer === where || pointer.startsWith(`${where}/`);

function lossesOf(parley, directory, text, from, to, kind) {
  const report = join(directory, 'report.json');
  rmSync(report, { force: true });
  const { error, status, stderr } = spawnSync(parley, ['convert', '--from', from, '--to', to, '--kind', kind, '--report', report, '-'], { input: text, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0 && status !== 1) throw new Error(`${from} -> ${to}: ${stderr}`);
  return { isRefused: status === 1, losses: JSON.parse(readFileSync(report, 'utf8')).losses };
}

// Members that only name the kind of an object: no report mentions them.
const grammar = new Set(['type', 'role', 'kind', 'mimeType', 'media_type', 'mediaType', 'format', 'id', 'index', 'collapsed', 'mode', 'name', 'title']);

// Pointers to the leaves of a value that carry content.
function leavesOf(value, pointer, key = '') {
  if (value === null || typeof value !== 'object') return grammar.has(key) ? [] : [pointer];
  return Object.entries(value).flatMap(([name, child]) => leavesOf(child, `${pointer}/${name}`, Array.isArray(value) ? '' : name));
}

// A loss counts if it is about the probe: at the probe or inside it; or at a container of it, if the container was dropped, or if the
// document without the probe does not have that loss.
function cellOf(before, { isRefused, losses }, [, where, value]) {
  if (isRefused) return { text: 'refused', notes: losses };
  const known = new Set(before.losses.map((loss) => `${loss.code} ${loss.pointer}`));
  const mine = losses.filter(({ code, pointer }) => {
    const isNew = !known.has(`${code} ${pointer}`);
    if (where === '') return isNew;
    return isInside(pointer, where) || (isInside(where, pointer) && (isNew || (code === 'dropped' && pointer !== '')));
  });
  const found = codes.filter((code) => mine.some((loss) => loss.code === code));
  // A part of the probe may still be kept.
  const gone = mine.filter(({ code }) => code === 'dropped');
  const isPartial = gone.length > 0 && (where === '' || leavesOf(value, where).some((leaf) => !gone.some(({ pointer }) => isInside(leaf, pointer))));
  const text = found.length === 0 ? 'kept' : found.map((code) => words[code]).join(', ') + (isPartial ? '*' : '');
  return { text, notes: mine };
}

function tableOf(parley, directory, sources, from, rows, kind) {
  const { base, probes } = sources[from];
  const others = targets.filter((name) => name !== from);
  const baseText = typeof base === 'string' ? base : JSON.stringify(base);
  const before = Object.fromEntries(others.map((to) => [to, lossesOf(parley, directory, baseText, from, to, kind)]));
  const lines = [`| | ${others.map((name) => short[name]).join(' | ')} |`, `|---|${others.map(() => '---|').join('')}`];
  const notes = new Map();
  for (const concept of rows) {
    const probe = probes.find(([name]) => name === concept);
    if (!probe) continue;
    const text = documentOf(base, probe);
    const cells = others.map((to) => {
      const cell = cellOf(before[to], lossesOf(parley, directory, text, from, to, kind), probe);
      for (const { code, detail } of cell.notes) {
        const line = `${concept}: ${words[code]}, ${detail.replaceAll('|', '\\|')}`;
        notes.set(line, [...(notes.get(line) ?? []), short[to]]);
      }
      return cell.text;
    });
    lines.push(`| ${concept} | ${cells.join(' | ')} |`);
  }
  const told = [...notes].map(([line, where]) => `- ${line} (${[...new Set(where)].join(', ')})`);
  return `${lines.join('\n')}\n\n<details><summary>What the reports say</summary>\n\n${told.join('\n')}\n\n</details>`;
}

// The whole page.
export function page(parley) {
  const directory = mkdtempSync(join(tmpdir(), 'parley-mapping-'));
  try {
    const table = (sources, from, rows, kind) => `### From ${from}\n\n${tableOf(parley, directory, sources, from, rows, kind)}\n`;
    return `# What maps to what

Generated by \`tools/gen_mapping.mjs\`. Each cell shows what Parley's own loss report says about one small document. Do not edit this page;
run the generator.

- **kept**: the target contains it, in its own form.
- **dropped**: the target has no place for it. **approx.**: approximated, the target contains a part of its meaning. **reordered**, **merged**: the
  target contains it, but at another position or together with something else. \`--strict\` refuses these four.
- **moved**: the target contains it elsewhere. **synth.**: kept, with an addition that the target requires and the source does not have.
- **refused**: the target cannot express the document at all.
- **dropped\\***: a part is dropped, the rest is kept. The reports' sentences are below each table.

The carry contains whatever a target does not, and restores it. A format converted to itself always gives the same bytes. If a row is missing, the
source has no such thing. All tables are for mode \`convert\`; repairs and profiles use the same words in their reports.

## Requests

${Object.keys(requests).map((from) => table(requests, from, concepts, 'request')).join('\n')}
## Responses

${Object.keys(answers).map((from) => table(answers, from, answerConcepts, 'response')).join('\n')}`;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) stdout.write(page(argv[2] ?? 'build/parley'));
