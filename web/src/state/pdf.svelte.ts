/** The PDF that is open over the page, if any. The code that reads and draws it is loaded when the first one is opened. */

/** The place of a citation: page from 1, box in points from the top left of the unrotated crop box. */
export interface PdfPlace { page?: number; box?: [number, number, number, number]; snippet?: string }
export interface PdfSource { name: string; url?: string; data?: Uint8Array; place?: PdfPlace }

class Pdf {
  shown: PdfSource | null = $state.raw(null);
  /** Only the page itself can show a PDF: an embedded element has no room for it. */
  isHosted = $state(false);
}
export const pdf = new Pdf();

export const isPdf = (mime: unknown, name: unknown): boolean =>
  (typeof mime === 'string' && /^application\/(x-)?pdf\b/i.test(mime)) || (typeof name === 'string' && /\.pdf$/i.test(name));
