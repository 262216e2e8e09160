/** The parts of the settings, as far as the sign-in reaches them. */
import type { IconName } from '$/basics/icons';
import { server } from '$/state/server.svelte';
import type { Schemas } from '@parley/client';

export interface Part { name: string; icon: IconName; href: string; says: string }

const table: [string, IconName, 'anybody' | 'wide' | 'admin' | 'shared'][] = [
  ['models', 'cpu', 'anybody'], ['keys', 'key', 'wide'], ['users', 'person', 'admin'], ['data', 'k_document', 'admin'], ['nodes', 'terminal', 'shared'],
  ['appearance', 'sun', 'anybody'], ['keyboard', 'keyboard', 'anybody'], ['about', 'info', 'anybody'], ['audit', 'shield', 'admin'],
];

const place: { store: string } = $state({ store: '' });
/** Where the server keeps its data, once it has said so: only a PostgreSQL is shared by several nodes. */
export const store = (): string => place.store;
export function learn(): void {
  if (!place.store) void server.get<Schemas['Version']>('/api/version').then((version) => { place.store = version.store; }, () => undefined);
}

/** `wide`: not for a sign-in that is for sessions alone. `shared`: for administrators, where nodes may share the store. */
export function partsOf(): Part[] {
  const isWide = server.scope !== 'sessions';
  return table.filter(([, , who]) => who === 'anybody' || (isWide && (who === 'wide' || (server.isAdmin && (who === 'admin' || place.store === 'postgres')))))
    .map(([name, icon]) => (name === 'audit' ? { name, icon, href: '/audit', says: 'nav.audit' } : { name, icon, href: `/settings/${name}`, says: `set.${name}` }));
}
