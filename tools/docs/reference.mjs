#!/usr/bin/env node
// Makes the pages of docs/reference from the program and its tables:
//
//     node tools/docs/reference.mjs PARLEY            writes them
//
// A test makes them again and compares. Data of tables in the source is read there; everything else comes from the program's
// output.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = (...path) => readFileSync(join(root, 'src', ...path), 'utf8');
const made = 'This page is made from the program by `make docs`.';
const cell = (text) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ').trim();

// --- commands

const say = (program, args) => execFileSync(program, args, { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: '/home/you', LC_ALL: 'C.UTF-8', COLUMNS: '80' } });

function commands(program) {
  const help = say(program, ['help']);
  const rows = [...help.match(/^Commands\n([^]*?)\n\n/m)[1].matchAll(/^ {2}([a-z]+) +(.*)$/gm)];
  const table = rows.map(([, name, about]) => `| [\`parley ${name}\`](#parley-${name}) | ${cell(about)} |`).join('\n');
  const pages = rows.map(([, name]) => `## parley ${name}\n\n\`\`\`text\n${say(program, ['help', name]).trimEnd()}\n\`\`\``).join('\n\n');
  return `# Commands\n\n${made} \`parley help COMMAND\` and the manual page say the same; \`parley help COMMAND ACTION\` has the options of
one action.\n\n| command | what it does |\n|---|---|\n${table}\n\n${pages}\n`;
}

// --- settings

const KINDS = { TEXT: 'text', PORT: 'number', TIME: 'milliseconds', COUNT: 'number', FLAG: '`true` or `false`', LIST: 'list', LEVEL: '`error`, `warning`, `info` or `request`', PERIOD: 'time (`1d`, `12h`)' };

// The meaning of settings that are not options, and so have no line in the help of `serve`.
const MEANINGS = {
  bus_file: 'A file whose first line is the address of the bus, in the place of `bus`: for an address with a password',
  store_password_file: 'The file with the password of a PostgreSQL store',
  store_answer_ms: 'How long PostgreSQL may take to answer',
  store_away_ms: 'How long a commit waits for PostgreSQL to come back',
  trusted_proxies: 'Proxies whose X-Forwarded-For is believed',
  proxy_protocol: 'Proxies that begin each connection with a PROXY header',
  fetch_ms: 'How long the download of a file may take',
  queue_wait_ms: 'How long a request waits for a worker',
  access_log: 'Where requests are logged: `off`, `stderr`, `journald` or a path',
  access_log_level: 'Which requests are: `error`, `warning` or `request`',
  access_log_max_mib: 'How large a file of the access log grows before it is rotated',
  access_log_keep: 'How many rotated files stay',
  gateway_record: 'Which exchanges of the gateway become sessions without being asked to: `off` or `sessions`, all of them',
  allow_unpriced: 'A model without a price passes a budget in money',
  probe: 'Servers of models on this machine are looked for',
  upstream_connect_ms: 'How long connecting to a vendor may take',
  upstream_first_byte_ms: 'How long the first byte of an answer may take',
  upstream_idle_ms: 'How long a vendor may be silent within an answer',
  upstream_cooldown_ms: 'How long a model that failed is skipped in a chain of fallbacks',
  upstream_answer_ms: 'How long an answer in a session may take',
  demo_word_ms: 'How long demo/agent takes for a word',
  client_tool_ms: 'How long a client may take to run a tool of its own',
  turn_ms: 'How long all work on one message may take',
  task_ms: 'How long a run of a task may take',
  otlp_endpoint: 'Where traces are sent, as OTLP',
  otlp_headers_file: 'A file with headers for that, one to a line',
  otlp_sample_percent: 'How many of the traces that begin here are sent',
  deleted_days: 'For how many days what was deleted can be restored; 0: not at all',
  retention_days: 'Sessions that were not changed for so many days are deleted; 0: none',
  blob_grace: 'How long a blob stays that nothing refers to any more',
  backup_dir: 'Where scheduled backups go',
  backup_every: 'How often they are made',
  backup_keep: 'How many of them stay',
  schedules: 'Tasks run when they are due',
  until_unused: 'The server ends when no command uses it any more',
  ext_env: 'Variables for extensions: `NAME=VALUE`, or `NAME@HOST=VALUE` for a secret that only goes to that host',
};

function optionWords(program) {
  const text = say(program, ['help', 'serve']).match(/^Options\n([^]*?)\n\n/m)[1];
  return new Map([...text.matchAll(/^ {2}--([a-z-]+)[^\n]*\n((?: {6}[^\n]*\n?)+)/gm)].map(([, name, about]) => [name, cell(about)]));
}

function settings(program) {
  const about = optionWords(program);
  const table = source('app/server/serve_config.c').match(/settings\[\] = \{([^]*?)\n\};/)[1];
  const rows = [...table.matchAll(/\{"([a-z_]+)",\s*(FIXED|LIVE),\s*(\w+),\s*(\w+),\s*AT\(\w+\),\s*(NULL|"[^"]*"|\w+),/g)].map(([, name, life, option, kind, value]) => {
    const names = [name, name.replace(/_(ms|mib)$/, '')].map((word) => word.replaceAll('_', '-'));
    const flag = option === 'NO_OPTION' ? '' : names.find((word) => about.has(word)) ?? '';
    const meaning = about.get(flag) ?? MEANINGS[name];
    if (!meaning) throw new Error(`tools/docs/reference.mjs does not say what the setting ${name} means`);
    const preset = value === 'NULL' ? '' : value.startsWith('"') ? `\`${value.slice(1, -1)}\`` : '';
    return `| \`${name}\` | ${KINDS[kind] ?? kind.toLowerCase()} | ${preset} | ${flag ? `\`--${flag}\`` : ''} | ${life === 'LIVE' ? 'reload' : 'restart'} | ${cell(meaning)} |`;
  });
  return `# Settings\n\n${made} A setting is a line of the configuration file (\`port: 9000\`) and a variable of the environment
(\`PARLEY_PORT\`, the name in capitals). Many are options of \`parley serve\`, too. An option overrides the environment, and the
environment overrides the file. \`parley serve --print-config\` shows all with their values and where they come from.

A change of the file applies after a *reload* (\`parley reload\`) or a *restart*. More about them is in
[the server](../guide/server.md), [operations](../guide/operations.md), [access](../guide/access.md), [models](../guide/models.md)
and [extensions](../guide/extensions.md). Providers, aliases and OpenID Connect are sections of the same file:
[models](../guide/models.md), [signing in](../guide/access.md#openid-connect).

| setting | value | default | option | applies after | meaning |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

// --- routes

const get = (socketPath, path) => new Promise((resolve, reject) => {
  http.get({ socketPath, path }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece) => { text += piece; }).on('end', () => resolve(text));
  }).on('error', reject);
});

export async function openapi(program) {
  const data = mkdtempSync(join(tmpdir(), 'parley-docs-'));
  const child = spawn(program, ['serve', '--port', '0', '--data', data, '--log-level', 'error'], { env: { PATH: process.env.PATH, HOME: data }, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((resolve, reject) => { child.stdout.once('data', resolve); child.once('exit', () => reject(new Error('the server did not start'))); });
    return JSON.parse(await get(join(data, 'parley.sock'), '/openapi.json'));
  } finally {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => { child.once('exit', resolve); });
    child.kill();
    await ended;
    rmSync(data, { recursive: true, force: true });
  }
}

const WORDS = { name: 'mine', title: 'daily', content: 'Hello {{name}}', message: 'hello world', cron: '0 9 * * *', prompt: 'hello', query: 'Kyoto', url: 'https://example.org/a.png', label: 'production', model: 'demo/echo', role: 'member', code: '…', to: 'anthropic' };

// A small value that fits a schema: its required members, and the first of each list of alternatives.
export function example(schema, all, name = '', depth = 0) {
  if (!schema || depth > 5) return {};
  if (schema.$ref) return example(all[schema.$ref.split('/').at(-1)], all, name, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' || schema.properties) {
    const required = new Set([schema, schema.anyOf?.[0], schema.oneOf?.[0]].flatMap((part) => part?.required ?? []));
    if (!required.size && schema.minProperties) required.add(Object.keys(schema.properties)[0]);
    return Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([key]) => required.has(key)).map(([key, member]) => [key, example(member, all, key, depth + 1)]));
  }
  for (const list of [schema.oneOf, schema.anyOf, schema.allOf]) if (list) return example(list[0], all, name, depth + 1);
  if (type === 'array') return schema.minItems ? [example(schema.items, all, name, depth + 1)] : [];
  if (type === 'integer' || type === 'number') return schema.minimum > 1 ? schema.minimum : 1;
  if (type === 'boolean') return true;
  return WORDS[name] ?? '…';
}

function route(path, method, operation, schemas) {
  const query = operation.parameters?.filter((p) => p.in === 'query') ?? [];
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const [status, answer] = Object.entries(operation.responses)[0];
  const named = (schema) => schema?.$ref ? `\`${schema.$ref.split('/').at(-1)}\`` : '';
  const facts = [
    `answers ${status}${named(answer.content?.['application/json']?.schema) ? ` with ${named(answer.content['application/json'].schema)}` : ''}`,
    body && `body ${named(body)}`,
    operation['x-parley-scopes'] ? `scopes ${operation['x-parley-scopes'].map((scope) => `\`${scope}\``).join(', ')}` : 'needs no key',
    operation.parameters?.some((p) => p.name === 'Idempotency-Key') && '`Idempotency-Key`',
  ].filter(Boolean).join(' · ');
  const parameters = query.length ? `\n\n| query | meaning |\n|---|---|\n${query.map((p) => `| \`${p.name}\` | ${cell(p.description ?? '')} |`).join('\n')}` : '';
  const target = path.replace(/\{(\w+)\}/g, (_, name) => name.toUpperCase());
  const sent = body ? ` --json '${JSON.stringify(example(body, schemas)).replaceAll("'", "'\\''")}'` : method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  return `### ${method.toUpperCase()} ${path}\n\n${operation.summary}. ${facts[0].toUpperCase()}${facts.slice(1)}.${parameters}\n\n\`\`\`sh\ncurl -H "Authorization: Bearer $KEY"${sent} "$URL${target}"\n\`\`\``;
}

async function routes(program) {
  const { paths, components } = await openapi(program);
  const groups = new Map();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (tag !== 'page') groups.set(tag, [...groups.get(tag) ?? [], route(path, method, operation, components.schemas)]);
    }
  const parts = [...groups].sort(([a], [b]) => a < b ? -1 : 1).map(([tag, list]) => `## ${tag[0].toUpperCase()}${tag.slice(1)}\n\n${list.join('\n\n')}`);
  return `# Routes\n\n${made} \`GET /openapi.json\` has the same with every schema: the names in \`code\` are components of it. The
bodies in the examples are the smallest that fit; \`URL\` is the address of the server and \`KEY\` a key.\n\n${parts.join('\n\n')}\n`;
}

// --- errors

// The rows of a table of X(…); a text may be split into several literals.
function tableOf(text, name) {
  const body = text.match(new RegExp(`#define ${name}\\(X\\)([^]*?)\\n\\n`))[1].replaceAll('\\\n', ' ');
  return [...body.matchAll(/X\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)/g)].map(([, inner]) =>
    [...inner.matchAll(/"((?:[^"\\]|\\.)*)"(?:\s*"((?:[^"\\]|\\.)*)")*|[^,\s][^,]*/g)].map(([all, text1]) => text1 === undefined ? all.trim() : all.replace(/"\s*"/g, '').slice(1, -1)));
}

function errors() {
  const rows = tableOf(source('host/http/reply/problem.h'), 'PL_PROBLEM_TABLE')
    .map(([, code, status, retryable, title]) => `| \`${code}\` | ${status} | ${retryable === 'true' ? 'yes' : 'no'} | ${cell(title)} |`);
  const codes = [[0, 'success'], [1, 'a negative answer: refused, invalid, not found'], [2, 'a wrong command line'], [3, 'input that cannot be read'], [4, 'no server answers, the server failed, or output failed']];
  const model = [...source('host/model/model.c').matchAll(/\{\d{3}, \d{3}, "([a-z_]+)"\}/g)].map(([, code]) => code);
  return `# Errors\n\n${made} Every error of the server is \`application/problem+json\` (RFC 9457) with a stable \`code\`. \`detail\` says in a
sentence what is wrong and what to do; \`errors\` has a JSON Pointer for each mistake in a body; \`request_id\` is in the log, too. The
gateway answers in the form of the client's vendor instead. Frames of a [socket](protocol.md#errors) get the same codes.

| code | status | again? | title |\n|---|---|---|---|\n${rows.join('\n')}

*again?* is the member \`retryable\`: the same request may succeed later. Every 429, 503 and 507 has a \`Retry-After\` header.

## Failed turns

A turn that failed has \`error\` (a sentence) and \`error_info\` with a \`code\`: ${[...new Set([...model, 'context_length_exceeded', 'not_admitted', 'model_failed'])].map((code) => `\`${code}\``).join(', ')}.

## Exit codes

| code | meaning |\n|---|---|\n${codes.map(([code, about]) => `| ${code} | ${about} |`).join('\n')}\n`;
}

// --- losses and findings

const LOSSES = {
  dropped: 'The target has no place for it. The carry keeps it.',
  approximated: 'The target says something close: another effort, a rounded time, another tier.',
  moved: 'It is said in another place, or follows from something else that is said.',
  reordered: 'It is there, in another order.',
  merged: 'Several values became one, such as two texts or two messages of one role.',
  synthesised: 'The target requires a value that the source does not have, so one was made: an id, a name, a result.',
};

function losses() {
  const codes = [...source('core/conv/conv.h').match(/enum pl_loss_code \{([^]*?)\}/)[1].matchAll(/PL_LOSS_([A-Z]+),/g)].map(([, name]) => name.toLowerCase()).filter((name) => name !== 'count');
  for (const code of codes) if (!LOSSES[code]) throw new Error(`tools/docs/reference.mjs does not know the loss ${code}`);
  return `# Loss codes\n\n${made} A conversion reports everything that the target cannot express, as a list of
\`{"code", "pointer", "detail"}\`. \`pointer\` is the place in the source. A document without losses has \`"lossless": true\`. The
header \`Parley-Loss\` and \`--report FILE\` have the same list. [Conversion](../guide/conversion.md) explains it;
[the mapping table](../guide/mapping.md) shows for each setting what becomes of it.

| code | meaning |\n|---|---|\n${codes.map((code) => `| \`${code}\` | ${LOSSES[code]} |`).join('\n')}\n`;
}

function sourcesOf(folder) {
  return readdirSync(join(root, 'src', folder), { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1).flatMap((entry) => entry.isDirectory()
    ? sourcesOf(join(folder, entry.name)) : entry.name.endsWith('.c') ? [source(folder, entry.name)] : []);
}

function findings() {
  const found = new Map();
  const call = /"([a-z]+\.[a-z_.]+)",\s*([^,;]*?),\s*[^";]*?((?:"(?:[^"\\]|\\.)*"\s*)+)/g;
  for (const text of [...sourcesOf('core/conv'), ...sourcesOf('core/format'), ...sourcesOf('core/document')])
    for (const [, code, how, message] of text.matchAll(call)) {
      // One that is decided elsewhere is an error, or a warning where the result says that the call failed.
      const severity = how === 't->severity' ? 'error or warning' : how.match(/PL_SEVERITY_([A-Z]+)/g)?.map((word) => word.slice(12).toLowerCase()).join(' or ');
      if (!severity) continue;
      const says = cell(message.replace(/"\s*"/g, '').trim().slice(1, -1).replace(/%[-.*0-9]*[a-z]+/g, '…').replaceAll('\\"', '"'));
      const row = found.get(code) ?? { severity: new Set(), says: new Set() };
      row.severity.add(severity);
      row.says.add(says);
      found.set(code, row);
    }
  // Those whose words come from another part: the parser, or the report of a conversion.
  for (const [code, severity, says] of [['json.lenient', 'warning', 'what strict JSON refuses at this place'], ['setting.refused', 'error', 'what the target would refuse of the settings']])
    found.set(code, { severity: new Set([severity]), says: new Set([says]) });
  const rows = [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([code, row]) => `| \`${code}\` | ${[...row.severity].join(', ')} | ${[...row.says].join('<br>').replaceAll('<br>', ' · ')} |`);
  return `# Lint rules\n\n${made} \`parley lint FILE\`, \`POST /api/lint\` and the workbench find these mistakes and risks in a conversation. Each
finding has a code, a severity, a JSON Pointer and a hint. \`--for TARGET\` also finds what a format or the models of a profile would
refuse; \`--fix\` repairs what can be repaired without a guess. … stands for a value.

| code | severity | what it says |\n|---|---|---|\n${rows.join('\n')}\n`;
}

// The pages by name.
export async function pages(program) {
  return new Map([
    ['commands.md', commands(program)], ['settings.md', settings(program)], ['routes.md', await routes(program)],
    ['errors.md', errors()], ['losses.md', losses()], ['lint.md', findings()],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!process.argv[2]) {
    console.error('usage: node tools/docs/reference.mjs PARLEY');
    process.exit(2);
  }
  for (const [name, text] of await pages(process.argv[2])) writeFileSync(join(root, 'docs/reference', name), text);
}
