// Builds a whole stream around one event: the events that a vendor sends before and after it.
const sse = (events, ending = '') => events.map((it) => `${it.type ? `event: ${it.type}\n` : ''}data: ${JSON.stringify(it)}\n\n`).join('') + ending;

function chatStream(event) {
  const chunk = (delta, finish_reason = null) => ({ id: event.id, object: 'chat.completion.chunk', created: event.created, model: event.model,
    choices: [{ index: 0, delta, finish_reason }] });
  const isOver = event.choices.some((choice) => choice.finish_reason);
  return sse([chunk({ role: 'assistant', content: '' }), event, ...(isOver ? [] : [chunk({}, 'stop')])], 'data: [DONE]\n\n');
}

// The item that must have been started before such an event.
const items = [
  [/^response\.(output_text|content_part|refusal)/, { type: 'message', role: 'assistant', content: [] }],
  [/^response\.function_call/, { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '' }],
  [/^response\.custom_tool_call/, { type: 'custom_tool_call', call_id: 'call_1', name: 'shout', input: '' }],
  [/^response\.reasoning/, { type: 'reasoning', summary: [] }],
  [/^response\.mcp_call/, { type: 'mcp_call', server_label: 'maps', name: 'find', arguments: '' }],
  [/^response\.mcp_list_tools/, { type: 'mcp_list_tools', server_label: 'maps', tools: [] }],
  [/^response\.web_search_call/, { type: 'web_search_call', action: { type: 'search', query: 'rain' } }],
  [/^response\.file_search_call/, { type: 'file_search_call', queries: ['rain'] }],
  [/^response\.code_interpreter_call/, { type: 'code_interpreter_call', code: '', container_id: 'c', outputs: null }],
  [/^response\.image_generation_call/, { type: 'image_generation_call', result: null }],
  [/^response\.shell_call_output/, { type: 'shell_call_output', call_id: 'call_1', output: [] }],
  [/^response\.shell_call/, { type: 'shell_call', call_id: 'call_1', action: { commands: [] } }],
  [/^response\.compaction/, { type: 'compaction', encrypted_content: 'ZGF0YQ==' }],
  [/^response\.apply_patch_call/, { type: 'apply_patch_call', call_id: 'call_1', operation: { type: 'update_file', path: 'a', diff: '' } }],
];

// The sum of the events of one kind when the item is done.
const told = [
  [/^response\.output_text\.annotation/, (event) => ({ content: [{ type: 'output_text', text: 'Rain.', annotations: [event.annotation] }] })],
  [/^response\.output_text/, (event) => ({ content: [{ type: 'output_text', text: event.delta ?? event.text, annotations: [], logprobs: event.logprobs ?? [] }] })],
  [/^response\.refusal/, (event) => ({ content: [{ type: 'refusal', refusal: event.delta ?? event.refusal }] })],
  [/^response\.content_part/, (event) => ({ content: [event.part] })],
  [/^response\.reasoning_text/, (event) => ({ content: [{ type: 'reasoning_text', text: event.delta ?? event.text }] })],
  [/^response\.reasoning_summary_text/, (event) => ({ summary: [{ type: 'summary_text', text: event.delta ?? event.text }] })],
  [/^response\.reasoning_summary_part/, (event) => ({ summary: [event.part] })],
  [/^response\.(function_call|mcp_call)_arguments/, (event) => ({ arguments: event.delta ?? event.arguments })],
  [/^response\.custom_tool_call_input/, (event) => ({ input: event.delta ?? event.input })],
  [/^response\.code_interpreter_call_code/, (event) => ({ code: event.delta ?? event.code })],
  [/^response\.shell_call_output_content/, (event) => ({ output: event.output ?? [event.delta] })],
  [/^response\.shell_call_command/, (event) => ({ action: { commands: [event.delta ?? event.command] } })],
];

function responsesStream(event) {
  const response = (status, output) => ({ id: 'resp_1', object: 'response', created_at: 1760000000, status, model: 'm', output });
  const created = { type: 'response.created', sequence_number: 0, response: response('in_progress', []) };
  const completed = (whole) => ({ type: 'response.completed', sequence_number: 9, response: whole });
  if (event.response) {
    const isOver = /completed|incomplete|failed/.test(event.type);
    const before = event.type === 'response.created' ? [] : [{ ...created, response: { ...created.response, id: event.response.id } }];
    return sse([...before, event, ...(isOver ? [] : [completed({ ...event.response, status: 'completed' })])]);
  }
  if (event.item) {
    const other = { ...event, type: event.type === 'response.output_item.done' ? 'response.output_item.added' : 'response.output_item.done' };
    const pair = event.type === 'response.output_item.done' ? [other, event] : [event, other];
    return sse([created, ...pair, completed(response('completed', [event.item]))]);
  }
  if (event.type === 'error') return sse([created, event]);
  const known = items.find(([pattern]) => pattern.test(event.type))?.[1];
  if (!known) return sse([created, event, completed(response('completed', []))]);
  const item = { id: event.item_id, status: 'in_progress', ...known };
  const whole = { ...item, ...told.find(([pattern]) => pattern.test(event.type))?.[1](event), status: 'completed' };
  const place = { output_index: event.output_index ?? 0, sequence_number: 1 };
  return sse([created, { type: 'response.output_item.added', ...place, item }, ...partBefore(event), event,
    { type: 'response.output_item.done', ...place, item: whole }, completed(response('completed', [whole]))]);
}

function partBefore(event) {
  const place = { item_id: event.item_id, output_index: event.output_index, sequence_number: 2 };
  const added = (part) => [{ type: 'response.content_part.added', ...place, content_index: event.content_index, part }];
  if (/^response\.output_text/.test(event.type)) return added({ type: 'output_text', text: '', annotations: [] });
  if (/^response\.refusal/.test(event.type)) return added({ type: 'refusal', refusal: '' });
  if (/^response\.reasoning_text/.test(event.type)) return added({ type: 'reasoning_text', text: '' });
  if (/^response\.reasoning_summary_text/.test(event.type))
    return [{ type: 'response.reasoning_summary_part.added', ...place, summary_index: event.summary_index, part: { type: 'summary_text', text: '' } }];
  return [];
}

// The block to which a delta adds.
const blocks = {
  text_delta: { type: 'text', text: '' }, citations_delta: { type: 'text', text: '', citations: [] },
  input_json_delta: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
  thinking_delta: { type: 'thinking', thinking: '', signature: '' }, signature_delta: { type: 'thinking', thinking: '', signature: '' },
  compaction_delta: { type: 'compaction', content: '' },
};

function anthropicStream(event) {
  const start = { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [],
    stop_reason: null, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } } };
  const text = [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain.' } }];
  const stop = { type: 'content_block_stop', index: 0 };
  const ended = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } };
  const over = { type: 'message_stop' };
  switch (event.type) {
    case 'message_start': return sse([event, ...text, stop, ended, over]);
    case 'content_block_start': return sse([start, event, stop, ended, over]);
    case 'content_block_delta':
      return sse([start, { type: 'content_block_start', index: event.index, content_block: blocks[event.delta.type] ?? blocks.text_delta }, event, stop, ended, over]);
    case 'content_block_stop': return sse([start, ...text, event, ended, over]);
    case 'message_delta': return sse([start, ...text, stop, event, over]);
    default: return sse([start, ...text, stop, ended, event]);
  }
}

function geminiStream(event) {
  const isOver = event.candidates?.some((it) => it.finishReason) || event.promptFeedback;
  const last = { candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }], modelVersion: 'g', responseId: 'r' };
  return sse([event, ...(isOver ? [] : [last])]);
}

// An event as it is sent: a message starts empty, since its blocks come later, and has no stop reason yet.
export function prepareEvent(dialect, event) {
  if (dialect !== 'anthropic' || event.type !== 'message_start') return event;
  return { ...event, message: { ...event.message, content: [], stop_reason: null, stop_sequence: null, stop_details: null } };
}

const streams = { 'openai-chat': chatStream, 'openai-responses': responsesStream, anthropic: anthropicStream, gemini: geminiStream };
export const makeStream = (dialect, event) => streams[dialect](event);
