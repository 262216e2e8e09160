/** The things that a server stores besides sessions: prompts, memories, scheduled tasks, blobs. */
import type {
  Blob as StoredBlob, CalendarItem, CronExplained, Memory, MemoryDraft, Occurrence, Prompt,
  PromptContent, PromptDiff, PromptFile, PromptImported, PromptRunResult, PromptVersion,
  ScheduledTask, ScheduledTaskDraft, ScheduledTaskRun,
} from './types.js';

export interface Page<T> {
  items: T[];
  total: number;
  limit: number;
  offset?: number;
  next_cursor?: string | null;
}

export interface NamedCount {
  name: string;
  count: number;
}

export type Query = Record<string, string | number | boolean | undefined>;
/** A version by its number, a label, or "latest". */
export type VersionName = number | string;
export type Variables = Record<string, string | number | boolean>;

/** The requests that the client makes for these classes: one with a JSON answer, and one with any answer. */
export interface Asking {
  json<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T>;
  raw(method: string, path: string, body?: BodyInit, headers?: Record<string, string>): Promise<Response>;
}

const at = (...parts: (string | number)[]): string =>
  `/api/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;

const withQuery = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given.map(([k, v]) => [k, String(v)]))}` : path;
};

export class Prompts {
  constructor(private readonly ask: Asking) {}

  list(query: Query = {}): Promise<Page<Prompt>> {
    return this.ask.json('GET', withQuery(at('prompts'), query));
  }

  create(fields: {
    name: string; content: PromptContent; type?: 'text' | 'structured'; folder?: string; tags?: string[];
    description?: string; note?: string; is_pinned?: boolean;
  }): Promise<Prompt> {
    return this.ask.json('POST', at('prompts'), fields);
  }

  get(id: string): Promise<Prompt> {
    return this.ask.json('GET', at('prompts', id));
  }

  /** `revision` is the one that was read: if somebody else has changed the prompt since, this throws a ProblemError 412. */
  update(id: string, fields: Partial<Pick<Prompt, 'name' | 'description' | 'folder' | 'tags' | 'is_pinned'>>,
    revision?: number): Promise<Prompt> {
    return this.ask.json('PATCH', at('prompts', id), fields,
      revision === undefined ? {} : { 'if-match': `"${revision}"` });
  }

  delete(id: string): Promise<void> {
    return this.ask.json('DELETE', at('prompts', id));
  }

  folders(): Promise<NamedCount[]> {
    return this.counts('folders');
  }

  tags(): Promise<NamedCount[]> {
    return this.counts('tags');
  }

  /** Reads all pages of a list of counts. */
  private async counts(of: string): Promise<NamedCount[]> {
    const all: NamedCount[] = [];
    let cursor: string | undefined;
    do {
      const page: { items: NamedCount[]; next_cursor: string | null } =
        await this.ask.json('GET', withQuery(at('prompts', of), { cursor }));
      all.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    return all;
  }

  versions(id: string, query: Query = {}): Promise<Page<PromptVersion>> {
    return this.ask.json('GET', withQuery(at('prompts', id, 'versions'), query));
  }

  version(id: string, version: VersionName = 'latest'): Promise<PromptVersion> {
    return this.ask.json('GET', at('prompts', id, 'versions', version));
  }

  /** `based_on` is the version that the draft started from; if there is a newer one, this throws a ProblemError with both texts. */
  save(id: string, fields: { content: PromptContent; type?: 'text' | 'structured'; note?: string; based_on?: number }):
    Promise<PromptVersion> {
    return this.ask.json('POST', at('prompts', id, 'versions'), fields);
  }

  /** Compares two versions, or a version and a draft. */
  diff(id: string, from: VersionName, to: VersionName | { content: PromptContent; type?: 'text' | 'structured' }):
    Promise<PromptDiff> {
    return typeof to === 'object'
      ? this.ask.json('POST', at('prompts', id, 'versions', from, 'diff'), to)
      : this.ask.json('GET', at('prompts', id, 'versions', from, 'diff', to));
  }

  label(id: string, label: string, version: number | null): Promise<unknown> {
    return version === null
      ? this.ask.json('DELETE', at('prompts', id, 'labels', label))
      : this.ask.json('PUT', at('prompts', id, 'labels', label), { version });
  }

  rollback(id: string, version: number, note?: string): Promise<PromptVersion> {
    return this.ask.json('POST', at('prompts', id, 'rollback'), { version, ...(note === undefined ? {} : { note }) });
  }

  render(id: string, fields: { version?: VersionName; variables?: Variables; preview?: boolean } = {}): Promise<unknown> {
    return this.ask.json('POST', at('prompts', id, 'render'), fields);
  }

  lint(id: string, fields: { version?: VersionName; for?: string } = {}): Promise<unknown> {
    return this.ask.json('POST', at('prompts', id, 'lint'), fields);
  }

  run(id: string, fields: {
    version?: VersionName; variables?: Variables; model?: string; models?: string[]; mode?: 'session' | 'answer';
  } = {}): Promise<PromptRunResult> {
    return this.ask.json('POST', at('prompts', id, 'run'), fields);
  }

  async export(id: string, query: { format?: string; version?: VersionName } = {}): Promise<string> {
    return (await this.ask.raw('GET', withQuery(at('prompts', id, 'export'), query))).text();
  }

  import(files: PromptFile[], options: {
    format?: string; folder?: string; when_there?: 'version' | 'skip' | 'copy'; media?: 'keep' | 'store';
  } = {}): Promise<PromptImported> {
    return this.ask.json('POST', at('prompts', 'import'), { files, ...options });
  }

  /** The whole library as files, page by page. */
  async *files(): AsyncGenerator<PromptFile> {
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { files: PromptFile[]; next_cursor: string | null } =
        await this.ask.json('GET', withQuery(at('prompts', 'files'), cursor ? { cursor } : {}));
      yield* page.files;
      cursor = page.next_cursor;
    }
  }
}

export class Memories {
  constructor(private readonly ask: Asking) {}

  list(query: Query = {}): Promise<Page<Memory>> {
    return this.ask.json('GET', withQuery(at('memories'), query));
  }

  create(fields: MemoryDraft): Promise<Memory> {
    return this.ask.json('POST', at('memories'), fields);
  }

  get(id: number): Promise<Memory> {
    return this.ask.json('GET', at('memories', id));
  }

  update(id: number, fields: Partial<MemoryDraft>): Promise<Memory> {
    return this.ask.json('PATCH', at('memories', id), fields);
  }

  delete(id: number): Promise<void> {
    return this.ask.json('DELETE', at('memories', id));
  }

  /** Applies all changes, or none. */
  batch(fields: { create?: MemoryDraft[]; update?: (Partial<MemoryDraft> & { id: number })[]; delete?: number[] }):
    Promise<{ created: Memory[]; updated: Memory[]; deleted: number[] }> {
    return this.ask.json('POST', at('memories', 'batch'), fields);
  }

  /** `expected` is the current value of superseded_by; `by` null removes the link. */
  supersede(id: number, by: number | null, expected: number | null = null): Promise<Memory> {
    return this.ask.json('POST', at('memories', id, 'supersede'), { by, expected });
  }

  /** The best matches first. Pass `next_cursor` of a page as `cursor` in the options for the next one. */
  search(query: string, options: Query = {}): Promise<Page<Memory & { score: number }>> {
    return this.ask.json('POST', at('memories', 'search'), { query, ...options });
  }
}

export class Tasks {
  constructor(private readonly ask: Asking) {}

  list(query: Query = {}): Promise<Page<ScheduledTask>> {
    return this.ask.json('GET', withQuery(at('scheduled-tasks'), query));
  }

  create(fields: ScheduledTaskDraft): Promise<ScheduledTask> {
    return this.ask.json('POST', at('scheduled-tasks'), fields);
  }

  get(id: string): Promise<ScheduledTask> {
    return this.ask.json('GET', at('scheduled-tasks', id));
  }

  update(id: string, fields: Partial<ScheduledTaskDraft>): Promise<ScheduledTask> {
    return this.ask.json('PATCH', at('scheduled-tasks', id), fields);
  }

  delete(id: string): Promise<void> {
    return this.ask.json('DELETE', at('scheduled-tasks', id));
  }

  start(id: string): Promise<ScheduledTask> {
    return this.ask.json('POST', at('scheduled-tasks', id, 'start'));
  }

  stop(id: string): Promise<ScheduledTask> {
    return this.ask.json('POST', at('scheduled-tasks', id, 'stop'));
  }

  /** Runs the task now, regardless of its schedule. */
  run(id: string): Promise<ScheduledTaskRun> {
    return this.ask.json('POST', at('scheduled-tasks', id, 'run'));
  }

  runs(id: string, query: Query = {}): Promise<Page<ScheduledTaskRun>> {
    return this.ask.json('GET', withQuery(at('scheduled-tasks', id, 'runs'), query));
  }

  async occurrences(id: string, query: Query = {}): Promise<Occurrence[]> {
    return (await this.ask.json<{ items: Occurrence[] }>(
      'GET', withQuery(at('scheduled-tasks', id, 'occurrences'), query))).items;
  }

  calendar(query: { from?: string; to?: string } = {}): Promise<{ items: CalendarItem[]; is_complete: boolean }> {
    return this.ask.json('GET', withQuery(at('scheduled-tasks', 'calendar'), query));
  }

  explain(cron: string, timezone?: string): Promise<CronExplained> {
    return this.ask.json('GET', withQuery(at('scheduled-tasks', 'explain'), { cron, timezone }));
  }
}

export class Blobs {
  constructor(private readonly ask: Asking) {}

  list(query: Query = {}): Promise<Page<StoredBlob>> {
    return this.ask.json('GET', withQuery(at('blobs'), query));
  }

  async create(bytes: BodyInit, options: { name?: string; type?: string } = {}): Promise<StoredBlob> {
    const response = await this.ask.raw('POST', withQuery(at('blobs'), { name: options.name }), bytes,
      { 'content-type': options.type ?? 'application/octet-stream' });
    return await response.json() as StoredBlob;
  }

  info(id: string): Promise<StoredBlob> {
    return this.ask.json('GET', at('blobs', id, 'info'));
  }

  /** The bytes of a blob, or those of a range such as "0-99". */
  async read(id: string, range?: string): Promise<Uint8Array> {
    const response = await this.ask.raw('GET', at('blobs', id), undefined, range ? { range: `bytes=${range}` } : {});
    return new Uint8Array(await response.arrayBuffer());
  }

  fetch(url: string, name?: string): Promise<StoredBlob> {
    return this.ask.json('POST', at('blobs', 'fetch'), { url, ...(name === undefined ? {} : { name }) });
  }

  delete(id: string): Promise<void> {
    return this.ask.json('DELETE', at('blobs', id));
  }
}
