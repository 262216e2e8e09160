/** The known settings of a prompt, and their spelling in the form. Other settings stay in the document unchanged. */
export interface Setting { name: string; kind: 'number' | 'whole' | 'lines' | 'choice'; least?: number; most?: number; step?: number; choices?: string[] }

export const settings: Setting[] = [
  { name: 'temperature', kind: 'number', least: 0, step: 0.1 },
  { name: 'top_p', kind: 'number', least: 0, most: 1, step: 0.05 },
  { name: 'max_tokens', kind: 'whole', least: 0 },
  { name: 'stop', kind: 'lines' },
  { name: 'seed', kind: 'whole' },
  { name: 'effort', kind: 'choice', choices: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
];

export const shown = (value: unknown): string =>
  (Array.isArray(value) ? value.map(String).join(' ') : typeof value === 'object' && value !== null ? '{…}' : String(value));

export function written(setting: Setting, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (setting.kind === 'lines') return Array.isArray(value) ? value.map(String).join('\n') : String(value);
  return String(value);
}

/** Parses the input: undefined if the field is empty, null if the value is invalid. */
export function parsed(setting: Setting, text: string): unknown {
  if (text.trim() === '') return undefined;
  if (setting.kind === 'lines') {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.length === 1 ? lines[0] : lines;
  }
  if (setting.kind === 'choice') return setting.choices!.includes(text) ? text : null;
  const value = Number(text);
  if (!Number.isFinite(value) || (setting.kind === 'whole' && !Number.isSafeInteger(value))) return null;
  return (setting.least !== undefined && value < setting.least) || (setting.most !== undefined && value > setting.most) ? null : value;
}
