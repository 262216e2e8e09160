// Stand-ins for the packages that extensions of pi import: pi-coding-agent, pi-ai, pi-tui, pi-agent-core and typebox. They
// are bundled with the extension; outside calls use globalThis.parleyPi, which the adapter (pi.mjs) sets. Terminal
// drawing does nothing. Any other name is a stub, which reports itself once on stderr when it is used.
'use strict';

const host = () => globalThis.parleyPi;
const optional = Symbol('optional');

// --- typebox ----------------------------------------------------------------------------------------------------------

const schema = (fixed) => (options = {}) => ({ ...fixed, ...options });
const Type = {
  String: schema({ type: 'string' }), Number: schema({ type: 'number' }), Integer: schema({ type: 'integer' }), Boolean: schema({ type: 'boolean' }), Null: schema({ type: 'null' }),
  Any: schema({}), Unknown: schema({}), Never: schema({ not: {} }),
  Literal: (value, options = {}) => ({ const: value, type: typeof value, ...options }),
  Array: (items, options = {}) => ({ type: 'array', items, ...options }),
  Tuple: (items, options = {}) => ({ type: 'array', prefixItems: items, minItems: items.length, maxItems: items.length, ...options }),
  Union: (anyOf, options = {}) => ({ anyOf, ...options }),
  Intersect: (allOf, options = {}) => ({ allOf, ...options }),
  Enum: (values, options = {}) => ({ enum: Array.isArray(values) ? values : Object.values(values), ...options }),
  Record: (key, value, options = {}) => ({ type: 'object', additionalProperties: value, ...options }),
  Optional: (one) => ({ ...one, [optional]: true }),
  Readonly: (one) => one,
  Unsafe: (one = {}) => one,
  Object: (properties, options = {}) => {
    const required = Object.keys(properties).filter((name) => !properties[name][optional]);
    return { type: 'object', properties, ...(required.length ? { required } : {}), ...options };
  },
  Partial: (one) => ({ ...one, required: undefined }),
};
const StringEnum = (values, options = {}) => ({ type: 'string', enum: [...values], ...options });

// --- tools of pi: the host runs them -----------------------------------------------------------------------------------

const text = { type: 'string' }, count = { type: 'number' };
const parameters = {
  read: Type.Object({ path: text, offset: Type.Optional(count), limit: Type.Optional(count) }), write: Type.Object({ path: text, content: text }),
  edit: Type.Object({ path: text, oldText: text, newText: text }), bash: Type.Object({ command: text, timeout: Type.Optional(count) }),
  grep: Type.Object({ pattern: text, path: Type.Optional(text), glob: Type.Optional(text) }), find: Type.Object({ pattern: text, path: Type.Optional(text) }), ls: Type.Object({ path: Type.Optional(text) }),
};
const makeTool = (name) => () => ({
  name, label: name, description: `${name} of the workspace`, parameters: parameters[name],
  execute: async (id, params) => host().tool(name, params),
});
const tools = Object.fromEntries(Object.keys(parameters).flatMap((name) => {
  const word = name[0].toUpperCase() + name.slice(1);
  return [[`create${word}Tool`, makeTool(name)], [`create${word}ToolDefinition`, makeTool(name)]];
}));

// --- small helpers of pi -------------------------------------------------------------------------------------------------

const DEFAULT_MAX_LINES = 2000, DEFAULT_MAX_BYTES = 50 * 1024;
function cut(lines, { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = {}, fromEnd = false) {
  const all = lines.split('\n');
  let kept = fromEnd ? all.slice(-maxLines) : all.slice(0, maxLines);
  while (kept.length && Buffer.byteLength(kept.join('\n')) > maxBytes) kept = fromEnd ? kept.slice(1) : kept.slice(0, -1);
  const content = kept.join('\n');
  return { content, truncated: kept.length < all.length, truncatedBy: kept.length < all.length ? 'lines' : null, totalLines: all.length, totalBytes: Buffer.byteLength(lines), outputLines: kept.length, outputBytes: Buffer.byteLength(content) };
}
const formatSize = (bytes) => (bytes < 1024 ? `${bytes}B` : bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / (1 << 20)).toFixed(1)}MB`);
function parseFrontmatter(source) {
  const match = /^---\n([^]*?)\n---\n?/.exec(source);
  const frontmatter = Object.fromEntries((match?.[1] ?? '').split('\n').filter((line) => line.includes(':')).map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]));
  return { frontmatter, body: match ? source.slice(match[0].length) : source };
}

// --- drawing: there is no terminal ---------------------------------------------------------------------------------------

class Drawing {
  constructor(...args) { this.args = args; this.children = []; }
  addChild(child) { this.children.push(child); }
  removeChild() {} clear() { this.children = []; } invalidate() {} handleInput() {} setText() {} dispose() {} start() {} stop() {}
  render() { return []; }
}
const drawings = Object.fromEntries(['Text', 'Container', 'Box', 'Spacer', 'Markdown', 'SelectList', 'SettingsList', 'Editor', 'Input', 'Image', 'Loader', 'TUI', 'CustomEditor', 'BorderedLoader', 'DynamicBorder', 'TruncatedText'].map((name) => [name, class extends Drawing {}]));
const plain = (value) => String(value ?? '').replace(/\x1b\[[0-9;]*m/g, '');
const theme = new Proxy({}, { get: (_, name) => (name === 'fg' || name === 'bg' ? (colour, value) => String(value ?? '') : (value) => String(value ?? '')) });
const keys = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? (/^(ctrl|alt|shift|super)/.test(name) ? (key) => `${name}+${key}` : name) : undefined) });

const known = {
  Type, StringEnum, ...tools, DEFAULT_MAX_LINES, DEFAULT_MAX_BYTES, formatSize, parseFrontmatter, ...drawings, Key: keys, CURSOR_MARKER: '',
  VERSION: '0.74.2',
  defineTool: (tool) => tool,
  isToolCallEventType: (name, event) => event.toolName === name,
  isBashToolResult: (event) => event.toolName === 'bash', isReadToolResult: (event) => event.toolName === 'read', isEditToolResult: (event) => event.toolName === 'edit', isWriteToolResult: (event) => event.toolName === 'write',
  truncateHead: (value, options) => cut(value, options), truncateTail: (value, options) => cut(value, options, true),
  withFileMutationQueue: async (path, work) => work(),
  getAgentDir: () => '/tmp/pi', getMarkdownTheme: () => theme, getSettingsListTheme: () => theme, getSelectListTheme: () => theme,
  convertToLlm: (messages) => messages,
  serializeConversation: (messages) => messages.map((message) => `${message.role}: ${typeof message.content === 'string' ? message.content : (message.content ?? []).map((block) => block.text ?? '').join('')}`).join('\n'),
  matchesKey: () => false, parseKey: () => undefined, isKeyRelease: () => false,
  truncateToWidth: (value, width) => { const all = plain(value); return [...all].length > width ? [...all].slice(0, width).join('') : all; },
  visibleWidth: (value) => [...plain(value)].length, wrapTextWithAnsi: (value) => String(value).split('\n'),
  fuzzyFilter: (items, query, textOf = String) => items.filter((item) => textOf(item).toLowerCase().includes(String(query).toLowerCase())),
  parleyTheme: theme,
};

// A class that can be extended, called and constructed, and does nothing.
const stubs = new Map();
function stub(name) {
  if (!stubs.has(name)) {
    const say = () => host()?.miss(`${name} of the pi packages`);
    const made = function () { say(); };
    made.prototype = Drawing.prototype;
    stubs.set(name, new Proxy(made, { apply: () => { say(); return undefined; }, construct: (_, args) => { say(); return new Drawing(...args); } }));
  }
  return stubs.get(name);
}
const others = new Proxy({}, { get: (_, name) => (typeof name !== 'string' || name === 'then' || name === '__esModule' || name === 'default' || name === 'toJSON' ? undefined : stub(name)) });
module.exports = Object.setPrototypeOf(known, others);
