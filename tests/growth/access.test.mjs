// Lists and sums for an operator: the cost of a page depends on its content only, however many users, keys, rows of the
// audit log, calls or tasks there are; and the cost of all pages together grows in proportion to their content. The server
// counts its steps itself (steps.c).
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { start } from '../e2e/server.mjs';
import { until } from '../e2e/waiting.mjs';
import { figures, place, program } from './steps.mjs';

const N = 200, TIMES = 4;
const LIMIT = 5.5; // for a whole list, with four times the items
const FLAT = 1.6; // for one page, whatever follows it

let n = 0;
async function begin(t) {
  const counted = join(place, `access-${n++}`);
  const server = await start({ command: program, env: { PARLEY_STEPS: counted }, args: ['--shards', '1', '--workers', '2'] });
  t.after(() => server.stop());
  const ok = async (method, path, body) => {
    const answer = await server.raw(method, path, { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer.json;
  };
  // The steps so far, once the server is idle.
  const atRest = async () => {
    for (let was = 0, cost = 0; ;) {
      await server.raw('GET', '/healthz');
      const { steps } = figures(counted);
      if (was && steps - was <= cost) return steps;
      cost = Math.max(cost, was && 2 * Math.min(steps - was, 2000));
      was = steps;
    }
  };
  // The minimum of several runs: the server's own work once a second does not belong to the request.
  const cost = async (act) => {
    let least = Infinity;
    for (let i = 0; i < 4; i++) {
      const from = await atRest();
      await act();
      least = Math.min(least, (await atRest()) - from);
    }
    return least;
  };
  return { server, ok, cost };
}

const some = async (many, act) => { for (let at = 0; at < many; at += 20) await Promise.all(Array.from({ length: Math.min(20, many - at) }, (_, i) => act(at + i))); };

async function everything(ok, path) {
  for (let cursor = ''; cursor !== null;) {
    const page = await ok('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    cursor = page.next_cursor ?? null;
  }
}

// A call is answered before its row is written, and at most 256 calls a second without cost become rows.
async function call(ok, many, from) {
  for (let at = 0; at < many; at += N) {
    await some(N, (i) => ok('POST', '/v1/chat/completions', { model: 'demo/echo', messages: [{ role: 'user', content: `${from + at + i}` }] }));
    await until(async () => (await ok('GET', '/api/runs?limit=1')).total === from + at + N);
  }
}

// `fill` adds items of one kind; `flat` are requests for a page, `whole` lists that are read to the end, `sums` requests
// that read everything once.
const grows = (name, fill, { flat = [], whole = [], sums = [] }) => test(`grows in proportion: ${name}`, async (t) => {
  const { server, ok, cost } = await begin(t);
  const seen = new Map(), said = [];
  let there = 0;
  for (const size of [N, TIMES * N]) {
    await fill(ok, size - there, there, server);
    there = size;
    for (const path of flat) seen.set(path, [...(seen.get(path) ?? []), await cost(() => ok('GET', path))]);
    for (const path of sums) seen.set(`all of ${path} at once`, [...(seen.get(`all of ${path} at once`) ?? []), await cost(() => ok('GET', path))]);
    for (const path of whole) seen.set(`all of ${path}`, [...(seen.get(`all of ${path}`) ?? []), await cost(() => everything(ok, path))]);
  }
  for (const [what, [small, large]] of seen) {
    const most = what.startsWith('all of ') ? LIMIT : FLAT;
    if (large > most * small) said.push(`${what}: ${small} steps became ${large}, ${(large / small).toFixed(2)} times as many for ${TIMES} times as much`);
  }
  assert.deepEqual(said, []);
});

grows('users', (ok, many, from) => some(many, (i) => ok('POST', '/api/users', { name: `user ${from + i}` })), {
  flat: ['/api/users?limit=20', '/api/users?limit=20&offset=150', '/api/audit?limit=20', '/api/me'], whole: ['/api/users', '/api/audit'], sums: ['/api/users?name=user%207'],
});

grows('keys', (ok, many, from) => some(many, (i) => ok('POST', '/api/user/api-keys', { name: `key ${from + i}` })), {
  flat: ['/api/user/api-keys?limit=20', '/api/user/api-keys?limit=20&offset=150', '/api/audit?limit=20'], whole: ['/api/user/api-keys'],
});

grows('calls', call, {
  flat: ['/api/usage', '/api/usage?group=day', '/api/usage?group=key', '/api/usage?group=user', '/api/runs?limit=20', '/metrics'], whole: ['/api/runs'], sums: ['/api/runs/series'],
});

grows('tasks', (ok, many, from) => some(many, (i) => ok('POST', '/api/scheduled-tasks', { title: `task ${from + i}`, prompt: 'hello', cron: '0 8 1 1 *' })), {
  flat: ['/api/scheduled-tasks?limit=20'], whole: ['/api/scheduled-tasks'],
});

// On the leap day each task is due once, or every minute; the calendar shows a thousand of these.
for (const cron of ['0 8 29 2 *', '* * 29 2 *'])
  grows(`tasks due at ${cron}`, (ok, many, from) => some(many, (i) => ok('POST', '/api/scheduled-tasks', { title: `task ${from + i}`, prompt: 'hello', cron })), {
    sums: ['/api/scheduled-tasks/calendar?from=2032-02-28T00:00:00Z&to=2032-03-02T00:00:00Z'],
  });
