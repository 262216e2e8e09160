import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { lean } from './build/lean.mjs';
import { alias, drawings, words } from './build/shared.mjs';
import { smaller } from './build/smaller.mjs';

/** `npm run dev` uses a running server: PARLEY_URL=http://127.0.0.1:8787 npm run dev */
const server = process.env.PARLEY_URL ?? 'http://127.0.0.1:8787';

/**
 * Modules that are loaded together form one chunk: many small chunks compress worse and would exceed a page's size budget.
 * `shell` has the modules that every page needs at its start; the bundler places all other modules.
 */
const together = {
  shell: [
    /\/node_modules\/(svelte|esm-env|clsx)\/(?!.*(bindings\/(select|size)|blocks\/await))/, /\/clients\/ts\/src\//, /\/src\/state\/(?!settings|later|badges)/,
    /\/src\/basics\/(Button|Combobox|Dialog|ErrorNote|Icon|Lazy|Menu|Skeleton|Status|Tabs|Toasts|place)\b/, /\/src\/frame\/(Page|Panel|Side|nav)\b/, /\/src\/(segments\/types|blocks\/md\/href)\b/,
  ],
  transcript: [/\/src\/blocks\/(Transcript|TurnView|ToolCard|Think|Said|lazy|draw|session)\b/],
  session: [/\/src\/pages\/sessions\/(Session|Panels|ContextPanel|Timeline|sources|context)\b/],
};
const chunkOf = (id) => Object.keys(together).find((name) => together[name].some((one) => one.test(id)));

export default defineConfig({
  plugins: [words({ asFiles: true }), drawings(), lean(), svelte(), smaller()],
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
    rollupOptions: { output: { manualChunks: chunkOf } },
  },
  server: {
    proxy: {
      '/api': { target: server, ws: true },
      '/cards': server,
      '/openapi.json': server,
    },
  },
});
