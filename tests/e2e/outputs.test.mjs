// Output files: every command that writes a file does it in the same way, and a backup never damages its source.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { directory, file, parley, run, shell } from './harness.mjs';
import { start } from './server.mjs';

const chat = file('chat.json', JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], seed: 7 }));
const fresh = () => mkdtempSync(join(directory, 'out-'));
const isRoot = process.getuid() === 0;

// A device node made by the test, never one of the machine.
function node(dir, name, ...type) {
  const path = join(dir, name);
  const { status } = spawnSync('mknod', [path, ...type]);
  return status === 0 ? path : null;
}

const server = await start();
let blob, session, prompt;
before(async () => {
  blob = run(['blob', 'add', chat, '--data', server.data]).out.trim();
  session = run(['session', 'new', '--data', server.data]).out.trim();
  prompt = run(['prompt', 'new', 'one', '--file', file('prompt.md', 'Hi'), '--data', server.data]).out.trim();
  assert.ok(blob && session && prompt, `${blob} ${session} ${prompt}`);
});

// Every command that takes the name of an output file, as a function of that name.
const writers = {
  'convert --report': (out) => ['convert', '--to', 'anthropic', '--report', out, chat],
  'convert --carry': (out) => ['convert', '--to', 'anthropic', '--carry', out, chat],
  'lint --fix --report': (out) => ['lint', '--fix', '--report', out, chat],
  'trim --report': (out) => ['trim', '--max-tokens', '1000', '--report', out, chat],
  'blob get -o': (out) => ['blob', 'get', blob, '-o', out, '--data', server.data],
  'session export -o': (out) => ['session', 'export', session, '-o', out, '--data', server.data],
  'prompt export -o': (out) => ['prompt', 'export', prompt, '-o', out, '--data', server.data],
  'backup': (out) => ['backup', '--force', out, '--data', server.data],
};

for (const [name, args] of Object.entries(writers)) {
  test(`${name}: a file is replaced whole and keeps its rights`, () => {
    const dir = fresh(), path = join(dir, 'file');
    writeFileSync(path, 'before');
    chmodSync(path, 0o604);
    if (isRoot) chownSync(path, 12345, 54321);
    const inode = statSync(path).ino;
    const { code, err } = run(args(path));
    assert.equal(code, 0, err);
    const now = statSync(path);
    assert.notEqual(now.ino, inode);
    assert.equal(now.mode & 0o7777, 0o604);
    if (isRoot) assert.deepEqual([now.uid, now.gid], [12345, 54321]);
    assert.notEqual(readFileSync(path, 'latin1'), 'before');
    assert.deepEqual(readdirSync(dir), ['file']);
  });

  test(`${name}: a symbolic link is followed and stays`, () => {
    const dir = fresh(), link = join(dir, 'link');
    mkdirSync(join(dir, 'there'));
    writeFileSync(join(dir, 'there', 'file'), 'before');
    symlinkSync('there/file', link);
    assert.equal(run(args(link)).code, 0);
    assert.equal(readlinkSync(link), 'there/file');
    assert.ok(lstatSync(join(dir, 'there', 'file')).isFile());
    assert.notEqual(readFileSync(join(dir, 'there', 'file'), 'latin1'), 'before');
  });

  test(`${name}: a device and a FIFO are written to and stay`, (t) => {
    const dir = fresh(), device = node(dir, 'null', 'c', '1', '3'), fifo = node(dir, 'fifo', 'p');
    if (!device) return t.skip('making a device is not permitted here');
    const written = run(args(device));
    assert.equal(written.code, 0, written.err);
    assert.ok(lstatSync(device).isCharacterDevice());
    const full = node(dir, 'full', 'c', '1', '7');
    const refused = run(args(full));
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /No space left/);
    assert.ok(lstatSync(full).isCharacterDevice());
    const { code, err } = shell(`cat ${fifo} > ${dir}/read & $P ${args(fifo).join(' ')} > /dev/null; code=$?; wait; exit $code`);
    assert.equal(code, 0, err);
    assert.ok(lstatSync(fifo).isFIFO());
    assert.ok(statSync(join(dir, 'read')).size > 0);
    assert.deepEqual(readdirSync(dir).sort(), ['fifo', 'full', 'null', 'read']);
  });

  test(`${name}: a directory and a place that is not there are refused by name`, () => {
    const dir = fresh();
    const into = run(args(dir));
    assert.notEqual(into.code, 0);
    assert.match(into.err, /this is a directory/);
    const nowhere = run(args(join(dir, 'nowhere', 'file')));
    assert.notEqual(nowhere.code, 0);
    assert.match(nowhere.err, /there is no directory .*nowhere/);
    assert.deepEqual(readdirSync(dir), []);
  });
}

const single = ['blob get -o', 'session export -o', 'prompt export -o', 'backup'];
for (const name of single) {
  test(`${name}: - and /dev/stdout are standard output, and no file`, () => {
    const dir = fresh();
    for (const out of ['-', '/dev/stdout']) {
      const piped = shell(`$P ${writers[name](out).join(' ')} | wc -c`, { cwd: dir });
      assert.equal(piped.code, 0, piped.err);
      assert.ok(Number(piped.out) > 0, `${out}: ${piped.out} ${piped.err}`);
      // A file opened by the shell is written at its position.
      const { code, err } = shell(`echo first > there; $P ${writers[name](out).join(' ')} >> there`, { cwd: dir });
      assert.equal(code, 0, err);
      const text = readFileSync(join(dir, 'there'), 'latin1');
      assert.ok(text.startsWith('first\n') && text.length > 6, out);
    }
    assert.deepEqual(readdirSync(dir), ['there']);
    assert.ok(lstatSync('/dev/stdout').isSymbolicLink());
  });
}

test('a report may go to standard error, and to a program', () => {
  const { code, out, err } = run(['convert', '--to', 'anthropic', '--report', '/dev/stderr', chat]);
  assert.equal(code, 0, err);
  assert.ok(JSON.parse(out).messages && JSON.parse(err));
  const piped = shell(`$P convert --to anthropic --report /dev/fd/3 ${chat} 3>&1 > /dev/null | cat`);
  assert.equal(piped.code, 0, piped.err);
  assert.ok(JSON.parse(piped.out));
});

for (const [name, args] of Object.entries({
  'convert --report -': ['convert', '--to', 'anthropic', '--report', '-', chat],
  'convert --report /dev/stdout': ['convert', '--to', 'anthropic', '--report', '/dev/stdout', chat],
  'convert --carry -': ['convert', '--to', 'anthropic', '--carry', '-', chat],
  'convert --out - --report -': ['convert', '--to', 'anthropic', '--out', '-', '--report', '-', chat],
  'convert, report and carry in one file': ['convert', '--to', 'anthropic', '--report', 'x', '--carry', './x', chat],
  'lint --fix --report -': ['lint', '--fix', '--report', '-', chat],
  'trim --report -': ['trim', '--max-tokens', '100', '--report', '-', chat],
  'backup - --json': ['backup', '-', '--json', '--data', server.data],
})) {
  test(`two results in one place are refused: ${name}`, () => {
    const dir = fresh();
    const { code, out, err } = run(args, { cwd: dir });
    assert.equal(code, 2, err);
    assert.equal(out, '');
    assert.match(err, /would both be written to (standard output|\.\/x)/);
    assert.deepEqual(readdirSync(dir), []);
  });
}

test('the file standard output leads to is no place for a report', () => {
  const dir = fresh();
  const { code, err } = shell(`$P convert --to anthropic --report there ${chat} > there`, { cwd: dir });
  assert.equal(code, 2, err);
  assert.match(err, /would both be written/);
});

test('convert --out - is standard output; with many files every name is a directory', () => {
  const dir = fresh();
  const one = run(['convert', '--to', 'anthropic', '--out', '-', chat], { cwd: dir });
  assert.equal(one.code, 0, one.err);
  assert.ok(JSON.parse(one.out).messages);
  const many = run(['convert', '--to', 'anthropic', '--out', 'all', '--report', '-', chat], { cwd: dir });
  assert.equal(many.code, 2);
  assert.match(many.err, /--report must be a directory/);
  assert.deepEqual(readdirSync(dir), []);
});

test('two names of one directory do not hide that results would meet', () => {
  const dir = fresh();
  mkdirSync(join(dir, 'all'));
  symlinkSync('all', join(dir, 'same'));
  writeFileSync(join(dir, 'a.json'), readFileSync(chat));
  writeFileSync(join(dir, 'a.report.json'), readFileSync(chat));
  const { code, err } = run(['convert', '--to', 'anthropic', '--out', 'all', '--report', 'same', 'a.json', 'a.report.json'], { cwd: dir });
  assert.equal(code, 2, err);
  assert.match(err, /two results would be written/);
});

test('a file its user may not write is not replaced', (t) => {
  if (!isRoot) return t.skip('needs root to become somebody else');
  const dir = fresh(), path = join(dir, 'file');
  writeFileSync(path, 'before');
  chmodSync(directory, 0o755);
  chmodSync(dir, 0o777);
  const { status } = spawnSync(parley, ['convert', '--to', 'anthropic', '--report', path, '-'], { input: readFileSync(chat), uid: 65534, gid: 65534 });
  assert.equal(status, 4);
  assert.equal(readFileSync(path, 'utf8'), 'before');
});

// --- backup ---

const isSound = (path) => {
  const { code } = run(['key', 'list', '--data', fresh(), '--store', `sqlite:${path}`]);
  return code === 0 && readFileSync(path).subarray(0, 15).toString() === 'SQLite format 3';
};

test('a backup that is there is replaced only with --force', () => {
  const path = join(fresh(), 'copy.db');
  assert.equal(run(['backup', path, '--data', server.data]).code, 0);
  writeFileSync(path, 'precious');
  for (const where of [['--data', server.data], ['--server', server.url]]) {
    const again = run(['backup', path, ...where], { env: { PARLEY_KEY: server.key } });
    assert.equal(again.code, 1);
    assert.match(again.err, /the file exists.*--force/);
    assert.equal(readFileSync(path, 'utf8'), 'precious');
  }
  for (const where of [['--data', server.data], ['--server', server.url]]) {
    writeFileSync(path, 'old');
    const forced = run(['backup', '--force', path, ...where], { env: { PARLEY_KEY: server.key } });
    assert.equal(forced.code, 0, forced.err);
    assert.ok(isSound(path));
  }
});

test('nothing in the data directory is ever replaced by a backup', async () => {
  const live = join(server.data, 'parley.db'), dir = fresh();
  linkSync(live, join(dir, 'hard'));
  symlinkSync(live, join(dir, 'soft'));
  symlinkSync(server.data, join(dir, 'way'));
  mkdirSync(join(server.data, 'below'));
  const targets = [live, `${live}-wal`, `${live}-shm`, `${live}-lock`, join(server.data, 'new.db'), join(server.data, 'below', 'new.db'),
    join(dir, 'hard'), join(dir, 'soft'), join(dir, 'way', 'parley.db'), join(dir, 'way', 'new.db'),
    `${dir}/../${dir.split('/').at(-1)}/soft`, `${server.data}/../${server.data.split('/').at(-1)}/parley.db`];
  const inode = statSync(live).ino, names = readdirSync(server.data).sort();
  for (const target of targets) {
    const local = run(['backup', '--force', target, '--data', server.data]);
    assert.equal(local.code, 1, `${target}: ${local.err}`);
    assert.match(local.err, /data directory|has its data/, target);
    // A direct request to the socket has the same result.
    const asked = await server.ask('POST', '/api/admin/backup', { body: { path: target, force: true }, key: null, socketPath: join(server.data, 'parley.sock') });
    assert.equal(asked.status, 400, `${target}: ${asked.text}`);
    if (target.endsWith('hard')) continue; // over the API it looks like any other file, and replacing its name leaves the store intact
    const far = run(['backup', '--force', target, '--server', server.url], { env: { PARLEY_KEY: server.key } });
    assert.equal(far.code, 1, `${target}: ${far.err}`);
    assert.match(far.err, /has its data/);
  }
  assert.equal(statSync(live).ino, inode);
  assert.deepEqual(readdirSync(server.data).sort(), names);
  assert.equal((await server.ask('POST', '/api/sessions', { body: {} })).status, 201);
});

test('a store outside the data directory is not replaced either', async () => {
  const dir = fresh(), store = join(dir, 'elsewhere.db');
  const other = await start({ args: ['--store', `sqlite:${store}`] });
  for (const target of [store, `${store}-wal`, `${store}-journal`]) {
    const { code, err } = run(['backup', '--force', target, '--data', other.data, '--store', `sqlite:${store}`]);
    assert.equal(code, 1);
    assert.match(err, /the store itself/);
    const asked = await other.ask('POST', '/api/admin/backup', { body: { path: target, force: true }, key: null, socketPath: join(other.data, 'parley.sock') });
    assert.equal(asked.status, 400);
    assert.match(asked.json.detail, /the store itself/);
  }
  await other.stop();
  assert.ok(isSound(store));
});

test('without a server the same holds', () => {
  const data = fresh(), live = join(data, 'parley.db'), out = join(fresh(), 'copy.db');
  assert.equal(run(['key', 'create', '--name', 'one', '--data', data]).code, 0);
  const inode = statSync(live).ino;
  for (const target of [live, join(data, 'new.db')])
    assert.equal(run(['backup', '--force', target, '--data', data]).code, 1);
  assert.equal(statSync(live).ino, inode);
  assert.equal(run(['backup', out, '--data', data]).code, 0);
  assert.equal(run(['backup', out, '--data', data]).code, 1);
  assert.equal(run(['backup', out, '--force', '--data', data]).code, 0);
  const { code } = shell(`$P backup - --data ${data} > ${out}.piped`);
  assert.equal(code, 0);
  assert.ok(isSound(out) && isSound(`${out}.piped`));
  assert.ok(!readdirSync(data).some((name) => name.endsWith('.part')));
});

test('over HTTP nobody names a file of the server; the copy is the answer', async () => {
  const path = join(fresh(), 'named.db');
  const named = await server.ask('POST', '/api/admin/backup', { body: { path } });
  assert.equal(named.status, 403);
  assert.match(named.json.detail, /control socket/);
  assert.ok(!existsSync(path));
  // An additional Unix socket is not the control socket, even with a key.
  const extra = join(fresh(), 'extra.sock');
  const other = await start({ args: ['--unix', extra] });
  const byKey = await other.ask('POST', '/api/admin/backup', { body: { path }, socketPath: extra });
  assert.equal(byKey.status, 403);
  assert.ok(!existsSync(path));
  await other.stop();
  const whole = await server.raw('POST', '/api/admin/backup', { body: {} });
  assert.equal(whole.status, 200);
  assert.equal(whole.headers['content-type'], 'application/vnd.sqlite3');
  assert.equal(whole.bytes.length, Number(whole.headers['content-length']));
  writeFileSync(path, whole.bytes);
  assert.ok(isSound(path));
  assert.ok(!readdirSync(server.data).some((name) => name.endsWith('.part')), 'nothing is left behind');
});

test('a body that asks for what there is not is refused', async () => {
  const socketPath = join(server.data, 'parley.sock'), here = fresh();
  for (const [body, status] of [
    [{ force: true }, 400], [{ path: '' }, 400], [{ path: 5 }, 400], [{ path: join(here, 'a'), force: 1 }, 400], [{ to: 'x' }, 400],
    [{ path: 'relative.db' }, 400], [{ path: '/dev/stdout', force: true }, 400], [{ path: here, force: true }, 400], [{ path: join(here, 'none', 'a') }, 400],
  ])
    assert.equal((await server.ask('POST', '/api/admin/backup', { body, key: null, socketPath })).status, status, JSON.stringify(body));
  assert.deepEqual(readdirSync(here), []);
});

test('a second backup waits for its turn, and who goes away makes room', async () => {
  // Large enough to fill the socket buffers, so that the transfer stays in progress until it is read.
  const data = fresh();
  const big = await start({ data });
  for (let i = 0; i < 6; i++)
    assert.equal((await big.ask('POST', '/api/blobs', { body: Buffer.alloc(4 << 20, i + 1), headers: { 'content-type': 'application/octet-stream' } })).status, 201);
  const response = await new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: big.port, method: 'POST', path: '/api/admin/backup', headers: { authorization: `Bearer ${big.key}`, 'content-type': 'application/json' } }, resolve);
    request.on('error', reject);
    request.end('{}');
  });
  response.pause();
  const second = await big.ask('POST', '/api/admin/backup', { body: {} });
  assert.equal(second.status, 503);
  assert.match(second.json.detail, /Another backup/);
  assert.ok(!readdirSync(data).some((name) => name.endsWith('.part')));
  response.destroy();
  for (;;) {
    const third = await big.raw('POST', '/api/admin/backup', { body: {} });
    if (third.status === 200) break;
    assert.equal(third.status, 503);
  }
  await big.stop();
});

test('what a crash left half written is swept at the next start', async () => {
  const data = fresh();
  const first = await start({ data });
  await first.stop('SIGKILL');
  for (const name of ['.parley-0123456789abcdef.part', '.parley-0123456789abcdef.part-journal']) writeFileSync(join(data, name), 'half');
  writeFileSync(join(data, 'mine.txt'), 'stays');
  const second = await start({ data });
  const names = readdirSync(data);
  assert.ok(!names.some((name) => name.includes('.part')), names.join(' '));
  assert.ok(names.includes('mine.txt'));
  await second.stop();
});

test('restore follows a symbolic link, and keeps the old store', () => {
  const data = fresh(), real = fresh(), copy = join(fresh(), 'copy.db');
  const names = (...where) => JSON.parse(run(['key', 'list', '--json', ...where]).out).items.map(({ name }) => name).sort();
  symlinkSync(join(real, 'store.db'), join(data, 'parley.db'));
  assert.equal(run(['key', 'create', '--name', 'one', '--data', data]).code, 0);
  assert.equal(run(['backup', copy, '--data', data]).code, 0);
  assert.equal(run(['key', 'create', '--name', 'two', '--data', data]).code, 0);
  const restored = run(['restore', copy, '--yes', '--json', '--data', data]);
  assert.equal(restored.code, 0, restored.err);
  assert.ok(lstatSync(join(data, 'parley.db')).isSymbolicLink());
  assert.deepEqual(names('--data', data), ['one']);
  const { before: old } = JSON.parse(restored.out);
  assert.ok(lstatSync(old).isFile());
  assert.deepEqual(names('--data', fresh(), '--store', `sqlite:${old}`), ['one', 'two']);
});
