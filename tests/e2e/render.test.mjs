// parley render and parley cite from the command line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { file, run } from './harness.mjs';

const prompt = '{ // greeting\n  "protocol": "structured-chat",\n  "messages": [\n    {"id":"m1", "role":"user", "content":"Hi {{name}}, {{ tone:warm }} \\u00e9"},\n  ]\n}\n';

test('only the variables change, comments and layout stay', () => {
  const path = file('greeting.json', prompt);
  const { code, out, err } = run(['render', '--var', 'name=Ann "A"', path]);
  assert.equal(err, '');
  assert.equal(code, 0);
  assert.equal(out, prompt.replace('{{name}}', 'Ann \\"A\\"').replace('{{ tone:warm }}', 'warm'));
});

test('a value may hold anything, an equals sign too', () => {
  const { out } = run(['render', '--var', 'a=x=y {{a}}', '-'], { input: '{"system_prompt":"{{a}}"}' });
  assert.equal(JSON.parse(out).system_prompt, 'x=y {{a}}');
});

test('missing variables are all named and nothing is printed', () => {
  const { code, out, err } = run(['render', '-'], { input: '{"messages":[{"role":"user","content":"{{a}} {{b}} {{c:1}}"}]}' });
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /"a" has no value/);
  assert.match(err, /"b" has no value/);
  assert.doesNotMatch(err, /"c"/);
});

test('a preview leaves them', () => {
  const { code, out } = run(['render', '--preview', '-'], { input: '{"system_prompt":"{{a}} {{c:1}}"}' });
  assert.equal(code, 0);
  assert.equal(JSON.parse(out).system_prompt, '{{a}} 1');
});

test('a variable that nobody asked for is a warning', () => {
  const { code, err } = run(['render', '--var', 'nmae=x', '-'], { input: '{"system_prompt":"x"}' });
  assert.equal(code, 0);
  assert.match(err, /warning: no text uses the variable "nmae"/);
});

test('what is no assignment or no name is a mistake of the command line', () => {
  assert.equal(run(['render', '--var', 'name', '-'], { input: prompt }).code, 2);
  assert.equal(run(['render', '--var', 'a b=1', '-'], { input: prompt }).code, 2);
});

const cited = file('cited.json', JSON.stringify([{
  role: 'assistant',
  content: [{ type: 'text', text: 'Up <cite id="cit_01"/>, so they say <cite id="cit_09"/>.' }],
  metadata: { citation_map: { cit_01: {
    source_type: 'pdf_document', source_id: 'doc_1', source_name: 'Report.pdf',
    location: { page_number: 42, bbox: [100, 200, 500, 600], text_snippet: 'Revenue increased by 20% YoY.' },
  } } },
}]));

test('render and the schema agree on what a name is', () => {
  const names = { name: true, 'user.first-name_2': true, 名字: true, 'नाम': true, 'ชื่อ': true, 'e\u0301t\u0301': true, '٣': true,
    'a b': false, 'a!': false, '': false, '“a”': false, '😀': false };
  for (const [name, isName] of Object.entries(names)) {
    const variables = [{ name, type: 'text' }];
    const chat = { protocol: 'structured-chat', messages: [{ id: 'm', role: 'user', content: `{{${name}}}` }] };
    const declared = JSON.stringify({ ...chat, variables });
    assert.equal(run(['validate', '--as', 'structured-chat', '-'], { input: declared }).code, isName ? 0 : 1, name);
    assert.equal(run(['render', '--preview', '-'], { input: declared }).code, isName ? 0 : 1, name);
    // In a text, an invalid name is ordinary text.
    assert.equal(run(['render', '-'], { input: JSON.stringify(chat) }).code, isName ? 1 : 0, name);
  }
});

test('cite names each source, and an unknown one is a warning', () => {
  const { code, out } = run(['cite', cited]);
  assert.equal(code, 0);
  assert.match(out, /\[cit_01\] Report\.pdf, page 42: "Revenue increased by 20% YoY\."/);
  assert.match(out, /warning: \[cit_09\]/);
});

test('cite looks a snippet up in its source', () => {
  const said = file('said.txt', 'In short: Revenue\n  increased by 20% YoY. And so on.');
  const other = file('other.txt', 'Revenue decreased.');
  const found = run(['cite', '--json', '--source', `doc_1=${said}`, cited]);
  assert.equal(found.code, 0);
  const [first, second] = JSON.parse(found.out);
  assert.equal(first.snippet, 'found');
  assert.equal(first.source.source_name, 'Report.pdf');
  assert.equal(first.pointer, '/0/content/0/text');
  assert.deepEqual([second.resolved, second.shown], [false, '<cite id="cit_09"/>']);
  const missing = run(['cite', '--json', '--source', `doc_1=${other}`, cited]);
  assert.equal(missing.code, 1);
  assert.equal(JSON.parse(missing.out)[0].snippet, 'missing');
});

test('cite reads turns too, and refuses a conversation that cannot have anchors', () => {
  const turn = { id: 't', sequence: 0, turn_id: 'u', loop_id: 'root', kind: 'message', role: 'assistant', status: 'completed', tool_calls: [],
    blocks: [{ type: 'text', content: 'x <cite id="c"/>' }], metadata: { citation_map: { c: { source_name: 'A.pdf', location: { page_number: 2 } } } } };
  assert.match(run(['cite', '-'], { input: JSON.stringify([turn]) }).out, /\[c\] A\.pdf, page 2/);
  const other = run(['cite', '-'], { input: '{"contents":[{"role":"user","parts":[{"text":"q"}]}]}' });
  assert.deepEqual([other.code, other.out], [1, '']);
  assert.match(other.err, /cite reads harmony and turns, but this is gemini; convert it to harmony first/);
});
