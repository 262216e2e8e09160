// MCP servers as extensions: the reference servers of npm over stdio and streamable HTTP, and scripted servers
// of each protocol generation for the features those two lack.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { Driver, textOf } from './extension_driver.mjs';
import { directory, root } from './harness.mjs';
import { until } from './waiting.mjs';

const modules = join(root, 'tests/adapters/node_modules/@modelcontextprotocol');
const skip = !existsSync(modules) && 'tests/adapters has no packages: tools/install-deps test';
const everything = ['node', join(modules, 'server-everything/dist/index.js')];

// A package as `parley ext add --mcp` makes it.
let nPackages = 0;
function packageOf(config, capabilities = [{ capability: 'ui' }, { capability: 'log' }]) {
  const dir = join(directory, `mcp-${++nPackages}`);
  mkdirSync(join(dir, '.parley'), { recursive: true });
  for (const name of readdirSync(join(root, 'adapters')).filter((one) => one.startsWith('mcp'))) cpSync(join(root, 'adapters', name), join(dir, '.parley', name));
  cpSync(join(root, 'sdk/js/parley_ext.mjs'), join(dir, '.parley/parley_ext.mjs'));
  writeFileSync(join(dir, 'server.json'), JSON.stringify({ id: 'x', ...config }));
  writeFileSync(join(dir, 'extension.json'), JSON.stringify({
    schema: 'pi.ext.manifest.v1', extension_id: 'x', name: 'X', version: '1', api_version: '1.0', runtime: 'mcp', entrypoint: 'server.json', capability_manifest: { schema: 'pi.ext.cap.v1', capabilities },
  }));
  return join(dir, 'server.json');
}

async function withServer(config, body, { hostCall, capabilities, env } = {}) {
  const path = packageOf(config, capabilities);
  const driver = new Driver('node', [join(path, '../.parley/mcp.mjs'), path], { hostCall, env });
  try {
    await body(driver, await driver.registered());
    await driver.end();
  } finally {
    driver.child.kill('SIGKILL');
  }
}
const answers = ({ method, params }) => {
  assert.equal(method, 'ui');
  if (params.op === 'select') return { value: params.options[0] };
  if (params.op === 'confirm') return { value: true };
  return { value: /integer|number|age/i.test(params.title) ? '42' : 'Ada' };
};

test('server-everything: tools, prompts and resources are offered, and called', { skip }, async () => {
  await withServer({ command: [...everything, 'stdio'] }, async (driver, registered) => {
    const names = registered.tools.map(({ name }) => name);
    for (const name of ['echo', 'get-sum', 'get-tiny-image', 'list_mcp_resources', 'read_mcp_resource']) assert.ok(names.includes(`mcp__x__${name}`), `${name} in ${names}`);
    assert.ok(registered.tools.every(({ exposure, parameters }) => exposure === 'deferred' && !parameters.$schema));
    assert.ok(registered.slash_commands.some(({ name }) => name === 'mcp__x__simple-prompt'));

    assert.equal(textOf((await driver.tool('mcp__x__echo', { message: 'héllo' })).output), 'Echo: héllo');
    assert.match(textOf((await driver.tool('mcp__x__get-sum', { a: 2, b: 3 })).output), /5/);
    const wrong = await driver.tool('mcp__x__get-sum', { a: 'two' });
    assert.equal(wrong.is_error, true);
    const image = (await driver.tool('mcp__x__get-tiny-image', {})).output.content.find(({ type }) => type === 'image');
    assert.equal(image.mimeType, 'image/png');
    const structured = (await driver.tool('mcp__x__get-structured-content', { location: 'New York' })).output;
    assert.ok(structured.structured_content.temperature !== undefined, JSON.stringify(structured));
    const links = textOf((await driver.tool('mcp__x__get-resource-links', { count: 2 })).output);
    assert.match(links, /\]\(demo:/);
    const resources = textOf((await driver.tool('mcp__x__list_mcp_resources', {})).output);
    const uri = resources.split(/\s/)[0];
    assert.ok((await driver.tool('mcp__x__read_mcp_resource', { uri })).output.content.length, resources);
    assert.equal((await driver.tool('mcp__x__read_mcp_resource', { uri: 'none://x' })).is_error, true);
    assert.match((await driver.command('mcp__x__simple-prompt')).output.prompt, /prompt/i);
    const args = await driver.command('mcp__x__args-prompt', ['Paris', 'Texas']);
    assert.match(args.output.prompt, /Paris/);
    assert.equal((await driver.command('mcp__x__args-prompt')).is_error, true);
  });
});

test('server-everything: progress, cancelling and elicitation', { skip }, async () => {
  const asked = [];
  await withServer({ command: [...everything, 'stdio'] }, async (driver, registered) => {
    const has = (name) => driver.frames.some(({ frame }) => frame.type === 'register' && frame.payload.tools.some((tool) => tool.name === `mcp__x__${name}`));
    const long = 'mcp__x__trigger-long-running-operation';
    await driver.tool(long, { duration: 0.2, steps: 2 }, { callId: 'long' });
    assert.ok(driver.frames.filter(({ frame }) => frame.payload.event === 'tool_execution_update' && frame.payload.data.call_id === 'long').length >= 1);
    driver.send('tool_call', { call_id: 'gone', name: long, input: { duration: 600, steps: 600 }, context: {} });
    await driver.heard((frame) => frame.payload.event === 'tool_execution_update' && frame.payload.data.call_id === 'gone');
    driver.cancel('gone');
    assert.equal(textOf((await driver.tool('mcp__x__echo', { message: 'on' })).output), 'Echo: on');
    // The server registers tools for the client's features after the handshake.
    await until(() => has('trigger-elicitation-request'));
    const { output, is_error } = await driver.tool('mcp__x__trigger-elicitation-request', {});
    assert.equal(is_error, false, textOf(output));
    assert.ok(asked.length >= 3);
    assert.match(textOf(output), /Ada/);
    assert.ok(registered);
  }, { hostCall: (payload) => { asked.push(payload); return answers(payload); } });
});

test('server-everything over streamable HTTP', { skip }, async () => {
  const probe = createServer();
  const port = await new Promise((resolve) => { probe.listen(0, '127.0.0.1', () => resolve(probe.address().port)); });
  await new Promise((resolve) => { probe.close(resolve); });
  const child = spawn(everything[0], [everything[1], 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] });
  after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { said += bytes; });
  await until(() => /listening/i.test(said), () => said);
  await withServer({ url: `http://127.0.0.1:${port}/mcp` }, async (driver) => {
    assert.equal(textOf((await driver.tool('mcp__x__echo', { message: 'web' })).output), 'Echo: web');
    await driver.tool('mcp__x__trigger-long-running-operation', { duration: 0.2, steps: 2 }, { callId: 'long' });
    assert.ok(driver.frames.some(({ frame }) => frame.payload.event === 'tool_execution_update' && frame.payload.data.call_id === 'long'));
  });
  child.kill('SIGTERM');
});

test('server-filesystem: its roots are the mounts of the package', { skip }, async () => {
  const workspace = realpathSync(directory);
  mkdirSync(join(workspace, 'docs'), { recursive: true });
  writeFileSync(join(workspace, 'docs/a.txt'), 'alpha');
  writeFileSync(join(workspace, 'secret.txt'), 'no');
  await withServer({ command: ['node', join(modules, 'server-filesystem/dist/index.js')] }, async (driver) => {
    const read = (path) => driver.tool('mcp__x__read_text_file', { path }, { context: { workspace } });
    // The server asks for its roots and applies them asynchronously.
    await until(async () => textOf((await driver.tool('mcp__x__list_allowed_directories', {}, { context: { workspace } })).output).includes('docs'), 'the roots are known');
    assert.equal(textOf((await read(join(workspace, 'docs/a.txt'))).output), 'alpha');
    assert.equal((await read(join(workspace, 'secret.txt'))).is_error, true);
  }, { capabilities: [{ capability: 'read', scope: { paths: ['docs/**'] } }], env: { PARLEY_WORKSPACE: workspace } });
});

// --- a server of the newest generation --------------------------------------------------------------------------------

const played = join(directory, 'played.mjs');
writeFileSync(played, `
import { createInterface } from 'node:readline';
const [mode] = process.argv.slice(2);
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
console.log('a greeting that is no JSON');
let listen, extra = false;
const tools = () => [{ name: 'one', inputSchema: { type: 'object' } }, ...(extra ? [{ name: 'two', inputSchema: { type: 'object' } }] : [])];
const handlers = {
  'server/discover': ({ params }) => {
    if (mode === 'silent') return undefined;
    if (mode === 'future') throw { code: -32022, message: 'unsupported', data: { supported: ['2027-01-01'], requested: params._meta['io.modelcontextprotocol/protocolVersion'] } };
    if (mode === 'old') throw { code: -32601, message: 'no such method' };
    return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true }, resources: {} } };
  },
  initialize: ({ params }) => ({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'p', version: params.protocolVersion } }),
  'tools/list': ({ params }) => params.cursor === 'b' ? { tools: tools().slice(1) , resultType: 'complete' }
    : { resultType: 'complete', nextCursor: 'b', tools: [tools()[0], { name: 'ask', inputSchema: { type: 'object' } }, { name: 'bad', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
      { name: 'card', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: 'ui://card' } } }, { name: 'env', inputSchema: { type: 'object' } }] },
  'subscriptions/listen': ({ id }) => { listen = id; return undefined; },
  'resources/read': () => ({ resultType: 'complete', contents: [{ uri: 'ui://card', mimeType: 'text/html', text: '<b>hi</b>' }] }),
  'tools/call': ({ params }) => {
    const done = (text, more) => ({ resultType: 'complete', content: [{ type: 'text', text }], ...more });
    if (mode !== 'old' && mode !== 'silent' && params._meta['io.modelcontextprotocol/protocolVersion'] !== '2026-07-28') throw { code: -32602, message: 'no version' };
    if (params.name === 'bad') return done('x', { structuredContent: { n: 'no' } });
    if (params.name === 'env') return done(String(process.env.TOKEN));
    if (params.name === 'card') return done('see the card');
    if (params.name === 'one') { extra = true; setTimeout(() => say({ method: 'notifications/tools/list_changed', params: { _meta: { 'io.modelcontextprotocol/subscriptionId': listen } } }), 1); return done('one'); }
    if (params.name === 'two') return done('two');
    if (!params.requestState) return { resultType: 'input_required', requestState: 's1', inputRequests: { who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' }, ok: { type: 'boolean' } }, required: ['name'] } } } } };
    return done(params.requestState + JSON.stringify(params.inputResponses));
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const handler = handlers[message.method];
  if (!handler) return message.id !== undefined && say({ id: message.id, error: { code: -32601, message: 'none' } });
  try { const result = handler({ ...message, params: message.params ?? {} }); if (result) say({ id: message.id, result }); } catch (error) { say({ id: message.id, error }); }
});
`);
const play = (mode, more) => ({ command: ['node', played, mode], ...more });

test('the newest generation: discover, pages, input_required, subscriptions, cards, output schemas', async () => {
  await withServer(play('new'), async (driver, registered) => {
    assert.deepEqual(registered.tools.map(({ name }) => name), ['one', 'ask', 'bad', 'card', 'env', 'list_mcp_resources', 'read_mcp_resource'].map((name) => `mcp__x__${name}`));
    const asked = await driver.tool('mcp__x__ask', {});
    assert.equal(textOf(asked.output), 's1{"who":{"action":"accept","content":{"name":"Ada","age":42,"ok":true}}}');
    assert.equal((await driver.tool('mcp__x__bad', {})).is_error, true);
    assert.deepEqual((await driver.tool('mcp__x__card', {})).output._meta.ui, { target: 'inline', title: 'card', resourceHTML: '<b>hi</b>' });
    await driver.tool('mcp__x__one', {});
    await driver.heard((frame) => frame.type === 'register' && frame.payload.tools.some(({ name }) => name === 'mcp__x__two'));
    assert.equal(textOf((await driver.tool('mcp__x__two', {})).output), 'two');
  }, { hostCall: answers });
});

for (const mode of ['old', 'silent']) {
  test(`a server that is ${mode} is greeted with initialize`, async () => {
    await withServer(play(mode), async (driver) => { assert.equal(textOf((await driver.tool('mcp__x__one', {})).output), 'one'); });
  });
}

test('a server that speaks only what is not known yet, and one that ends, end the adapter with words', async () => {
  for (const [config, expected] of [[play('future'), /unsupported/], [{ command: ['node', '-e', 'process.exit(3)'] }, /exit code 3/], [{ command: ['/nonexistent'] }, /ENOENT/]]) {
    const path = packageOf(config);
    const driver = new Driver('node', [join(path, '../.parley/mcp.mjs'), path]);
    assert.equal((await driver.exited).code, 1);
    assert.match(driver.stderr, expected);
  }
});

test('variables come from the host, after a first register without tools', async () => {
  await withServer(play('old', { env: ['TOKEN'] }), async (driver, registered) => {
    assert.deepEqual(registered.tools, []);
    await driver.heard((frame) => frame.type === 'register' && frame.payload.tools.length > 0);
    assert.equal(textOf((await driver.tool('mcp__x__env', {})).output), 'from the host');
  }, { hostCall: ({ method, params }) => { assert.deepEqual([method, params.names], ['env', ['TOKEN']]); return { values: { TOKEN: 'from the host' } }; } });
});
