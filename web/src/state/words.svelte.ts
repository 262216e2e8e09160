/**
 * The words of the page in the chosen language. `t` takes a key and fills the places; if a text has the two forms "one ||
 * other", `n` chooses one by the plural rules of the language. No sentence is built from pieces.
 */
import { load, needs, type Group } from 'virtual:words';
import { prefs, type Lang } from './prefs.svelte';

const known: Record<Lang, Record<string, string>> = { en: {}, 'zh-CN': {} };
const read = new Map<string, Promise<void>>();
/** Groups that are in use: a change of the language loads all of them. */
const shown = new Set<Group>(['base']);
let current: { lang: Lang; words: Record<string, string> } = $state.raw({ lang: 'en', words: {} });

function readGroup(lang: Lang, group: Group): Promise<void> {
  const name = `${lang} ${group}`;
  if (!read.has(name)) {
    read.set(name, load(lang, group).then((words) => { Object.assign(known[lang], words); }, (error: unknown) => {
      read.delete(name);
      throw error;
    }));
  }
  return read.get(name)!;
}
const readAll = async (lang: Lang, groups: Iterable<Group>): Promise<void> => { await Promise.all([...groups].map((group) => readGroup(lang, group))); };

/** Loads the words of a language, for all groups in use. */
export async function loadWords(lang: Lang): Promise<void> {
  await readAll(lang, shown);
  current = { lang, words: { ...known[lang] } };
}

/** Loads the words of a page or of a part of one, together with its module. */
export async function withWords<T>(group: Group, part: Promise<T>): Promise<T> {
  const isNew = [group, ...needs[group]].filter((name) => !shown.has(name));
  for (const name of isNew) shown.add(name);
  const [module] = await Promise.all([part, readAll(current.lang, [group, ...needs[group]])]);
  if (isNew.length) current = { lang: current.lang, words: { ...known[current.lang] } };
  return module;
}

export async function setLang(lang: Lang): Promise<void> {
  await loadWords(lang);
  prefs.lang = lang;
}

/** The words of the other language too: the palette matches commands in both. */
export async function wordsOf(lang: Lang): Promise<Record<string, string>> {
  await readAll(lang, shown);
  return known[lang];
}

export const lang = (): Lang => current.lang;

const rules = new Map<string, Intl.PluralRules>();
function plural(lang: string, n: number): Intl.LDMLPluralRule {
  if (!rules.has(lang)) rules.set(lang, new Intl.PluralRules(lang));
  return rules.get(lang)!.select(n);
}

export type Values = Record<string, string | number>;

export function t(key: string, values?: Values): string {
  let text = current.words[key] ?? key;
  if (text.includes(' || ')) {
    const [one, other] = text.split(' || ') as [string, string];
    text = plural(current.lang, Number(values?.n ?? 2)) === 'one' ? one : other;
  }
  if (!values) return text;
  return text.replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    return value === undefined ? place : typeof value === 'number' ? num(value) : value;
  });
}

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();
function format<T extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(name: string, make: () => T): T {
  const key = `${current.lang} ${name}`;
  if (!formats.has(key)) formats.set(key, make());
  return formats.get(key) as T;
}

export const num = (n: number): string => format('n', () => new Intl.NumberFormat(current.lang)).format(n);
export const pct = (share: number, digits = 0): string =>
  format(`p${digits}`, () => new Intl.NumberFormat(current.lang, { style: 'percent', maximumFractionDigits: digits })).format(share);
const clock = (d: Date): string =>
  format('t', () => new Intl.DateTimeFormat(current.lang, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })).format(d);
export const day = (d: Date): string =>
  format('d', () => new Intl.DateTimeFormat(current.lang, { month: 'short', day: 'numeric' })).format(d);
export const fullTime = (d: Date): string =>
  format('f', () => new Intl.DateTimeFormat(current.lang, { dateStyle: 'medium', timeStyle: 'medium' })).format(d);
/** The time of day for today, else the date. */
export function when(value: string | number | Date | null | undefined): string {
  if (value === null || value === undefined) return '';
  const d = new Date(value);
  if (Number.isNaN(d.getTime())) return '';
  return d.toDateString() === new Date().toDateString() ? clock(d) : day(d);
}
export const time = (value: string | number | Date): string => clock(new Date(value));
export const timeWithSeconds = (value: string | number | Date): string =>
  format('ts', () => new Intl.DateTimeFormat(current.lang, { timeStyle: 'medium', hourCycle: 'h23' })).format(new Date(value));
/** "in 14 hours", in the most suitable unit. */
export function until(ms: number): string {
  const [value, unit] = ms < 3_600_000 ? [ms / 60_000, 'minute' as const] : ms < 48 * 3_600_000 ? [ms / 3_600_000, 'hour' as const] : [ms / 86_400_000, 'day' as const];
  return format('r', () => new Intl.RelativeTimeFormat(current.lang, { style: 'short' })).format(Math.max(1, Math.round(value)), unit);
}
/** 12 ms, 1.9 s, 2 min 3 s: the signs of the units are the same in both languages. */
export function span(ms: number): string {
  const fixed = (value: number, digits: number): string => format(`x${digits}`, () => new Intl.NumberFormat(current.lang,
    { maximumFractionDigits: digits, minimumFractionDigits: digits })).format(value);
  if (ms < 1000) return `${fixed(Math.round(ms), 0)}\u202fms`;
  if (ms < 60_000) return `${fixed(ms / 1000, ms < 10_000 ? 1 : 0)}\u202fs`;
  return `${fixed(Math.floor(ms / 60_000), 0)}\u202fmin ${fixed(Math.round((ms % 60_000) / 1000), 0)}\u202fs`;
}
export function bytes(n: number): string {
  const [value, name] = n < 1000 ? [n, 'byte'] : n < 1e6 ? [n / 1e3, 'kilobyte'] : n < 1e9 ? [n / 1e6, 'megabyte'] : [n / 1e9, 'gigabyte'];
  return format(`b${name}`, () => new Intl.NumberFormat(current.lang,
    { style: 'unit', unit: name as string, unitDisplay: 'short', maximumFractionDigits: 1 })).format(value as number);
}
export const money = (usd: number): string => format(usd !== 0 && usd < 0.01 ? 'm4' : 'm2', () => new Intl.NumberFormat(current.lang,
  { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', maximumFractionDigits: usd !== 0 && usd < 0.01 ? 4 : 2, minimumFractionDigits: usd === 0 ? 0 : 2 })).format(usd);
