// Runs an extension of pi as an extension of Parley: passes an object `pi` to its function, and translates its
// registrations and calls to the extension protocol.
//
//     node pi.mjs extension.mjs
//
// Some functions of pi are synchronous (session entries, active tools, names). These block the program and read the host's
// answer from standard input; other frames that arrive meanwhile are kept for later. Terminal drawing does nothing.
import { readFileSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Call, Extension, HostError, capabilityOf } from './parley_ext.mjs';

const path = resolve(process.argv[2]);
const ext = new Extension(JSON.parse(readFileSync(join(dirname(path), 'extension.json'), 'utf8')));
// stdout is reserved for the protocol: output of the extension goes to stderr.
for (const name of ['log', 'info', 'debug', 'warn']) console[name] = (...words) => console.error(...words);
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (...args) => process.stderr.write(...args);
ext.send = (type, payload, id = `x${++ext.nSent}`) => { write(`${JSON.stringify({ id, version: '1.0', type, payload })}\n`); };

// --- frames, also during synchronous calls ----------------------------------------------------------------------------

let rest = Buffer.alloc(0);
const frames = [];
function feed(bytes) {
  rest = Buffer.concat([rest, bytes]);
  for (let at; (at = rest.indexOf(10)) >= 0; rest = rest.subarray(at + 1)) if (at > 0) frames.push(JSON.parse(rest.subarray(0, at).toString('utf8')));
}
function serve() { while (frames.length) ext.take(frames.shift()); }

const room = Buffer.alloc(1 << 16), nap = new Int32Array(new SharedArrayBuffer(4));
function readNow() {
  try {
    const n = readSync(0, room, 0, room.length, null);
    if (n === 0) process.exit(0);
    feed(room.subarray(0, n));
  } catch (error) {
    if (error.code !== 'EAGAIN') throw error;
    Atomics.wait(nap, 0, 0, 1);
  }
}

// Calls the host synchronously and returns the output; `otherwise` is returned if the host refuses.
function hostNow(method, params, otherwise) {
  const callId = `h${++ext.nSent}`;
  ext.send('host_call', { call_id: callId, capability: capabilityOf(method, params), method, params, context: current?.parent ? { parent: current.parent } : {} }, callId);
  for (;;) {
    const at = frames.findIndex(({ type, payload }) => type === 'host_result' && payload.call_id === callId);
    if (at < 0) { readNow(); continue; }
    const [{ payload }] = frames.splice(at, 1);
    if (frames.length) setImmediate(serve);
    if (!payload.is_error) return payload.output;
    miss(`${method} ${params.op ?? ''}: ${payload.error.message}`);
    return otherwise;
  }
}

// --- missing functions -------------------------------------------------------------------------------------------------

const missed = new Set();
function miss(what) {
  if (missed.has(what)) return;
  missed.add(what);
  console.error(`not available here: ${what}`);
}

// --- the context of a call ---------------------------------------------------------------------------------------------

let current; // the running call, for functions of pi without a context
const background = new Call(ext, undefined, {});
const call = () => current ?? background;
const quiet = (promise) => promise.catch((error) => miss(error.message));
const ui = (op, params) => call().ui(op, params);
const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join('\n'));
const theme = new Proxy({}, { get: (_, name) => (name === 'fg' || name === 'bg' ? (colour, value) => String(value ?? '') : (value) => String(value ?? '')) });

const drawn = ['setFooter', 'setHeader', 'setEditorComponent', 'setWorkingIndicator', 'setWorkingVisible', 'setWorkingMessage', 'setHiddenThinkingLabel', 'setTheme', 'addAutocompleteProvider', 'setEditorText', 'pasteToEditor', 'setToolsExpanded'];
function uiOf(one) {
  const known = {
    theme,
    select: async (title, options) => { const value = await one.ask(title, { options: options.map(String) }); return value; },
    confirm: async (title, message) => (await one.ask(title, { message: message ?? '' })) === true,
    input: async (title, placeholder) => one.ask(title, { placeholder: placeholder ?? '' }),
    editor: async (title, prefill) => { const answer = await one.ui('editor', { title, prefill: prefill ?? '' }); return answer.dismissed ? undefined : answer.value; },
    notify: (message, type = 'info') => { quiet(one.ui('notify', { message: String(message), level: type })); },
    setStatus: (key, value) => { quiet(one.ui('set_status', { key, text: value ?? '' })); },
    setWidget: (key, lines) => { if (typeof lines === 'function') miss('ui.setWidget with a component'); else quiet(one.ui('set_widget', { key, lines: lines ?? [] })); },
    setTitle: (title) => { quiet(one.ui('set_title', { title })); },
    custom: async () => { miss('ui.custom (terminal drawing)'); return undefined; },
    getEditorText: () => '', getAllThemes: () => [], getTheme: () => undefined, getToolsExpanded: () => false, getEditorComponent: () => undefined, onTerminalInput: () => () => {},
  };
  for (const name of drawn) known[name] = () => miss(`ui.${name} (terminal drawing)`);
  return known;
}

const entries = () => hostNow('session', { op: 'get_entries' }, { entries: [] })?.entries ?? [];
const state = () => hostNow('session', { op: 'get_state' }, {}) ?? {};
const sessionManager = {
  getEntries: entries, getBranch: entries, getLeafEntry: () => entries().at(-1), getLeafId: () => entries().at(-1)?.id ?? null, getEntry: (id) => entries().find((entry) => entry.id === id),
  getLabel: () => undefined, getSessionFile: () => undefined, getSessionId: () => call().context.session_id ?? state().session_id, getSessionName: () => state().name, getHeader: () => ({}), getTree: () => [], getCwd: () => cwd(),
};
const cwd = () => (typeof call().context.workspace === 'string' ? call().context.workspace : undefined) ?? process.env.PARLEY_WORKSPACE ?? process.cwd();

function contextOf(one) {
  return {
    ui: uiOf(one), hasUI: one.context.has_person ?? true, get cwd() { return cwd(); }, sessionManager, signal: one.signal,
    get model() { return hostNow('session', { op: 'get_model' }, {})?.model; },
    get modelRegistry() { miss('modelRegistry'); return { find: () => undefined, getAll: () => [], getAvailable: async () => [], getApiKey: async () => undefined, getApiKeyAndHeaders: async () => ({ ok: false, error: 'there is no registry of models here' }) }; },
    isIdle: () => true, abort: () => {}, hasPendingMessages: () => false, isProjectTrusted: () => true,
    shutdown: () => miss('shutdown of the program'), reload: async () => miss('reload'), compact: () => miss('compact'),
    getContextUsage: () => hostNow('session', { op: 'get_context' }, undefined), getSystemPrompt: () => hostNow('session', { op: 'get_context' }, {})?.system_prompt ?? '',
    waitForIdle: async () => {}, newSession: async () => { miss('newSession'); return { cancelled: true }; }, fork: async () => { miss('fork'); return { cancelled: true }; },
    navigateTree: async () => { miss('navigateTree'); return { cancelled: true }; }, switchSession: async () => { miss('switchSession'); return { cancelled: true }; },
  };
}

// --- events ------------------------------------------------------------------------------------------------------------

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const renamed = (object, rename) => Object.fromEntries(Object.entries(object ?? {}).map(([name, value]) => [rename(name), value]));
const known = new Set(['input', 'before_agent_start', 'context', 'before_provider_request', 'tool_call', 'tool_result', 'session_before_compact', 'session_before_fork', 'session_before_switch', 'session_start', 'session_shutdown',
  'agent_start', 'agent_end', 'agent_settled', 'turn_start', 'turn_end', 'message_update', 'message_end', 'tool_execution_start', 'tool_execution_update', 'tool_execution_end', 'model_select']);

// Translates a pi handler's result to the protocol; members of `event` that it changed count too.
function answerOf(name, result, event, before) {
  if (name === 'before_provider_request') return result === undefined ? {} : { payload: result };
  if (name === 'session_before_compact' && result?.compaction) return { summary: result.compaction.summary };
  const answer = name === 'tool_call' && JSON.stringify(event.input) !== before ? { input: event.input } : {};
  return { ...answer, ...renamed(result, snake) };
}

// Defaults for members that handlers of pi rely on and the host does not send.
const usual = {
  before_agent_start: { prompt: '', images: [], systemPrompt: '', systemPromptOptions: { selectedTools: [], toolSnippets: {}, promptGuidelines: [], contextFiles: [], skills: [] } },
  session_before_compact: { preparation: { messagesToSummarize: [], turnPrefixMessages: [], tokensBefore: 0, firstKeptEntryId: '', previousSummary: undefined }, branchEntries: [], customInstructions: undefined },
  session_before_fork: { entryId: '' }, session_before_switch: { reason: 'resume' }, context: { messages: [] }, agent_end: { messages: [] }, turn_end: { toolResults: [], message: { content: [] } }, tool_call: { input: {} },
};

const handlers = new Map();
function on(name, handler) {
  if (!known.has(name)) { miss(`the event ${name}`); return; }
  if (!handlers.has(name)) {
    handlers.set(name, []);
    ext.hook(name, async (one, data) => {
      let event = { type: name, ...usual[name], signal: one.signal, ...renamed(data, camel) }, all = {};
      for (const run of handlers.get(name)) {
        const before = JSON.stringify(event.input);
        current = one;
        const answer = answerOf(name, await run(event, contextOf(one)), event, before);
        all = { ...all, ...answer };
        event = { ...event, ...renamed(answer, camel) };
        if (answer.block || answer.cancel) break;
      }
      if (current === one) current = undefined;
      return all;
    });
    changed();
  }
  handlers.get(name).push(handler);
}

// --- pi ----------------------------------------------------------------------------------------------------------------

let isRunning = false, isDue = false;
function changed() {
  if (!isRunning || isDue) return;
  isDue = true;
  setImmediate(() => { isDue = false; ext.register(); });
}

function registerTool(tool) {
  if (tool.renderCall || tool.renderResult) miss(`drawing of the tool ${tool.name}`);
  const schema = JSON.parse(JSON.stringify(tool.parameters ?? { type: 'object' }));
  ext.tool(tool.name, tool.description ?? tool.label ?? tool.name, schema, async (one, input) => {
    current = one;
    const update = (partial) => ext.hookFrame('tool_execution_update', { call_id: one.parent, content: partial?.content ?? [] });
    try {
      const prepared = tool.prepareArguments ? tool.prepareArguments(input) : input;
      const { content = [], details, isError, terminate, ...more } = (await tool.execute(one.context.tool_call_id ?? one.parent, prepared, one.signal, update, contextOf(one))) ?? {};
      if (isError) throw new Error(textOf(content));
      return { ...more, content, ...(details === undefined ? {} : { details }), ...(terminate ? { terminate: true } : {}) };
    } finally {
      if (current === one) current = undefined;
    }
  }, { ...(tool.label ? { label: tool.label } : {}), ...(tool.executionMode === 'sequential' ? { execution: 'sequential' } : {}) });
  changed();
}

function registerCommand(name, { description = '', handler }) {
  ext.command(name, description, async (one, args, input) => {
    current = one;
    const words = input.text?.startsWith('/') ? input.text.replace(/^\/\S+\s*/, '') : input.text ?? args.join(' ');
    await handler(words, contextOf(one));
    if (current === one) current = undefined;
    return { text: '' };
  });
  changed();
}

const flags = new Map();
const bus = new Map(); // topic -> handlers
const events = {
  on: (topic, handler) => {
    if (!bus.has(topic)) { bus.set(topic, new Set()); ext.hook(`bus:${topic}`, (one, data) => { for (const run of bus.get(topic)) run(data.data ?? data); }); changed(); }
    bus.get(topic).add(handler);
    return () => bus.get(topic).delete(handler);
  },
  emit: (topic, data) => { for (const run of bus.get(topic) ?? []) run(data); quiet(call().events('emit', { topic, data: data && typeof data === 'object' ? data : { value: data } })); },
};

const pi = {
  on, registerTool, registerCommand, events,
  registerFlag: (name, { default: value } = {}) => flags.set(name, value), getFlag: (name) => flags.get(name),
  registerShortcut: (key) => miss(`the shortcut ${key}`), registerMessageRenderer: (type) => miss(`drawing of messages ${type}`), registerEntryRenderer: (type) => miss(`drawing of entries ${type}`),
  registerProvider: (name) => miss(`the provider ${name}`), unregisterProvider: () => {}, setLabel: () => miss('setLabel'),
  exec: async (cmd, args = [], { timeout, cwd: dir } = {}) => call().exec(cmd, args, { ...(timeout ? { timeout_ms: timeout } : {}), ...(dir ? { cwd: dir } : {}) }),
  appendEntry: (type, data) => { quiet(call().session('append_entry', { type, data: data ?? {} })); },
  sendMessage: (message, options = {}) => { quiet(call().events('send_message', { content: textOf(message.content), custom_type: message.customType, details: message.details, ...(options.triggerTurn ? { trigger_turn: true } : {}) })); },
  sendUserMessage: (content, options = {}) => { quiet(call().events('send_user_message', { content: textOf(content), ...(options.deliverAs ? { deliver_as: options.deliverAs === 'followUp' ? 'follow_up' : 'steer' } : {}) })); },
  getActiveTools: () => (hostNow('events', { op: 'get_active_tools' }, {})?.tools ?? []).map((tool) => tool.name ?? tool), getAllTools: () => hostNow('events', { op: 'get_all_tools' }, {})?.tools ?? [],
  setActiveTools: (names) => { quiet(call().events('set_active_tools', { tools: names })); }, getCommands: () => hostNow('events', { op: 'get_commands' }, {})?.commands ?? [],
  setSessionName: (name) => { quiet(call().session('set_name', { name })); }, getSessionName: () => state().name,
  setModel: async (model) => { await call().session('set_model', { model: model.id ?? model }); return true; },
  getThinkingLevel: () => 'off', setThinkingLevel: () => miss('setThinkingLevel'),
};
const otherwise = new Proxy(pi, { get: (target, name) => (name in target || typeof name !== 'string' ? target[name] : (miss(`pi.${name}`), () => undefined)) });

// Converts a program's output to the form of pi's tools.
const asResult = (output) => (output.content ? output : { content: [{ type: 'text', text: [output.stdout, output.stderr].filter(Boolean).join('\n') }], details: output });
globalThis.parleyPi = { miss, tool: (name, input) => call().tool(name, input).then(asResult).catch((error) => { throw error instanceof HostError ? new Error(error.message) : error; }) };
process.on('unhandledRejection', (error) => console.error(error));

const module = await import(pathToFileURL(path).href);
const begin = module.default?.default ?? module.default;
if (typeof begin !== 'function') throw new Error('an extension of pi exports a function as its default');
await begin(otherwise);
process.stdin.on('data', (bytes) => { feed(bytes); serve(); }).on('end', () => process.exit(0));
ext.register();
isRunning = true;
