// The words of the page. Each file of words/ maps a key to [English, Chinese]. This check fails the build if a language lacks
// words, if the two differ in their {places}, if two files have the same key, or if the source uses a key that does not exist.
// Keys built at run time (`st.${status}`) must have a prefix that exists.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const problems = [];

export function readWords() {
  const all = {};
  for (const name of fs.readdirSync(path.join(root, 'words')).filter((f) => f.endsWith('.json')).sort()) {
    for (const [key, pair] of Object.entries(JSON.parse(fs.readFileSync(path.join(root, 'words', name), 'utf8')))) {
      if (key in all) problems.push(`${name}: ${key} is in another file already`);
      if (!Array.isArray(pair) || pair.length !== 2 || pair.some((text) => typeof text !== 'string' || !text)) {
        problems.push(`${name}: ${key} needs [English, Chinese]`);
        continue;
      }
      all[key] = pair;
    }
  }
  return all;
}

/**
 * A page loads only the words that it shows. A key belongs to the group of the folder that uses it; if several folders do, to
 * the first group that all of them load. The table lists the other groups that each group needs.
 */
export const groups = {
  base: [], frame: [], pdf: [], segments: [], blocks: ['segments'], first: [], workbench: [], sessions: ['blocks', 'segments'], viewer: ['segments'],
  runs: [], memory: [], tasks: [], extensions: [], settings: [], audit: ['settings'], share: ['blocks', 'segments'],
};
/** Loaded when they are shown: palette, key sheet, sign-in, a page out of the sign-in's reach. */
const late = new Set(['Palette.svelte', 'KeySheet.svelte', 'SignIn.svelte', 'Shut.svelte']);

function groupOf(file) {
  const [folder, inner] = path.relative(path.join(root, 'src'), file).split(path.sep);
  if (folder === 'pages' && inner in groups) return inner;
  if (folder === 'frame') return late.has(inner) ? 'frame' : 'base';
  return folder in groups ? folder : 'base';
}

const loads = (name) => ['base', name, ...groups[name]];

let grouped = null;
export function groupWords() {
  if (grouped) return grouped;
  const all = readWords();
  const users = new Map(Object.keys(all).map((key) => [key, new Set()]));
  for (const file of sources(path.join(root, 'src'))) {
    if (file.includes(`${path.sep}embed${path.sep}`)) continue;
    const text = fs.readFileSync(file, 'utf8');
    const group = groupOf(file);
    for (const match of text.matchAll(/['"`]([\w.]+)['"`]/g)) users.get(match[1])?.add(group);
    for (const match of text.matchAll(/`([\w.]+\.)\$\{/g)) for (const [key, of] of users) if (key.startsWith(match[1])) of.add(group);
  }
  grouped = Object.fromEntries(Object.keys(groups).map((name) => [name, {}]));
  for (const [key, of] of users) {
    const name = of.size === 1 ? [...of][0] : of.size && ['blocks', 'segments'].find((one) => [...of].every((user) => loads(user).includes(one)));
    grouped[name || 'base'][key] = all[key];
  }
  return grouped;
}

const places = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');

function* sources(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (/\.(svelte|ts)$/.test(entry.name)) yield file;
  }
}

/** The codes of losses in the program: each needs a name and a sentence. */
function lossCodes() {
  const text = fs.readFileSync(path.join(root, '../src/core/format/loss_report.c'), 'utf8');
  const codes = [...text.matchAll(/\[PL_LOSS_\w+\] = \{"(\w+)"/g)].map((match) => match[1]);
  if (!codes.length) problems.push('src/core/format/loss_report.c: no codes of losses were found');
  return codes;
}

function check() {
  const all = readWords();
  for (const [key, [en, zh]] of Object.entries(all))
    if (places(en) !== places(zh)) problems.push(`${key}: the languages differ in ${places(en)} and ${places(zh)}`);
  for (const code of lossCodes())
    for (const key of [`l.${code}`, `l.${code}.d`]) if (!(key in all)) problems.push(`words/losses.json: there are no words for the loss ${code} (${key})`);
  let used = 0;
  for (const file of sources(path.join(root, 'src'))) {
    const text = fs.readFileSync(file, 'utf8');
    const at = (index) => `${path.relative(root, file)}:${text.slice(0, index).split('\n').length}`;
    for (const match of text.matchAll(/\bt\(\s*'([^']+)'/g)) {
      used++;
      if (!(match[1] in all)) problems.push(`${at(match.index)}: there are no words for ${match[1]}`);
    }
    for (const match of text.matchAll(/\bt\(\s*`([^`$]*)\$\{/g))
      if (!Object.keys(all).some((key) => key.startsWith(match[1])))
        problems.push(`${at(match.index)}: no key begins with ${match[1]}`);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length) process.exit(1);
  console.log(`words: ${Object.keys(all).length} keys in two languages, ${used} uses; ${Object.entries(groupWords()).map(([name, of]) => `${name} ${Object.keys(of).length}`).join(', ')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) check();
