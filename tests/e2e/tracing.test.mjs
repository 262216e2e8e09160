// OpenTelemetry: spans over OTLP/HTTP in JSON, to a collector that decodes them: their links from request to turn,
// model call, tool and commit; a gateway call with a fallback; sampling; a collector that is down.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openModels, until, UPSTREAM_KEY } from './gateway_upstream.mjs';
import { directory, parley } from './harness.mjs';
import { start } from './server.mjs';
import { dialectNames } from './upstreams.mjs';

const NAMES = new Set(['traceId', 'spanId', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes', 'status']);

// Decodes a request in OTLP's JSON encoding (opentelemetry-proto, trace/v1); returns each span with its attributes as a map.
function decode(body) {
  const valueOf = ({ stringValue, intValue }) => {
    if (stringValue !== undefined) { assert.equal(typeof stringValue, 'string'); return stringValue; }
    assert.match(intValue, /^-?\d+$/);
    return Number(intValue);
  };
  const mapOf = (attributes) => {
    assert.equal(new Set(attributes.map(({ key }) => key)).size, attributes.length);
    return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
  };
  assert.deepEqual(Object.keys(body), ['resourceSpans']);
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const about = mapOf(resource.attributes);
    assert.equal(about['service.name'], 'parley');
    assert.match(about['service.instance.id'], /^[0-9a-f]{32}$/);
    return scopeSpans.flatMap(({ scope, spans }) => {
      assert.equal(scope.name, 'parley');
      return spans.map((span) => {
        for (const name of Object.keys(span)) assert.ok(NAMES.has(name), name);
        assert.match(span.traceId, /^[0-9a-f]{32}$/);
        assert.match(span.spanId, /^[0-9a-f]{16}$/);
        if (span.parentSpanId !== undefined) assert.match(span.parentSpanId, /^[0-9a-f]{16}$/);
        assert.ok([1, 2, 3].includes(span.kind));
        assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
        assert.ok(BigInt(span.startTimeUnixNano) > 1_700_000_000_000_000_000n);
        return { ...span, at: mapOf(span.attributes) };
      });
    });
  });
}

async function openCollector() {
  const collector = { spans: [], requests: [], status: 200 };
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    collector.requests.push({ path: request.url, headers: request.headers, text });
    if (collector.status === 200) collector.spans.push(...decode(JSON.parse(text)));
    response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  collector.url = `http://127.0.0.1:${server.address().port}`;
  collector.of = (traceId) => collector.spans.filter((span) => span.traceId === traceId);
  collector.close = () => { server.closeAllConnections(); server.close(); };
  return collector;
}

function settings(up, more) {
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  const providers = dialectNames.map((name) => `  up-${name}: {dialect: ${name}, base_url: ${up.url}, key_env: UPSTREAM_KEY}\n`).join('');
  writeFileSync(join(home, 'parley', 'config.yaml'), `probe: false\n${more}providers:\n${providers}aliases:\n  sure: [up-anthropic/status-503, up-gemini/text]\n`);
  return { XDG_CONFIG_HOME: home, UPSTREAM_KEY };
}

const SECRET = 'Bearer collector-secret-123456';
const WORDS = 'xylophone-prompt-words';
let up; let collector; let server;
before(async () => {
  up = await openModels();
  collector = await openCollector();
  const file = join(mkdtempSync(join(directory, 'otlp-')), 'headers');
  writeFileSync(file, `# of the collector\nAuthorization: ${SECRET}\nX-Team: blue\n`);
  chmodSync(file, 0o600);
  server = await start({ env: settings(up, `otlp_endpoint: ${collector.url}\notlp_headers_file: ${file}\n`) });
});
after(async () => { collector.close(); await up.close(); });

const hex = (n) => Array.from({ length: n }, () => Math.floor(Math.random() * 16).toString(16)).join('');
const context = (flags = '01') => ({ traceId: `1${hex(31)}`, spanId: `1${hex(15)}`, flags });
const headerOf = ({ traceId, spanId, flags }) => ({ traceparent: `00-${traceId}-${spanId}-${flags}` });
const named = (spans, name) => spans.filter((span) => span.name === name);
const one = (spans, name) => { const found = named(spans, name); assert.equal(found.length, 1, `${name}: ${JSON.stringify(spans.map((span) => span.name))}`); return found[0]; };

describe('spans', () => {
  test('of a chat with a tool hang together: request, turn, model calls, tool, commits', async () => {
    const asked = context();
    const { id } = (await server.ask('POST', '/api/sessions', { body: { model: 'demo/echo' } })).json;
    const said = await server.raw('POST', `/api/sessions/${id}/chat`, { body: { message: `#!demo\nsay Let me look.\ncall clock {}\n---\nsay ${WORDS}` }, headers: headerOf(asked) });
    assert.ok(said.status < 300, said.text);
    await until(async () => (await server.ask('GET', `/api/sessions/${id}`)).json.status === 'completed', 'the turn is over');
    const spans = await until(() => { const all = collector.of(asked.traceId); return named(all, 'invoke_agent parley').length && all; }, 'the spans are there');
    const request = one(spans, 'POST /api/sessions/{id}/chat');
    assert.equal(request.parentSpanId, asked.spanId);
    assert.equal(request.kind, 2);
    assert.deepEqual([request.at['http.request.method'], request.at['http.route'], request.at['http.response.status_code']], ['POST', '/api/sessions/{id}/chat', said.status]);
    assert.ok(said.headers.traceparent.includes(request.spanId));
    const turn = one(spans, 'invoke_agent parley');
    assert.equal(turn.parentSpanId, request.spanId);
    assert.deepEqual([turn.at['gen_ai.operation.name'], turn.at['gen_ai.conversation.id']], ['invoke_agent', id]);
    const calls = named(spans, 'chat demo/echo');
    assert.equal(calls.length, 2);
    for (const call of calls) {
      assert.equal(call.parentSpanId, turn.spanId);
      assert.deepEqual([call.kind, call.at['gen_ai.operation.name'], call.at['gen_ai.request.model'], call.at['gen_ai.provider.name']], [3, 'chat', 'demo/echo', 'demo']);
      assert.ok(call.at['gen_ai.usage.output_tokens'] >= 0);
    }
    const tool = one(spans, 'execute_tool clock');
    assert.equal(tool.parentSpanId, turn.spanId);
    assert.deepEqual([tool.at['gen_ai.operation.name'], tool.at['gen_ai.tool.name']], ['execute_tool', 'clock']);
    assert.ok(tool.at['gen_ai.tool.call.id']);
    const commits = named(spans, 'commit');
    assert.ok(commits.length >= 2);
    for (const commit of commits) assert.ok([turn.spanId, request.spanId].includes(commit.parentSpanId));
    // The span of a turn contains the spans of its parts.
    for (const part of [...calls, tool]) assert.ok(BigInt(part.startTimeUnixNano) >= BigInt(turn.startTimeUnixNano) && BigInt(part.endTimeUnixNano) <= BigInt(turn.endTimeUnixNano));
    assert.equal(new Set(spans.map((span) => span.spanId)).size, spans.length);
    for (const span of spans) assert.deepEqual(span.status, {});
  });

  test('of a gateway call with a fallback: one for each model, and the vendor has its id', async () => {
    const asked = context();
    const before = up.requests.length;
    const { status, text } = await server.raw('POST', '/v1/chat/completions', { body: { model: 'sure', messages: [{ role: 'user', content: WORDS }] }, headers: headerOf(asked) });
    assert.equal(status, 200, text);
    const spans = await until(() => { const all = collector.of(asked.traceId); return all.length >= 3 && all; }, 'three spans');
    assert.equal(spans.length, 3);
    const request = one(spans, 'POST /v1/chat/completions');
    assert.equal(request.parentSpanId, asked.spanId);
    const failed = one(spans, 'chat status-503'), good = one(spans, 'generate_content text');
    assert.deepEqual([failed.parentSpanId, good.parentSpanId], [request.spanId, request.spanId]);
    assert.deepEqual([failed.status.code, failed.at['error.type'], failed.at['http.response.status_code'], failed.at['gen_ai.provider.name']], [2, '503', 503, 'up-anthropic']);
    assert.deepEqual([good.status.code, good.at['gen_ai.usage.input_tokens'], good.at['gen_ai.usage.output_tokens'], good.at['parley.model']], [undefined, 11, 7, 'sure']);
    assert.ok(BigInt(failed.endTimeUnixNano) <= BigInt(good.startTimeUnixNano));
    assert.deepEqual(up.requests.slice(before).map(({ headers }) => headers.traceparent), [failed, good].map(({ spanId }) => `00-${asked.traceId}-${spanId}-01`));
  });

  test('of embeddings, streams and a client that begins no trace', async () => {
    const before = collector.spans.length;
    const made = await server.raw('POST', '/v1/embeddings', { body: { model: 'demo/embed', input: 'x' } });
    const traceId = made.headers.traceparent.split('-')[1];
    const streamed = await server.raw('POST', '/v1/messages', { body: { model: 'up-openai-chat/text', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'x' }] } });
    const other = streamed.headers.traceparent.split('-')[1];
    await until(() => collector.of(traceId).length === 2 && collector.of(other).length === 2, () => `two each: ${JSON.stringify(collector.spans.slice(before))}`);
    const root = one(collector.of(traceId), 'POST /v1/embeddings');
    assert.equal(root.parentSpanId, undefined);
    assert.equal(one(collector.of(traceId), 'embeddings demo/embed').parentSpanId, root.spanId);
    const call = one(collector.of(other), 'chat text');
    assert.deepEqual([call.at['gen_ai.usage.output_tokens'], call.parentSpanId], [7, one(collector.of(other), 'POST /v1/messages').spanId]);
  });

  test('are not told where the client says so', async () => {
    const silent = context('00'), loud = context('01');
    await server.raw('GET', '/v1/models', { headers: headerOf(silent) });
    await server.raw('GET', '/v1/models', { headers: headerOf(loud) });
    await until(() => collector.of(loud.traceId).length, 'the other is told');
    assert.equal(collector.of(silent.traceId).length, 0);
  });

  test('have nothing in them that was said, and go with their headers', () => {
    for (const { path, headers, text } of collector.requests) {
      assert.equal(path, '/v1/traces');
      assert.deepEqual([headers.authorization, headers['x-team'], headers['content-type']], [SECRET, 'blue', 'application/json']);
      assert.ok(!text.includes(WORDS) && !text.includes(server.key) && !text.includes(UPSTREAM_KEY));
    }
    assert.ok(collector.requests.length);
  });
});

test('a share of the traces is told, the same for all of a trace', async () => {
  const none = await openCollector();
  const quiet = await start({ env: settings(up, `otlp_endpoint: ${none.url}/v1/traces\notlp_sample_percent: 0\n`) });
  const loud = context();
  for (let i = 0; i < 5; i++) assert.match((await quiet.raw('GET', '/v1/models')).headers.traceparent, /-00$/);
  await quiet.raw('GET', '/v1/models', { headers: headerOf(loud) });
  await until(() => none.spans.length, 'one is told');
  assert.deepEqual(none.spans.map(({ traceId }) => traceId), [loud.traceId]);
  await quiet.stop();
  none.close();
});

test('a collector that is away or refuses holds nobody up, and what it does not get is counted', async () => {
  const bad = await openCollector();
  bad.status = 400;
  const lone = await start({ env: settings(up, `otlp_endpoint: ${bad.url}\n`) });
  const dropped = async () => Number((await lone.raw('GET', '/metrics')).text.match(/^parley_spans_dropped_total (\d+)$/m)[1]);
  for (let i = 0; i < 3; i++) assert.equal((await lone.raw('POST', '/v1/chat/completions', { body: { model: 'demo/echo', messages: [{ role: 'user', content: 'x' }] } })).status, 200);
  await until(async () => await dropped() >= 6, 'they are counted');
  await lone.stop();
  bad.close();
  const away = await start({ env: settings(up, `otlp_endpoint: ${bad.url}\n`) });
  assert.equal((await away.raw('POST', '/v1/chat/completions', { body: { model: 'demo/echo', messages: [{ role: 'user', content: 'x' }] } })).status, 200);
  await away.stop();
});

test('what is not sent yet is sent at the end', async () => {
  const last = await openCollector();
  const brief = await start({ env: settings(up, `otlp_endpoint: ${last.url}\n`) });
  const asked = context();
  await brief.raw('GET', '/v1/models', { headers: headerOf(asked) });
  await brief.stop();
  assert.equal(last.of(asked.traceId).length, 1);
  last.close();
});

test('without an address there are no spans, and nothing is begun', async () => {
  const plain = await start({ env: settings(up, '') });
  const answer = await plain.raw('GET', '/v1/models');
  assert.equal(answer.headers.traceparent, undefined);
  assert.doesNotMatch((await plain.raw('GET', '/metrics')).text, /parley_spans/);
  const before = up.requests.length;
  const asked = context('00');
  await plain.raw('POST', '/v1/chat/completions', { body: { model: 'up-openai-chat/text', messages: [{ role: 'user', content: 'x' }] }, headers: headerOf(asked) });
  assert.match(up.requests[before].headers.traceparent, new RegExp(`^00-${asked.traceId}-[0-9a-f]{16}-00$`));
  await plain.stop();
});

test('wrong settings end the start, and tell no secret', () => {
  const file = join(mkdtempSync(join(directory, 'otlp-')), 'headers');
  const run = (more, mode = 0o600, text = 'X-A: hidden-value\n') => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    return spawnSync(parley, ['serve', '--data', mkdtempSync(join(directory, 'data-')), '--port', '0'], { encoding: 'utf8', env: { ...process.env, ...settings(up, more) } });
  };
  for (const [why, ...wrong] of [
    [/otlp_endpoint "collector:4318" must be the address/, 'otlp_endpoint: "collector:4318"\n'],
    [/otlp_headers_file needs otlp_endpoint/, `otlp_headers_file: ${file}\n`],
    [/otlp_sample_percent/, 'otlp_endpoint: http://127.0.0.1:1\notlp_sample_percent: 101\n'],
    [/other users can read the headers/, `otlp_endpoint: http://127.0.0.1:1\notlp_headers_file: ${file}\n`, 0o644],
    [/line 2: there must be a header/, `otlp_endpoint: http://127.0.0.1:1\notlp_headers_file: ${file}\n`, 0o600, 'X-A: hidden-value\nhidden-value\n'],
    [/no such file|does not exist|No such file/i, 'otlp_endpoint: http://127.0.0.1:1\notlp_headers_file: /nowhere/at/all\n'],
    [/did you mean "otlp_endpoint"/, 'otlp_endpont: http://127.0.0.1:1\n'],
  ]) {
    const { status, stderr } = run(...wrong);
    assert.notEqual(status, 0);
    assert.match(stderr, why);
    assert.doesNotMatch(stderr, /hidden-value/);
  }
});
