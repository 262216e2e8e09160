/**
 * Minifies the scripts needed at the page's start with terser: compressed, they are 5 % smaller than esbuild's output. The big
 * scripts (pdf.js, CodeMirror) are loaded late and would take most of the build time, so only esbuild minifies those.
 */
import { minify } from 'terser';

const big = 150_000;

export const smaller = () => ({
  name: 'parley-smaller',
  renderChunk: {
    order: 'post',
    async handler(code) {
      if (code.length > big) return null;
      const { code: small } = await minify(code, { module: true, ecma: 2020, compress: { passes: 2, unsafe_arrows: true, unsafe_methods: true, keep_fargs: false } });
      return { code: small, map: null };
    },
  },
});
