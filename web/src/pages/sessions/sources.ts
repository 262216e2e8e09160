/** Citations of a transcript, numbered in order of their turns. */
import type { Schemas, Turn } from '@parley/client';
import { safeHref } from '$/blocks/md/href';
import { shownName } from '$/lib/names';
import { isPdf, type PdfPlace, type PdfSource } from '$/state/pdf.svelte';

export interface Source { key: string; n: number; turn: string; title: string; href: string | null; quote: string; pdf: PdfSource | null }

/** An entry of a citation_map (seed 001, A.4), or a vendor's own form of it: no member is certain. */
type Entry = Record<string, unknown>;
type Media = Partial<Schemas['turns.Media']>;

const text = (...values: unknown[]): string => String(values.find((value) => typeof value === 'string' && value) ?? '');

/** Page, box and text of a citation, as far as they are valid. */
function placeOf(entry: Entry): PdfPlace {
  const at = (entry.location && typeof entry.location === 'object' ? entry.location : {}) as Record<string, unknown>;
  const box = Array.isArray(at.bbox) && at.bbox.length === 4 && at.bbox.every((v) => typeof v === 'number' && Number.isFinite(v)) ? at.bbox as [number, number, number, number] : null;
  const snippet = text(at.text_snippet, entry.snippet, entry.quote, entry.cited_text);
  return {
    ...(Number.isInteger(at.page_number) && (at.page_number as number) > 0 ? { page: at.page_number as number } : {}),
    ...(box && box[0] < box[2] && box[1] < box[3] ? { box } : {}), ...(snippet ? { snippet } : {}),
  };
}

/** Files of the conversation, by id and by name, to resolve a citation's source. */
function filesOf(turns: Turn[]): Map<string, Media> {
  const files = new Map<string, Media>();
  for (const turn of turns) for (const block of turn.blocks) {
    const media = block.type === 'media' && block.content && typeof block.content === 'object' ? block.content as Media : null;
    if (!media?.blob) continue;
    files.set(media.blob, media);
    if (media.name) files.set(media.name, media);
  }
  return files;
}

function pdfOf(entry: Entry, files: Map<string, Media>, blobs: string): PdfSource | null {
  const name = text(entry.source_name, entry.title, entry.document_title, entry.file_name, entry.filename, entry.source_id);
  const url = text(entry.url, entry.uri);
  const media = [entry.source_id, entry.source_name, entry.title, entry.document_title, entry.file_name, entry.filename].map((key) => (typeof key === 'string' ? files.get(key) : undefined)).find(Boolean);
  const place = placeOf(entry);
  if (media && (isPdf(media.mime, media.name) || entry.source_type === 'pdf_document')) return { name: media.name ?? name, url: `${blobs}/${encodeURIComponent(media.blob!)}`, place };
  const isLink = URL.canParse(url) && (entry.source_type === 'pdf_document' || isPdf(null, new URL(url).pathname));
  return isLink && safeHref(url) ? { name, url, place } : null;
}

export function sourcesOf(turns: Turn[], blobs = '/api/blobs'): Source[] {
  const out: Source[] = [];
  const files = filesOf(turns);
  for (const turn of turns) {
    const map = turn.metadata?.citation_map;
    if (!map || typeof map !== 'object') continue;
    for (const [id, entry] of Object.entries(map as Record<string, Entry>)) {
      if (!entry || typeof entry !== 'object') continue;
      const url = text(entry.url, entry.uri);
      out.push({
        key: `${turn.turn_id} ${id}`, n: out.length + 1, turn: turn.turn_id, href: url ? safeHref(url) : null,
        title: shownName(text(entry.source_name, entry.title, entry.document_title, entry.file_name, entry.filename, entry.source_id, url, id)),
        quote: placeOf(entry).snippet ?? text(entry.text), pdf: pdfOf(entry, files, blobs),
      });
    }
  }
  return out;
}
