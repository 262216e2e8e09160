/** One folder per page; each is loaded with its words when it is first shown. */
import type { Component } from 'svelte';
import type { PageName } from '$/state/router.svelte';
import { withWords } from '$/state/words.svelte';

type Loader = () => Promise<{ default: Component }>;

export const pages: Record<PageName, Loader> = {
  first: () => withWords('first', import('./first/index.svelte')),
  workbench: () => withWords('workbench', import('./workbench/index.svelte')),
  sessions: () => withWords('sessions', import('./sessions/index.svelte')),
  session: () => withWords('sessions', import('./sessions/index.svelte')),
  viewer: () => withWords('viewer', import('./viewer/index.svelte')),
  runs: () => withWords('runs', import('./runs/index.svelte')),
  memory: () => withWords('memory', import('./memory/index.svelte')),
  tasks: () => withWords('tasks', import('./tasks/index.svelte')),
  extensions: () => withWords('extensions', import('./extensions/index.svelte')),
  settings: () => withWords('settings', import('./settings/index.svelte')),
  audit: () => withWords('audit', import('./audit/index.svelte')),
  share: () => withWords('share', import('./share/index.svelte')),
};
