/** A person's preferences: theme, density, language, keys, widths. This browser keeps them; `settings` decides which of them the server keeps too. */
import { untrack } from 'svelte';

export type Lang = 'en' | 'zh-CN';
export type Theme = 'auto' | 'light' | 'dark';

const fromBrowser = (): Lang => ((navigator.languages ?? [navigator.language]).some((l) => /^en\b/i.test(l)) &&
  !/^zh\b/i.test(navigator.language) ? 'en' : /^zh\b/i.test(navigator.language) ? 'zh-CN' : 'en');

const defaults = {
  lang: fromBrowser(),
  theme: 'auto' as Theme,
  density: 'comfortable' as 'comfortable' | 'compact',
  /** The effect of Enter in the composer. */
  sendKey: 'enter' as 'enter' | 'ctrl-enter',
  /** Enables keys without Ctrl outside of fields (WCAG 2.1.4 requires a way to turn them off). */
  singleKeys: true,
  sideFolded: null as boolean | null,
  panelOpen: true,
  panelWidth: 348,
  lastPlace: '',
  model: '',
};
export type Prefs = typeof defaults;

const storeKey = 'parley.prefs';

function kept(): Partial<Prefs> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storeKey) ?? '{}');
    return value && typeof value === 'object' ? value as Partial<Prefs> : {};
  } catch {
    return {};
  }
}

export const prefs: Prefs = $state({ ...defaults, ...kept() });

/** Applies the preferences to the root element and stores them; called once by the frame. */
export function keepPrefs(): void {
  $effect(() => {
    const root = document.documentElement;
    root.dataset.theme = prefs.theme;
    root.dataset.density = prefs.density;
    root.lang = prefs.lang;
    const text = JSON.stringify(prefs);
    untrack(() => {
      try {
        localStorage.setItem(storeKey, text);
      } catch { /* full or forbidden: the choice lasts until the page is closed */ }
    });
  });
}

/** Values stored beside the preferences, each under its own name: drafts of the composer, last values. */
export const keep = {
  get<T>(name: string, otherwise: T): T {
    try {
      const text = localStorage.getItem(`parley.${name}`);
      return text === null ? otherwise : JSON.parse(text) as T;
    } catch {
      return otherwise;
    }
  },
  /** false: this browser has no room for it. */
  set(name: string, value: unknown): boolean {
    try {
      if (value === null || value === undefined || value === '') localStorage.removeItem(`parley.${name}`);
      else localStorage.setItem(`parley.${name}`, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};
