/** The sessions of this person, kept live: read once, then updated by server events. */
import type { Session } from '@parley/client';
import { server } from '$/state/server.svelte';

export type Listed = Session;

class SessionList {
  items: Listed[] = $state.raw([]);
  query = $state('');
  isLoaded = $state(false);
  cursor: string | null = $state(null);
  /** Deleted here, but not yet on the server: Undo can bring it back. */
  hidden: Set<string> = $state.raw(new Set());

  async load(): Promise<void> {
    const q = this.query.trim();
    try {
      const page = await server.parley.sessions({ limit: '100', ...(q ? { q } : {}) }) as unknown as { items: Listed[]; next_cursor: string | null };
      if (q !== this.query.trim()) return;
      this.items = page.items;
      this.cursor = page.next_cursor;
      this.isLoaded = true;
    } catch { /* the connection dot reports the failure; the list read before stays */ }
  }
  async more(): Promise<void> {
    const { cursor } = this;
    if (!cursor) return;
    const page = await server.parley.sessions({ limit: '100', cursor }) as unknown as { items: Listed[]; next_cursor: string | null };
    if (cursor !== this.cursor) return;
    /* a session that changed meanwhile is already at the top */
    const known = new Set(this.items.map((item) => item.id));
    this.items = [...this.items, ...page.items.filter((item) => !known.has(item.id))];
    this.cursor = page.next_cursor;
  }
  put(session: Listed): void {
    const at = this.items.findIndex((item) => item.id === session.id);
    if (at < 0) this.items = this.query.trim() ? this.items : [session, ...this.items];
    else this.items = this.items.map((item) => (item.id === session.id ? { ...item, ...session } : item));
  }
  remove(id: string): void {
    this.items = this.items.filter((item) => item.id !== id);
  }
  hide(id: string, isHidden: boolean): void {
    const next = new Set(this.hidden);
    if (isHidden) next.add(id);
    else next.delete(id);
    this.hidden = next;
  }
  get shown(): Listed[] { return this.items.filter((item) => !this.hidden.has(item.id)); }
}

export const sessions = new SessionList();

/** Follows changed, created and deleted sessions. */
export function follow(): () => void {
  void sessions.load();
  return server.on(['session:updated', 'session:created', 'session:deleted', 'reconnected'], (data) => {
    const session = data.session as Listed | undefined;
    if (session?.id) sessions.put(session);
    else if (typeof data.session_id === 'string' && data.deleted === true) sessions.remove(data.session_id);
    else void sessions.load();
  });
}
