// Common mistakes on the command line: each has its message and its exit code in wrong_inputs.json. A row has the
// arguments, standard input if it matters, the exit code, and the first line of the message in English and in Chinese.
// PARLEY_KEEP_INPUTS=1 writes the current output; read the difference before you keep it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from './harness.mjs';
import { start } from './server.mjs';

const path = join(dirname(fileURLToPath(import.meta.url)), 'wrong_inputs.json');
const rows = JSON.parse(readFileSync(path, 'utf8'));
const languages = { en: 'C.UTF-8', zh: 'zh_CN.UTF-8' };
// Words of sentences; none of them is an option, a name or a value here.
const english = /\b(is|are|has|have|must|cannot|give|there|not|did|mean|the|needs|takes|only|with)\b(?![-"=:])/;

const files = {
  'greeting.txt': 'Hello {{name}}!',
  'nul.txt': 'a\0b',
  'bad.json': '{"a": 1,}',
  'chat.json': '{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}',
  'bare.json': '{"protocol":"structured-chat","messages":[{"id":"1","role":"user","content":"Hi {{name}}"}]}',
  'cases.csv': 'name,expect\nAda,contains:Ada\n',
  'column.csv': 'nme\nAda\n',
  'short.csv': 'name,expect\nAda\n',
  'open.csv': 'name\n"Ada\n',
  'missing.csv': 'expect\ncontains:x\n',
  'broken.jsonl': '{"name":"Ada"}\n{"name":\n',
  'list.jsonl': '["Ada"]\n',
};
let server;
const cwd = mkdtempSync(join(tmpdir(), 'parley-wrong-'));
before(async () => {
  server = await start();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  mkdirSync(join(cwd, 'out'));
  assert.equal((await server.raw('POST', '/api/prompts', { body: JSON.stringify({ name: 'greeting', type: 'text', content: 'Hello {{name}}!' }) })).status, 201);
});
after(async () => {
  await server.stop();
  rmSync(cwd, { recursive: true, force: true });
  if (process.env.PARLEY_KEEP_INPUTS) writeFileSync(path, `[\n${rows.map((row) => ` ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
});

const say = (row, language) => {
  const { code, out, err } = run(row.words, { input: row.input ?? '', cwd, env: { LC_ALL: languages[language], PARLEY_DATA: server.data, HOME: cwd } });
  return { code, out, line: err.split('\n')[0], err };
};

test('there are at least 150 rows, and none twice', () => {
  assert.ok(rows.length >= 150, `${rows.length}`);
  assert.equal(new Set(rows.map(({ words }) => JSON.stringify(words))).size, rows.length);
});

for (const row of rows)
  test(`parley ${row.words.join(' ')}`, () => {
    if (process.env.PARLEY_KEEP_INPUTS) {
      const { code, line } = say(row, 'en');
      Object.assign(row, { code, en: line, zh: say(row, 'zh').line });
    }
    for (const language of Object.keys(languages)) {
      const { code, out, line, err } = say(row, language);
      assert.deepEqual([code, line, out], [row.code, row[language], ''], err);
    }
    assert.ok(row.en.startsWith('parley: ') && row.code >= 1 && row.code <= 4, JSON.stringify(row));
    // The message is about the command line, not about the program's request to the server.
    assert.doesNotMatch(row.en, /\/api\/|\b(GET|POST|PATCH|DELETE|PUT)\b|\bbody\b|HTTP|\bquery\b|\bformat=/);
    assert.match(row.zh, /^parley: .*\p{Script=Han}/su);
    assert.doesNotMatch(row.zh, english, 'a sentence was left in English');
  });

test('--lang is heeded by every command, before it and after it, and wins over the locale', () => {
  for (const words of [['--lang', 'zh', 'chatt'], ['--lang=zh', 'chatt'], ['chatt', '--lang', 'zh']])
    assert.match(run(words, { env: { LC_ALL: 'C.UTF-8' } }).err, /未知的命令 "chatt"/);
  assert.match(run(['--lang', 'en', 'chatt'], { env: { LC_ALL: 'zh_CN.UTF-8' } }).err, /unknown command/);
  for (const words of [['--lang', 'fr', 'version'], ['version', '--lang', 'fr']]) {
    const { code, err } = run(words, { env: { LC_ALL: 'C.UTF-8' } });
    assert.deepEqual([code, err.split('\n')[0]], [2, 'parley: --lang must be en or zh, not "fr"']);
  }
  assert.equal(run(['--lang', 'zh', 'version', '--json']).code, 0);
});

test('a chat in Chinese names its tools in Chinese', () => {
  const parley = (...words) => run(words, { cwd, env: { PARLEY_DATA: server.data, HOME: cwd } });
  const id = parley('session', 'new', '--model', 'demo/agent').out.trim();
  parley('session', 'chat', id, '#!demo\ncall calc {"expression":"1+1"}\n---\nsay so', '--lang', 'zh');
  assert.match(parley('session', 'export', id, '--format', 'turns').out, /"display_name":\s*"计算"/);
});
