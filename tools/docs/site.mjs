#!/usr/bin/env node
// Writes the documents as static pages: node tools/docs/site.mjs OUT
//
// docs/site.json lists the pages in order. A translated page has the same file name in the folder of its language (words.mjs); if
// it is missing, the menu links to the English page. The pages need no server and load nothing from other sites; the program
// serves them under /docs (tools/embed_page.py embeds them).
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { document } from './document.mjs';
import { render } from './markdown.mjs';
import { LANGUAGES } from './words.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const docs = join(root, 'docs');
const COPIED = /\.(webp|png|svg|json|mjs|py|c|md|txt|yaml|csv|jsonl)$/;

const isOutside = (name) => name.startsWith('..');
// "guide/server.md" becomes guide/server.html; a file outside docs/ is put at the top.
const placeOf = (name, folder) => join(folder, (isOutside(name) ? basename(name).toLowerCase() : name).replace(/\.md$/, '.html'));

// The search index: a script that adds to a variable, so that pages opened from a directory can load it, too.
function searchIndex(pages) {
  const rows = pages.flatMap(({ place, title, sections, language }) => sections.filter(({ anchor, text }) => anchor || text)
    .map(({ anchor, heading, text }) => [anchor ? `${place}#${anchor}` : place, title, heading, text.slice(0, language.sectionCharacters)]));
  return `globalThis.parleyIndex = (globalThis.parleyIndex ?? []).concat(${JSON.stringify(rows)});\n`;
}

// The files that exist in a language: name in site.json, file, place.
function filesOf(language, names) {
  return names.map((name) => ({ name, language, file: join(docs, language.folder, name), place: placeOf(name, language.folder) }))
    .filter(({ file }) => !language.folder || (!isOutside(relative(docs, file)) && existsSync(file)));
}

export function build(out) {
  const { groups, made } = JSON.parse(readFileSync(join(docs, 'site.json'), 'utf8'));
  const names = groups.flatMap(({ pages }) => pages);
  const files = LANGUAGES.flatMap((language) => filesOf(language, names));
  const places = new Map(files.map(({ file, place }) => [file, place]));
  const copies = new Map();
  const copy = (file) => {
    if (!file.startsWith(docs) || !COPIED.test(file) || relative(docs, file).split('/').length > 3) return null;
    if (/\.md$/.test(file)) return null; // a document that is not a page
    copies.set(file, relative(docs, file));
    return copies.get(file);
  };
  const pages = files.map((entry) => ({ ...entry, ...render(readFileSync(entry.file, 'utf8'), entry.file, { pages: places, copy, words: entry.language.words }) }));
  rmSync(out, { recursive: true, force: true });
  for (const page of pages) {
    mkdirSync(join(out, dirname(page.place)), { recursive: true });
    writeFileSync(join(out, page.place), document(page, { groups, pages, made }));
  }
  for (const [file, place] of copies) {
    mkdirSync(join(out, dirname(place)), { recursive: true });
    cpSync(file, join(out, place));
  }
  for (const name of ['icon.svg', 'style.css', 'site.js']) cpSync(join(here, name), join(out, name));
  for (const language of LANGUAGES) {
    const own = pages.filter((page) => page.language === language);
    if (own.length) writeFileSync(join(out, language.folder, 'search.js'), searchIndex(own));
  }
  return pages.length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2];
  if (!out) {
    console.error('usage: node tools/docs/site.mjs OUT');
    process.exit(2);
  }
  build(out);
}
