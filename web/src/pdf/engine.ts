/**
 * Reads PDFs with pdf.js, in a worker from this server. Nothing in a PDF is executed: there is no layer for links and forms, no
 * sandbox for scripts, no XFA and no eval. Files that pdf.js needs are loaded from the page's own files or not at all.
 */
import { AnnotationMode, getDocument, GlobalWorkerOptions, InvalidPDFException, PasswordResponses, ResponseException, VerbosityLevel, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.mjs?worker&url';
import { files } from './files';
import type { PdfSource } from '$/state/pdf.svelte';

GlobalWorkerOptions.workerSrc = workerUrl;

export type { PDFDocumentProxy, PDFPageProxy };
/** The reason why a PDF is not shown; each has a sentence in the words. */
export type Trouble = 'damaged' | 'locked' | 'missing' | 'failed';
export class PdfTrouble extends Error {
  constructor(readonly code: Trouble, detail: string) { super(detail); }
}

/** Limits in pixels of one picture in a PDF, and of one canvas: bigger ones would exhaust the tab's memory. */
const MOST_PIXELS = 64 << 20;
const MOST_CANVAS = 16 << 20;

/** WASM decoders that pdf.js also has in plain JavaScript: the worker's policy forbids compilation. */
const doneWithout = new Set(['jbig2.wasm']);

export interface Opened {
  doc: PDFDocumentProxy;
  /** Files that this PDF needs and the page does not have: parts of it are not drawn. */
  lacks: () => string[];
  close: () => void;
}

const bytesOf = async (url: string): Promise<Uint8Array<ArrayBuffer>> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};

/** `ask` returns the password, or null if the person gives up; `again` means that the last one was wrong. */
export async function openPdf(source: PdfSource, ask: (again: boolean) => Promise<string | null>, onlack: () => void): Promise<Opened> {
  const lacking = new Set<string>();
  class Files {
    async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
      const url = files[filename];
      if (url) return await bytesOf(url);
      if (!doneWithout.has(filename)) {
        lacking.add(filename);
        onlack();
      }
      throw new Error(`the page has no ${filename}`);
    }
  }
  const task = getDocument({
    ...(source.data ? { data: source.data.slice() } : { url: source.url! }),
    BinaryDataFactory: Files, useWorkerFetch: false, isEvalSupported: false, enableXfa: false, verbosity: VerbosityLevel.ERRORS,
    maxImageSize: MOST_PIXELS, canvasMaxAreaInBytes: MOST_PIXELS * 4, disableAutoFetch: true,
  });
  let isGivenUp = false;
  task.onPassword = (answer: (password: string) => void, reason: number): void => {
    void ask(reason === PasswordResponses.INCORRECT_PASSWORD).then((password) => {
      if (password !== null) return answer(password);
      isGivenUp = true;
      void task.destroy();
    });
  };
  try {
    const doc = await task.promise;
    return { doc, lacks: () => [...lacking], close: () => void task.destroy() };
  } catch (error) {
    void task.destroy();
    const detail = error instanceof Error ? error.message : String(error);
    if (isGivenUp) throw new PdfTrouble('locked', detail);
    if (error instanceof ResponseException) throw new PdfTrouble(error.missing ? 'missing' : 'failed', detail);
    throw new PdfTrouble(error instanceof InvalidPDFException ? 'damaged' : 'failed', detail);
  }
}

/** Draws a page into a new canvas; `stop` cancels it. The canvas size is bounded for a page of any size. */
export function drawPage(page: PDFPageProxy, scale: number): { canvas: HTMLCanvasElement; done: Promise<void>; stop: () => void } {
  const size = page.getViewport({ scale });
  const wanted = scale * (window.devicePixelRatio || 1);
  const pixels = size.width * size.height * (window.devicePixelRatio || 1) ** 2;
  const viewport = page.getViewport({ scale: pixels > MOST_CANVAS ? wanted * Math.sqrt(MOST_CANVAS / pixels) : wanted });
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  const work = page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE });
  return { canvas, done: work.promise, stop: () => work.cancel() };
}
