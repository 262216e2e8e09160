// The words of the page. Each file of words/ maps a key to [English, Chinese]. This check fails the build when a
// language lacks words, when the two differ in their {places}, when a key is in two files, or when the source uses a
// key that does not exist. Keys put together at run time (`st.${status}`) must have a prefix that exists.
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

const places = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');

function* sources(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (/\.(svelte|ts)$/.test(entry.name)) yield file;
  }
}

function check() {
  const all = readWords();
  for (const [key, [en, zh]] of Object.entries(all))
    if (places(en) !== places(zh)) problems.push(`${key}: the languages differ in ${places(en)} and ${places(zh)}`);
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
  console.log(`words: ${Object.keys(all).length} keys in two languages, ${used} uses`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) check();
