// A stream whose content must be repeated at its end is kept up to 32 MiB, and then aborted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UPSTREAM_KEY, serve } from './gateway_upstream.mjs';
import { openUpstream } from './upstreams.mjs';

const MIB = 1024 * 1024;
let up, server;
before(async () => {
  const pieces = (n) => ({ say: Array.from({ length: n }, () => 'x'.repeat(MIB)) });
  up = await openUpstream({ key: UPSTREAM_KEY, answer: ({ model }) => pieces(model === 'longest' ? 40 : 4) });
  server = await serve(up);
});
after(async () => {
  await server.stop('SIGKILL');
  await up.close?.();
});

const ask = (path, body) => server.raw('POST', path, { body: { stream: true, ...body } });
const events = ({ text }) => [...text.matchAll(/^event: (\S+)$/gm)].map(([, name]) => name);

test('a stream of Responses is cut off at 32 MiB, and says so', async () => {
  const whole = await ask('/v1/responses', { model: 'up-openai-chat/long', input: 'hello' });
  assert.equal(events(whole).at(-1), 'response.completed');
  const cut = await ask('/v1/responses', { model: 'up-openai-chat/longest', input: 'hello' });
  assert.equal(cut.status, 200);
  assert.ok(!events(cut).includes('response.completed'), events(cut).at(-1));
  const nDeltas = events(cut).filter((name) => name === 'response.output_text.delta').length;
  assert.ok(nDeltas >= 30 && nDeltas <= 32, `${nDeltas} of 40 pieces`);
});

test('a stream that nobody has to remember is not', async () => {
  const { text } = await ask('/v1/chat/completions', { model: 'up-openai-chat/longest', messages: [{ role: 'user', content: 'hello' }] });
  assert.ok(text.length > 40 * MIB);
  assert.match(text.slice(-200), /data: \[DONE\]/);
});
