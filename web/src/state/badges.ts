/** The counts in the side bar, shown on every page: sessions that wait for a person, extensions that were stopped. */
import { frame } from './frame.svelte';
import { server } from './server.svelte';

interface Listed { id: string; status: string }

const waiting = new Set<string>();
const show = (): void => { frame.badges.sessions = waiting.size || undefined; };

async function count(): Promise<void> {
  try {
    const { items } = await server.get<{ items: Listed[] }>('/api/sessions?status=waiting_for_input&limit=100');
    waiting.clear();
    for (const { id } of items) waiting.add(id);
    show();
  } catch { /* the connection dot reports the failure */ }
}

async function countExtensions(): Promise<void> {
  if (!server.isAdmin || !server.reaches('extensions')) return;
  try {
    const { items } = await server.get<{ items: { state: string }[] }>('/api/extensions?limit=100');
    frame.badges.extensions = items.filter((one) => one.state === 'quarantined').length || undefined;
  } catch { /* as above */ }
}

let isFollowing = false;
/** Called by the frame with the first data; only the first call counts. Events update the counts; a list is read again only if events may have been missed. */
export function followBadges(): void {
  if (isFollowing) return;
  isFollowing = true;
  const all = (): void => { void count(); void countExtensions(); };
  all();
  server.on(['reconnected', 'user:missed'], all);
  server.on(['extension:updated', 'extension:deleted'], () => void countExtensions());
  server.on('session:updated', (data) => {
    const session = data.session as Listed | undefined;
    if (!session?.id) return void count();
    if (session.status === 'waiting_for_input') waiting.add(session.id);
    else waiting.delete(session.id);
    show();
  });
  server.on('session:deleted', (data) => {
    waiting.delete(String(data.session_id ?? data.id));
    show();
  });
}
