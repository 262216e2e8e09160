// Web pages as text. The host fetches them: it checks every address against the manifest and refuses private networks,
// also at each redirect. This program only converts HTML to text and cuts it.
import { Extension } from './parley_ext.mjs';

const ext = new Extension();
const MOST = 100_000; // characters, unless the model asks for fewer

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', mdash: '—', ndash: '–', hellip: '…', copy: '©' };
const decode = (text) => text.replace(/&(#x?[0-9a-f]+|\w+);/gi, (all, name) => {
  if (name[0] !== '#') return entities[name.toLowerCase()] ?? all;
  const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : all;
});

// Headings, lists, links and paragraphs become Markdown; everything that is not text is removed.
export function textOf(html) {
  return decode(html
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<(script|style|noscript|svg|template|head)\b[^]*?<\/\1\s*>/gi, '')
    .replace(/<h([1-6])\b[^>]*>/gi, (_, level) => `\n\n${'#'.repeat(Number(level))} `)
    .replace(/<li\b[^>]*>/gi, '\n- ')
    .replace(/<a\b[^>]*?\bhref\s*=\s*["']([^"']*)["'][^>]*>([^]*?)<\/a\s*>/gi, (_, href, inside) => `[${inside}](${href})`)
    .replace(/<br\b[^>]*>/gi, '\n')
    .replace(/<\/?(p|div|section|article|header|footer|main|table|tr|ul|ol|pre|blockquote|h[1-6])\b[^>]*>/gi, '\n\n')
    .replace(/<\/t[dh]\s*>/gi, '\t')
    .replace(/<[^>]*>/g, ''))
    .replace(/[ \t\r]+/g, ' ').replace(/ ?\n ?/g, '\n').replace(/\n{3,}/g, '\n\n').trim();
}

const parameters = {
  type: 'object',
  properties: {
    url: { type: 'string', description: 'An address with https://' },
    max_chars: { type: 'integer', minimum: 100, maximum: MOST },
    raw: { type: 'boolean', description: 'The page as it came, not as text' },
  },
  required: ['url'],
  additionalProperties: false,
};

ext.tool('fetch', 'Fetches a page of the web and gives its text.', parameters, async (call, { url, max_chars = 20_000, raw = false }) => {
  call.progress(`fetching ${url}`);
  const answer = await call.http(url, { headers: { accept: 'text/html, text/plain, application/json;q=0.9, */*;q=0.1' } });
  const type = Object.entries(answer.headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (answer.body === undefined) throw new Error(`${answer.url} is ${type || 'no text'}, ${answer.size_bytes} bytes`);
  const text = raw || !/html/i.test(String(type)) ? answer.body : textOf(answer.body);
  const head = `${answer.url} (HTTP ${answer.status})\n\n`;
  const cut = [...text].length > max_chars ? `${[...text].slice(0, max_chars).join('')}\n\n[cut after ${max_chars} characters]` : text;
  if (answer.status >= 400) throw new Error(head + cut);
  return head + cut;
});

ext.run();
