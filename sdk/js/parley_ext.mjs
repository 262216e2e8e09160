// Extensions for Parley in JavaScript and TypeScript: one file, no dependencies. Copy it to the directory of your program.
//
//     import { Extension } from './parley_ext.mjs';
//     const ext = new Extension();              // reads name, version and capabilities from extension.json
//     ext.tool('greet', 'Greets somebody.', { type: 'object', properties: { name: { type: 'string' } } },
//       async (call, input) => `Hello, ${input.name}!`);
//     ext.run();
//
// The return value of a handler is the result: a text, an array of content blocks, or the whole output object. A thrown
// error is an error result. `call` calls the host: call.host(method, params), or the shortcuts call.read, write, exec,
// http, ask …; each throws a HostError if the host refuses. TypeScript takes its types from the comments.
//
// stdout is reserved for the protocol: console.log writes to stderr, which is the extension's log.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** @typedef {Record<string, any>} Data */
/** @typedef {string | Data[] | Data | void} Result */
/** @typedef {(call: Call, input: Data) => Result | Promise<Result>} ToolHandler */
/** @typedef {(call: Call, args: string[], input: Data) => Result | Promise<Result>} CommandHandler */
/** @typedef {(call: Call, data: Data, event: string) => Data | void | Promise<Data | void>} HookHandler */

const toolCapabilities = { read: 'read', grep: 'read', find: 'read', ls: 'read', write: 'write', edit: 'write', bash: 'exec' };
const fsWrites = new Set(['write', 'mkdir', 'delete', 'remove', 'rm']);

/**
 * The capability that the host derives for a call; a frame must name the same one.
 * @param {string} method @param {Data} params
 */
export function capabilityOf(method, params) {
  const word = (value) => String(value ?? '').trim().toLowerCase();
  if (method === 'tool') return Object.hasOwn(toolCapabilities, word(params.name)) ? toolCapabilities[word(params.name)] : 'tool';
  if (method === 'fs') return fsWrites.has(word(params.op)) ? 'write' : 'read';
  return method;
}

/** The host answered with an error: code is denied, timeout, io, invalid_request or internal. */
export class HostError extends Error {
  /** @param {Data} error */
  constructor(error) {
    super(error.message);
    this.name = 'HostError';
    this.code = error.code;
    this.details = error.details ?? {};
    this.reason = this.details.reason;
    this.retryable = error.retryable ?? false;
  }
}

class NoSuchName extends Error {}

/** One tool call, command or hook, with the functions to call the host from it. */
export class Call {
  /** @param {Extension} ext @param {string | undefined} parent @param {Data} context */
  constructor(ext, parent, context) {
    this.ext = ext;
    this.parent = parent;
    this.context = context;
    this.controller = new AbortController();
    this.signal = this.controller.signal; // aborted when the call is cancelled
  }

  /** Calls the host and waits for the output. @param {string} method @param {Data} params @param {number} [timeoutMs] @returns {Promise<Data>} */
  async host(method, params, timeoutMs) {
    let output = {};
    for await (const answer of this.#answers(method, params, timeoutMs)) output = answer.output;
    return output;
  }

  /** Yields the chunks of a call; each one that is used requests one more. @param {string} method @param {Data} params @param {{timeoutMs?: number, credits?: number}} [how] @returns {AsyncGenerator<Data>} */
  async *stream(method, params, { timeoutMs, credits = 16 } = {}) {
    for await (const answer of this.#answers(method, { ...params, stream: { credits } }, timeoutMs)) {
      yield answer.output;
      if (!answer.chunk?.is_last) this.ext.hookFrame('stream.credit', { call_id: answer.call_id, credits: 1 });
    }
  }

  async *#answers(method, params, timeoutMs) {
    this.signal.throwIfAborted();
    const callId = `h${++this.ext.nSent}`;
    const queue = [];
    let wake = () => {};
    this.ext.expected.set(callId, (answer) => { queue.push(answer); wake(); });
    const onAbort = () => wake();
    this.signal.addEventListener('abort', onAbort);
    this.ext.send('host_call', {
      call_id: callId, capability: capabilityOf(method, params), method, params,
      context: this.parent ? { parent: this.parent } : {}, ...(timeoutMs ? { timeout_ms: timeoutMs } : {}),
    }, callId);
    try {
      for (;;) {
        while (!queue.length) {
          this.signal.throwIfAborted();
          await new Promise((resolve) => { wake = () => resolve(undefined); });
        }
        const answer = queue.shift();
        if (answer.is_error) throw new HostError(answer.error);
        yield answer;
        if (answer.chunk?.is_last ?? true) return;
      }
    } finally {
      this.signal.removeEventListener('abort', onAbort);
      this.ext.expected.delete(callId);
    }
  }

  /** Shows the progress of a tool; each call replaces the text before. @param {string} text */
  progress(text) {
    this.ext.hookFrame('tool_execution_update', { call_id: this.parent, content: [{ type: 'text', text }] });
  }

  /** @param {string} name @param {Data} input */
  tool(name, input) { return this.host('tool', { name, input }); }
  /** @param {string} path @param {Data} [more] @returns {Promise<string>} */
  async read(path, more) { return (await this.host('fs', { op: 'read', path, ...more })).content ?? ''; }
  /** @param {string} path @param {string} content @param {Data} [more] */
  write(path, content, more) { return this.host('fs', { op: 'write', path, content, ...more }); }
  /** @param {string} cmd @param {string[]} [args] @param {Data} [options] */
  exec(cmd, args = [], options = {}) { return this.host('exec', { cmd, args, options }); }
  /** @param {string} url @param {Data} [more] method, headers, body … */
  http(url, more) { return this.host('http', { url, method: 'GET', headers: {}, ...more }); }
  /** @param {...string} names @returns {Promise<Data>} */
  async env(...names) { return (await this.host('env', { names })).values; }
  /** @param {string} op @param {Data} [params] */
  session(op, params) { return this.host('session', { op, ...params }); }
  /** @param {string} op @param {Data} [params] */
  events(op, params) { return this.host('events', { op, ...params }); }
  /** @param {string} op @param {Data} [params] */
  ui(op, params) { return this.host('ui', { op, ...params }); }
  /** Asks the person: one of options, yes or no (with a message), or a text. Undefined: dismissed. @param {string} title @param {Data} [more] */
  async ask(title, more = {}) {
    const op = more.options ? 'select' : 'message' in more ? 'confirm' : 'input';
    const answer = await this.ui(op, { title, ...more });
    return answer.dismissed ? undefined : answer.value;
  }
}

/** Whether a subscription (NAME, NAME!, NAME:GLOB or NAME!:GLOB) matches an event. @param {string} subscription @param {string} event @param {string} name */
export function matches(subscription, event, name) {
  const [head, ...rest] = subscription.split(':');
  if (head === 'bus') return subscription === event;
  const glob = rest.join(':').replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.');
  return head.replace(/!$/, '') === event && (!rest.length || new RegExp(`^${glob}$`).test(name));
}

/** @param {Result} result @returns {Data} */
const outputOf = (result) => Array.isArray(result) ? { content: result }
  : result && typeof result === 'object' ? result : { text: result === undefined ? '' : String(result) };

export class Extension {
  /** @param {Data} [manifest] the object of extension.json; without it the file in the program's directory is read */
  constructor(manifest) {
    this.manifest = manifest ?? JSON.parse(readFileSync(join(dirname(process.argv[1]), 'extension.json'), 'utf8'));
    /** @type {Map<string, {definition: Data, handler: ToolHandler}>} */ this.tools = new Map();
    /** @type {Map<string, {definition: Data, handler: CommandHandler}>} */ this.commands = new Map();
    /** @type {Map<string, HookHandler>} */ this.hooks = new Map();
    /** @type {Map<string, Call>} */ this.calls = new Map();
    /** @type {Map<string, (answer: Data) => void>} */ this.expected = new Map();
    this.nSent = 0;
    /** @type {WebSocket | undefined} */ this.socket = undefined;
    /** @type {Data | undefined} */ this.ready = undefined; // data of extension.ready
  }

  /** @param {string} name @param {string} description @param {Data} parameters @param {ToolHandler} handler @param {Data} [more] label, timeout_ms … */
  tool(name, description, parameters, handler, more) {
    this.tools.set(name, { definition: { name, description, parameters, ...more }, handler });
  }
  /** @param {string} name @param {string} description @param {CommandHandler} handler */
  command(name, description, handler) { this.commands.set(name, { definition: { name, description }, handler }); }
  /** "tool_call:bash", "tool_call!" … @param {string | string[]} events @param {HookHandler} handler */
  hook(events, handler) { for (const event of [events].flat()) this.hooks.set(event, handler); }

  /** @param {'debug' | 'info' | 'warn' | 'error'} level @param {string} message @param {string} [event] @param {Data} [data] */
  log(level, message, event = 'log', data) {
    this.send('log', {
      schema: 'pi.ext.log.v1', ts: new Date().toISOString(), level, event, message,
      correlation: { extension_id: this.manifest.extension_id, scenario_id: 'runtime' },
      source: { component: 'extension' }, ...(data ? { data } : {}),
    });
  }

  /** @param {string} type @param {Data} payload @param {string} [id] */
  send(type, payload, id = `x${++this.nSent}`) {
    const line = JSON.stringify({ id, version: '1.0', type, payload });
    if (this.socket) this.socket.send(line);
    else process.stdout.write(`${line}\n`);
  }
  /** @param {string} event @param {Data} data @param {string} [id] */
  hookFrame(event, data, id) { this.send('event_hook', { event, data }, id); }

  /** Sends the registration. run() calls it; call it again after tools or hooks have changed. */
  register() {
    const { name, version, api_version, capabilities, capability_manifest } = this.manifest;
    const definitions = (map) => [...map.values()].map(({ definition }) => definition);
    this.send('register', {
      name, version, api_version, ...(capabilities ? { capabilities } : {}), ...(capability_manifest ? { capability_manifest } : {}),
      tools: definitions(this.tools), slash_commands: definitions(this.commands), event_hooks: [...this.hooks.keys()],
    }, 'register');
  }

  /**
   * Serves until the host ends it. With an open socket (of `ws`, or any other WebSocket), for a remote extension, the promise
   * resolves to the code and the reason of its close.
   * @param {{ socket?: any }} [how]
   */
  run({ socket } = {}) {
    if (socket) return this.#runOver(socket);
    console.log = console.info = console.debug = (...words) => console.error(...words);
    this.register();
    createInterface({ input: process.stdin, crlfDelay: Infinity })
      .on('line', (line) => this.take(JSON.parse(line)))
      .on('close', () => process.exit(0)); // the host has closed the pipe
  }

  #runOver(socket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(data);
      this.take(frame);
      if (frame.payload.event === 'shutdown') socket.close(1000);
    });
    this.register();
    return new Promise((resolve) => { socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason })); });
  }

  /** Handles one frame of the host. @param {Data} frame */
  take({ id, type, payload }) {
    if (type === 'tool_call') this.#runTool(id, payload);
    else if (type === 'slash_command') this.#runCommand(id, payload);
    else if (type === 'event_hook') this.#runHook(id, payload);
    else if (type === 'host_result') this.expected.get(payload.call_id)?.(payload);
    else if (type === 'log' && payload.event === 'extension.ready') this.ready = payload.data ?? {};
    else if (type === 'error') console.error(`the host refused a frame: ${payload.code}: ${payload.message}`);
  }

  async #answer(key, call, work, finish) {
    this.calls.set(key, call);
    try {
      finish(outputOf(await work(call)), false);
    } catch (error) {
      if (call.signal.aborted) return;
      if (!(error instanceof NoSuchName)) console.error(error);
      finish({ text: String(error?.message ?? error) }, true);
    } finally {
      this.calls.delete(key);
    }
  }

  #runTool(id, { call_id, name, input, context = {} }) {
    const none = () => { throw new NoSuchName(`there is no tool ${name}`); };
    const handler = this.tools.get(name)?.handler ?? none;
    this.#answer(call_id, new Call(this, call_id, context), (call) => handler(call, input),
      (output, is_error) => this.send('tool_result', { call_id, output, is_error }, id));
  }

  #runCommand(id, { name, args = [], input = {} }) {
    const none = () => { throw new NoSuchName(`there is no command ${name}`); };
    const handler = this.commands.get(name)?.handler ?? none;
    this.#answer(id, new Call(this, id, input), (call) => handler(call, args, input),
      (output, is_error) => this.send('slash_result', { output, is_error }, id));
  }

  #runHook(id, { event, data = {} }) {
    if (event === 'cancel') {
      this.calls.get(data.call_id)?.controller.abort();
      return;
    }
    const handlers = [...this.hooks].filter(([key]) => matches(key, event, data.tool_name ?? data.topic ?? ''));
    if (!handlers.length) return;
    this.#answer(id, new Call(this, id, data), async (call) => {
      const answer = {};
      for (const [, handler] of handlers) Object.assign(answer, await handler(call, data, event));
      return answer;
    }, (output, isError) => isError ? this.send('error', { code: 'internal', message: output.text }, id) : this.hookFrame(event, output, id));
  }
}
