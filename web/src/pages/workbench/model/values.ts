/** Sets of values for the variables of a prompt, stored per prompt, and tables pasted from a spreadsheet. */
import type { Values } from './variables';

export interface Sets { sets: Values[]; at: number }

export const noSets = (): Sets => ({ sets: [{}], at: 0 });

export const current = (state: Sets): Values => state.sets[state.at] ?? {};

export function setValue(state: Sets, name: string, value: string): Sets {
  return { ...state, sets: state.sets.map((one, i) => (i === state.at ? { ...one, [name]: value } : one)) };
}

export function step(state: Sets, by: number): Sets {
  const n = state.sets.length;
  return { ...state, at: (((state.at + by) % n) + n) % n };
}

/** Adds a copy of the current set and selects it. */
export function addSet(state: Sets): Sets {
  const sets = [...state.sets];
  sets.splice(state.at + 1, 0, { ...current(state) });
  return { sets, at: state.at + 1 };
}

export function removeSet(state: Sets): Sets {
  if (state.sets.length === 1) return noSets();
  const sets = state.sets.filter((_, i) => i !== state.at);
  return { sets, at: Math.min(state.at, sets.length - 1) };
}

/** Parses the stored sets; invalid data gives one empty set. */
export function readSets(text: string | null): Sets {
  try {
    const value = JSON.parse(text ?? 'null') as Sets | null;
    if (!value || !Array.isArray(value.sets) || !value.sets.length) return noSets();
    const sets = value.sets.map((one) => Object.fromEntries(
      Object.entries(typeof one === 'object' && one !== null ? one : {}).filter(([, v]) => typeof v === 'string')));
    const at = Number.isInteger(value.at) ? Math.min(Math.max(value.at, 0), sets.length - 1) : 0;
    return { sets, at };
  } catch {
    return noSets();
  }
}

/** Parses a table as in RFC 4180. The separator is a tab if the first line has one, else a semicolon if it has one and no comma. */
export function parseTable(text: string): string[][] {
  const source = text.replace(/^\uFEFF/, '');
  const first = source.split(/\r?\n/, 1)[0] ?? '';
  const separator = first.includes('\t') ? '\t' : !first.includes(',') && first.includes(';') ? ';' : ',';
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < source.length; i++) {
    const c = source[i]!;
    if (quoted) {
      if (c !== '"') cell += c;
      else if (source[i + 1] === '"') { cell += '"'; i++; } else quoted = false;
    } else if (c === '"' && cell === '') quoted = true;
    else if (c === separator) { row.push(cell); cell = ''; }
    else if (c === '\n' || c === '\r') {
      if (c === '\r' && source[i + 1] === '\n') i++;
      row.push(cell);
      rows.push(row);
      row = [];
      cell = '';
    } else cell += c;
  }
  if (cell !== '' || row.length) { row.push(cell); rows.push(row); }
  return rows.filter((one) => one.some((value) => value !== ''));
}

/** Converts rows to sets. The first row has the variables' names; if it has none of them, columns are in the order of the variables. */
export function tableToSets(rows: readonly string[][], names: readonly string[]): Values[] {
  if (!rows.length) return [];
  const heads = rows[0]!.map((head) => head.trim().replace(/^\{\{\s*|\s*\}\}$/g, ''));
  const hasHead = heads.some((head) => names.includes(head));
  const columns = hasHead ? heads : [...names];
  return (hasHead ? rows.slice(1) : rows).map((row) => Object.fromEntries(
    columns.map((name, i) => [name, row[i] ?? ''] as const).filter(([name]) => names.includes(name))));
}
