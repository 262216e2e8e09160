// A server in place of the vendors: it speaks all four dialects, streamed and not, from scripts, records every
// request, and checks the requests with the vendors' schemas and rules. By the path of a request:
//
//     POST /v1/messages                                   anthropic
//     POST /v1/chat/completions                           openai-chat
//     POST /v1/responses                                  openai-responses
//     POST /v1beta/models/MODEL:generateContent           gemini (:streamGenerateContent)
//     GET  /v1/models                                     the list of its models
//
// A script describes one answer; all members are optional:
//
//     think: 'text'          thinking, with a signature
//     redacted: 'data'       encrypted thinking (anthropic)
//     say: 'text'            sent word by word; also an array of pieces
//     refuse: 'text'         a refusal
//     cites: [{ url, title }]   the sources of the text, in the vendor's own form
//     calls: [{ name, args }]   tool calls, all before any is answered; args is a value, or a string that is sent unchanged
//     usage: { input, output, cached, reasoning }
//     finish: 'length' | 'filter'   instead of stop or tools
//     model: 'name'          the model named in the answer
//     status, error, headers    an error: the sentence is put into the vendor's form; `body` is sent unchanged
//     hang: 'head' | 'body'  sends nothing at all, or nothing after the first words
//     drop: 'head' | 'body'  closes the connection at that point
//     bad: true              an event in the middle is not JSON
//     drip: ms               the delay between two events
//     bytes: n               the stream is split into pieces of n bytes
//     raw: 'text'            this stream or body instead of a generated one
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './harness.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const sse = (data, event) => `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const words = (text) => (Array.isArray(text) ? text : (text ?? '').match(/\S+\s*|\s+/g) ?? []);
const argsText = ({ args = {} }) => (typeof args === 'string' ? args : JSON.stringify(args));
const argsValue = ({ args = {} }) => (typeof args === 'string' ? JSON.parse(args) : args);
const halves = (text) => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)].filter(Boolean);
const pieces = (bytes, n) => Array.from({ length: Math.ceil(bytes.length / n) }, (_, i) => bytes.subarray(i * n, (i + 1) * n));
const usageOf = ({ usage = {} }) => ({ input: 11, output: 7, cached: 0, reasoning: 0, ...usage });

let made = 0;
const id = (prefix) => `${prefix}${String(++made).padStart(8, '0')}`;
export const signature = (dialect) => Buffer.from(`proof of ${dialect}`).toString('base64');

// --- answers ---------------------------------------------------------------------------------------------------------

const stopWords = {
  anthropic: { length: 'max_tokens', filter: 'refusal', tools: 'tool_use', stop: 'end_turn' },
  'openai-chat': { length: 'length', filter: 'content_filter', tools: 'tool_calls', stop: 'stop' },
  'openai-responses': { length: 'max_output_tokens', filter: 'content_filter' },
  gemini: { length: 'MAX_TOKENS', filter: 'SAFETY', tools: 'STOP', stop: 'STOP' },
};
const finishOf = (dialect, script) =>
  stopWords[dialect][script.finish ?? (script.calls?.length ? 'tools' : 'stop')];

const webLocation = ({ url, title }) => ({ type: 'web_search_result_location', cited_text: 'What it says.', encrypted_index: 'aW5kZXg=', title, url });
const urlCitation = (script) => ({ url, title }) => ({ type: 'url_citation', start_index: 0, end_index: words(script.say).join('').length, url, title });

function anthropicMessage(script, model) {
  const usage = usageOf(script);
  return {
    id: id('msg_'), type: 'message', role: 'assistant', model: script.model ?? model,
    content: [
      ...(script.think ? [{ type: 'thinking', thinking: script.think, signature: signature('anthropic') }] : []),
      ...(script.redacted ? [{ type: 'redacted_thinking', data: script.redacted }] : []),
      ...(script.say || script.refuse ? [{ type: 'text', text: words(script.say ?? script.refuse).join(''), ...(script.cites ? { citations: script.cites.map(webLocation) } : {}) }] : []),
      ...(script.calls ?? []).map((call) => ({ type: 'tool_use', id: id('toolu_'), name: call.name, input: argsValue(call) })),
    ],
    stop_reason: script.refuse ? 'refusal' : finishOf('anthropic', script), stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cached, cache_read_input_tokens: usage.cached, cache_creation_input_tokens: 0,
      output_tokens: usage.output,
    },
  };
}

function anthropicEvents(script, model) {
  const whole = anthropicMessage(script, model);
  const events = [{ type: 'message_start', message: { ...whole, content: [], stop_reason: null, usage: { ...whole.usage, output_tokens: 1 } } }];
  whole.content.forEach((block, index) => {
    const add = (delta) => events.push({ type: 'content_block_delta', index, delta });
    const empty = { thinking: { type: 'thinking', thinking: '', signature: '' }, text: { type: 'text', text: '' }, tool_use: { ...block, input: {} } };
    events.push({ type: 'content_block_start', index, content_block: empty[block.type] ?? block });
    if (block.type === 'thinking') {
      for (const word of words(block.thinking)) add({ type: 'thinking_delta', thinking: word });
      add({ type: 'signature_delta', signature: block.signature });
    }
    if (block.type === 'text') for (const word of words(script.say ?? script.refuse)) add({ type: 'text_delta', text: word });
    for (const citation of block.citations ?? []) add({ type: 'citations_delta', citation });
    if (block.type === 'tool_use') {
      const call = script.calls[index - (whole.content.length - script.calls.length)];
      for (const half of halves(argsText(call))) add({ type: 'input_json_delta', partial_json: half });
    }
    events.push({ type: 'content_block_stop', index });
  });
  events.push({ type: 'message_delta', delta: { stop_reason: whole.stop_reason, stop_sequence: null }, usage: { output_tokens: whole.usage.output_tokens } });
  events.push({ type: 'message_stop' });
  return events.map((event) => sse(event, event.type));
}

const chatUsage = (script) => {
  const { input, output, cached, reasoning } = usageOf(script);
  return {
    prompt_tokens: input, completion_tokens: output, total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached }, completion_tokens_details: { reasoning_tokens: reasoning },
  };
};
const chatCall = (call) => ({ id: id('call_'), type: 'function', function: { name: call.name, arguments: argsText(call) } });

const chatAnnotations = (script) => script.cites.map(urlCitation(script)).map(({ type, ...rest }) => ({ type, url_citation: rest }));

const chatMessage = (script, model) => ({
  id: id('chatcmpl-'), object: 'chat.completion', created: 1700000000, model: script.model ?? model,
  choices: [{
    index: 0,
    message: {
      role: 'assistant', content: script.say ? words(script.say).join('') : null, refusal: script.refuse ?? null,
      ...(script.think ? { reasoning_content: script.think } : {}),
      ...(script.cites ? { annotations: chatAnnotations(script) } : {}),
      ...(script.calls?.length ? { tool_calls: script.calls.map(chatCall) } : {}),
    },
    logprobs: null, finish_reason: finishOf('openai-chat', script),
  }],
  usage: chatUsage(script),
});

function chatEvents(script, model, body) {
  const head = { id: id('chatcmpl-'), object: 'chat.completion.chunk', created: 1700000000, model: script.model ?? model };
  const chunk = (delta, finish_reason = null) => ({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  const events = [chunk({ role: 'assistant', content: '' })];
  for (const word of words(script.think)) events.push(chunk({ reasoning_content: word }));
  for (const word of words(script.say)) events.push(chunk({ content: word }));
  if (script.cites) events.push(chunk({ annotations: chatAnnotations(script) }));
  for (const word of words(script.refuse)) events.push(chunk({ refusal: word }));
  (script.calls ?? []).map(chatCall).forEach((call, index) => {
    events.push(chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] }));
    for (const half of halves(call.function.arguments)) events.push(chunk({ tool_calls: [{ index, function: { arguments: half } }] }));
  });
  events.push(chunk({}, finishOf('openai-chat', script)));
  // As the vendor does: only on request.
  if (body.stream_options?.include_usage) events.push({ ...head, choices: [], usage: chatUsage(script) });
  return [...events.map((event) => sse(event)), sse('[DONE]')];
}

function responsesItems(script) {
  return [
    ...(script.think ? [{ type: 'reasoning', id: id('rs_'), summary: [{ type: 'summary_text', text: script.think }], encrypted_content: signature('openai-responses') }] : []),
    ...(script.say || script.refuse ? [{
      type: 'message', id: id('msg_'), role: 'assistant', status: 'completed',
      content: [script.refuse ? { type: 'refusal', refusal: script.refuse }
        : { type: 'output_text', text: words(script.say).join(''), annotations: (script.cites ?? []).map(urlCitation(script)), logprobs: [] }],
    }] : []),
    ...(script.calls ?? []).map((call) => ({
      type: 'function_call', id: id('fc_'), call_id: id('call_'), name: call.name, arguments: argsText(call), status: 'completed',
    })),
  ];
}

function responsesMessage(script, model, output = responsesItems(script)) {
  const { input, output: n, cached, reasoning } = usageOf(script);
  const cut = script.finish && stopWords['openai-responses'][script.finish];
  return {
    id: id('resp_'), object: 'response', created_at: 1700000000, status: cut ? 'incomplete' : 'completed', error: null,
    incomplete_details: cut ? { reason: cut } : null, instructions: null, max_output_tokens: null,
    model: script.model ?? model, output, parallel_tool_calls: true, previous_response_id: null,
    reasoning: { effort: null, summary: null }, store: true, temperature: 1, text: { format: { type: 'text' } },
    tool_choice: 'auto', tools: [], top_p: 1, truncation: 'disabled', user: null, metadata: {},
    usage: {
      input_tokens: input, input_tokens_details: { cached_tokens: cached }, output_tokens: n,
      output_tokens_details: { reasoning_tokens: reasoning }, total_tokens: input + n,
    },
  };
}

function responsesEvents(script, model) {
  const items = responsesItems(script);
  const whole = responsesMessage(script, model, items);
  const early = { ...whole, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  const events = [{ type: 'response.created', response: early }, { type: 'response.in_progress', response: early }];
  items.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    const add = (type, rest) => events.push({ type: `response.${type}`, ...at, ...rest });
    const bare = { reasoning: { summary: [], encrypted_content: undefined }, message: { content: [], status: 'in_progress' }, function_call: { arguments: '', status: 'in_progress' } };
    events.push({ type: 'response.output_item.added', output_index, item: { ...item, ...bare[item.type] } });
    if (item.type === 'reasoning') {
      add('reasoning_summary_part.added', { summary_index: 0, part: { type: 'summary_text', text: '' } });
      for (const word of words(script.think)) add('reasoning_summary_text.delta', { summary_index: 0, delta: word });
      add('reasoning_summary_text.done', { summary_index: 0, text: script.think });
      add('reasoning_summary_part.done', { summary_index: 0, part: item.summary[0] });
    } else if (item.type === 'message') {
      const [part] = item.content;
      const kind = part.type === 'refusal' ? 'refusal' : 'output_text';
      add('content_part.added', { content_index: 0, part: { ...part, [kind === 'refusal' ? 'refusal' : 'text']: '', ...(part.annotations ? { annotations: [] } : {}) } });
      for (const word of words(script.say ?? script.refuse)) add(`${kind}.delta`, { content_index: 0, delta: word, logprobs: [] });
      (part.annotations ?? []).forEach((annotation, annotation_index) => add('output_text.annotation.added', { content_index: 0, annotation_index, annotation }));
      add(`${kind}.done`, { content_index: 0, [kind === 'refusal' ? 'refusal' : 'text']: part.text ?? part.refusal });
      add('content_part.done', { content_index: 0, part });
    } else {
      for (const half of halves(item.arguments)) add('function_call_arguments.delta', { delta: half });
      add('function_call_arguments.done', { arguments: item.arguments });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  });
  events.push({ type: whole.status === 'completed' ? 'response.completed' : 'response.incomplete', response: whole });
  return events.map((event, sequence_number) => sse({ ...event, sequence_number }, event.type));
}

function geminiParts(script) {
  return [
    ...words(script.think).map((text) => ({ text, thought: true })),
    ...words(script.say ?? script.refuse).map((text) => ({ text })),
    ...(script.calls ?? []).map((call, i) => ({
      functionCall: { name: call.name, args: argsValue(call) },
      // The first call carries the signature for all.
      ...(script.think && i === 0 ? { thoughtSignature: signature('gemini') } : {}),
    })),
  ];
}

function grounding({ say, cites }) {
  if (!cites) return {};
  const text = words(say).join('');
  return {
    groundingMetadata: {
      groundingChunks: cites.map(({ url, title }) => ({ web: { uri: url, title } })),
      groundingSupports: [{ segment: { startIndex: 0, endIndex: text.length, text }, groundingChunkIndices: cites.map((_, i) => i) }],
    },
  };
}

function geminiMessage(script, model, parts = geminiParts(script), isLast = true) {
  const { input, output, cached, reasoning } = usageOf(script);
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(isLast ? { finishReason: finishOf('gemini', script), ...grounding(script) } : {}) }],
    usageMetadata: {
      promptTokenCount: input, candidatesTokenCount: output - reasoning, totalTokenCount: input + output,
      ...(cached ? { cachedContentTokenCount: cached } : {}), ...(reasoning ? { thoughtsTokenCount: reasoning } : {}),
    },
    modelVersion: script.model ?? model, responseId: id('resp'),
  };
}

function geminiEvents(script, model) {
  const parts = geminiParts(script);
  // All calls are in the last part.
  const texts = parts.filter((part) => !part.functionCall).map((part) => [part]);
  const calls = parts.filter((part) => part.functionCall);
  const chunks = calls.length || !texts.length ? [...texts, calls] : texts;
  return chunks.map((some, i) => sse(geminiMessage(script, model, some, i === chunks.length - 1)));
}

const error = (message, type) => ({ message, type, param: null, code: null });
const dialects = {
  anthropic: {
    path: /^\/v1\/messages$/, key: (headers) => headers['x-api-key'],
    message: anthropicMessage, events: anthropicEvents,
    error: (status, message) => ({ type: 'error', error: { type: status === 529 ? 'overloaded_error' : 'invalid_request_error', message }, request_id: 'req_1' }),
  },
  'openai-chat': {
    path: /^\/v1\/chat\/completions$/, key: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
    message: chatMessage, events: chatEvents,
    error: (status, message) => ({ error: error(message, status >= 500 ? 'server_error' : 'invalid_request_error') }),
  },
  'openai-responses': {
    path: /^\/v1\/responses$/, key: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
    message: responsesMessage, events: responsesEvents,
    error: (status, message) => ({ error: error(message, status >= 500 ? 'server_error' : 'invalid_request_error') }),
  },
  gemini: {
    path: /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/, key: (headers) => headers['x-goog-api-key'],
    message: geminiMessage, events: geminiEvents,
    error: (status, message) => ({ error: { code: status, message, status: status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT' } }),
  },
};
export const dialectNames = Object.keys(dialects);

// --- refusals that no schema expresses -------------------------------------------------------------------------------

const same = (a, b) => JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());

// Values that some models refuse and others accept: the newer Claudes, and OpenAI's reasoning models.
const models = [
  [/^claude-(opus-4-[78]|opus-5|sonnet-5|haiku-5|fable-5|mythos-5)/, (body, say) => {
    for (const name of ['temperature', 'top_p', 'top_k']) if (name in body) say(`${name} is deprecated for this model`);
    if (body.thinking?.type === 'enabled') say('"thinking.type.enabled" is not supported for this model');
  }],
  [/^claude-(opus-5-5|fable-5|mythos-5)/, (body, say) => {
    if (body.thinking && body.thinking.type !== 'adaptive') say(`"thinking.type.${body.thinking.type}" is not supported for this model`);
  }],
  [/^claude-(opus-5-5|sonnet-5-5|(fable|mythos)-5-[12])/, (body, say) => {
    if (['any', 'tool'].includes(body.tool_choice?.type)) say('tool_choice: forced tool use is not supported for this model');
  }],
  [/^claude-(sonnet-5$|opus-4-[567]|sonnet-4|haiku-4)/, (body, say) => {
    if (body.messages.some(({ role }) => role === 'system')) say('role \'system\' is not supported on this model');
  }],
  [/^(gpt-5(-mini|-nano)?$|o[134])/, (body, say) => {
    for (const name of ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs']) if (name in body) say(`${name} is not supported with this model`);
    if ('max_tokens' in body) say('max_tokens is not supported with this model');
    if (['none', 'xhigh', 'max'].includes(body.reasoning_effort ?? body.reasoning?.effort)) say('the effort is not supported with this model');
  }],
  [/^gpt-(5\.6|6)/, (body, say) => {
    const effort = body.reasoning_effort ?? body.reasoning?.effort;
    if (body.messages && body.tools?.length && effort !== 'none') say('Function tools with reasoning_effort are not supported');
    if (effort !== 'none' && 'temperature' in body) say('temperature is not supported while the model thinks');
  }],
];

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
// A model that sent invalid arguments gets them back unchanged, with an error that says so.
const saysFailed = (answer) => /"status":"error"/.test(typeof answer === 'string' ? answer : JSON.stringify(answer ?? ''));

const rules = {
  anthropic(body, say, model) {
    const { messages } = body;
    if (messages[0]?.role !== 'user') say('the first message is the user\'s');
    const blocks = (m) => (typeof m?.content === 'string' ? [{ type: 'text', text: m.content }] : m?.content ?? []);
    const seen = new Set();
    messages.forEach((m, i) => {
      const calls = blocks(m).filter((b) => b.type === 'tool_use').map((b) => b.id);
      const results = blocks(messages[i + 1]).filter((b) => b.type === 'tool_result').map((b) => b.tool_use_id);
      if (calls.length && !same(calls, results)) say(`messages ${i}: calls ${calls} are answered by ${results}`);
      for (const call of calls) {
        if (seen.has(call)) say(`the id ${call} is used twice`);
        seen.add(call);
      }
      if (m.role === 'user' && blocks(m).some((b, k) => b.type === 'tool_result' && blocks(m)[k - 1] && blocks(m)[k - 1].type !== 'tool_result')) say('results stand in front');
      if (blocks(m).some((b) => b.type === 'text' && !b.text.trim())) say('no text is blank');
      if (blocks(m).some((b) => b.type === 'thinking' && !b.signature)) say('thinking needs its signature');
      const asked = blocks(messages[i - 1]).filter((b) => b.type === 'tool_use').length;
      if (!asked && blocks(m).some((b) => b.type === 'tool_result')) say('a result without a call');
      if (i && m.role === messages[i - 1].role && m.role === 'assistant') say('two assistant messages in a row');
    });
    // Up to 4.5 these models continue such a turn.
    const isContinued = /^claude-(3|(opus|sonnet|haiku)-4(-[015]|-2\d{7}|$))/.test(model);
    if (messages.at(-1)?.role === 'assistant' && !isContinued) say('the last message is not the assistant\'s');
  },
  'openai-chat'(body, say) {
    const { messages } = body;
    for (let i = 0; i < messages.length; i++) {
      const calls = (messages[i].tool_calls ?? []).map((call) => call.id);
      const results = [];
      for (let k = i + 1; messages[k]?.role === 'tool'; k++) results.push(messages[k].tool_call_id);
      if (messages[i].role === 'assistant' && !same(calls, results)) say(`message ${i}: calls ${calls} are answered by ${results}`);
      if (messages[i].role === 'tool' && !['tool', 'assistant'].includes(messages[i - 1]?.role)) say('a result without a call');
      for (const call of messages[i].tool_calls ?? []) {
        const answer = messages.find(({ tool_call_id: of }) => of === call.id)?.content;
        if (!isJson(call.function.arguments) && !saysFailed(answer)) say(`the arguments of ${call.id} are no JSON, and nobody said so`);
      }
    }
  },
  'openai-responses'(body, say) {
    const items = typeof body.input === 'string' ? [] : body.input;
    const calls = items.filter((item) => item.type === 'function_call').map((item) => item.call_id);
    const results = items.filter((item) => item.type === 'function_call_output').map((item) => item.call_id);
    if (!same(calls, results)) say(`calls ${calls} are answered by ${results}`);
    if (new Set(calls).size !== calls.length) say('an id is used twice');
    for (const call of items.filter(({ type }) => type === 'function_call')) {
      const answer = items.find(({ type, call_id: of }) => type === 'function_call_output' && of === call.call_id)?.output;
      if (!isJson(call.arguments) && !saysFailed(answer)) say(`the arguments of ${call.call_id} are no JSON, and nobody said so`);
    }
    items.forEach((item, i) => {
      if (item.type === 'reasoning' && (!items[i + 1] || items[i + 1].role === 'user')) say('reasoning is followed by what was thought out');
    });
  },
  gemini(body, say, model) {
    const { contents } = body;
    if (contents[0]?.role === 'model') say('the first content is the user\'s');
    contents.forEach((content, i) => {
      const calls = content.parts.filter((part) => part.functionCall).map((part) => part.functionCall.name);
      const results = (contents[i + 1]?.parts ?? []).filter((part) => part.functionResponse).map((part) => part.functionResponse.name);
      if (calls.length && JSON.stringify(calls) !== JSON.stringify(results)) say(`contents ${i}: calls ${calls} are answered by ${results}`);
      // The user may: after results, or after an unanswered question.
      if (i && content.role === 'model' && contents[i - 1].role === 'model') say(`contents ${i}: model speaks twice in a row`);
      for (const { functionResponse } of content.parts) {
        if (functionResponse && (typeof functionResponse.response !== 'object' || Array.isArray(functionResponse.response))) say('a response is an object');
      }
    });
    // In the current turn, the first call of every step is signed.
    const turn = contents.findLastIndex((content) => content.role === 'user' && content.parts.some((part) => part.text !== undefined));
    for (const content of model.startsWith('gemini-3') ? contents.slice(turn + 1) : []) {
      const first = content.parts.find((part) => part.functionCall);
      if (first && !first.thoughtSignature) say('the first call of a step needs its signature');
    }
    if (contents.at(-1)?.role === 'model') say('the last content is not the model\'s');
  },
};

// The vendor's objections to a request that fits its schema.
export function refusals({ dialect, body, model }) {
  const wrong = [];
  rules[dialect](body, (what) => wrong.push(what), model);
  for (const [name, refuses] of models) if (name.test(model)) refuses(body, (what) => wrong.push(what));
  return wrong;
}

// Throws unless the vendor would accept it.
export function checkRequest(request) {
  const { dialect, text } = request;
  const { code, out, err } = run(['validate', '--as', dialect, '--json', '-'], { input: text });
  assert.equal(code, 0, `not a request of ${dialect}: ${out}${err}\n${text.slice(0, 4000)}`);
  assert.deepEqual(refusals(request), [], `${dialect} refuses this: ${text.slice(0, 4000)}`);
}

// The same for many requests, with one process for each dialect.
function checkAll(requests) {
  for (const dialect of dialectNames) {
    const some = requests.filter((request) => request.dialect === dialect);
    if (!some.length) continue;
    const dir = mkdtempSync(join(tmpdir(), 'parley-upstream-'));
    const paths = some.map(({ text }, i) => {
      writeFileSync(join(dir, `${i}.json`), text);
      return join(dir, `${i}.json`);
    });
    const { code, out } = run(['validate', '--as', dialect, '--json', ...paths]);
    rmSync(dir, { recursive: true, force: true });
    assert.equal(code, 0, `not requests of ${dialect}: ${out.split('\n').filter((line) => !/"valid":true/.test(line)).slice(0, 3).join('\n').slice(0, 6000)}`);
    for (const request of some) assert.deepEqual(refusals(request), [], `${dialect} refuses this: ${request.text.slice(0, 4000)}`);
  }
}

// --- the server ------------------------------------------------------------------------------------------------------

class Upstream {
  constructor({ key, models = [], answer, isLenient = false } = {}) {
    this.isLenient = isLenient; // a test deliberately sends requests that no vendor accepts
    this.key = key; // any other key is answered with 401
    this.models = models;
    this.answer = answer; // (request) => script; otherwise those of `next` in order, then { say: 'Hello.' }
    this.scripts = [];
    this.kept = []; // every request, also those dropped by reset()
    this.requests = []; // { dialect, model, path, headers, text, body, isStream, isClosed, isDone }
    this.server = http.createServer((request, response) => this.take(request, response).catch(() => response.destroy()));
  }

  async listen(port = 0) {
    await new Promise((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  // Sets the answers to the next requests.
  next(...scripts) {
    this.scripts.push(...scripts);
    return this;
  }

  last(dialect) {
    return this.requests.findLast((request) => !dialect || request.dialect === dialect);
  }

  // Checks that the vendor would accept every request so far.
  check() {
    for (const request of this.requests) if (!request.isChecked) checkRequest(request);
    for (const request of this.requests) request.isChecked = true;
  }

  // Forgets the requests and scripts.
  reset() {
    this.scripts = [];
    this.requests = [];
  }

  // Checks any unchecked requests, unless the upstream is lenient, so that no test can omit the check.
  async close() {
    this.server.closeAllConnections();
    await new Promise((resolve) => { this.server.close(resolve); });
    if (!this.isLenient) checkAll(this.kept.filter(({ isChecked }) => !isChecked));
  }

  // Settings that make `parley serve` use this server for every vendor.
  env(key = this.key ?? 'sk-upstream-key-000001') {
    return {
      OPENAI_API_KEY: key, OPENAI_BASE_URL: this.url, ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: this.url,
      GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: this.url, PARLEY_PROBE: 'false',
    };
  }

  async take(request, response) {
    const heard = [];
    for await (const piece of request) heard.push(piece);
    const url = new URL(request.url, this.url);
    if (request.method === 'GET' && url.pathname === '/v1/models') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data: this.models.map((name) => ({ id: name, object: 'model' })) }));
      return;
    }
    const dialect = dialectNames.find((name) => dialects[name].path.test(url.pathname));
    if (!dialect || request.method !== 'POST') {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no such path"}}');
      return;
    }
    const text = Buffer.concat(heard).toString('utf8');
    const body = JSON.parse(text);
    const [, named, verb] = url.pathname.match(dialects.gemini.path) ?? [];
    const seen = {
      dialect, path: request.url, headers: request.headers, text, body, model: named ?? body.model,
      isStream: verb ? verb === 'streamGenerateContent' : body.stream === true, isClosed: false, isDone: false,
    };
    this.requests.push(seen);
    this.kept.push(seen);
    response.on('close', () => { seen.isClosed = true; });
    const wrongKey = this.key && dialects[dialect].key(request.headers) !== this.key;
    // A vendor that reveals the key in its message.
    const refusal = { status: 401, error: `Incorrect API key provided: ${dialects[dialect].key(request.headers)}.` };
    const script = wrongKey ? refusal : (this.answer?.(seen) ?? this.scripts.shift() ?? { say: 'Hello.' });
    await this.play(seen, script, response);
    seen.isDone = true;
  }

  async play(seen, script, response) {
    const dialect = dialects[seen.dialect];
    if (script.hang === 'head') return;
    if (script.drop === 'head') {
      response.destroy();
      return;
    }
    if (script.status && script.status !== 200) {
      response.writeHead(script.status, { 'content-type': 'application/json', ...script.headers });
      response.end(script.body ?? JSON.stringify(dialect.error(script.status, script.error ?? 'no')));
      return;
    }
    if (!seen.isStream) {
      response.writeHead(200, { 'content-type': 'application/json', ...script.headers });
      response.end(script.raw ?? JSON.stringify(dialect.message(script, seen.model)));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...script.headers });
    let events = script.raw ? [script.raw] : dialect.events(script, seen.model, seen.body);
    if (script.hang || script.drop || script.bad) events = events.slice(0, Math.max(1, events.length >> 1));
    if (script.bad) events.push('data: {"broken": \n\n');
    if (script.bytes) events = pieces(Buffer.from(events.join('')), script.bytes);
    if (script.drip === undefined && !script.bytes) events = [events.join('')];
    let written;
    for (const event of events) {
      if (seen.isClosed) return;
      written = new Promise((resolve) => response.write(event, resolve));
      if (script.drip !== undefined) await sleep(script.drip);
    }
    if (script.hang) return;
    if (script.drop) {
      await written; // in the kernel's buffer: the data is sent before the end
      response.destroy();
    } else {
      response.end();
    }
  }
}

export const openUpstream = (options, port) => new Upstream(options).listen(port);
