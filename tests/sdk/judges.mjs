// The official clients, one per dialect. Each reads a stream from a base address, assembles it in
// its own way, and returns the same summary: text, thinking, calls, finish, usage. If the stream
// ends with an error, the client throws.
import OpenAI from 'openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';

const ASKED = [{ role: 'user', content: 'Hello' }];
const FINISH = {
  stop: 'stop', length: 'length', tool_calls: 'tools', content_filter: 'refused',
  end_turn: 'stop', max_tokens: 'length', tool_use: 'tools', refusal: 'refused',
  STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'refused', PROHIBITED_CONTENT: 'refused', OTHER: 'other',
  max_output_tokens: 'length',
};
const named = (word) => FINISH[word] ?? `unknown: ${word}`;
const joined = (list, pick) => list.map(pick).filter(Boolean).join('');

async function openaiChat(baseURL) {
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  const stream = client.chat.completions.stream({ model: 'm', messages: ASKED });
  let thinking = '';
  // The client has no field for thinking, so it keeps only the latest piece.
  stream.on('chunk', (chunk) => { thinking += chunk.choices[0]?.delta?.reasoning_content ?? ''; });
  const { choices: [{ message, finish_reason }], usage } = await stream.finalChatCompletion();
  const isFiltered = finish_reason === 'content_filter'; // then `refusal` has the reason
  return {
    text: (message.content ?? '') + (isFiltered ? '' : message.refusal ?? ''),
    why: isFiltered ? message.refusal ?? undefined : undefined,
    thinking,
    calls: (message.tool_calls ?? []).map(({ function: f }) => [f.name, f.arguments]),
    finish: message.refusal ? 'refused' : named(finish_reason),
    input: usage?.prompt_tokens,
    output: usage?.completion_tokens,
  };
}

async function openaiResponses(baseURL) {
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  const stream = client.responses.stream({ model: 'm', input: 'Hello' });
  let last = null;
  stream.on('event', (event) => {
    // The client delivers an error as an event; its caller has to throw.
    if (event.type === 'error' || event.type === 'response.failed')
      last = { error: event.message ?? event.response.error?.message };
    else if (event.type === 'response.completed' || event.type === 'response.incomplete')
      last = event.response;
  });
  const { output } = await stream.finalResponse();
  if (!last || last.error)
    throw new Error(last ? last.error : 'no last event');
  const parts = output.filter((item) => item.type === 'message').flatMap((item) => item.content);
  const calls = output.filter((item) => item.type === 'function_call').map((item) => [item.name, item.arguments]);
  const isRefusal = parts.some((part) => part.type === 'refusal');
  const reason = last.incomplete_details?.reason ?? (calls.length ? 'tool_calls' : 'stop');
  return {
    text: joined(parts, (part) => part.text ?? part.refusal),
    thinking: joined(output.filter((item) => item.type === 'reasoning'),
      (item) => joined([...(item.summary ?? []), ...(item.content ?? [])], (part) => part.text)),
    calls,
    finish: isRefusal ? 'refused' : named(reason),
    input: last.usage?.input_tokens,
    output: last.usage?.output_tokens,
  };
}

async function anthropic(baseURL) {
  const client = new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0 });
  const message = await client.messages.stream({ model: 'm', max_tokens: 9, messages: ASKED }).finalMessage();
  const { usage } = message;
  return {
    text: joined(message.content, (block) => block.text),
    thinking: joined(message.content, (block) => block.thinking),
    calls: message.content.filter((block) => block.type === 'tool_use')
      .map((block) => [block.name, JSON.stringify(block.input)]),
    finish: named(message.stop_reason),
    input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
    output: usage.output_tokens,
  };
}

async function gemini(baseUrl) {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
  const parts = [];
  let finish = null;
  let usage = {};
  for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'Hello' })) {
    const candidate = chunk.candidates?.[0];
    parts.push(...(candidate?.content?.parts ?? []));
    finish = candidate?.finishReason ?? chunk.promptFeedback?.blockReason ?? finish;
    usage = { ...usage, ...chunk.usageMetadata };
  }
  const calls = parts.filter((part) => part.functionCall)
    .map(({ functionCall: call }) => [call.name, JSON.stringify(call.args ?? {})]);
  return {
    text: joined(parts, (part) => !part.thought && part.text),
    thinking: joined(parts, (part) => part.thought && part.text),
    calls,
    // This vendor has one word for both an answer and calls.
    finish: calls.length && finish === 'STOP' ? 'tools' : named(finish),
    input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
  };
}

export const judges = {
  'openai-chat': openaiChat, 'openai-responses': openaiResponses, anthropic, gemini,
};
