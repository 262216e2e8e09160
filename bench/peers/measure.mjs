// The method of measure.h for Node: warm-up, batches, the median batch; and the same command line.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const BATCH_NS = 500_000;
const MAX_BATCHES = 4096;
const MIN_BATCHES = 5;

const nowNs = () => Number(process.hrtime.bigint());

function runBatch(once, ops) {
  const start = nowNs();
  for (let i = 0; i < ops; i++) once();
  return nowNs() - start;
}

// At least 0.2 s: a just-in-time compiler needs that time.
function warmUp(seconds, once) {
  let ops = 1;
  for (let spent = 0; ; ) {
    const took = runBatch(once, ops);
    spent += took;
    if (took < BATCH_NS) ops *= 2;
    else if (spent >= Math.max(0.2, seconds * 0.2) * 1e9) return ops;
  }
}

export function measure(seconds, once) {
  const ops = warmUp(seconds, once);
  const batches = [];
  for (let spent = 0; batches.length < MAX_BATCHES && (spent < seconds * 1e9 || batches.length < MIN_BATCHES); ) {
    batches.push(runBatch(once, ops));
    spent += batches.at(-1);
  }
  return { nsPerOp: median(batches) / ops, ops: ops * batches.length };
}

export function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

// NAME --file FILE [--schema FILE] [--seconds S]
export function request() {
  const asked = { seconds: 0.5 };
  const args = process.argv.slice(2);
  while (args.length) {
    const arg = args.shift();
    if (arg === '--seconds') asked.seconds = Number(args.shift());
    else if (arg === '--file' || arg === '--schema') asked[arg.slice(2)] = args.shift();
    else asked.name = arg;
  }
  if (!asked.name || !asked.file || !(asked.seconds > 0)) {
    console.error('Usage: NAME --file FILE [--schema FILE] [--seconds S]');
    process.exit(2);
  }
  asked.bytes = readFileSync(asked.file);
  return asked;
}

export function print(asked, impl, { nsPerOp, ops }, more = {}) {
  console.log(JSON.stringify({
    name: asked.name, impl, file: basename(asked.file), bytes: asked.bytes.length,
    ns_per_op: Number(nsPerOp.toFixed(1)), gb_per_s: Number((asked.bytes.length / nsPerOp).toFixed(3)),
    ops, ...more,
  }));
}
