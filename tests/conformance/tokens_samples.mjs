// Texts of many kinds with the tokens of the npm package tiktoken, for tokens_test.c:
// tokens_samples.mjs PACKAGE writes to stdout, for each text, numbers as 32 bits little-endian:
//
//   kind (index into the names of tokens_test.c), length, bytes,
//   then for o200k_base and cl100k_base: number of ids, ids
//
// The texts are always the same: the random generator has a fixed seed.
import { createRequire } from 'node:module';
import { readFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PER_KIND = 1200;
const N_LONG = 100;
const ENCODINGS = ['o200k_base', 'cl100k_base'];
const FLUSH_BYTES = 1 << 20;

let seed = 20261115;
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const many = (least, most, make) => Array.from({ length: least + below(most - least + 1) }, make);

const WORDS = `the of and to in a is that it was for on are with as his they at be this from have or by one had not but
what all were when we there can an your which their said if do will each about how up out them then she many some so
these would other into has more her two like him see time could no make than first been its who now people my made over
did down only way find use may water long little very after words called just where most know unfathomable tokenizer
internationalisation Neubeck antidisestablishmentarianism McDonald iPhone eBay NASA HTTPServer don't we'll I'm they've
it's you're he'd DON'T WE'LL can't'S naïve café Straße fiancée coöperate O'Reilly rock'n'roll`.split(/\s+/);
const ENDS = ['. ', ', ', '? ', '! ', '; ', ': ', '...', ' - ', ' — ', '.\n', '.\n\n', '" ', ') ', " '", ' ("', '\t', '  '];
const HAN = [...'的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从先看一下模块的实现确认并发情况是否会重复执行日志连续增加了两次很可能锁范围太小鬱龘𠮷㐀'];
const HAN_ENDS = ['。', ',', '、', ':', '“', '”', '《', '》', '!', '?', '\n', ' ', '2026年', 'API', ' 3.5 '];
const EMOJI = ['😀', '🎉', '👍🏽', '👨‍👩‍👧‍👦', '🇨🇳', '🇩🇪', '❤️', '☃', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '🧑🏿‍🚀', '✨', '🤷‍♀️', '🪿', '🫨', '™', '©'];
const SPACE = [' ', '  ', '\n', '\r\n', '\t', '\r', '\n\n', '\u00a0', '\u2003', '\u3000', '\u2028', '\u0085', '\v', '\f', '\u200b', '\ufeff'];
const SCRIPTS = [[0x41, 0x7a], [0xc0, 0x24f], [0x300, 0x36f], [0x370, 0x3ff], [0x400, 0x52f], [0x5d0, 0x5ea], [0x620, 0x64a],
  [0x900, 0x97f], [0xe00, 0xe5b], [0x1100, 0x11ff], [0x1c4, 0x1cc], [0x2070, 0x209c], [0x2160, 0x2188], [0x3040, 0x30ff],
  [0x4e00, 0x9fff], [0xac00, 0xd7a3], [0xff00, 0xffee], [0x1d400, 0x1d7ff], [0x20000, 0x2a6df], [0x10400, 0x1044f]];
const CONTRACTIONS = ["'s", "'S", "'t", "'re", "'RE", "'rE", "'ve", "'m", "'ll", "'Ll", "'d", "'ſ", "'", "''", "'x", "'l", "'r", "’s"];

const codePoint = ([from, to]) => String.fromCodePoint(from + below(to - from + 1));
const value = (depth) => {
  const kind = below(depth > 3 ? 4 : 6);
  if (kind === 0) return below(1e9) / pick([1, 10, 1000, 7]);
  if (kind === 1) return pick([true, false, null]);
  if (kind < 4) return many(0, 6, () => pick(WORDS)).join(pick([' ', '_', '\n', '\\', '"', '/']));
  if (kind === 4) return many(0, 4, () => value(depth + 1));
  return Object.fromEntries(many(0, 4, () => [pick(WORDS), value(depth + 1)]));
};
const source = readFileSync(fileURLToPath(import.meta.url), 'utf8');

const kinds = {
  prose: () => many(3, 60, () => pick(WORDS) + (random() < 0.2 ? pick(ENDS) : ' ')).join(''),
  code: () => {
    const at = below(source.length);
    return source.slice(at, at + 20 + below(400)).replace(/ {2}/g, pick(['  ', '    ', '\t']));
  },
  chinese: () => many(2, 80, () => (random() < 0.12 ? pick(HAN_ENDS) : pick(HAN))).join(''),
  emoji: () => many(1, 30, () => (random() < 0.3 ? pick(WORDS) : pick(EMOJI))).join(pick(['', ' ', ''])),
  json: () => JSON.stringify(value(0), null, pick([undefined, 1, 2, '\t'])),
  bytes: () => Buffer.from(many(1, 300, () => below(pick([256, 128])))).toString('utf8'),
  scripts: () => many(1, 80, () => (random() < 0.1 ? pick(SPACE) : codePoint(pick(SCRIPTS)))).join(''),
  space: () => many(1, 40, () => (random() < 0.6 ? pick(SPACE) : pick(['a', 'Z', '1', '/', '(', '//', 'é', '中', '́']))).join(''),
  contractions: () => many(1, 20, () => pick([...WORDS, 'A', 'é', '中', '́', ' ', '1', '!']) + pick(CONTRACTIONS)).join(''),
};

// A row of random tokens that the encoder might merge differently: the hard case for finding the right boundaries.
function tokenSoup(encoder, nTokens) {
  const bytes = many(2, 40, () => Buffer.from(encoder.decode_single_token_bytes(below(nTokens))));
  return Buffer.concat(bytes).toString('utf8');
}

// Letters only, so that one piece becomes long.
const letters = (encoder, nTokens) => tokenSoup(encoder, nTokens).replace(/[^\p{L}\p{M}]/gu, '').toLowerCase();
const run = () => pick(['a', 'A', ' ', '-', '=', '中', 'ha', '\n', '_', '0', '😀', 'é']).repeat(1 + below(200));

function* assigned() {
  let text = '', n = 0;
  for (let c = 0; c <= 0x10ffff; c++) {
    const char = String.fromCodePoint(c);
    if (!/^[\p{Assigned}]$/u.test(char) || /^[\p{Co}\p{Cs}]$/u.test(char)) continue;
    text += `x${char}Y ${char}`;
    if (++n % 64 === 0) {
      yield text;
      text = '';
    }
  }
  yield text;
}

const { get_encoding } = createRequire(import.meta.url)(process.argv[2]);
const encoders = ENCODINGS.map((name) => get_encoding(name));
let pending = [], size = 0;

function flush() {
  for (let bytes = Buffer.concat(pending), at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  pending = [];
  size = 0;
}

function put(kind, text) {
  const bytes = Buffer.from(text, 'utf8');
  const parts = [Buffer.from(Uint32Array.of(kind, bytes.length).buffer), bytes];
  for (const encoder of encoders) {
    const ids = encoder.encode_ordinary(bytes.toString('utf8'));
    parts.push(Buffer.from(Uint32Array.of(ids.length).buffer), Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength));
  }
  pending.push(...parts);
  size += bytes.length;
  if (size > FLUSH_BYTES) flush();
}

const makers = Object.values(kinds);
makers.push(() => tokenSoup(encoders[0], 199998), () => letters(encoders[0], 199998), run);
makers.forEach((make, kind) => {
  for (let i = 0; i < PER_KIND; i++) put(kind, make());
});
for (const text of assigned()) put(makers.length, text);
for (let i = 0; i < N_LONG; i++) put(makers.length + 1, many(30, 60, () => pick(makers.slice(0, -1))()).join(pick([' ', '\n'])).repeat(1 + below(2)));
flush();
