// The documents as pages, in every language: the reference matches the program, every link and anchor has a target, nothing is
// loaded from other sites, and the program serves the pages under /docs.
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
const place = (page) => relative(site, page);
const isChinese = (page) => place(page).startsWith('zh-CN/');
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
  const listed = new Set(JSON.parse(readFileSync(join(root, 'docs/site.json'), 'utf8')).groups.flatMap(({ pages: names }) => names));
  for (const language of ['.', 'zh-CN'])
    for (const folder of ['.', 'guide', 'reference', 'tasks'])
      for (const name of readdirSync(join(root, 'docs', language, folder)))
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
      assert.ok(existsSync(target) && statSync(target).isFile(), `${place(page)}: ${href}`);
      if (anchor && anchors.has(target)) assert.ok(anchors.get(target).has(decodeURIComponent(anchor)), `${place(page)}: there is no ${href}`);
      n++;
    }
  assert.ok(n > 1000, `${n} links`);
});

test('ids are unique, headings are in order, and the search finds every page', { skip }, () => {
  globalThis.parleyIndex = null;
  for (const folder of ['', 'zh-CN']) (0, eval)(readFileSync(join(site, folder, 'search.js'), 'utf8'));
  const found = new Set(globalThis.parleyIndex.map(([place]) => place.split('#')[0]));
  for (const page of pages) {
    const text = readFileSync(page, 'utf8'), ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length, `${place(page)} has an id twice`);
    assert.equal(text.match(/<h1 /g)?.length, 1, `${place(page)} has one title`);
    assert.ok(found.has(place(page)), place(page));
  }
});

test('a page says its language, and leads to the same page in the other one', { skip }, () => {
  for (const page of pages) {
    const text = readFileSync(page, 'utf8'), lang = isChinese(page) ? 'zh-CN' : 'en', other = lang === 'en' ? 'zh-CN' : 'en';
    assert.match(text, new RegExp(`<html lang="${lang}" `), place(page));
    const [, href] = text.match(new RegExp(`<a class="language" lang="${other}" hreflang="${other}" href="([^"]+)"`)) ?? [];
    const twin = lang === 'en' ? join('zh-CN', place(page)) : place(page).slice('zh-CN/'.length);
    // A page generated from the program has no translation: its language switch links to the first page.
    assert.equal(place(join(dirname(page), href)), existsSync(join(site, twin)) ? twin : 'zh-CN/index.html', place(page));
  }
});

test('the Chinese menu has every page, and marks those that are English', { skip }, () => {
  const menuOf = (page) => readFileSync(join(site, page), 'utf8').match(/<nav id="docs-pages"[^]*?<\/nav>/)[0];
  const links = [...menuOf('zh-CN/tour.html').matchAll(/<a href="([^"]+)"([^>]*)>([^<]+)<\/a>/g)];
  assert.equal(links.length, menuOf('tour.html').match(/<a /g).length);
  for (const [, href, marks, title] of links) {
    const isEnglish = href.startsWith('../');
    assert.deepEqual([marks.includes('hreflang="en"'), title.endsWith('（英文）')], [isEnglish, isEnglish], href);
    assert.match(title, /\p{Script=Han}/u);
  }
  assert.doesNotMatch(menuOf('tour.html'), /\p{Script=Han}/u);
});

test('nothing is loaded from elsewhere, and nothing is inline', { skip }, () => {
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    for (const [, to] of text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)) {
      assert.doesNotMatch(to, /^[a-z]+:|^\//, `${place(page)}: ${to}`);
      assert.ok(existsSync(join(dirname(page), to)), `${place(page)}: ${to}`);
    }
    assert.doesNotMatch(text, /<script>|<style| style="| on[a-z]+="/, place(page));
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
  for (const [path, type] of [['index.html', 'text/html; charset=utf-8'], ['guide/server.html', 'text/html; charset=utf-8'], ['zh-CN/index.html', 'text/html; charset=utf-8'], ['zh-CN/tasks/c.html', 'text/html; charset=utf-8'],
    ['zh-CN/search.js', 'text/javascript; charset=utf-8'], ['style.css', 'text/css; charset=utf-8'],
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
  for (const [headers, to] of [[{ 'accept-language': 'zh-CN,zh;q=0.9' }, '/docs/zh-CN/index.html'], [{ 'accept-language': 'de' }, '/docs/index.html'],
    [{ 'accept-language': 'zh', cookie: 'parley-lang=en' }, '/docs/index.html'], [{ cookie: 'parley-lang=zh-CN' }, '/docs/zh-CN/index.html']]) {
    const { headers: said } = await get('/docs', headers);
    assert.deepEqual([said.location, said.vary], [to, 'Accept-Language, Cookie'], JSON.stringify(headers));
  }
  assert.match(gunzipSync((await get('/docs/zh-CN/index.html')).bytes).toString(), /<html lang="zh-CN"/);
  for (const path of ['/docs/none.html', '/docs/zh-CN/none.html', '/docs/zh-CN', '/docs/guide/none.html', '/docs/guide', '/docs/../etc/passwd', '/docs/guide/%2e%2e/index.html', '/docs/a/b/c/d'])
    assert.ok([400, 404].includes((await get(path)).status), path);
  assert.match((await get('/docs/none.html')).json.detail, /no such page/);
  assert.equal((await get('/docs/index.html', {}, 'POST')).status, 405);
  await server.stop();
});
