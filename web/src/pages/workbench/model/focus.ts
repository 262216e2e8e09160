/** Fields of blocks, found by their keys. */
import { tick } from 'svelte';
import { SYSTEM, type Doc } from './prompt';

/** The editor of a long text, as far as it is used like a textarea. */
export interface LongField {
  readonly value: string;
  focus(): void;
  scrollIntoView(how?: ScrollIntoViewOptions): void;
  readonly selectionStart: number;
  readonly selectionEnd: number;
  setSelectionRange(from: number, to: number): void;
  replace(from: number, to: number, text: string): void;
}

/** Long fields by the element they stand in. */
export const longFields = new WeakMap<Element, LongField>();

export function fieldOf(key: string): HTMLTextAreaElement | LongField | null {
  const block = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const long = block?.querySelector('.longfield');
  return (long && longFields.get(long)) ?? block?.querySelector('textarea') ?? null;
}

export async function focusBlock(key: string, where: 'start' | 'end' | null = null): Promise<void> {
  await tick();
  const field = fieldOf(key);
  if (!field) return;
  field.focus();
  field.scrollIntoView({ block: 'nearest' });
  if (where) {
    const at = where === 'end' ? field.value.length : 0;
    field.setSelectionRange(at, at);
  }
}

/** The block before or behind, of all with the system text on top. */
export function neighbour(doc: Doc, key: string, by: number): string {
  const keys = [SYSTEM, ...doc.blocks.map((block) => block.key)];
  const at = Math.max(0, keys.indexOf(key));
  return keys[Math.min(keys.length - 1, Math.max(0, at + by))]!;
}

/** Typed for the person, so that the browser can take it back: Ctrl Z works. */
export function typeInto(field: HTMLTextAreaElement | LongField, from: number, to: number, text: string): void {
  field.focus();
  if ('replace' in field) {
    field.replace(from, to, text);
    return;
  }
  field.setSelectionRange(from, to);
  if (!document.execCommand('insertText', false, text)) {
    field.setRangeText(text, from, to, 'end');
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }
}
