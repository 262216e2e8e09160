/** Actions of a transcript besides showing itself; an action that is missing has no button. */
import type { ContentBlock } from '@parley/client';

export interface Acts {
  fork?: (turnId: string) => void;
  retry?: (turnId: string) => void;
  memories?: (ids: unknown[]) => void;
  archived?: (turnId: string) => void;
  preview?: (block: ContentBlock) => void;
  cite?: (turnId: string, id: string) => { n: number; title: string; go: () => void } | null;
  /** The outcome of a page action: true if this page carried it out, false if it does not know it. */
  bridge?: (block: ContentBlock) => boolean;
  base?: string;
  /** The path from which the blobs of this transcript are read, if not the user's own. */
  blobs?: string;
}
