/** The server: the signed-in user, the connection, and the events that it sends. */
import { untrack } from 'svelte';
import { Client, ProblemError, type Live, type LiveEvent, type Problem, type Schemas } from '@parley/client';
import { frame } from './frame.svelte';
import { keep } from './prefs.svelte';
import { lang, t } from './words.svelte';

/** The user, and the permissions of this browser's key. */
export type Me = Schemas['User'] & { acts_as_admin: boolean; scope: string; csrf: string | null };

export type Model = Schemas['Model'];

export type Conn = 'ok' | 'retry' | 'off';

class Server {
  me: Me | null = $state.raw(null);
  /** null until the first answer of the server. */
  signedIn: boolean | null = $state(null);
  conn: Conn = $state('retry');
  models: Model[] = $state.raw([]);
  /** The models were requested and the server answered. */
  isListed = $state(false);
  defaultModel = $state('');
  /** The reason why signing in with the link failed. */
  linkProblem: Problem | null = $state.raw(null);
  /** The sign-in happened in this page load. */
  isFresh = $state(false);
  parley: Client;
  /** The server's origin: that of this page, or the one that an embedded element names. */
  origin = location.origin;
  #live: Live | null = null;
  #listeners = new Map<string, Set<(data: Record<string, unknown>) => void>>();
  #failures = 0;

  constructor() {
    this.parley = this.#client();
  }

  #client(key?: string): Client {
    return new Client({
      url: this.origin,
      ...(key ? { key } : {}),
      /* The language of the page, which may differ from that of the browser. Untracked: an effect that sends a request would
       * otherwise run again for every group of words that is loaded. */
      headers: (): Record<string, string> => untrack(() => ({ 'accept-language': lang(), ...(this.me?.csrf ? { 'x-parley-csrf': this.me.csrf } : {}) })),
      fetch: (input, init) => this.#fetch(input, init),
    });
  }

  /** For an element in another site's page: another server, and a key. */
  connect(url: string, key: string): void {
    if (this.#live && this.origin !== new URL(url).origin) throw new Error(`the elements of one page talk to one server: ${this.origin}`);
    this.origin = new URL(url).origin;
    this.parley = this.#client(key);
  }

  async #fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    try {
      const response = await fetch(input, { ...init, credentials: 'same-origin' });
      if (response.status === 401) this.signedIn = false;
      if (!this.#live) this.conn = 'ok';
      return response;
    } catch (error) {
      if ((error as Error).name !== 'AbortError' && !this.#live) this.conn = 'off';
      throw error;
    }
  }

  /** Requests JSON from any route: `server.get('/api/models')`. Problems are thrown as ProblemError. */
  async json<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const response = await this.parley.request(method, path, body, headers);
    if (response.status === 204) return undefined as T;
    return await response.json() as T;
  }
  get<T>(path: string): Promise<T> { return this.json('GET', path); }

  /** Stores a file as a blob. */
  upload(file: File): Promise<{ id: string }> {
    return this.parley.blobs.create(file, { name: file.name, ...(file.type ? { type: file.type } : {}) });
  }

  /** Reads the signed-in user. A code in the address is used first, and removed from the address at once. */
  async start(): Promise<void> {
    const code = /(?:^|&)login=([^&]+)/.exec(location.hash.slice(1))?.[1];
    if (code) {
      history.replaceState(null, '', location.pathname + location.search);
      await this.signIn({ code: decodeURIComponent(code) });
      this.isFresh = this.signedIn === true;
    } else {
      await this.refresh();
    }
    if (this.signedIn) void this.#begin();
  }

  async signIn(body: { code: string } | { key: string }): Promise<Problem | null> {
    try {
      await this.json('POST', '/api/login', { ...body, cookie: true });
      this.linkProblem = null;
      await this.refresh();
      if (this.signedIn) void this.#begin();
      return null;
    } catch (error) {
      this.signedIn = false;
      const problem = problemOf(error);
      if ('code' in body) {
        /* another tab of this browser may be signed in already */
        await this.refresh();
        if (!this.signedIn) this.linkProblem = problem;
      }
      return problem;
    }
  }

  async signOut(): Promise<void> {
    await this.json('POST', '/api/logout');
    this.#live?.close();
    this.#live = null;
    this.me = null;
    this.signedIn = false;
  }

  async refresh(): Promise<void> {
    try {
      this.me = await this.get<Me>('/api/me');
      this.signedIn = true;
    } catch (error) {
      if (error instanceof ProblemError && error.problem.status < 500) this.signedIn = false;
      else this.conn = 'off';
    }
  }

  /** Whether the server has a route. Pages ask before they call a route that an older server lacks. */
  has(path: string): boolean { return this.routes.has(path); }
  routes: Set<string> = $state.raw(new Set());
  /** Reads the routes from the API description, once; it is long, so only pages that need it ask. */
  async loadRoutes(): Promise<void> {
    if (!this.routes.size) this.routes = new Set(Object.keys((await this.get<{ paths?: object }>('/openapi.json')).paths ?? {}));
  }

  async #begin(): Promise<void> {
    this.#listen();
    await this.loadModels();
  }

  async loadModels(): Promise<void> {
    try {
      const list = await this.get<{ items: Model[]; default_model?: string | null }>('/api/models');
      this.models = list.items;
      this.defaultModel = list.default_model ?? list.items[0]?.name ?? '';
    } catch { /* a picker without models reports it */ }
    this.isListed = true;
  }

  #listen(): void {
    if (this.#live) return;
    const live = this.parley.live();
    this.#live = live;
    live.onopen = () => {
      const wasAway = this.#failures > 0;
      this.#failures = 0;
      this.conn = 'ok';
      if (wasAway) this.#tell('reconnected', {});
    };
    live.onclose = (code) => {
      this.#failures++;
      this.conn = code === 4401 || this.#failures > 4 ? 'off' : 'retry';
      if (code === 4401) this.signedIn = false;
    };
    live.onevent = ({ event, data }: LiveEvent) => this.#tell(event, data);
    void live.subscribeUser().then(() => this.#tell('subscribed', {}), () => {});
  }

  get live(): Live {
    this.#listen();
    return this.#live!;
  }

  #tell(event: string, data: Record<string, unknown>): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(data);
  }

  /** `$effect(() => server.on('prompt:updated', ...))`; also 'reconnected', after which lists must be read again. */
  on(events: string | string[], listener: (data: Record<string, unknown>) => void): () => void {
    const names = [events].flat();
    for (const name of names) {
      if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
      this.#listeners.get(name)!.add(listener);
    }
    return () => { for (const name of names) this.#listeners.get(name)?.delete(listener); };
  }

  /** The scope of this sign-in, or of an element's key: `all`, `sessions` alone, or only `read`. Other scopes are for programs. */
  get scope(): string {
    return this.me?.scope ?? 'all';
  }

  /** Whether the sign-in may make changes. */
  get mayWrite(): boolean {
    return this.scope !== 'read';
  }

  /** Whether the sign-in may see a page: other pages make no requests. The scope `sessions` has sessions and settings. */
  reaches(page: string): boolean {
    return this.scope !== 'sessions' || /^se|share/.test(page);
  }

  get isAdmin(): boolean {
    return this.me?.acts_as_admin ?? false;
  }

  isDemo(model: string | null | undefined): boolean {
    if (!model) return false;
    return this.models.find((m) => m.name === model)?.is_demo ?? model.startsWith('demo/');
  }
}

export const server = new Server();

export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  const said = error instanceof Error ? error.message : String(error);
  /* browsers report a failed request each in their own words, in English */
  const isAway = !said || (error instanceof TypeError && /fetch|network|load/i.test(said));
  return isAway ? { type: 'about:blank', title: t('e.noconn'), status: 0, code: 'no_connection', retryable: true, detail: t('e.noconn') }
    : { type: 'about:blank', title: t('e.page'), status: 0, code: 'page_failed', retryable: true, detail: said };
}

/** For click handlers: a failure becomes a toast with the reason. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const problem = problemOf(error);
    frame.toast(problem.detail ?? problem.title, { kind: 'bad', ms: 8000 });
    return undefined;
  }
}

export { keep };
