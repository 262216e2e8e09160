/**
 * One socket for many sessions. It reconnects automatically, with longer delays after each failure, and resumes every session
 * at the position of its view, so a view has no gap and sees no event twice.
 */
import type { LiveEvent, Position, Problem } from './types.js';
import { SessionView } from './view.js';

export interface SocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
}
export type SocketClass = new (url: string, protocols?: string | string[]) => SocketLike;

export interface LiveOptions {
  url: string;
  /** Gets a fresh ticket for each connection: POST /api/ws-tickets. */
  ticket: () => Promise<string>;
  WebSocket?: SocketClass;
  /** Milliseconds before the first reconnection; doubled for each further one, up to 30 s. */
  retryMs?: number;
}

interface Subscription {
  view: SessionView;
  content?: 'always';
  listeners: Set<(e: LiveEvent) => void>;
  /** A subscribe request is pending: events before its answer may be out of order. */
  isResuming: boolean;
}
interface Waiting { resolve: (value: any) => void; reject: (error: Error) => void }

export class LiveError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title);
  }
}

export class Live {
  readonly #options: LiveOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #waiting = new Map<number, Waiting>();
  #socket: SocketLike | null = null;
  #opening: Promise<void> | null = null;
  #nextId = 1;
  #failures = 0;
  #isClosed = false;
  #listensToUser = false;
  /** Called with every event, before it is applied. */
  onevent: ((event: LiveEvent) => void) | null = null;
  /** Called when a socket is open. */
  onopen: (() => void) | null = null;
  /** Called when a socket ended; it is opened again unless the code is 4401. */
  onclose: ((code: number) => void) | null = null;
  /** Called when a session cannot be followed any more: it was deleted, or is no longer yours. */
  onlost: ((sessionId: string, problem: Problem) => void) | null = null;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /** Returns the view of a session, kept up to date from now on. */
  async subscribe(
    sessionId: string, options: { content?: 'always'; from?: SessionView } = {},
  ): Promise<SessionView> {
    const known = this.#subscriptions.get(sessionId);
    const view = options.from ?? known?.view ?? new SessionView();
    this.#subscriptions.set(sessionId, {
      view,
      listeners: known?.listeners ?? new Set(),
      isResuming: false,
      ...(options.content ? { content: options.content } : {}),
    });
    try {
      await this.#open();
      await this.#resume(sessionId);
    } catch (error) {
      if (!known) this.#subscriptions.delete(sessionId);
      throw error;
    }
    return view;
  }

  /** Subscribes to changes in the lists of this user, in any session. They arrive at `onevent`, and again after each reconnection. */
  async subscribeUser(): Promise<void> {
    this.#listensToUser = true;
    await this.request('user:subscribe', {});
  }

  async unsubscribe(sessionId: string): Promise<void> {
    this.#subscriptions.delete(sessionId);
    if (this.#socket) await this.request('session:unsubscribe', { session_id: sessionId });
  }

  /** Calls the listener for each event of the session, after it was applied. Returns a function that removes it. */
  listen(sessionId: string, listener: (event: LiveEvent) => void): () => void {
    const listeners = this.#subscriptions.get(sessionId)?.listeners;
    listeners?.add(listener);
    return () => listeners?.delete(listener);
  }

  /** Sends a frame and waits for its answer. */
  async request<T = unknown>(event: string, data: object): Promise<T> {
    await this.#open();
    const id = this.#nextId++;
    const socket = this.#socket;
    if (!socket) throw new Error('the socket ended');
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, event, data }));
    });
  }

  /** Cuts the connection as a broken network would; it is opened again. */
  cut(): void {
    this.#socket?.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close(1000);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  async #connect(): Promise<void> {
    const Socket = this.#options.WebSocket ?? (globalThis as any).WebSocket as SocketClass;
    const url = new URL('/api/ws', this.#options.url);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    try {
      url.searchParams.set('ticket', await this.#options.ticket());
    } catch (error) {
      this.#ended(1006);
      throw error;
    }
    const socket = new Socket(url.href, 'parley.v1');
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => {
        this.#socket = socket;
        this.#failures = 0;
        this.onopen?.();
        resolve();
      };
      socket.onerror = () => reject(new Error(`cannot connect to ${url.origin}`));
      socket.onmessage = (message) => this.#receive(String(message.data));
      socket.onclose = ({ code }) => {
        reject(new Error(`the server closed the socket (${code})`));
        this.#ended(code);
      };
    });
  }

  #ended(code: number): void {
    this.#socket = null;
    this.#opening = null;
    for (const { reject } of this.#waiting.values()) reject(new Error(`the socket ended (${code})`));
    this.#waiting.clear();
    this.onclose?.(code);
    if (this.#isClosed || code === 4401 || (!this.#subscriptions.size && !this.#listensToUser)) return;
    const delay = Math.min((this.#options.retryMs ?? 250) * 2 ** this.#failures++, 30_000);
    setTimeout(() => void this.#reopen(), delay);
  }

  async #reopen(): Promise<void> {
    if (this.#isClosed || this.#opening) return;
    try {
      await this.#open();
    } catch {
      return; /* #ended has scheduled the next attempt */
    }
    if (this.#listensToUser) void this.request('user:subscribe', {}).catch(() => {});
    for (const id of this.#subscriptions.keys()) void this.#resumeOrLose(id);
  }

  async #resume(sessionId: string): Promise<void> {
    const subscription = this.#subscriptions.get(sessionId);
    if (!subscription) return;
    const since: Position | null = subscription.view.position;
    subscription.isResuming = true;
    try {
      await this.request('session:subscribe', {
        session_id: sessionId,
        ...(since ? { since } : {}),
        ...(subscription.content ? { content: subscription.content } : {}),
      });
    } finally {
      subscription.isResuming = false;
    }
  }

  /** If the socket ended, it is opened again; a refusal is final. */
  async #resumeOrLose(sessionId: string): Promise<void> {
    try {
      await this.#resume(sessionId);
    } catch (error) {
      if (error instanceof LiveError) this.#lose(sessionId, error.problem);
    }
  }

  #lose(sessionId: string, problem: Problem): void {
    if (this.#subscriptions.delete(sessionId)) this.onlost?.(sessionId, problem);
  }

  #receive(text: string): void {
    const frame = JSON.parse(text);
    if ('ack' in frame) {
      const waiting = this.#waiting.get(frame.ack);
      this.#waiting.delete(frame.ack);
      if (frame.ok) waiting?.resolve(frame.data);
      else waiting?.reject(new LiveError(frame.error));
      return;
    }
    this.onevent?.(frame);
    const sessionId = frame.data?.session_id;
    const subscription = this.#subscriptions.get(sessionId);
    if (!subscription) return;
    if (frame.event === 'system:error') {
      this.#lose(sessionId, frame.data);
      return;
    }
    if (subscription.view.apply(frame) === 'gap') {
      if (!subscription.isResuming) void this.#resumeOrLose(sessionId);
      return;
    }
    for (const listener of subscription.listeners) listener(frame);
  }
}
