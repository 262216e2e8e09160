/** The part that a page and a program both need: sessions, blobs, and live events. */
import { Blobs, type Asking, type Page } from './library.js';
import { Live, type LiveOptions, type SocketClass } from './live.js';
import type { LiveEvent, ModelSettings, Position, Problem, Question, Session, ToolsOffered, Turn } from './types.js';

export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title);
  }
}

export interface ClientOptions {
  url: string;
  /** Without a key the browser's cookie authenticates. */
  key?: string;
  /** Additional headers for each request: a page sends its CSRF token. */
  headers?: () => Record<string, string>;
  fetch?: typeof fetch;
  WebSocket?: SocketClass;
}

export interface ChatMessage {
  message?: string | unknown[];
  model?: string;
  mode?: 'planning' | 'executing';
  askuser_answer?: { tool_call_id: string; answer: unknown };
  client_message_id?: string;
  when_busy?: 'enqueue' | 'reject' | 'interrupt' | 'steer';
  /** These replace the session's own values, for this chat only. */
  system_prompt?: string | null;
  settings?: ModelSettings | null;
  tools?: ToolsOffered | null;
  /** The beginning of the answer, for models that continue it. */
  prefill?: string;
}

export interface Accepted { session_id: string; turn_id?: string; queued: boolean; duplicate?: boolean }

const parsePosition = (text: string | null): Position => {
  const [epoch, sequence] = (text ?? '1:0').split(':').map(Number);
  return { epoch: epoch ?? 1, sequence: sequence ?? 0 };
};

/** The answer may have another format, if it comes from a proxy or from a server that is starting. */
async function readProblem(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as Problem;
    if (problem && typeof problem === 'object' && typeof problem.status === 'number') return problem;
  } catch { /* not JSON */ }
  return {
    type: 'about:blank', title: `${response.status} ${response.statusText}`.trim(), status: response.status,
    code: 'not_a_problem', detail: text.slice(0, 200), retryable: response.status >= 500,
  };
}

export class Client {
  readonly #options: ClientOptions;
  protected readonly asking: Asking;
  readonly blobs: Blobs;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.asking = {
      json: (method, path, body, headers) => this.#json(method, path, body, headers),
      raw: (method, path, body, headers) => this.#send(method, path, body, headers),
    };
    this.blobs = new Blobs(this.asking);
  }

  async #send(method: string, path: string, body?: BodyInit,
    headers: Record<string, string> = {}): Promise<Response> {
    const doFetch = this.#options.fetch ?? fetch;
    const response = await doFetch(new URL(path, this.#options.url), {
      method,
      headers: {
        ...(this.#options.key ? { authorization: `Bearer ${this.#options.key}` } : {}),
        ...this.#options.headers?.(),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw new ProblemError(await readProblem(response));
    return response;
  }

  request(method: string, path: string, body?: unknown,
    headers: Record<string, string> = {}): Promise<Response> {
    return body === undefined
      ? this.#send(method, path, undefined, headers)
      : this.#send(method, path, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
  }

  async #json<T>(method: string, path: string, body?: unknown,
    headers: Record<string, string> = {}): Promise<T> {
    const response = await this.request(method, path, body, headers);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  createSession(fields: Partial<Session> = {}): Promise<Session> {
    return this.#json('POST', '/api/sessions', fields);
  }

  session(id: string): Promise<Session> {
    return this.#json('GET', `/api/sessions/${id}`);
  }

  sessions(query: Record<string, string> = {}): Promise<Page<Session>> {
    return this.#json('GET', `/api/sessions?${new URLSearchParams(query)}`);
  }

  changeSession(id: string, fields: Partial<Session>): Promise<Session> {
    return this.#json('PATCH', `/api/sessions/${id}`, fields);
  }

  deleteSession(id: string): Promise<void> {
    return this.#json('DELETE', `/api/sessions/${id}`);
  }

  /** Returns turns, and the stream position at that read: load both into a view, then subscribe. */
  async messages(id: string, query: Record<string, string> = {}):
    Promise<{ turns: Turn[]; total: number; hasMore: boolean; position: Position }> {
    const response =
      await this.request('GET', `/api/sessions/${id}/messages?${new URLSearchParams(query)}`);
    return {
      turns: await response.json() as Turn[],
      total: Number(response.headers.get('x-total-count')),
      hasMore: response.headers.get('x-has-more') === 'true',
      position: parsePosition(response.headers.get('x-stream-position')),
    };
  }

  turn(id: string, turnId: string): Promise<Turn> {
    return this.#json('GET', `/api/sessions/${id}/turns/${turnId}`);
  }

  chat(id: string, message: ChatMessage): Promise<Accepted> {
    return this.#json('POST', `/api/sessions/${id}/chat`, message);
  }

  /** Sends a message and yields the events of that chat, to its end. Leaving the loop does not cancel the chat. */
  async *stream(id: string, message: ChatMessage): AsyncGenerator<LiveEvent> {
    const response = await this.request('POST', `/api/sessions/${id}/chat`, message, { accept: 'text/event-stream' });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        text += read.value;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const field = (name: string): string | undefined =>
            event.split('\n').find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const name = field('event');
          if (name) yield { event: name, data: JSON.parse(field('data') ?? '{}') as Record<string, unknown> };
        }
      }
    } finally {
      await reader.cancel();
    }
  }

  /** Changes a running replay: pause, resume, speed. */
  changeReplay(id: string, change: { status?: 'running' | 'paused'; speed?: number }): Promise<Session> {
    return this.#json('PATCH', `/api/sessions/${id}/replay`, change);
  }

  stop(id: string): Promise<unknown> {
    return this.#json('POST', `/api/sessions/${id}/stop`);
  }

  async questions(id: string): Promise<Question[]> {
    return (await this.#json<{ items: Question[] }>('GET', `/api/sessions/${id}/questions`)).items;
  }

  answer(id: string, toolCallId: string, answer: unknown): Promise<unknown> {
    return this.#json('POST', `/api/sessions/${id}/questions/${toolCallId}/answer`, { answer });
  }

  /** Sends the result of a call that has `runs: "client"`; possible once. */
  toolResult(id: string, toolCallId: string, result: unknown, isError = false): Promise<unknown> {
    return this.#json('POST', `/api/sessions/${id}/tool-calls/${toolCallId}/result`, { result, is_error: isError });
  }

  async ticket(): Promise<string> {
    return (await this.#json<{ ticket: string }>('POST', '/api/ws-tickets')).ticket;
  }

  /** A live connection; it opens with the first subscription. */
  live(options: Partial<LiveOptions> = {}): Live {
    return new Live({
      url: this.#options.url,
      ticket: () => this.ticket(),
      ...(this.#options.WebSocket ? { WebSocket: this.#options.WebSocket } : {}),
      ...options,
    });
  }
}
