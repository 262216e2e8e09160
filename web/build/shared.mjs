/** Shared by both bundles, the page and the element; and the files that the page loads besides its scripts. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformWithEsbuild } from 'vite';
import { groupWords, groups } from './words.mjs';

export const alias = {
  '@parley/client': fileURLToPath(new URL('../../clients/ts/src/index.ts', import.meta.url)),
  $: fileURLToPath(new URL('../src', import.meta.url)),
};

const languages = ['en', 'zh-CN'];
const wordsOf = (lang, name) => JSON.stringify(Object.fromEntries(Object.entries(groupWords()[name]).map(([key, pair]) => [key, pair[languages.indexOf(lang)]])));
const digest = (...texts) => createHash('sha256').update(texts.join('\n')).digest('base64url').slice(0, 8);

/**
 * `virtual:words`: which groups each group needs, and how words are loaded. The page loads words as JSON, because they are not
 * code; the element, which is one file, and `npm run dev` import them as modules `virtual:words/LANGUAGE/GROUP`.
 */
export function words({ asFiles = false } = {}) {
  const prefix = 'virtual:words';
  const names = Object.keys(groups);
  let isBuilt = false;
  const loaders = (lang) => `'${lang}': { ${names.map((name) => `${name}: () => import('${prefix}/${lang}/${name}').then((module) => module.default)`).join(', ')} }`;
  return {
    name: 'parley-words',
    config: (_, { command }) => { isBuilt = command === 'build'; },
    resolveId: (id) => (id === prefix || id.startsWith(`${prefix}/`) ? `\0${id}` : null),
    load(id) {
      const needs = `export const needs = ${JSON.stringify(groups)};`;
      if (id === `\0${prefix}` && !(asFiles && isBuilt)) return `${needs}\nconst by = { ${languages.map(loaders).join(', ')} };\nexport const load = (lang, name) => by[lang][name]();`;
      if (id === `\0${prefix}`) {
        const all = languages.flatMap((lang) => names.map((name) => ({ fileName: `assets/${name}.${lang}`, source: wordsOf(lang, name) })));
        const hash = digest(...all.map(({ source }) => source));
        for (const { fileName, source } of all) this.emitFile({ type: 'asset', fileName: `${fileName}-${hash}.json`, source });
        return `${needs}
export const load = async (lang, name) => {
  const answer = await fetch(\`/assets/\${name}.\${lang}-${hash}.json\`);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
};`;
      }
      if (!id.startsWith(`\0${prefix}/`)) return null;
      const [, lang, name] = id.split('/');
      return `export default ${wordsOf(lang, name)}`;
    },
  };
}

/** Puts the drawings of `icons.ts` as symbols into one file, which `main.ts` adds to the document: `Icon` refers to them, so no script contains them. */
export function drawings() {
  const file = fileURLToPath(new URL('../src/basics/icons.ts', import.meta.url));
  let isBuilt = false;
  return {
    name: 'parley-drawings',
    config: (_, { command }) => { isBuilt = command === 'build'; },
    transformIndexHtml: {
      order: 'post',
      async handler(html, { bundle }) {
        const { code } = await transformWithEsbuild(await readFile(file, 'utf8'), file);
        const { icons } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
        const symbols = Object.entries(icons).map(([name, drawn]) => `<symbol id="i-${name}" viewBox="0 0 16 16">${drawn}</symbol>`).join('');
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" class="i drawings" aria-hidden="true">${symbols}</svg>`;
        if (!isBuilt) return html.replace('<div id="app">', `${svg}<div id="app">`);
        const fileName = `assets/drawings-${digest(svg)}.svg`;
        bundle[fileName] = { type: 'asset', fileName, name: 'drawings.svg', names: ['drawings.svg'], originalFileNames: [], needsCodeReference: false, source: svg };
        return html.replace('</head>', `  <link id="drawings" rel="preload" as="fetch" crossorigin href="/${fileName}">\n  </head>`);
      },
    },
  };
}
