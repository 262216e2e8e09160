// Compares the Chinese documents with the English ones: the same pages with the same headings, blocks, tables, lists, names and
// links. So the test finds a change to only one of them. docs.test.mjs checks the output of commands in both.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';
import { root } from './harness.mjs';

const docs = join(root, 'docs'), chinese = join(docs, 'zh-CN');
const { groups, made } = JSON.parse(readFileSync(join(docs, 'site.json'), 'utf8'));
const listed = groups.flatMap(({ pages }) => pages);
const pages = readdirSync(chinese, { recursive: true }).filter((name) => name.endsWith('.md'));
const BLOCK = /^( *)```(.*)\n([^]*?)\n\1```$/gm;
const COMMENT = /(^|\s)(#|\/\/)\s.*$/gm;

const textOf = (folder, name) => readFileSync(join(folder, name), 'utf8');
const proseOf = (text) => text.replace(BLOCK, '').replace(/<!--[^]*?-->/g, '');
// A comment is in the language of the page; a console block has none, and is the same in both.
const blocksOf = (text) => [...text.matchAll(BLOCK)].map(([, , language, code]) => [language, language === 'console' ? code : code.replace(COMMENT, '$1$2')]);
const levelsOf = (text) => [...proseOf(text).matchAll(/^(#+) /gm)].map(([, marks]) => marks.length);
const countOf = (pattern) => (text) => proseOf(text).match(pattern)?.length ?? 0;
// The text in `code` is a name in any language.
const namesOf = (text) => [...new Set([...proseOf(text).matchAll(/`([^`]+)`/g)].map(([, name]) => name.replace(/\s+/g, ' ')))].sort();
// The English page that a link of either language leads to, without its anchor: headings are translated.
function linksOf(text, folder, name) {
  const hrefs = [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => href);
  const places = hrefs.map((href) => /^https?:/.test(href) ? href
    : relative(docs, href.startsWith('#') ? join(docs, name) : join(dirname(join(folder, name)), href.split('#')[0])).replace(/^zh-CN\//, ''));
  // Pictures of the page are in its language.
  return [...new Set(places.map((place) => place.replace(/-zh\.webp$/, '-en.webp')))].sort();
}

const ALIKE = {
  'the same headings': levelsOf,
  'the same blocks of code': blocksOf,
  'as many rows of tables': countOf(/^\|/gm),
  'as many items of lists': countOf(/^ *(-|\d+\.) /gm),
  'the same names in code': namesOf,
  'the same links': linksOf,
};

for (const name of pages)
  test(`docs/zh-CN/${name} and docs/${name} are alike`, () => {
    assert.ok(listed.includes(name), 'there is no such English page in docs/site.json');
    for (const [what, part] of Object.entries(ALIKE))
      assert.deepEqual(part(textOf(chinese, name), chinese, name), part(textOf(docs, name), docs, name), what);
  });

test('every page that is written by hand is there in Chinese, and every other one has a Chinese name', () => {
  for (const name of listed) {
    if (name in made) assert.match(made[name]['zh-CN'], /\p{Script=Han}/u, name);
    else assert.ok(existsSync(join(chinese, name)), `docs/zh-CN/${name} is missing: translate docs/${name}`);
  }
});
