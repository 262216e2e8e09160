// Blaze, by the benchmark mode of its own program (`jsonschema validate --benchmark --fast`). It
// times each validation of a parsed instance, subtracts the cost of the clock, and prints the mean:
// "FILE: PASS 0.310 +- 0.354 us (0.023)". The figure is the median of the means of five runs.
import { spawn } from '@sourcemeta/jsonschema';
import { median, print, request } from './measure.mjs';

const RUNS = 5;
const asked = request();
if (asked.name !== 'schema.check') throw new Error(`there is no figure named ${asked.name}`);

async function meanNs(loop) {
  const said = await spawn(
    ['validate', asked.schema, asked.file, '--benchmark', '--fast', '--loop', String(loop)]);
  const found = /PASS ([0-9.]+) \+- [0-9.]+ us/.exec(said.stdout + said.stderr);
  if (!found) throw new Error(`not understood: ${said.stdout}${said.stderr}`);
  return Number(found[1]) * 1000;
}

const guess = Math.max(await meanNs(2000), 10);
const loop = Math.min(2_000_000, Math.max(1000, Math.round((asked.seconds * 1e9) / RUNS / guess)));
const means = [];
while (means.length < RUNS) means.push(await meanNs(loop));
print(asked, 'blaze', { nsPerOp: median(means), ops: loop * RUNS }, { valid: true });
