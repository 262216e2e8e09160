/**
 * Libraries without the parts that the page never calls. Of marked only the lexer is kept.
 *
 * Of pdf.js these are removed: editors, layers for forms and links, XFA, the writing of PDFs, and brotli (a filter that current
 * PDFs do not use; its dictionary is a fifth of the worker). Both files of pdfjs-dist are modules made of sections, each with
 * its path. For a removed section, classes remain whose constructors throw.
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

/** Options that are constant here: GitHub's Markdown with breaks, no extensions. Every pattern must match: review them for each new version of marked. */
const settled = [
  [/\nvar (?:blockPedantic|inlinePedantic) = \{\n[\s\S]*?\n\};/g, ''],
  [/\nvar (?:block|inline) = \{\n[\s\S]*?\n\};/g, ''],
  [/\n  static get rules\(\) \{[\s\S]*?\n  \}/, ''],
  [/\n  static lex(?:Inline)?\(src, options2\) \{[\s\S]*?\n  \}/g, ''],
  [/\n  lex\(src\) \{[\s\S]*?\n  \}/, ''],
  [/block: block\.normal,\n\s*inline: inline\.normal\n\s*\};[\s\S]*?(?=\n    this\.tokenizer\.rules = rules;)/, 'block: blockGfm, inline: inlineBreaks };'],
  [/ {2}(?:lheading|paragraph|table: noopTest),\n(?=[^}]*text: blockText)/g, ''],
  [/\nvar lheading = [^\n]*/, ''],
  [/ {2}(?:_backpedal: noopTest|del: noopTest|emStrongLDelim|emStrongRDelimAst|url: noopTest),?\n(?=[^}]*\};\nvar inlineGfm)/g, ''],
  [/\nvar (?:emStrongLDelim|emStrongRDelimAst) = [^\n]*/g, ''],
  [/ {2}(?:pedanticHrefTitle|escapeTest|escapeReplace|escapeTestNoEncode|escapeReplaceNoEncode|unescapeTest|percentDecode|carriageReturn|spaceLine|notSpaceStart|endingNewline|listReplaceNesting): [^\n]*\n/g, ''],
  [/this\.options\.(?:pedantic|silent)/g, 'false'],
  [/this\.options\.gfm/g, 'true'],
  [/this\.options\.extensions\??/g, 'null?'],
];

function lexerOnly(code) {
  const end = code.indexOf('\n// src/Renderer.ts\n');
  const lexer = settled.reduce((text, [pattern, by]) => {
    if (text.search(pattern) < 0) throw new Error(`marked has other words than before: look at ${pattern} in web/build/lean.mjs`);
    return text.replace(pattern, by);
  }, code.slice(0, end));
  if (end < 0) throw new Error('marked has other sections than before: look at web/build/lean.mjs');
  return `${lexer}\nexport { _Lexer as Lexer };\n`;
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
