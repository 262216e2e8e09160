/**
 * File names come from anywhere. When they are shown and saved, invisible characters (line controls, direction controls, zero
 * width) are replaced by �, so that the extension is what it looks like.
 */
export const shownName = (name: unknown): string => (typeof name === 'string' ? name : '')
  .replace(/[\p{Cc}\p{Zl}\p{Zp}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu, '\ufffd');

/** The extension of a name, as a badge. */
export const endingOf = (name: unknown, mime: unknown): string => (
  /\.([A-Za-z0-9]{1,4})$/.exec(shownName(name))?.[1] ?? (typeof mime === 'string' ? /\/([A-Za-z0-9]+)/.exec(mime)?.[1] : undefined) ?? '?').toUpperCase().slice(0, 4);
