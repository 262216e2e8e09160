/** The pages in the order of the side bar, with their addresses and keys. */
import type { PageName } from '$/state/router.svelte';
import { server } from '$/state/server.svelte';

export interface NavItem { name: string; href: string; pages: PageName[]; key: string; gap?: boolean }

export const nav: NavItem[] = [
  { name: 'workbench', href: '/p', pages: ['workbench', 'first'], key: 'w' },
  { name: 'sessions', href: '/s', pages: ['sessions', 'session'], key: 's' },
  { name: 'viewer', href: '/v', pages: ['viewer'], key: 'v' },
  { name: 'runs', href: '/r', pages: ['runs'], key: 'r' },
  { name: 'memory', href: '/m', pages: ['memory'], key: 'm', gap: true },
  { name: 'tasks', href: '/t', pages: ['tasks'], key: 't' },
  { name: 'extensions', href: '/x', pages: ['extensions'], key: 'x' },
];

/** The pages that the sign-in reaches. */
export const pagesOf = (): NavItem[] => nav.filter((item) => server.reaches(item.pages[0]!));
