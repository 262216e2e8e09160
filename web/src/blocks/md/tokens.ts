/** Markdown by the lexer of `marked`, drawn by components: no HTML of a model is ever parsed as HTML. */
import { Lexer, type Token, type Tokens } from 'marked';

export type { Token, Tokens };

/** A part of a long paragraph: what stands in it was lexed once and is the same list ever after. */
export interface Piece { type: 'piece'; raw: string; tokens: Token[] }

const most = 2500;

/** Where a long paragraph may be cut: behind a space or a stop, with code and stars closed on both sides. */
function cutAt(text: string, from: number): number {
  for (let at = from + most; at > from + most / 2; at--) {
    if (!/[\s，。；、！？]/.test(text[at - 1]!)) continue;
    const part = text.slice(from, at);
    if ((part.split('`').length & 1) && (part.split('**').length & 1) && part.split('[').length === part.split(']').length) return at;
  }
  const at = from + most;
  return /[\ud800-\udbff]/.test(text[at - 1]!) ? at - 1 : at;
}

/** The lexer, whose inline half is linear in a paragraph of any length: pieces that were seen are not read again. */
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
 * A text that grows. All but its last two blocks are frozen: they are lexed once and never again, so a long answer costs
 * linear work. A text that is not a longer form of the one before begins anew.
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
