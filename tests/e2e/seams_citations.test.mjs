// Citations (seed 001, A.4): a vendor's citations are a citation_map with anchors in sessions, exports and conversions,
// and become the vendor's own form again if it has one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { run } from './harness.mjs';
import { clientOf, serve, settled, textOf } from './live.mjs';
import { openUpstream } from './upstreams.mjs';

const key = 'sk-secret-0123456789abcdef';
const sse = (...events) => events.map((data) =>
  `${data.type ? `event: ${data.type}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('');

const location = { type: 'char_location', cited_text: 'The sky was blue.', document_index: 0, document_title: 'Sky', start_char_index: 3, end_char_index: 20 };
const annotation = { type: 'url_citation', start_index: 0, end_index: 4, url: 'https://x.example/a', title: 'X' };
const { type: nothing, ...bare } = annotation;
const fileCitation = { type: 'file_citation', file_id: 'file-1', filename: 'n.txt', index: 8 };
const message = (content) => ({ type: 'message', id: 'msg_a', status: 'completed', role: 'assistant', content });
const cited = { type: 'output_text', text: 'Blue sky', annotations: [annotation, fileCitation], logprobs: [] };
const response = (status, output) => ({ id: 'resp_1', object: 'response', created_at: 1, status, model: 'g', output });
const place = { item_id: 'msg_a', output_index: 0, content_index: 0 };
// The deltas of an answer with citations; the caller gives the data that later events repeat.
const citing = (annotations, added) => sse(
  { type: 'response.created', response: response('in_progress', []) },
  { type: 'response.output_item.added', output_index: 0, item: { ...message([]), status: 'in_progress' } },
  { type: 'response.content_part.added', ...place, part: { ...cited, text: '', annotations: [] } },
  { type: 'response.output_text.delta', ...place, delta: 'Blue' }, { type: 'response.output_text.delta', ...place, delta: ' sky' },
  ...added.map((it, annotation_index) => ({ type: 'response.output_text.annotation.added', ...place, annotation_index, annotation: it })),
  { type: 'response.output_text.done', ...place, text: 'Blue sky' },
  { type: 'response.content_part.done', ...place, part: { ...cited, annotations } },
  { type: 'response.output_item.done', output_index: 0, item: message([{ ...cited, annotations }]) },
  { type: 'response.completed', response: response('completed', [message([{ ...cited, annotations }])]) });
const chunks = [{ web: { uri: 'https://b.example', title: 'B' } }, { web: { uri: 'https://p.example', title: 'P' } }];

// One answer with citations for each vendor: streamed, whole, and the expected content.
const vendors = {
  anthropic: {
    model: 'anthropic/claude-sonnet-4-5',
    stream: sse(
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It is blue.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: location } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' }),
    whole: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [{ type: 'text', text: 'It is blue.', citations: [location] }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 5 } },
    text: 'It is blue.<cite id="cit_1"/>', entry: { source_type: 'document', source_name: 'Sky', location: { text_snippet: 'The sky was blue.' } },
  },
  'openai-chat': {
    model: 'openai-chat/gpt-5',
    stream: sse(...[{ role: 'assistant', content: 'Blue' }, { content: ' sky' }, { annotations: [{ type: 'url_citation', url_citation: bare }] }]
      .map((delta) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'g', choices: [{ index: 0, delta }] })),
      { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'g', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, '[DONE]'),
    whole: { id: 'c', object: 'chat.completion', created: 1, model: 'g', choices: [{ index: 0, message: { role: 'assistant', content: 'Blue sky', annotations: [{ type: 'url_citation', url_citation: bare }] }, finish_reason: 'stop' }] },
    text: 'Blue sky<cite id="cit_1"/>', entry: { source_type: 'web_search', source_name: 'X', url: annotation.url },
  },
  'openai-responses': {
    model: 'openai-responses/gpt-5',
    stream: citing([annotation, fileCitation], [annotation, fileCitation]),
    whole: response('completed', [message([cited])]),
    text: 'Blue sky<cite id="cit_1"/><cite id="cit_2"/>', entry: { source_type: 'web_search', source_name: 'X', url: annotation.url },
  },
  gemini: {
    model: 'gemini/gemini-2.5-pro',
    stream: sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'Berlin is big.' }] }, index: 0 }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: ' Paris too.' }] }, finishReason: 'STOP', index: 0, groundingMetadata: { groundingChunks: chunks } }] }),
    whole: { candidates: [{ content: { role: 'model', parts: [{ text: 'Berlin is big. Paris too.' }] }, finishReason: 'STOP', index: 0, groundingMetadata: { groundingChunks: chunks, groundingSupports: [{ segment: { startIndex: 0, endIndex: 14, text: 'Berlin is big.' }, groundingChunkIndices: [0], confidenceScores: [0.5] }, { segment: { endIndex: 25 }, groundingChunkIndices: [1] }] } }] },
    text: 'Berlin is big. Paris too.<cite id="cit_1"/><cite id="cit_2"/>',
    entry: { source_type: 'web_search', source_name: 'B', url: 'https://b.example' },
  },
};

let upstream;
let server;
let client;
let dir;
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cite-'));
  upstream = await openUpstream({ key });
  server = await serve({ env: upstream.env() });
  client = clientOf(server);
});
beforeEach(() => upstream.reset());
after(() => { upstream.close(); rmSync(dir, { recursive: true }); });

const holds = (entry, wanted) => { for (const [name, value] of Object.entries(wanted)) assert.deepEqual(entry[name], value, name); };
// Every anchor has its entry, and parley cite resolves it.
function resolves(document, n) {
  const file = join(dir, 'document.json');
  writeFileSync(file, JSON.stringify(document));
  const found = JSON.parse(run(['cite', '--json', file]).out);
  const cites = found.citations ?? found;
  assert.equal(cites.length, n, JSON.stringify(found));
  assert.ok(cites.every(({ resolved }) => resolved), JSON.stringify(found));
}
const convert = (from, to, document, ...more) =>
  JSON.parse(run(['convert', '--from', from, '--to', to, ...more, '-'], { input: JSON.stringify(document) }).out);
const messagesOf = (document) => document.messages ?? document;

for (const [dialect, { model, stream, whole, text, streamed = text, entry }] of Object.entries(vendors)) {
  test(`${dialect}: an answer that cites is cited in the session, its export and its import`, async () => {
    upstream.next({ raw: stream });
    const { id } = await client.createSession({ model });
    await client.chat(id, { message: 'what?' });
    await settled(client, id);
    const turn = (await client.messages(id)).turns.at(-1);
    assert.equal(turn.status, 'completed', JSON.stringify(turn));
    assert.equal(textOf(turn), streamed);
    holds(turn.metadata.citation_map.cit_1, entry);
    // Google's whole answer has details of the segments that the stream above lacks.
    const [{ metadata }] = convert(dialect, 'turns', whole, '--kind', 'response');
    if (dialect !== 'gemini') assert.deepEqual(turn.metadata.citation_map, metadata.citation_map);
    const document = await (await client.request('GET', `/api/sessions/${id}/export?format=harmony`)).json();
    resolves(document, Object.keys(turn.metadata.citation_map).length);
    const imported = await (await client.request('POST', '/api/sessions/import', { format: 'harmony', document })).json();
    const copy = (await client.messages(imported.id)).turns.at(-1);
    assert.equal(textOf(copy), streamed);
    assert.deepEqual(copy.metadata.citation_map, turn.metadata.citation_map);
  });

  for (const to of ['harmony', 'turns'])
    test(`${dialect}: a whole answer that cites is said so in ${to}`, () => {
      const made = convert(dialect, to, whole, '--kind', 'response');
      const [{ metadata, content, blocks }] = made;
      assert.equal(content ? content[0].text : blocks[0].content, text);
      holds(metadata.citation_map.cit_1, entry);
      if (to === 'harmony') resolves(made, Object.keys(metadata.citation_map).length);
    });
}

test('openai-responses: annotations that only the whole part repeats are cited, and those said twice once', async () => {
  for (const stream of [citing([annotation, fileCitation], []), citing([], [annotation, fileCitation]), citing([annotation, fileCitation], [annotation, fileCitation])]) {
    upstream.next({ raw: stream });
    const { id } = await client.createSession({ model: vendors['openai-responses'].model });
    await client.chat(id, { message: 'what?' });
    await settled(client, id);
    const turn = (await client.messages(id)).turns.at(-1);
    assert.equal(textOf(turn), vendors['openai-responses'].text);
    assert.deepEqual(Object.keys(turn.metadata.citation_map), ['cit_1', 'cit_2']);
    assert.equal(turn.metadata.citation_map.cit_2.source_name, 'n.txt');
  }
});

test('what came from anthropic goes back there as it was, in a conversion and in the next request', async () => {
  const harmony = convert('anthropic', 'harmony', vendors.anthropic.whole, '--kind', 'response');
  const back = convert('harmony', 'anthropic', harmony);
  assert.equal(back.messages[0].content[0].text, 'It is blue.');
  assert.deepEqual(back.messages[0].content[0].citations, [location]);
  upstream.next({ raw: vendors.anthropic.stream }, { say: 'Yes.' });
  const { id } = await client.createSession({ model: vendors.anthropic.model });
  await client.chat(id, { message: 'what?' });
  await settled(client, id);
  await client.chat(id, { message: 'sure?' });
  await settled(client, id);
  const said = upstream.last().body.messages.find(({ role }) => role === 'assistant').content[0];
  assert.equal(said.text, 'It is blue.');
  assert.deepEqual(said.citations, [location]);
});

test('an address goes to openai-responses as an annotation, with its place', () => {
  const harmony = convert('openai-chat', 'harmony', vendors['openai-chat'].whole, '--kind', 'response');
  const [{ content: [part] }] = convert('harmony', 'openai-responses', harmony).input;
  assert.equal(part.text, 'Blue sky');
  assert.deepEqual(part.annotations, [annotation]);
});

test('a target without a shape keeps the anchors in the text, and the report names the map', () => {
  const harmony = convert('openai-chat', 'harmony', vendors['openai-chat'].whole, '--kind', 'response');
  const file = join(dir, 'report.json');
  const made = convert('harmony', 'gemini', harmony, '--report', file);
  assert.equal(made.contents[0].parts[0].text, vendors['openai-chat'].text);
});

test('a context_block is read where the metadata has no map', () => {
  const document = [{ role: 'assistant', content: 'Yes <cite id="c"/>.', context_block: { citation_map: { c: { source_type: 'pdf_document', source_id: 'd', location: { page_number: 4 } } } } }];
  assert.equal(run(['detect', '-'], { input: JSON.stringify(document) }).out.trim(), 'harmony');
  resolves(document, 1);
  const [turn] = convert('harmony', 'turns', document);
  assert.deepEqual(turn.metadata.citation_map, document[0].context_block.citation_map);
  assert.ok(messagesOf(document).length);
});
