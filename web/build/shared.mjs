/** What both bundles, the page and the element, have in common. */
import { fileURLToPath } from 'node:url';
import { groupWords, groups } from './words.mjs';

export const alias = {
  '@parley/client': fileURLToPath(new URL('../../clients/ts/src/index.ts', import.meta.url)),
  $: fileURLToPath(new URL('../src', import.meta.url)),
};

/** `virtual:words`: how the words of a group are loaded; `virtual:words/LANGUAGE/GROUP`: those words. */
export function words() {
  const prefix = 'virtual:words';
  const loaders = (lang) => `'${lang}': { ${Object.keys(groups).map((name) => `${name}: () => import('${prefix}/${lang}/${name}')`).join(', ')} }`;
  return {
    name: 'parley-words',
    resolveId: (id) => (id === prefix || id.startsWith(`${prefix}/`) ? `\0${id}` : null),
    load(id) {
      if (id === `\0${prefix}`) return `export const needs = ${JSON.stringify(groups)};\nexport const load = { ${loaders('en')}, ${loaders('zh-CN')} };`;
      if (!id.startsWith(`\0${prefix}/`)) return null;
      const [, lang, name] = id.split('/');
      const at = lang === 'en' ? 0 : 1;
      return `export default ${JSON.stringify(Object.fromEntries(Object.entries(groupWords()[name]).map(([key, pair]) => [key, pair[at]])))}`;
    },
  };
}
