import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { lean } from './build/lean.mjs';
import { alias, words } from './build/shared.mjs';

/** `npm run dev` talks to a server of yours: PARLEY_URL=http://127.0.0.1:8787 npm run dev */
const server = process.env.PARLEY_URL ?? 'http://127.0.0.1:8787';

/**
 * What every page begins with is one chunk: many small ones compress worse and would cost a page its budget. What only
 * some pages need stays where the bundler puts it.
 */
const begins = [
  /\/node_modules\/(svelte|esm-env|clsx)\//, /\/clients\/ts\/src\//, /\/src\/state\/(?!settings)/,
  /\/src\/basics\/(Button|Dialog|ErrorNote|Icon|icons|Lazy|Menu|Skeleton|Status|Tabs|Toasts|place)\b/, /\/src\/frame\/(Page|Side|nav)\b/,
];

export default defineConfig({
  plugins: [words(), lean(), svelte()],
  worker: { format: 'es', plugins: () => [lean()] },
  resolve: { alias },
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsDir: 'assets',
    cssCodeSplit: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
    rollupOptions: { output: { manualChunks: (id) => (begins.some((one) => one.test(id)) ? 'shell' : undefined) } },
  },
  server: {
    proxy: {
      '/api': { target: server, ws: true },
      '/cards': server,
      '/openapi.json': server,
    },
  },
});
