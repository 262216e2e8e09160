/** What both bundles, the page and the element, have in common. */
import { fileURLToPath } from 'node:url';
import { readWords } from './words.mjs';

export const alias = {
  '@parley/client': fileURLToPath(new URL('../../clients/ts/src/index.ts', import.meta.url)),
  $: fileURLToPath(new URL('../src', import.meta.url)),
};

/** `virtual:words/en` and `virtual:words/zh-CN`: every file of words/, one language each. */
export function words() {
  const prefix = 'virtual:words/';
  return {
    name: 'parley-words',
    resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${prefix}`)) return null;
      const at = id.slice(prefix.length + 1) === 'en' ? 0 : 1;
      const all = readWords();
      return `export default ${JSON.stringify(Object.fromEntries(Object.entries(all).map(([k, v]) => [k, v[at]])))}`;
    },
  };
}
