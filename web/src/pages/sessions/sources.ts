/** Citations of a transcript, numbered in order of their turns. */
import type { Turn } from '@parley/client';
import { safeHref } from '$/blocks/md/href';

export interface Source { key: string; n: number; turn: string; title: string; href: string | null; quote: string }

export function sourcesOf(turns: Turn[]): Source[] {
  const out: Source[] = [];
  for (const turn of turns) {
    const map = turn.metadata?.citation_map;
    if (!map || typeof map !== 'object') continue;
    for (const [id, entry] of Object.entries(map as Record<string, Record<string, unknown>>)) {
      if (!entry || typeof entry !== 'object') continue;
      const url = typeof entry.url === 'string' ? entry.url : typeof entry.uri === 'string' ? entry.uri : '';
      out.push({
        key: `${turn.turn_id} ${id}`, n: out.length + 1, turn: turn.turn_id, href: url ? safeHref(url) : null,
        title: String(entry.title ?? entry.document_title ?? entry.file_name ?? entry.filename ?? entry.source_id ?? (url || id)),
        quote: String(entry.snippet ?? entry.quote ?? entry.cited_text ?? entry.text ?? ''),
      });
    }
  }
  return out;
}
