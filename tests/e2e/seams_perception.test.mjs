// Images, sound and files in a session: from a message to the vendor, the export, the import, the share. The vendors are
// upstreams.mjs, which checks the requests with the vendors' rules.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { directory, missing } from './harness.mjs';
import { clientOf, serve, settled, Socket } from './live.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

// A PNG of one dot.
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
const pcm = Buffer.alloc(320).toString('base64');
const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
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

const api = async (method, path, body, key = server.key) => {
  const answer = await fetch(`${server.url}${path}`, {
    method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json().catch(() => null) };
};
async function chat(message, { model = 'demo/echo', id } = {}) {
  const session = id ?? (await client.createSession({ model })).id;
  await client.chat(session, { message });
  await settled(client, session);
  const { turns } = await client.messages(session, { limit: '100' });
  return { id: session, turns };
}
const mediaOf = (turn) => turn.blocks.filter((block) => block.type === 'media').map((block) => block.content);
const image = (more = {}) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, ...more } });
const text = (words) => ({ type: 'text', text: words });

test('an image in a message is kept once as a blob, and the turn names it', async () => {
  const { turns: [turn] } = await chat([text('What is this?'), image({ detail: 'low' }), image({ rotation: 90 })]);
  const [first, second] = mediaOf(turn);
  assert.equal(first.kind, 'image');
  assert.equal(first.mime, 'image/png');
  assert.equal(first.size, Buffer.from(png, 'base64').length);
  assert.equal(first.detail, 'low');
  assert.equal(second.rotation, 90);
  assert.equal(first.blob, second.blob, 'the same bytes are one blob');
  assert.ok(!JSON.stringify(turn).includes(png));
  const bytes = await fetch(`${server.url}/api/blobs/${first.blob}`, { headers: { authorization: `Bearer ${server.key}` } });
  assert.equal(Buffer.from(await bytes.arrayBuffer()).toString('base64'), png);
});

const imageIn = {
  anthropic: (body) => body.messages[0].content.find((part) => part.type === 'image')?.source.data,
  'openai-chat': (body) => body.messages.at(-1).content.find((part) => part.type === 'image_url')?.image_url.url.split(',')[1],
  'openai-responses': (body) => body.input.at(-1).content.find((part) => part.type === 'input_image')?.image_url.split(',')[1],
  gemini: (body) => body.contents[0].parts.find((part) => part.inlineData)?.inlineData.data,
};

for (const dialect of dialectNames) {
  test(`${dialect}: an image of a session reaches the vendor as a real part`, async () => {
    upstream.next({ say: 'A dot.' });
    await chat([text('What is this?'), image()], { model: models[dialect] });
    upstream.check();
    assert.equal(imageIn[dialect](upstream.last().body), png);
  });

  test(`${dialect}: the time of a frame is said before the frame`, async () => {
    upstream.next({ say: 'A dot.' });
    await chat([text('When?'), { ...image(), video_metadata: { video_id: 'cam', timestamp_sec: 12.5, frame_index: 300 } }], { model: models[dialect] });
    upstream.check();
    assert.match(upstream.last().text, /\[Frame at 12\.5 s of the video cam, frame 300\]/);
  });

  test(`${dialect}: a message names a blob that was uploaded before`, async () => {
    const uploaded = await fetch(`${server.url}/api/blobs?name=dot.png`, {
      method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'image/png' }, body: Buffer.from(png, 'base64'),
    });
    const { id: blob } = await uploaded.json();
    for (const part of [{ type: 'media', content: { kind: 'image', blob } }, { type: 'image_url', image_url: { url: `/api/blobs/${blob}` } }]) {
      upstream.next({ say: 'A dot.' });
      const { turns: [turn] } = await chat([text('This?'), part], { model: models[dialect] });
      assert.equal(mediaOf(turn)[0].mime, 'image/png');
      assert.equal(imageIn[dialect](upstream.last().body), png);
    }
  });
}

test('raw samples reach OpenAI as a WAV file and Gemini with their rate', async () => {
  const sound = { type: 'input_audio', input_audio: { data: pcm, format: 'pcm16', sample_rate: 8000 } };
  upstream.next({ say: 'Silence.' }, { say: 'Silence.' });
  const { turns: [turn] } = await chat([text('Hear this.'), sound], { model: models['openai-chat'] });
  assert.equal(mediaOf(turn)[0].sample_rate, 8000);
  const part = upstream.last().body.messages.at(-1).content.find(({ type }) => type === 'input_audio').input_audio;
  const wav = Buffer.from(part.data, 'base64');
  assert.equal(part.format, 'wav');
  assert.equal(wav.toString('latin1', 0, 4), 'RIFF');
  assert.equal(wav.readUInt32LE(24), 8000);
  assert.equal(wav.length, 44 + 320);
  await chat([text('Hear this.'), sound], { model: models.gemini });
  assert.equal(upstream.last().body.contents[0].parts.find(({ inlineData }) => inlineData).inlineData.mimeType, 'audio/pcm;rate=8000');
});

test('a file keeps its name on the way', async () => {
  upstream.next({ say: 'Empty.' });
  const { turns: [turn] } = await chat([text('Read.'), { type: 'file', file: { filename: 'plan.pdf', file_data: `data:application/pdf;base64,${pdf}` } }],
    { model: models['openai-chat'] });
  assert.deepEqual([mediaOf(turn)[0].kind, mediaOf(turn)[0].name, mediaOf(turn)[0].mime], ['file', 'plan.pdf', 'application/pdf']);
  const { file } = upstream.last().body.messages.at(-1).content.find(({ type }) => type === 'file');
  assert.equal(file.filename, 'plan.pdf');
  assert.ok(file.file_data.endsWith(pdf));
});

test('a socket takes the same message as REST', async () => {
  const { id } = await client.createSession({ model: 'demo/echo' });
  const socket = await new Socket(server).opened;
  const answer = await socket.ask('chat:send', { session_id: id, message: [text('look'), image()] });
  assert.ok(!answer.error, JSON.stringify(answer));
  await settled(client, id);
  const { turns } = await client.messages(id, { limit: '10' });
  assert.equal(mediaOf(turns[0])[0].mime, 'image/png');
  socket.close();
});

test('media that cannot be kept are refused, and say which part', async () => {
  const { id } = await client.createSession({ model: 'demo/echo' });
  const wrong = [
    [{ type: 'image_url', image_url: { url: 5 } }, /\/message\/0/],
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,!!!' } }, /base64/],
    [{ type: 'image_url', image_url: { url: `data:image/jpeg;base64,${png}` } }, /mime/],
    [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detial: 'low' } }, /detial/],
    [{ type: 'input_audio', input_audio: { data: [], format: 'wav' } }, /\/message\/0/],
    [{ type: 'media', content: { kind: 'image', blob: 'blob_019a0000-0000-7000-8000-000000000000' } }, /no blob/],
    [{ type: 'media', content: { kind: 'smell', url: 'https://example.com/a' } }, /kind/],
    [{ type: 'media', content: { kind: 'image' } }, /blob or a URL/],
    [{ type: 'media', content: { kind: 'image', url: 'https://example.com/a', rotation: 45 } }, /rotation/],
    [{ type: 'imag_url', image_url: { url: 'https://example.com/a.png' } }, /type/],
  ];
  for (const [part, what] of wrong) {
    const { status, body } = await api('POST', `/api/sessions/${id}/chat`, { message: [part] });
    assert.equal(status, 400, JSON.stringify([part, body]));
    assert.match(JSON.stringify(body), what, JSON.stringify(part));
  }
  const { turns } = await client.messages(id, { limit: '10' });
  assert.equal(turns.length, 0);
});

test('another user\'s blob cannot be named', async () => {
  const { turns: [turn] } = await chat([image()]);
  const other = (await server.ask('POST', '/api/users', { body: { name: 'stranger' } })).json.key.plaintext;
  const { body: session } = await api('POST', '/api/sessions', { model: 'demo/echo' }, other);
  const { status, body } = await api('POST', `/api/sessions/${session.id}/chat`,
    { message: [{ type: 'media', content: { kind: 'image', blob: mediaOf(turn)[0].blob } }] }, other);
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /no blob/);
});

const named = {
  anthropic: (url) => ['/v1/messages', { model: 'M', max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, { type: 'image', source: { type: 'url', url } }] }] }],
  'openai-chat': (url) => ['/v1/chat/completions', { model: 'M', messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, { type: 'image_url', image_url: { url } }] }] }],
  'openai-responses': (url) => ['/v1/responses', { model: 'M', store: false, input: [{ role: 'user', content: [{ type: 'input_text', text: 'What?' }, { type: 'input_image', image_url: url, detail: 'auto' }] }] }],
  gemini: (url) => ['/v1beta/models/M:generateContent', { contents: [{ role: 'user', parts: [{ text: 'What?' }, { fileData: { fileUri: url, mimeType: 'image/png' } }] }] }],
};
test('a blob that a gateway request names goes to the vendor as data, in every dialect to every vendor', async () => {
  const { turns: [turn] } = await chat([image()]);
  const [{ blob }] = mediaOf(turn);
  for (const from of dialectNames) {
    for (const to of dialectNames) {
      upstream.reset();
      upstream.next({ say: 'A dot.' });
      const [path, body] = named[from](`/api/blobs/${blob}`);
      const model = models[to];
      const answer = await api('POST', path.replace('M', encodeURIComponent(model)), { ...body, ...(body.model ? { model } : {}) });
      assert.equal(answer.status, 200, `${from} -> ${to}: ${JSON.stringify(answer.body)}`);
      upstream.check();
      assert.equal(imageIn[to](upstream.last().body), png, `${from} -> ${to}`);
    }
  }
  const { status, body } = await api('POST', ...named['openai-chat']('/api/blobs/blob_019a0000-0000-7000-8000-000000000000').map((part) => (part.model ? { ...part, model: models.anthropic } : part)));
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /no blob/);
});

test('a blob is found in a request whose client escapes slashes, as PHP does', async () => {
  const { turns: [turn] } = await chat([image()]);
  const [{ blob }] = mediaOf(turn);
  for (const from of dialectNames) {
    const to = dialectNames.find((name) => name !== from);
    upstream.reset();
    upstream.next({ say: 'A dot.' });
    const [path, body] = named[from](`/api/blobs/${blob}`);
    const text = JSON.stringify({ ...body, ...(body.model ? { model: models[to] } : {}) }).replaceAll('/', '\\/');
    const answer = await fetch(server.url + path.replace('M', encodeURIComponent(models[to])),
      { method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }, body: text });
    assert.equal(answer.status, 200, `${from} -> ${to}: ${await answer.text()}`);
    assert.equal(imageIn[to](upstream.last().body), png, `${from} -> ${to}`);
  }
});

test('frames of an uploaded video are parts that a message takes', { skip: missing('ffmpeg') }, async () => {
  const path = join(directory, 'colours.mp4');
  const made = spawnSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', 'color=red:d=4:r=24:s=64x48', '-f', 'lavfi', '-i', 'sine=d=4', '-shortest', path], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const uploaded = await fetch(`${server.url}/api/blobs`, {
    method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'video/mp4' }, body: readFileSync(path),
  });
  const { id: blob } = await uploaded.json();
  const { status, body } = await api('POST', '/api/media/frames', { blob, every: '500ms', from: '1s', to: '3s', detail: 'low', sound: true });
  assert.equal(status, 200, JSON.stringify(body));
  const media = body.parts.map((part) => part.content);
  assert.deepEqual(media.map(({ kind }) => kind), ['image', 'image', 'image', 'image', 'audio']);
  assert.deepEqual(media.slice(0, 4).map(({ video_metadata: about }) => [about.timestamp_sec, about.frame_index]), [[1, 24], [1.5, 36], [2, 48], [2.5, 60]]);
  assert.ok(media.slice(0, 4).every(({ detail, mime }) => detail === 'low' && mime === 'image/jpeg'));
  assert.equal(media[4].sample_rate, 16000);
  upstream.next({ say: 'Red.' });
  await chat([text('What is shown?'), ...body.parts.slice(0, 4)], { model: models.gemini });
  upstream.check();
  assert.match(upstream.last().text, /\[Frame at 1\.5 s of the video blob_[0-9a-f-]+, frame 36\]/);
  for (const wrong of [{ blob, every: 'soon' }, { blob, from: '3s', to: '1s' }, { blob: 'blob_x' }, { blob, detail: 'huge' }, { blob, sound: 1 }, { blob, evry: '1s' }]) {
    assert.equal((await api('POST', '/api/media/frames', wrong)).status, 400, JSON.stringify(wrong));
  }
  // A list of files on the server's machine is not accepted as a video.
  const list = await fetch(`${server.url}/api/blobs`, {
    method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'video/mp4' }, body: `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nfile://${path}\n#EXT-X-ENDLIST\n`,
  });
  const stolen = await api('POST', '/api/media/frames', { blob: (await list.json()).id });
  assert.equal(stolen.status, 400, JSON.stringify(stolen.body));
  assert.doesNotMatch(stolen.body.detail, /\/tmp/);
  const noVideo = (await chat([image()])).turns[0].blocks[0].content.blob;
  const refused = await api('POST', '/api/media/frames', { blob: noVideo, from: '1m' });
  assert.equal(refused.status, 400, JSON.stringify(refused.body));
});

for (const dialect of dialectNames) {
  test(`${dialect}: an image behind a URL is an image for the vendor, not a text`, async () => {
    upstream.next({ say: 'A cat.' });
    await chat([text('What?'), { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } }], { model: models[dialect] });
    upstream.check();
    const { body, text: sent } = upstream.last();
    assert.ok(sent.includes('https://example.com/cat.png'));
    assert.ok(!/!\[|\]\(https:/.test(sent), sent);
    assert.ok(body);
  });
}

test('an export has the media as they are, and an import keeps them again', async () => {
  const { id } = await chat([text('Look.'), image({ detail: 'high', rotation: 180 }), { type: 'input_audio', input_audio: { data: pcm, format: 'pcm16', sample_rate: 8000 } }]);
  const { body: exported } = await api('GET', `/api/sessions/${id}/export?format=harmony`);
  const messages = exported.messages ?? exported;
  const parts = messages.find((message) => message.role === 'user').content;
  assert.equal(parts[1].image_url.url, `data:image/png;base64,${png}`);
  assert.deepEqual([parts[1].image_url.detail, parts[1].image_url.rotation], ['high', 180]);
  assert.deepEqual([parts[2].input_audio.data, parts[2].input_audio.sample_rate], [pcm, 8000]);
  const imported = await api('POST', '/api/sessions/import', { document: exported, from: 'harmony' });
  assert.equal(imported.status, 201, JSON.stringify(imported.body));
  const { turns } = await client.messages(imported.body.id, { limit: '10' });
  const media = mediaOf(turns.find((turn) => turn.role === 'user'));
  assert.deepEqual(media.map(({ kind, mime }) => [kind, mime]), [['image', 'image/png'], ['audio', 'audio/pcm']]);
  assert.ok(media.every(({ blob }) => blob));
  const again = await api('GET', `/api/sessions/${imported.body.id}/export?format=harmony`);
  const same = (again.body.messages ?? again.body).find((message) => message.role === 'user').content;
  assert.deepEqual(same, parts);
});

test('a share link shows the media of its session, and no other blob', async () => {
  const { id, turns: [turn] } = await chat([text('Look.'), image()]);
  const { turns: [other] } = await chat([{ type: 'file', file: { filename: 'secret.pdf', file_data: `data:application/pdf;base64,${pdf}` } }]);
  const { body: { path } } = await api('POST', `/api/sessions/${id}/share`, {});
  const get = (blob) => fetch(`${server.url}${path}/blobs/${blob}`);
  const shown = await get(mediaOf(turn)[0].blob);
  assert.equal(shown.status, 200);
  assert.equal(Buffer.from(await shown.arrayBuffer()).toString('base64'), png);
  for (const blob of [mediaOf(other)[0].blob, 'blob_x', '%22', mediaOf(turn)[0].blob.slice(0, -1)]) {
    assert.equal((await get(blob)).status, 404, blob);
  }
  await api('PATCH', `/api/sessions/${id}`, { shared: false });
  assert.equal((await get(mediaOf(turn)[0].blob)).status, 404);
});
