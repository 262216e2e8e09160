/**
 * The scripts that a page begins with, minified by terser: a twentieth smaller, compressed, than what esbuild makes of them. The big
 * ones (pdf.js, CodeMirror) come late and would take most of the time of the build, so esbuild alone does those.
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
