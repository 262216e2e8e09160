// The edits of a finding fix it: applied by RFC 6902, they remove the finding and cause no new error. Documents of
// every format are damaged pseudo-randomly; the test applies the edits with its own code.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from './harness.mjs';
import { start } from './server.mjs';

const golden = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden');
const formats = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'harmony', 'envelope', 'structured-chat', 'turns'];

let server;
before(async () => { server = await start(); });

const lint = async (document, rest, headers = {}) => server.ask('POST', '/api/lint', { body: { document, ...rest }, headers });

function apply(document, edits) {
  const made = structuredClone(document);
  for (const { op, pointer, value } of edits) {
    const steps = pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop();
    const parent = steps.reduce((at, step) => at[step], made);
    if (op === 'remove' && Array.isArray(parent)) parent.splice(Number(last), 1);
    else if (op === 'remove') delete parent[last];
    else if (op === 'add' && Array.isArray(parent)) parent.splice(Number(last), 0, value);
    else parent[last] = value;
  }
  return made;
}

const count = (findings, keep) => findings.reduce((sums, it) => (keep(it) ? sums.set(it.code, (sums.get(it.code) ?? 0) + 1) : sums), new Map());

async function holds(document, rest) {
  const { status, json } = await lint(document, rest);
  if (status !== 200) return [];
  const errors = count(json.findings, (it) => it.severity === 'error');
  const mended = [];
  for (const finding of json.findings.filter(({ fix }) => fix)) {
    const after = (await lint(apply(document, finding.fix), rest)).json.findings;
    const what = `${JSON.stringify(rest)} ${JSON.stringify(finding)}\n${JSON.stringify(document)}`;
    assert.ok(after, what);
    const same = (it) => it.code === finding.code && it.message === finding.message;
    assert.ok(after.filter(same).length < json.findings.filter(same).length, `still there: ${what}`);
    for (const [code, n] of count(after, (it) => it.severity === 'error')) assert.ok(n <= (errors.get(code) ?? 0), `${code} is new: ${what}`);
    mended.push(finding.code);
  }
  return mended;
}

// The generator of Numerical Recipes: the same damage in every run.
const random = (seed) => () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 32; };

function damage(document, next) {
  const made = structuredClone(document), places = [];
  const walk = (value) => {
    if (!value || typeof value !== 'object') return;
    for (const key of Object.keys(value)) { places.push([value, Array.isArray(value) ? Number(key) : key]); walk(value[key]); }
  };
  walk(made);
  const [parent, key] = places[Math.floor(next() * places.length)] ?? [];
  if (!parent) return made;
  const kind = Math.floor(next() * 4);
  if (kind === 0 && Array.isArray(parent)) parent.splice(key, 1);
  else if (kind === 1 && Array.isArray(parent)) parent.splice(key, 0, structuredClone(parent[key]));
  else if (kind === 2) parent[key] = typeof parent[key] === 'string' ? '' : parent[key];
  else if (Array.isArray(parent)) parent.push(...parent.splice(key, 1));
  else delete parent[key];
  return made;
}

for (const format of formats) {
  test(`edits mend what they are for: ${format}`, async () => {
    const next = random(formats.indexOf(format) + 1);
    const files = readdirSync(join(golden, format)).map((name) => join(golden, format, name, 'in.json')).filter((path) => existsSync(path)).slice(0, 12);
    assert.ok(files.length > 0);
    const rounds = Math.ceil(36 / files.length);
    for (const file of files) {
      let document;
      try { document = JSON.parse(readFileSync(file, 'utf8')); } catch { continue; }
      if (readFileSync(file).length > 20000) continue;
      for (let i = 0; i < rounds; i++) await holds(damage(damage(document, next), next), { as: format });
    }
  });
}

const call = (...ids) => ({ role: 'assistant', content: null, tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })) });
const user = (content) => ({ role: 'user', content });
const chat = (...messages) => ({ model: 'gpt-4o', messages });

test('what has edits: pairing, emptiness, arguments, settings, counts, ids', async () => {
  const cases = [
    ['tool.missing', chat(user('a'), call('x', 'y'), { role: 'tool', tool_call_id: 'x', content: '1' }, user('b')), { as: 'openai-chat' }],
    ['tool.orphan', chat(user('a'), { role: 'tool', tool_call_id: 'z', content: '1' }, user('b')), { as: 'openai-chat' }],
    ['tool.duplicate', chat(user('a'), call('x'), { role: 'tool', tool_call_id: 'x', content: '1' }, { role: 'tool', tool_call_id: 'x', content: '2' }, user('b')), { as: 'openai-chat' }],
    ['tool.late', chat(user('a'), call('x'), user('b'), { role: 'tool', tool_call_id: 'x', content: '1' }, user('c')), { as: 'openai-chat' }],
    ['content.empty', chat(user('a'), user(''), user('b')), { as: 'openai-chat' }],
    ['tool.arguments_not_string', chat(user('a'), { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: { a: 1 } } }] }, { role: 'tool', tool_call_id: 'x', content: '1' }), { as: 'openai-chat' }],
    ['tool.duplicate_name', { ...chat(user('a')), tools: [1, 2].map(() => ({ type: 'function', function: { name: 'f', parameters: {} } })) }, { as: 'openai-chat' }],
    ['setting.refused', { model: 'claude-opus-4-8', max_tokens: 5, temperature: 0.5, messages: [user('a')] }, { as: 'anthropic', for: 'claude-opus-4-8' }],
    ['turn.first', { model: 'm', max_tokens: 5, messages: [{ role: 'assistant', content: 'a' }, user('b')] }, { as: 'anthropic' }],
    ['segment.char_count', { version: '1.0', messages: [{ id: 'm', role: 'user', timestamp: 0, segments: [{ kind: 'long_text', content: 'abc', charCount: 9, collapsed: true }] }] }, { as: 'envelope' }],
    ['id.duplicate', { protocol: 'structured-chat', messages: [{ id: '1', role: 'user', content: 'a' }, { id: '1', role: 'assistant', content: 'b' }] }, { as: 'structured-chat' }],
  ];
  const missing = [];
  for (const [code, document, rest] of cases) if (!(await holds(document, rest)).includes(code)) missing.push([code, (await lint(document, rest)).json.findings]);
  assert.deepEqual(missing, []);
});

test('messages are in the language that was asked for, edits are the same', async () => {
  const document = chat(user('a'), call('x'), user('b'));
  const [english, chinese] = await Promise.all(['en', 'zh-CN'].map(async (language) => (await lint(document, { as: 'openai-chat' }, { 'accept-language': language })).json.findings));
  assert.match(english[0].message, /has no result/);
  assert.match(chinese[0].message, /没有结果/);
  assert.deepEqual(english.map(({ fix }) => fix), chinese.map(({ fix }) => fix));
  const { id } = (await server.ask('POST', '/api/prompts', { body: { name: 'p', type: 'structured', content: { protocol: 'structured-chat', messages: [{ id: '1', role: 'user', content: '' }, { id: '2', role: 'user', content: 'b' }] } } })).json;
  const { findings } = (await server.ask('POST', `/api/prompts/${id}/lint`, { body: {}, headers: { 'accept-language': 'zh-CN' } })).json;
  assert.match(findings[0].message, /空/);
});

test('the command line has the same edits with --json', async () => {
  const document = chat(user('a'), call('x'), user('b'));
  const { out } = run(['lint', '--json', '--as', 'openai-chat', '-'], { input: JSON.stringify(document) });
  assert.deepEqual(JSON.parse(out).findings, (await lint(document, { as: 'openai-chat' })).json.findings);
});

test('a document of 64 KiB has edits, one byte more has none; both are checked', async () => {
  const make = (n) => chat(user('a'), call('c1'), user('x'.repeat(n)));
  const n = 65536 - JSON.stringify(make(0)).length;
  for (const more of [0, 1]) {
    const { status, json } = await lint(make(n + more), { as: 'openai-chat' });
    assert.equal(status, 200);
    const missing = json.findings.filter(({ code }) => code === 'tool.missing');
    assert.deepEqual(missing.map(({ fix }) => Boolean(fix)), [!more]);
  }
});
