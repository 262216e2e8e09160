/**
 * Months, weeks and days of a time zone, and the days of its clock changes. A day is a text such as "2026-11-16". Arithmetic on
 * days uses UTC, where every day has 24 hours; only instants are converted to the zone.
 */
export type Day = string;

const two = (n: number): string => String(n).padStart(2, '0');
const utc = (day: Day): Date => new Date(`${day}T00:00:00Z`);
const named = (date: Date): Day => `${String(date.getUTCFullYear()).padStart(4, '0')}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;

export const addDays = (day: Day, n: number): Day => {
  const date = utc(day);
  date.setUTCDate(date.getUTCDate() + n);
  return named(date);
};

/** Monday is 0. */
export const weekday = (day: Day): number => (utc(day).getUTCDay() + 6) % 7;

export const startOfWeek = (day: Day): Day => addDays(day, -weekday(day));
export const monthOf = (day: Day): string => day.slice(0, 7);

export const isMonth = (text: string | null | undefined): text is string => /^\d{4}-(0[1-9]|1[0-2])$/.test(text ?? '');

export const addMonths = (month: string, n: number): string => {
  const date = utc(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + n);
  return monthOf(named(date));
};

/** The whole weeks that a month touches: 28 to 42 days. */
export function monthGrid(month: string): Day[] {
  const first = startOfWeek(`${month}-01`);
  const end = addDays(`${addMonths(month, 1)}-01`, -1);
  const last = addDays(startOfWeek(end), 6);
  const days: Day[] = [];
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day);
  return days;
}

const formats = new Map<string, Intl.DateTimeFormat>();
function clock(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

export interface Local { day: Day; time: string }

export function local(at: Date | number | string, zone: string): Local {
  const parts = Object.fromEntries(clock(zone).formatToParts(new Date(at)).map((part) => [part.type, part.value]));
  return { day: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` };
}

/** The zone's offset from UTC at an instant, in minutes; positive is ahead. */
export function offset(at: Date | number, zone: string): number {
  const ms = Math.floor(Number(at) / 1000) * 1000;
  const parts = Object.fromEntries(clock(zone).formatToParts(new Date(ms)).map((part) => [part.type, Number(part.value)]));
  return (Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!) - ms) / 60_000;
}

/** The instant of a wall time. A skipped time gives the instant of the change, a repeated time the first of the two. */
export function instant(day: Day, time: string, zone: string): Date {
  const wall = Date.parse(`${day}T${time}:00Z`);
  const guesses = [offset(wall - 86_400_000, zone), offset(wall + 86_400_000, zone)]
    .map((minutes) => wall - minutes * 60_000).sort((a, b) => a - b);
  const hit = guesses.find((ms) => ms + offset(ms, zone) * 60_000 === wall);
  if (hit !== undefined) return new Date(hit);
  // Skipped: go back to the last instant before the change, then to the change itself.
  let [low, high] = [guesses[0]! - 7_200_000, guesses[1]! + 7_200_000];
  const before = offset(low, zone);
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (offset(middle, zone) === before) low = middle; else high = middle;
  }
  return new Date(high);
}

export interface Change { minutes: number; at: Date; from: string; to: string }

/** The clock change of a zone on a day: null on most days, else its size and the wall times before and after. */
export function clockChange(day: Day, zone: string): Change | null {
  let low = Date.parse(`${day}T00:00:00Z`) - offset(Date.parse(`${day}T00:00:00Z`) - 86_400_000, zone) * 60_000;
  let high = low + 86_400_000 + 7_200_000;
  const [a, b] = [offset(low - 1000, zone), offset(high, zone)];
  if (a === b) return null;
  low -= 1000;
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (offset(middle, zone) === a) low = middle; else high = middle;
  }
  const wall = (minutes: number): string => new Date(high + minutes * 60_000).toISOString().slice(11, 16);
  const from = wall(a);
  // The change belongs to the day that the clock shows before it.
  const at = new Date(high + a * 60_000).toISOString().slice(0, 10);
  if (at !== day) return null;
  return { minutes: b - a, at: new Date(high), from, to: wall(b) };
}

export const isZone = (zone: string): boolean => {
  try {
    clock(zone);
    return true;
  } catch {
    return false;
  }
};

export const zones = (): string[] => {
  const all = (Intl as unknown as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.('timeZone') ?? [];
  return all.includes('UTC') ? all : ['UTC', ...all];
};
