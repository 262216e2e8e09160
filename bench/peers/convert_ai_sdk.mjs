// The providers of the AI SDK write their vendor's request from the SDK's own prompt, but do not read
// requests. So the first half of the conversion (from a request to a prompt) is ours, as short as possible.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { run } from './convert_peer.mjs';

const parseArguments = (text) => { try { return JSON.parse(text); } catch { return text; } };
const text = (value) => ({ type: 'text', text: value });
const result = (id, name, value) => ({ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value } });
const dataFile = (url) => {
  const comma = url.indexOf(',');
  return { type: 'file', mediaType: url.slice(5, url.indexOf(';')), data: url.slice(comma + 1) };
};

function promptOfChat({ messages }) {
  const names = new Map();
  return messages.map((m) => {
    if (m.role === 'system') return { role: 'system', content: m.content };
    if (m.role === 'tool') return { role: 'tool', content: [result(m.tool_call_id, names.get(m.tool_call_id), m.content)] };
    const content = typeof m.content === 'string' ? [text(m.content)]
      : (m.content ?? []).map((p) => (p.type === 'text' ? text(p.text) : dataFile(p.image_url.url)));
    for (const call of m.tool_calls ?? []) {
      names.set(call.id, call.function.name);
      content.push({ type: 'tool-call', toolCallId: call.id, toolName: call.function.name, input: parseArguments(call.function.arguments) });
    }
    return { role: m.role, content };
  });
}

function promptOfAnthropic({ system, messages }) {
  const names = new Map(), prompt = [];
  if (system) prompt.push({ role: 'system', content: typeof system === 'string' ? system : system.map((b) => b.text).join('\n') });
  for (const m of messages) {
    const content = [], results = [];
    for (const b of typeof m.content === 'string' ? [text(m.content)] : m.content) {
      if (b.type === 'text') content.push(text(b.text));
      else if (b.type === 'image') content.push({ type: 'file', mediaType: b.source.media_type, data: b.source.data });
      else if (b.type === 'tool_use') { names.set(b.id, b.name); content.push({ type: 'tool-call', toolCallId: b.id, toolName: b.name, input: b.input }); }
      else if (b.type === 'tool_result') results.push(result(b.tool_use_id, names.get(b.tool_use_id), typeof b.content === 'string' ? b.content : b.content.map((c) => c.text).join('\n')));
    }
    if (results.length) prompt.push({ role: 'tool', content: results });
    if (content.length) prompt.push({ role: m.role, content });
  }
  return prompt;
}

const toolsOf = (body) => body.tools?.map((t) => {
  const f = t.function ?? t;
  return { type: 'function', name: f.name, description: f.description, inputSchema: f.parameters ?? f.input_schema };
});
const prompts = { 'openai-chat': promptOfChat, anthropic: promptOfAnthropic };
const models = {
  anthropic: createAnthropic({ apiKey: 'none' })('claude-sonnet-4-5'),
  gemini: createGoogleGenerativeAI({ apiKey: 'none' })('gemini-2.5-pro'),
  'openai-responses': createOpenAI({ apiKey: 'none' }).responses('gpt-5'),
};

await run('ai-sdk', async (from, to, body) => {
  const { args } = await models[to].getArgs({
    prompt: prompts[from](body), tools: toolsOf(body), maxOutputTokens: body.max_tokens, userSuppliedBetas: new Set(),
  });
  return args;
});
