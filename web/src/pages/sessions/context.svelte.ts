/** The contents of a session's context window, read again when a turn is added or the status changes. */
import type { SessionStore } from '$/blocks/session.svelte';
import { server } from '$/state/server.svelte';
import type { Schemas } from '@parley/client';

export type Context = Schemas['ContextView'];

export class ContextMeter {
  value = $state.raw<Context | null>(null);
  #store: SessionStore;
  constructor(store: SessionStore) { this.#store = store; }

  get size(): number {
    return this.value?.context_window || this.#store.boxes.at(-1)?.plain.context_window
      || server.models.find((m) => m.name === this.#store.session?.model)?.context_window || 0;
  }

  /** Call in a component: follows the session. */
  follow(): void {
    $effect(() => {
      void this.#store.session?.status;
      void this.#store.boxes.length;
      const timer = setTimeout(() => void this.#read(), 250);
      return () => clearTimeout(timer);
    });
  }

  async #read(): Promise<void> {
    try {
      this.value = await server.get<Context>(`/api/sessions/${this.#store.id}/context`);
    } catch { /* the last value stays */ }
  }
}
