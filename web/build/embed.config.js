// The element as one file of its own: no framework in the host page, no other request.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { lean } from './lean.mjs';
import { alias, words } from './shared.mjs';

export default defineConfig({
  plugins: [words(), lean(), svelte({ compilerOptions: { css: 'injected' } })],
  resolve: { alias },
  publicDir: false,
  build: {
    target: 'es2022', outDir: 'dist/embed', emptyOutDir: true, reportCompressedSize: false, chunkSizeWarningLimit: 400,
    lib: { entry: 'src/embed/element.ts', formats: ['es'], fileName: () => 'parley-session.js' },
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
