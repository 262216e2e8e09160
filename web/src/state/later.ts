/** What the frame begins with the first data, in one file: settings that the server keeps, and the numbers of the side bar. */
export { followBadges } from './badges';
export { followSettings } from './settings.svelte';
