/**
 * One prompt being written. The draft is kept at once in this browser and 800 ms after the last key on the server; a draft
 * that was changed elsewhere is never written over. Saving makes a version; who saves second is shown both.
 *
 * kept:  saved (is the version) → pending (a timer runs) → keeping (on its way) → kept
 *        failed (kept here only, tried again), elsewhere (waits for the person to choose)
 */
import { attempt, problemOf, server } from '$/state/server.svelte';
import { frame } from '$/state/frame.svelte';
import { keep } from '$/state/prefs.svelte';
import { t } from '$/state/words.svelte';
import { library } from './library.svelte';
import * as model from './prompt';
import type { Doc, Role, Stored } from './prompt';
import type { Draft, Prompt, Version } from './types';
import type { Problem } from '@parley/client';

export type Kept = 'saved' | 'pending' | 'keeping' | 'kept' | 'failed' | 'elsewhere';

interface Shadow { stored: Stored; base: number; at: number }

export interface Conflict { title: 'draft' | 'version'; base: Doc; theirs: Doc; version: number; revision: number }

const KEEP_MS = 800;
const empty: Stored = { type: 'structured', content: { protocol: 'structured-chat', messages: [] } };

export class Editor {
  id: string = $state('');
  prompt: Prompt | null = $state.raw(null);
  versions: Version[] = $state.raw([]);
  doc: Doc = $state.raw(model.emptyDoc());
  /** The version that the draft is based on. */
  base: Doc = $state.raw(model.emptyDoc());
  baseVersion = $state(0);
  kept: Kept = $state('saved');
  keptAt: number | null = $state(null);
  /** Another tab saved a newer draft, and this tab had no unsaved changes: it now shows that draft. */
  wasRefreshed = $state(false);
  problem: Problem | null = $state.raw(null);
  conflict: Conflict | null = $state.raw(null);
  /** Why the server refused the draft, if the cause is not the connection. */
  refusal: Problem | null = $state.raw(null);
  /** This browser has stored the newest text too. */
  hasShadow = $state(true);
  isLoading = $state(true);
  isSaving = $state(false);
  /** The block with the focus, or the last one that had it. */
  at: string = $state(model.SYSTEM);
  #revision = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #creating: Promise<boolean> | null = null;
  #isWriting = false;

  readonly changes = $derived(model.countChanges(this.base, this.doc));
  readonly isNew = $derived(!this.id);

  async open(id: string): Promise<void> {
    this.isLoading = true;
    this.problem = null;
    if (!id) {
      this.isLoading = false;
      return;
    }
    try {
      const prompt = await server.get<Prompt>(`/api/prompts/${encodeURIComponent(id)}`);
      const [draft] = await Promise.all([this.#readDraft(id), this.loadVersions(id)]);
      this.id = id;
      this.prompt = prompt;
      await this.#begin(prompt, draft);
    } catch (error) {
      this.problem = problemOf(error);
    } finally {
      this.isLoading = false;
    }
  }

  async #begin(prompt: Prompt, draft: Draft | null): Promise<void> {
    const latest = prompt.latest?.content === undefined ? empty : { type: prompt.latest.type, content: prompt.latest.content };
    const shadow = keep.get<Shadow | null>(`draft.${prompt.id}`, null);
    // A draft that only the browser has: the page was closed within the 800 ms, or had no connection.
    const isShadowNewer = shadow && (!draft || shadow.at > Date.parse(draft.updated_at)) && !model.sameStored(shadow.stored, draft ?? latest);
    const [stored, based] = isShadowNewer ? [shadow.stored, shadow.base] : draft ? [draft, draft.based_on] : [latest, prompt.latest_version];
    this.#revision = draft?.revision ?? 0;
    this.baseVersion = based || prompt.latest_version;
    this.base = model.read(this.baseVersion === prompt.latest_version ? latest : await this.content(this.baseVersion));
    this.doc = this.#keyed(model.read(stored));
    this.at = this.doc.blocks.at(-1)?.key ?? model.SYSTEM;
    this.kept = model.sameStored(stored, model.write(this.base)) ? 'saved' : isShadowNewer ? 'pending' : 'kept';
    this.keptAt = draft ? Date.parse(draft.updated_at) : null;
    if (isShadowNewer && server.mayWrite) this.#schedule();
  }

  /** Blocks keep their keys when the document is reloaded, so that the focus stays in its field. */
  #keyed(next: Doc): Doc {
    return model.keyed(next, this.doc);
  }

  async content(version: number): Promise<Stored> {
    const known = this.versions.find((one) => one.version === version);
    const found = known?.content === undefined
      ? await server.get<Version>(`/api/prompts/${encodeURIComponent(this.id || this.prompt!.id)}/versions/${version}`) : known;
    return { type: found.type, content: found.content! };
  }

  async loadVersions(id = this.id): Promise<void> {
    const all: Version[] = [];
    for (let offset = 0; ; offset += 100) {
      const page = await server.get<{ items: Version[]; total: number }>(`/api/prompts/${encodeURIComponent(id)}/versions?limit=100&offset=${offset}&view=summary`);
      all.push(...page.items);
      if (!page.items.length || all.length >= page.total) break;
    }
    this.versions = all.sort((a, b) => b.version - a.version);
  }

  /** If there is no draft, the server sends the newest version instead, with revision 0. */
  async #readDraft(id: string): Promise<Draft | null> {
    const draft = await server.get<Draft>(`/api/prompts/${encodeURIComponent(id)}/draft?or=latest`);
    return draft.revision ? draft : null;
  }

  /** Every edit uses this function. */
  change(edit: (doc: Doc) => Doc): void {
    if (!server.mayWrite) return;
    const next = edit(this.doc);
    if (next === this.doc) return;
    this.doc = next;
    this.wasRefreshed = false;
    if (this.id) this.#shadow(next);
    if (this.kept === 'elsewhere') return;
    this.kept = 'pending';
    this.#schedule();
  }

  #shadow(doc: Doc): void {
    this.hasShadow = keep.set(`draft.${this.id}`, { stored: model.write(doc), base: this.baseVersion, at: Date.now() } satisfies Shadow);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#keep(), KEEP_MS);
  }

  /** Creates the prompt; called with its first word. */
  async create(): Promise<boolean> {
    this.#creating ??= this.#create();
    const did = await this.#creating;
    this.#creating = null;
    return did;
  }

  async #create(): Promise<boolean> {
    if (this.id) return true;
    const taken = new Set(library.prompts.map((one) => one.name));
    let name = t('wb.untitled');
    for (let n = 2; taken.has(name); n++) name = `${t('wb.untitled')} ${n}`;
    const prompt = await attempt(() => server.json<Prompt>('POST', '/api/prompts', { name, type: 'structured', content: empty.content }));
    if (!prompt) return false;
    this.prompt = prompt;
    this.id = prompt.id;
    this.baseVersion = prompt.latest_version;
    this.base = model.read(empty);
    this.versions = prompt.latest ? [prompt.latest] : [];
    library.put(prompt);
    return true;
  }

  async #keep(): Promise<void> {
    if (this.#isWriting) return this.#schedule();
    if (this.kept === 'elsewhere' || (!this.id && !await this.create())) return;
    const stored = model.write(this.doc);
    this.#isWriting = true;
    this.kept = 'keeping';
    try {
      const draft = await server.json<Draft>('PUT', `/api/prompts/${encodeURIComponent(this.id)}/draft`,
        { type: stored.type, content: stored.content, based_on: this.baseVersion }, this.#condition());
      this.#revision = draft.revision;
      this.refusal = null;
      this.keptAt = Date.parse(draft.updated_at);
      if (this.kept === 'keeping') this.kept = 'kept';
      if (model.sameStored(stored, model.write(this.doc))) keep.set(`draft.${this.id}`, null);
    } catch (error) {
      await this.#notKept(error);
    } finally {
      this.#isWriting = false;
    }
  }

  /** The condition of a write: the revision read before, or no draft at all. */
  #condition(): Record<string, string> {
    return this.#revision ? { 'if-match': `"${this.#revision}"` } : { 'if-none-match': '*' };
  }

  async #notKept(error: unknown): Promise<void> {
    const problem = problemOf(error);
    if (problem.status === 412) {
      const draft = await this.#readDraft(this.id).catch(() => null);
      if (draft) this.#elsewhere(draft);
      else { this.#revision = 0; this.kept = 'pending'; this.#schedule(); }
      return;
    }
    // The browser has the draft, if there was room. The next key press and the next connection try again.
    this.kept = 'failed';
    this.refusal = problem.code === 'no_connection' ? null : problem;
    this.keptAt = Date.now();
  }

  #elsewhere(draft: Draft): void {
    const theirs = model.read(draft);
    if (model.same(model.write(theirs), model.write(this.doc))) {
      this.#revision = draft.revision;
      this.kept = 'kept';
      return;
    }
    this.kept = 'elsewhere';
    this.conflict = { title: 'draft', base: this.base, theirs, version: draft.based_on, revision: draft.revision };
  }

  retry(): void {
    if (this.kept === 'failed') { this.kept = 'pending'; void this.#keep(); }
  }

  /** Another tab saved its draft. It is shown if there are no local changes; else the person is asked. */
  async drafted(revision: number | null): Promise<void> {
    if (!this.id || this.#isWriting || (revision !== null && revision === this.#revision)) return;
    const draft = await this.#readDraft(this.id).catch(() => undefined);
    if (draft === undefined || (draft?.revision ?? 0) === this.#revision) return;
    if (this.kept === 'pending' || this.kept === 'keeping') return; // this tab's own write will be refused, which asks the person
    if (!draft) {
      // The other tab saved it as a version or discarded it.
      await this.open(this.id);
      return;
    }
    this.#revision = draft.revision;
    this.doc = this.#keyed(model.read(draft));
    this.kept = 'kept';
    this.keptAt = Date.parse(draft.updated_at);
    this.wasRefreshed = true;
  }

  /** Applies the person's choice between two drafts or two versions. */
  settle(doc: Doc): void {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    this.kept = 'pending';
    if (conflict.title === 'version') {
      this.base = conflict.theirs;
      this.baseVersion = conflict.version;
    } else {
      this.#revision = conflict.revision;
    }
    this.doc = doc;
    this.#shadow(doc);
    this.#schedule();
  }

  async save(note: string): Promise<Version | undefined> {
    if (this.isSaving || (!this.id && !await this.create())) return undefined;
    this.isSaving = true;
    clearTimeout(this.#timer);
    const stored = model.write(this.doc);
    try {
      const version = await server.json<Version>('POST', `/api/prompts/${encodeURIComponent(this.id)}/versions`,
        { type: stored.type, content: stored.content, based_on: this.baseVersion, ...(note ? { note } : {}) });
      await this.#becameVersion(version, stored);
      frame.toast(t('wb.savedas', { v: version.version }));
      return version;
    } catch (error) {
      const problem = problemOf(error) as Problem & { current?: Version };
      if (problem.status === 412 && problem.current?.content !== undefined) {
        const theirs = model.read({ type: problem.current.type, content: problem.current.content });
        this.conflict = { title: 'version', base: this.base, theirs, version: problem.current.version, revision: this.#revision };
      } else {
        frame.toast(problem.detail ?? problem.title, { kind: 'bad', ms: 8000 });
        if (this.kept === 'pending') this.#schedule();
      }
      return undefined;
    } finally {
      this.isSaving = false;
    }
  }

  async #becameVersion(version: Version, stored: Stored): Promise<void> {
    this.base = model.read(stored);
    this.baseVersion = version.version;
    this.refusal = null;
    keep.set(`draft.${this.id}`, null);
    if (this.#revision) await server.json('DELETE', `/api/prompts/${encodeURIComponent(this.id)}/draft`).catch(() => undefined);
    this.#revision = 0;
    this.kept = model.sameStored(stored, model.write(this.doc)) ? 'saved' : 'pending';
    if (this.kept === 'pending') this.#schedule();
    await this.refreshPrompt();
  }

  async refreshPrompt(): Promise<void> {
    const prompt = await server.get<Prompt>(`/api/prompts/${encodeURIComponent(this.id)}`);
    this.prompt = prompt;
    library.put(prompt);
    await this.loadVersions();
  }

  /** Makes a new version with the content of an old one. */
  async restore(version: number): Promise<void> {
    const made = await attempt(() => server.json<Version>('POST', `/api/prompts/${encodeURIComponent(this.id)}/rollback`, { version }));
    if (!made) return;
    const stored = await this.content(version);
    const before = this.doc;
    const wasDraft = this.kept !== 'saved';
    this.doc = this.#keyed(model.read(stored));
    await this.#becameVersion(made, model.write(this.doc));
    frame.toast(t('wb.restored', { a: version, v: made.version }), wasDraft ? { action: { label: t('e.undo.do'), run: () => this.change(() => before) } } : {});
  }

  async label(name: string, version: number | null): Promise<void> {
    const path = `/api/prompts/${encodeURIComponent(this.id)}/labels/${encodeURIComponent(name)}`;
    await attempt(() => (version === null ? server.json('DELETE', path) : server.json('PUT', path, { version })));
    await attempt(() => this.refreshPrompt());
  }

  async rename(fields: Partial<Pick<Prompt, 'name' | 'folder' | 'is_pinned'>>): Promise<void> {
    if (!this.id && !await this.create()) return;
    const prompt = await attempt(() => server.json<Prompt>('PATCH', `/api/prompts/${encodeURIComponent(this.id)}`, fields));
    if (!prompt) return;
    this.prompt = { ...this.prompt!, ...prompt };
    library.put(prompt);
  }

  /** Discards the draft; for 8 seconds this can be undone. */
  discard(): void {
    const before = this.doc;
    this.doc = this.#keyed(this.base);
    clearTimeout(this.#timer);
    this.kept = 'saved';
    keep.set(`draft.${this.id}`, null);
    if (this.#revision) void server.json('DELETE', `/api/prompts/${encodeURIComponent(this.id)}/draft`).catch(() => undefined);
    this.#revision = 0;
    frame.toast(t('wb.discarded'), { action: { label: t('e.undo.do'), run: () => this.change(() => before) } });
  }

  close(): void {
    clearTimeout(this.#timer);
    if (this.kept === 'pending') void this.#keep();
  }

  // Actions on blocks.

  index(key: string): number {
    return this.doc.blocks.findIndex((block) => block.key === key);
  }

  add(role: Role, at = this.doc.blocks.length): string {
    const block = model.newBlock(this.doc, role);
    this.change((doc) => model.insert(doc, at, block));
    return block.key;
  }

  moveBlock(key: string, to: number, count = 1): void {
    const from = this.index(key);
    if (from < 0) return;
    const before = this.doc;
    this.change((doc) => model.move(doc, from, to, count));
    if (this.doc !== before) frame.say(t('a.moved', { n: this.index(key) + 1, m: this.doc.blocks.length }));
  }

  removeBlock(key: string): void {
    const before = this.doc;
    const at = this.index(key);
    const gone = this.doc.blocks[at];
    if (!gone) return;
    this.change((doc) => model.remove(doc, key));
    if (!gone.text && !Object.keys(gone.rest).length) return;
    const close = frame.toast(t('e.undo'), { action: { label: t('e.undo.do'), run: () => { close(); this.change((doc) => (doc.blocks.some((block) => block.key === key) ? doc : model.insert(doc, Math.min(at, before.blocks.length), gone))); } } });
  }
}
