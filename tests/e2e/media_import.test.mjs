// Importing a conversation stores the media behind its links, but only from hosts that the operator has named.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { run } from './harness.mjs';
import { start } from './server.mjs';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const large = Buffer.concat([png, Buffer.alloc(3_000_000, 7)]);

let files; // named in the configuration
let others; // not named
let server;

// Serves the entries of `paths` and records the requests.
async function fileServer(paths) {
  const asked = [];
  const listening = http.createServer((request, response) => {
    asked.push(request.url);
    const [status, headers, body] = paths[request.url.split('?')[0]] ?? [404, {}, 'none'];
    response.writeHead(status, headers).end(body);
  });
  await new Promise((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return { asked, listening, port: listening.address().port, url: `http://127.0.0.1:${listening.address().port}` };
}

before(async () => {
  others = await fileServer({ '/dog.png': [200, { 'content-type': 'image/png' }, png] });
  files = await fileServer({
    '/cat.png': [200, { 'content-type': 'image/png' }, png],
    '/large.png': [200, { 'content-type': 'image/png' }, large],
    '/lie.png': [200, { 'content-type': 'image/png' }, '<html>no picture</html>'],
    '/away': [302, { location: `${others.url}/dog.png` }, ''],
    '/near': [302, { location: '/cat.png' }, ''],
  });
  server = await start({ args: ['--allow-fetch', `127.0.0.1:${files.port}`] });
});

after(() => {
  files.listening.close();
  others.listening.close();
});

const picture = (url) => ({ type: 'image_url', image_url: { url } });
const conversation = (...urls) => ({
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, ...urls.map(picture)] }],
});

// Imports a document; returns the links in the turns of the session, and the answer.
async function imported(document, more = {}) {
  const answer = await server.ask('POST', '/api/sessions/import', { body: { document, ...more } });
  assert.equal(answer.status, 201, answer.text);
  const turns = (await server.ask('GET', `/api/sessions/${answer.json.id}/export?format=turns`)).json;
  const blocks = turns.flatMap((turn) => [...turn.blocks, ...turn.tool_calls.flatMap(({ result }) => (Array.isArray(result) ? result : []))]);
  const media = blocks.filter(({ type }) => type === 'media').map(({ content }) => content);
  return { answer, links: media.map(({ blob, url }) => (blob ? `/api/blobs/${blob}` : url)) };
}

test('links are kept as they are unless storing is asked for', async () => {
  const before = files.asked.length;
  for (const more of [{}, { media: 'keep' }]) {
    const { answer, links } = await imported(conversation(`${files.url}/cat.png`), more);
    assert.deepEqual(links, [`${files.url}/cat.png`]);
    assert.equal(answer.headers['x-media-stored'], undefined);
  }
  assert.equal(files.asked.length, before);
});

test('what a link shows is stored, once, and the link leads to it', async () => {
  const before = files.asked.length;
  const { answer, links } = await imported(conversation(`${files.url}/cat.png`, `${files.url}/cat.png`, `${files.url}/near`, `${files.url}/large.png`), { media: 'store' });
  assert.equal(answer.headers['x-media-stored'], '4');
  assert.equal(answer.headers['x-media-failed'], '0');
  assert.ok(links.every((link) => /^\/api\/blobs\/blob_[0-9a-f-]{36}$/.test(link)), links.join(' '));
  assert.equal(links[0], links[1]);
  assert.equal(links[0], links[2]); // the same bytes are the same blob
  assert.deepEqual(files.asked.slice(before), ['/cat.png', '/near', '/cat.png', '/large.png']);
  const blob = await server.ask('GET', links[0]);
  assert.equal(blob.headers['content-type'], 'image/png');
  assert.deepEqual(blob.bytes, png);
  assert.deepEqual((await server.ask('GET', links[3])).bytes, large);
  const info = await server.ask('GET', `${links[0]}/info`);
  assert.equal(info.json.name, 'cat.png');
});

test('what cannot be fetched stays a link, and is counted', async () => {
  const urls = [`${others.url}/dog.png`, `http://localhost:${others.port}/dog.png`, `http://0x7f000001:${others.port}/dog.png`,
    `${files.url}/away`, `${files.url}/lie.png`, `${files.url}/missing.png`, `${files.url}/cat.png`];
  const { answer, links } = await imported(conversation(...urls), { media: 'store' });
  assert.deepEqual(links.slice(0, -1), urls.slice(0, -1));
  assert.match(links.at(-1), /^\/api\/blobs\//);
  assert.equal(answer.headers['x-media-stored'], '1');
  assert.equal(answer.headers['x-media-failed'], '6');
  assert.deepEqual(others.asked, []);
});

test('only links that expire are fetched when only those are meant', async () => {
  const signed = `${files.url}/cat.png?X-Amz-Date=20240320T100000Z&X-Amz-Expires=900&X-Amz-Signature=ab`;
  const { links } = await imported(conversation(`${files.url}/large.png`, signed), { media: 'store_expiring' });
  assert.equal(links[0], `${files.url}/large.png`);
  assert.match(links[1], /^\/api\/blobs\//);
});

test('media of other formats and of tool results are found, too', async () => {
  const url = `${files.url}/cat.png`;
  const image = { type: 'image', source: { type: 'url', url } };
  const document = {
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: [image, { type: 'text', text: 'look' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'see', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }] },
    ],
  };
  const { answer, links } = await imported(document, { from: 'anthropic', media: 'store' });
  assert.equal(answer.headers['x-media-stored'], '2');
  assert.equal(links.length, 2);
  assert.ok(links.every((link) => link.startsWith('/api/blobs/')));
});

test('a document that is no conversation is refused as ever', async () => {
  const answer = await server.ask('POST', '/api/sessions/import', { body: { document: { a: 1 }, media: 'store' } });
  assert.equal(answer.status, 400);
});

test('a URL is fetched on request by the same rules', async () => {
  const good = await server.ask('POST', '/api/blobs/fetch', { body: { url: `${files.url}/cat.png` } });
  assert.equal(good.status, 201, good.text);
  for (const url of [`${others.url}/dog.png`, `${files.url}/away`, 'file:///etc/passwd', `http://a@127.0.0.1:${files.port}/cat.png`, 'http://169.254.169.254/latest/']) {
    const answer = await server.ask('POST', '/api/blobs/fetch', { body: { url } });
    assert.equal(answer.status, 400, `${url} ${answer.text}`);
  }
  assert.equal((await server.ask('POST', '/api/blobs/fetch', { body: { url: `${files.url}/missing.png` } })).status, 502);
  assert.deepEqual(others.asked, []);
});

test('hosts are named in the environment, too, and what is no host is refused at the start', async () => {
  const other = await start({ env: { PARLEY_ALLOW_FETCH: `files.intranet,127.0.0.1:${others.port}` } });
  const answer = await other.ask('POST', '/api/blobs/fetch', { body: { url: `${others.url}/dog.png` } });
  assert.equal(answer.status, 201, answer.text);
  const { code, err } = run(['serve', '--port', '0', '--allow-fetch', 'http://files.intranet/']);
  assert.equal(code, 2);
  assert.match(err, /allow_fetch .* is not a host/);
});

test('the server ends in good order', async () => {
  assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.err.slice(-4000));
});
