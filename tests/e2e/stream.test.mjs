// parley stream on bad input: on any error the target gets an error event of its own dialect,
// everything before it has been passed on, the exit code is 3, and memory stays bounded.
import assert from 'node:assert/strict';
import test from 'node:test';
import { noTime, run, shell } from './harness.mjs';

const dialects = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'patches'];
const chunk = (delta, finish = null) => `data: ${JSON.stringify({
  id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }],
})}\n\n`;
const answer = [
  chunk({ role: 'assistant', content: '' }),
  ...['said', ' before', ' it', ' broke'].map((content) => chunk({ content })),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
].join('');
const stream = (from, to, input) => run(['stream', '--from', from, '--to', to, '-'], { input });

// The same answer in every dialect, and its events one by one.
const answers = Object.fromEntries(dialects.map((to) => [to, stream('openai-chat', to, answer).out]));
const eventsOf = (dialect) => answers[dialect].split(dialect === 'patches' ? /(?<=\n)/ : /(?<=\n\n)/);
const pairs = dialects.flatMap((from) => dialects.map((to) => [from, to]));

// The events of a target, each as [name, object].
function parse(to, text) {
  if (to === 'patches') return text.split('\n').filter(Boolean).map((line) => ['', JSON.parse(line)]);
  return text.split('\n\n').filter((event) => event.includes('data: ')).map((event) => {
    const data = /^data: (.*)$/m.exec(event)[1];
    return [/^event: (.*)$/m.exec(event)?.[1] ?? '', data === '[DONE]' ? data : JSON.parse(data)];
  });
}

// How a client of the target recognises a failure: the message.
const failure = {
  'openai-chat': (name, event) => event.error?.message,
  'openai-responses': (name, event) =>
    name === 'response.failed' ? event.response.error.message : name === 'error' ? event.message : undefined,
  anthropic: (name, event) => (name === 'error' && event.type === 'error' ? event.error.message : undefined),
  gemini: (name, event) => (event.error?.code === 500 ? event.error.message : undefined),
  patches: (name, event) =>
    event.patch_type === 'set_status' && event.data.status === 'failed' ? event.data.error.message : undefined,
};

function assertFails(from, to, { code, out, err }, message) {
  const [name, event] = parse(to, out).at(-1);
  assert.match(failure[to](name, event) ?? `no failure: ${out}`, message);
  assert.match(err, /^parley: <stdin>: .+\n$/);
  assert.match(err, message);
  assert.equal(code, 3);
}

// Some of the events, and the part of the answer in them.
const someOf = (from) => {
  const events = eventsOf(from);
  const last = events.findLastIndex((event) => event.includes(' it"'));
  return events.slice(0, last + 1).join('');
};
const assertSaid = (out) => {
  for (const words of ['said', ' before', ' it']) assert.ok(out.includes(words), `${words} in ${out}`);
};

for (const [from, to] of pairs) {
  test(`${from} > ${to}: a stream that is cut between two events ends in an error`, () => {
    const result = stream(from, to, someOf(from));
    assertFails(from, to, result, /the stream ended before the answer was complete/);
    assertSaid(result.out);
  });

  test(`${from} > ${to}: a stream that is cut within an event ends in an error`, () => {
    const events = eventsOf(from);
    const next = events[events.findLastIndex((event) => event.includes(' it"')) + 1];
    const result = stream(from, to, someOf(from) + next.slice(0, next.indexOf('{') + 20));
    assertFails(from, to, result, /an event is not JSON|the stream ended before the answer was complete/);
    assertSaid(result.out);
  });

  test(`${from} > ${to}: data that is not JSON ends the stream in an error`, () => {
    const broken = from === 'patches' ? '{"a":nul}\n' : 'data: {"a":nul}\n\n';
    const result = stream(from, to, someOf(from) + broken + eventsOf(from).slice(-2).join(''));
    assertFails(from, to, result, /an event is not JSON: .*/);
    assertSaid(result.out);
  });

  test(`${from} > ${to}: an event that nobody knows is passed over`, () => {
    const unknown = from === 'patches'
      ? '{"session_id":"sess_1","turn_id":"turn_1","loop_id":"root","patch_type":"from_the_future","data":{"x":1}}\n'
      : 'event: from.the.future\ndata: {"type":"from.the.future","x":[1,{"y":null}]}\n\n: a comment\n\nretry: 10\n\n';
    const events = eventsOf(from);
    const result = stream(from, to, [events[0], unknown, ...events.slice(1, -1), unknown, events.at(-1)].join(''));
    assert.equal(result.err, '');
    assert.equal(result.code, 0);
    if (from !== to) assert.equal(result.out, stream(from, to, answers[from]).out);
  });
}

test('a call that is cut does not take the words behind it along', () => {
  const input = chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"a' } }] })
    + chunk({ content: 'late words' });
  for (const to of dialects.slice(1)) {
    const result = stream('openai-chat', to, input);
    assertFails('openai-chat', to, result, /the stream ended before the answer was complete/);
    assert.ok(result.out.indexOf('late words') > 0, result.out);
  }
});


for (const [from, to] of pairs) {
  test(`${from} > ${to}: a line of 100 MB ends in an error, in bounded memory`, { skip: noTime }, () => {
    const begin = from === 'patches' ? '{"a":"' : 'data: {"a":"';
    const { code, out, err } = shell(
      `(printf '%s' '${begin}'; head -c 100000000 /dev/zero | tr '\\0' a) | /usr/bin/time -f "peak %M" "$P" stream --from ${from} --to ${to} -`);
    const [name, event] = parse(to, out).at(-1);
    assert.match(failure[to](name, event) ?? `no failure: ${out}`, /64 MiB/);
    assert.match(err, /^parley: <stdin>: .*64 MiB/);
    assert.equal(code, 3);
    // One event at most; where bytes are passed through, both as raw bytes and as an event.
    const peak = Number(/^peak (\d+)$/m.exec(err)[1]);
    assert.ok(peak < (from === to ? 160 : 90) << 10, `${peak} KiB`);
  });
}

test('a long answer takes no more memory than its own length where nothing repeats the whole', { skip: noTime }, () => {
  const peakOf = (to) => {
    const { err } = shell(
      `(cat; yes "$L" | head -n 400000 | sed 's/$/\\n/') | /usr/bin/time -f "peak %M" "$P" stream --from openai-chat --to ${to} - > /dev/null`,
      { input: chunk({ role: 'assistant', content: '' }), env: { L: chunk({ content: 'some words ' }).trim() } });
    return Number(/^peak (\d+)$/m.exec(err)[1]);
  };
  for (const to of ['anthropic', 'gemini']) assert.ok(peakOf(to) < 16 << 10, `${to}: ${peakOf(to)} KiB`);
});
