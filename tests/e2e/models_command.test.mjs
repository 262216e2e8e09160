// parley models and parley open; sessions by a prefix of their ids; tables with wide characters.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parley } from './harness.mjs';
import { clientOf, endsWell, serve } from './live.mjs';
import { Tmux } from './tmux.mjs';

let server;
let client;
before(async () => {
  server = await serve();
  client = clientOf(server);
});
const alone = mkdtempSync(join(tmpdir(), 'parley-models-'));
after(() => rmSync(alone, { recursive: true, force: true }));
const env = (data) => ({ PATH: process.env.PATH, HOME: data, LC_ALL: 'C.UTF-8', PARLEY_DATA: data });
const run = (words, data = server.data) => {
  const { status, stdout, stderr } = spawnSync(parley, words, { encoding: 'utf8', env: env(data) });
  return { code: status, out: stdout, err: stderr };
};

test('parley models lists them, with or without a verb, and needs no server', () => {
  const { code, out, err } = run(['models', 'list']);
  assert.equal(code, 0, err);
  assert.match(out, /^MODEL +STATE +WINDOW +IN\/M +OUT\/M +ABOUT\n/);
  assert.match(out, /^demo\/echo +ready /m);
  assert.match(err, /is the default model/);
  assert.equal(run(['models']).out, out);
  assert.match(run(['models'], join(alone, 'data')).out, /^demo\/echo +ready /m);
  assert.ok(JSON.parse(run(['models', '--json']).out).items.some(({ name }) => name === 'demo/echo'));
});

test('parley models show and test: one model, and a suggestion for a wrong name', () => {
  assert.match(run(['models', 'show', 'demo/echo']).out, /^demo\/echo\n {2}about /);
  assert.equal(JSON.parse(run(['models', 'show', 'demo/echo', '--json']).out).name, 'demo/echo');
  assert.match(run(['models', 'test', 'demo/echo']).out, /^demo\/echo answered after \d+\.\d s: Reply/);
  for (const verb of ['show', 'test']) {
    const wrong = run(['models', verb, 'demo/ecoh']);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /there is no model "demo\/ecoh"; did you mean "demo\/echo"\?/);
  }
  assert.equal(run(['models', 'shwo', 'x']).code, 2);
});

test('parley open prints the address of the page', () => {
  assert.deepEqual(run(['open', '--server', server.url]), { code: 0, out: `${server.url}\n`, err: '' });
  assert.match(run(['open']).out, /^http:\/\/127\.0\.0\.1:\d+\n$/);
  assert.equal(run(['open'], join(alone, 'none')).code, 4);
});

test('a session is meant by the beginning of its id, or as the last', async () => {
  const { id } = await client.createSession({ intent: 'first' });
  await client.createSession({ intent: 'second' });
  assert.match(run(['session', 'show', id]).out, /first/);
  assert.match(run(['session', 'show', id.slice(0, -3)]).out, /first/);
  assert.match(run(['session', 'show', id.slice(5, -3)]).out, /first/, 'without its sess_');
  assert.match(run(['session', 'show', 'last']).out, /second/);
  const many = run(['session', 'show', id.slice(0, 9)]);
  assert.equal(many.code, 1);
  assert.match(many.err, /2 ids of sessions begin with/);
  assert.match(run(['session', 'show', 'zzzzz']).err, /you have no session whose id begins with "zzzzz"/);
  assert.match(run(['session', 'show', 'zz']).err, /too short/);
});

test('a table fits the terminal, with Chinese in it', async (t) => {
  await client.createSession({ intent: '一个很长的标题'.repeat(8) });
  const one = new Tmux(t, [parley, 'session', 'list'], { env: { ...env(server.data), TERM: 'tmux-256color' }, columns: 110, rows: 20 });
  await one.shows(/^exit 0$/m);
  const rows = one.screen().split('\n').filter((line) => line.startsWith('sess_'));
  assert.equal(rows.length, 3, one.screen());
  assert.match(rows[0], /一个很长的标题.*…$/);
});

test('the server ends in good order', () => endsWell(server));
