// Runs an MCP server as an extension: speaks MCP with the server and the extension protocol with the host.
//
//     node mcp.mjs server.json
//
// server.json: {"id", "command": [PROGRAM, ARGUMENT …]} starts a server and uses its standard streams;
// {"id", "url", "bearer_env"?} connects to one over streamable HTTP. "env": names of variables that the host gives the server.
// Tools become mcp__ID__NAME, prompts become commands, elicitation becomes questions. Two generations of the protocol
// are supported: server/discover (2026-07-28), and initialize from 2025-11-25 down to 2024-11-05.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Call, Extension } from './parley_ext.mjs';
import { fits } from './mcp_schema.mjs';
import { HttpTransport, StdioTransport } from './mcp_transport.mjs';

const NEWEST = '2026-07-28';
const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const DISCOVER_MS = 3000, REGISTER_MS = 6000;
const client = { name: 'parley', version: '1.0.0' };
const abilities = { elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const manifest = JSON.parse(readFileSync(join(dirname(process.argv[2]), 'extension.json'), 'utf8'));
const ext = new Extension(manifest);

class McpError extends Error {
  constructor({ code, message, data }) { super(message ?? `error ${code}`); this.code = code; this.data = data; }
}

// --- JSON-RPC -------------------------------------------------------------------------------------------------------

const isReady = async () => { while (!ext.ready) await new Promise((resolve) => { setTimeout(resolve, 5); }); };
let transport, version, server = {}, nSent = 0;
const pending = new Map(); // id -> { resolve, reject }
const calls = new Map(); // progress token -> the call it belongs to
let workspace = process.env.PARLEY_WORKSPACE;

const meta = () => (version === NEWEST ? {
  'io.modelcontextprotocol/protocolVersion': NEWEST, 'io.modelcontextprotocol/clientInfo': client, 'io.modelcontextprotocol/clientCapabilities': abilities,
} : {});

function send(message) { return transport.send({ jsonrpc: '2.0', ...message }, { version, onMessage: take }); }
const notify = (method, params) => send({ method, params }).catch(() => {});

function request(method, params = {}, { call, signal, limitMs } = {}) {
  const id = ++nSent;
  const token = call ? `p${id}` : undefined;
  if (token) calls.set(token, call);
  const own = { ...meta(), ...(token ? { progressToken: token } : {}), ...params._meta };
  const full = { ...params, ...(Object.keys(own).length ? { _meta: own } : {}) };
  let timer, onAbort;
  const answer = new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    if (limitMs) timer = setTimeout(() => reject(new McpError({ code: 0, message: `no answer to ${method} in ${limitMs} ms` })), limitMs);
    onAbort = () => { notify('notifications/cancelled', { requestId: id, reason: 'cancelled' }); reject(signal.reason); };
    signal?.addEventListener('abort', onAbort);
    send({ id, method, params: full }).catch(reject);
  });
  return answer.finally(() => { clearTimeout(timer); signal?.removeEventListener('abort', onAbort); pending.delete(id); calls.delete(token); });
}

async function take(message) {
  if (message.method && message.id !== undefined) {
    const reply = await answerServer(message.method, message.params ?? {}).then((result) => ({ result }), (error) => ({ error: { code: error.code ?? -32603, message: String(error.message ?? error) } }));
    send({ id: message.id, ...reply }).catch(() => {});
  } else if (message.method) {
    hear(message.method, message.params ?? {});
  } else if (message.error) {
    pending.get(message.id)?.reject(new McpError(message.error));
  } else {
    pending.get(message.id)?.resolve(message.result ?? {});
  }
}

const changed = { 'notifications/tools/list_changed': true, 'notifications/prompts/list_changed': true, 'notifications/resources/list_changed': false };
function hear(method, params) {
  if (changed[method]) refresh();
  else if (method === 'notifications/progress') {
    const part = params.total ? `${params.progress} of ${params.total}` : String(params.progress);
    calls.get(params.progressToken)?.progress(params.message ? `${params.message} (${part})` : part);
  } else if (method === 'notifications/message') {
    const level = { debug: 'debug', info: 'info', notice: 'info', warning: 'warn' }[params.level] ?? 'error';
    ext.log(level, typeof params.data === 'string' ? params.data : JSON.stringify(params.data), 'mcp.message');
  }
}

// --- requests of the server -----------------------------------------------------------------------------------------

// The directories mounted in the cell: of each glob, the path before the first part with * or ?.
function roots() {
  if (!workspace) return [];
  const list = manifest.capability_manifest?.capabilities ?? [];
  const paths = list.filter(({ capability }) => capability === 'read' || capability === 'write')
    .flatMap(({ scope }) => scope?.paths ?? ['**'])
    .map((glob) => { const words = glob.split('/'); const at = words.findIndex((word) => /[*?]/.test(word)); return (at < 0 ? words : words.slice(0, at)).join('/'); });
  return [...new Set(paths)].map((path) => ({ uri: pathToFileURL(join(workspace, path)).href, name: path || 'workspace' }));
}

// The call to which a question belongs: the newest one, since the server does not name it.
const asking = () => [...calls.values()].at(-1);

async function askMember(call, title, name, schema) {
  const label = `${schema.title ?? name}${schema.description ? `: ${schema.description}` : ''}`;
  const choices = schema.oneOf ?? schema.anyOf ?? schema.items?.anyOf;
  const options = choices?.map(({ const: value }) => value) ?? schema.enum ?? schema.items?.enum;
  if (options) {
    const value = await call.ask(`${title}\n${label}`, { options: options.map(String) });
    return value === undefined ? undefined : schema.type === 'array' ? [value] : options.find((one) => String(one) === value) ?? value;
  }
  if (schema.type === 'boolean') return call.ask(label, { message: title });
  const value = await call.ask(`${title}\n${label}`, { placeholder: schema.default === undefined ? '' : String(schema.default) });
  if (value === undefined || !['number', 'integer'].includes(schema.type)) return value;
  return Number.isFinite(Number(value)) && value.trim() ? Number(value) : value;
}

async function elicit({ message = '', requestedSchema = {}, mode, url }, call = asking()) {
  if (!call) return { action: 'cancel' };
  if (mode === 'url' || url) return { action: (await call.ask(`Open ${url}?`, { message })) ? 'accept' : 'decline' };
  const content = {};
  for (const [name, schema] of Object.entries(requestedSchema.properties ?? {})) {
    const value = await askMember(call, message, name, schema);
    if (value === undefined && (requestedSchema.required ?? []).includes(name)) return { action: 'cancel' };
    if (value !== undefined && (value !== '' || (requestedSchema.required ?? []).includes(name))) content[name] = value;
  }
  const wrong = fits(requestedSchema, content);
  if (wrong) ext.log('warn', `the answer does not fit: ${wrong}`, 'mcp.elicitation');
  return wrong ? { action: 'decline' } : { action: 'accept', content };
}

async function answerServer(method, params, call) {
  if (method === 'ping') return {};
  if (method === 'roots/list') return { roots: roots() };
  if (method === 'elicitation/create') return elicit(params, call);
  throw new McpError({ code: -32601, message: method === 'sampling/createMessage' ? 'sampling is off' : `there is no method ${method}` });
}

// Sends a request whose result may be input_required: then asks, and sends the request again with the answers.
async function complete(method, params, options) {
  for (let round = 0, state = {}; round < 20; round++) {
    const result = await request(method, { ...params, ...state }, options);
    if ((result.resultType ?? 'complete') !== 'input_required') return result;
    const responses = {};
    for (const [key, one] of Object.entries(result.inputRequests ?? {})) {
      responses[key] = await answerServer(one.method, one.params ?? {}, options?.call).catch((error) => { throw new Error(`the server asked for ${one.method}: ${error.message}`); });
    }
    state = { ...(Object.keys(responses).length ? { inputResponses: responses } : {}), ...(result.requestState ? { requestState: result.requestState } : {}) };
  }
  throw new Error('the server asked for input twenty times');
}

// --- initialization -------------------------------------------------------------------------------------------------

async function initialize() {
  version = undefined;
  const result = await request('initialize', { protocolVersion: OLDER[0], capabilities: abilities, clientInfo: client }, { limitMs: 30_000 });
  if (!OLDER.includes(result.protocolVersion)) throw new Error(`the server speaks ${result.protocolVersion}, which this program does not know`);
  version = result.protocolVersion;
  await send({ method: 'notifications/initialized' });
  return result;
}

async function greet() {
  version = NEWEST;
  try {
    const result = await request('server/discover', {}, { limitMs: DISCOVER_MS });
    if (!(result.supportedVersions ?? []).includes(NEWEST)) throw new McpError({ code: -32601, message: 'it does not speak this generation' });
    return result;
  } catch (error) {
    const isKnown = error.code >= -32022 && error.code <= -32020;
    if (isKnown && !error.data?.supported?.some((one) => OLDER.includes(one))) throw error;
    return initialize();
  }
}

// --- tools, prompts, resources --------------------------------------------------------------------------------------

const shown = (name) => `mcp__${config.id}__${name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);

async function all(method, member) {
  const items = [];
  let cursor;
  do {
    const page = await request(method, cursor ? { cursor } : {}, { limitMs: 30_000 });
    items.push(...(page[member] ?? []));
    cursor = page.nextCursor;
  } while (cursor && items.length < 10_000);
  return items;
}

const linked = (block) => (block.type === 'resource_link' ? { type: 'text', text: `[${block.title ?? block.name}](${block.uri})${block.description ? `: ${block.description}` : ''}` } : block);

// The card for the page: the ui:// resource that the tool or its result names.
async function cardOf(tool, result, options) {
  const uri = result._meta?.ui?.resourceUri ?? result._meta?.['ui/resourceUri'] ?? tool._meta?.ui?.resourceUri ?? tool._meta?.['ui/resourceUri'];
  if (!uri?.startsWith?.('ui://')) return undefined;
  const { contents = [] } = await complete('resources/read', { uri }, options);
  const html = contents.find(({ text }) => typeof text === 'string')?.text;
  return html && { ui: { target: 'inline', title: tool.title ?? tool.name, resourceHTML: html } };
}

async function callTool(tool, call, input) {
  useWorkspace(call.context.workspace);
  const options = { call, signal: call.signal };
  const result = await complete('tools/call', { name: tool.name, arguments: input }, options);
  const wrong = tool.outputSchema && !result.isError && (result.structuredContent === undefined ? 'structuredContent is missing' : fits(tool.outputSchema, result.structuredContent));
  if (wrong) throw new Error(`the result of ${tool.name} does not fit its output schema: ${wrong}`);
  let content = (result.content ?? []).map(linked);
  if (!content.length && result.structuredContent !== undefined) content = [{ type: 'text', text: JSON.stringify(result.structuredContent) }];
  if (result.isError) throw new Error(content.map(({ text }) => text ?? '').join('\n') || 'the tool failed');
  const card = await cardOf(tool, result, options);
  return { content, ...(result.structuredContent !== undefined ? { structured_content: result.structuredContent } : {}), ...(card ? { _meta: card } : {}) };
}

function useWorkspace(path) {
  if (typeof path !== 'string' || path === workspace) return; // a host may report only that one exists
  workspace = path;
  if (version !== NEWEST) notify('notifications/roots/list_changed');
}

const textOf = (message) => (message.content?.type === 'text' ? message.content.text : message.content?.resource?.text ?? '');

function offerPrompt(prompt) {
  const names = (prompt.arguments ?? []).map(({ name }) => name);
  const usage = (prompt.arguments ?? []).map(({ name, required }) => (required ? name : `[${name}]`)).join(' ');
  ext.command(shown(prompt.name), `${prompt.description ?? prompt.title ?? prompt.name}${usage ? ` (${usage})` : ''}`, async (call, words) => {
    const given = Object.fromEntries(names.map((name, i) => [name, i === names.length - 1 ? words.slice(i).join(' ') : words[i]]).filter(([, value]) => value));
    const missing = (prompt.arguments ?? []).find(({ name, required }) => required && !(name in given));
    if (missing) throw new Error(`/${shown(prompt.name)} needs ${usage}`);
    const { messages = [] } = await complete('prompts/get', { name: prompt.name, arguments: given }, { call, signal: call.signal });
    return { prompt: messages.map(textOf).filter(Boolean).join('\n\n') };
  });
}

function offerResources() {
  const open = { type: 'object', properties: {}, additionalProperties: false };
  ext.tool(shown('list_mcp_resources'), `Lists the resources of ${config.id}.`, open, async () => {
    const resources = await all('resources/list', 'resources');
    const templates = await all('resources/templates/list', 'resourceTemplates').catch(() => []);
    return [...resources.map(({ uri, name, description }) => `${uri}  ${name}${description ? `: ${description}` : ''}`), ...templates.map(({ uriTemplate, name }) => `${uriTemplate}  ${name} (a template)`)].join('\n') || 'none';
  }, { exposure: 'deferred' });
  ext.tool(shown('read_mcp_resource'), `Reads a resource of ${config.id}.`, { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'], additionalProperties: false }, async (call, { uri }) => {
    const { contents = [] } = await complete('resources/read', { uri }, { call, signal: call.signal });
    return contents.map((resource) => (typeof resource.text === 'string' ? { type: 'text', text: resource.text } : { type: 'resource', resource }));
  }, { exposure: 'deferred' });
}

// Schemas are read as JSON Schema 2020-12. The keywords that servers use have the same meaning in older drafts.
function plain(schema) {
  if (!schema || typeof schema !== 'object') return { type: 'object' };
  const { $schema, ...rest } = schema;
  return rest;
}

async function learn() {
  const can = server.capabilities ?? {};
  const tools = can.tools ? await all('tools/list', 'tools') : [];
  const prompts = can.prompts ? await all('prompts/list', 'prompts') : [];
  ext.tools.clear();
  ext.commands.clear(); // no await from here on, so a call finds either the old tools or the new ones
  for (const tool of tools) {
    ext.tool(shown(tool.name), tool.description ?? tool.title ?? tool.name, plain(tool.inputSchema), (call, input) => callTool(tool, call, input), {
      ...(tool.title ? { label: tool.title } : {}), ...(tool.outputSchema ? { output_schema: plain(tool.outputSchema) } : {}), ...(tool.annotations ? { annotations: tool.annotations } : {}), exposure: 'deferred', timeout_ms: 600_000,
    });
  }
  if (can.resources) offerResources();
  prompts.forEach(offerPrompt);
}

// One read of the lists covers all changes so far; a register is sent only if they differ.
const definitions = () => JSON.stringify([[...ext.tools.values()], [...ext.commands.values()]]);
let registered = '', isStale = false, isRefreshing = false;
function register() { registered = definitions(); ext.register(); }
async function refresh() {
  isStale = true;
  if (isRefreshing || !registered) return;
  isRefreshing = true;
  while (isStale) {
    isStale = false;
    try {
      await isReady();
      await learn();
      if (definitions() !== registered) register();
    } catch (error) {
      ext.log('error', `the list of tools cannot be read: ${error.message}`, 'mcp.refresh');
    }
  }
  isRefreshing = false;
}

// For the newest generation: changes arrive on a stream that must be requested.
function listen() {
  request('subscriptions/listen', { notifications: { toolsListChanged: true, promptsListChanged: true } }).catch(() => {});
}

// Maps a path of the package in a cell (/ext/…) to the local file.
const placed = (word) => (word.startsWith('/ext/') ? join(dirname(process.argv[2]), word.slice('/ext/'.length)) : word);

async function begin(env) {
  const ended = (why) => { console.error(`the MCP server has ended: ${why}`); process.exit(1); };
  transport = config.url
    ? new HttpTransport(config.url, { bearer: config.bearer_env && env[config.bearer_env] })
    : new StdioTransport(config.command.map(placed), { env, cwd: workspace ?? dirname(process.argv[2]), onMessage: take, onEnd: ended });
  server = await greet();
  await learn();
  if (version === NEWEST) listen();
}

// The host waits ten seconds for a register. If variables are needed, or the server is slow, the first register has no
// tools yet, and a second one adds them.
const names = [...new Set([...(config.env ?? []), ...(config.bearer_env ? [config.bearer_env] : [])])];
let isFirst = true;
const first = () => { if (isFirst) { isFirst = false; registered = definitions(); ext.run(); } };

async function main() {
  const timer = setTimeout(first, names.length ? 0 : REGISTER_MS);
  if (names.length) await isReady();
  await begin(names.length ? await new Call(ext, undefined, {}).env(...names) : {});
  clearTimeout(timer);
  if (isFirst) { first(); return; }
  await isReady();
  register();
}

main().catch((error) => { console.error(`the MCP server cannot be used: ${error.message}`); process.exit(1); });
