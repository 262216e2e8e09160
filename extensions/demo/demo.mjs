// One example of each feature of extensions, to look at in the page and for tests. It sends nothing off the machine and
// writes no file.
import { Extension } from './parley_ext.mjs';

const ext = new Extension();
const none = { type: 'object', properties: {}, additionalProperties: false };
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required, additionalProperties: false });

// A card is HTML that the page shows beside the conversation; the model gets only the text.
ext.tool('demo_card', 'Shows a card with a bar for each number.', object({ title: { type: 'string' }, numbers: { type: 'array', items: { type: 'number' }, maxItems: 20 } }),
  (call, { title, numbers }) => {
    const safe = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`);
    const most = Math.max(1, ...numbers);
    const bars = numbers.map((n) => `<div style="background:#4a7;height:16px;margin:2px;width:${Math.max(0, Math.round((100 * n) / most))}%">${safe(n)}</div>`).join('');
    return {
      text: `A card "${title}" with ${numbers.length} bars is shown.`,
      _meta: { ui: { target: 'inline', title, height: 60 + 20 * numbers.length, resourceHTML: `<h3>${safe(title)}</h3>${bars}` } },
    };
  });

// A bridge is a message for the page around the conversation.
ext.tool('demo_bridge', 'Tells the page to highlight something.', object({ target: { type: 'string' } }),
  (call, { target }) => ({ text: `The page was told to highlight ${target}.`, _meta: { bridge: { action: 'highlight', target } } }));

ext.tool('demo_question', 'Asks the person for a colour, a yes and a name.', none, async (call) => {
  const colour = await call.ask('Which colour?', { options: ['red', 'green', 'blue'] });
  const isSure = await call.ask('Sure?', { message: `You chose ${colour ?? 'nothing'}.` });
  const name = await call.ask('What is it for?', { placeholder: 'a word' });
  return `colour: ${colour ?? 'dismissed'}, sure: ${isSure ?? 'dismissed'}, for: ${name ?? 'dismissed'}`;
});

ext.tool('demo_progress', 'Counts to a number, and shows how far it is.', object({ to: { type: 'integer', minimum: 1, maximum: 100 } }), (call, { to }) => {
  for (let i = 1; i <= to; i++) call.progress(`${i} of ${to}`);
  return `counted to ${to}`;
});

ext.tool('demo_stream', 'Runs seq in a cell and adds up the numbers as they come.', object({ to: { type: 'integer', minimum: 1, maximum: 100000 } }), async (call, { to }) => {
  let rest = '', sum = 0, parts = 0;
  const count = (line) => { sum += Number(line); };
  for await (const part of call.stream('exec', { cmd: 'seq', args: [String(to)], options: {} })) {
    if (part.stdout === undefined) continue;
    parts++;
    const lines = (rest + part.stdout).split('\n');
    rest = lines.pop();
    lines.forEach(count);
  }
  if (rest) count(rest);
  return `the sum is ${sum}, in ${parts} parts`;
});

ext.tool('demo_slow', 'Waits for some seconds, unless it is cancelled.', object({ seconds: { type: 'integer', minimum: 1, maximum: 600 } }), (call, { seconds }) => new Promise((resolve, reject) => {
  const timer = setTimeout(() => resolve(`waited ${seconds} s`), 1000 * seconds);
  call.signal.addEventListener('abort', () => { clearTimeout(timer); reject(call.signal.reason); });
}), { timeout_ms: 600_000 });

ext.tool('demo_fail', 'Always fails.', none, () => { throw new Error('This tool always fails.'); });

ext.tool('demo_image', 'Gives a small image.', none, () => [
  { type: 'text', text: 'one green dot' },
  { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkWPr/PwAFJQKQy2zTdQAAAABJRU5ErkJggg==' }]);

// The events that the hooks have received, newest last.
const seen = [];
ext.command('demo', 'Says what the hooks of this extension have seen: /demo [clear].', (call, args) => {
  if (args[0] === 'clear') seen.length = 0;
  return { text: seen.length ? seen.join('\n') : 'nothing yet' };
});
ext.command('demo-ask', 'Sends a message as if you had written it: /demo-ask WORDS.', (call, args) => ({ prompt: args.join(' ') || 'Hello!' }));

const events = ['startup', 'session_start', 'session_shutdown', 'agent_start', 'agent_end', 'agent_settled', 'turn_start', 'turn_end', 'message_update', 'message_end',
  'tool_execution_start', 'tool_execution_update', 'tool_execution_end', 'model_select', 'shutdown',
  'before_agent_start', 'context', 'before_provider_request', 'tool_call_final', 'session_before_compact', 'session_before_fork', 'session_before_switch', 'bus:demo'];
ext.hook(events, (call, data, event) => {
  if (event !== 'message_update') seen.push(event);
  seen.splice(0, Math.max(0, seen.length - 200));
});

// Hooks that decide: certain words in a text change the outcome.
ext.hook('input', (call, { text }) => {
  seen.push('input');
  if (text?.startsWith('demo shout ')) return { action: 'transform', text: text.slice('demo shout '.length).toUpperCase() };
  return { action: 'continue' };
});
ext.hook('tool_call', (call, { tool_name, input }) => {
  seen.push(`tool_call ${tool_name}`);
  const words = JSON.stringify(input ?? {});
  if (words.includes('demo-block')) return { block: true, reason: 'the words demo-block were in it' };
  if (words.includes('demo-ask-me')) return { ask: true, reason: 'the words demo-ask-me were in it' };
});
ext.hook('tool_result', (call, { tool_name, content }) => {
  seen.push(`tool_result ${tool_name}`);
  const text = content?.[0]?.text;
  if (typeof text === 'string' && text.includes('demo-secret')) return { content: [{ type: 'text', text: text.replaceAll('demo-secret', '***') }] };
});

ext.run();
