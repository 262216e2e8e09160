/** Checks whether the text that a citation quotes occurs in the PDF, and where. */
import type { PDFDocumentProxy, PDFPageProxy } from './engine';
import type { PdfPlace } from '$/state/pdf.svelte';

/** A rectangle in the page's space, in PDF coordinates: x to the right, y upwards. */
export type Rect = [number, number, number, number];
export type Check =
  | { state: 'verified'; page: number; rects: Rect[] }
  | { state: 'elsewhere'; page: number; rects: Rect[] }
  | { state: 'absent' }
  | { state: 'textless' };

interface Item { str: string; transform: number[]; width: number; height: number }

/** PDF text breaks lines and words anywhere, so spaces and hyphens are ignored. */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/[\s\p{Pd}\u00ad\u200b-\u200f\u2060\ufeff]+/gu, '');

/** The box that a citation names, in the page's space. */
export function boxOf(page: PDFPageProxy, [x1, y1, x2, y2]: readonly number[]): Rect {
  const [left, , , top] = page.view as Rect;
  return [left + x1!, top - y2!, left + x2!, top - y1!];
}

function rectOf({ transform, width, height }: Item): Rect {
  const [a, b, c, d, e, f] = transform as [number, number, number, number, number, number];
  const along = Math.hypot(a, b) || 1;
  const up = Math.hypot(c, d) || 1;
  const far = [e + (a / along) * width + (c / up) * height, f + (b / along) * width + (d / up) * height] as const;
  return [Math.min(e, far[0]), Math.min(f, far[1]), Math.max(e, far[0]), Math.max(f, far[1])];
}

async function textOf(page: PDFPageProxy): Promise<{ text: string; items: { item: Item; from: number; to: number }[] }> {
  const content = await page.getTextContent();
  let text = '';
  const items: { item: Item; from: number; to: number }[] = [];
  for (const item of content.items as Item[]) {
    if (typeof item.str !== 'string') continue;
    const from = text.length;
    text += fold(item.str);
    if (text.length > from) items.push({ item, from, to: text.length });
  }
  return { text, items };
}

const meets = (a: Rect, b: Rect): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** All occurrences of the words on a page, as rectangles. */
function placesOf(found: Awaited<ReturnType<typeof textOf>>, words: string): Rect[][] {
  const out: Rect[][] = [];
  for (let at = found.text.indexOf(words); at >= 0 && out.length < 100; at = found.text.indexOf(words, at + 1)) {
    out.push(found.items.filter(({ from, to }) => from < at + words.length && at < to).map(({ item }) => rectOf(item)));
  }
  return out;
}

/** Pages in order of their distance to the cited one. */
export function* nearest(cited: number, most: number): Generator<number> {
  yield cited;
  for (let by = 1; cited - by >= 1 || cited + by <= most; by++) {
    if (cited + by <= most) yield cited + by;
    if (cited - by >= 1) yield cited - by;
  }
}

/** Verified: on the cited page, in the box if there is one. Elsewhere: on that page outside of it, or on another page. */
export async function check(doc: PDFDocumentProxy, place: PdfPlace, isCancelled: () => boolean): Promise<Check> {
  const words = fold(place.snippet ?? '');
  const cited = Math.min(Math.max(1, place.page ?? 1), doc.numPages);
  const isInside = place.page === undefined || place.page === cited;
  let hasText = false;
  for (const n of nearest(cited, doc.numPages)) {
    if (isCancelled()) break;
    const page = await doc.getPage(n);
    const found = await textOf(page);
    hasText ||= found.text.length > 0;
    const places = words ? placesOf(found, words) : [];
    if (!places.length) continue;
    const box = place.box ? boxOf(page, place.box) : null;
    const inBox = n === cited && isInside ? places.find((rects) => !box || rects.some((rect) => meets(rect, box))) : undefined;
    return inBox ? { state: 'verified', page: n, rects: inBox } : { state: place.page === undefined ? 'verified' : 'elsewhere', page: n, rects: places[0]! };
  }
  return { state: hasText ? 'absent' : 'textless' };
}
