// OpenAI's own client, unchanged, on the routes other than chat: embeddings of every shape through the gateway,
// stored answers by id, models by name, and routes that the gateway lacks.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
process.env.PARLEY ??= path.join(HERE, '../../build/parley');
const { openEmbeddings } = await import('../e2e/embedding_upstream.mjs');
const { directory } = await import('../e2e/harness.mjs');
const { start } = await import('../e2e/server.mjs');

const problem = !existsSync(path.join(HERE, 'node_modules'))
  ? 'the clients are not installed: npm ci in tests/sdk (tools/install-deps test does it)'
  : Number(process.versions.node.split('.')[0]) < 20 && `the clients need Node 20 or later, this is ${process.versions.node}`;
const [OpenAI, Anthropic, Google] = problem ? [] : await Promise.all([import('openai'), import('@anthropic-ai/sdk'), import('@google/genai')]);
const skip = problem || false;

let maker; let server; let client;
before(async () => {
  if (problem) return;
  maker = await openEmbeddings();
  const home = mkdtempSync(path.join(directory, 'config-'));
  mkdirSync(path.join(home, 'parley'));
  writeFileSync(path.join(home, 'parley', 'config.yaml'), `probe: false
providers:
  open: {dialect: openai-chat, base_url: ${maker.url}}
  answers: {dialect: openai-responses, base_url: ${maker.url}}
  mine: {dialect: openai-chat, base_url: ${maker.url}, embeddings: ollama}
  google: {dialect: gemini, base_url: ${maker.url}}
`);
  server = await start({ env: { XDG_CONFIG_HOME: home } });
  client = new OpenAI.default({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
});
after(() => maker?.close());

test('embeddings, with the encoding the client chooses by itself and with each that it can be told', { skip }, async () => {
  for (const model of ['open/text', 'open/floats', 'open/sealed', 'answers/text', 'mine/text', 'google/text'])
    for (const encoding_format of [undefined, 'float', 'base64']) {
      const made = await client.embeddings.create({ model, input: ['Hello', 'you'], ...(encoding_format ? { encoding_format } : {}) });
      for (const [i, text] of ['Hello', 'you'].entries()) {
        const { embedding } = made.data[i];
        const numbers = typeof embedding === 'string' ? [...new Float32Array(new Uint8Array(Buffer.from(embedding, 'base64')).buffer)] : embedding;
        assert.equal(typeof embedding === 'string', encoding_format === 'base64', `${model} ${encoding_format}`);
        maker.vector(text).forEach((value, k) => assert.ok(Math.abs(value - numbers[k]) < 1e-6, `${model} ${encoding_format}`));
      }
      assert.ok(made.usage.total_tokens > 0);
    }
});

test('the model that needs no network', { skip }, async () => {
  const { data: [{ embedding }] } = await client.embeddings.create({ model: 'demo/embed', input: 'Hello', dimensions: 32 });
  assert.equal(embedding.length, 32);
});

test('errors are those the client knows', { skip }, async () => {
  await assert.rejects(client.embeddings.create({ model: 'demo/embed', input: [] }), OpenAI.BadRequestError);
  await assert.rejects(client.embeddings.create({ model: 'nobody/none', input: 'x' }), OpenAI.NotFoundError);
  await assert.rejects(client.embeddings.create({ model: 'google/status-429', input: 'x' }), OpenAI.RateLimitError);
  await assert.rejects(client.responses.retrieve('resp_none'), OpenAI.NotFoundError);
  await assert.rejects(client.images.generate({ prompt: 'a cat' }), (err) => err instanceof OpenAI.NotFoundError && /does not offer POST \/v1\/images\/generations/.test(err.message));
  const claude = new Anthropic.default({ baseURL: server.url, apiKey: server.key, maxRetries: 0 });
  await assert.rejects(claude.messages.batches.list(), (err) => err instanceof Anthropic.NotFoundError && /does not offer GET \/v1\/messages\/batches/.test(err.message));
  const google = new Google.GoogleGenAI({ apiKey: server.key, httpOptions: { baseUrl: server.url } });
  await assert.rejects(google.models.embedContent({ model: 'demo/embed', contents: 'x' }), (err) => err instanceof Google.ApiError && /does not offer the method/.test(err.message));
  await assert.rejects((async () => { for await (const _ of await google.files.list()) assert.fail('there are no files'); })(), (err) => err instanceof Google.ApiError && /does not offer GET \/v1beta\/files/.test(err.message));
});

test('a stored answer: fetched, its input listed by pages, deleted', { skip }, async () => {
  const made = await client.responses.create({ model: 'demo/echo', input: Array.from({ length: 45 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `message ${i}` })) });
  const again = await client.responses.retrieve(made.id);
  assert.deepEqual(JSON.parse(JSON.stringify(again)), JSON.parse(JSON.stringify(made)));
  assert.equal(again.output_text, 'message 44');
  const texts = [];
  for await (const item of client.responses.inputItems.list(made.id, { order: 'asc', limit: 10 })) texts.push(item.content[0].text);
  assert.deepEqual(texts, Array.from({ length: 45 }, (_, i) => `message ${i}`));
  const newest = await client.responses.inputItems.list(made.id);
  assert.deepEqual([newest.data.length, newest.data[0].content[0].text, newest.has_more], [20, 'message 44', true]);
  await client.responses.delete(made.id);
  await assert.rejects(client.responses.retrieve(made.id), OpenAI.NotFoundError);
});

test('a model by its name, with slashes, for every client', { skip }, async () => {
  for (const name of ['demo/echo', 'open/some/big']) {
    const model = await client.models.retrieve(name);
    assert.deepEqual([model.id, model.object], [name, 'model']);
    assert.ok(model.created > 1_700_000_000);
    const claude = await new Anthropic.default({ baseURL: server.url, apiKey: server.key }).models.retrieve(name);
    assert.deepEqual([claude.id, claude.type], [name, 'model']);
    const google = await new Google.GoogleGenAI({ apiKey: server.key, httpOptions: { baseUrl: server.url } }).models.get({ model: `models/${name}` });
    assert.equal(google.name, `models/${name}`);
  }
  const pages = [];
  for await (const model of new Anthropic.default({ baseURL: server.url, apiKey: server.key }).models.list({ limit: 2 })) pages.push(model.id);
  assert.ok(pages.length > 3 && new Set(pages).size === pages.length);
});
