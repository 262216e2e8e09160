/**
 * Variables of a prompt, by the server's rule: `{{name}}`, `{{ name }}`, `{{name:default}}`; `\{{` is two literal braces. A
 * name has letters of any script, digits, _ . and -. Tool results are data and have no variables.
 */
import { SYSTEM, setText, textOf, type Declared, type Doc, type VariableType } from './prompt';

export interface Spot { from: number; to: number; name: string; preset?: string }

const NAME = /^[\p{L}\p{M}\p{N}_.-]+$/u;
const BLANK = /^[ \t\r\n]+|[ \t\r\n]+$/g;

export const isName = (text: string): boolean => NAME.test(text);

/** Finds the variables in a text. One pass: the search for the end of a `{{` stops at the next one. */
export function spots(text: string): Spot[] {
  const found: Spot[] = [];
  for (let at = text.indexOf('{{'); at >= 0; at = text.indexOf('{{', at)) {
    if (at > 0 && text[at - 1] === '\\') { at += 2; continue; }
    const end = text.indexOf('}}', at + 2);
    if (end < 0) break;
    // In "{{{name}}" the inner two braces count.
    const again = text.indexOf('{{', at + 1);
    if (again >= 0 && again < end) { at = again; continue; }
    const inner = text.slice(at + 2, end);
    const colon = inner.indexOf(':');
    const name = (colon < 0 ? inner : inner.slice(0, colon)).replace(BLANK, '');
    if (!isName(name)) { at += 1; continue; }
    found.push({ from: at, to: end + 2, name, ...(colon < 0 ? {} : { preset: inner.slice(colon + 1).replace(BLANK, '') }) });
    at = end + 2;
  }
  return found;
}

export interface Variable {
  name: string;
  type: VariableType;
  /** The document declares it. */
  declared: boolean;
  /** A text uses it. */
  found: boolean;
  required: boolean;
  label?: string;
  preset?: string;
  options: string[];
}

const textual = (value: unknown): string | undefined =>
  (typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined);

/** In order of first use; declared but unused ones come last. If one is declared twice, the last declaration counts. */
export function variablesOf(doc: Doc): Variable[] {
  const declared = new Map(doc.variables.map((one) => [one.name, one]));
  const found = new Map<string, string | undefined>();
  const texts = [doc.system, ...doc.blocks.filter((block) => block.role !== 'tool').map((block) => block.text)];
  for (const text of texts) {
    for (const spot of spots(text)) {
      if (!found.has(spot.name) || (found.get(spot.name) === undefined && spot.preset !== undefined)) found.set(spot.name, spot.preset);
    }
  }
  const made = (name: string, isFound: boolean, inText?: string): Variable => {
    const said = declared.get(name);
    const preset = inText ?? textual(said?.default);
    return {
      name,
      type: said?.type ?? 'text',
      declared: said !== undefined,
      found: isFound,
      required: said?.required === true || (preset === undefined && isFound),
      options: (said?.options ?? []).map(textual).filter((one) => one !== undefined),
      ...(said?.label === undefined ? {} : { label: said.label }),
      ...(preset === undefined ? {} : { preset }),
    };
  };
  return [
    ...[...found].map(([name, preset]) => made(name, true, preset)),
    ...[...declared.keys()].filter((name) => !found.has(name)).map((name) => made(name, false)),
  ];
}

/** Changes the declaration of a variable. One that equals the default (text, not required) is not written. */
export function declare(doc: Doc, name: string, change: Partial<Declared>): Doc {
  const at = doc.variables.findIndex((one) => one.name === name);
  const now: Declared = { name, ...(at < 0 ? {} : doc.variables[at]), ...change };
  for (const member of Object.keys(now)) if (now[member] === undefined) delete now[member];
  if (now.type !== 'select') delete now.options;
  const isPlain = Object.keys(now).every((member) => member === 'name' || (member === 'type' && now.type === 'text') ||
    (member === 'required' && now.required === false));
  const variables = doc.variables.filter((_, i) => i !== at);
  if (!isPlain) variables.splice(at < 0 ? variables.length : at, 0, now);
  return { ...doc, variables };
}

/** Suggests a name for a selected text: its first words, else `variable`, with a number if it is taken. */
export function suggestName(text: string, taken: Iterable<string>): string {
  const words = text.normalize('NFC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  let name = words.slice(0, 3).join('_');
  if (!name || /^\d/.test(name) || [...name].length > 24) name = 'variable';
  const used = new Set(taken);
  if (!used.has(name)) return name;
  let n = 2;
  while (used.has(`${name}_${n}`)) n++;
  return `${name}_${n}`;
}

/** Replaces the selection by a new variable, whose value it becomes. */
export function makeVariable(doc: Doc, key: string, from: number, to: number): { doc: Doc; name: string; value: string; inserted: string } {
  const text = textOf(doc, key);
  const value = text.slice(from, to);
  const name = suggestName(value, variablesOf(doc).map((one) => one.name));
  const inserted = `{{${name}}}`;
  let next = setText(doc, key, text.slice(0, from) + inserted + text.slice(to));
  if (value.includes('\n')) next = declare(next, name, { type: 'textarea' });
  return { doc: next, name, value, inserted };
}

export function renameVariable(doc: Doc, from: string, to: string): Doc {
  const renamed = (text: string): string => {
    let result = '';
    let at = 0;
    for (const spot of spots(text)) {
      if (spot.name !== from) continue;
      result += text.slice(at, spot.from) + `{{${to}${spot.preset === undefined ? '' : `:${spot.preset}`}}}`;
      at = spot.to;
    }
    return result + text.slice(at);
  };
  return {
    ...doc,
    system: renamed(doc.system),
    blocks: doc.blocks.map((block) => (block.role === 'tool' ? block : { ...block, text: renamed(block.text) })),
    variables: doc.variables.map((one) => (one.name === from ? { ...one, name: to } : one)),
  };
}

export const isSystem = (key: string): boolean => key === SYSTEM;

export type Values = Record<string, string>;

/** Required values that are missing for a run. */
export const missing = (variables: readonly Variable[], values: Values): Variable[] =>
  variables.filter((one) => one.required && one.preset === undefined && !(values[one.name] ?? '').length);

export const isBadNumber = (variable: Variable, values: Values): boolean => {
  const value = values[variable.name] ?? '';
  return variable.type === 'number' && value !== '' && !Number.isFinite(Number(value));
};

/** The values in the form that a run takes: an empty value leaves the default. */
export function given(variables: readonly Variable[], values: Values): Record<string, string | number> {
  const result: Record<string, string | number> = {};
  for (const one of variables) {
    const value = values[one.name];
    if (value === undefined || value === '') continue;
    result[one.name] = one.type === 'number' && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return result;
}
