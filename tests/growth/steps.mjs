// Runs a program that counts its steps (steps.c) and returns the counts.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

export const program = process.env.PARLEY;
export const place = mkdtempSync(join(tmpdir(), 'parley-growth-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

let n = 0;
export function put(text) {
  const path = join(place, `${n++}`);
  writeFileSync(path, text);
  return path;
}

// The whole program so far: its steps, and the peak of its heap.
export function figures(path) {
  const bytes = readFileSync(path);
  let steps = 0n;
  for (let at = 16; at < bytes.length; at += 8) steps += bytes.readBigUInt64LE(at);
  return { steps: Number(steps), heapPeak: Number(bytes.readBigInt64LE(8)) };
}

// As many processes at once as there are processors: other load does not change the steps.
let running = 0;
const waiting = [];
async function turn() {
  if (running >= availableParallelism()) await new Promise((go) => waiting.push(go));
  else running++;
}
function done() {
  if (waiting.length) waiting.shift()();
  else running--;
}

// Exit codes up to 3 are results: the document was processed, even if it was refused.
export async function run(args) {
  await turn();
  try {
    const counted = put('');
    const child = spawn(program, args, { env: { ...process.env, PARLEY_STEPS: counted }, stdio: ['ignore', 'pipe', 'pipe'] });
    const out = [], err = [];
    child.stdout.on('data', (piece) => out.push(piece));
    child.stderr.on('data', (piece) => err.push(piece));
    const [code, signal] = await new Promise((end) => child.on('close', (...how) => end(how)));
    const result = { ...figures(counted), code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
    rmSync(counted);
    if (code === null || code > 3) throw new Error(`parley ${args.join(' ')}: exit ${code ?? signal}: ${result.err.slice(0, 500)}`);
    return result;
  } finally {
    done();
  }
}
