/**
 * The files of pdf.js that the program includes: the character maps for simplified Chinese PDFs without embedded fonts, and the
 * symbol font that no system has. If a PDF needs another file (JPEG 2000, other scripts without fonts), the page says so.
 */
import gb1 from 'pdfjs-dist/cmaps/Adobe-GB1-UCS2.bcmap?url';
import gbEucH from 'pdfjs-dist/cmaps/GB-EUC-H.bcmap?url';
import gbkEucH from 'pdfjs-dist/cmaps/GBK-EUC-H.bcmap?url';
import ucs2H from 'pdfjs-dist/cmaps/UniGB-UCS2-H.bcmap?url';
import ucs2V from 'pdfjs-dist/cmaps/UniGB-UCS2-V.bcmap?url';
import symbol from 'pdfjs-dist/standard_fonts/FoxitSymbol.pfb?url';

export const files: Record<string, string | undefined> = {
  'Adobe-GB1-UCS2.bcmap': gb1, 'GB-EUC-H.bcmap': gbEucH, 'GBK-EUC-H.bcmap': gbkEucH,
  'UniGB-UCS2-H.bcmap': ucs2H, 'UniGB-UCS2-V.bcmap': ucs2V, 'FoxitSymbol.pfb': symbol,
};
