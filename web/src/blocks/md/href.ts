/** Allows only addresses that a person may open on purpose. */
export function safeHref(href: string): string | null {
  try {
    const url = new URL(href, 'https://relative.invalid');
    if (url.host === 'relative.invalid') return null;
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
