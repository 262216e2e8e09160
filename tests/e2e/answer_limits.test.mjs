// Small requests for very large answers: every answer has a limit, and one byte more is an error that says so.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { file, run } from './harness.mjs';
import { endsWell, serve } from './live.mjs';

const MAX_RENDERED = 16 << 20;
const N = 64; // uses of the variable

let server;
before(async () => { server = await serve(); });

const chat = (content) => ({ protocol: 'structured-chat', messages: [{ id: 'm1', role: 'user', content }] });
const document = chat('{{long}}'.repeat(N));
// The size of the document and the size of the inserted values both count.
const most = Math.floor((MAX_RENDERED - JSON.stringify(document).length) / N);

function assertRefused(answer) {
  assert.equal(answer.status, 413, answer.text.slice(0, 300));
  assert.equal(answer.json.code, 'payload_too_large');
  assert.match(answer.json.detail, /16777216 bytes.*"long" at \/messages\/0\/content.*shorter value/);
}

test('a rendered document may be as long as the limit, and not a byte longer', async () => {
  const render = (n) => server.ask('POST', '/api/render', { body: { document, variables: { long: 'x'.repeat(n) } } });
  const fits = await render(most);
  assert.equal(fits.status, 200, fits.text.slice(0, 300));
  assert.equal(fits.json.document.messages[0].content.length, N * most);
  assertRefused(await render(most + 1));
});

test('a value that grows when it is escaped counts as it is written', async () => {
  const body = { document, variables: { long: '\u0001'.repeat(Math.floor(most / 6) + 1) } };
  assertRefused(await server.ask('POST', '/api/render', { body }));
});

test('a prompt of the library has the same limit', async () => {
  const made = (await server.ask('POST', '/api/prompts', { body: { name: 'long', content: document } })).json;
  const render = (n) => server.ask('POST', `/api/prompts/${made.id}/render`, { body: { variables: { long: 'x'.repeat(n) } } });
  assert.equal((await render(most - 100)).status, 200);
  assertRefused(await render(most + 1));
});

test('a default in the document counts as well', async () => {
  const own = { ...chat('{{long}}'.repeat(N)), variables: [{ name: 'long', default: 'x'.repeat(most + 1) }] };
  assertRefused(await server.ask('POST', '/api/render', { body: { document: own } }));
});

test('the command has a limit too, and names the variable', () => {
  const path = file('long.json', JSON.stringify(chat('{{long}}'.repeat(4096))));
  const { code, out, err } = run(['render', '--var', `long=${'x'.repeat(100_000)}`, path]);
  assert.equal(code, 3);
  assert.equal(out, '');
  assert.match(err, /more than 268435456 bytes.*"long" at \/messages\/0\/content/);
});

test('a report whose pointers are much longer than the document is refused', async () => {
  // Each property of the schema that the target does not know is a loss, and its pointer contains the long key.
  const key = 'k'.repeat(200_000);
  const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, { type: 'string', contentEncoding: 'x' }]));
  const request = {
    model: 'gpt-4o', messages: [{ role: 'user', content: 'a' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { [key]: { type: 'object', properties } } } } }],
  };
  const answer = await server.ask('POST', '/api/convert', { body: { document: request, to: 'gemini', mode: 'gateway', profile: 'gemini@legacy-schema' } });
  assert.equal(answer.status, 413, answer.text.slice(0, 300));
  assert.match(answer.json.detail, /report|carry|answer/);
  const { code, err } = run(['convert', '--to', 'gemini', '--mode', 'gateway', '--profile', 'gemini@legacy-schema', '--report', '/dev/null', file('keys.json', JSON.stringify(request))]);
  assert.equal(code, 3);
  assert.match(err, /would have more than \d+ bytes/);
});

test('a carry that says the same bytes again and again makes nothing longer', async () => {
  const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'a'.repeat(50_000) }] };
  const { json } = await server.ask('POST', '/api/convert', { body: { document: request, to: 'anthropic', carry: true } });
  // The text is a reference to the target; an unknown member uses it 5,000 times.
  const [reference] = json.carry.source.match(/'~[^']+'/);
  json.carry.source = json.carry.source.replace(/\}\s*$/, `,'more'[${Array(5000).fill(reference).join(',')}]}`);
  const answer = await server.ask('POST', '/api/convert', {
    body: { document: json.document, from: 'anthropic', to: 'openai-chat', with_carry: json.carry },
  });
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  assert.deepEqual(answer.json.document.messages, request.messages);
  const made = JSON.stringify(answer.json.document).length, most = json.carry.source.length + 2 * JSON.stringify(json.document).length;
  assert.ok(made <= most, `${made} bytes of at most ${most}`);
});

test('the server ends in good order', () => endsWell(server));
