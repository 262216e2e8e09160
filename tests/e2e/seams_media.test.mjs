// Images on every plane: results of a client's tools, rotations, what is left out, prompts. The vendors are upstreams.mjs,
// which holds what it is sent to their rules.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
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

// A session whose model called the camera; the id of the call that waits.
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
