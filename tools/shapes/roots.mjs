// The types that documents and events are made of, as the vendors' official clients declare them.
//
// `reach` is how often one type is entered from a root: a block that may be part of a message, a result or an
// instruction is read in each of these places. Second editions of a type (beta), and events, which contain whole
// answers, are entered less often; otherwise the number of documents would explode.
import { readTypes } from './types.mjs';

const chat = 'openai/resources/chat/completions/completions.d.ts';
const responses = 'openai/resources/responses/responses.d.ts';
const messages = '@anthropic-ai/sdk/resources/messages/messages.d.ts';
const beta = '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts';
const genai = '@google/genai/dist/genai.d.ts';

export const roots = [
  { vendor: 'openai', format: 'openai-chat', kind: 'request', file: chat, type: 'ChatCompletionCreateParamsBase', reach: 8 },
  { vendor: 'openai', format: 'openai-chat', kind: 'response', file: chat, type: 'ChatCompletion', reach: 8 },
  { vendor: 'openai', format: 'openai-chat', kind: 'stream', file: chat, type: 'ChatCompletionChunk', reach: 2 },
  { vendor: 'openai', format: 'openai-responses', kind: 'request', file: responses, type: 'ResponseCreateParamsBase', reach: 3 },
  { vendor: 'openai', format: 'openai-responses', kind: 'response', file: responses, type: 'Response', reach: 2 },
  { vendor: 'openai', format: 'openai-responses', kind: 'stream', file: responses, type: 'ResponseStreamEvent', reach: 1 },
  { vendor: 'anthropic', format: 'anthropic', kind: 'request', file: messages, type: 'MessageCreateParamsBase', reach: 4 },
  { vendor: 'anthropic', format: 'anthropic', kind: 'response', file: messages, type: 'Message', reach: 4 },
  { vendor: 'anthropic', format: 'anthropic', kind: 'stream', file: messages, type: 'RawMessageStreamEvent', reach: 1 },
  { vendor: 'anthropic', format: 'anthropic', kind: 'request', file: beta, type: 'MessageCreateParamsBase', reach: 1 },
  { vendor: 'anthropic', format: 'anthropic', kind: 'response', file: beta, type: 'BetaMessage', reach: 1 },
  { vendor: 'anthropic', format: 'anthropic', kind: 'stream', file: beta, type: 'BetaRawMessageStreamEvent', reach: 1 },
  { vendor: 'google', format: 'gemini', kind: 'request', file: genai, type: 'GenerateContentParameters', reach: 3 },
  { vendor: 'google', format: 'gemini', kind: 'response', file: genai, type: 'GenerateContentResponse', reach: 3 },
  { vendor: 'google', format: 'gemini', kind: 'stream', file: genai, type: 'GenerateContentResponse', reach: 1 },
];

// Members that exist only in the client; a server never sees or sends them.
const ofTheClient = {
  Response: ['output_text'],
  GenerateContentResponse: ['sdkHttpResponse', 'automaticFunctionCallingHistory'],
  GenerateContentConfig: ['httpOptions', 'abortSignal', 'automaticFunctionCalling'],
};

export function readRoots() {
  const types = readTypes([...new Set(roots.map((root) => root.file))]);
  return roots.map((root) => ({ ...root, shape: withoutOwn(types.shape(root.file, root.type)) }));
}

function withoutOwn(root) {
  const seen = new Set();
  const visit = (shape) => {
    if (!shape || seen.has(shape)) return;
    seen.add(shape);
    if (shape.kind === 'union') shape.alternatives.forEach(visit);
    if (shape.kind === 'list') visit(shape.of);
    if (shape.kind !== 'object') return;
    shape.members = shape.members.filter((member) => !ofTheClient[shape.name]?.includes(member.name));
    shape.members.forEach((member) => visit(member.shape));
    visit(shape.rest);
  };
  visit(root);
  return root;
}
