/** One folder per page; each is loaded when it is first shown. */
import type { Component } from 'svelte';
import type { PageName } from '$/state/router.svelte';

type Loader = () => Promise<{ default: Component }>;

export const pages: Record<PageName, Loader> = {
  first: () => import('./first/index.svelte'),
  workbench: () => import('./workbench/index.svelte'),
  sessions: () => import('./sessions/index.svelte'),
  session: () => import('./sessions/index.svelte'),
  viewer: () => import('./viewer/index.svelte'),
  runs: () => import('./runs/index.svelte'),
  memory: () => import('./memory/index.svelte'),
  tasks: () => import('./tasks/index.svelte'),
  extensions: () => import('./extensions/index.svelte'),
  settings: () => import('./settings/index.svelte'),
  audit: () => import('./audit/index.svelte'),
  share: () => import('./share/index.svelte'),
};
