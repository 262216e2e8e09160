// What the documents show is what the program says: every console block is run and compared.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { examples, parley, root, shell } from './harness.mjs';

const pages = [
  ['README.md', root],
  ['README.zh-CN.md', root],
  ['docs/guide/json-and-schema.md', examples],
];

// [[command, expected output]] of one block.
function commandsOf(block) {
  const commands = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('$ ')) commands.push([line.slice(2), '']);
    else commands.at(-1)[1] += `${line}\n`;
  }
  return commands;
}

for (const [page, cwd] of pages) {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```console\n([^]*?)\n```$/gm)].map((match) => match[1]);
  blocks.forEach((block, index) => {
    test(`${page}, block ${index + 1}, is what happens`, () => {
      const commands = commandsOf(block);
      const mark = '=====\n';
      // One shell for the block, so that cd and $? carry over.
      const script = commands.map(([command]) => `${command}\nstatus=$?; printf '${mark.replace('\n', '\\n')}'; (exit $status)`).join('\n');
      const { out } = shell(`exec 2>&1\n${script}`, { program: 'bash', cwd, env: { PATH: `${dirname(parley)}:${process.env.PATH}` } });
      const said = out.split(mark).slice(0, -1);
      assert.deepEqual(said.map((text) => text.trimEnd()), commands.map(([, text]) => text.trimEnd()));
    });
  });
}

test('links between the documents lead somewhere', () => {
  const all = [...pages.map(([page]) => page), 'CONTRIBUTING.md', 'docs/ARCHITECTURE.md', 'docs/guide/library.md',
    'docs/internals/json.md', 'docs/internals/schema.md', 'docs/adr/0001-own-json.md'];
  for (const page of all) {
    const text = readFileSync(join(root, page), 'utf8');
    for (const [, link] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      if (link.startsWith('http') || link.endsWith('/') || link === 'examples') continue;
      assert.doesNotThrow(() => readFileSync(join(root, dirname(page), link)), `${page} -> ${link}`);
    }
  }
});
