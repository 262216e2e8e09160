#!/usr/bin/env node
// The documents as static pages: node tools/docs/site.mjs OUT
//
// docs/site.json says which pages there are and in which order. The pages need no server and load nothing from elsewhere; the
// program serves them under /docs (tools/embed_page.py puts them into it).
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escape, render } from './markdown.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const docs = join(root, 'docs');
const COPIED = /\.(webp|png|svg|json|mjs|py|c|md|txt|yaml|csv|jsonl)$/;
const SECTION_CHARACTERS = 600; // of a section that the search looks at

// "guide/server.md" is guide/server.html; a file outside docs/ is at the top.
const placeOf = (name) => (name.startsWith('..') ? basename(name).toLowerCase() : name).replace(/\.md$/, '.html');

function navigation(groups, current, titles) {
  const link = (place) => {
    const to = relative(dirname(current), place);
    return `<li><a href="${to}"${place === current ? ' aria-current="page"' : ''}>${escape(titles.get(place))}</a></li>`;
  };
  return groups.map(({ title, pages }) => `<p class="group">${escape(title)}</p>\n<ul>${pages.map((name) => link(placeOf(name))).join('\n')}</ul>`).join('\n');
}

function contents(sections) {
  const list = sections.filter(({ depth, anchor }) => anchor && (depth === 2 || depth === 3));
  if (list.length < 3) return '';
  const items = list.map(({ anchor, heading, depth }) => `<li class="depth${depth}"><a href="#${anchor}">${escape(heading)}</a></li>`).join('\n');
  return `<nav class="contents" aria-label="On this page"><p class="group">On this page</p>\n<ul>${items}</ul></nav>`;
}

// The page before and the page after.
function around(order, place, titles) {
  const at = order.indexOf(place);
  const link = (to, kind, mark) => to ? `<a class="${kind}" href="${relative(dirname(place), to)}">${mark(escape(titles.get(to)))}</a>` : '<span></span>';
  return `<nav class="around" aria-label="Next and previous page">${link(order[at - 1], 'before', (t) => `← ${t}`)}${link(order[at + 1], 'after', (t) => `${t} →`)}</nav>`;
}

function document(page, { groups, order, titles }) {
  const up = relative(dirname(page.place), '.') || '.';
  const title = page.place === 'index.html' ? 'Parley: documentation' : `${page.title} · Parley`;
  return `<!doctype html>
<html lang="en" data-up="${up}/">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<meta name="description" content="${escape((page.sections.find(({ text }) => text)?.text ?? title).slice(0, 160))}">
<script src="${up}/site.js"></script>
<link rel="stylesheet" href="${up}/style.css">
<link rel="icon" href="${up}/icon.svg">
</head>
<body>
<a class="skip" href="#docs-main">To the text</a>
<header>
<button id="docs-menu" type="button" aria-expanded="false" aria-controls="docs-pages">Menu</button>
<a class="name" href="${up}/index.html">Parley</a>
<div class="search" role="search">
<input id="docs-search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="docs-found">
<ul id="docs-found" role="listbox" aria-label="Found" hidden></ul>
</div>
<button id="docs-theme" type="button" aria-label="Light or dark">◐</button>
</header>
<div class="columns">
<nav id="docs-pages" aria-label="Pages">
${navigation(groups, page.place, titles)}
</nav>
<main id="docs-main">
${page.html}
${around(order, page.place, titles)}
</main>
${contents(page.sections)}
</div>
</body>
</html>
`;
}

// What the search looks through: a file that sets a variable, so that pages from a directory can load it, too.
function searchIndex(pages) {
  const rows = pages.flatMap(({ place, title, sections }) => sections.filter(({ anchor, text }) => anchor || text)
    .map(({ anchor, heading, text }) => [anchor ? `${place}#${anchor}` : place, title, heading, text.slice(0, SECTION_CHARACTERS)]));
  return `globalThis.parleyIndex = ${JSON.stringify(rows)};\n`;
}

export function build(out) {
  const groups = JSON.parse(readFileSync(join(docs, 'site.json'), 'utf8'));
  const names = groups.flatMap(({ pages }) => pages);
  const places = new Map(names.map((name) => [join(docs, name), placeOf(name)]));
  const copies = new Map();
  const copy = (file) => {
    if (!file.startsWith(docs) || !COPIED.test(file) || relative(docs, file).split('/').length > 3) return null;
    if (/\.md$/.test(file)) return null; // a document that is no page
    copies.set(file, relative(docs, file));
    return copies.get(file);
  };
  const pages = names.map((name) => {
    const file = join(docs, name);
    return { place: placeOf(name), ...render(readFileSync(file, 'utf8'), file, { pages: places, copy }) };
  });
  const titles = new Map(pages.map(({ place, title }) => [place, place === 'index.html' ? 'What Parley is' : title]));
  const order = pages.map(({ place }) => place);
  rmSync(out, { recursive: true, force: true });
  for (const page of pages) {
    mkdirSync(join(out, dirname(page.place)), { recursive: true });
    writeFileSync(join(out, page.place), document(page, { groups, order, titles }));
  }
  for (const [file, place] of copies) cpSync(file, join(out, place), { recursive: true });
  for (const name of ['icon.svg', 'style.css', 'site.js']) cpSync(join(here, name), join(out, name));
  writeFileSync(join(out, 'search.js'), searchIndex(pages));
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
