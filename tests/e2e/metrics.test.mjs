// /metrics: the histograms of the routes add up, and the dashboard uses only existing metrics; the log of requests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { file, root, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const page = async (server) => (await server.raw('GET', '/metrics')).text;

// name -> [{ labels, value }]
function read(text) {
  const series = new Map();
  for (const line of text.split('\n').filter((one) => one && !one.startsWith('#'))) {
    const [, name, labels, value] = line.match(/^(\w+)(?:\{(.*)\})? (\S+)$/);
    const pairs = Object.fromEntries([...(labels ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((match) => [match[1], match[2]]));
    series.set(name, [...(series.get(name) ?? []), { labels: pairs, value: Number(value) }]);
  }
  return series;
}

test('the histogram of a route counts its requests, and its buckets add up', async (t) => {
  const server = await start({ args: ['--shards', '3'] });
  t.after(() => server.stop());
  const name = 'parley_http_request_duration_seconds';
  for (let i = 0; i < 20; i++) await server.raw('GET', '/api/models');
  for (let i = 0; i < 7; i++) await server.raw('GET', `/api/sessions/sess_0${i}`);
  await server.raw('GET', '/nowhere');
  const series = read(await page(server));
  const of = (suffix, route) => (series.get(`${name}${suffix}`) ?? []).filter(({ labels }) => labels.route === route && labels.method === 'GET');
  assert.equal(of('_count', '/api/models')[0].value, 20);
  assert.equal(of('_count', '/api/sessions/{id}')[0].value, 7, 'by the route, not by the path');
  assert.ok(!series.get(`${name}_count`).some(({ labels }) => labels.route.includes('nowhere')));
  for (const { labels: { route, method }, value } of series.get(`${name}_count`)) {
    const buckets = series.get(`${name}_bucket`).filter(({ labels }) => labels.route === route && labels.method === method);
    assert.equal(buckets.length, 14);
    assert.equal(buckets.at(-1).labels.le, '+Inf');
    assert.equal(buckets.at(-1).value, value);
    for (let i = 1; i < buckets.length; i++) assert.ok(buckets[i].value >= buckets[i - 1].value, `${route} never falls`);
  }
  assert.match(await page(server), new RegExp(`^# TYPE ${name} histogram$`, 'm'));
});

test('the dashboard asks for metrics and labels that there are', async (t) => {
  const path = file('one.yaml', 'probe: false\nproviders:\n  away: {dialect: openai-chat, base_url: "http://127.0.0.1:1"}\n');
  const server = await start({ args: ['--config', path] });
  t.after(() => server.stop());
  await server.raw('GET', '/api/models');
  await server.raw('POST', '/v1/chat/completions', { body: { model: 'away/m', messages: [{ role: 'user', content: 'hi' }] } });
  const series = read(await page(server));
  const dashboard = JSON.parse(readFileSync(join(root, 'docs/grafana-dashboard.json'), 'utf8'));
  const words = new Set(['sum', 'by', 'rate', 'increase', 'le', 'histogram_quantile']);
  assert.ok(dashboard.panels.length >= 10);
  for (const { title, targets } of dashboard.panels.filter(({ type }) => type !== 'row')) {
    for (const { expr, legendFormat } of targets) {
      const names = [...expr.matchAll(/\b(parley_\w+|process_\w+)/g)].map((match) => match[1]);
      assert.ok(names.length, title);
      const labels = new Set(['instance', 'job']); // Prometheus adds them
      for (const name of names) {
        assert.ok(series.has(name), `${title}: ${name} is not in /metrics`);
        for (const one of series.get(name)) for (const label of Object.keys(one.labels)) labels.add(label);
      }
      const used = [...(expr.match(/by \(([^)]*)\)/)?.[1].split(', ') ?? []), ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1])];
      for (const label of used) assert.ok(labels.has(label), `${title}: ${names} has no label ${label}`);
      // Counters, and only counters, are shown as rates.
      for (const [, name] of expr.matchAll(/rate\((\w+)/g)) assert.match(name, /_(total|count|bucket)$/);
      const rest = expr.replace(/\b(parley|process)_\w+|\[\d+m\]|\b\d+(\.\d+)?\b/g, '').match(/[a-z_]\w*/g) ?? [];
      for (const word of rest) assert.ok(words.has(word) || labels.has(word), `${title}: ${word}`);
    }
  }
});

test('calls to a provider are counted: answers, errors, retries and times, also over a reload', async (t) => {
  let answers = [];
  const vendor = http.createServer((request, response) => request.resume().on('end', () => {
    const status = answers.shift() ?? 200;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' });
    response.end(JSON.stringify(status === 200 ? { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] } : { error: { message: 'no' } }));
  }));
  await new Promise((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  t.after(() => { vendor.closeAllConnections(); vendor.close(); });
  const path = file('providers.yaml', `probe: false\nproviders:\n  here: {dialect: openai-chat, base_url: "http://127.0.0.1:${vendor.address().port}"}\n  away: {dialect: openai-chat, base_url: "http://127.0.0.1:1"}\n`);
  const server = await start({ args: ['--config', path] });
  t.after(() => server.stop());
  const ask = (model) => server.raw('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'hi' }] } });
  const count = async (name, provider) => read(await page(server)).get(name)?.find(({ labels }) => labels.provider === provider && (labels.le ?? '+Inf') === '+Inf')?.value;
  assert.equal(await count('parley_provider_calls_total', 'here'), 0);
  for (let i = 0; i < 3; i++) assert.equal((await ask('here/m')).status, 200);
  answers = [400];
  assert.equal((await ask('here/m')).status, 400);
  await ask('away/m');
  assert.equal(await count('parley_provider_calls_total', 'here'), 4);
  assert.equal(await count('parley_provider_errors_total', 'here'), 1);
  assert.equal(await count('parley_provider_call_seconds_count', 'here'), 4);
  assert.equal(await count('parley_provider_first_byte_seconds_bucket', 'here'), 4);
  assert.equal(await count('parley_provider_errors_total', 'away'), 1);
  assert.equal(run(['reload', '--data', server.data]).code, 0);
  await ask('here/m');
  assert.equal(await count('parley_provider_calls_total', 'here'), 5);
  // A session repeats a request that the provider did not accept.
  const { json } = await server.ask('POST', '/api/sessions', { body: { model: 'here/m' } });
  answers = [429];
  await server.ask('POST', `/api/sessions/${json.id}/chat`, { body: { message: 'hello' } });
  await until(async () => await count('parley_provider_retries_total', 'here') === 1, 'it is tried again');
});

test('calls are counted by provider and model: tokens, cost, fallbacks; invented names share one row, and a reload keeps all', async (t) => {
  let answers = [];
  const vendor = http.createServer((request, response) => request.resume().on('end', () => {
    const status = answers.shift() ?? 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? {
      id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } },
    } : { error: { message: 'no' } }));
  }));
  await new Promise((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  t.after(() => { vendor.closeAllConnections(); vendor.close(); });
  const base = `http://127.0.0.1:${vendor.address().port}`;
  const write = (more = {}) => file('models.yaml', JSON.stringify({
    probe: false, aliases: { chain: ['here/first', 'here/second'] },
    providers: { here: { dialect: 'openai-chat', base_url: base, models: ['listed'], prices: { priced: { input: 100, output: 200, cache_read: 50 } } } }, ...more,
  }));
  const server = await start({ args: ['--config', write()] });
  t.after(() => server.stop());
  const ask = async (model) => (await server.raw('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'hi' }] } })).status;
  const of = async (name, model, provider = 'here', kind) => read(await page(server)).get(`parley_model_${name}`)
    ?.find(({ labels }) => labels.provider === provider && labels.model === model && labels.kind === kind && (labels.le ?? '+Inf') === '+Inf')?.value;
  assert.equal(await of('calls_total', 'listed'), undefined);
  for (const model of ['here/listed', 'here/listed', 'here/priced', 'demo/echo']) assert.equal(await ask(model), 200);
  for (let i = 0; i < 20; i++) assert.equal(await ask(`here/invented-${i}`), 200);
  answers = [503];
  assert.equal(await ask('chain'), 200);
  answers = [400];
  assert.equal(await ask('here/listed'), 400);
  assert.equal(await of('calls_total', 'listed'), 3);
  assert.equal(await of('errors_total', 'listed'), 1);
  assert.equal(await of('calls_total', 'other'), 20);
  assert.equal(await of('calls_total', 'echo', 'demo'), 1);
  assert.deepEqual([await of('calls_total', 'first'), await of('errors_total', 'first'), await of('fallbacks_total', 'first'), await of('fallbacks_total', 'listed')], [1, 1, 1, 0]);
  assert.deepEqual([await of('calls_total', 'second'), await of('fallbacks_total', 'second')], [1, 0]);
  for (const [kind, n] of [['input', 10], ['output', 5], ['cached', 4]]) assert.equal(await of('tokens_total', 'priced', 'here', kind), n, kind);
  assert.equal(await of('cost_usd_total', 'priced'), Number(((6 * 100 + 4 * 50 + 5 * 200) / 1e6).toFixed(6)));
  assert.equal(await of('first_byte_seconds_count', 'listed'), 3);
  assert.equal(await of('call_seconds_bucket', 'listed'), 3);
  write({ log_level: 'warning' });
  assert.equal(run(['reload', '--data', server.data]).code, 0);
  assert.equal(await ask('here/listed'), 200);
  assert.equal(await of('calls_total', 'listed'), 4);
  // A session falls back as well, and its metrics are those of the gateway.
  const { json } = await server.ask('POST', '/api/sessions', { body: { model: 'chain' } });
  answers = [503];
  await server.ask('POST', `/api/sessions/${json.id}/chat`, { body: { message: 'hello' } });
  await until(async () => await of('fallbacks_total', 'first') === 2, 'the session falls back');
  const names = new Set((read(await page(server)).get('parley_model_calls_total')).map(({ labels }) => `${labels.provider}/${labels.model}`));
  assert.deepEqual([...names].sort(), ['demo/echo', 'here/first', 'here/listed', 'here/other', 'here/priced', 'here/second']);
});

test('the store tells how many changes wait and how long its commits take', async (t) => {
  const server = await start();
  t.after(() => server.stop());
  for (let i = 0; i < 5; i++) await server.ask('POST', '/api/sessions', { body: {} });
  const series = read(await page(server));
  const one = (name) => series.get(name)[0].value;
  assert.ok(one('parley_store_batches_total') >= 5);
  assert.ok(one('parley_store_commit_seconds_count') >= 5);
  const buckets = series.get('parley_store_commit_seconds_bucket');
  assert.equal(buckets.at(-1).value, one('parley_store_commit_seconds_count'));
  for (let i = 1; i < buckets.length; i++) assert.ok(buckets[i].value >= buckets[i - 1].value);
  assert.equal(one('parley_store_queue_batches'), 0);
  assert.equal(one('parley_store_queue_oldest_seconds'), 0);
});

test('X-Forwarded-For is believed when a named proxy sends it, and then only what that proxy saw', async (t) => {
  const seen = async (proxies, header, t2 = t) => {
    const server = await start({ args: ['--log-json', '--log-level', 'request'], env: proxies ? { PARLEY_TRUSTED_PROXIES: proxies } : {} });
    t2.after(() => server.stop('SIGKILL'));
    const lines = Array.isArray(header) ? header : [header];
    await server.bytes(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${lines.map((line) => `X-Forwarded-For: ${line}\r\n`).join('')}Connection: close\r\n\r\n`);
    const found = () => server.err.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)).find((line) => line.route === '/healthz');
    await until(() => found(), 'it is logged');
    await server.stop();
    return found().address;
  };
  assert.equal(await seen(null, '203.0.113.7'), '127.0.0.1');
  assert.equal(await seen('10.0.0.0/8', '203.0.113.7'), '127.0.0.1');
  assert.equal(await seen('127.0.0.1', '203.0.113.7'), '203.0.113.7');
  assert.equal(await seen('127.0.0.0/8,10.0.0.0/9', '198.51.100.1, 203.0.113.7:4711, 10.127.3.4'), '203.0.113.7');
  assert.equal(await seen('127.0.0.0/8,10.0.0.0/9', '198.51.100.1, 203.0.113.7, 10.128.3.4'), '10.128.3.4', 'outside of the range');
  assert.equal(await seen('127.0.0.1', ['198.51.100.1', '[2001:db8::1]:99']), '2001:db8::1', 'the last header is the proxy\'s');
  assert.equal(await seen('127.0.0.1', '203.0.113.7, <script>'), '127.0.0.1');
});

test('a proxy that is no address is refused', () => {
  for (const wrong of ['nginx', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/a', '::1/129', '1.2.3']) {
    const { code, err } = run(['serve', '--check-config'], { env: { PARLEY_TRUSTED_PROXIES: wrong } });
    assert.equal(code, 2, wrong);
    assert.match(err, /trusted_proxies .* is not an address/);
  }
  assert.equal(run(['serve', '--check-config'], { env: { PARLEY_TRUSTED_PROXIES: 'unix,10.0.0.1,fd00::/8,0.0.0.0/0' } }).code, 0);
});

test('a line of a request says from where, by which key, how much, and whether the client left', async (t) => {
  const server = await start({ args: ['--log-json', '--log-level', 'request'] });
  t.after(() => server.stop());
  const lines = () => server.err.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const body = { document: { messages: [{ role: 'user', content: 'hi' }] } };
  await server.raw('POST', '/api/detect', { body });
  await until(() => lines().some((line) => line.route === '/api/detect'), 'it is logged');
  const line = lines().find((one) => one.route === '/api/detect');
  assert.equal(line.address, '127.0.0.1');
  assert.match(line.key_id, /^key_/);
  assert.equal(line.bytes_in, JSON.stringify(body).length);
  assert.equal(line.aborted, undefined);
  await server.raw('GET', '/healthz', { socketPath: join(server.data, 'parley.sock'), key: null, headers: { host: 'local' } });
  await until(() => lines().some((one) => one.route === '/healthz' && one.address === 'unix'), 'a Unix socket is told as such');
  // A client that disconnects while a model answers.
  const request = http.request({ host: '127.0.0.1', port: server.port, path: '/v1/chat/completions', method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' } });
  request.on('error', () => {});
  request.end(JSON.stringify({ model: 'demo/slow', messages: [{ role: 'user', content: 'word '.repeat(3000) }] }));
  await until(async () => /^parley_http_connections [2-9]/m.test(await page(server)), 'it is asked');
  request.destroy();
  await until(() => lines().some((one) => one.route === '/v1/chat/completions' && one.aborted === true), 'it is told that the client left');
});
