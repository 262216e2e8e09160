// Every example object of the five seed documents, if they are present beside the source tree
// (../shared/seeds, or PARLEY_SEEDS): the lenient reader parses it, it validates against its schema, and a
// conversation is converted to every format and back, byte for byte, comments included.
//
// The test reads the documents themselves, so it finds added and changed examples. `expected` names each
// of them; one that is missing on either side is a failure. Some examples are parts of an object (one
// block, one member) or have gaps for another example ("content": [ ... ]): `objects` assembles them from
// the seed's own text.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { directory, file, root, run } from './harness.mjs';

const seeds = process.env.PARLEY_SEEDS ?? join(root, '..', 'shared', 'seeds');
const formats = ['harmony', 'envelope', 'structured-chat', 'turns', 'openai-chat', 'openai-responses', 'anthropic',
  'gemini', 'gpt-oss'];
const whole = 'the whole document';

// The length of the JSON value at the beginning of `text`; brackets in strings do not count.
function lengthOfValue(text) {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/g)) {
    if ('[{'.includes(token)) depth += 1;
    else if (']}'.includes(token) && --depth === 0) return index + 1;
  }
  return text.length;
}

// A Markdown page: fenced blocks, each named by the heading above it.
function* fenced(page) {
  let heading = '', fence = null, lines = [];
  for (const line of page.split('\n')) {
    const mark = /^(`{3,})/.exec(line)?.[1];
    if (fence && mark === fence) {
      yield [heading, lines.join('\n')];
      fence = null;
    } else if (fence) {
      lines.push(line);
    } else if (mark) {
      [fence, lines] = [mark, []];
    } else if (line.startsWith('#')) {
      heading = line.replace(/^#+ /, '').trim();
    }
  }
}

// A page copied as plain text: a line `json`, then a value; its name is the nearest line above that begins
// in Latin letters and is no sentence and no row of a table. The value before may end on that same line.
function* copied(page) {
  for (const { index } of page.matchAll(/^json\n(?=[[{])/gm)) {
    const above = page.slice(0, index).split('\n').reverse();
    const title = above.map((line) => /^}?([A-Za-z_]+(?: Card)?)(?!.*[|。"])/.exec(line)?.[1]);
    const text = page.slice(index + 'json\n'.length);
    yield [title.find((name) => name), text.slice(0, lengthOfValue(text))];
  }
}

function examplesOf(page) {
  if (page.startsWith('{')) return new Map([[whole, page]]);
  const found = new Map();
  for (const [name, text] of [...fenced(page), ...copied(page)]) {
    assert.ok(!found.has(name), `two examples are called ${name}`);
    found.set(name, text);
  }
  return found;
}

// "a | b | c" stands for any of the three: one object for each.
function alternatives(text) {
  const choice = /"(\w+(?: \| \w+)+)"/.exec(text);
  if (!choice) return [text];
  return choice[1].split(' | ').map((word) => text.replace(choice[0], `"${word}"`));
}

// Puts `value` where the example has exactly `hole`.
function fill(text, hole, value) {
  assert.equal(text.split(hole).length, 2, `no ${hole} in ${text}`);
  return text.replace(hole, () => value);
}

const parts = ['(1) 文本与推理链 (Text & Thought)', '(2) 图像 (Image) - 支持 URL 与 Base64',
  '(3) 视频片段 (Video Segment) - 抽帧序列表示', '(4) 音频输入 (Input Audio)'];
const metadata = '6. A.6 元数据与可观性字段 (Metadata & Observability)';
const asIs = (text) => alternatives(text);
// "二选一": the example shows both places of a card's content; an object has one.
const card = (text) => alternatives(text).flatMap((one) =>
  ['resourceHTML', 'resourceUri'].map((name) => one.replace(new RegExp(`"${name}": "[^"]*",\\s*`), '')));
const message = (text) => [text, `[${text}]`, `{"messages": [${text}]}`];
// Beside words: not every format can say a message of sound alone.
const part = (text, all) => message(`{"role": "user", "content": [${all.get(parts[0])}, ${text}]}`);
const inTurn = (hole, value) => (text, all) => {
  const turn = fill(all.get('TurnProjection'), hole, value(text, all));
  return [turn, `[${turn}]`];
};
const patch = (type) => (text, all) =>
  [fill(fill(all.get('PatchEnvelope'), '"patch_type": "add_content"', `"patch_type": "${type}"`), '"data": {}', `"data": ${text}`)];

function skeleton(text, all) {
  const whole = fill(fill(text, '[ ... ]', `[${parts.map((name) => all.get(name)).join(',')}]`),
    '"metadata": { ... }', all.get(metadata));
  // A.2.2: what a tool says names its call.
  return alternatives(whole).flatMap((one) =>
    message(one.includes('"role": "tool"') ? fill(one, '"role": "tool"', '"role": "tool", "tool_call_id": "call_890xyz"') : one));
}

function cited(text, all, page) {
  const anchored = /^> "(.*<cite .*)"$/m.exec(page)[1].replaceAll('"', '\\"');
  return message(`{"role": "assistant", "content": [{"type": "text", "text": "${anchored}"}], "metadata": ${text}}`);
}

// Formats without a form for a conversation in which nobody has said anything yet: they refuse it.
const wordy = ['envelope', 'openai-chat', 'openai-responses', 'anthropic'];

// seed -> example -> [its schema, the objects made of it, formats that refuse them]. A schema that is a
// conversation format is converted too; `schema` is an example that is a schema itself, with the name of
// ours that must equal it.
const expected = {
  '000': { [whole]: ['schema envelope', asIs] },
  '001': {
    'A.1.1 基础骨架': ['harmony', skeleton],
    ...Object.fromEntries(parts.map((name) => [name, ['harmony', part]])),
    'A.2.1 模型发起的调用 (Assistant Message)': ['harmony', message],
    '成功响应：': ['harmony', message],
    '失败响应（让模型自我修复）：': ['harmony', message],
    'A.2.3 多模态工具返回 (Advanced)': ['harmony', message],
    '4. A.3 任务移交与状态包 (Handoff Packet Schema)': ['handoff', asIs],
    'A.4.1 证据对象定义': ['harmony', cited],
    [metadata]: ['harmony', (text) => message(`{"role": "assistant", "content": "好", ${text}}`)],
    '练习 1：构建一个“视频异常检测”的消息载荷': ['harmony', message],
    '练习 2：设计一个“需要用户确认”的工具中断协议': ['harmony', message],
  },
  '002': { '3.1 数据结构定义': ['structured-chat', asIs] },
  '003': {
    Session: ['session', asIs],
    TurnProjection: ['turns', (text) => [text, `[${text}]`], wordy],
    ContentBlock: ['turns', inTurn('"blocks": []', (text) => `"blocks": [${text}]`)],
    ToolCallProjection: ['turns', inTurn('"tool_calls": []', (text) => `"tool_calls": [${text}]`)],
    pending_question_ref: ['turns', inTurn('"tool_calls": []', (text, all) =>
      `"tool_calls": [${fill(all.get('ToolCallProjection'), '_ref": null', `_ref": ${text}`)}]`)],
    MemoryRef: ['turns', inTurn('"memory_refs": null', (text) => `"memory_refs": [${text}]`), wordy],
    PatchEnvelope: ['patch', asIs],
    add_content: ['patch', patch('add_content')],
    add_tool_call: ['patch', patch('add_tool_call')],
    tool_result: ['patch', patch('tool_result')],
    set_status: ['patch', patch('set_status')],
    set_tool_status: ['patch', patch('set_tool_status')],
    Memory: ['memory', asIs],
    ApiKey: ['api-key', asIs],
    ScheduledTask: ['scheduled-task', asIs],
    ScheduledTaskRun: ['scheduled-task-run', asIs],
    Bridge: ['tool-result', asIs],
    'UI Card': ['tool-result', card],
  },
  '004': { [whole]: ['schema pi', asIs] },
};

const ok = ({ code, out, err }, doing) => {
  assert.equal(code, 0, `${doing}: ${err}${out}`);
  return out;
};

const minified = (input) => ok(run(['json', '--lenient', '--minify', '-'], { input }), 'json --lenient');

// Reading is lenient, and says so of every comment; writing it pretty and short again changes nothing.
function parses(text) {
  const { code, out, err } = run(['json', '--lenient', '--minify', '-'], { input: text });
  assert.equal(code, 0, err);
  assert.equal(/accepted a comment/.test(err), /\/\/ /.test(text), err);
  const pretty = ok(run(['json', '--pretty', '-'], { input: out }), 'json --pretty');
  assert.equal(minified(pretty), out);
  return out;
}

function validates(as, strict, isExpected = () => false) {
  const answer = run(['validate', '--as', as, '--format-assertion', '--json', '-'], { input: strict });
  assert.deepEqual(JSON.parse(answer.out).errors.filter((error) => !isExpected(error)), [], strict);
}

// A conversation without a model is not given one that nobody asked for.
const lacksModel = ({ pointer, message }) => pointer === '' && message === 'the value lacks the member "model"';

function refuses(from, to, text) {
  const { code, out, err } = run(['convert', '--from', from, '--to', to, '-'], { input: text });
  assert.deepEqual([code, out], [1, ''], `to ${to}`);
  assert.match(err, /message/);
}

function comesHome(from, text, refused) {
  const carry = join(directory, 'carry.json');
  for (const to of refused) refuses(from, to, text);
  for (const to of formats.filter((name) => !refused.includes(name))) {
    const there = ok(run(['convert', '--from', from, '--to', to, '--carry', carry, '-'], { input: text }), `to ${to}`);
    if (to === from) assert.equal(there, text, `${from} to itself`);
    else if (to !== 'gpt-oss') validates(to, there, lacksModel);
    const back = ['convert', '--from', to, '--to', from, '--with-carry', carry, '-'];
    assert.equal(ok(run(back, { input: there }), `home from ${to}`), text, `home from ${to}`);
  }
}

const checks = {
  handoff(text, strict) {
    validates('handoff', strict);
    ok(run(['handoff', 'check', '-'], { input: text }), 'handoff check');
    ok(run(['handoff', 'accept', '--agent', 'coder_v1', '-'], { input: text }), 'handoff accept');
  },
  schema(text, strict, ours) {
    const embedded = readFileSync(join(root, 'schemas', `${ours}.json`), 'utf8');
    assert.deepEqual(JSON.parse(embedded), JSON.parse(strict));
    const refused = run(['validate', '--schema', file('seed.schema.json', text), '--json', '-'], { input: '{}' });
    assert.equal(refused.code, 1, refused.err);
    assert.match(refused.out, /"keyword":"required"/);
  },
};

function holds(schema, text, refused = []) {
  const [kind, ours] = schema.split(' ');
  const strict = parses(text);
  if (checks[kind]) checks[kind](text, strict, ours);
  else validates(kind, strict);
  if (formats.includes(kind)) comesHome(kind, text, refused);
}

if (!existsSync(seeds)) {
  test('the examples of the seeds', { skip: `there is no ${seeds}` }, () => {});
} else {
  for (const name of readdirSync(seeds).sort()) {
    const seed = name.slice(0, 3);
    const page = readFileSync(join(seeds, name), 'utf8').trim();
    const found = examplesOf(page);
    const table = expected[seed] ?? {};
    test(`seed ${seed}: every example is known by name`, () => {
      assert.deepEqual([...found.keys()].sort(), Object.keys(table).sort());
    });
    for (const [example, [schema, objects, refused]] of Object.entries(table)) {
      test(`seed ${seed}, ${example}: parses, validates as ${schema} and comes home`, () => {
        for (const text of objects(found.get(example), found, page)) holds(schema, text, refused);
      });
    }
  }
  test('there are five seeds', () => {
    assert.deepEqual(readdirSync(seeds).map((name) => name.slice(0, 3)).sort(), Object.keys(expected).sort());
  });
}
