// A server that makes embeddings in three shapes, and records its requests. The vector of a text is its length and
// its first character; special model names cause errors.
import http from 'node:http';

const vector = (text) => [text.length, text.codePointAt(0) / 1000, -0.125];
const base64 = (numbers) => Buffer.from(new Float32Array(numbers).buffer).toString('base64');

const shapes = [
  {
    shape: 'openai', path: /^\/v1\/embeddings$/, inputs: ({ input }) => (typeof input === 'string' ? [input] : input),
    answer: (body, texts) => ({
      object: 'list', model: body.model, usage: { prompt_tokens: 3 * texts.length, total_tokens: 3 * texts.length },
      // One model returns only floats, as some servers do, and one only base64.
      data: texts.map((text, index) => ({ object: 'embedding', index, embedding: body.model === 'sealed' || (body.encoding_format === 'base64' && body.model !== 'floats') ? base64(vector(`${text}`)) : vector(`${text}`) })),
    }),
    error: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  },
  {
    shape: 'ollama', path: /^\/api\/embed$/, inputs: ({ input }) => (typeof input === 'string' ? [input] : input),
    answer: (body, texts) => ({ model: body.model, embeddings: texts.map(vector), total_duration: 14, prompt_eval_count: 4 * texts.length }),
    error: (message) => ({ error: message }),
  },
  {
    shape: 'gemini', path: /^\/v1beta\/models\/([^/]+):batchEmbedContents$/, inputs: ({ requests }) => requests.map(({ content }) => content.parts[0].text),
    answer: (body, texts) => ({ embeddings: texts.map((text) => ({ values: vector(text) })) }),
    error: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  },
];

export async function openEmbeddings() {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { pathname } = new URL(request.url, 'http://x');
    const kind = shapes.find(({ path }) => path.test(pathname));
    if (!kind) {
      response.writeHead(404).end('{}');
      return;
    }
    const body = JSON.parse(Buffer.concat(pieces).toString());
    const model = pathname.match(kind.path)[1] ?? body.model;
    requests.push({ shape: kind.shape, path: pathname, headers: request.headers, body, model });
    const status = Number(model.match(/^status-(\d+)$/)?.[1] ?? 200);
    const texts = kind.inputs(body);
    const answer = status !== 200 ? kind.error(`told to say ${status}`) : kind.answer(body, model === 'short' ? texts.slice(1) : texts);
    response.writeHead(status, { 'content-type': 'application/json' }).end(model === 'garbage' ? '{"data": oops' : JSON.stringify(answer));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, requests, last: () => requests.at(-1), vector, close: () => { server.closeAllConnections(); server.close(); } };
}
