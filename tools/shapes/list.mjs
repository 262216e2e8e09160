// Lists the types of the vendors' installed clients (tests/sdk), and the documents made from them.
//
//     node tools/shapes/list.mjs              counts
//     node tools/shapes/list.mjs --paths      every member, alternative and word, by its path
//     node tools/shapes/list.mjs --update     writes tests/shapes/VENDOR.txt
//     node tools/shapes/list.mjs --out DIR    writes the documents and streams
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { makeDocuments, makeStreams } from './corpus.mjs';
import { listVendors } from './listing.mjs';
import { listPaths } from './paths.mjs';
import { readRoots } from './roots.mjs';

const { values: options } = parseArgs({ options: { paths: { type: 'boolean' }, update: { type: 'boolean' }, out: { type: 'string' } } });
const roots = readRoots();

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function countPaths() {
  for (const root of roots) {
    const n = { member: 0, alternative: 0, word: 0 };
    for (const it of listPaths(root.shape, root.reach)) if (it.kind in n) n[it.kind]++;
    console.log(`${root.format} ${root.kind} (${root.type}): ${n.member} members, ${n.alternative} alternatives, ${n.word} words`);
  }
}

if (options.update) {
  for (const [vendor, text] of listVendors(roots)) write(fileURLToPath(new URL(`../../tests/shapes/${vendor}.txt`, import.meta.url)), text);
} else if (options.paths) {
  for (const root of roots)
    for (const it of listPaths(root.shape, root.reach)) if (it.label) console.log(`${root.format} ${root.kind} ${it.kind} ${it.label}`);
} else {
  const documents = await makeDocuments(roots);
  const streams = makeStreams(roots);
  countPaths();
  console.log(`${documents.length} documents, ${streams.length} streams`);
  if (options.out)
    [...documents, ...streams].forEach((it, i) => write(path.join(options.out, `${it.format}.${it.kind}`, `${i}.${it.kind === 'stream' ? 'sse' : 'json'}`), it.text));
}
