/**
 * Libraries without what the page never calls. Of marked only the lexer is left.
 *
 * pdf.js without what the page never calls: editors, layers for forms and links, XFA, the writing of PDFs, and brotli (a
 * filter that PDFs of today do not have, whose dictionary alone is a fifth of the worker). Both files of pdfjs-dist are
 * sections of one module, each under its path; a section that is left out leaves classes that refuse to be made.
 */
const out = {
  'pdf.mjs': /^\.\/src\/display\/(editor\/|annotation_layer|xfa_layer|draw_layer|touch_manager|svg_factory|autolinker)/,
  'pdf.worker.mjs': /^\.\/(external\/brotli\/|src\/core\/xfa\/|src\/core\/editor\/)/,
};
const heading = /^;\/\/ (\S+)$/gm;
const declared = /^(?:class|function\*?|async function|const|let|var) ([\w$]+)/gm;

function cut(code, leave) {
  const at = [...code.matchAll(heading)];
  const pieces = at.map((match, i) => ({ path: match[1], text: code.slice(match.index, at[i + 1]?.index ?? code.length) }));
  const dropped = pieces.filter(({ path }) => leave.test(path));
  if (!dropped.length) throw new Error('pdf.js has other sections than before: look at web/build/lean.mjs');
  const kept = code.slice(0, at[0].index) + pieces.filter(({ path }) => !leave.test(path)).map(({ text }) => text).join('');
  const names = dropped.flatMap(({ text }) => [...text.matchAll(declared)].map((match) => match[1])).filter((name) => new RegExp(`\\b${name.replace(/\$/g, '\\$')}\\b`).test(kept));
  const stubs = [...new Set(names)].map((name) => `class ${name} { constructor() { throw new Error("${name} is left out"); } }\n`).join('');
  return stubs + kept.replace(/^globalThis\.pdfjsLib = \{[^}]*\};$/m, '');
}

function lexerOnly(code) {
  const end = code.indexOf('\n// src/Renderer.ts\n');
  if (end < 0) throw new Error('marked has other sections than before: look at web/build/lean.mjs');
  return `${code.slice(0, end)}\nexport { _Lexer as Lexer };\n`;
}

export function lean() {
  return {
    name: 'parley-lean',
    enforce: 'pre',
    transform(code, id) {
      if (/\/marked\/lib\/marked\.esm\.js$/.test(id)) return { code: lexerOnly(code), map: null };
      const name = /\/pdfjs-dist\/build\/(pdf(?:\.worker)?\.mjs)(?:\?worker_file\b|$)/.exec(id)?.[1];
      return name ? { code: cut(code, out[name]), map: null } : null;
    },
  };
}
