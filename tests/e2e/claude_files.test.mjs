// Prompts as files of Claude Code, and exports that need a model.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { directory, file, run } from './harness.mjs';
import { start } from './server.mjs';

let server;
before(async () => { server = await start(); });
after(() => server.stop());
const cli = (...args) => run(args, { env: { PARLEY_DATA: server.data } });
const make = async (prompt) => {
  const { status, json } = await server.raw('POST', '/api/prompts', { body: JSON.stringify(prompt) });
  assert.equal(status, 201);
  return json.id;
};

// The front matter, whose values are JSON strings, and the text below it.
function read(text) {
  const [, head, body] = text.match(/^---\n([^]*?)---\n\n([^]*)$/);
  return { head: Object.fromEntries(head.trimEnd().split('\n').map((line) => { const at = line.indexOf(': '); return [line.slice(0, at), JSON.parse(line.slice(at + 2))]; })), body };
}
const chat = (content, more = {}) => file('chat.json', JSON.stringify({ protocol: 'structured-chat', messages: [{ id: '1', role: 'user', content }], ...more }));
const convert = (format, path, ...more) => run(['convert', '--to', format, path, ...more]);

test('a command takes its only variable as $ARGUMENTS, and several by their places', () => {
  const one = read(convert('claude-command', chat('Summarize {{ text }}.\nKeep {{text}} short.')).out);
  assert.deepEqual(one, { head: { description: 'Summarize {{ text }}.', 'argument-hint': '[text]' }, body: 'Summarize $ARGUMENTS.\nKeep $ARGUMENTS short.\n' });
  const many = read(convert('claude-command', chat('{{b}} and {{a:x y}} and {{b}}', { system_prompt: 'Be {{tone}}.', config: { model: 'claude-sonnet-4-5' } })).out);
  assert.deepEqual(many, { head: { description: 'Be {{tone}}.', 'argument-hint': '[tone] [b] [a]', model: 'claude-sonnet-4-5' }, body: 'Be $1.\n\n$2 and $3 and $2\n' });
  assert.equal(read(convert('claude-command', chat('No {{ }} {{a b}} \\{{kept}} {{名前}}')).out).body, 'No {{ }} {{a b}} {{kept}} $ARGUMENTS\n');
});

test('a skill has a name that a folder can have, and keeps its variables', () => {
  const path = file('Write a Letter!.json', readFileSync(chat('Dear {{name}}: "hi"\nend\n')));
  assert.deepEqual(read(convert('claude-skill', path).out), {
    head: { name: 'write-a-letter', description: 'Dear {{name}}: "hi"' },
    body: 'Fill in what stands in double braces; what follows a colon there is the default: `{{name}}`.\n\nDear {{name}}: "hi"\nend\n',
  });
  assert.equal(read(run(['convert', '--to', 'claude-skill', '-'], { input: readFileSync(chat('x')) }).out).head.name, 'prompt');
});

test('what the file cannot say is in the report', () => {
  const losses = (format, path) => {
    const report = join(directory, 'report.json');
    assert.equal(convert(format, path, '--report', report).code, 0);
    return JSON.parse(readFileSync(report, 'utf8')).losses.map(({ code, pointer }) => [code, pointer]);
  };
  assert.deepEqual(losses('claude-command', chat('Hi {{a}}')), []);
  assert.deepEqual(losses('claude-command', chat('Hi {{a:b}} $ARGUMENTS', { system_prompt: 'x', config: { model: 'gpt-4o', temperature: 1 } })),
    [['moved', '/system_prompt'], ['dropped', ''], ['approximated', ''], ['dropped', '/config/model'], ['dropped', '/config/temperature']]);
  assert.deepEqual(losses('claude-skill', chat('Hi {{a:b}}', { config: { model: 'claude-x' } })), [['dropped', '/config/model']]);
  const { code, err } = convert('claude-command', chat('x', { config: { top_p: 1 } }), '--strict');
  assert.equal(code, 1);
  assert.match(err, /claude-command cannot say everything/);
});

test('prompt export writes them where Claude Code looks', async () => {
  await make({ name: 'Weekly Report', description: 'Writes the report of a week', type: 'text', content: 'Report on {{week}}.' });
  const commands = join(directory, 'commands'), skills = join(directory, 'skills');
  mkdirSync(commands);
  mkdirSync(skills);
  const command = cli('prompt', 'export', 'Weekly Report', '--to', 'claude-command', '-o', commands);
  assert.equal(command.code, 0, command.err);
  assert.match(command.err, /wrote .*commands\/weekly-report\.md/);
  assert.deepEqual(read(readFileSync(join(commands, 'weekly-report.md'), 'utf8')), {
    head: { description: 'Writes the report of a week', 'argument-hint': '[week]' }, body: 'Report on $ARGUMENTS.\n',
  });
  assert.equal(cli('prompt', 'export', 'Weekly Report', '--to', 'claude-skill', '-o', skills).code, 0);
  assert.deepEqual(readdirSync(join(skills, 'weekly-report')), ['SKILL.md']);
  assert.equal(read(readFileSync(join(skills, 'weekly-report', 'SKILL.md'), 'utf8')).head.name, 'weekly-report');
  // With --out FILE the prompt is written to that file; without --out, to standard output.
  const out = join(directory, 'own.md');
  assert.equal(cli('prompt', 'export', 'Weekly Report', '--to', 'claude-command', '-o', out).code, 0);
  assert.equal(readFileSync(out, 'utf8'), cli('prompt', 'export', 'Weekly Report', '--to', 'claude-command').out);
});

test('curl and anthropic have a model, or ask for one', async () => {
  const bare = await make({ name: 'bare', type: 'text', content: 'Hi' });
  for (const format of ['curl', 'anthropic']) {
    const refused = cli('prompt', 'export', 'bare', '--to', format);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /--model: The prompt names no model, and such a request needs one\./);
    assert.doesNotMatch(refused.err, /\/model|api/);
    const { code, out, err } = cli('prompt', 'export', 'bare', '--to', format, '--model', 'claude-sonnet-4-5');
    assert.equal(code, 0, err);
    assert.match(out, /"model":\s*"claude-sonnet-4-5"/);
    const told = await server.raw('GET', `/api/prompts/${bare}/export?format=${format}`);
    assert.equal(told.status, 400);
    assert.equal((await server.raw('GET', `/api/prompts/${bare}/export?format=${format}&model=x`)).status, 200);
  }
  assert.equal(cli('prompt', 'export', 'bare', '--to', 'openai-chat').code, 0);
  const convertBare = convert('curl', chat('Hi'));
  assert.equal(convertBare.code, 1);
  assert.match(convertBare.err, /the prompt names no model, which a request needs; give --model NAME/);
  assert.match(convert('curl', chat('Hi', { config: { model: 'gpt-4o', top_p: 1 } }), '--model', 'claude-x').out, /anthropic\.com[^]*"model":"claude-x"[^]*"top_p":1/);
  assert.match(convert('anthropic', chat('Hi'), '--model', 'x').err, /--model goes with --to curl and the other forms of a prompt, not with anthropic/);
  assert.match(cli('prompt', 'export', 'bare', '--to', 'curl', '--model', 'a', '--model', 'b').err, /--model is given twice/);
});
