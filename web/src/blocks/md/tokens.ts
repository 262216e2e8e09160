/** Markdown, tokenised by the lexer of `marked` and drawn by components: a model's HTML is never parsed as HTML. */
import { Lexer, type Token, type Tokens } from 'marked';

export type { Token, Tokens };

/** A part of a long paragraph. Its tokens are lexed once and stay the same list from then on. */
export interface Piece { type: 'piece'; raw: string; tokens: Token[] }

const most = 2500;

/** Finds where to cut a long paragraph: after a space or a stop, outside of code, bold text and brackets. */
function cutAt(text: string, from: number): number {
  for (let at = from + most; at > from + most / 2; at--) {
    if (!/[\s，。；、！？]/.test(text[at - 1]!)) continue;
    const part = text.slice(from, at);
    if ((part.split('`').length & 1) && (part.split('**').length & 1) && part.split('[').length === part.split(']').length) return at;
  }
  const at = from + most;
  return /[\ud800-\udbff]/.test(text[at - 1]!) ? at - 1 : at;
}

/** Lexes in time linear in the length of a paragraph: pieces seen before are not lexed again. */
function lex(text: string, seen: Map<string, Token[]>): Token[] {
  const lexer = new Lexer({ gfm: true, breaks: true });
  lexer.blockTokens(text, lexer.tokens);
  const { inlineQueue } = lexer as unknown as { inlineQueue: { src: string; tokens: Token[] }[] };
  for (const { src, tokens } of inlineQueue) {
    if (src.length <= most * 1.5) {
      lexer.inlineTokens(src, tokens);
      continue;
    }
    for (let from = 0; from < src.length;) {
      const to = src.length - from <= most * 1.5 ? src.length : cutAt(src, from);
      const raw = src.slice(from, to);
      let inner = seen.get(raw);
      if (!inner) {
        inner = lexer.inlineTokens(raw, []);
        if (to < src.length) seen.set(raw, inner);
      }
      (tokens as unknown as Piece[]).push({ type: 'piece', raw, tokens: inner });
      from = to;
    }
  }
  return lexer.tokens;
}

/**
 * A growing text. All but its last two blocks are frozen: they are lexed once, so a long answer costs linear work. A text that
 * does not continue the previous one starts over.
 */
export class Growing {
  #frozen: Token[] = [];
  #length = 0;
  #edge = '';
  #seen = new Map<string, Token[]>();

  read(text: string, isOpen: boolean): { frozen: Token[]; tail: Token[] } {
    const clean = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    if (clean.length < this.#length || clean.slice(Math.max(0, this.#length - 64), this.#length) !== this.#edge) {
      this.#frozen = [];
      this.#length = 0;
    }
    const tail = lex(clean.slice(this.#length), this.#seen);
    if (isOpen && tail.length > 2) {
      const done = tail.splice(0, tail.length - 2);
      for (const token of done) this.#length += token.raw.length;
      this.#frozen = [...this.#frozen, ...done];
    }
    this.#edge = clean.slice(Math.max(0, this.#length - 64), this.#length);
    return { frozen: this.#frozen, tail };
  }
}
