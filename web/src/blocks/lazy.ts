/** Blocks that are rare at the start of a transcript; each is a chunk of its own. */
import type { Loader } from '$/basics/Lazy.svelte';

export const markdown: Loader = () => import('./md/Markdown.svelte');
export const ask: Loader = () => import('./Ask.svelte');
export const confirm: Loader = () => import('./Confirm.svelte');
export const compaction: Loader = () => import('./Compaction.svelte');
export const card: Loader = () => import('./CardFrame.svelte');
export const media: Loader = () => import('$/segments/Media.svelte');
export const file: Loader = () => import('$/segments/FileCard.svelte');
export const values: Loader = () => import('$/segments/Values.svelte');
export const plan: Loader = () => import('./Plan.svelte');
export const rare: Loader = () => import('./Rare.svelte');
