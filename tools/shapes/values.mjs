// Plausible values for members, by their names. Each value contains a tag made from its path, which distinguishes it
// from all others of its document, so that it can be found again; the same path has the same value in every document.
import { createHash } from 'node:crypto';

const base64 = (text) => Buffer.from(text).toString('base64');
const schema = (tag) => ({ type: 'object', properties: { [`city_${tag}`]: { type: 'string' } } });

// [name, value]: the first match counts.
const strings = [
  [/^(image_url|imageUri|screenshot)$/, (tag) => `https://example.com/${tag}.png`],
  [/(^|_)(url|uri)$|Uri$/, (tag) => `https://example.com/${tag}`],
  [/^file_data$/, (tag) => `data:application/pdf;base64,${base64(`file ${tag}`)}`],
  [/^(data|result|partial_image_b64|encrypted_content|signature|thoughtSignature|voiceSampleAudio|consentAudio)$/, (tag) => base64(`data ${tag}`)],
  [/^(mimeType|mime_type|media_type)$/, () => 'image/png'],
  [/^responseMimeType$/, () => 'application/json'],
  [/^(arguments|partial_json)$/, (tag) => JSON.stringify({ city: `Oslo_${tag}` })],
  [/Offset$|^duration$|[tT]imeout$/, (tag, n) => `${n}s`],
  [/Time$|^expires_at$/, (tag, n) => new Date(1.76e12 + n * 60000).toISOString()],
  [/^(min|max)[A-Z]/, (tag, n) => String(n)],
  [/^role$/, () => 'user'],
  [/^jsonPath$/, (tag) => `$.city_${tag}`],
];
const numbers = [
  [/^(start|first)|(^|_)index$|^(partI|i)ndex$/, () => 0],
  [/^(end|last)/, () => 4],
  [/^(n|candidateCount|logprobs|top_logprobs)$/, () => 2],
  [/temperature|top_?p$|penalty|prob(ability|$)|score|threshold|alpha|weight|fps|tude$/i, (tag, n) => n / 9973],
  [/^created|_at$/, (tag, n) => 1.76e9 + n],
  [/^(x|y|scroll_x|scroll_y|exit_code|return_code|month|day)$/, (tag, n) => 1 + (n % 11)],
];
const anything = [
  [/schema|^parameters$/i, schema],
  [/^properties\{\}$/, (tag) => ({ type: 'string', description: `description ${tag}` })],
];

const pick = (table, name, tag, otherwise) => {
  const n = 1000 + (parseInt(tag, 36) % 8999);
  return (table.find(([pattern]) => pattern.test(name))?.[1] ?? otherwise)(tag, n);
};

export const tagOf = (path) => (createHash('sha256').update(path).digest().readUInt32BE() % 36 ** 5).toString(36).padStart(5, '0');

export function valueOf(kind, name, path) {
  const tag = tagOf(path);
  switch (kind) {
    case 'string': return pick(strings, name, tag, () => `${name.replace(/\W/g, '')}_${tag}`);
    case 'number': return pick(numbers, name, tag, (_, n) => n);
    case 'any': return pick(anything, name, tag, () => ({ [`key_${tag}`]: `value_${tag}` }));
    case 'boolean': return true;
    default: return null;
  }
}
