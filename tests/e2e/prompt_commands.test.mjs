// parley prompt: the library of prompts from the command line.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { commanding, editor, lines } from './commanding.mjs';
import { directory, file, parley, root, run, shell } from './harness.mjs';

const { server, any, ok, json, made } = await commanding('prompt');

const chat = {
  protocol: 'structured-chat',
  system_prompt: 'You are {{tone:kind}}.',
  messages: [{ id: 'm1', role: 'user', content: 'Three days in {{city}}, please.\nBy train.' }],
  config: { temperature: 0.5 },
};
const newText = (name, text, ...args) => made(['new', name, '--file', '-', '--type', 'text', ...args], { input: text });
const raw = (id, ...args) => ok(['show', id, '--raw', ...args]).out;

// --- looking ---

test('a prompt that is made is listed and shown, by id, name and folder/name', () => {
  const id = newText('greeting', 'Hello {{name}},\nhow are you?\n', '--folder', 'team/mail', '--tag', 'b', '--tag', 'a', '--description', 'a letter', '--note', 'first');
  assert.match(id, /^prompt_[0-9a-f-]{36}$/);
  const one = json(['show', id]);
  assert.equal(one.folder, 'team/mail');
  assert.deepEqual(one.tags, ['a', 'b']);
  assert.equal(one.latest.note, 'first');
  assert.equal(one.latest.content, 'Hello {{name}},\nhow are you?\n');
  for (const word of ['greeting', 'team/mail/greeting']) assert.equal(json(['show', word]).id, id);
  const shown = ok(['show', id]).out;
  assert.match(shown, new RegExp(`^${id}\n  name      greeting\n  folder    team/mail\n`));
  assert.match(shown, /\n {2}variables name\n\nHello \{\{name\}\},\nhow are you\?\n/);
  const table = lines(ok(['list', '--folder', 'team']).out);
  assert.match(table[0], /^ID +NAME +VERSION +LABELS +TAGS +CHANGED$/);
  assert.match(table[1], new RegExp(`^${id} +team/mail/greeting +1 +- +a, b +\\d{4}-`));
});

test('prompts are found by folder, tag, label, words and pin', () => {
  const id = newText('weather', '京都天气如何', '--folder', 'trips', '--tag', 'sky');
  ok(['label', id, 'production', '1']);
  ok(['pin', id]);
  for (const args of [['--folder', 'trips'], ['--tag', 'sky'], ['--label', 'production'], ['--search', '天气'], ['-q', 'weather'], ['--pinned']]) {
    assert.deepEqual(json(['list', ...args]).items.map((one) => one.id), [id], args.join(' '));
  }
  assert.match(ok(['list', '--pinned']).out, /trips\/weather \*/);
  ok(['unpin', id]);
  assert.equal(json(['list', '--pinned']).total, 0);
  assert.match(any(['list', '--tag', 'none']).err, /no prompt found/);
  assert.ok(json(['folders']).items.some(({ name, count }) => name === 'trips' && count === 1));
  assert.match(ok(['tags']).out, /^sky +1$/m);
  assert.equal(any(['list', '--limit', '0']).code, 2);
});

test('a name that is there twice is asked about, one that is not there is told', () => {
  newText('twin', 'a', '--folder', 'left');
  const right = newText('twin', 'b', '--folder', 'right');
  const { code, err } = any(['show', 'twin']);
  assert.equal(code, 1);
  assert.match(err, /several prompts have this name: .*"left\/twin".*|"right\/twin"/);
  assert.equal(json(['show', 'right/twin']).id, right);
  assert.match(any(['show', 'nobody']).err, /there is no prompt "nobody"/);
  assert.equal(any(['show', 'prompt_x']).code, 1);
});

test('a second prompt of the same name in a folder is refused; in another folder it is not', () => {
  const content = file('second.md', 'Hello {{name}}');
  made(['new', 'once', '--file', content, '--folder', 'a']);
  made(['new', 'once', '--file', content, '--folder', 'b']);
  const { code, err } = any(['new', 'once', '--file', content, '--folder', 'a']);
  assert.deepEqual([code, /there is a prompt "a\/once" already; "parley prompt edit" writes a new version/.test(err)], [1, true], err);
});

test('a variable that is misspelt or missing is told by its option', () => {
  const content = file('vars.md', 'Hello {{name}}, {{topic}}');
  made(['new', 'vars', '--file', content]);
  for (const [vars, says] of [
    [['--var', 'nmae=x', '--var', 'topic=y'], /^parley: --var: there is no variable "nmae"; did you mean "name"\?\n/m],
    [['--var', 'name=x'], /the variable "topic" has no value; give it with --var NAME=VALUE/],
  ]) {
    const { code, err } = any(['run', 'vars', ...vars, '--model', 'demo/echo']);
    assert.deepEqual([code, says.test(err)], [1, true], err);
  }
});

test('a name of punctuation only is found too', () => {
  const id = newText('!!!', 'x', '--folder', '??');
  assert.equal(json(['show', '!!!']).id, id);
  assert.equal(json(['show', '??/!!!']).id, id);
});

// --- writing ---

test('a file of YAML or JSON becomes a structured prompt, anything else a text', () => {
  const yaml = file('guide.yaml', 'protocol: structured-chat\nmessages:\n  - id: m1\n    role: user\n    content: |\n      Line one\n      Line two\n');
  assert.deepEqual(json(['show', made(['new', 'yaml', '--file', yaml])]).latest.content.messages[0].content, 'Line one\nLine two\n');
  assert.deepEqual(json(['show', made(['new', 'json', '--file', file('guide.json', JSON.stringify(chat))])]).latest.content, chat);
  assert.equal(json(['show', made(['new', 'md', '--file', file('plain.md', '# {"a": 1}\n')])]).type, 'text');
  assert.equal(json(['show', made(['new', 'forced', '--file', file('guide.json'.replace('guide', 'text'), JSON.stringify(chat)), '--type', 'text'])]).type, 'text');
  const bad = any(['new', 'bad', '--type', 'structured', '--file', file('bad.yaml', 'a: [1\nb: 2\n')]);
  assert.equal(bad.code, 3);
  assert.match(bad.err, /bad\.yaml:\d+:\d+: /);
  assert.equal(any(['new', 'gone', '--file', join(directory, 'gone.md')]).code, 3);
});

test('new opens the editor, and makes nothing of nothing', () => {
  const id = made(['new', 'by hand'], { env: editor('printf "by hand\\n" > "$1"') });
  assert.equal(raw(id), 'by hand');
  const none = any(['new', 'by nobody'], { env: editor('true') });
  assert.equal(none.code, 1);
  assert.match(none.err, /the text is empty; no prompt was created/);
  const without = any(['new', 'by nobody']);
  assert.equal(without.code, 2);
  assert.match(without.err, /set VISUAL or EDITOR, or give --file/);
});

test('edit hands the text over in a private file and saves what comes back as the next version', () => {
  const id = newText('edited', 'one\ntwo');
  const env = editor('ls -l "$1" | cut -c1-10 > "$0.mode"; case "$1" in *.md) ;; *) exit 9 ;; esac; sed -i s/two/three/ "$1"');
  const { err } = ok(['edit', id, '--note', 'counted on'], { env });
  assert.match(err, /saved as version 2/);
  assert.equal(readFileSync(`${env.EDITOR}.mode`, 'utf8'), '-rw-------\n');
  assert.equal(raw(id), 'one\nthree');
  assert.equal(json(['show', id]).latest.note, 'counted on');
  assert.deepEqual(json(['versions', id]).items.map((one) => one.version), [2, 1]);
});

test('VISUAL comes before EDITOR, and may have words of its own', () => {
  const id = newText('visual', 'a b c');
  ok(['edit', id], { env: { VISUAL: 'sed -i "s/b c/d e/"', EDITOR: 'false' } });
  assert.equal(raw(id), 'a d e');
});

test('what is not changed is not saved, and leaves no file behind', () => {
  const id = newText('same', 'as it was\n');
  const env = editor('dirname "$1" > "$0.dir"');
  const { err } = ok(['edit', id], { env });
  assert.match(err, /no change; no new version/);
  assert.equal(json(['show', id]).latest_version, 1);
  assert.ok(!existsSync(readFileSync(`${env.EDITOR}.dir`, 'utf8').trim()));
});

test('an editor that fails saves nothing, and what was written stays', () => {
  const id = newText('failing', 'x');
  const { code, err } = any(['edit', id], { env: editor('echo y > "$1"; exit 3') });
  assert.equal(code, 4);
  assert.match(err, /ended with exit code 3/);
  const path = err.match(/Your text is in (\S+)/)[1];
  assert.equal(readFileSync(path, 'utf8'), 'y\n');
  rmSync(dirname(path), { recursive: true });
  assert.equal(json(['show', id]).latest_version, 1);
});

test('a structured prompt is edited as YAML', () => {
  const id = made(['new', 'tour', '--file', file('tour.json', JSON.stringify(chat))]);
  ok(['edit', id], { env: editor('case "$1" in *.yaml) ;; *) exit 9 ;; esac; sed -i "s/By train/By bus/" "$1"') });
  assert.deepEqual(json(['show', id]).latest.content, { ...chat, messages: [{ ...chat.messages[0], content: 'Three days in {{city}}, please.\nBy bus.' }] });
});

for (const [what, script, says] of [
  ['is no YAML', 'echo "x: [" >> "$1"', /prompt\.yaml:\d+:\d+: /],
  ['is not a structured chat', 'echo "protocol: structured-chat" > "$1"', /messages/],
]) {
  test(`what ${what} is not saved, and can be mended and saved from its file`, () => {
    const id = made(['new', `tour ${what}`, '--file', file('tour2.json', JSON.stringify(chat))]);
    const { code, err } = any(['edit', id], { env: editor(script) });
    assert.ok(code === 1 || code === 3, String(code));
    assert.match(err, says);
    const path = err.match(/Your text is in (\S+)/)[1];
    writeFileSync(path, 'protocol: structured-chat\nmessages:\n  - {id: m1, role: user, content: mended}\n');
    ok(['edit', id, '--file', path]);
    assert.equal(json(['show', id]).latest.content.messages[0].content, 'mended');
    rmSync(dirname(path), { recursive: true });
  });
}

test('somebody else was quicker: told, compared, and nothing lost', () => {
  const id = newText('race', 'the first text\n');
  const { code, out, err } = any(['edit', id], { env: editor(`printf 'the quicker text\\n' | "${parley}" prompt edit ${id} --file - --data "${server.data}"; printf 'the slower text\\n' > "$1"`) });
  assert.equal(code, 1);
  assert.match(err, /somebody else saved version 2 in the meantime/);
  assert.match(out, /the \[-quicker-\]\{\+slower\+\} text/);
  const path = err.match(/Your text is in (\S+)/)[1];
  assert.equal(readFileSync(path, 'utf8'), 'the slower text\n');
  rmSync(dirname(path), { recursive: true });
  assert.equal(raw(id), 'the quicker text\n');
});

test('edit changes name, folder, description and tags without a version', () => {
  const id = newText('old name', 'x', '--tag', 'a');
  ok(['edit', id, '--name', 'new name', '--folder', 'elsewhere', '--tag', 'b', '--tag', 'c', '--description', 'd']);
  const one = json(['show', 'elsewhere/new name']);
  assert.deepEqual([one.id, one.tags, one.description, one.latest_version], [id, ['b', 'c'], 'd', 1]);
  ok(['edit', id, '--tag', '']);
  assert.deepEqual(json(['show', id]).tags, []);
  assert.equal(any(['edit', id, '--name', 'x', '--file', '-']).code, 2);
});

// --- versions ---

test('diff marks words, and its exit code says whether there is a difference', () => {
  const id = newText('words', 'the quick brown fox\n');
  ok(['edit', id, '--file', '-'], { input: 'the slow brown fox\n' });
  const two = any(['diff', id, '1', '2']);
  assert.equal(two.code, 1);
  assert.equal(two.out, '--- changed text\nthe [-quick-]{+slow+} brown fox\n\n');
  assert.equal(any(['diff', id, '1']).out, two.out);
  assert.deepEqual(any(['diff', id, '2', 'latest']), { ...two, code: 0, out: '' });
  assert.equal(JSON.parse(any(['diff', id, '1', '2', '--json']).out).is_same, false);
  const draft = any(['diff', id, '2', '--file', file('draft.md', 'the slow red fox\n')]);
  assert.match(draft.out, /the slow \[-brown-\]\{\+red\+\} fox/);
  assert.equal(draft.code, 1);
  assert.equal(any(['diff', id, '1', '2', '--file', file('draft.md', 'x')]).code, 2);
});

test('diff of structured prompts goes by block and member', () => {
  const id = made(['new', 'blocks', '--file', file('blocks.json', JSON.stringify(chat))]);
  const other = { ...chat, system_prompt: 'You are {{tone:kind}} indeed.', messages: [...chat.messages, { id: 'm2', role: 'assistant', content: 'Gladly.' }], config: { temperature: 1 } };
  const { code, out } = any(['diff', id, 'latest', '--file', file('blocks2.json', JSON.stringify(other))]);
  assert.equal(code, 1);
  assert.match(out, /--- changed system\n/);
  assert.match(out, /--- added assistant m2\n/);
  assert.match(out, /--- changed \/config\/temperature \[-0\.5-\] \{\+1\+\}\n/);
});

test('labels move, rollback makes a version, and both are named anywhere', () => {
  const id = newText('labelled', 'one');
  ok(['edit', id, '--file', '-'], { input: 'two' });
  ok(['label', id, 'production', '1']);
  assert.equal(raw(id, '--version', 'production'), 'one');
  ok(['label', id, 'production', 'latest']);
  assert.deepEqual(json(['show', id]).labels, { production: 2 });
  assert.match(ok(['rollback', id, '1', '--note', 'back']).err, /version 3 has the content of version 1/);
  assert.equal(raw(id), 'one');
  assert.equal(json(['show', id]).latest.restored_from, 1);
  ok(['label', id, 'production', '--remove']);
  assert.deepEqual(json(['show', id]).labels, {});
  assert.equal(any(['label', id, 'production']).code, 2);
  assert.equal(any(['show', id, '--version', '9']).code, 1);
});

test('a deleted prompt is gone', () => {
  const id = newText('doomed', 'x');
  ok(['delete', 'doomed', '--yes']);
  assert.equal(any(['show', id]).code, 1);
});

// --- running ---

test('run prints the answer, as a session or as nothing but an answer', () => {
  const id = newText('asked', 'Hello {{name}}!');
  const before = JSON.parse(run(['session', 'list', '--json', '--data', server.data]).out).total;
  assert.equal(ok(['run', id, '--var', 'name=Ada', '--answer']).out, 'Hello Ada!\n');
  assert.equal(JSON.parse(run(['session', 'list', '--json', '--data', server.data]).out).total, before);
  assert.equal(ok(['run', id, '--var', 'name=Ada']).out, 'Hello Ada!\n');
  assert.equal(ok(['run', id, '--var', 'name=Ada Lovelace', '--model', 'demo/slow']).out, 'Hello Ada Lovelace!\n');
  assert.equal(JSON.parse(run(['session', 'list', '--json', '--data', server.data]).out).total, before + 2);
  assert.match(made(['run', id, '--var', 'name=Ada', '--no-wait']), /^sess_/);
  assert.equal(JSON.parse(ok(['run', id, '--var', 'name=x', '--answer', '--json']).out).items[0].text, 'Hello x!');
});

test('several models answer side by side, under their names', () => {
  const id = newText('asked twice', 'Hello {{name}}!');
  for (const args of [['--answer'], []]) {
    assert.equal(ok(['run', id, '--var', 'name=Ada', '--model', 'demo/slow', '--model', 'demo/echo', ...args]).out,
      '## demo/slow\n\nHello Ada!\n\n## demo/echo\n\nHello Ada!\n');
  }
});

test('a variable without a value, and what is no variable, are refused', () => {
  const id = newText('asked for', 'Hello {{name}}!');
  const { code, err } = any(['run', id]);
  assert.equal(code, 1);
  assert.match(err, /name/);
  assert.equal(any(['run', id, '--var', 'name']).code, 2);
  assert.equal(any(['run', id, '--var', '{=x']).code, 2);
});

test('the examples of a structured prompt are not told as the answer', () => {
  const shots = { ...chat, messages: [{ id: 'a', role: 'user', content: 'one' }, { id: 'b', role: 'assistant', content: 'SHOT' }, { id: 'c', role: 'user', content: 'two' }] };
  const id = made(['new', 'shots', '--file', file('shots.json', JSON.stringify(shots))]);
  assert.equal(ok(['run', id]).out, 'two\n');
});

// --- bytes ---

const corpora = process.env.PARLEY_CORPORA ?? join(root, '..', 'shared', 'corpora');
const naughtyPath = join(corpora, 'blns', 'blns.json');
const naughty = existsSync(naughtyPath) ? JSON.parse(readFileSync(naughtyPath, 'utf8')) : [];
const hard = ['', '\n', '\n\n', ' ', 'ends\n', 'ends\n\n', 'no end', '\r\n', 'cr\rlf\r\n', '\t', '{', '{"a":1}', '---', 'a: b', '# x', '\u0001\u001b[31m\u007f', '\ufeffbom', '汉字🎉', '-', '--help', '$HOME', '\\', '{{', '{{a}}', 'x'.repeat(100_000)];
const texts = [...hard, ...naughty].filter((text) => !text.includes('\0') && text !== '');

test('every text goes in and comes out byte for byte: new, show, export, edit', () => {
  const step = Math.max(1, Math.ceil(texts.length / 120));
  texts.filter((_, i) => i < hard.length || i % step === 0).forEach((text, i) => {
    const id = newText(`naughty ${i}`, text);
    assert.equal(raw(id), text);
    assert.equal(ok(['export', id, '--to', 'text']).out, text);
    assert.equal(json(['show', id]).latest.content, text);
    const { err } = ok(['edit', id], { env: { EDITOR: 'true' } });
    assert.match(err, /no change; no new version/, JSON.stringify(text));
  });
});

test('an edit changes what was edited and not one byte more', () => {
  for (const text of ['a\r\nXX\r\n', 'XX', 'XX\n', '\n\nXX\n\n', '\ufeffXX 汉字\u0001', 'tab\tXX  ']) {
    const id = newText('bytes', text);
    ok(['edit', id], { env: { EDITOR: 'sed -i s/XX/YY/' } });
    assert.equal(raw(id), text.replace('XX', 'YY'), JSON.stringify(text));
    ok(['delete', id, '--yes']);
  }
});

test('all texts at once, as a structured prompt, survive the YAML of the editor', () => {
  const all = { protocol: 'structured-chat', messages: texts.map((content, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', content })) };
  const id = made(['new', 'all', '--file', file('all.json', JSON.stringify(all))]);
  ok(['edit', id], { env: editor('sed -i "s/^protocol: .*/&\\nsystem_prompt: more/" "$1"') });
  assert.deepEqual(json(['show', id]).latest.content, { ...all, system_prompt: 'more' });
});

// --- files ---

test('a prompt is written in any format, and to a file', () => {
  const id = made(['new', 'exported', '--file', file('exported.json', JSON.stringify(chat))]);
  assert.deepEqual(JSON.parse(ok(['export', id]).out), chat);
  assert.match(ok(['export', id, '--to', 'markdown']).out, /Three days in \{\{city\}\}/);
  assert.equal(JSON.parse(ok(['export', id, '--to', 'anthropic', '--model', 'claude-x']).out).system, 'You are {{tone:kind}}.');
  const path = join(directory, 'exported.out');
  assert.equal(ok(['export', id, '--to', 'yaml', '--version', '1', '-o', path]).out, '');
  assert.match(readFileSync(path, 'utf8'), /By train/);
  assert.equal(any(['export', id, '--to', 'nothing']).code, 2);
});

function treeOf(dir, under = '') {
  return readdirSync(join(dir, under), { withFileTypes: true }).flatMap((entry) => {
    const path = join(under, entry.name);
    return entry.isDirectory() ? treeOf(dir, path) : [[path, readFileSync(join(dir, path), 'utf8')]];
  }).sort();
}

test('the library goes into files and comes back, to the byte', async () => {
  const a = await commanding('prompt');
  const b = await commanding('prompt');
  const dir = mkdtempSync(join(directory, 'library-'));
  const id = a.made(['new', 'greeting', '--file', '-', '--folder', 'team', '--tag', 't', '--note', 'n'], { input: 'Hello\r\n' });
  a.ok(['edit', id, '--file', '-'], { input: 'Hello {{name}}' });
  a.ok(['label', id, 'production', '1']);
  a.made(['new', 'tour', '--file', file('tour3.json', JSON.stringify(chat))]);
  texts.slice(0, 40).forEach((text, i) => a.made(['new', `t${i}`, '--file', '-', '--type', 'text', '--folder', 'naughty'], { input: text }));
  assert.match(a.ok(['export', '--all', dir]).err, /files written, 0 the same, 0 removed/);
  const files = treeOf(dir);
  assert.ok(files.some(([path]) => path === 'team/greeting/prompt.yaml'), files.map(([path]) => path).join('\n'));
  b.ok(['import', dir]);
  for (const { id: one } of a.json(['list', '--limit', '100']).items) {
    const [left, right] = [a, b].map((side) => side.json(['show', one]));
    for (const key of ['name', 'folder', 'tags', 'labels', 'latest_version']) assert.deepEqual(right[key], left[key], key);
    for (let version = 1; version <= left.latest_version; version++) {
      assert.deepEqual(b.json(['show', one, '--version', String(version)]).content, a.json(['show', one, '--version', String(version)]).content);
    }
  }
  const again = mkdtempSync(join(directory, 'library-'));
  b.ok(['export', '--all', again]);
  assert.deepEqual(treeOf(again), files);
  const twice = b.json(['import', dir]);
  assert.deepEqual(twice.problems, []);
  assert.ok(twice.items.every(({ outcome }) => outcome === 'same'), JSON.stringify(twice.items.slice(0, 3)));
  await a.server.stop();
  await b.server.stop();
});

test('only what changed is written, and what is gone is removed when that is asked for', () => {
  const dir = mkdtempSync(join(directory, 'library-'));
  const id = newText('passing', 'x', '--folder', 'pruned');
  ok(['export', '--all', dir]);
  mkdirSync(join(dir, '.git'));
  writeFileSync(join(dir, '.git', '0001.md'), 'mine');
  writeFileSync(join(dir, 'README.md'), 'mine');
  const kept = statSync(join(dir, 'pruned/passing/0001.md')).mtimeMs;
  assert.deepEqual({ ...json(['export', '--all', dir]), same: 0 }, { written: 0, same: 0, removed: 0 });
  assert.equal(statSync(join(dir, 'pruned/passing/0001.md')).mtimeMs, kept);
  unlinkSync(join(dir, 'pruned/passing/0001.md'));
  assert.equal(json(['export', '--all', dir]).written, 1);
  ok(['delete', id, '--yes']);
  assert.equal(json(['export', '--all', dir]).removed, 0);
  assert.ok(existsSync(join(dir, 'pruned/passing/prompt.yaml')));
  assert.equal(json(['export', '--all', dir, '--prune']).removed, 2);
  assert.ok(!existsSync(join(dir, 'pruned')));
  assert.equal(readFileSync(join(dir, 'README.md'), 'utf8'), 'mine');
  assert.equal(readFileSync(join(dir, '.git', '0001.md'), 'utf8'), 'mine');
  assert.equal(any(['export', '--prune', id]).code, 2);
  assert.equal(any(['export']).code, 2);
});

test('files and directories become prompts; hidden ones and links to directories do not', () => {
  const dir = mkdtempSync(join(directory, 'import-'));
  mkdirSync(join(dir, 'deep', 'er'), { recursive: true });
  mkdirSync(join(dir, '.git'));
  writeFileSync(join(dir, '.git', 'x.md'), 'hidden');
  writeFileSync(join(dir, '.hidden.md'), 'hidden');
  writeFileSync(join(dir, 'top.md'), 'Top {{x}}\n');
  writeFileSync(join(dir, 'deep', 'er', 'openai.json'), JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'from OpenAI' }] }));
  writeFileSync(join(dir, 'deep', 'gh.prompt.yml'), 'name: from GitHub\nmessages:\n  - role: user\n    content: hi\n');
  writeFileSync(join(dir, 'photo.png'), 'not read');
  symlinkSync(dir, join(dir, 'loop'));
  const said = json(['import', dir, '--folder', 'imported']);
  assert.deepEqual(said.problems, []);
  assert.deepEqual(said.items.map(({ path, outcome }) => `${outcome} ${path}`).sort(), ['created deep/er/openai.json', 'created deep/gh.prompt.yml', 'created top.md']);
  assert.ok(json(['list', '--folder', 'imported']).total === 3);
  assert.equal(raw(said.items.find(({ path }) => path === 'top.md').prompt_id).trimEnd(), 'Top {{x}}');
  const again = ok(['import', dir, '--folder', 'imported', '--when-there', 'skip']);
  assert.match(again.err, /0 created, 0 new versions, .* unchanged, .* skipped/);
});

test('a file that is no prompt is told, and the others are taken', () => {
  const good = file('good.md', 'good\n'), bad = file('bad.bin', Buffer.from([0xff, 0xfe, 0x00]));
  const { code, out, err } = any(['import', good, bad, join(directory, 'not-there.md')]);
  assert.equal(code, 1);
  assert.match(out, /^created  prompt_\S+  good\.md$/m);
  assert.match(err, /bad\.bin: the file is not UTF-8/);
  assert.match(err, /not-there\.md: there is no such file/);
});

test('many and large files go in several requests', () => {
  const dir = mkdtempSync(join(directory, 'many-'));
  for (let i = 0; i < 700; i++) writeFileSync(join(dir, `p${i}.txt`), `text ${i} ${'x'.repeat(i % 7 === 0 ? 40_000 : 10)}`);
  const said = json(['import', dir, '--folder', 'many']);
  assert.equal(said.items.length, 700);
  assert.deepEqual(said.problems, []);
  assert.equal(json(['list', '--folder', 'many']).total, 700);
});

test('what a name resolves to in a large library is right', () => {
  assert.equal(json(['show', 'many/p699']).latest.content.slice(0, 8), 'text 699');
});

test('the words on a terminal are in colour, and a text cannot speak to it', () => {
  const id = newText('colour', 'a \u001b[31mred b\n');
  ok(['edit', id, '--file', '-'], { input: 'a \u001b[31mred c\n' });
  const { out } = shell(`script -qec '"$P" prompt diff ${id} 1 2 --data "${server.data}"' /dev/null`);
  if (out.includes('not found')) return;
  assert.match(out, /\u001b\[31mb\u001b\[0m/);
  assert.match(out, /\u001b\[32mc\u001b\[0m/);
  assert.match(out, /\\u\{1B\}\[31mred/);
});
