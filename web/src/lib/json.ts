/**
 * JSON as text: the position of each value, without parsing numbers (19 digits stay 19 digits). One pass, no recursion: a file
 * may be nested deeper than the stack.
 */
export interface Range { from: number; to: number }

export interface Scan {
  /** Maps a pointer to its range of characters. */
  at: Map<string, Range>;
  /** The offset at which the text stops being JSON, or -1. */
  brokenAt: number;
  /** The text up to the last complete value, with open containers closed: the valid part of a broken file. */
  rest: string;
}

const escapePart = (name: string): string => name.replace(/~/g, '~0').replace(/\//g, '~1');

interface Open { close: '}' | ']'; pointer: string; from: number; index: number; key: string | null; wants: 'key' | 'colon' | 'value' | 'comma'; isEmpty: boolean }

export function scan(text: string): Scan {
  const at = new Map<string, Range>();
  const open: Open[] = [];
  let i = 0;
  let isDone = false;
  let lastWhole = 0;
  let lastClosers = '';
  const closers = (): string => open.map((o) => o.close).reverse().join('');
  const literal = /-?\d[\d.eE+-]*|true|false|null/y;
  const space = /[ \t\r\n]*/y;

  const pointerOf = (o: Open | undefined): string =>
    !o ? '' : `${o.pointer}/${o.close === ']' ? o.index : escapePart(o.key ?? '')}`;

  const valueEnded = (pointer: string, from: number, to: number): void => {
    at.set(pointer, { from, to });
    const parent = open[open.length - 1];
    if (!parent) isDone = true;
    else {
      parent.wants = 'comma';
      parent.isEmpty = false;
    }
    lastWhole = to;
    lastClosers = closers();
  };
  const stringEnd = (from: number): number => {
    for (let k = from + 1; k < text.length; k++) {
      const c = text.charCodeAt(k);
      if (c === 92) k++;
      else if (c === 34) return k + 1;
      else if (c === 10) return -1;
    }
    return -1;
  };
  const broken = (where: number): Scan => ({ at, brokenAt: where, rest: text.slice(0, lastWhole) + lastClosers });

  while (true) {
    space.lastIndex = i;
    space.test(text);
    i = space.lastIndex;
    if (i >= text.length) return isDone ? { at, brokenAt: -1, rest: text } : broken(i);
    if (isDone) return broken(i);
    const top = open[open.length - 1];
    const c = text[i]!;
    if (top && c === top.close && (top.wants === 'comma' || top.isEmpty)) {
      open.pop();
      i++;
      valueEnded(top.pointer, top.from, i);
    } else if (top?.wants === 'comma') {
      if (c !== ',') return broken(i);
      i++;
      if (top.close === ']') {
        top.index++;
        top.wants = 'value';
      } else top.wants = 'key';
    } else if (top?.wants === 'key') {
      const end = c === '"' ? stringEnd(i) : -1;
      if (end < 0) return broken(i);
      try {
        top.key = JSON.parse(text.slice(i, end)) as string;
      } catch {
        return broken(i);
      }
      top.wants = 'colon';
      i = end;
    } else if (top?.wants === 'colon') {
      if (c !== ':') return broken(i);
      i++;
      top.wants = 'value';
    } else if (c === '{' || c === '[') {
      open.push({ close: c === '{' ? '}' : ']', pointer: pointerOf(top), from: i, index: 0, key: null, wants: c === '{' ? 'key' : 'value', isEmpty: true });
      i++;
      lastWhole = i;
      lastClosers = closers();
    } else if (c === '"') {
      const end = stringEnd(i);
      if (end < 0) return broken(i);
      valueEnded(pointerOf(top), i, end);
      i = end;
    } else {
      literal.lastIndex = i;
      if (!literal.test(text)) return broken(i);
      const end = literal.lastIndex;
      valueEnded(pointerOf(top), i, end);
      i = end;
    }
  }
}

/** The same JSON on many lines; every literal keeps its spelling. */
export function indent(text: string): string {
  let out = '';
  let depth = 0;
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  let before = '';
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const token = match[0];
    if (token === '}' || token === ']') {
      depth--;
      out += before === '{' || before === '[' ? token : `\n${' '.repeat(Math.max(0, depth))}${token}`;
    } else {
      if (before === '{' || before === '[' || before === ',') out += `\n${' '.repeat(depth)}`;
      out += token === ':' ? ': ' : token;
      if (token === '{' || token === '[') depth++;
    }
    before = token;
  }
  return out;
}

/** The offsets of line starts, and the line of a character. */
export class Lines {
  readonly starts: number[] = [0];
  constructor(readonly text: string) {
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) this.starts.push(i + 1);
  }
  get count(): number { return this.starts.length; }
  line(n: number): string {
    const end = this.starts[n + 1];
    return this.text.slice(this.starts[n]!, end === undefined ? undefined : end - 1);
  }
  of(offset: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.starts[mid]! <= offset) low = mid;
      else high = mid - 1;
    }
    return low;
  }
}

export interface Piece { text: string; as: '' | 'key' | 'str' | 'lit' }

/** A line of JSON in coloured pieces; long strings are cut for display only. */
export function pieces(line: string, most = 2000): Piece[] {
  const out: Piece[] = [];
  const cut = line.length > most ? `${line.slice(0, most)}…` : line;
  const tokens = /("(?:[^"\\]|\\.)*"?)(\s*:)?|(-?\d[\d.eE+-]*|\b(?:true|false|null)\b)/g;
  let last = 0;
  for (let match = tokens.exec(cut); match; match = tokens.exec(cut)) {
    if (match.index > last) out.push({ text: cut.slice(last, match.index), as: '' });
    if (match[1] !== undefined) {
      out.push({ text: match[1], as: match[2] ? 'key' : 'str' });
      if (match[2]) out.push({ text: match[2], as: '' });
    } else out.push({ text: match[0], as: 'lit' });
    last = match.index + match[0].length;
  }
  if (last < cut.length) out.push({ text: cut.slice(last), as: '' });
  return out;
}
