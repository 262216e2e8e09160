/**
 * `<parley-session server="https://…" session="sess_…" composer>`: a live transcript in another site's page. The key is a
 * property, never an attribute. Page actions of tools are events: a host that carries one out calls preventDefault().
 */
import { mount, unmount } from 'svelte';
import { server } from '$/state/server.svelte';
import { prefs, type Lang } from '$/state/prefs.svelte';
import { loadWords, withWords } from '$/state/words.svelte';
import { sheet } from './styles';
import View from './View.svelte';

let shared: CSSStyleSheet | null = null;

export class ParleySession extends HTMLElement {
  static observedAttributes = ['server', 'session', 'share', 'lang', 'theme', 'composer'];
  #key = '';
  #view: Record<string, unknown> | null = null;
  #scheduled = false;

  get key(): string { return this.#key; }
  set key(value: string) {
    this.#key = value;
    this.#later();
  }

  connectedCallback(): void { this.#later(); }
  attributeChangedCallback(): void { this.#later(); }
  disconnectedCallback(): void {
    if (this.#view) void unmount(this.#view);
    this.#view = null;
  }

  /** Attributes arrive one by one; they are drawn together, once. */
  #later(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      void this.#draw();
    });
  }

  async #draw(): Promise<void> {
    const share = this.getAttribute('share') ?? '';
    const session = this.getAttribute('session') ?? '';
    if (!this.isConnected || (!share && (!session || (!this.#key && !this.#isHere)))) return;
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    shared ??= sheet();
    root.adoptedStyleSheets = [shared];
    this.dataset.theme = this.getAttribute('theme') ?? 'auto';
    await loadWords((this.getAttribute('lang') || prefs.lang).startsWith('zh') ? 'zh-CN' as Lang : 'en');
    await withWords('sessions', Promise.resolve());
    if (!this.#isHere || this.#key) server.connect(this.getAttribute('server') ?? location.origin, this.#key);
    if (!share) {
      /* with a key too: actions that it does not allow are not offered */
      await server.refresh();
      void server.loadModels();
    }
    if (this.#view) void unmount(this.#view);
    root.replaceChildren();
    this.#view = mount(View, { target: root, props: {
      session, share, composer: this.hasAttribute('composer'),
      emit: (name: string, detail: unknown) => !this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: true })),
    } });
  }

  get #isHere(): boolean {
    const at = this.getAttribute('server');
    return !at || new URL(at, location.href).origin === location.origin;
  }
}

if (!customElements.get('parley-session')) customElements.define('parley-session', ParleySession);
