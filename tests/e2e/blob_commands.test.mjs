// parley blob: uploads and downloads bytes.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { commanding, lines } from './commanding.mjs';
import { directory, file, noTime, parley, shell } from './harness.mjs';

const { server, any, ok, json, made } = await commanding('blob');

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const bytesOf = (id, ...args) => {
  const { status, stdout } = spawnSync(parley, ['blob', 'get', id, ...args, '--data', server.data], { maxBuffer: 1 << 28 });
  assert.equal(status, 0);
  return stdout;
};

test('a file goes there and comes back byte for byte', () => {
  const big = randomBytes(5_000_000);
  const id = made(['add', file('big.bin', big)]);
  assert.match(id, /^blob_[0-9a-f-]{36}$/);
  assert.ok(bytesOf(id).equals(big));
  const path = join(directory, 'back.bin');
  assert.equal(ok(['get', id, '-o', path]).out, '');
  assert.ok(readFileSync(path).equals(big));
  assert.ok(!existsSync(`${path}-part`));
  const info = json(['show', id]);
  assert.deepEqual([info.size, info.sha256, info.name], [big.length, createHash('sha256').update(big).digest('hex'), 'big.bin']);
});

test('the type is what the bytes are; a text has that of its name', () => {
  const id = made(['add', file('picture', png)]);
  assert.equal(json(['show', id]).content_type, 'image/png');
  const note = made(['add', file('note.md', '# hi\n')]);
  assert.match(json(['show', note]).content_type, /^text\/markdown/);
  assert.match(ok(['show', id]).out, new RegExp(`^${id}\n  name      picture\n  type      image/png\n  bytes     ${png.length}\n`));
});

test('standard input has the name that is given, and nothing is a file too', () => {
  const { stdout } = spawnSync(parley, ['blob', 'add', '-', '--name', 'drawn.png', '--data', server.data, '--json'], { input: Buffer.concat([png, Buffer.from('x')]) });
  assert.equal(JSON.parse(stdout).name, 'drawn.png');
  assert.equal(bytesOf(made(['add', file('empty.txt', '')])).length, 0);
});

test('the same bytes are kept once', () => {
  const one = made(['add', file('a.txt', 'the same')]);
  assert.equal(made(['add', file('b.txt', 'the same')]), one);
});

test('of several files one that fails does not keep the others', () => {
  mkdirSync(join(directory, 'a-directory'));
  const { code, out, err } = any(['add', file('one.txt', 'one'), join(directory, 'none'), join(directory, 'a-directory'), file('two.txt', 'two')]);
  assert.equal(code, 3);
  assert.equal(lines(out).length, 2);
  assert.match(err, /none: there is no such file/);
  assert.match(err, /a-directory: this is a directory/);
  assert.equal(lines(err).length, 2);
  assert.equal(any(['add', '--name', 'x', file('one.txt', 'one'), file('two.txt', 'two')]).code, 2);
});

test('parts of it can be had', () => {
  const id = made(['add', file('digits.txt', '0123456789')]);
  assert.equal(bytesOf(id, '--range', '2-4').toString(), '234');
  assert.equal(bytesOf(id, '--range', '7-').toString(), '789');
  assert.equal(bytesOf(id, '--range', '-2').toString(), '89');
  assert.equal(any(['get', id, '--range', '4']).code, 2);
  const beyond = any(['get', id, '--range', '100-200', '-o', join(directory, 'beyond')]);
  assert.equal(beyond.code, 1);
  assert.ok(!existsSync(join(directory, 'beyond')));
});

test('blobs are listed and deleted', () => {
  const id = made(['add', file('listed.txt', 'listed')]);
  assert.match(ok(['list']).out, new RegExp(`^ID +TYPE +BYTES +MADE +NAME\n(.*\n)*${id} +\\S+ +6 +\\d{4}.* +listed\\.txt\n`));
  ok(['delete', id, '--yes']);
  assert.equal(any(['show', id]).code, 1);
  assert.equal(any(['get', id, '-o', join(directory, 'deleted')]).code, 1);
  assert.ok(!existsSync(join(directory, 'deleted')));
  assert.equal(json(['list', '--limit', '1']).items.length, 1);
});

test('a terminal is not sent bytes', () => {
  const id = made(['add', file('terminal.txt', 'x')]);
  const { out } = shell(`script -qec '"$P" blob get ${id} --data "${server.data}"' /dev/null`);
  if (!out.includes('not found')) assert.match(out, /give -o FILE/);
});

test('fetch leaves it to the server, which refuses its own network', async () => {
  const other = http.createServer((request, response) => response.end('inside'));
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  const child = spawn(parley, ['blob', 'fetch', `http://127.0.0.1:${other.address().port}/`, '--data', server.data]);
  let err = '';
  child.stderr.on('data', (piece) => { err += piece; });
  const code = await new Promise((resolve) => child.once('close', resolve));
  other.close();
  assert.equal(code, 1, err);
  assert.match(err, /127\.0\.0\.1/);
  assert.equal(any(['fetch', 'file:///etc/passwd']).code, 1);
});

test('a large file needs no more memory than a small one', { skip: noTime }, () => {
  const large = join(directory, 'large.bin');
  writeFileSync(large, Buffer.alloc(60 << 20, 7));
  const peak = (path) => Number(spawnSync('/usr/bin/time', ['-f', '%M', parley, 'blob', 'add', path, '--data', server.data], { encoding: 'utf8' }).stderr.trim().split('\n').at(-1));
  const small = peak(file('small.bin', 'small'));
  assert.ok(peak(large) < small + 8192, `${peak(large)} KiB, ${small} KiB for a small one`);
});
