/** Values as they are shown: apart from lib/json.ts, which only the Viewer needs. */

/** A value that may be JSON in a string: an object or a list comes back, anything else is text. */
export function readJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (!/^[[{]/.test(text)) return value;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return value;
  }
}

/** Bytes as text are no use to anybody: `data:` URLs and long base64 are named by their size. */
export function isBase64(text: string): boolean {
  return text.length > 512 && (/^data:[\w/+.-]+;base64,/.test(text) || /^[A-Za-z0-9+/=_-]+$/.test(text));
}
