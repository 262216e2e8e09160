// parley memory: memories from the command line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commanding, lines } from './commanding.mjs';
import { file, shell } from './harness.mjs';

const { server, any, ok, json, made } = await commanding('memory');
const newSession = async () => (await server.ask('POST', '/api/sessions', { body: {} })).json.id;

test('a memory that is added is listed and shown with all its members', async () => {
  const source = await newSession();
  const id = made(['add', 'Answers in German, please', '--type', 'feedback', '--topic', 'language', '--scope', 'user', '--owner', 'Ada', '--skill', 'talk', '--record-type', 'memory', '--mem0-id', 'm-1', '--session', source, '--reason', 'she said so']);
  assert.match(id, /^\d+$/);
  const one = json(['show', id]);
  const { type, content, topic, scope, owner, skill_name: skill, record_type: record, mem0_id: mem0, source_session: session, write_reason: reason } = one;
  assert.deepEqual([type, content, topic, scope, owner, skill, record, mem0, session, reason],
    ['feedback', 'Answers in German, please', 'language', 'user', 'Ada', 'talk', 'memory', 'm-1', source, 'she said so']);
  const shown = ok(['show', id]).out;
  assert.match(shown, new RegExp(`^${id}\n  state     in use\n`));
  assert.match(shown, /\n {2}topic {5}language\n/);
  assert.match(shown, /\n\nAnswers in German, please\n$/);
  const table = lines(ok(['list']).out);
  assert.match(table[0], /^ID +TYPE +STATE +HITS +CREATED +CONTENT$/);
  assert.match(table[1], new RegExp(`^${id} +feedback +in use +0 +\\d{4}-.* +Answers in German, please$`));
});

test('the text may come from standard input, and must be 1 to 500 characters of UTF-8', () => {
  const id = made(['add', '-'], { input: '两行\n文字\n' });
  assert.equal(json(['show', id]).content, '两行\n文字');
  assert.equal(any(['add', '']).code, 1);
  assert.equal(any(['add', 'x'.repeat(501)]).code, 1);
  assert.match(made(['add', '字'.repeat(500)]), /^\d+$/);
  assert.equal(any(['add', '-'], { input: Buffer.from([0xff]) }).code, 3);
});

test('list goes by its filters', async () => {
  const session = await newSession();
  const id = made(['add', 'filtered', '--type', 'experience', '--topic', 'only here', '--scope', 's', '--owner', 'o', '--skill', 'k', '--session', session, '--mem0-id', 'm9', '--record-type', 'skill_comment']);
  for (const args of [['--topic', 'only here'], ['--scope', 's'], ['--owner', 'o'], ['--skill', 'k'], ['--session', session], ['--mem0-id', 'm9'], ['--record-type', 'skill_comment'], ['--type', 'experience']]) {
    assert.deepEqual(json(['list', ...args]).items.map((one) => String(one.id)), [id], args.join(' '));
  }
  assert.equal(json(['list', '--before', '2020-01-01T00:00:00Z']).total, 0);
  assert.ok(json(['list', '--after', '2020-01-01T00:00:00Z']).total > 0);
  assert.equal(json(['list', '--limit', '1']).items.length, 1);
  assert.match(ok(['list', '--limit', '1']).err, /1 of \d+; --limit shows more/);
  assert.equal(any(['list', '--type', 'opinion']).code, 2);
});

test('search finds Chinese words of two characters and English ones, the best first', () => {
  const zh = made(['add', '用户住在京都，喜欢天气好的日子']);
  const en = made(['add', 'The user prefers short train rides', '--topic', 'travel']);
  assert.deepEqual(json(['search', '天气']).items.map((one) => String(one.id)), [zh]);
  assert.equal(String(json(['search', 'train ride']).items[0].id), en);
  assert.match(ok(['search', '-', '--topic', 'travel', '--limit', '5'], { input: 'short trains' }).out, /prefers short train rides/);
  assert.match(ok(['search', 'nothingofthekind']).err, /no memory found/);
});

test('edit changes what is given, an empty value is none', () => {
  const id = made(['add', 'before', '--topic', 'a', '--scope', 'b']);
  ok(['edit', id, '--content', 'after', '--topic', '', '--type', 'experience']);
  const one = json(['show', id]);
  assert.deepEqual([one.content, one.topic, one.scope, one.type], ['after', null, 'b', 'experience']);
  const none = any(['edit', id]);
  assert.equal(none.code, 2);
  assert.match(none.err, /nothing to change; give/);
});

test('superseded and disabled ones are kept, and not found', () => {
  const [old, better] = [made(['add', 'zebra crossing one']), made(['add', 'zebra crossing two'])];
  assert.match(ok(['supersede', old, better]).err, new RegExp(`${better} replaces ${old}`));
  assert.deepEqual(json(['search', 'zebra']).items.map((one) => String(one.id)), [better]);
  assert.equal(json(['search', 'zebra', '--superseded']).items.length, 2);
  assert.deepEqual(json(['list', '--superseded']).items.map((one) => String(one.id)), [old]);
  const circle = any(['supersede', better, old]);
  assert.equal(circle.code, 1);
  ok(['supersede', old, '--remove']);
  assert.equal(json(['show', old]).superseded_by, null);
  ok(['disable', old]);
  assert.deepEqual(json(['list', '--disabled']).items.map((one) => String(one.id)), [old]);
  assert.deepEqual(json(['search', 'zebra']).items.map((one) => String(one.id)), [better]);
  ok(['enable', old]);
  assert.equal(json(['search', 'zebra']).items.length, 2);
  assert.equal(any(['supersede', old]).code, 2);
  assert.equal(any(['supersede', old, 'x']).code, 2);
});

test('delete forgets', () => {
  const id = made(['add', 'soon gone']);
  ok(['delete', id, '--yes']);
  assert.equal(any(['show', id]).code, 1);
  assert.equal(any(['delete', id, '--yes']).code, 1);
  assert.equal(any(['show', 'mem_1']).code, 2);
});

test('delete asks a person; where there is none it wants --yes', () => {
  const id = made(['add', 'asked about']);
  const there = () => any(['show', id]).code === 0;
  const none = any(['delete', id]);
  assert.deepEqual([none.code, /Delete the memory \d+\? There is no terminal to ask; --yes does it/.test(none.err)], [2, true], none.err);
  const answer = (word) => shell(`printf '${word}\\n' | script -qec '"$P" memory delete ${id} --data "${server.data}"' /dev/null`).out;
  for (const word of ['n', '', 'perhaps']) {
    assert.match(answer(word), /Delete the memory \d+\? \[y\/N\].*nothing was changed/s);
    assert.ok(there(), word);
  }
  assert.match(answer('y'), /deleted/);
  assert.ok(!there());
  assert.match(any(['list', '--yes']).err, /--yes works with delete, not with list/);
});

test('times are local, and say their zone', () => {
  const id = made(['add', 'when']);
  const { created_at: at } = json(['show', id]);
  for (const [zone, hours, name] of [['UTC', 0, 'UTC'], ['Asia/Shanghai', 8, 'CST'], ['America/Caracas', -4, '-04']]) {
    const local = new Date(Date.parse(at) + hours * 3600000).toISOString().slice(0, 19).replace('T', ' ');
    assert.ok(ok(['show', id], { env: { TZ: zone } }).out.includes(`created   ${local} ${name}\n`), zone);
  }
});

test('what is exported can be imported, in batches', async () => {
  const other = await commanding('memory');
  const many = Array.from({ length: 250 }, (_, i) => JSON.stringify({ content: `memory ${i} "quoted" 汉字\n`, topic: i % 2 ? 'odd' : null, disabled: i === 7, id: 5, hit_count: 9 })).join('\r\n');
  assert.match(other.ok(['import', file('many.ndjson', `${many}\n\n`)]).err, /stored 250 memories/);
  assert.equal(other.json(['list', '--limit', '1']).total, 250);
  const out = lines(other.ok(['export']).out).map((line) => JSON.parse(line));
  assert.equal(out.length, 250);
  assert.equal(out.filter((one) => one.topic === 'odd').length, 125);
  assert.equal(out.filter((one) => one.disabled).length, 1);
  assert.ok(out.every((one) => one.hit_count === 0));
  assert.deepEqual(other.json(['import', '-'], { input: out.slice(0, 3).map((one) => JSON.stringify(one)).join('\n') }), { created: 3 });
  await other.server.stop();
});

test('a line that is no memory is told with its number, and what came before is kept', () => {
  const good = Array.from({ length: 100 }, (_, i) => `{"content":"batch ${i}"}`).join('\n');
  const before = json(['list']).total;
  const { code, err } = any(['import', '-'], { input: `${good}\n{"content":"x"}\n{"content":\n` });
  assert.equal(code, 3);
  assert.match(err, /<stdin>:102:\d+: /);
  assert.equal(json(['list']).total, before + 100);
  const refused = any(['import', '-'], { input: '{"content":"ok"}\n{"content":1}\n' });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /up to line 2 of <stdin>; 0 before them were stored/);
  assert.equal(json(['list']).total, before + 100);
});
