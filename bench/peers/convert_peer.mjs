// The conversion figures of a peer: bytes to bytes, including decoding and encoding JSON. A peer makes
// neither a report nor a carry.
import { median, print, request } from './measure.mjs';

const BATCH_NS = 500_000;
const nowNs = () => Number(process.hrtime.bigint());

// Like measure.mjs, for a converter that returns a promise or a value.
export async function measure(seconds, once) {
  let ops = 1;
  for (let spent = 0; ; ) {
    const start = nowNs();
    for (let i = 0; i < ops; i++) await once();
    const took = nowNs() - start;
    spent += took;
    if (took < BATCH_NS) ops *= 2;
    else if (spent >= Math.max(0.2, seconds * 0.2) * 1e9) break;
  }
  const batches = [];
  for (let spent = 0; spent < seconds * 1e9 || batches.length < 5; spent += batches.at(-1)) {
    const start = nowNs();
    for (let i = 0; i < ops; i++) await once();
    batches.push(nowNs() - start);
  }
  return { nsPerOp: median(batches) / ops, ops: ops * batches.length };
}

// `convert(from, to, body)` returns the converted body. The first run checks that it works on this file.
export async function run(impl, convert) {
  const asked = request();
  const [figure, from, to] = asked.name.split('.');
  if (figure !== 'convert' || !to) throw new Error(`there is no figure named ${asked.name}`);
  let made;
  const once = async () => { made = Buffer.from(JSON.stringify(await convert(from, to, JSON.parse(asked.bytes)))); };
  await once();
  if (made.length < asked.bytes.length / 4) throw new Error(`${impl} made only ${made.length} bytes of ${asked.bytes.length}`);
  print(asked, impl, await measure(asked.seconds, once), { bytes_out: made.length });
}
