/** Started by the frame with the first data, loaded as one file: settings that the server keeps, and the counts in the side bar. */
export { followBadges } from './badges';
export { followSettings } from './settings.svelte';
