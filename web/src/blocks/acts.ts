/** What a transcript can do beyond showing itself; where one is missing, its button is. */
import type { ContentBlock } from '@parley/client';

export interface Acts {
  fork?: (turnId: string) => void;
  retry?: (turnId: string) => void;
  memories?: (ids: unknown[]) => void;
  archived?: (turnId: string) => void;
  preview?: (block: ContentBlock) => void;
  cite?: (turnId: string, id: string) => { n: number; title: string; go: () => void } | null;
  /** What became of a page action: carried out by this page, or not known here. */
  bridge?: (block: ContentBlock) => boolean;
  base?: string;
  /** Where the blobs of this transcript are read, when not as one's own. */
  blobs?: string;
}
