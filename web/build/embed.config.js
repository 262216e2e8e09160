// Builds the element as one file: the host page needs no framework and makes no other request.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { lean } from './lean.mjs';
import { alias, words } from './shared.mjs';

/** The page's document contains the drawings; in another site's document the element brings its own. */
const ownIcons = {
  name: 'parley-own-icons',
  enforce: 'pre',
  resolveId: (id) => (/(^|\/)Icon\.svelte$/.test(id) && !id.includes('/embed/') ? fileURLToPath(new URL('../src/embed/Icon.svelte', import.meta.url)) : null),
};

export default defineConfig({
  plugins: [ownIcons, words(), lean(), svelte({ compilerOptions: { css: 'injected' } })],
  resolve: { alias },
  publicDir: false,
  build: {
    target: 'es2022', outDir: 'dist/embed', emptyOutDir: true, reportCompressedSize: false, chunkSizeWarningLimit: 400,
    lib: { entry: 'src/embed/element.ts', formats: ['es'], fileName: () => 'parley-session.js' },
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
