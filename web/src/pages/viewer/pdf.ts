/** The bytes or the address of a PDF in a document of any format: base64 that begins like a PDF, a data URL, or a link. */
import type { Segment } from '$/segments/types';
import { isPdf, type PdfSource } from '$/state/pdf.svelte';

const DEEP = 8;
const signature = 'JVBERi'; /* %PDF, in base64 */

function bytesOf(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64.replace(/\s+/g, '').replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  } catch {
    return null;
  }
}

type Found = { data: Uint8Array } | { url: string };

function inText(text: string, saysPdf: boolean): Found | null {
  const inline = /^data:([^,]*),/.exec(text.slice(0, 200));
  const base64 = inline ? (/^application\/(x-)?pdf\b.*;base64$/i.test(inline[1]!) ? text.slice(inline[0].length) : '') : text.startsWith(signature) ? text : '';
  const data = base64 ? bytesOf(base64) : null;
  if (data) return { data };
  if (/^\/api\/blobs\/[\w-]+$/.test(text)) return saysPdf ? { url: text } : null;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  return saysPdf || /\.pdf$/i.test(new URL(text).pathname) ? { url: text } : null;
}

function find(node: unknown, saysPdf: boolean, depth = 0): Found | null {
  if (typeof node === 'string') return inText(node, saysPdf);
  if (!node || typeof node !== 'object' || depth > DEEP) return null;
  for (const value of Object.values(node)) {
    const found = find(value, saysPdf, depth + 1);
    if (found) return found;
  }
  return null;
}

const at = (data: unknown, pointer: string): unknown => pointer.split('/').slice(1).reduce<unknown>(
  (node, step) => (node && typeof node === 'object' ? (node as Record<string, unknown>)[step.replace(/~1/g, '/').replace(/~0/g, '~')] : undefined), data);

export function pdfIn(data: unknown, pointer: string | undefined, segment: Segment): PdfSource | null {
  const name = typeof segment.fileName === 'string' ? segment.fileName : '';
  const saysPdf = isPdf(segment.mimeType, name);
  const found = find(segment, saysPdf) ?? (pointer === undefined ? null : find(at(data, pointer), saysPdf));
  return found ? { name, ...found } : null;
}
