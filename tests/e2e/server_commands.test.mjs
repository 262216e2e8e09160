// The commands that talk to a server: session, key, backup, restore, doctor. Over the control socket, over
// HTTP with a key, and without a server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { directory, file, parley, run } from './harness.mjs';
import { start } from './server.mjs';

const lines = (text) => text.split('\n').filter(Boolean);

function freshDirectory() {
  const dir = mkdtempSync(join(tmpdir(), 'parley-data-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const server = await start();

// Runs parley ARGS --data DIR of the server; it must succeed.
function ok(...args) {
  const said = run([...args, '--data', server.data]);
  assert.equal(said.code, 0, `parley ${args.join(' ')}: ${said.err}`);
  return said;
}
const okJson = (...args) => JSON.parse(ok(...args, '--json').out);
const newSession = (...args) => ok('session', 'new', ...args).out.trim();

// --- finding the server ---

test('without a server a command says what to do, and is exit 4', () => {
  const { code, out, err } = run(['session', 'list', '--data', freshDirectory()]);
  assert.equal(code, 4);
  assert.equal(out, '');
  assert.match(err, /no server is running with the data in .*\n.*parley serve/);
});

test('a server that is not there is exit 4 and named', () => {
  const { code, err } = run(['session', 'list', '--server', 'http://127.0.0.1:1']);
  assert.equal(code, 4);
  assert.match(err, /http:\/\/127\.0\.0\.1:1.* does not answer/);
});

test('what is no address of a server is wrong usage', () => {
  const { code, err } = run(['session', 'list', '--server', 'localhost:8787']);
  assert.equal(code, 2);
  assert.match(err, /http:\/\/HOST:PORT.*localhost:8787/);
});

test('over HTTP a key is needed, from the environment or a file', () => {
  const none = run(['session', 'list', '--server', server.url]);
  assert.equal(none.code, 1);
  assert.match(none.err, /PARLEY_KEY or with --key-file/);
  const wrong = run(['session', 'list', '--server', server.url], { env: { PARLEY_KEY: `sk-parley-v1-${'x'.repeat(43)}` } });
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /wrong or revoked/);
  assert.equal(run(['session', 'list', '--json'], { env: { PARLEY_SERVER: server.url, PARLEY_KEY: server.key } }).code, 0);
  const path = file('key.txt', `${server.key}\n`);
  chmodSync(path, 0o600);
  const by = run(['session', 'list', '--json', '--server', `${server.url}/`, '--key-file', path]);
  assert.equal(by.code, 0, by.err);
  assert.equal(by.err, '');
  assert.ok(Array.isArray(JSON.parse(by.out).items));
});

test('a server on this machine is asked without the proxy of the environment', () => {
  const env = { PARLEY_SERVER: server.url, PARLEY_KEY: server.key, http_proxy: 'http://127.0.0.1:1' };
  const { code, err } = run(['session', 'list', '--json'], { env });
  assert.equal(code, 0, err);
});

test('a key that others may read is used, with a warning', () => {
  const path = file('open-key.txt', server.key);
  chmodSync(path, 0o644);
  const { code, err } = run(['session', 'list', '--json', '--server', server.url, '--key-file', path]);
  assert.equal(code, 0);
  assert.match(err, /chmod 600/);
  assert.ok(!err.includes(server.key));
});

test('a key file without a key is wrong usage', () => {
  assert.equal(run(['session', 'list', '--server', server.url, '--key-file', file('empty.txt', ' \n')]).code, 2);
  assert.equal(run(['session', 'list', '--server', server.url, '--key-file', join(directory, 'none')]).code, 3);
});

test('a Unix socket can be named, and needs a key as a port does', async () => {
  const path = join(freshDirectory(), 'further.sock');
  const other = await start({ args: ['--unix', path] });
  assert.equal(run(['session', 'list', '--server', `unix:${path}`]).code, 1);
  const { code, err } = run(['session', 'list', '--json', '--server', `unix:${path}`], { env: { PARLEY_KEY: other.key } });
  assert.equal(code, 0, err);
  await other.stop();
});

test('a data directory that is named is meant, whatever PARLEY_SERVER says', () => {
  const { code } = run(['session', 'list', '--json', '--data', server.data], { env: { PARLEY_SERVER: 'http://127.0.0.1:1' } });
  assert.equal(code, 0);
});

test('an answer that is not from Parley is told as such', async () => {
  const other = net.createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello')));
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  const child = spawn(parley, ['session', 'list', '--server', `http://127.0.0.1:${other.address().port}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (piece) => { err += piece; });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  other.close();
  assert.equal(code, 4);
  assert.match(err, /is .* a Parley server\?/);
});

// --- sessions ---

test('new makes a session that show and list tell of', () => {
  const id = newSession('--intent', 'plan a\ntrip to Zürich', '--model', 'demo/echo');
  assert.match(id, /^sess_[0-9a-f-]{36}$/);
  const { session, turns } = okJson('session', 'show', id);
  assert.equal(session.intent, 'plan a\ntrip to Zürich');
  assert.equal(session.model, 'demo/echo');
  assert.deepEqual(turns, []);
  const shown = ok('session', 'show', id).out;
  assert.match(shown, new RegExp(`^${id}\n  intent    plan a trip to Zürich\n  status    created\n  model     demo/echo\n`));
  const table = lines(ok('session', 'list', '-q', 'zürich').out);
  assert.match(table[0], /^ID +STATUS +CHANGED +MODEL +INTENT$/);
  assert.ok(table.some((line) => line.startsWith(id) && line.endsWith('plan a trip to Zürich')), table.join('\n'));
  assert.equal(okJson('session', 'list', '--limit', '1').items.length, 1);
  assert.ok(okJson('session', 'list', '--status', 'created').items.every((one) => one.status === 'created'));
});

test('chat prints the answer, and show has the turns', () => {
  const id = newSession();
  const { out } = ok('session', 'chat', id, 'hello wide world');
  assert.equal(out, 'hello wide world\n');
  const { session, turns } = okJson('session', 'show', id);
  assert.equal(session.status, 'completed');
  assert.deepEqual(turns.map((turn) => turn.role), ['user', 'assistant']);
  const shown = ok('session', 'show', id).out;
  assert.match(shown, /^user {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n {2}hello wide world$/m);
  assert.match(shown, /^assistant {2}.*demo\/echo.*tokens in.*\n {2}hello wide world$/m);
  assert.equal(okJson('session', 'show', id, '--turns', '1').turns.length, 1);
});

test('chat prints text as it comes', async () => {
  const id = newSession('--model', 'demo/slow');
  const words = Array.from({ length: 50 }, (_, i) => `word${i}`).join(' ');
  const child = spawn(parley, ['session', 'chat', id, words, '--data', server.data], { stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces = [];
  child.stdout.setEncoding('utf8').on('data', (piece) => pieces.push(piece));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
  assert.equal(pieces.join(''), `${words}\n`);
  assert.ok(pieces.length > 5, `${pieces.length} pieces`);
});

test('chat takes its message from standard input, of any language', () => {
  const id = newSession();
  const { code, out, err } = run(['session', 'chat', id, '-', '--data', server.data], { input: '你好 "world"\nsecond line 🙂\n' });
  assert.equal(code, 0, err);
  assert.equal(out.trimEnd().replaceAll(/\s+/g, ' '), '你好 "world" second line 🙂');
});

test('chat --json prints the events of the chat, one per line', () => {
  const id = newSession();
  const events = lines(ok('session', 'chat', id, 'one two', '--json').out).map((line) => JSON.parse(line));
  assert.equal(events[0].event, 'chat:start');
  assert.ok(events.some(({ event }) => event === 'chat:end'));
  assert.equal(events.filter(({ event, data }) => event === 'turn:patch' && data.data.type === 'text').map(({ data }) => data.data.text_delta).join(''), 'one two');
  for (let i = 1; i < events.length; i++) assert.equal(events[i].data.sequence, events[i - 1].data.sequence + 1);
});

test('chat --no-wait comes back at once, stop ends what runs', () => {
  const id = newSession('--model', 'demo/slow');
  const { out } = ok('session', 'chat', id, 'many words '.repeat(500), '--no-wait');
  assert.equal(out, '');
  assert.match(ok('session', 'stop', id).err, /stopped/);
  assert.equal(okJson('session', 'show', id).session.status, 'interrupted');
  assert.match(ok('session', 'stop', id).err, /nothing was running/);
  assert.deepEqual(okJson('session', 'stop', id), { stopped: false });
});

test('a chat that is stopped by somebody else is exit 1', async () => {
  const id = newSession('--model', 'demo/slow');
  const child = spawn(parley, ['session', 'chat', id, 'many words '.repeat(500), '--data', server.data], { stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (piece) => { err += piece; });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  ok('session', 'stop', id);
  assert.equal(await ended, 1);
  assert.match(err, /the chat is interrupted: stopped/);
});

test('a message for a busy session waits, and is followed when its turn comes', async () => {
  const id = newSession('--model', 'demo/slow');
  ok('session', 'chat', id, 'first '.repeat(75).trim(), '--no-wait');
  const { out, err } = ok('session', 'chat', id, 'second message');
  assert.match(err, /the message is queued/);
  assert.equal(out, 'second message\n');
});

test('a connection that breaks is made again, and nothing is lost or doubled', async () => {
  const id = newSession('--model', 'demo/slow');
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`).join(' ');
  // A proxy that breaks every event stream after the first 2,000 bytes.
  let cuts = 0;
  const proxy = net.createServer((socket) => {
    const upstream = net.connect(server.port, '127.0.0.1');
    let isEvents = false, n = 0;
    socket.on('data', (piece) => {
      isEvents ||= piece.includes('/events?');
      upstream.write(piece.toString('latin1').replace(/^Host: .*$/m, `Host: 127.0.0.1:${server.port}`), 'latin1');
    });
    upstream.on('data', (piece) => {
      n += piece.length;
      socket.write(piece);
      if (isEvents && n > 2000 && cuts < 3) { cuts++; socket.end(); upstream.destroy(); }
    });
    for (const one of [socket, upstream]) one.on('error', () => {}).on('close', () => { socket.destroy(); upstream.destroy(); });
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const child = spawn(parley, ['session', 'chat', id, words, '--server', `http://127.0.0.1:${proxy.address().port}`], {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PARLEY_KEY: server.key },
  });
  let out = '', err = '';
  child.stdout.on('data', (piece) => { out += piece; });
  child.stderr.on('data', (piece) => { err += piece; });
  const code = await new Promise((resolve) => child.once('close', resolve));
  proxy.close();
  assert.equal(code, 0, err);
  assert.ok(cuts > 0);
  assert.equal(out, `${words}\n`);
});

test('a question is shown, answered once, and the chat goes on', () => {
  const id = newSession('--model', 'demo/agent');
  const questions = [{ question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue', description: 'like the sea' }] }];
  const script = `#!demo\nsay Let me ask.\ncall AskUserQuestion ${JSON.stringify({ questions })}\n---\nsay So be it.`;
  const asked = run(['session', 'chat', id, script, '--data', server.data]);
  assert.equal(asked.code, 1, asked.err);
  assert.match(asked.err, /question: Which colour\?/);
  assert.match(asked.err, /- blue: like the sea/);
  const [, call] = asked.err.match(/parley session answer \S+ (tc_\S+)/);
  assert.match(ok('session', 'show', id).out, /awaiting_answer/);
  assert.equal(run(['session', 'answer', id, call, 'red', '--data', server.data]).code, 2);
  const answered = run(['session', 'answer', id, call, '"red"', '--data', server.data]);
  assert.equal(answered.code, 0, answered.err);
  assert.equal(answered.out, 'So be it.\n');
  assert.match(ok('session', 'answer', id, call, '"red"').err, /this answer was already given/);
  const other = run(['session', 'answer', id, call, '"blue"', '--data', server.data]);
  assert.equal(other.code, 1);
  assert.equal(okJson('session', 'show', id).session.status, 'completed');
});

test('export and import in a vendor format keep what was said', () => {
  const id = newSession();
  ok('session', 'chat', id, 'keep this');
  const path = join(directory, 'exported.json');
  assert.equal(ok('session', 'export', id, '--format', 'openai-chat', '-o', path).out, '');
  const { messages } = JSON.parse(readFileSync(path, 'utf8'));
  assert.deepEqual(messages.map(({ role }) => role), ['user', 'assistant']);
  const copy = ok('session', 'import', path, '--from', 'openai-chat', '--intent', 'a copy').out.trim();
  const { session, turns } = okJson('session', 'show', copy);
  assert.equal(session.intent, 'a copy');
  assert.deepEqual(turns.map((turn) => turn.blocks[0].content), ['keep this', 'keep this']);
  assert.ok(Array.isArray(JSON.parse(ok('session', 'export', id).out)));
});

test('what is no conversation is refused', () => {
  const bad = run(['session', 'import', file('bad.bin', Buffer.from([0xff, 0xfe])), '--data', server.data]);
  assert.equal(bad.code, 3);
  const odd = run(['session', 'import', file('odd.json', '{"x":1}'), '--data', server.data]);
  assert.equal(odd.code, 1, odd.err);
  assert.equal(run(['session', 'import', join(directory, 'none.json'), '--data', server.data]).code, 3);
});

test('fork copies up to a turn', () => {
  const id = newSession('--intent', 'the first');
  ok('session', 'chat', id, 'one');
  ok('session', 'chat', id, 'two');
  const { turns } = okJson('session', 'show', id);
  const copy = ok('session', 'fork', id, '--turn', turns[1].turn_id).out.trim();
  assert.notEqual(copy, id);
  assert.equal(okJson('session', 'show', copy).turns.length, 2);
  assert.equal(okJson('session', 'fork', id).intent, 'the first');
});

test('share prints a link that anybody can read', async () => {
  const id = newSession();
  ok('session', 'chat', id, 'for all to see');
  const { out } = run(['session', 'share', id], { env: { PARLEY_SERVER: server.url, PARLEY_KEY: server.key } });
  const url = new URL(out.trim());
  assert.equal(url.origin, server.url);
  const answer = await server.raw('GET', url.pathname, { key: null });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /for all to see/);
  assert.match(ok('session', 'share', id).out, /^\/api\/share\/\S+\n$/);
});

test('delete deletes, and what is gone is exit 1', () => {
  const id = newSession();
  assert.match(ok('session', 'delete', id, '--yes').err, /deleted/);
  for (const args of [['show', id], ['delete', id, '--yes'], ['chat', id, 'x'], ['export', id], ['stop', id]]) {
    const { code, out, err } = run(['session', ...args, '--data', server.data]);
    assert.equal(code, 1, `${args[0]}: ${err}`);
    assert.equal(out, '');
    assert.match(err, /^parley: /);
  }
  const { out } = run(['session', 'show', id, '--json', '--data', server.data]);
  assert.equal(JSON.parse(out).code, 'not_found');
});

test('what is wrong with a request is told by the option that made it', () => {
  const { code, err } = run(['session', 'new', '--model', 'no/such', '--data', server.data]);
  assert.equal(code, 1);
  assert.match(err, /no\/such/);
  const long = run(['session', 'new', '--intent', 'x'.repeat(4001), '--data', server.data]);
  assert.equal(long.code, 1);
  assert.match(long.err, /^parley: --intent must have at most 4000 characters, but has 4001 characters: /);
});

test('ids with strange characters do not leave their place in the path', () => {
  const { code, err } = run(['session', 'show', '../user/api-keys?x=1#%', '--data', server.data]);
  assert.equal(code, 1, err);
});

test('wrong words are wrong usage', () => {
  for (const args of [['sing'], ['show'], ['list', 'x'], ['chat', 'a'], ['list', '--limit', '0'], ['list', '--limit', '101'], ['list', '--status', 'happy'], ['export', 'x', '--format', 'none']]) {
    const { code, err } = run(['session', ...args, '--data', server.data]);
    assert.equal(code, 2, `${args.join(' ')}: ${err}`);
    assert.match(err, /See "parley session --help"/);
  }
  for (const args of [['sing'], ['create', '--name', ''], ['create', '--name', 'x'.repeat(101)], ['revoke']]) assert.equal(run(['key', ...args, '--data', server.data]).code, 2, args.join(' '));
});

// --- keys ---

test('a key is made, works, is listed and revoked while the server runs', async () => {
  const { out, err } = ok('key', 'create', '--name', 'laptop');
  const key = out.trim();
  assert.match(key, /^sk-parley-v1-[A-Za-z0-9_-]{43}$/);
  assert.match(err, /cannot be shown again/);
  assert.equal((await server.raw('GET', '/api/me', { key })).status, 200);
  const listed = okJson('key', 'list').items.find(({ name }) => name === 'laptop');
  assert.equal(listed.plaintext, null);
  assert.equal(listed.masked.slice(-4), key.slice(-4));
  const table = ok('key', 'list').out;
  assert.match(table, /^ID +KEY +SCOPE +MADE +LAST USED +EXPIRES +NAME\n/);
  assert.ok(!table.includes(key));
  assert.match(ok('key', 'revoke', listed.id).err, /revoked/);
  assert.equal((await server.raw('GET', '/api/me', { key })).status, 401);
  assert.equal(run(['key', 'revoke', listed.id, '--data', server.data]).code, 1);
});

test('a key is made before the first start, and after the last', async () => {
  const dir = join(freshDirectory(), 'new');
  const made = run(['key', 'create', '--name', 'early', '--admin', '--json', '--data', dir]);
  assert.equal(made.code, 0, made.err);
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  const { plaintext, id } = JSON.parse(made.out);
  let other = await start({ data: dir });
  assert.equal(other.code, undefined);
  const me = await other.raw('GET', '/api/me', { key: plaintext });
  assert.equal(me.status, 200);
  assert.equal(me.json.key_id, id);
  assert.equal(me.json.is_admin, true);
  await other.stop();
  assert.deepEqual(JSON.parse(run(['key', 'list', '--json', '--data', dir]).out).items.map(({ name }) => name), ['early']);
  assert.equal(run(['key', 'revoke', id, '--data', dir]).code, 0);
  assert.equal(run(['key', 'revoke', id, '--data', dir]).code, 1);
  const late = run(['key', 'create', '--name', 'late', '--admin', '--data', dir]).out.trim();
  other = await start({ data: dir });
  assert.equal((await other.raw('GET', '/api/me', { key: plaintext })).status, 401);
  assert.equal((await other.raw('GET', '/api/me', { key: late })).status, 200);
  await other.stop();
});

test('looking at keys makes no store where there is none', () => {
  const dir = freshDirectory();
  const { code, err } = run(['key', 'list', '--data', dir]);
  assert.equal(code, 3);
  assert.match(err, /--data DIR/);
  assert.deepEqual(readdirSync(dir), []);
});

// --- backup and restore ---

test('a backup made while the server runs, fetched, or made without it can be restored', async () => {
  const id = newSession('--intent', 'worth keeping');
  ok('session', 'chat', id, 'remember me');
  const online = join(directory, 'online.db'), fetched = join(directory, 'fetched.db'), offline = join(directory, 'offline.db');
  const made = okJson('backup', online);
  assert.equal(made.bytes, statSync(online).size);
  const relative = run(['backup', 'relative.db', '--data', server.data], { cwd: directory });
  assert.equal(relative.code, 0, relative.err);
  assert.ok(existsSync(join(directory, 'relative.db')));
  const remote = run(['backup', fetched, '--server', server.url], { env: { PARLEY_KEY: server.key } });
  assert.equal(remote.code, 0, remote.err);
  assert.equal(statSync(fetched).mode & 0o077, 0);
  const dir = freshDirectory();
  for (const backup of [online, fetched]) {
    const { code, err } = run(['restore', backup, '--yes', '--data', dir]);
    assert.equal(code, 0, err);
  }
  assert.equal(run(['backup', offline, '--data', dir]).code, 0);
  const last = freshDirectory();
  assert.equal(run(['restore', offline, '--data', last]).code, 0);
  const other = await start({ data: last });
  const { turns } = JSON.parse(run(['session', 'show', id, '--json', '--data', last]).out);
  assert.deepEqual(turns.map((turn) => turn.blocks[0].content), ['remember me', 'remember me']);
  await other.stop();
});

test('restore keeps the old store beside the new one', async () => {
  const dir = freshDirectory(), backup = join(directory, 'two.db');
  assert.equal(run(['key', 'create', '--name', 'in the backup', '--data', dir]).code, 0);
  assert.equal(run(['backup', backup, '--data', dir]).code, 0);
  assert.equal(run(['key', 'create', '--name', 'only before', '--data', dir]).code, 0);
  const names = (data) => JSON.parse(run(['key', 'list', '--json', ...data]).out).items.map(({ name }) => name).sort();
  const asked = run(['restore', backup, '--data', dir]);
  assert.equal(asked.code, 2);
  assert.match(asked.err, /--yes/);
  assert.deepEqual(names(['--data', dir]), ['in the backup', 'only before']);
  const { before: old } = JSON.parse(run(['restore', backup, '--yes', '--json', '--data', dir]).out);
  assert.deepEqual(names(['--data', dir]), ['in the backup']);
  assert.match(old, /parley\.db\.before-\d{4}-\d\d-\d\d-\d{6}$/);
  assert.deepEqual(names(['--data', dir, '--store', `sqlite:${old}`]), ['in the backup', 'only before']);
});

test('restore refuses while a server runs, and what is no backup', () => {
  const running = run(['restore', join(directory, 'online.db'), '--yes', '--data', server.data]);
  assert.equal(running.code, 1);
  assert.match(running.err, /stop it first/);
  const dir = freshDirectory();
  assert.equal(run(['key', 'create', '--name', 'safe', '--data', dir]).code, 0);
  const bad = run(['restore', file('bad.db', 'this is no database, though it is long enough to look like one'), '--yes', '--data', dir]);
  assert.notEqual(bad.code, 0);
  assert.ok(!readdirSync(dir).some((name) => name.includes('before')), readdirSync(dir).join(' '));
  assert.equal(JSON.parse(run(['key', 'list', '--json', '--data', dir]).out).items.length, 1);
  assert.equal(run(['restore', join(directory, 'none.db'), '--yes', '--data', dir]).code, 3);
});

test('a backup needs something to back up', () => {
  const path = join(directory, 'nothing.db');
  const { code } = run(['backup', path, '--data', freshDirectory()]);
  assert.equal(code, 3);
  assert.ok(!existsSync(path));
});

test('only an administrator fetches a backup', async () => {
  const user = await server.ask('POST', '/api/users', { body: { name: 'somebody' } });
  const path = join(directory, 'stolen.db');
  const { code } = run(['backup', path, '--server', server.url], { env: { PARLEY_KEY: user.json.key.plaintext } });
  assert.equal(code, 1);
  assert.ok(!existsSync(path) && !readdirSync(directory).some((name) => name.endsWith('.part')));
});

// --- doctor ---

const levels = (said) => Object.fromEntries(JSON.parse(said.out).checks.map(({ check, level }) => [check, level]));

test('doctor finds nothing wrong with a running server', () => {
  const said = run(['doctor', '--json', '--data', server.data, '--port', '0']);
  assert.equal(said.code, 0, said.out);
  assert.equal(JSON.parse(said.out).ok, true);
  assert.deepEqual(['data', 'server', 'store', 'port', 'clock'].map((name) => levels(said)[name]), Array(5).fill('ok'));
  const people = run(['doctor', '--data', server.data, '--port', '0']);
  assert.match(people.out, /^ok {7}server {6} a server is running with this data$/m);
});

test('doctor looks through the store when no server runs', () => {
  const dir = freshDirectory();
  assert.equal(run(['key', 'create', '--name', 'x', '--data', dir]).code, 0);
  chmodSync(dir, 0o700);
  const said = run(['doctor', '--json', '--data', dir, '--port', '0']);
  assert.equal(said.code, 0, said.out);
  assert.match(said.out, /schema version \d+/);
  assert.match(said.out, /there are no problems/);
  chmodSync(dir, 0o755);
  assert.equal(levels(run(['doctor', '--json', '--data', dir, '--port', '0'])).data, 'warning');
});

test('doctor says when the store is damaged', () => {
  const dir = freshDirectory();
  assert.equal(run(['key', 'create', '--name', 'x', '--data', dir]).code, 0);
  writeFileSync(join(dir, 'parley.db'), Buffer.alloc(8192, 7));
  const { code, out } = run(['doctor', '--data', dir, '--port', '0']);
  assert.equal(code, 1);
  assert.match(out, /^problem {2}store /m);
});

test('doctor says who has the port', async () => {
  const other = net.createServer(() => {});
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { code, out } = run(['doctor', '--data', freshDirectory(), '--port', String(other.address().port)]);
  other.close();
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^problem {2}port .*in use by process ${process.pid} \\(`, 'm'));
});
