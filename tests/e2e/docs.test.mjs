// The documents show the program's real output: every console block is run and compared.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { page as mappingPage } from '../../tools/gen_mapping.mjs';
import { runConsoles } from './consoles.mjs';
import { parley, root } from './harness.mjs';

// The directory in which each page's commands run; as a copy, because some of them write files.
const pages = [
  ['README.md', '.'],
  ['README.zh-CN.md', '.'],
  ['docs/guide/json-and-schema.md', 'docs/guide/examples'],
  ['docs/guide/conversion.md', 'docs/guide/examples'],
  ['docs/guide/streams.md', 'docs/guide/examples'],
  ['docs/guide/prompts.md', 'docs/guide/examples'],
  ['docs/guide/server.md', 'docs/guide/examples'],
  ['docs/guide/sessions.md', 'docs/guide/examples'],
  ['docs/guide/run.md', 'docs/guide/examples'],
  ['docs/guide/prompt-library.md', 'docs/guide/examples'],
  ['docs/guide/memory.md', 'docs/guide/examples'],
  ['docs/guide/tasks.md', 'docs/guide/examples'],
  ['docs/guide/blobs.md', 'docs/guide/examples'],
  ['docs/guide/extensions.md', 'docs/guide/examples'],
  ['docs/reference/demo-scripts.md', 'docs/guide/examples'],
  ['docs/index.md', 'docs/guide/examples'],
  ['docs/tour.md', 'docs/guide/examples'],
  ['docs/first-steps.md', 'docs/guide/examples'],
];
// The Chinese pages of the same documents.
for (const [page, where] of pages.filter(([name]) => name.startsWith('docs/'))) pages.push([page.replace('docs/', 'docs/zh-CN/'), where]);

runConsoles(pages);

test('a first success takes no more commands than it is said to take', () => {
  const words = { one: 1, two: 2, three: 3, 一: 1, 两: 2, 三: 3 };
  for (const [page, most] of [
    ['docs/first-steps.md', { 'One question': 1, 'A chat': 1, 'An answer that is checked against a schema': 1, 'A key with a budget': 1, 'A gateway with a fallback': 3 }],
    ['docs/zh-CN/first-steps.md', { 问一个问题: 1, 对话: 1, '按 schema 检查的回答': 1, 带预算的密钥: 1, 带故障转移的网关: 3 }],
  ]) {
    const sections = readFileSync(join(root, page), 'utf8').split(/^## /m).slice(1);
    assert.deepEqual(sections.map((text) => text.split(/[:：]/)[0]), Object.keys(most));
    for (const text of sections) {
      const [, what, n] = text.match(/^(.*)(?:: (?=\w+ command)|：(?=.条命令))(\w+|.)(?: commands?|条命令)\n/);
      // Commands that stop the servers do not count.
      const commands = text.match(/^\$ .*$/gm).filter((line) => !line.startsWith('$ kill '));
      assert.equal(commands.length, words[n], what);
      assert.ok(commands.length <= most[what], what);
    }
  }
});

test('the table of what maps to what is what the program does', () => {
  assert.equal(readFileSync(join(root, 'docs/guide/mapping.md'), 'utf8'), mappingPage(parley),
    'make it again: node tools/gen_mapping.mjs build/parley > docs/guide/mapping.md');
});

test('links between the documents lead somewhere', () => {
  const inFolder = (folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
  const folders = ['.', 'docs', 'docs/guide', 'docs/tasks', 'docs/reference', 'docs/internals', 'docs/adr',
    'docs/zh-CN', 'docs/zh-CN/guide', 'docs/zh-CN/tasks', 'docs/zh-CN/reference'];
  for (const page of folders.flatMap(inFolder)) {
    const text = readFileSync(join(root, page), 'utf8');
    for (const [, link] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      if (link.startsWith('http') || link.endsWith('/') || link === 'examples') continue;
      assert.doesNotThrow(() => readFileSync(join(root, dirname(page), link)), `${page} -> ${link}`);
    }
  }
});
