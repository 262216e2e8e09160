import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { alias, words } from './build/shared.mjs';

/** `npm run dev` talks to a server of yours: PARLEY_URL=http://127.0.0.1:8787 npm run dev */
const server = process.env.PARLEY_URL ?? 'http://127.0.0.1:8787';

export default defineConfig({
  plugins: [words(), svelte()],
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
  },
  server: {
    proxy: {
      '/api': { target: server, ws: true },
      '/cards': server,
      '/openapi.json': server,
    },
  },
});
