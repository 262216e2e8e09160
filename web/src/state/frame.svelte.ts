/** The frame's state for the current page: its list, announcements, toasts, open sheets. */
import type { Snippet } from 'svelte';

export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
  kind?: 'bad';
}

const phone = matchMedia('(max-width: 760px)');
const narrow = matchMedia('(max-width: 1100px)');

class Frame {
  isPhone = $state(phone.matches);
  isNarrow = $state(narrow.matches);
  /** The list under the pages in the side bar, set by the page. */
  list: Snippet | undefined = $state.raw(undefined);
  /** The page that set it; not drawn. */
  listOwner: object | null = null;
  /** The text of one polite live region for screen readers. */
  said = $state('');
  toasts: Toast[] = $state([]);
  isPaletteOpen = $state(false);
  isKeySheetOpen = $state(false);
  isMoreOpen = $state(false);
  /** Counts on the pages of the side bar. */
  badges: Partial<Record<string, number>> = $state({});
  #next = 1;

  constructor() {
    phone.addEventListener('change', () => { this.isPhone = phone.matches; });
    narrow.addEventListener('change', () => { this.isNarrow = narrow.matches; });
  }

  say(text: string): void {
    this.said = this.said === text ? `${text}\u00a0` : text;
  }

  /** Returns a function that removes the toast. A toast with an action stays 8 seconds, else 4. */
  toast(text: string, options: Omit<Toast, 'id' | 'text'> & { ms?: number; ended?: () => void } = {}): () => void {
    const id = this.#next++;
    const { ms = options.action ? 8000 : 4000, ended, ...rest } = options;
    const close = (): void => { this.toasts = this.toasts.filter((toast) => toast.id !== id); };
    this.toasts.push({ id, text, ...rest });
    const timer = setTimeout(() => {
      close();
      ended?.();
    }, ms);
    return () => {
      clearTimeout(timer);
      close();
    };
  }

  /** A deletion can be undone for 8 seconds; only then the request is sent. */
  undoable(text: string, undoLabel: string, send: () => void, undo: () => void): void {
    let isUndone = false;
    const close = this.toast(text, {
      action: { label: undoLabel, run: () => { isUndone = true; close(); undo(); } },
      ended: () => { if (!isUndone) send(); },
    });
  }
}

export const frame = new Frame();
