// Shells complete the objects of a server and the words of the program; without a server they print nothing.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { directory, missing, parley, run, shell } from './harness.mjs';
import { start } from './server.mjs';

let server;
const bin = join(directory, 'bin');
mkdirSync(bin);
symlinkSync(resolve(parley), join(bin, 'parley'));
const env = (data = server.data) => ({ PATH: `${bin}:${process.env.PATH}`, HOME: directory, PARLEY_DATA: data });
let session;
before(async () => {
  server = await start();
  for (const prompt of [{ name: 'letter' }, { name: 'two words', folder: 'mail' }])
    assert.equal((await server.raw('POST', '/api/prompts', { body: JSON.stringify({ type: 'text', content: 'x', ...prompt }) })).status, 201);
  session = (await server.raw('POST', '/api/sessions', { body: '{}' })).json.id;
});
after(() => server.stop());

const complete = (kind, word, ...line) => run(['__complete', kind, word, '--', ...line], { env: env() });

test('the program offers what begins with the word', () => {
  assert.equal(complete('models', 'demo/e', 'run').out, 'demo/echo\n');
  assert.deepEqual(complete('prompts', '', 'run').out.split('\n').sort(), ['', 'letter', 'mail/two words']);
  assert.deepEqual(complete('sessions', '', 'chat').out.split('\n').slice(0, 2), [session, 'last']);
  assert.equal(complete('zones', 'Europe/Rom').out, 'Europe/Rome\n');
  assert.equal(complete('columns', '', 'session', 'list').out, 'id\nstatus\nchanged\nmodel\nintent\n');
  assert.equal(complete('columns', 'id,st', 'session', 'list').out, 'id,status\n');
  assert.equal(complete('columns', 'id,', 'session', 'list').out, 'id,status\nid,changed\nid,model\nid,intent\n');
  assert.equal(complete('columns', 'mod', 'models').out, 'model\n');
  assert.equal(complete('columns', 'req', 'usage').out, 'requests\n');
  assert.equal(complete('columns', 'anth', 'session', 'export').out, 'anthropic\n');
});

test('nothing is said where there is nothing, whatever is asked', () => {
  for (const words of [['models', '', '--', 'run', '--data', join(directory, 'none')], ['models', '', '--', 'run', '--server', 'http://127.0.0.1:1'], ['models', '', '--', '--server'],
    ['nonsense', '', '--'], ['models'], ['columns', '', '--', 'nonsense'], ['columns', '', '--'], ['zones', '\xff', '--'], []]) {
    const { code, out, err } = run(['__complete', ...words], { env: env(join(directory, 'nowhere')) });
    assert.deepEqual([code, out, err], [0, '', ''], words.join(' '));
  }
});

const bash = (words, data) => shell(
  `source <("$P" completion bash); COMP_WORDS=(${words.map((w) => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}
   _parley; printf '%s\\n' "\${COMPREPLY[@]}"`, { program: 'bash', env: { ...env(data), P: resolve(parley) } }).out.trimEnd().split('\n');

test('bash completes models, prompts, sessions, zones and columns', { skip: missing('bash') }, () => {
  assert.deepEqual(bash(['parley', 'run', 'x.txt', '--model', 'demo/ec']), ['demo/echo']);
  assert.deepEqual(bash(['parley', 'chat', '--session', 'las']), ['last']);
  assert.deepEqual(bash(['parley', 'session', 'show', session.slice(0, 8)]), [session]);
  assert.deepEqual(bash(['parley', 'prompt', 'run', 'mail/']), ['mail/two words']);
  assert.deepEqual(bash(['parley', 'run', 'lett']), ['letter']);
  assert.deepEqual(bash(['parley', 'task', 'new', 'x', '--zone', 'Asia/Toky']), ['Asia/Tokyo']);
  assert.deepEqual(bash(['parley', 'session', 'list', '--format', 'id,ch']), ['id,changed']);
  assert.deepEqual(bash(['parley', 'models', '--format', 'win']), ['window']);
  assert.deepEqual(bash(['parley', 'session', 'export', 'x', '--format', 'anthr']), ['anthropic']);
  assert.deepEqual(bash(['parley', 'key', 'rot']), ['rotate']);
  // Words that the shell has split at a colon.
  assert.deepEqual(bash(['parley', 'key', 'create', '--scope', 'extension', ':', 'I']), ['ID']);
  assert.deepEqual(bash(['parley', 'run', '--model', 'demo'], join(directory, 'nowhere')), ['']);
});

test('zsh does too', { skip: missing('zsh') }, () => {
  const ask = (kind, prefix, ...words) => shell(
    `autoload -U compinit && compinit -D -u && source <("$P" completion zsh)
     compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@" }
     words=(${words.map((w) => `'${w}'`).join(' ')}); PREFIX='${prefix}'; _parley_program=parley; ${kind}`, { program: 'zsh', env: { ...env(), P: resolve(parley) } });
  assert.equal(ask('_parley_words models', 'demo/e', 'run', '--model', 'demo/e').out, 'demo/echo\n');
  assert.equal(ask('_parley_operand', 'mail', 'prompt', 'show', 'mail').out, 'mail/two\\ words\n');
  assert.equal(ask('_parley_words columns', 'id,st', 'session', 'list', '--format', 'id,st').out, 'id,status\n');
  assert.equal(ask('_parley_operand', 'sess', 'session', 'show', 'sess').err, '');
});

test('fish does too', { skip: missing('fish') }, () => {
  const ask = (line) => shell(`$P completion fish | source; complete -C '${line}'`, { program: 'fish', env: { ...env(), P: resolve(parley) } })
    .out.trimEnd().split('\n').map((entry) => entry.split('\t')[0]);
  assert.deepEqual(ask('parley run x --model demo/ec'), ['demo/echo']);
  assert.deepEqual(ask('parley prompt show le'), ['letter']);
  assert.deepEqual(ask('parley session show las'), ['last']);
  assert.deepEqual(ask('parley session list --format id,st'), ['id,status']);
  assert.deepEqual(ask('parley session export x --format anthr'), ['anthropic']);
  assert.deepEqual(ask('parley key rot'), ['rotate']);
  assert.deepEqual(ask('parley key rotate x --over'), ['--overlap']);
  assert.deepEqual(ask('parley key list --over'), ['']);
});
