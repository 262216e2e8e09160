// Images in every part of the product: results of a client's tools, rotations, omissions, prompts. The vendors are
// upstreams.mjs, which checks the requests with the vendors' rules.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { after, before, beforeEach, test } from 'node:test';
import { directory, missing, parley } from './harness.mjs';
import { clientOf, serve, settled, Socket, until } from './live.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

// A PNG of one dot.
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};
const camera = {
  name: 'camera', description: 'Takes a photo',
  input_schema: { type: 'object', properties: {}, additionalProperties: false },
};

let upstream;
let server;
let client;
before(async () => {
  upstream = await openUpstream({ key: 'sk-secret' });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});
beforeEach(() => upstream.reset());
after(() => upstream.close());

const image = (more = {}) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, ...more } });
const text = (words) => ({ type: 'text', text: words });
const turnsOf = async (id) => (await client.messages(id, { limit: '100' })).turns;

// --- the client's own tools ------------------------------------------------------------------

// A session whose model called the camera; returns the id of the waiting call.
async function shot(model) {
  upstream.next({ calls: [{ name: 'camera', args: {} }] }, { say: 'A dot.' });
  const { id } = await client.createSession({ model, tools: [camera] });
  await client.chat(id, { message: 'Look around' });
  let call;
  await until(async () => {
    call = (await turnsOf(id)).flatMap(({ tool_calls: calls }) => calls).find(({ status, runs }) => status === 'pending' && runs === 'client');
    return call;
  }, () => 'no call waits');
  return { id, call: call.id, give: (body) => server.ask('POST', `/api/sessions/${id}/tool-calls/${call.id}/result`, { body }) };
}

for (const dialect of dialectNames) {
  test(`${dialect}: an image in the result of a client's tool is a blob in the turn, and a real part for the vendor`, async () => {
    const { id, give } = await shot(models[dialect]);
    const given = await give({ result: [text('Here it is.'), image({ detail: 'low' })] });
    assert.equal(given.status, 200, JSON.stringify(given.json));
    await settled(client, id);
    upstream.check();
    const sent = upstream.last().text;
    assert.ok(sent.includes(png) && sent.includes('Here it is.'), sent);
    assert.ok(!/"blob|blob_/.test(sent), sent);
    const turns = await turnsOf(id);
    const [call] = turns.flatMap(({ tool_calls: calls }) => calls);
    assert.deepEqual(call.result[0], { type: 'text', content: 'Here it is.' });
    assert.match(call.result[1].content.blob, /^blob_/);
    assert.deepEqual([call.result[1].content.mime, call.result[1].content.detail], ['image/png', 'low']);
    assert.ok(!JSON.stringify(turns).includes(png));
  });
}

test('a socket takes the result with an image; the same again is a repetition, another a conflict', async () => {
  const { id, call, give } = await shot(models.anthropic);
  const socket = await new Socket(server).opened;
  const answer = await socket.ask('tool:result', { session_id: id, tool_call_id: call, result: [image()] });
  assert.ok(!answer.error, JSON.stringify(answer));
  await settled(client, id);
  assert.ok(upstream.last().text.includes(png));
  const again = await give({ result: [image()] });
  assert.deepEqual([again.status, again.json.repeated], [200, true], JSON.stringify(again.json));
  const over = await socket.ask('tool:result', { session_id: id, tool_call_id: call, result: [image()] });
  assert.ok(!over.error, JSON.stringify(over));
  assert.equal((await give({ result: [image({ detail: 'low' })] })).status, 409);
  socket.close();
});

test('media in a result that cannot be kept are refused, and the call still waits', async () => {
  const { id, give } = await shot(models.anthropic);
  const wrong = [
    [[{ type: 'image_url', image_url: { url: 'data:image/png;base64,!!!' } }], /base64/],
    [[text('a'), { type: 'image_url', image_url: { url: 7 } }], /\/result\/1/],
    [[{ type: 'media', content: { kind: 'smell', url: 'https://example.com/a' } }], /kind/],
    [[{ type: 'media', content: { kind: 'image', blob: 'blob_019a0000-0000-7000-8000-000000000000' } }], /no blob/],
    [[image(), 5], /Part 2 of the result must be a text or media/],
    [[image(), { type: 'text', text: 5 }], /Part 2 of the result/],
    [[{ type: 'media', content: 'x' }], /Part 1 of the result/],
  ];
  for (const [result, what] of wrong) {
    const { status, json } = await give({ result });
    assert.equal(status, 400, JSON.stringify([result, json]));
    assert.match(JSON.stringify(json), what);
  }
  assert.equal((await give({ result: [{ type: 'text', content: 'words' }, image()] })).status, 200);
  await settled(client, id);
});

const wav = Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80>\0\0\0}\0\0\x02\0\x10\0data\0\0\0\0', 'latin1')]).toString('base64');

for (const [dialect, isTaken] of Object.entries({ anthropic: false, 'openai-responses': false, gemini: true }))
  test(`${dialect}: audio that its model does not take is told on the turn of its message`, async () => {
    const { id } = await client.createSession({ model: models[dialect], tools: 'none' });
    const say = async (message) => {
      await client.chat(id, { message });
      await settled(client, id);
      return (await turnsOf(id)).at(-1).blocks.filter(({ type }) => type === 'system_notification').map(({ content }) => content).join(' ');
    };
    const told = await say([text('Listen.'), { type: 'input_audio', input_audio: { data: wav, format: 'wav' } }]);
    upstream.check();
    assert.equal(upstream.last().text.includes(wav), isTaken);
    if (isTaken) assert.equal(told, '');
    else assert.match(told, /was not sent all media: audio.* \(.*accepts no audio/);
    // Losses of older messages are not reported again.
    assert.equal(await say('And now?'), '');
  });

// --- rotation ---------------------------------------------------------------------------------

// A PNG of these pixels, each [r, g, b]; `rows` of them.
function pngOf(rows) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(rows[0].length, 0);
  head.writeUInt32BE(rows.length, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const raw = Buffer.concat(rows.map((row) => Buffer.from([0, ...row.flat()])));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', head), chunk('IDAT', deflateSync(raw)), chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}
function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let i = 0; i < 8; i++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
const red = [255, 0, 0];
const blue = [0, 0, 255];
const wide = pngOf([[red, blue]]);
const dataImage = (data, more = {}) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}`, ...more } });
const sizeOf = (data) => [Buffer.from(data, 'base64').readUInt32BE(16), Buffer.from(data, 'base64').readUInt32BE(20)];
function pixelsOf(data) {
  const decoded = spawnSync('ffmpeg', ['-v', 'error', '-f', 'png_pipe', '-i', '-', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'], { input: Buffer.from(data, 'base64') });
  assert.equal(decoded.status, 0, decoded.stderr.toString());
  return [...decoded.stdout];
}

// Every image of a request, as base64 or a URL.
const imagesIn = {
  anthropic: (body) => body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'image').map(({ source }) => source.data ?? source.url),
  'openai-chat': (body) => body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'image_url').map((part) => part.image_url.url.split(',').at(-1)),
  'openai-responses': (body) => body.input.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'input_image').map((part) => part.image_url.split(',').at(-1)),
  gemini: (body) => body.contents.flatMap(({ parts }) => parts).filter((part) => part.inlineData || part.fileData).map((part) => part.inlineData?.data ?? part.fileData.fileUri),
};
async function chat(message, { model = 'demo/echo', id, of = client } = {}) {
  const session = id ?? (await of.createSession({ model })).id;
  await of.chat(session, { message });
  await settled(of, session);
  const { turns } = await of.messages(session, { limit: '100' });
  return { id: session, turns };
}
const notices = (turns) => turns.flatMap(({ blocks }) => blocks).filter(({ type }) => type === 'system_notification').map(({ content }) => content);
const contextOf = async (id, of = server) => (await of.ask('GET', `/api/sessions/${id}/context`)).json;

for (const dialect of dialectNames) {
  test(`${dialect}: an image is turned as its message says before the vendor gets it; the turn keeps it as it was`, { skip: missing('ffmpeg') }, async () => {
    for (const [rotation, size, pixels] of [[90, [1, 2], [red, blue]], [180, [2, 1], [blue, red]], [270, [1, 2], [blue, red]], [0, [2, 1], [red, blue]]]) {
      upstream.reset();
      upstream.next({ say: 'Two dots.' });
      const { id, turns } = await chat([text('What?'), dataImage(wide, { detail: 'low', rotation })], { model: models[dialect] });
      upstream.check();
      const [sent] = imagesIn[dialect](upstream.last().body);
      assert.deepEqual(sizeOf(sent), size, `${rotation}`);
      assert.deepEqual(pixelsOf(sent), pixels.flat(), `${rotation}`);
      assert.ok(!upstream.last().text.includes('rotation'));
      assert.equal(turns[0].blocks[1].content.rotation, rotation);
      assert.deepEqual(notices(turns), []);
      assert.deepEqual((await contextOf(id)).media_notes, []);
    }
  });
}

test('an image in the result of a client\'s tool is turned too', { skip: missing('ffmpeg') }, async () => {
  const { id, give } = await shot(models.anthropic);
  assert.equal((await give({ result: [dataImage(wide, { rotation: 90 })] })).status, 200);
  await settled(client, id);
  const result = upstream.last().body.messages.at(-1).content[0];
  assert.deepEqual(sizeOf(result.content.find(({ type }) => type === 'image').source.data), [1, 2]);
  assert.deepEqual(notices(await turnsOf(id)), []);
});

test('an image that cannot be turned goes along as it is, and the turn and the context say so', async () => {
  const cases = [
    [{ type: 'image_url', image_url: { url: 'https://example.com/cat.png', rotation: 90 } }, /image: not turned by 90 degrees: it is behind a URL/],
    ...(missing('ffmpeg') ? [] : [[dataImage(Buffer.concat([Buffer.from(wide, 'base64').subarray(0, 40), Buffer.alloc(40)]).toString('base64'), { rotation: 180 }), /image: not turned by 180 degrees: ffmpeg cannot process it/]]),
  ];
  for (const [part, what] of cases) {
    upstream.next({ say: 'A cat.' }, { say: 'Still a cat.' });
    const { id, turns } = await chat([text('What?'), part], { model: models.anthropic });
    upstream.check();
    assert.equal(imagesIn.anthropic(upstream.last().body).length, 1);
    const [said] = notices(turns);
    assert.match(said, what);
    const { media_notes: [note] } = await contextOf(id);
    assert.deepEqual([note.effect, note.kind, note.turn_id], ['not_turned', 'image', turns[0].turn_id]);
    assert.match(said, new RegExp(note.detail.slice(0, 30)));
  }
});

test('without ffmpeg the turn says what is missing', async () => {
  const bare = await serve({ env: { ...upstream.env(), PATH: '/nonexistent' } });
  const of = clientOf(bare);
  upstream.next({ say: 'Two dots.' });
  const { turns } = await chat([text('What?'), dataImage(wide, { rotation: 90 })], { model: models.gemini, of });
  assert.match(notices(turns)[0], /not turned by 90 degrees: the program ffmpeg is not installed/);
  assert.equal(imagesIn.gemini(upstream.last().body)[0], wide);
});

// --- omissions --------------------------------------------------------------------------------

test('the oldest images are left out when the request is over the model\'s window, and that is told', async () => {
  const model = 'openai-chat/gpt-4'; // 8192 tokens; an image of 1024 by 1024 has 765
  const large = (shade) => dataImage(pngOf(Array.from({ length: 1024 }, () => Array.from({ length: 1024 }, () => [shade, 0, 0]))));
  let id;
  let turns;
  for (let i = 0; i < 13; i++) {
    upstream.reset();
    upstream.next({ say: `Number ${i}.` });
    ({ id, turns } = await chat([text(`This is number ${i}.`), large(i)], { model, id: id ?? (await client.createSession({ model, tools: 'none' })).id }));
  }
  upstream.check();
  const { body, text: sent } = upstream.last();
  const images = imagesIn['openai-chat'](body);
  assert.equal(images.length, 10, 'those that fit');
  assert.equal(images.at(-1), large(12).image_url.url.split(',')[1], 'the newest is there');
  assert.equal(sent.split('[image: shown before, left out here to keep the request short]').length - 1, 3);
  assert.match(notices(turns.slice(-1))[0], /left out, because the request is over the model's context window/);
  assert.deepEqual(notices(turns.slice(0, 20)), []);
  const context = await contextOf(id);
  assert.ok(context.tokens <= 8192, `${context.tokens}`);
  assert.deepEqual(context.media_notes.map(({ effect, turn_id: turn }) => [effect, turn]), [0, 2, 4].map((i) => ['left_out', turns[i].turn_id]));
});

test('the oldest images are left out when there are over 20 MiB of media; the rest is left out after them', async () => {
  const blob = async (type, head, size) => (await (await fetch(`${server.url}/api/blobs`, {
    method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': type }, body: Buffer.concat([head, Buffer.alloc(size)]),
  })).json()).id;
  const head = Buffer.from(png, 'base64');
  const media = (kind, id) => ({ type: 'media', content: { kind, blob: id } });
  const paper = await blob('application/pdf', Buffer.from('%PDF-1.4\n'), 9 << 20);
  const first = await blob('image/png', head, 7 << 20);
  const second = await blob('image/png', head, 8 << 20);
  upstream.next({ say: 'Read.' }, { say: 'Seen.' });
  const { id } = await chat([media('file', paper), media('image', first)], { model: models.anthropic });
  const { turns } = await chat([media('image', second)], { model: models.anthropic, id });
  const content = upstream.last().body.messages.flatMap((message) => message.content);
  assert.deepEqual(content.map(({ type, text: words }) => words ?? type), ['document', '[image: shown before, left out here to keep the request short]', 'Read.', 'image']);
  assert.match(notices(turns)[0], /image: left out, because the media of the request have too many bytes\.$/);
});

// --- prompts ----------------------------------------------------------------------------------

// Another dot, of another colour.
const dot = pngOf([[blue]]);
const shown = (data, more) => dataImage(data, more);
const prompt = (more = {}) => ({
  protocol: 'structured-chat', system_prompt: 'You look at images.',
  messages: [
    { id: 'm1', role: 'user', content: 'This one?', media: [shown(png, { detail: 'low' })] },
    { id: 'm2', role: 'assistant', content: 'A dot.' },
    { id: 'm3', role: 'user', content: 'And this {{what}}?', media: [shown(dot)] },
  ],
  variables: [{ name: 'what' }],
  ...more,
});
async function keepPrompt(content) {
  const made = await server.ask('POST', '/api/prompts', { body: { name: `p${Math.random()}`, type: 'structured', content } });
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}

for (const dialect of dialectNames) {
  test(`${dialect}: the images of a prompt reach the vendor when it is run`, async () => {
    upstream.next({ say: 'Blue.' });
    const id = await keepPrompt(prompt());
    const { status, text: said } = await server.ask('POST', `/api/prompts/${id}/run`, { body: { mode: 'answer', model: models[dialect], variables: { what: 'dot' } } });
    assert.equal(status, 201, said);
    upstream.check();
    assert.deepEqual(imagesIn[dialect](upstream.last().body), [png, dot]);
    assert.match(upstream.last().text, /And this dot\?/);
  });
}

test('a session that a prompt began has its images as blobs', async () => {
  const id = await keepPrompt(prompt());
  const { json } = await server.ask('POST', `/api/prompts/${id}/run`, { body: { mode: 'session', model: 'demo/echo', variables: { what: 'dot' } } });
  const session = json.items[0].session_id;
  await settled(client, session);
  const media = (await turnsOf(session)).flatMap(({ blocks }) => blocks).filter(({ type }) => type === 'media').map(({ content }) => content);
  assert.deepEqual(media.map(({ mime, detail }) => [mime, detail]), [['image/png', 'low'], ['image/png', undefined]]);
  assert.ok(media.every(({ blob }) => /^blob_/.test(blob)));
});

test('an imported request keeps its images in the prompt, as they are or as blobs', async () => {
  const request = { model: 'gpt-4o', messages: [{ role: 'user', content: [text('Which is larger?'), shown(png, { detail: 'low' }), shown(dot)] }] };
  const found = await server.ask('POST', '/api/prompts/import', { body: { files: [{ path: 'which.json', text: JSON.stringify(request) }] } });
  assert.deepEqual(found.json.problems, []);
  const { json: { content } } = await server.ask('GET', `/api/prompts/${found.json.items[0].prompt_id}/versions/1`);
  const chatNow = typeof content === 'string' ? JSON.parse(content) : content;
  assert.deepEqual(chatNow.messages[0].media, request.messages[0].content.slice(1));
  upstream.next({ say: 'The second.' });
  await server.ask('POST', `/api/prompts/${found.json.items[0].prompt_id}/run`, { body: { mode: 'answer', model: models.gemini } });
  assert.deepEqual(imagesIn.gemini(upstream.last().body), [png, dot]);
  const exported = await server.ask('GET', `/api/prompts/${found.json.items[0].prompt_id}/export?format=openai-chat`);
  assert.ok(exported.text.includes(png) && exported.text.includes(dot), exported.text);
});

test('--media store makes blobs of the links of an imported prompt', async () => {
  const files = http.createServer((_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(dot, 'base64')));
  await new Promise((resolve) => files.listen(0, '127.0.0.1', resolve));
  const { port } = files.address();
  const storing = await serve({ env: upstream.env(), args: ['--allow-fetch', `127.0.0.1:${port}`] });
  const request = { model: 'gpt-4o', messages: [{ role: 'user', content: [text('What?'), { type: 'image_url', image_url: { url: `http://127.0.0.1:${port}/a.png` } }] }] };
  const found = await storing.ask('POST', '/api/prompts/import', { body: { media: 'store', files: [{ path: 'what.json', text: JSON.stringify(request) }] } });
  assert.deepEqual(found.json.problems, [], found.text);
  const id = found.json.items[0].prompt_id;
  const { text: version } = await storing.ask('GET', `/api/prompts/${id}/versions/1`);
  assert.match(version, /\/api\/blobs\/blob_/);
  for (const dialect of dialectNames) {
    upstream.reset();
    upstream.next({ say: 'Blue.' });
    const { status, text: said } = await storing.ask('POST', `/api/prompts/${id}/run`, { body: { mode: 'answer', model: models[dialect] } });
    assert.equal(status, 201, said);
    assert.deepEqual(imagesIn[dialect](upstream.last().body), [dot]);
  }
  upstream.next({ say: 'Blue.' });
  const answer = await storing.ask('POST', '/v1/responses', { body: { model: models.anthropic, prompt: { id } } });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(imagesIn.anthropic(upstream.last().body), [dot]);
  files.close();
});

test('/v1/responses with a prompt sends its images, and so does an answer that goes on from it', async () => {
  const id = await keepPrompt(prompt());
  for (const dialect of dialectNames) {
    upstream.reset();
    upstream.next({ say: 'Blue.' }, { say: 'Still.' });
    const answer = await server.ask('POST', '/v1/responses', { body: { model: models[dialect], prompt: { id, variables: { what: 'dot' } } } });
    assert.equal(answer.status, 200, answer.text);
    upstream.check();
    assert.deepEqual(imagesIn[dialect](upstream.last().body), [png, dot], dialect);
    const next = await server.ask('POST', '/v1/responses', { body: { model: models[dialect], previous_response_id: answer.json.id, input: 'Sure?' } });
    assert.equal(next.status, 200, next.text);
    assert.deepEqual(imagesIn[dialect](upstream.last().body), [png, dot], dialect);
  }
});

test('a task sends the images of its prompt', async () => {
  const id = await keepPrompt(prompt({ config: { model: models['openai-chat'] } }));
  upstream.next({ say: 'Blue.' });
  const task = await server.ask('POST', '/api/scheduled-tasks', { body: { title: 't', cron: '0 0 1 1 *', prompt_ref: { prompt_id: id, variables: { what: 'dot' } } } });
  assert.equal(task.status, 201, task.text);
  await server.ask('POST', `/api/scheduled-tasks/${task.json.id}/run`, { body: {} });
  await until(() => upstream.last() && imagesIn['openai-chat'](upstream.last().body).length === 2, () => JSON.stringify(upstream.last()?.body));
  assert.deepEqual(imagesIn['openai-chat'](upstream.last().body), [png, dot]);
});

test('a session that starts from a prompt has the images of its examples', async () => {
  const id = await keepPrompt(prompt({ variables: undefined, messages: prompt().messages.slice(0, 2) }));
  const { id: session } = await client.createSession({ model: models.anthropic, solution_id: id });
  upstream.next({ say: 'Blue.' });
  await chat('And now?', { id: session });
  assert.deepEqual(imagesIn.anthropic(upstream.last().body), [png]);
  const only = await keepPrompt({ protocol: 'structured-chat', messages: [prompt().messages[0]] });
  const refused = await server.ask('POST', '/api/sessions', { body: { model: 'demo/echo', solution_id: only } });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /has media in its only message/);
});

test('parley run sends the images of a file', async () => {
  const path = join(directory, 'images.json');
  writeFileSync(path, JSON.stringify(prompt({ config: { model: models.anthropic } })));
  upstream.next({ say: 'Blue.' });
  const { code, err } = await new Promise((resolve) => {
    execFile(parley, ['run', path, '--var', 'what=dot', '--data', server.data], (error, out, said) => resolve({ code: error?.code ?? 0, out, err: said }));
  });
  assert.equal(code, 0, err);
  assert.deepEqual(imagesIn.anthropic(upstream.last().body), [png, dot]);
});

test('media of a prompt are held to the schema', async () => {
  const wrong = [5, [5], [{ type: 'text', text: 'a' }], [{ type: 'image_url', image_url: { url: 7 } }], [shown(png, { rotation: 45 })], [shown(png, { detial: 'low' })],
    [{ type: 'input_audio', input_audio: { data: 'AA==' } }], [{ type: 'image_url' }], [{ image_url: { url: 'https://example.com/a.png' } }]];
  for (const media of wrong) {
    const { status, text: said } = await server.ask('POST', '/api/prompts', {
      body: { name: 'wrong', type: 'structured', content: { protocol: 'structured-chat', messages: [{ id: 'a', role: 'user', content: 'x', media }] } },
    });
    assert.equal(status, 400, JSON.stringify(media));
    assert.match(said, /media/);
  }
  const id = await keepPrompt({ protocol: 'structured-chat', messages: [{ id: 'a', role: 'user', content: 'x', media: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,!!!' } }] }] });
  const { status, text: said } = await server.ask('POST', `/api/prompts/${id}/run`, { body: { mode: 'answer', model: 'demo/echo' } });
  assert.equal(status, 400, said);
  assert.match(said, /base64/);
});
