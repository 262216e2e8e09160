/** The person's prompts, kept live: read once, then updated by server events. */
import { server } from '$/state/server.svelte';
import type { Prompt } from './types';

class Library {
  prompts: Prompt[] = $state.raw([]);
  isLoaded = $state(false);
  #wanted = 0;

  async load(): Promise<void> {
    const mine = ++this.#wanted;
    const all: Prompt[] = [];
    let cursor: string | null = null;
    do {
      const query: string = new URLSearchParams({ limit: '100', ...(cursor ? { cursor } : {}) }).toString();
      const page: { items: Prompt[]; next_cursor?: string | null } = await server.get(`/api/prompts?${query}`);
      all.push(...page.items);
      cursor = page.next_cursor ?? null;
    } while (cursor && all.length < 2000);
    if (mine !== this.#wanted) return;
    this.prompts = all;
    this.isLoaded = true;
  }

  put(prompt: Prompt): void {
    this.prompts = [prompt, ...this.prompts.filter((one) => one.id !== prompt.id)];
  }

  drop(id: string): void {
    this.prompts = this.prompts.filter((one) => one.id !== id);
  }

  /** Pinned prompts first, then folders with their prompts, then the rest; each sorted by name. */
  get tree(): { pinned: Prompt[]; folders: { name: string; prompts: Prompt[] }[]; loose: Prompt[] } {
    const sorted = [...this.prompts].sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
    const folders = new Map<string, Prompt[]>();
    for (const one of sorted) {
      if (one.is_pinned || !one.folder) continue;
      folders.set(one.folder, [...(folders.get(one.folder) ?? []), one]);
    }
    return {
      pinned: sorted.filter((one) => one.is_pinned),
      folders: [...folders].map(([name, prompts]) => ({ name, prompts })).sort((a, b) => a.name.localeCompare(b.name)),
      loose: sorted.filter((one) => !one.is_pinned && !one.folder),
    };
  }
}

export const library = new Library();
