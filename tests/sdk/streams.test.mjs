// The vendors' own clients check the output of `parley stream`: a plain server sends it, the client
// of the target dialect assembles it, and the message equals that of the fixture.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { expected } from './expected.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PARLEY = process.env.PARLEY ?? path.join(HERE, '../../build/parley');
const SHARED = path.join(HERE, '../../../shared/acceptance/fixtures');
const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];
const PIECE_BYTES = 61; // splits events and characters

const major = Number(process.versions.node.split('.')[0]);
const problem = !existsSync(path.join(HERE, 'node_modules'))
  ? 'the clients are not installed: npm ci in tests/sdk (tools/install-deps test does it)'
  : major < 20 && `the clients need Node 20 or later, this is ${process.versions.node}`;
const { judges } = problem ? {} : await import('./judges.mjs');

const bodies = new Map(); // by the first segment of the path
const server = createServer(async (request, response) => {
  request.resume();
  const body = bodies.get(request.url.split('/')[1]);
  response.writeHead(body ? 200 : 404, { 'content-type': 'text/event-stream' });
  for (let at = 0; body && at < body.length; at += PIECE_BYTES)
    response.write(body.subarray(at, at + PIECE_BYTES));
  response.end();
});

before(() => new Promise((done) => server.listen(0, '127.0.0.1', done)));
after(() => { server.closeAllConnections(); server.close(); });

function converted(file, from, to) {
  const done = spawnSync(PARLEY, ['stream', '--from', from, '--to', to, file]);
  assert.equal(done.error, undefined);
  return done.stdout;
}

// Arguments are compared as values: a vendor may use other white space.
const asValues = (calls = []) => calls.map(([name, text]) => [name, JSON.parse(text || '{}')]);

async function judge(file, name, to) {
  const from = name.split('.')[0];
  const key = `${name}-${to}`;
  bodies.set(key, converted(file, from, to));
  const reading = judges[to](`http://127.0.0.1:${server.address().port}/${key}`);
  const wanted = expected[name];
  if (wanted.isError) {
    await assert.rejects(reading);
    return;
  }
  const { why, ...got } = await reading;
  const { text = '', thinking = '', finishAt, input, output } = wanted;
  const finish = finishAt?.[to] ?? wanted.finish;
  assert.deepEqual({ ...got, calls: asValues(got.calls) },
    { text, thinking, calls: asValues(wanted.calls), finish, input, output });
  if (to === 'openai-chat' && from !== to)
    assert.equal(why, wanted.why);
  // Clients that return the arguments as text show that no digit was lost.
  if (to.startsWith('openai'))
    for (const [i, [, text]] of (wanted.calls ?? []).entries())
      assert.deepEqual(got.calls[i][1].match(/\d+/g), text.match(/\d+/g));
}

for (const folder of [path.join(HERE, 'fixtures'), SHARED]) {
  if (problem || !existsSync(folder)) {
    test(`streams of ${path.basename(path.dirname(folder))}`, { skip: problem || 'the fixtures are not here' });
    continue;
  }
  for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.sse'))) {
    const name = file.slice(0, -'.sse'.length);
    for (const to of DIALECTS)
      test(`${name} reaches the client of ${to}`, { skip: !expected[name] && 'no expectation is written for it' },
        () => judge(path.join(folder, file), name, to));
  }
}
