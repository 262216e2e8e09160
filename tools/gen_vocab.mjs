#!/usr/bin/env node
// Writes the vocabularies of o200k_base and cl100k_base, and the letter classes of their patterns,
// as one C file: gen_vocab.mjs PACKAGE OUT.c
//
// PACKAGE is the npm package tiktoken, installed from tools/vocab/package-lock.json. Two things are
// taken from it: the ranks, and the letter classes as its own regular expressions see them. So a
// newer Unicode in Node or in the C library cannot move a boundary.
//
// A token is stored as the two older tokens it was merged from, each in as few bits as its place
// allows. That is a third of the size of the tokens' text in the package, and encoding needs the
// pairs. src/core/tokens/vocab.c reads the result.
import { createRequire } from 'node:module';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ENCODINGS = ['o200k_base', 'cl100k_base'];
const N_BYTES = 256;
const MAX_TOKEN_BYTES = 255; // the length of a token is stored in one byte

// Letter classes in the order of enum char_class in src/core/tokens/split_int.h; the first match
// counts, and a character without a match has class 0.
const CLASSES = ['[\\r\\n]', '\\s', '\\p{N}', '\\p{M}', '[\\p{Lu}\\p{Lt}]', '\\p{Ll}', '\\p{L}'];
const BLOCK = 256;
const MAX_CODE_POINT = 0x10ffff;

function fail(message) {
  console.error(`gen_vocab: ${message}`);
  process.exit(1);
}

/** Ranks as a Map from token, one character per byte, to rank. */
function readRanks(packed) {
  const ranks = new Map();
  for (const line of packed.split('\n')) {
    const [, offset, ...tokens] = line.split(' ');
    tokens.forEach((token, i) => {
      ranks.set(Buffer.from(token, 'base64').toString('latin1'), Number(offset) + i);
    });
  }
  return ranks;
}

/** The last two parts of a token when its bytes are merged by rank; null if they never join. */
function lastSplit(token, ranks) {
  let parts = [...token];
  while (parts.length > 2) {
    let best = Infinity, at = -1;
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(parts[i] + parts[i + 1]);
      if (rank !== undefined && rank < best) {
        best = rank;
        at = i;
      }
    }
    if (at < 0) return null;
    parts.splice(at, 2, parts[at] + parts[at + 1]);
  }
  return parts;
}

class Bits {
  bytes = [];
  #pending = 0;
  #used = 0;
  add(value, width) {
    for (let i = 0; i < width; i++) {
      this.#pending |= ((value >> i) & 1) << this.#used;
      if (++this.#used === 8) this.flush();
    }
  }
  flush() {
    this.bytes.push(this.#pending);
    this.#pending = this.#used = 0;
  }
}

function packVocabulary(name, ranks) {
  const tokens = [];
  for (const [token, rank] of ranks) tokens[rank] = token;
  const bits = new Bits();
  let textSize = 0;
  for (let rank = 0; rank < tokens.length; rank++) {
    const token = tokens[rank];
    if (token === undefined || token.length > MAX_TOKEN_BYTES) fail(`${name}: token ${rank} is missing or too long`);
    textSize += token.length;
    if ((token.length === 1) !== (rank < N_BYTES)) fail(`${name}: token ${rank} is not where single bytes belong`);
    if (rank < N_BYTES) {
      bits.add(token.charCodeAt(0), 8);
      continue;
    }
    const split = lastSplit(token, ranks);
    const pair = split?.map((part) => ranks.get(part));
    if (!pair || pair.some((part) => !(part < rank))) fail(`${name}: token ${rank} is not made of two older ones`);
    const width = 32 - Math.clz32(rank - 1);
    for (const part of pair) bits.add(part, width);
  }
  bits.flush();
  return { nTokens: tokens.length, textSize, bytes: bits.bytes };
}

/** The class of every code point, by the package's own regular expressions. */
function classify(Tiktoken, encoder) {
  const classes = new Uint8Array(MAX_CODE_POINT + 1);
  const text = [];
  for (let c = 0; c <= MAX_CODE_POINT; c++) if (c < 0xd800 || c > 0xdfff) text.push(String.fromCodePoint(c));
  const all = text.join('');
  CLASSES.forEach((pattern, i) => {
    // Characters that a pattern does not match are missing from the encoding, so decoding gives the class.
    const matcher = new Tiktoken(encoder.bpe_ranks, {}, pattern);
    const found = new TextDecoder('utf-8', { ignoreBOM: true }).decode(matcher.decode(matcher.encode_ordinary(all)));
    for (const char of found) if (!classes[char.codePointAt(0)]) classes[char.codePointAt(0)] = i + 1;
    matcher.free();
  });
  return classes;
}

/** Two stages: a table from a code point's high bits to a block, and the classes of each distinct block. */
function packClasses(classes) {
  const blocks = new Map(), index = [];
  for (let at = 0; at < classes.length; at += BLOCK) {
    const key = classes.subarray(at, at + BLOCK).join('');
    if (!blocks.has(key)) blocks.set(key, { number: blocks.size, at });
    index.push(blocks.get(key).number);
  }
  if (blocks.size > 256) fail('more distinct blocks of letter classes than one byte can number');
  const flat = [...blocks.values()].flatMap(({ at }) => [...classes.subarray(at, at + BLOCK)]);
  return { index, flat };
}

/** The first and last code point of the run that contains `at`; a run has one class. */
function runAround(classes, at) {
  let first = at, last = at;
  while (classes[first - 1] === classes[at]) first--;
  while (classes[last + 1] === classes[at]) last++;
  return [first, last];
}

/** A C string literal, split into lines. */
function literal(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 64) {
    let line = '';
    for (const byte of bytes.slice(at, at + 64)) line += `\\${byte.toString(8).padStart(3, '0')}`;
    lines.push(`    "${line}"`);
  }
  return lines.join('\n');
}

function main([pkg, out]) {
  if (!pkg || !out) fail('usage: gen_vocab.mjs PACKAGE OUT.c');
  if (!existsSync(join(pkg, 'package.json')))
    fail(`the npm package tiktoken is not at ${pkg}: run tools/install-deps build, or npm ci in tools/vocab`);
  const { Tiktoken } = createRequire(import.meta.url)(pkg);
  const encoders = ENCODINGS.map((name) => JSON.parse(readFileSync(join(pkg, 'encoders', `${name}.json`), 'utf8')));
  const classes = classify(Tiktoken, encoders[1]);
  const { index, flat } = packClasses(classes);
  const [hanFirst, hanLast] = runAround(classes, 0x4e00);
  const vocabularies = encoders.map((encoder, i) => packVocabulary(ENCODINGS[i], readRanks(encoder.bpe_ranks)));

  const text = ['/* Generated by tools/gen_vocab.mjs from the npm package tiktoken. */', '#include "tokens/split_int.h"',
    '#include "tokens/vocab_int.h"', ''];
  ENCODINGS.forEach((name, i) => {
    text.push(`static const char ${name}[] =\n${literal(vocabularies[i].bytes)};\n`);
    const specials = Object.entries(encoders[i].special_tokens).map(([word, id]) => `    {PL_STR("${word}"), ${id}},\n`);
    text.push(`static const struct special_token ${name}_specials[] = {\n${specials.join('')}};\n`);
  });
  text.push('const struct vocab_source pl_vocab_sources[PL_ENCODING_COUNT] = {');
  ENCODINGS.forEach((name, i) => {
    const { nTokens, textSize } = vocabularies[i];
    const count = Object.keys(encoders[i].special_tokens).length;
    text.push(`    [PL_ENCODING_${name.toUpperCase()}] = {{${name}, sizeof ${name} - 1}, ${nTokens}, ${textSize}, ${name}_specials, ${count}},`);
  });
  text.push('};\n');
  text.push(`const uint32_t pl_char_han_first = ${hanFirst}, pl_char_han_last = ${hanLast};\n`);
  text.push(`const unsigned char pl_char_block[${index.length + 1}] =\n${literal(index)};\n`);
  text.push(`const unsigned char pl_char_class[${flat.length + 1}] =\n${literal(flat)};\n`);
  writeFileSync(out, text.join('\n'));
}

main(process.argv.slice(2));
