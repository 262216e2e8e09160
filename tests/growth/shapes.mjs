// Documents that grow in one dimension each. Every shape takes a size and returns text; twice the
// size gives twice as many elements.

const repeat = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const chat = (messages, more = {}) => JSON.stringify({ model: 'gpt-4o', messages, ...more });
const claude = (messages, more = {}) => JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages, ...more });
const call = (id, name = 'look', args = '{"q": "x"}') => ({ id, type: 'function', function: { name, arguments: args } });
const tool = (name, properties = { q: { type: 'string' } }) =>
  ({ type: 'function', function: { name, description: `what ${name} does`, parameters: { type: 'object', properties } } });
const words = (n) => repeat(n, (i) => ['over', 'hill', 'and', 'dale', `n${i % 97}`][i % 5]).join(' ');
const asked = { role: 'user', content: 'please' };

// name: [elements at size 1 (the test multiplies), its constructor]
export const conversations = {
  'many messages': (n) => chat(repeat(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `word ${i} of many` }))),
  'many long messages': (n) => chat(repeat(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `message ${i}: ${words(100)}` }))),
  'messages of one role': (n) => chat(repeat(n, (i) => ({ role: 'user', content: `word ${i}` }))),
  'system messages': (n) => chat([...repeat(n, (i) => ({ role: 'system', content: `rule ${i}` })), asked]),
  'parts of one message': (n) => chat([{ role: 'user', content: repeat(n, (i) => ({ type: 'text', text: `part ${i} é` })) }]),
  'text blocks': (n) => claude([{ role: 'user', content: repeat(n, (i) => ({ type: 'text', text: `block ${i}` })) }]),
  'system blocks': (n) => claude([asked], { system: repeat(n, (i) => ({ type: 'text', text: `rule ${i}` })) }),
  'images of one message': (n) => chat([{ role: 'user', content: repeat(n, (i) => ({ type: 'image_url', image_url: { url: i % 2 ? 'data:image/png;base64,iVBORw0KGgo=' : `https://example.com/${i}.png` } })) }]),
  'thoughts': (n) => claude([asked, { role: 'assistant', content: repeat(n, (i) => ({ type: 'thinking', thinking: `so ${i}`, signature: 'c2ln' })) }]),
  'calls of one message': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, (i) => call(`c${i}`)) }, ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: `r${i}` }))], { tools: [tool('look')] }),
  'results in reverse': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, (i) => call(`c${i}`)) }, ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `c${n - 1 - i}`, content: `r${i}` }))]),
  'results later': (n) => chat([asked, ...repeat(n, (i) => ({ role: 'assistant', content: null, tool_calls: [call(`c${i}`)] })), ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: `r${i}` }))]),
  'calls and results in turn': (n) => chat([asked, ...repeat(n, (i) => [{ role: 'assistant', content: 'so', tool_calls: [call(`c${i}`)] }, { role: 'tool', tool_call_id: `c${i}`, content: `r${i}` }]).flat()]),
  'calls without results': (n) => chat(repeat(n, (i) => [{ role: 'user', content: 'go' }, { role: 'assistant', content: null, tool_calls: [call(`c${i}`)] }]).flat()),
  'results without calls': (n) => chat([asked, ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: `r${i}` }))]),
  'one id for all': (n) => chat([asked, ...repeat(n, () => [{ role: 'assistant', content: null, tool_calls: [call('same')] }, { role: 'tool', tool_call_id: 'same', content: 'r' }]).flat()]),
  'one id in one message': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, () => call('same')) }, ...repeat(n, () => ({ role: 'tool', tool_call_id: 'same', content: 'r' }))]),
  'ids that must change': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, (i) => call(`c/${i}:${'x'.repeat(50)}`, `a b ${i}`)) }, ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `c/${i}:${'x'.repeat(50)}`, content: 'r' }))]),
  'no ids': (n) => JSON.stringify({ contents: repeat(n, (i) => [{ role: 'model', parts: [{ functionCall: { name: 'look', args: { q: i } } }] }, { role: 'user', parts: [{ functionResponse: { name: 'look', response: { r: i } } }] }]).flat() }),
  'no ids in one message': (n) => JSON.stringify({ contents: [{ role: 'model', parts: repeat(n, (i) => ({ functionCall: { name: `look${i % 7}`, args: { q: i } } })) }, { role: 'user', parts: repeat(n, (i) => ({ functionResponse: { name: `look${i % 7}`, response: { r: i } } })) }] }),
  'children of one result': (n) => claude([asked, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: repeat(n, (i) => ({ type: 'text', text: `line ${i}` })) }] }]),
  'one long text': (n) => chat([{ role: 'user', content: words(n * 8) }]),
  'one text of escapes': (n) => `{"model":"gpt-4o","messages":[{"role":"user","content":"${'\\u0041\\/ \\n'.repeat(n * 4)}"}]}`,
  'one text of letters without spaces': (n) => chat([{ role: 'user', content: 'ab'.repeat(n * 8) }]),
  'one text of one letter': (n) => chat([{ role: 'user', content: 'a'.repeat(n * 8) }]),
  'one text of spaces': (n) => chat([{ role: 'user', content: ' '.repeat(n * 8) + 'x' }]),
  'one text of line ends': (n) => chat([{ role: 'user', content: '\n'.repeat(n * 8) + 'x' }]),
  'one text of open marks': (n) => chat([{ role: 'user', content: '<cite id="{{ <|start|> ```'.repeat(n) }]),
  'one text of heads of secrets': (n) => chat([{ role: 'user', content: ' sk-abc -----BEGIN eyJhbGciOi data:image/png;base64,AAAA'.repeat(n) }]),
  'one text of combining marks': (n) => chat([{ role: 'user', content: 'e\u0301'.repeat(n * 4) }]),
  'one image': (n) => chat([{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0KGgoA'.repeat(n * 4)}` } }] }]),
  'long arguments': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: [call('a', 'look', JSON.stringify(Object.fromEntries(repeat(n, (i) => [`k${i}`, i])), null, 1))] }, { role: 'tool', tool_call_id: 'a', content: 'r' }]),
  'lists in arguments': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: [call('a', 'look', JSON.stringify({ l: repeat(n, (i) => [i, { 'a/b': '\u00e9' }]) }))] }, { role: 'tool', tool_call_id: 'a', content: 'r' }]),
  'arguments that break off': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, (i) => call(`a${i}`, 'look', '{"q": [1, {"a": "b')) }]),
  'unknown members': (n) => chat([asked], Object.fromEntries(repeat(n, (i) => [`x_${i}`, { a: i }]))),
  'unknown members of one message': (n) => chat([{ ...asked, ...Object.fromEntries(repeat(n, (i) => [`x_${i}`, i])) }]),
  'unknown members of many messages': (n) => chat(repeat(n, (i) => ({ role: 'user', content: 'a', x_extra: { deep: [i, [i]] }, y: i }))),
  'metadata': (n) => chat([asked], { metadata: Object.fromEntries(repeat(n, (i) => [`k${i}`, `v${i}`])), logit_bias: Object.fromEntries(repeat(n, (i) => [i, 1])), stop: repeat(n, (i) => `s${i}`) }),
  'unknown parts': (n) => chat([{ role: 'user', content: repeat(n, (i) => ({ type: 'hologram', data: { at: i } })) }]),
  'unknown roles': (n) => chat(repeat(n, (i) => ({ role: `critic${i}`, content: 'hm' }))),
  'empty messages': (n) => chat(repeat(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: '' }))),
  'empty parts': (n) => claude([{ role: 'user', content: repeat(n, () => ({ type: 'text', text: '' })) }]),
  'names': (n) => chat(repeat(n, (i) => ({ role: 'user', name: `ann ${i}`, content: 'hello' }))),
  'tools': (n) => chat([asked], { tools: repeat(n, (i) => tool(`t${i}`)) }),
  'tools of one name': (n) => chat([asked], { tools: repeat(n, () => tool('look')) }),
  'tools and their calls': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, (i) => call(`c${i}`, `t${i}`)) }], { tools: repeat(n, (i) => tool(`t${i}`)) }),
  'properties of one tool': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: [call('a', 'look', '{"p1":1}')] }], { tools: [tool('look', Object.fromEntries(repeat(n, (i) => [`p${i}`, { type: ['string', 'null'], enum: ['a', 'b'] }])))] }),
  'definitions of one tool': (n) => chat([asked], { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: Object.fromEntries(repeat(n, (i) => [`p${i}`, { $ref: `#/$defs/d${i}` }])), $defs: Object.fromEntries(repeat(n, (i) => [`d${i}`, { type: 'string' }])) } } }] }),
  'arguments that do not fit': (n) => chat([asked, { role: 'assistant', content: null, tool_calls: repeat(n, (i) => call(`c${i}`, 'look', '{"q": 3}')) }], { tools: [tool('look')] }),
  'cache marks': (n) => claude([{ role: 'user', content: repeat(n, (i) => ({ type: 'text', text: `b${i}`, cache_control: { type: 'ephemeral' } })) }]),
  'citations of one block': (n) => claude([asked, { role: 'assistant', content: [{ type: 'text', text: 'so', citations: repeat(n, (i) => ({ type: 'char_location', cited_text: 'x', document_index: 0, start_char_index: i, end_char_index: i + 1 })) }] }]),
  'cites': (n) => JSON.stringify({ conversation_id: 'c', messages: [{ id: 'm', role: 'assistant', channel: 'final', content: [{ type: 'text', text: repeat(n, (i) => `so <cite id="k${i}"/>`).join(' ') }], metadata: { citation_map: Object.fromEntries(repeat(n, (i) => [`k${i}`, { source_id: `s${i}`, page: 1, snippet: 'x' }])) } }] }),
  'cites of nothing': (n) => JSON.stringify({ conversation_id: 'c', messages: repeat(n, (i) => ({ id: `m${i}`, role: 'assistant', channel: 'final', content: [{ type: 'text', text: `so <cite id="k${i}"/>` }], metadata: { citation_map: { a: { source_id: 's' } } } })) }),
  'twice the same key': (n) => `{"model":"gpt-4o","messages":[{"role":"user","content":"a"}]${',"x":1'.repeat(n)}}`,
  'deep values': (n) => chat(repeat(n, () => ({ role: 'user', content: 'a', x: JSON.parse('['.repeat(50) + ']'.repeat(50)) }))),
  'items': (n) => JSON.stringify({ model: 'gpt-4o', input: repeat(n, (i) => [{ type: 'reasoning', id: `rs_${i}`, summary: [{ type: 'summary_text', text: `so ${i}` }], encrypted_content: 'eA==' }, { type: 'function_call', call_id: `c${i}`, name: 'look', arguments: '{}' }, { type: 'function_call_output', call_id: `c${i}`, output: 'r' }]).flat() }),
  'summaries of one item': (n) => JSON.stringify({ model: 'gpt-4o', input: [{ role: 'user', content: 'a' }, { type: 'reasoning', id: 'rs', summary: repeat(n, (i) => ({ type: 'summary_text', text: `so ${i}` })), encrypted_content: 'eA==' }, { role: 'assistant', content: 'b' }] }),
};
export { repeat, words };

// Prompts with variables.
const structured = (content, more = {}) => JSON.stringify({ protocol: 'structured-chat', messages: content.map((c, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', content: c })), ...more });
export const prompts = {
  'variables of one text': (n) => structured([repeat(n, (i) => `{{v${i}:d}} `).join('')]),
  'variables without a value': (n) => structured(repeat(n, (i) => `say {{v${i}}}`)),
  'one variable again and again': (n) => structured(['{{v:d}} '.repeat(n * 4)]),
  'declared variables': (n) => structured(['a'], { variables: repeat(n, (i) => ({ name: `v${i}`, type: 'select', options: ['a', 'b'], default: 'a' })) }),
  'options of one variable': (n) => structured(['{{v}}'], { variables: [{ name: 'v', type: 'select', options: repeat(n, (i) => `o${i}`), default: `o${n - 1}` }] }),
  'braces': (n) => structured(['{{'.repeat(n * 4), '{ {{a '.repeat(n), '\\{{'.repeat(n), '{{a:'.repeat(n)]),
  'many messages': (n) => structured(repeat(n, (i) => `words ${i}`)),
  'many lines': (n) => structured([repeat(n, (i) => `# line ${i}\n\n- user: x\n`).join('')]),
};

// Streams of one answer in OpenAI's format; the others are converted from these.
const chunk = (delta, finish_reason = null) => `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const streamed = (chunks, reason) => [chunk({ role: 'assistant', content: '' }), ...chunks, chunk({}, reason), 'data: [DONE]\n\n'].join('');
export const streams = {
  'many words': (n) => streamed(repeat(n, (i) => chunk({ content: `w${i} ` })), 'stop'),
  'one long word': (n) => streamed([chunk({ content: 'word '.repeat(n * 4) })], 'stop'),
  'many calls': (n) => streamed(repeat(n, (i) => chunk({ tool_calls: [{ index: i, id: `c${i}`, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] })), 'tool_calls'),
  'arguments in pieces': (n) => streamed([
    chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"l":[' } }] }),
    ...repeat(n, (i) => chunk({ tool_calls: [{ index: 0, function: { arguments: `${i ? ',' : ''}{"k":"${i}"}` } }] })),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ']}' } }] })], 'tool_calls'),
  'one string of arguments in pieces': (n) => streamed([
    chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"s":"' } }] }),
    ...repeat(n, () => chunk({ tool_calls: [{ index: 0, function: { arguments: 'abc ' } }] })),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] })], 'tool_calls'),
  'thoughts and words in turn': (n) => streamed(repeat(n, (i) => chunk(i % 2 ? { content: 'w' } : { reasoning_content: 't' })), 'stop'),
  'comments': (n) => streamed(repeat(n, () => ': keep-alive\n\n'), 'stop'),
};
