// What the documents show is what the program says: every console block is run and compared.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { page as mappingPage } from '../../tools/gen_mapping.mjs';
import { directory, examples, parley, root, shell } from './harness.mjs';

// Where each page's commands run, in a copy: some of them write files.
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
// The same of their Chinese pages.
for (const [page, where] of pages.filter(([name]) => name.startsWith('docs/'))) pages.push([page.replace('docs/', 'docs/zh-CN/'), where]);

// [[command, expected output]] of one block.
function commandsOf(block) {
  const commands = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('$ ')) commands.push([line.slice(2), '']);
    else commands.at(-1)[1] += `${line}\n`;
  }
  return commands;
}

for (const [page, where] of pages) {
  const site = join(directory, page.replaceAll('/', '-'));
  cpSync(examples, join(site, 'docs', 'guide', 'examples'), { recursive: true });
  const cwd = join(site, where);
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```console\n([^]*?)\n```$/gm)].map((match) => match[1]);
  blocks.forEach((block, index) => {
    test(`${page}, block ${index + 1}, is what happens`, () => {
      const commands = commandsOf(block);
      const mark = '=====\n';
      // One shell for the block, so that cd and $? carry over.
      const script = commands.map(([command]) => `${command}\nstatus=$?; printf '${mark.replace('\n', '\\n')}'; (exit $status)`).join('\n');
      const { out } = shell(`exec 2>&1\n${script}`, { program: 'bash', cwd, env: { PATH: `${dirname(parley)}:${process.env.PATH}`, HOME: site } });
      const said = out.split(mark).slice(0, -1);
      assert.deepEqual(said.map((text) => text.trimEnd()), commands.map(([, text]) => text.trimEnd()));
    });
  });
}

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
      // To end what was started is no part of it.
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
