// Compares due times with npm croner: the expressions of the robfig tables and some hundreds of
// generated ones, in zones with every kind of clock change. Both read the same expression. Where
// they differ, the case is listed below with the reason; a listed case that no longer differs
// fails, too.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

import { root, run } from '../e2e/harness.mjs';

const corpus = join(process.env.PARLEY_CORPORA ?? join(root, '../shared/corpora'), 'cron/robfig_cron_vectors.json');
const sdk = join(root, 'tests/sdk');
const N_MADE = 40; // expressions per zone
const N_NEXT = 8; // instants of each

// Start times in each zone: just before a clock change, and one without a change.
const zones = {
  UTC: ['2025-02-27T00:00:00Z'],
  'Africa/Nairobi': ['2025-12-30T00:00:00Z'],
  'Asia/Shanghai': ['2025-06-29T12:00:00Z'],
  'Asia/Kolkata': ['2025-10-31T12:00:00Z'],
  'Asia/Kathmandu': ['2025-09-26T00:00:00Z'],
  'Europe/Berlin': ['2025-03-30T00:00:00Z', '2025-10-25T22:30:00Z'],
  'Europe/London': ['2025-03-30T00:00:00Z', '2025-10-25T22:30:00Z'],
  'America/New_York': ['2025-03-09T05:00:00Z', '2025-11-02T04:30:00Z'],
  'America/St_Johns': ['2025-03-09T03:00:00Z', '2025-11-02T02:30:00Z'],
  'America/Santiago': ['2025-04-06T01:00:00Z', '2025-09-07T03:00:00Z'],
  'Australia/Sydney': ['2025-04-05T13:00:00Z', '2025-10-04T13:00:00Z'],
  'Australia/Lord_Howe': ['2025-04-05T13:00:00Z', '2025-10-04T13:00:00Z'],
  'Pacific/Auckland': ['2025-04-05T12:00:00Z', '2025-09-27T12:00:00Z'],
};

// Chosen for the clock changes, in one zone.
const chosen = ['30 2 * * *', '0 2 * * *', '15,45 2 * * *', '0-30 2 * * *', '*/10 2 * * *', '30 * * * *',
  '* 2 * * *', '0 1-3 * * *', '30 2,3 * * *', '0 3 * * *', '0 0 30 2 *', '0 0 29 2 *', '0 12 L * *',
  '0 12 * * 5L', '0 12 * * MON#2', '0 12 13 * FRI', '@daily', '@weekly', '@monthly', '@yearly', '@hourly'];

// gap: the clock skips the time. Both move a single fixed time to the change; croner omits a list
// or a range for that day, here it is due once at the change.
// overlap: the time occurs twice. Both run a single fixed time only the first time; croner treats a
// list or a range as continuing and runs it twice, here each is due the first time.
const differences = {
  '15,45 2 * * * | Europe/Berlin | 2025-03-30T00:00:00Z': 'gap',
  '15,45 2 * * * | Europe/Berlin | 2025-10-25T22:30:00Z': 'overlap',
  '0-30 2 * * * | Europe/Berlin | 2025-03-30T00:00:00Z': 'gap',
  '0 1-3 * * * | Europe/Berlin | 2025-10-25T22:30:00Z': 'overlap',
  '30 2,3 * * * | Europe/Berlin | 2025-03-30T00:00:00Z': 'gap',
  '30 2,3 * * * | Europe/Berlin | 2025-10-25T22:30:00Z': 'overlap',
  '37 1,13,17 * * 0-0 | America/New_York | 2025-11-02T04:30:00Z': 'overlap',
  '3-19 2 * * * | Australia/Sydney | 2025-10-04T13:00:00Z': 'gap',
};

function generator(seed) {
  let state = seed;
  const below = (n) => { state = (state * 1103515245 + 12345) & 0x7fffffff; return (state >> 8) % n; };
  const pick = (list) => list[below(list.length)];
  const field = (low, high, names) => {
    const value = () => low + below(high - low + 1);
    const values = (n) => Array.from({ length: n }, value).sort((a, b) => a - b);
    const step = Math.min(high, pick([2, 3, 5, 10, 15]));
    return pick([() => '*', () => '*', () => `*/${step}`, () => values(2).join('-'),
      () => `${values(2).join('-')}/${1 + below(4)}`, () => values(3).join(','),
      () => `${value()}/${step}`, () => (names ? pick(names) : String(value()))])();
  };
  // Mostly times at night, when clocks change.
  return () => [
    below(3) ? below(60) : field(0, 59),
    below(3) ? below(5) : field(0, 23),
    below(2) ? '*' : below(6) ? field(1, 28) : 'L',
    below(3) ? '*' : field(1, 12, ['JAN', 'MAR', 'OCT', 'NOV']),
    below(2) ? '*' : below(5) ? field(0, 6, ['MON', 'FRI', 'SUN']) : pick(['MON#2', '5L', 'SUN#1', 'FRI#3', '0L']),
  ].join(' ');
}

// Removes the zone and the field of seconds that some specs begin with.
function fiveFields(spec) {
  const fields = spec.replace(/^(CRON_)?TZ=\S+ /, '').split(' ');
  return (fields.length === 6 ? fields.slice(1) : fields).join(' ');
}

function* cases() {
  const { activation, next } = JSON.parse(readFileSync(corpus, 'utf8'));
  const published = [...new Set([...activation, ...next].map((one) => fiveFields(one.spec)))];
  for (const expression of [...published, ...chosen])
    for (const from of zones['Europe/Berlin']) yield { expression, zone: 'Europe/Berlin', from };
  const make = generator(20250101);
  for (const [zone, starts] of Object.entries(zones))
    for (let i = 0; i < N_MADE; i++) {
      const expression = make();
      for (const from of starts) yield { expression, zone, from };
    }
}

function ours({ expression, zone, from }) {
  const { out, err } = run(['task', 'next', expression, '--json', '--count', String(N_NEXT), '--zone', zone, '--from', from]);
  assert.ok(out, `${expression}: ${err}`);
  return JSON.parse(out).next.map((one) => one.utc);
}

function theirs(Cron, { expression, zone, from }) {
  const cron = new Cron(expression, { timezone: zone, sloppyRanges: true }); // sloppy: 5/15
  const list = [];
  for (let at = new Date(from); list.length < N_NEXT && (at = cron.nextRun(at));)
    list.push(at.toISOString().replace('.000', ''));
  return list;
}

// Which of the two reasons applies: an additional time of ours, or of croner's.
function reasonOf(mine, other) {
  const at = mine.findIndex((instant, i) => instant !== other[i]);
  return mine[at] < other[at] ? 'gap' : 'overlap';
}

const skip = !existsSync(corpus) ? 'the corpus cron is not here'
  : !existsSync(join(sdk, 'node_modules/croner')) && 'croner is not installed: npm ci in tests/sdk (tools/install-deps test does it)';

test('what is due next is what croner says, but for the differences that are listed', { skip }, (t) => {
  const { Cron } = createRequire(join(sdk, 'package.json'))('croner');
  const found = {};
  let n = 0;
  for (const one of cases()) {
    const mine = ours(one);
    const other = theirs(Cron, one);
    n++;
    if (JSON.stringify(mine) !== JSON.stringify(other))
      found[`${one.expression} | ${one.zone} | ${one.from}`] = reasonOf(mine, other);
  }
  t.diagnostic(`${n} cases, ${Object.keys(found).length} differences, all of them at a change of the clock`);
  assert.ok(n > 800);
  assert.deepEqual(found, differences);
});
