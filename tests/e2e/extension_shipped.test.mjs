// The shipped extensions against a host played by the test: their calls, and their results from the answers.
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Driver, textOf } from './extension_driver.mjs';
import { directory, file, root, run } from './harness.mjs';

const sdks = { python: ['python3', 'sdk/python/parley_ext.py'], node: ['node', 'sdk/js/parley_ext.mjs'] };

function shipped(name) {
  const dir = join(directory, name);
  cpSync(join(root, 'extensions', name), dir, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(dir, 'extension.json'), 'utf8'));
  const [command, sdk] = sdks[manifest.runtime];
  cpSync(join(root, sdk), join(dir, sdk.split('/').at(-1)));
  return { dir, manifest, command, args: [join(dir, manifest.entrypoint)] };
}

const withShipped = (name, what, hostCall, body) => test(`${name}: ${what}`, async () => {
  const { command, args, manifest } = shipped(name);
  const calls = [];
  const driver = new Driver(command, args, { hostCall: (payload, host) => { calls.push(payload); return hostCall(payload, host); } });
  try {
    const registered = await driver.registered();
    assert.equal(registered.version, manifest.version);
    await body(driver, calls, registered);
    await driver.end();
  } finally {
    driver.child.kill('SIGKILL');
  }
});

for (const name of ['workspace', 'web', 'demo']) {
  test(`${name}: its extension.json is valid`, () => {
    const { code, out } = run(['validate', '--as', 'extension', join(root, 'extensions', name, 'extension.json')]);
    assert.equal(code, 0, out);
  });
}

withShipped('workspace', 'every tool is the call of the same name, with the capability the host derives', ({ params }) => ({ content: [{ type: 'text', text: `did ${params.name}` }] }), async (driver, calls, registered) => {
  assert.deepEqual(registered.tools.map(({ name }) => name), ['read', 'grep', 'find', 'ls', 'write', 'edit', 'bash']);
  const inputs = { read: { path: 'a', offset: 1 }, grep: { pattern: 'x' }, find: { pattern: '**' }, ls: {}, write: { path: 'a', content: '' }, edit: { path: 'a', oldText: 'b', newText: '' }, bash: { command: 'ls' } };
  for (const [name, input] of Object.entries(inputs)) {
    const { output, is_error } = await driver.tool(name, input);
    assert.deepEqual([textOf(output), is_error], [`did ${name}`, false]);
    assert.deepEqual([calls.at(-1).method, calls.at(-1).params], ['tool', { name, input }]);
  }
  assert.deepEqual(calls.map(({ capability }) => capability), ['read', 'read', 'read', 'read', 'write', 'write', 'exec']);
});

withShipped('workspace', 'what a command prints is shown as text, with its exit code', () => ({ stdout: 'out\n', stderr: 'err\n', code: 3, killed: false, truncated: true }), async (driver, calls) => {
  assert.equal(textOf((await driver.tool('bash', { command: 'x', timeout: 5 })).output), 'out\nerr\n[cut: it printed more]\n[exit code 3]');
  assert.deepEqual([calls[0].params, calls[0].timeout_ms], [{ name: 'bash', input: { command: 'x', timeout: 5 } }, 5000]);
});

withShipped('workspace', 'a refusal of the host reaches the model', () => { throw { code: 'denied', message: 'outside the workspace', details: { reason: 'path_escape' } }; }, async (driver) => {
  assert.deepEqual(await driver.tool('read', { path: '../x' }, { callId: 'r' }), { call_id: 'r', output: { text: 'outside the workspace' }, is_error: true });
});

const page = '<html><head><title>T</title><style>p{}</style></head><body><h1>One &amp; two</h1><script>bad()</script><p>A <a href="/b">link</a>,<br>line &#8364;&#x41;.</p><ul><li>x<li>y</ul><!-- no --></body></html>';
withShipped('web', 'a page becomes text; other answers are told', ({ params }) => {
  if (params.url.endsWith('/page')) return { status: 200, url: params.url, headers: { 'Content-Type': 'text/html' }, body: page, size_bytes: page.length };
  if (params.url.endsWith('/json')) return { status: 200, url: params.url, headers: { 'content-type': 'application/json' }, body: '{"a":"<b>"}', size_bytes: 11 };
  if (params.url.endsWith('/missing')) return { status: 404, url: params.url, headers: {}, body: 'no', size_bytes: 2 };
  return { status: 200, url: params.url, headers: { 'content-type': 'image/png' }, body_bytes: 'AA==', size_bytes: 1 };
}, async (driver, calls) => {
  const text = textOf((await driver.tool('fetch', { url: 'https://a.example/page' })).output);
  assert.equal(text, 'https://a.example/page (HTTP 200)\n\n# One & two\n\nA [link](/b),\nline €A.\n\n- x\n- y');
  assert.equal(calls[0].capability, 'http');
  assert.match(textOf((await driver.tool('fetch', { url: 'https://a.example/json' })).output), /\{"a":"<b>"\}$/);
  assert.equal((await driver.tool('fetch', { url: 'https://a.example/missing' })).is_error, true);
  assert.equal((await driver.tool('fetch', { url: 'https://a.example/image' })).is_error, true);
  assert.match(textOf((await driver.tool('fetch', { url: 'https://a.example/page', raw: true, max_chars: 100 })).output), /\[cut after 100 characters\]$/);
});

withShipped('demo', 'cards, bridges, questions, progress, streams, images, failures', ({ method, params }) => {
  if (method === 'ui') return { select: { value: 'green' }, confirm: { value: true }, input: { value: '', dismissed: true } }[params.op];
  return [{ stdout: '1\n2\n3' }, { stdout: '\n4\n' }, { code: 0, killed: false }];
}, async (driver) => {
  const card = (await driver.tool('demo_card', { title: '<T>', numbers: [1, 2] })).output;
  assert.match(card._meta.ui.resourceHTML, /&#60;T&#62;/);
  assert.equal(run(['validate', '--as', 'tool-result', file('card.json', JSON.stringify(card))]).code, 0);
  const bridge = (await driver.tool('demo_bridge', { target: 'x' })).output;
  assert.deepEqual(bridge._meta, { bridge: { action: 'highlight', target: 'x' } });
  assert.equal(textOf((await driver.tool('demo_question', {})).output), 'colour: green, sure: true, for: dismissed');
  assert.equal(textOf((await driver.tool('demo_progress', { to: 3 })).output), 'counted to 3');
  assert.equal(driver.frames.filter(({ frame }) => frame.payload.event === 'tool_execution_update').length, 3);
  assert.equal(textOf((await driver.tool('demo_stream', { to: 4 })).output), 'the sum is 10, in 2 parts');
  assert.equal((await driver.tool('demo_fail', {})).is_error, true);
  assert.equal((await driver.tool('demo_image', {})).output.content[1].mimeType, 'image/png');
  driver.send('tool_call', { call_id: 'slow', name: 'demo_slow', input: { seconds: 600 }, context: {} });
  driver.cancel('slow');
});

withShipped('demo', 'every hook is heard, and those that decide decide', () => ({}), async (driver, calls, registered) => {
  assert.equal(registered.event_hooks.length, 26);
  const answer = async (event, data) => (await driver.hook(event, data)).data;
  assert.deepEqual(await answer('session_start', { session_id: 's' }), {});
  assert.deepEqual(await answer('input', { text: 'demo shout hi', source: 'user' }), { action: 'transform', text: 'HI' });
  assert.deepEqual(await answer('input', { text: 'hi', source: 'user' }), { action: 'continue' });
  assert.equal((await answer('tool_call', { tool_name: 'x', input: { a: 'demo-block' } })).block, true);
  assert.equal((await answer('tool_call', { tool_name: 'x', input: { a: 'demo-ask-me' } })).ask, true);
  assert.deepEqual(await answer('tool_call', { tool_name: 'x', input: {} }), {});
  assert.deepEqual(await answer('tool_result', { tool_name: 'x', content: [{ type: 'text', text: 'a demo-secret' }] }), { content: [{ type: 'text', text: 'a ***' }] });
  assert.match(textOf((await driver.command('demo')).output), /^session_start\ninput\n/);
  assert.deepEqual((await driver.command('demo-ask', ['a', 'b'])).output, { prompt: 'a b' });
});
