// Adds the context that makes a document valid: a user speaks first, a result has its call, a call its result, and a
// block is in a turn of the role that may send it.
const isUser = { role: 'user' };
const city = { city: 'Oslo' };

function settleChat(document) {
  const list = document.messages ?? [];
  const [message] = list;
  if (!message || message.role === 'user') return document;
  const call = (id) => ({ role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'weather', arguments: JSON.stringify(city) } }] });
  if (message.role === 'tool') list.unshift(call(message.tool_call_id));
  if (message.role === 'function')
    list.unshift({ role: 'assistant', content: null, function_call: { name: message.name, arguments: JSON.stringify(city) } });
  list.unshift({ ...isUser, content: 'How is the weather?' });
  for (const { id } of message.tool_calls ?? []) list.push({ role: 'tool', tool_call_id: id, content: 'rain' });
  return document;
}

// result type: call type
const pairs = { function_call_output: 'function_call', custom_tool_call_output: 'custom_tool_call' };
function settleResponses(document) {
  const list = document.input;
  if (!Array.isArray(list) || list[0]?.role === 'user') return document;
  const [item] = list;
  if (pairs[item.type]) list.unshift(item.type.startsWith('function')
    ? { type: 'function_call', call_id: item.call_id, name: 'weather', arguments: JSON.stringify(city) }
    : { type: 'custom_tool_call', call_id: item.call_id, name: 'shout', input: 'rain' });
  for (const [result, call] of Object.entries(pairs))
    if (item.type === call) list.push({ type: result, call_id: item.call_id, output: 'rain' });
  list.unshift({ ...isUser, content: 'How is the weather?' });
  return document;
}

const ofTheUser = new Set(['image', 'document', 'search_result', 'tool_result', 'container_upload']);
function settleAnthropic(document) {
  const list = document.messages;
  const [message] = list;
  const [block] = Array.isArray(message.content) ? message.content : [];
  if (block && block.type !== 'text') message.role = ofTheUser.has(block.type) ? 'user' : message.role === 'system' ? 'system' : 'assistant';
  const said = { ...isUser, content: 'How is the weather?' };
  if (block?.type === 'tool_result')
    list.unshift(said, { role: 'assistant', content: [{ type: 'tool_use', id: block.tool_use_id, name: 'weather', input: city }] });
  else if (message.role !== 'user') list.unshift(said);
  if (block?.type === 'tool_use') list.push({ ...isUser, content: [{ type: 'tool_result', tool_use_id: block.id, content: 'rain' }] });
  return document;
}

const ofTheModel = ['functionCall', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'thought', 'thoughtSignature'];
function settleGemini(document) {
  const list = document.contents;
  const [content] = list;
  const part = content.parts?.[0];
  if (!part) return document;
  const said = { ...isUser, parts: [{ text: 'How is the weather?' }] };
  if (ofTheModel.some((name) => name in part)) {
    content.role = 'model';
    list.unshift(said);
  }
  if (part.functionResponse)
    list.unshift(said, { role: 'model', parts: [{ functionCall: { name: part.functionResponse.name, args: city } }] });
  if (part.functionCall) list.push({ ...isUser, parts: [{ functionResponse: { name: part.functionCall.name, response: { sky: 'rain' } } }] });
  return document;
}

// An answer also has content that is not specific to its vendor.
function settleAnswer(document) {
  if (document.content && document.content[0]?.type !== 'text') document.content.unshift({ type: 'text', text: 'It rains.' });
  if (document.output && document.output[0]?.type !== 'message')
    document.output.unshift({ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: 'It rains.', annotations: [] }] });
  const parts = document.candidates?.[0].content?.parts;
  if (parts && !('text' in parts[0])) parts.unshift({ text: 'It rains.' });
  return document;
}

const settlers = { 'openai-chat': settleChat, 'openai-responses': settleResponses, anthropic: settleAnthropic, gemini: settleGemini };
export const settle = ({ format, kind }, document) => (kind === 'request' ? settlers[format] : settleAnswer)(document);
