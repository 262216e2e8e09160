/** The parts of the settings that the sign-in reaches. */
import type { IconName } from '$/basics/icons';
import { server } from '$/state/server.svelte';
import type { Schemas } from '@parley/client';

export interface Part { name: string; icon: IconName; href: string; says: string }

const table: [string, IconName, 'anybody' | 'wide' | 'admin' | 'shared'][] = [
  ['models', 'cpu', 'anybody'], ['keys', 'key', 'wide'], ['users', 'person', 'admin'], ['data', 'k_document', 'admin'], ['nodes', 'terminal', 'shared'],
  ['appearance', 'sun', 'anybody'], ['keyboard', 'keyboard', 'anybody'], ['about', 'info', 'anybody'], ['audit', 'shield', 'admin'],
];

const place: { store: string } = $state({ store: '' });
/** The server's store, once known: only PostgreSQL can be shared by several nodes. */
export const store = (): string => place.store;
export function learn(): void {
  if (!place.store) void server.get<Schemas['Version']>('/api/version').then((version) => { place.store = version.store; }, () => undefined);
}

/** `wide`: not for a sign-in limited to sessions. `shared`: for administrators, if nodes can share the store. */
export function partsOf(): Part[] {
  const isWide = server.scope !== 'sessions';
  return table.filter(([, , who]) => who === 'anybody' || (isWide && (who === 'wide' || (server.isAdmin && (who === 'admin' || place.store === 'postgres')))))
    .map(([name, icon]) => (name === 'audit' ? { name, icon, href: '/audit', says: 'nav.audit' } : { name, icon, href: `/settings/${name}`, says: `set.${name}` }));
}
