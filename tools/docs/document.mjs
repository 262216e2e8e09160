// Renders a page of the documents as HTML: menu, search, language switch, text and table of contents.
import { dirname, join, relative } from 'node:path';
import { escape } from './markdown.mjs';
import { LANGUAGES } from './words.mjs';

const FIRST = 'index.md';
const titleOf = (page) => page.name === FIRST ? page.language.words.first : page.title;

// All pages for the menu of one language: its own page, or the English one if there is none.
function menu(page, { groups, pages, made }) {
  const { language } = page;
  const link = (name) => {
    const own = pages.find((one) => one.name === name && one.language === language);
    const to = own ?? pages.find((one) => one.name === name && one.language === LANGUAGES[0]);
    const title = own ? titleOf(own) : `${made[name]?.[language.lang] ?? titleOf(to)}${language.words.only}`;
    const marks = `${to === page ? ' aria-current="page"' : ''}${own ? '' : ` hreflang="${to.language.lang}"`}`;
    return `<li><a href="${relative(dirname(page.place), to.place)}"${marks}>${escape(title)}</a></li>`;
  };
  return groups.map(({ title, pages: names }) => `<p class="group">${escape(title[language.lang])}</p>\n<ul>${names.map(link).join('\n')}</ul>`).join('\n');
}

function contents({ sections, language: { words } }) {
  const list = sections.filter(({ depth, anchor }) => anchor && (depth === 2 || depth === 3));
  if (list.length < 3) return '';
  const items = list.map(({ anchor, heading, depth }) => `<li class="depth${depth}"><a href="#${anchor}">${escape(heading)}</a></li>`).join('\n');
  return `<nav class="contents" aria-label="${words.contents}"><p class="group">${words.contents}</p>\n<ul>${items}</ul></nav>`;
}

// The previous and the next page in the same language.
function around(page, pages) {
  const order = pages.filter(({ language }) => language === page.language), at = order.indexOf(page);
  const link = (to, kind, mark) => to ? `<a class="${kind}" href="${relative(dirname(page.place), to.place)}">${mark(escape(titleOf(to)))}</a>` : '<span></span>';
  return `<nav class="around" aria-label="${page.language.words.around}">${link(order[at - 1], 'before', (t) => `← ${t}`)}${link(order[at + 1], 'after', (t) => `${t} →`)}</nav>`;
}

// The same page in the other languages, with its anchors in the order of the headings, so that the script can link to the same
// section. Without a translation, links to the first page.
function others(page, pages) {
  return LANGUAGES.filter((language) => language !== page.language).flatMap((language) => {
    const same = pages.find((one) => one.name === page.name && one.language === language);
    const to = same ?? pages.find((one) => one.name === FIRST && one.language === language);
    if (!to) return [];
    const anchors = same ? same.sections.filter(({ anchor }) => anchor).map(({ anchor }) => anchor).join(' ') : '';
    return [{ language, same, href: relative(dirname(page.place), to.place), anchors }];
  });
}

export function document(page, { groups, pages, made }) {
  const { language: { lang, folder, words } } = page;
  const up = relative(dirname(page.place), '.') || '.';
  const title = page.name === FIRST ? words.site : `${page.title} · Parley`;
  const other = others(page, pages);
  const alternates = other.filter(({ same }) => same).map(({ language, href }) => `<link rel="alternate" hreflang="${language.lang}" href="${href}">\n`).join('');
  const switches = other.map(({ language, href, anchors }) => `<a class="language" lang="${language.lang}" hreflang="${language.lang}" href="${href}"${
    anchors ? ` data-anchors="${escape(anchors)}"` : ''}>${language.name}</a>\n`).join('');
  return `<!doctype html>
<html lang="${lang}" data-up="${up}/" data-search="${[...new Set([folder, ''])].map((name) => join(name, 'search.js')).join(' ')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<meta name="description" content="${escape((page.sections.find(({ text }) => text)?.text ?? title).slice(0, 160))}">
<script src="${up}/site.js"></script>
<link rel="stylesheet" href="${up}/style.css">
<link rel="icon" href="${up}/icon.svg">
${alternates}</head>
<body>
<a class="skip" href="#docs-main">${words.skip}</a>
<header>
<button id="docs-menu" type="button" aria-expanded="false" aria-controls="docs-pages">${words.menu}</button>
<a class="name" href="${relative(dirname(page.place), join(folder, 'index.html'))}">Parley</a>
<div class="search" role="search">
<input id="docs-search" type="search" placeholder="${words.search}" aria-label="${words.searchAll}" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="docs-found">
<ul id="docs-found" role="listbox" aria-label="${words.found}" data-none="${words.none}" hidden></ul>
</div>
${switches}<button id="docs-theme" type="button" aria-label="${words.theme}">◐</button>
</header>
<div class="columns">
<nav id="docs-pages" aria-label="${words.pages}">
${menu(page, { groups, pages, made })}
</nav>
<main id="docs-main">
${page.html}
${around(page, pages)}
</main>
${contents(page)}
</div>
</body>
</html>
`;
}
