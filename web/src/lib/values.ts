/** Values for display; separate from lib/json.ts, which only the Viewer needs. */

/** Parses a value that may be JSON in a string: an object or a list is returned as such, anything else as text. */
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

/** Whether a text is bytes (a `data:` URL, long base64), which are of no use to a reader: only their size is shown. */
export function isBase64(text: string): boolean {
  return text.length > 512 && (/^data:[\w/+.-]+;base64,/.test(text) || /^[A-Za-z0-9+/=_-]+$/.test(text));
}
