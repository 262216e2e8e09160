// The program serves the web page: from a directory, or the built-in one; all its URLs and files and nothing else,
// under its content policy.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { directory } from './harness.mjs';
import { start } from './server.mjs';

const dist = join(directory, 'page');
const html = '<!doctype html><html lang="en" class="x" data-theme="auto"><head><script type="module" src="/assets/a-1.js"></script></head></html>';
let server;
before(async () => {
  mkdirSync(join(dist, 'assets'), { recursive: true });
  writeFileSync(join(dist, 'index.html'), html);
  writeFileSync(join(dist, 'assets', 'a-1.js'), 'export const a = 1;');
  writeFileSync(join(dist, 'assets', 'a-1.css'), 'a{}');
  writeFileSync(join(dist, 'boot.js'), '1');
  writeFileSync(join(directory, 'secret.txt'), 'secret');
  mkdirSync(join(dist, 'assets', 'inner'));
  symlinkSync(join(directory, 'nowhere'), join(dist, 'assets', 'broken.js'));
  server = await start({ args: ['--ui-dir', dist] });
});

const get = (path, headers = {}, method = 'GET') => server.raw(method, path, { key: null, headers: { accept: 'text/html', ...headers } });

test('every URL of the page is the document, under its policy', async () => {
  for (const path of ['/', '/p', '/p/prompt_1?v=3&diff=2&m=a,b', '/s', '/s/sess_1', '/v', '/r', '/m', '/t?month=2026-11', '/x', '/x/a', '/settings', '/settings/keys', '/audit', '/share/abc']) {
    const { status, headers, text } = await get(path);
    assert.equal(status, 200, path);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'", "font-src 'none'", "worker-src 'self'", "frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) assert.ok(headers['content-security-policy'].split('; ').includes(rule), rule);
    assert.deepEqual([headers['x-content-type-options'], headers['referrer-policy'], headers['cross-origin-opener-policy'], headers['cache-control']], ['nosniff', 'no-referrer', 'same-origin', 'no-cache']);
    assert.ok(text.includes('src="/assets/a-1.js"'));
  }
});

test('a program that asks for the address gets the first steps', async () => {
  for (const accept of ['*/*', 'application/json', '']) {
    const { headers, text } = await get('/', { accept });
    assert.match(headers['content-type'], /^text\/plain/);
    assert.match(text, /parley key create/);
  }
});

test('language and theme are in the document before anything is painted', async () => {
  const tag = async (headers) => (await get('/', headers)).text.match(/<html[^>]*>/)[0];
  assert.equal(await tag({}), '<html class="x" data-theme="auto" lang="en">');
  assert.equal(await tag({ 'accept-language': 'zh-CN,en;q=0.5' }), '<html class="x" data-theme="auto" lang="zh-CN">');
  assert.equal(await tag({ 'accept-language': 'zh-CN', cookie: 'parley-lang=en; parley-theme=dark' }), '<html class="x" lang="en" data-theme="dark">');
  assert.equal(await tag({ cookie: 'parley-theme="><script>alert(1)</script>; parley-lang=x' }), '<html class="x" data-theme="auto" lang="en">');
});

test('files have their types and tags; HEAD and If-None-Match save the rest', async () => {
  for (const [path, type] of [['/assets/a-1.js', 'text/javascript; charset=utf-8'], ['/assets/a-1.css', 'text/css; charset=utf-8'], ['/boot.js', 'text/javascript; charset=utf-8']]) {
    const whole = await get(path);
    assert.equal(whole.status, 200, path);
    assert.equal(whole.headers['content-type'], type);
    const head = await get(path, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, `${whole.bytes.length}`, 0]);
    const again = await get(path, { 'if-none-match': whole.headers.etag });
    assert.deepEqual([again.status, again.bytes.length], [304, 0]);
  }
  const tag = (await get('/v')).headers.etag;
  assert.equal((await get('/v', { 'if-none-match': tag })).status, 304);
  assert.equal((await get('/v', { 'if-none-match': tag, 'accept-language': 'zh' })).status, 200);
});

test('nothing leads out of the directory, and nothing else is there', async () => {
  for (const path of ['/assets/../../secret.txt', '/assets/..%2f..%2fsecret.txt', '/..%2fsecret.txt', '/%2e%2e/secret.txt', '/assets/%2e%2e', '/assets/.hidden', '/.env', '/assets/inner', '/assets/broken.js', '/assets/none.js', '/none', '/assets/', '/assets', '/p/a/b', '/settings/a/b', '/index.html%00.js']) {
    const { status, text } = await get(path);
    assert.ok([400, 404].includes(status), `${path}: ${status}`);
    assert.ok(!text.includes('secret'), path);
  }
  assert.equal((await get('/v', {}, 'POST')).status, 405);
});

test('the link of the first start is the page, and its code signs in', async () => {
  const fresh = await start({ args: ['--ui-dir', dist], login: false });
  assert.match(fresh.out, new RegExp(`${fresh.url}/#login=`));
  const signed = await fresh.ask('POST', '/api/login', { body: { code: fresh.code, cookie: true }, key: null });
  assert.equal(signed.status, 201);
  const cookie = signed.headers['set-cookie'][0].split(';')[0];
  assert.equal((await fresh.ask('GET', '/api/me', { key: null, headers: { cookie } })).json.csrf.length, 43);
  await fresh.stop();
});

test('without a directory: what was built in, compressed and for ever; or what to do', async () => {
  const own = await start();
  const page = await own.raw('GET', '/v', { key: null, headers: { accept: 'text/html' } });
  if (page.status === 404) {
    assert.match(page.text, /built without its web page.*make build.*--ui-dir/s);
    assert.match((await own.raw('GET', '/', { key: null })).text, /built without its web page/);
  } else {
    const name = page.text.match(/\/assets\/[\w.-]+\.js/)[0];
    const file = await own.raw('GET', name, { key: null, headers: { 'accept-encoding': 'gzip' } });
    assert.deepEqual([file.status, file.headers['content-encoding'], file.headers['cache-control']], [200, 'gzip', 'public, max-age=31536000, immutable']);
    assert.equal((await own.raw('GET', name, { key: null, headers: { 'if-none-match': file.headers.etag } })).status, 304);
  }
  const missing = await start({ args: ['--ui-dir', join(directory, 'not-there')] });
  assert.match((await missing.raw('GET', '/v', { key: null })).json.detail, /no readable index.html.*npm run build/);
  await own.stop();
  await missing.stop();
});
