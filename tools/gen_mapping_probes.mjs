// The probes of gen_mapping.mjs: for each source format a small document, and the value that is inserted for each concept.
//
// A probe is [concept, where, value, more]: first the pointers and values of `more` are inserted, then `value` at the JSON
// Pointer `where` of the source's document. The result is the loss report about `where`. A gpt-oss source is text, so its
// probes are whole texts.

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const pdf = 'JVBERi0xLjQKJSVFT0YK';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };

// The rows of the tables, in order.
export const concepts = [
  'system instruction', 'developer instruction', 'later system message', 'speaker name', 'message id', 'message time', 'message metadata',
  'cache marker', 'image by URL', 'image as base64', 'image detail', 'file as base64', 'file by id', 'audio', 'video',
  'thinking', 'thinking signature', 'redacted thinking', 'refusal', 'citations',
  'tool definition', 'tool: strict', 'tool: free text', 'tool: run by the vendor',
  'tool choice: auto', 'tool choice: any', 'tool choice: one', 'tool choice: none', 'parallel tool calls',
  'tool call', 'tool result', 'tool error flag', 'image in a tool result', 'call signature',
  'model', 'maximum tokens', 'temperature', 'top_p', 'top_k', 'stop sequences', 'seed', 'presence penalty', 'frequency penalty',
  'logprobs', 'several answers (n)', 'output: JSON', 'output: JSON Schema', 'effort', 'thinking budget', 'verbosity',
  'metadata', 'user', 'service tier', 'streaming', 'an unknown field',
];

export const answerConcepts = [
  'text', 'thinking', 'thinking signature', 'tool call', 'refusal', 'citations', 'finish: stop', 'finish: length', 'finish: tools', 'finish: filter',
  'usage', 'usage: cache', 'usage: reasoning', 'id', 'time', 'model', 'service tier', 'fingerprint', 'logprobs', 'second answer', 'error',
];

const chatCall = { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Kyoto"}' } }] };
const chatResult = { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' };
const chatTool = { type: 'function', function: { name: 'weather', description: 'Weather of a city', parameters: schema } };
const chatWithTool = { '/tools': [chatTool] };
const chatPart = (part) => ({ '/messages/0/content': [{ type: 'text', text: 'Look:' }, part] });

const openaiChat = {
  base: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] },
  probes: [
    ['system instruction', '/messages/0', { role: 'system', content: 'Be brief.' }, { '/messages/1': { role: 'user', content: 'Hello' } }],
    ['developer instruction', '/messages/0', { role: 'developer', content: 'Be brief.' }, { '/messages/1': { role: 'user', content: 'Hello' } }],
    ['later system message', '/messages/2', { role: 'system', content: 'Be brief.' }, { '/messages/1': { role: 'assistant', content: 'Hi' }, '/messages/3': { role: 'user', content: 'Go on' } }],
    ['speaker name', '/messages/0/name', 'ann'],
    ['image by URL', '/messages/0/content/1', { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }, chatPart({})],
    ['image as base64', '/messages/0/content/1', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }, chatPart({})],
    ['image detail', '/messages/0/content/1/image_url/detail', 'high', chatPart({ type: 'image_url', image_url: { url: 'https://example.org/a.png' } })],
    ['file as base64', '/messages/0/content/1', { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } }, chatPart({})],
    ['file by id', '/messages/0/content/1', { type: 'file', file: { file_id: 'file-1' } }, chatPart({})],
    ['audio', '/messages/0/content/1', { type: 'input_audio', input_audio: { data: wav, format: 'wav' } }, chatPart({})],
    ['thinking', '/messages/1/reasoning_content', 'A greeting.', { '/messages/1': { role: 'assistant', content: 'Hi' } }],
    ['refusal', '/messages/1/refusal', 'I will not.', { '/messages/1': { role: 'assistant', content: null } }],
    ['tool definition', '/tools/0', chatTool, { '/tools': [] }],
    ['tool: strict', '/tools/0/function/strict', true, chatWithTool],
    ['tool: free text', '/tools/0', { type: 'custom', custom: { name: 'shell', description: 'Runs a line' } }, { '/tools': [] }],
    ['tool choice: auto', '/tool_choice', 'auto', chatWithTool],
    ['tool choice: any', '/tool_choice', 'required', chatWithTool],
    ['tool choice: one', '/tool_choice', { type: 'function', function: { name: 'weather' } }, chatWithTool],
    ['tool choice: none', '/tool_choice', 'none', chatWithTool],
    ['parallel tool calls', '/parallel_tool_calls', false, chatWithTool],
    ['tool call', '/messages/1/tool_calls/0/function', chatCall.tool_calls[0].function, { ...chatWithTool, '/messages/1': chatCall, '/messages/2': chatResult }],
    ['tool result', '/messages/2/content', 'Rain.', { ...chatWithTool, '/messages/1': chatCall, '/messages/2': chatResult }],
    ['model', '/model', 'gpt-5'], ['maximum tokens', '/max_completion_tokens', 100], ['temperature', '/temperature', 0.5], ['top_p', '/top_p', 0.9],
    ['stop sequences', '/stop', ['END']], ['seed', '/seed', 7], ['presence penalty', '/presence_penalty', 0.5], ['frequency penalty', '/frequency_penalty', 0.5],
    ['logprobs', '/logprobs', true], ['several answers (n)', '/n', 2], ['output: JSON', '/response_format', { type: 'json_object' }],
    ['output: JSON Schema', '/response_format', { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } }],
    ['effort', '/reasoning_effort', 'high'], ['verbosity', '/verbosity', 'low'], ['metadata', '/metadata', { job: 'nightly' }], ['user', '/user', 'u-1'],
    ['service tier', '/service_tier', 'flex'], ['streaming', '/stream', true], ['an unknown field', '/x_future', { a: 1 }],
  ],
};

const itemCall = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Kyoto"}' };
const itemResult = { type: 'function_call_output', call_id: 'call_1', output: 'Rain.' };
const itemTool = { type: 'function', name: 'weather', description: 'Weather of a city', parameters: schema, strict: true };
const itemWithTool = { '/tools': [itemTool] };
const itemPart = { '/input/0/content': [{ type: 'input_text', text: 'Look:' }, {}] };

const openaiResponses = {
  base: { model: 'gpt-5', input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }] },
  probes: [
    ['system instruction', '/instructions', 'Be brief.'],
    ['developer instruction', '/input/0', { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] }, { '/input/1': { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] } }],
    ['later system message', '/input/2', { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] }, { '/input/1': { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }, '/input/3': { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on' }] } }],
    ['message id', '/input/1/id', 'msg_1', { '/input/1': { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] } }],
    ['image by URL', '/input/0/content/1', { type: 'input_image', image_url: 'https://example.org/a.png' }, itemPart],
    ['image as base64', '/input/0/content/1', { type: 'input_image', image_url: `data:image/png;base64,${png}` }, itemPart],
    ['image detail', '/input/0/content/1/detail', 'high', { ...itemPart, '/input/0/content/1': { type: 'input_image', image_url: 'https://example.org/a.png' } }],
    ['file as base64', '/input/0/content/1', { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` }, itemPart],
    ['file by id', '/input/0/content/1', { type: 'input_file', file_id: 'file-1' }, itemPart],
    ['thinking', '/input/1/summary', [{ type: 'summary_text', text: 'A greeting.' }], { '/input/1': { type: 'reasoning', id: 'rs_1', summary: [] }, '/input/2': { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] } }],
    ['thinking signature', '/input/1/encrypted_content', 'Z0FBQUFB', { '/input/1': { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'A greeting.' }] }, '/input/2': { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] } }],
    ['refusal', '/input/1/content/0', { type: 'refusal', refusal: 'I will not.' }, { '/input/1': { type: 'message', role: 'assistant', content: [] } }],
    ['citations', '/input/1/content/0/annotations', [{ type: 'url_citation', url: 'https://example.org', title: 'Example', start_index: 0, end_index: 2 }], { '/input/1': { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] } }],
    ['tool definition', '/tools/0', itemTool, { '/tools': [] }],
    ['tool: strict', '/tools/0/strict', true, itemWithTool],
    ['tool: free text', '/tools/0', { type: 'custom', name: 'shell', description: 'Runs a line' }, { '/tools': [] }],
    ['tool: run by the vendor', '/tools/0', { type: 'web_search' }, { '/tools': [] }],
    ['tool choice: auto', '/tool_choice', 'auto', itemWithTool], ['tool choice: any', '/tool_choice', 'required', itemWithTool],
    ['tool choice: one', '/tool_choice', { type: 'function', name: 'weather' }, itemWithTool], ['tool choice: none', '/tool_choice', 'none', itemWithTool],
    ['parallel tool calls', '/parallel_tool_calls', false, itemWithTool],
    ['tool call', '/input/1/arguments', itemCall.arguments, { ...itemWithTool, '/input/1': itemCall, '/input/2': itemResult }],
    ['tool result', '/input/2/output', 'Rain.', { ...itemWithTool, '/input/1': itemCall, '/input/2': itemResult }],
    ['image in a tool result', '/input/2/output/0', { type: 'input_image', image_url: `data:image/png;base64,${png}` }, { ...itemWithTool, '/input/1': itemCall, '/input/2': { ...itemResult, output: [] } }],
    ['model', '/model', 'gpt-5'], ['maximum tokens', '/max_output_tokens', 100], ['temperature', '/temperature', 0.5], ['top_p', '/top_p', 0.9],
    ['logprobs', '/top_logprobs', 2], ['output: JSON', '/text', { format: { type: 'json_object' } }],
    ['output: JSON Schema', '/text', { format: { type: 'json_schema', name: 'place', schema, strict: true } }],
    ['effort', '/reasoning', { effort: 'high' }], ['verbosity', '/text', { verbosity: 'low' }], ['metadata', '/metadata', { job: 'nightly' }],
    ['user', '/safety_identifier', 'u-1'], ['service tier', '/service_tier', 'flex'], ['streaming', '/stream', true], ['an unknown field', '/x_future', { a: 1 }],
  ],
};

const useBlock = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Kyoto' } };
const useTurn = { role: 'assistant', content: [useBlock] };
const resultBlock = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain.' };
const resultTurn = { role: 'user', content: [resultBlock] };
const blockTool = { name: 'weather', description: 'Weather of a city', input_schema: schema };
const blockWithTool = { '/tools': [blockTool] };
const blockPart = { '/messages/0/content': [{ type: 'text', text: 'Look:' }, {}] };
const thought = { type: 'thinking', thinking: 'A greeting.', signature: 'EqQBCg==' };

const anthropic = {
  base: { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  probes: [
    ['system instruction', '/system', 'Be brief.'],
    ['later system message', '/messages/1', { role: 'system', content: 'Be brief.' }, { '/messages/1': null, '/messages/2': { role: 'assistant', content: 'Hi' } }],
    ['cache marker', '/messages/0/content/0/cache_control', { type: 'ephemeral' }, { '/messages/0/content': [{ type: 'text', text: 'Hello' }] }],
    ['image by URL', '/messages/0/content/1', { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }, blockPart],
    ['image as base64', '/messages/0/content/1', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }, blockPart],
    ['file as base64', '/messages/0/content/1', { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: pdf } }, blockPart],
    ['file by id', '/messages/0/content/1', { type: 'document', source: { type: 'file', file_id: 'file_1' } }, blockPart],
    ['thinking', '/messages/1/content/0/thinking', thought.thinking, { '/messages/1': { role: 'assistant', content: [thought, { type: 'text', text: 'Hi' }] } }],
    ['thinking signature', '/messages/1/content/0/signature', thought.signature, { '/messages/1': { role: 'assistant', content: [thought, { type: 'text', text: 'Hi' }] } }],
    ['redacted thinking', '/messages/1/content/0', { type: 'redacted_thinking', data: 'EmwKAhgB' }, { '/messages/1': { role: 'assistant', content: [{}, { type: 'text', text: 'Hi' }] } }],
    ['citations', '/messages/1/content/0/citations', [{ type: 'char_location', cited_text: 'Hi', document_index: 0, document_title: 'a', start_char_index: 0, end_char_index: 2 }], { '/messages/1': { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] } }],
    ['tool definition', '/tools/0', blockTool, { '/tools': [] }],
    ['tool: strict', '/tools/0/strict', true, blockWithTool],
    ['tool: run by the vendor', '/tools/0', { type: 'web_search_20250305', name: 'web_search' }, { '/tools': [] }],
    ['tool choice: auto', '/tool_choice', { type: 'auto' }, blockWithTool], ['tool choice: any', '/tool_choice', { type: 'any' }, blockWithTool],
    ['tool choice: one', '/tool_choice', { type: 'tool', name: 'weather' }, blockWithTool], ['tool choice: none', '/tool_choice', { type: 'none' }, blockWithTool],
    ['parallel tool calls', '/tool_choice/disable_parallel_tool_use', true, { ...blockWithTool, '/tool_choice': { type: 'auto' } }],
    ['tool call', '/messages/1/content/0/input', useBlock.input, { ...blockWithTool, '/messages/1': useTurn, '/messages/2': resultTurn }],
    ['tool result', '/messages/2/content/0/content', 'Rain.', { ...blockWithTool, '/messages/1': useTurn, '/messages/2': resultTurn }],
    ['tool error flag', '/messages/2/content/0/is_error', true, { ...blockWithTool, '/messages/1': useTurn, '/messages/2': resultTurn }],
    ['image in a tool result', '/messages/2/content/0/content/0', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }, { ...blockWithTool, '/messages/1': useTurn, '/messages/2': { role: 'user', content: [{ ...resultBlock, content: [] }] } }],
    ['model', '/model', 'claude-sonnet-4-5'], ['maximum tokens', '/max_tokens', 100], ['temperature', '/temperature', 0.5], ['top_p', '/top_p', 0.9], ['top_k', '/top_k', 40],
    ['stop sequences', '/stop_sequences', ['END']], ['output: JSON Schema', '/output_config', { format: { type: 'json_schema', schema } }],
    ['effort', '/output_config', { effort: 'high' }], ['thinking budget', '/thinking', { type: 'enabled', budget_tokens: 2048 }],
    ['user', '/metadata', { user_id: 'u-1' }], ['service tier', '/service_tier', 'auto'], ['streaming', '/stream', true], ['an unknown field', '/x_future', { a: 1 }],
  ],
};

const fnCall = { role: 'model', parts: [{ functionCall: { id: 'f1', name: 'weather', args: { city: 'Kyoto' } } }] };
const fnResult = { role: 'user', parts: [{ functionResponse: { id: 'f1', name: 'weather', response: { output: 'Rain.' } } }] };
const fnTool = { functionDeclarations: [{ name: 'weather', description: 'Weather of a city', parametersJsonSchema: schema }] };
const fnWithTool = { '/tools': [fnTool] };
const fnMode = (mode) => ({ functionCallingConfig: { mode } });
const config = (more) => ({ '/generationConfig': {}, ...more });

const gemini = {
  base: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  probes: [
    ['system instruction', '/systemInstruction', { parts: [{ text: 'Be brief.' }] }],
    ['image by URL', '/contents/0/parts/1', { fileData: { mimeType: 'image/png', fileUri: 'https://example.org/a.png' } }],
    ['image as base64', '/contents/0/parts/1', { inlineData: { mimeType: 'image/png', data: png } }],
    ['file as base64', '/contents/0/parts/1', { inlineData: { mimeType: 'application/pdf', data: pdf } }],
    ['file by id', '/contents/0/parts/1', { fileData: { mimeType: 'application/pdf', fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/1' } }],
    ['audio', '/contents/0/parts/1', { inlineData: { mimeType: 'audio/wav', data: wav } }],
    ['video', '/contents/0/parts/1', { fileData: { mimeType: 'video/mp4', fileUri: 'https://example.org/a.mp4' } }],
    ['thinking', '/contents/1/parts/0', { text: 'A greeting.', thought: true }, { '/contents/1': { role: 'model', parts: [{}, { text: 'Hi' }] } }],
    ['thinking signature', '/contents/1/parts/0/thoughtSignature', 'Q2cBQQ==', { '/contents/1': { role: 'model', parts: [{ text: 'Hi' }] } }],
    ['tool definition', '/tools/0', fnTool, { '/tools': [] }],
    ['tool: run by the vendor', '/tools/0', { googleSearch: {} }, { '/tools': [] }],
    ['tool choice: auto', '/toolConfig', fnMode('AUTO'), fnWithTool], ['tool choice: any', '/toolConfig', fnMode('ANY'), fnWithTool],
    ['tool choice: one', '/toolConfig', { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } }, fnWithTool],
    ['tool choice: none', '/toolConfig', fnMode('NONE'), fnWithTool],
    ['tool call', '/contents/1/parts/0/functionCall/args', { city: 'Kyoto' }, { ...fnWithTool, '/contents/1': fnCall, '/contents/2': fnResult }],
    ['tool result', '/contents/2/parts/0/functionResponse/response', { output: 'Rain.' }, { ...fnWithTool, '/contents/1': fnCall, '/contents/2': fnResult }],
    ['tool error flag', '/contents/2/parts/0/functionResponse/response', { error: 'No such city.' }, { ...fnWithTool, '/contents/1': fnCall, '/contents/2': fnResult }],
    ['call signature', '/contents/1/parts/0/thoughtSignature', 'Q2cBQQ==', { ...fnWithTool, '/contents/1': fnCall, '/contents/2': fnResult }],
    ['model', '/model', 'gemini-2.5-pro'], ['maximum tokens', '/generationConfig/maxOutputTokens', 100, config()], ['temperature', '/generationConfig/temperature', 0.5, config()],
    ['top_p', '/generationConfig/topP', 0.9, config()], ['top_k', '/generationConfig/topK', 40, config()], ['stop sequences', '/generationConfig/stopSequences', ['END'], config()],
    ['seed', '/generationConfig/seed', 7, config()], ['presence penalty', '/generationConfig/presencePenalty', 0.5, config()], ['frequency penalty', '/generationConfig/frequencyPenalty', 0.5, config()],
    ['logprobs', '/generationConfig/responseLogprobs', true, config()], ['several answers (n)', '/generationConfig/candidateCount', 2, config()],
    ['output: JSON', '/generationConfig/responseMimeType', 'application/json', config()],
    ['output: JSON Schema', '/generationConfig/responseJsonSchema', schema, config({ '/generationConfig/responseMimeType': 'application/json' })],
    ['effort', '/generationConfig/thinkingConfig', { thinkingLevel: 'HIGH' }, config()], ['thinking budget', '/generationConfig/thinkingConfig', { thinkingBudget: 2048 }, config()],
    ['cache marker', '/cachedContent', 'cachedContents/1'], ['an unknown field', '/xFuture', { a: 1 }],
  ],
};

const harmony = {
  base: { messages: [{ id: 'm1', role: 'user', content: [{ type: 'text', text: 'Hello', index: 0 }] }], settings: { model: 'demo' } },
  probes: [
    ['system instruction', '/messages/0/content', 'Be brief.', { '/messages/0': { id: 'm0', role: 'system', content: '' }, '/messages/1': { id: 'm1', role: 'user', content: 'Hello' } }],
    ['later system message', '/messages/2/content', 'Be brief.', { '/messages/2': { id: 'm3', role: 'system', content: '' }, '/messages/1': { id: 'm2', role: 'assistant', content: 'Hi' }, '/messages/3': { id: 'm4', role: 'user', content: 'Go on' } }],
    ['speaker name', '/messages/0/name', 'ann'], ['message id', '/messages/0/id', 'm1'], ['message time', '/messages/0/created_at', 1767225600],
    ['message metadata', '/messages/0/metadata', { session_id: 's1', latency_ms: 12 }],
    ['image by URL', '/messages/0/content/1', { type: 'image_url', image_url: { url: 'https://example.org/a.png' }, index: 1 }],
    ['image as base64', '/messages/0/content/1', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` }, index: 1 }],
    ['image detail', '/messages/0/content/1/image_url/detail', 'high', { '/messages/0/content/1': { type: 'image_url', image_url: { url: 'https://example.org/a.png' }, index: 1 } }],
    ['audio', '/messages/0/content/1', { type: 'input_audio', input_audio: { data: wav, format: 'wav' }, index: 1 }],
    ['video', '/messages/0/content/1/video_metadata', { video_id: 'v1', timestamp_sec: 2.5, frame_index: 3 }, { '/messages/0/content/1': { type: 'image_url', image_url: { url: 'https://example.org/a.png' }, index: 1 } }],
    ['citations', '/messages/1/metadata', { citation_map: { c1: { source_type: 'web', source_id: 's', source_name: 'Example', url: 'https://example.org' } } }, { '/messages/1': { id: 'm2', role: 'assistant', content: 'Hi <cite id="c1"/>' } }],
    ['tool definition', '/tools/0', chatTool, { '/tools': [] }],
    ['tool choice: auto', '/settings/tool_choice', 'auto', chatWithTool], ['tool choice: any', '/settings/tool_choice', 'required', chatWithTool],
    ['tool choice: none', '/settings/tool_choice', 'none', chatWithTool], ['parallel tool calls', '/settings/parallel_tool_calls', false, chatWithTool],
    ['tool call', '/messages/1/tool_calls/0/function', chatCall.tool_calls[0].function, { ...chatWithTool, '/messages/1': { id: 'm2', ...chatCall }, '/messages/2': { id: 'm3', ...chatResult } }],
    ['tool result', '/messages/2/content', 'Rain.', { ...chatWithTool, '/messages/1': { id: 'm2', ...chatCall }, '/messages/2': { id: 'm3', ...chatResult } }],
    ['tool error flag', '/messages/2/content', '{"status":"error","error_type":"NotFound","message":"No such city."}', { ...chatWithTool, '/messages/1': { id: 'm2', ...chatCall }, '/messages/2': { id: 'm3', ...chatResult } }],
    ['model', '/settings/model', 'demo'], ['maximum tokens', '/settings/max_tokens', 100], ['temperature', '/settings/temperature', 0.5], ['top_p', '/settings/top_p', 0.9],
    ['top_k', '/settings/top_k', 40], ['stop sequences', '/settings/stop', ['END']], ['seed', '/settings/seed', 7], ['output: JSON', '/settings/response_format', { type: 'json_object' }],
    ['streaming', '/settings/stream', true], ['an unknown field', '/x_future', { a: 1 }],
  ],
};

const structuredChat = {
  base: { protocol: 'structured-chat', system_prompt: null, messages: [{ id: 'm1', role: 'user', content: 'Hello' }], config: { model: 'demo' } },
  probes: [
    ['system instruction', '/system_prompt', 'Be brief.'],
    ['later system message', '/messages/2/content', 'Be brief.', { '/messages/2': { id: 'm3', role: 'system', content: '' }, '/messages/1': { id: 'm2', role: 'assistant', content: 'Hi' }, '/messages/3': { id: 'm4', role: 'user', content: 'Go on' } }],
    ['image by URL', '/messages/0/media/0', { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }, { '/messages/0/media': [] }],
    ['image as base64', '/messages/0/media/0', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }, { '/messages/0/media': [] }],
    ['file as base64', '/messages/0/media/0', { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } }, { '/messages/0/media': [] }],
    ['speaker name', '/messages/0/name', 'ann'], ['message id', '/messages/0/id', 'm1'],
    ['tool definition', '/config/tools', [chatTool]],
    ['tool call', '/messages/1/tool_calls/0/function', chatCall.tool_calls[0].function, { '/config/tools': [chatTool], '/messages/1': { id: 'm2', ...chatCall }, '/messages/2': { id: 'm3', ...chatResult } }],
    ['tool result', '/messages/2/content', 'Rain.', { '/config/tools': [chatTool], '/messages/1': { id: 'm2', ...chatCall }, '/messages/2': { id: 'm3', ...chatResult } }],
    ['model', '/config/model', 'demo'], ['maximum tokens', '/config/max_tokens', 100], ['temperature', '/config/temperature', 0.5], ['top_p', '/config/top_p', 0.9],
    ['stop sequences', '/config/stop', ['END']], ['seed', '/config/seed', 7], ['output: JSON', '/config/response_format', { type: 'json_object' }],
    ['an unknown field', '/x_future', { a: 1 }],
  ],
};

const say = (id, role, ...segments) => ({ id, role, timestamp: 1767225600000, segments });
const request = { kind: 'tool_call_request', toolName: 'weather', arguments: { city: 'Kyoto' }, collapsed: false };
const result = { kind: 'tool_call_result', toolName: 'weather', result: 'Rain.', success: true, collapsed: false };

const envelope = {
  base: { version: '1.0', model: 'demo', messages: [say('m1', 'user', { kind: 'text', content: 'Hello' })] },
  probes: [
    ['system instruction', '/messages/0/segments/0/content', 'Be brief.', { '/messages/0': say('m0', 'system', { kind: 'system_prompt', content: '', collapsed: false }), '/messages/1': say('m1', 'user', { kind: 'text', content: 'Hello' }) }],
    ['message id', '/messages/0/id', 'm1'], ['message time', '/messages/0/timestamp', 1767225600000],
    ['image by URL', '/messages/0/segments/1', { kind: 'media', mediaType: 'image', url: 'https://example.org/a.png' }],
    ['video', '/messages/0/segments/1', { kind: 'media', mediaType: 'video', url: 'https://example.org/a.mp4' }],
    ['tool definition', '/messages/0/segments/0', { kind: 'tool_overview', items: [{ name: 'weather', description: 'Weather of a city', parameters: 'city' }], collapsed: false }, { '/messages/0': say('m0', 'system', {}), '/messages/1': say('m1', 'user', { kind: 'text', content: 'Hello' }) }],
    ['tool call', '/messages/1/segments/0/arguments', request.arguments, { '/messages/1': say('m2', 'assistant', request), '/messages/2': say('m3', 'tool', result) }],
    ['tool result', '/messages/2/segments/0/result', 'Rain.', { '/messages/1': say('m2', 'assistant', request), '/messages/2': say('m3', 'tool', result) }],
    ['tool error flag', '/messages/2/segments/0/success', false, { '/messages/1': say('m2', 'assistant', request), '/messages/2': say('m3', 'tool', result) }],
    ['model', '/model', 'demo'], ['an unknown field', '/x_future', { a: 1 }],
  ],
};

const turn = (n, role, blocks, calls = []) => ({ id: `e${n}`, sequence: n, turn_id: `t${n}`, loop_id: 'root', kind: 'message', role, status: 'completed', blocks, tool_calls: calls });
const use = { type: 'tool_use', content: { name: 'weather' }, tool_call_id: 'c1', tool_name: 'weather' };
const done = { id: 'c1', tool_name: 'weather', arguments: '{"city":"Kyoto"}', status: 'done', result: 'Rain.' };

const turns = {
  base: [turn(0, 'user', [{ type: 'text', content: 'Hello' }])],
  probes: [
    ['system instruction', '/0/blocks/0', { type: 'text', content: 'Be brief.' }, { '/0': turn(0, 'system', [{}]), '/1': turn(1, 'user', [{ type: 'text', content: 'Hello' }]) }],
    ['message id', '/0/id', 'e0'], ['message time', '/0/started_at', '2026-01-01T00:00:00Z'],
    ['thinking', '/1/blocks/0', { type: 'thinking', content: 'A greeting.' }, { '/1': turn(1, 'assistant', [{}, { type: 'text', content: 'Hi' }]) }],
    ['thinking signature', '/1/blocks/0/proof/signature', 'c2ln', { '/1': turn(1, 'assistant', [{ type: 'thinking', content: 'A greeting.', proof: { vendor: 'anthropic' } }, { type: 'text', content: 'Hi' }]) }],
    ['redacted thinking', '/1/blocks/0/proof/data', 'c2ln', { '/1': turn(1, 'assistant', [{ type: 'thinking', content: '', proof: { vendor: 'anthropic' } }, { type: 'text', content: 'Hi' }]) }],
    ['call signature', '/1/tool_calls/0/proof/signature', 'c2ln', { '/1': turn(1, 'assistant', [use], [{ ...done, proof: { vendor: 'gemini' } }]) }],
    ['tool call', '/1/tool_calls/0/arguments', done.arguments, { '/1': turn(1, 'assistant', [use], [done]) }],
    ['tool result', '/1/tool_calls/0/result', 'Rain.', { '/1': turn(1, 'assistant', [use], [done]) }],
    ['tool error flag', '/1/tool_calls/0/status', 'error', { '/1': turn(1, 'assistant', [use], [done]) }],
    ['model', '/1/model', 'demo', { '/1': turn(1, 'assistant', [{ type: 'text', content: 'Hi' }]) }],
    ['message metadata', '/1/duration_ms', 12, { '/1': turn(1, 'assistant', [{ type: 'text', content: 'Hi' }]) }],
    ['an unknown field', '/0/x_future', { a: 1 }],
  ],
};

const user = '<|start|>user<|message|>Hello<|end|>';
const gptOss = {
  base: user,
  probes: [
    ['system instruction', '', `<|start|>system<|message|>Be brief.<|end|>${user}`],
    ['developer instruction', '', `<|start|>developer<|message|># Instructions\n\nBe brief.<|end|>${user}`],
    ['thinking', '', `${user}<|start|>assistant<|channel|>analysis<|message|>A greeting.<|end|><|start|>assistant<|channel|>final<|message|>Hi<|end|>`],
    ['tool call', '', `${user}<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city":"Kyoto"}<|call|>`],
    ['tool result', '', `${user}<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city":"Kyoto"}<|call|><|start|>functions.weather to=assistant<|channel|>commentary<|message|>Rain.<|end|>`],
  ],
};

export const requests = {
  'openai-chat': openaiChat, 'openai-responses': openaiResponses, anthropic, gemini, harmony, 'structured-chat': structuredChat, envelope, turns, 'gpt-oss': gptOss,
};

const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const part = { content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 };
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] };

export const answers = {
  'openai-chat': {
    base: { id: 'r1', object: 'chat.completion', created: 1767225600, model: 'gpt-5', choices: [choice], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    probes: [
      ['text', '/choices/0/message/content', 'Hi'], ['thinking', '/choices/0/message/reasoning_content', 'A greeting.'],
      ['tool call', '/choices/0/message/tool_calls/0/function', chatCall.tool_calls[0].function, { '/choices/0/finish_reason': 'tool_calls', '/choices/0/message/content': null, '/choices/0/message/tool_calls': chatCall.tool_calls }],
      ['refusal', '/choices/0/message/refusal', 'I will not.', { '/choices/0/message/content': null }],
      ['citations', '/choices/0/message/annotations', [{ type: 'url_citation', url_citation: { url: 'https://example.org', title: 'Example', start_index: 0, end_index: 2 } }]],
      ['finish: stop', '/choices/0/finish_reason', 'stop'], ['finish: length', '/choices/0/finish_reason', 'length'],
      ['finish: filter', '/choices/0/finish_reason', 'content_filter'], ['usage', '/usage/prompt_tokens', 10],
      ['usage: cache', '/usage/prompt_tokens_details', { cached_tokens: 4 }], ['usage: reasoning', '/usage/completion_tokens_details', { reasoning_tokens: 3 }],
      ['id', '/id', 'r1'], ['time', '/created', 1767225600], ['model', '/model', 'gpt-5'], ['service tier', '/service_tier', 'flex'], ['fingerprint', '/system_fingerprint', 'fp_1'],
      ['logprobs', '/choices/0/logprobs', { content: [{ token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null }],
      ['second answer', '/choices/1', { ...choice, index: 1 }],
    ],
  },
  'openai-responses': {
    base: { id: 'resp_1', object: 'response', created_at: 1767225600, status: 'completed', model: 'gpt-5', output: [item], usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } },
    probes: [
      ['text', '/output/0/content/0/text', 'Hi'],
      ['thinking', '/output/0/summary', [{ type: 'summary_text', text: 'A greeting.' }], { '/output': [{ id: 'rs_1', type: 'reasoning', summary: [] }, item] }],
      ['thinking signature', '/output/0/encrypted_content', 'Z0FBQUFB', { '/output': [{ id: 'rs_1', type: 'reasoning', summary: [] }, item] }],
      ['tool call', '/output/1/arguments', itemCall.arguments, { '/output/1': { id: 'fc_1', status: 'completed', ...itemCall } }],
      ['refusal', '/output/0/content/0', { type: 'refusal', refusal: 'I will not.' }],
      ['citations', '/output/0/content/0/annotations', [{ type: 'url_citation', url: 'https://example.org', title: 'Example', start_index: 0, end_index: 2 }]],
      ['finish: stop', '/status', 'completed'], ['finish: length', '/incomplete_details', { reason: 'max_output_tokens' }, { '/status': 'incomplete' }],
      ['finish: filter', '/incomplete_details', { reason: 'content_filter' }, { '/status': 'incomplete' }], ['usage', '/usage/input_tokens', 10],
      ['usage: cache', '/usage/input_tokens_details', { cached_tokens: 4 }], ['usage: reasoning', '/usage/output_tokens_details', { reasoning_tokens: 3 }],
      ['id', '/id', 'resp_1'], ['time', '/created_at', 1767225600], ['model', '/model', 'gpt-5'], ['service tier', '/service_tier', 'flex'],
    ],
  },
  anthropic: {
    base: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5 } },
    probes: [
      ['text', '/content/0/text', 'Hi'], ['thinking', '/content/0/thinking', thought.thinking, { '/content': [thought, { type: 'text', text: 'Hi' }] }],
      ['thinking signature', '/content/0/signature', thought.signature, { '/content': [thought, { type: 'text', text: 'Hi' }] }],
      ['tool call', '/content/1/input', useBlock.input, { '/content/1': useBlock, '/stop_reason': 'tool_use' }],
      ['citations', '/content/0/citations', [{ type: 'web_search_result_location', url: 'https://example.org', title: 'Example', cited_text: 'Hi', encrypted_index: 'Eo8=' }]],
      ['finish: stop', '/stop_reason', 'end_turn'], ['finish: length', '/stop_reason', 'max_tokens'], ['finish: filter', '/stop_reason', 'refusal'],
      ['usage', '/usage/input_tokens', 10], ['usage: cache', '/usage/cache_read_input_tokens', 4], ['id', '/id', 'msg_1'], ['model', '/model', 'claude-sonnet-4-5'],
      ['service tier', '/usage/service_tier', 'standard'],
    ],
  },
  gemini: {
    base: { candidates: [part], usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }, modelVersion: 'gemini-2.5-pro', responseId: 'r1' },
    probes: [
      ['text', '/candidates/0/content/parts/0/text', 'Hi'], ['thinking', '/candidates/0/content/parts/0', { text: 'A greeting.', thought: true }, { '/candidates/0/content/parts': [{}, { text: 'Hi' }] }],
      ['thinking signature', '/candidates/0/content/parts/0/thoughtSignature', 'Q2cBQQ=='], ['tool call', '/candidates/0/content/parts/1', fnCall.parts[0]],
      ['citations', '/candidates/0/groundingMetadata', { groundingChunks: [{ web: { uri: 'https://example.org', title: 'Example' } }], groundingSupports: [{ segment: { startIndex: 0, endIndex: 2, text: 'Hi' }, groundingChunkIndices: [0] }] }],
      ['finish: stop', '/candidates/0/finishReason', 'STOP'], ['finish: length', '/candidates/0/finishReason', 'MAX_TOKENS'], ['finish: filter', '/candidates/0/finishReason', 'SAFETY'],
      ['usage', '/usageMetadata/promptTokenCount', 10], ['usage: cache', '/usageMetadata/cachedContentTokenCount', 4], ['usage: reasoning', '/usageMetadata/thoughtsTokenCount', 3],
      ['id', '/responseId', 'r1'], ['model', '/modelVersion', 'gemini-2.5-pro'], ['time', '/createTime', '2026-01-01T00:00:00Z'],
      ['second answer', '/candidates/1', { ...part, index: 1 }],
    ],
  },
};

answers['openai-chat'].probes.push(['error', '/error', { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' }, { '': {} }]);
answers['openai-responses'].probes.push(['error', '/error', { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' }, { '': {} }]);
answers.anthropic.probes.push(['error', '/error', { type: 'rate_limit_error', message: 'Slow down.' }, { '': { type: 'error' } }]);
answers.gemini.probes.push(['error', '/error', { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' }, { '': {} }]);
