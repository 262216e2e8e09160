// Runs the console blocks of documents and compares the output with the document.
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { directory, examples, parley, root, shell } from './harness.mjs';

// [[command, expected output]] of one block.
function commandsOf(block) {
  const commands = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('$ ')) commands.push([line.slice(2), '']);
    else commands.at(-1)[1] += `${line}\n`;
  }
  return commands;
}

// A test for each block of `pages`: [[page, the directory in which its commands run; as a copy, because some of them write files]].
export function runConsoles(pages, { env = {}, skip = false } = {}) {
  for (const [page, where] of pages) {
    const site = join(directory, page.replaceAll('/', '-'));
    cpSync(examples, join(site, 'docs', 'guide', 'examples'), { recursive: true });
    const cwd = join(site, where);
    const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```console\n([^]*?)\n```$/gm)].map((match) => match[1]);
    blocks.forEach((block, index) => {
      test(`${page}, block ${index + 1}, is what happens`, { skip }, () => {
        const commands = commandsOf(block);
        const mark = '=====\n';
        // One shell for the block, so that cd and $? carry over.
        const script = commands.map(([command]) => `${command}\nstatus=$?; printf '${mark.replace('\n', '\\n')}'; (exit $status)`).join('\n');
        const { out } = shell(`exec 2>&1\n${script}`, { program: 'bash', cwd, env: { ...env, PATH: `${dirname(parley)}:${process.env.PATH}`, HOME: site } });
        const said = out.split(mark).slice(0, -1);
        assert.deepEqual(said.map((text) => text.trimEnd()), commands.map(([, text]) => text.trimEnd()));
      });
    });
  }
}
