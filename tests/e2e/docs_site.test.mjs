// The documents as pages: the reference is what the program says, every link and anchor leads somewhere, nothing comes from
// elsewhere, and the program serves them under /docs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { example, openapi, pages as referencePages } from '../../tools/docs/reference.mjs';
import { directory, file, parley, root, run } from './harness.mjs';
import { start } from './server.mjs';

const site = join(directory, 'site');
const skip = !existsSync(join(root, 'web/node_modules/marked')) && 'the packages of web/ are not installed';
if (!skip) (await import('../../tools/docs/site.mjs')).build(site);

const filesOf = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((entry) => entry.isDirectory()
  ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)]);
const pages = skip ? [] : filesOf(site).filter((name) => name.endsWith('.html'));
const unescape = (text) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"');

test('the reference is what the program says', async () => {
  for (const [name, text] of await referencePages(parley))
    assert.equal(readFileSync(join(root, 'docs/reference', name), 'utf8'), text, `docs/reference/${name}: make it again with make docs`);
});

test('the body of every example fits the schema of its route', async () => {
  const { paths, components } = await openapi(parley);
  const names = new Set(Object.values(paths).flatMap((methods) => Object.values(methods))
    .map(({ requestBody }) => requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1)).filter(Boolean));
  assert.ok(names.size > 40, `${names.size} bodies`);
  for (const name of names) {
    const schema = JSON.stringify({ $ref: `#/$defs/${name}`, $defs: components.schemas }).replaceAll('"#/components/schemas/', '"#/$defs/');
    const body = JSON.stringify(example({ $ref: `#/components/schemas/${name}` }, components.schemas));
    const { code, out } = run(['validate', '--schema', file(`${name}.json`, schema), '-'], { input: body });
    assert.equal(code, 0, `${name}: ${body}: ${out}`);
  }
});

test('every guide and every page of the reference is in the site', () => {
  const listed = new Set(JSON.parse(readFileSync(join(root, 'docs/site.json'), 'utf8')).flatMap(({ pages: names }) => names));
  for (const folder of ['.', 'guide', 'reference', 'tasks'])
    for (const name of readdirSync(join(root, 'docs', folder)))
      if (name.endsWith('.md') && name !== 'ARCHITECTURE.md') assert.ok(listed.has(join(folder, name)), `docs/site.json lacks ${join(folder, name)}`);
  for (const name of listed) assert.ok(existsSync(join(root, 'docs', name)), name);
});

test('every link and every anchor leads somewhere', { skip }, () => {
  const anchors = new Map(pages.map((page) => [page, new Set([...readFileSync(page, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]));
  let n = 0;
  for (const page of pages)
    for (const [, href] of readFileSync(page, 'utf8').matchAll(/<a [^>]*href="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue;
      const [path, anchor] = unescape(href).split('#');
      const target = path ? join(dirname(page), path) : page;
      assert.ok(existsSync(target) && statSync(target).isFile(), `${relative(site, page)}: ${href}`);
      if (anchor && anchors.has(target)) assert.ok(anchors.get(target).has(decodeURIComponent(anchor)), `${relative(site, page)}: there is no ${href}`);
      n++;
    }
  assert.ok(n > 1000, `${n} links`);
});

test('ids are unique, headings are in order, and the search finds every page', { skip }, () => {
  globalThis.parleyIndex = null;
  (0, eval)(readFileSync(join(site, 'search.js'), 'utf8'));
  const found = new Set(globalThis.parleyIndex.map(([place]) => place.split('#')[0]));
  for (const page of pages) {
    const text = readFileSync(page, 'utf8'), ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length, `${relative(site, page)} has an id twice`);
    assert.equal(text.match(/<h1 /g)?.length, 1, `${relative(site, page)} has one title`);
    assert.ok(found.has(relative(site, page)), relative(site, page));
  }
});

test('nothing is loaded from elsewhere, and nothing is inline', { skip }, () => {
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    for (const [, to] of text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)) {
      assert.doesNotMatch(to, /^[a-z]+:|^\//, `${relative(site, page)}: ${to}`);
      assert.ok(existsSync(join(dirname(page), to)), `${relative(site, page)}: ${to}`);
    }
    assert.doesNotMatch(text, /<script>|<style| style="| on[a-z]+="/, relative(site, page));
  }
  assert.doesNotMatch(readFileSync(join(site, 'style.css'), 'utf8'), /url\(|@import/);
});

test('the program serves them: types, caching, policy, and what is not there', async (t) => {
  const server = await start();
  const get = (path, headers = {}, method = 'GET') => server.raw(method, path, { key: null, headers });
  const first = await get('/docs');
  if (first.status === 404) {
    assert.match(first.json.detail, /built without its documents.*make build/);
    assert.match((await get('/docs/index.html')).json.detail, /built without its documents/);
    await server.stop();
    t.skip('the program was built without its documents');
    return;
  }
  assert.deepEqual([first.status, first.headers.location], [303, '/docs/index.html']);
  for (const [path, type] of [['index.html', 'text/html; charset=utf-8'], ['guide/server.html', 'text/html; charset=utf-8'], ['style.css', 'text/css; charset=utf-8'],
    ['site.js', 'text/javascript; charset=utf-8'], ['search.js', 'text/javascript; charset=utf-8'], ['icon.svg', 'image/svg+xml'],
    ['reference/examples/follow.py', 'text/plain; charset=utf-8'], ['guide/validate.c', 'text/plain; charset=utf-8']]) {
    const whole = await get(`/docs/${path}`);
    assert.deepEqual([whole.status, whole.headers['content-type'], whole.headers['content-encoding'], whole.headers['cache-control']], [200, type, 'gzip', 'no-cache'], path);
    assert.match(whole.headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';/);
    assert.equal(whole.headers['x-content-type-options'], 'nosniff');
    assert.ok(gunzipSync(whole.bytes).length > 100, path);
    assert.equal((await get(`/docs/${path}`, { 'if-none-match': whole.headers.etag })).status, 304);
    const head = await get(`/docs/${path}`, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, `${whole.bytes.length}`, 0]);
  }
  assert.match(gunzipSync((await get('/docs/index.html')).bytes).toString(), /<h1 id="parley">Parley<\/h1>/);
  for (const path of ['/docs/none.html', '/docs/guide/none.html', '/docs/guide', '/docs/../etc/passwd', '/docs/guide/%2e%2e/index.html', '/docs/a/b/c/d'])
    assert.ok([400, 404].includes((await get(path)).status), path);
  assert.match((await get('/docs/none.html')).json.detail, /no such page/);
  assert.equal((await get('/docs/index.html', {}, 'POST')).status, 405);
  await server.stop();
});
