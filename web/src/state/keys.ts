/** Keyboard shortcuts. One helper detects IME composition, one table holds the shortcuts of the page. */
import { prefs } from './prefs.svelte';
import { server } from './server.svelte';

/** Whether an IME (Chinese, Japanese, Korean) uses the key: such a key must do nothing else. */
export const isComposing = (e: KeyboardEvent): boolean => e.isComposing || e.keyCode === 229;

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
export const isField = (target: EventTarget | null): boolean => {
  const element = target instanceof Element ? (target.shadowRoot?.activeElement ?? target) : null;
  return !!element?.closest('input:not([type=checkbox],[type=radio],[type=button]), textarea, select, [contenteditable=""], [contenteditable=true], [role=combobox]');
};

/** "Ctrl Enter" as written on a keycap of this platform. */
export const cap = (keys: string): string => keys
  .replace(/\bCtrl\b/, isMac ? '⌘' : 'Ctrl').replace(/\bAlt\b/, isMac ? '⌥' : 'Alt')
  .replace(/\bEnter\b/, '↵').replace(/\bEscape\b/, 'Esc').replace(/\bShift\b/, isMac ? '⇧' : 'Shift');

/** The name of the pressed keys: "Ctrl Shift Enter", "g", "?", "Alt ArrowUp". */
export function keyName(e: KeyboardEvent): string {
  const mod = isMac ? e.metaKey : e.ctrlKey;
  const name = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  const shift = e.shiftKey && (e.key.length > 1 || /[a-z]/i.test(e.key));
  return [mod && 'Ctrl', e.altKey && 'Alt', shift && 'Shift', name].filter(Boolean).join(' ');
}

export interface Shortcut {
  keys: string;
  /** Its description, as a key of the words. */
  says: string;
  run: (e: KeyboardEvent) => void | false;
  /** Works inside fields too. Keys with Ctrl always do. */
  inFields?: boolean;
  /** It changes something: absent for a read-only sign-in. */
  writes?: boolean;
}

const layers: Shortcut[][] = [];

/** Adds shortcuts while a component is mounted: `$effect(() => shortcuts([...]))`. Later ones take precedence. */
export function shortcuts(list: Shortcut[]): () => void {
  layers.push(list);
  return () => {
    const at = layers.indexOf(list);
    if (at >= 0) layers.splice(at, 1);
  };
}

const has = (shortcut: Shortcut): boolean => !shortcut.writes || server.mayWrite;

export const allShortcuts = (): Shortcut[] => layers.flat().filter(has);

let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

/** The only listener for keys outside of fields. */
export function onKey(e: KeyboardEvent): void {
  if (isComposing(e) || e.defaultPrevented) return;
  const name = keyName(e);
  const inField = isField(e.target);
  const isSingle = !/^(Ctrl|Alt) /.test(name) && name !== 'Escape';
  if (isSingle && (inField || !prefs.singleKeys || document.querySelector('dialog[open]'))) {
    prefix = '';
    return;
  }
  const wanted = prefix && isSingle ? `${prefix} ${name}` : name;
  for (const list of [...layers].reverse()) {
    for (const shortcut of list) {
      if (shortcut.keys !== wanted || !has(shortcut) || (inField && isSingle && !shortcut.inFields)) continue;
      if (shortcut.run(e) === false) continue;
      e.preventDefault();
      prefix = '';
      return;
    }
  }
  const begins = layers.some((list) => list.some((s) => has(s) && s.keys.startsWith(`${name} `) && !/^(Ctrl|Alt|Shift)$/.test(name)));
  prefix = isSingle && begins ? name : '';
  clearTimeout(prefixTimer);
  prefixTimer = setTimeout(() => { prefix = ''; }, 1500);
}
