// Renders the Markdown of the documents as HTML: headings with GitHub's anchors, links between the pages, no inline
// scripts or styles that the server's content policy would refuse.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

const { Marked } = createRequire(new URL('../../web/package.json', import.meta.url))('marked');

export const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const plainOf = (html) => html.replace(/<\/(t[dh]|p|li|pre)>/g, ' ').replace(/<[^>]+>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]);

// The anchor of a heading, as GitHub makes it; the second heading with the same name gets -1.
function slugOf(text, seen) {
  const slug = text.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
  const n = seen.get(slug) ?? 0;
  seen.set(slug, n + 1);
  return n ? `${slug}-${n}` : slug;
}

// Renders a page: its HTML, its title, and its sections for the contents and the search. `pages` maps a file of docs/ to its page;
// `copy` takes a linked file, such as an example, and returns its place in the site, or null: then the link is left out. `words`
// are those of the page's language.
export function render(text, file, { pages, copy, words: said }) {
  const seen = new Map();
  const sections = [{ anchor: '', heading: '', depth: 1, text: '' }];
  const base = dirname(file);
  let title = '';

  const placeOf = (href) => {
    const [path, anchor] = href.split(/#(.*)/s);
    if (!path) return href;
    const target = join(base, path);
    const to = pages.get(target) ?? (existsSync(target) ? copy(target) : null);
    return to && `${relative(dirname(pages.get(file)), to)}${anchor ? `#${anchor}` : ''}`;
  };

  const renderer = {
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens), words = plainOf(html), anchor = slugOf(words, seen);
      if (depth === 1 && !title) title = words;
      sections.push({ anchor, heading: words, depth, text: '' });
      return depth === 1 ? `<h1 id="${anchor}">${html}</h1>\n`
        : `<h${depth} id="${anchor}">${html} <a class="here" href="#${anchor}" aria-label="${said.here} ${escape(words)}">#</a></h${depth}>\n`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      if (/^(https?:|mailto:)/.test(href)) return `<a href="${escape(href)}" rel="noreferrer">${inner}</a>`;
      const to = placeOf(href);
      return to ? `<a href="${escape(to)}">${inner}</a>` : inner;
    },
    image({ href, text: alt }) {
      const to = placeOf(href);
      return to ? `<img src="${escape(to)}" alt="${escape(alt)}" loading="lazy">` : escape(alt);
    },
    code({ text: code, lang }) {
      const name = (lang ?? '').split(' ')[0];
      const body = name === 'console'
        ? code.split('\n').map((line) => line.startsWith('$ ') ? `<span class="typed">${escape(line)}</span>` : escape(line)).join('\n')
        : escape(code);
      return `<pre tabindex="0"${name ? ` data-lang="${escape(name)}"` : ''}><code>${body}</code></pre>\n`;
    },
    table({ header, rows }) {
      const cell = (tag) => ({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
      return `<div class="table" tabindex="0" role="region" aria-label="${said.table}"><table><thead><tr>${header.map(cell('th')).join('')}</tr></thead>\n<tbody>${
        rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`).join('\n')}</tbody></table></div>\n`;
    },
    html({ text: html }) {
      return html.startsWith('<!--') ? '' : escape(html);
    },
  };
  const html = new Marked({ gfm: true, renderer }).parse(text);
  addTexts(html, sections);
  return { html, title, sections };
}

// Adds the text below each heading, for the search.
function addTexts(html, sections) {
  const parts = html.split(/<h[1-6] id="([^"]*)"/);
  const byAnchor = new Map(sections.map((section) => [section.anchor, section]));
  sections[0].text = plainOf(parts[0]).replace(/\s+/g, ' ').trim();
  for (let i = 1; i < parts.length; i += 2) {
    const section = byAnchor.get(parts[i]);
    section.text = plainOf(parts[i + 1].slice(parts[i + 1].indexOf('</h') + 5)).replace(/\s+/g, ' ').trim();
  }
}
