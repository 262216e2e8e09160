/** Fields of blocks, found by their keys. */
import { tick } from 'svelte';
import { SYSTEM, type Doc } from './prompt';

/** The part of a textarea's interface that the editor of a long text has too. */
export interface LongField {
  readonly value: string;
  focus(): void;
  scrollIntoView(how?: ScrollIntoViewOptions): void;
  readonly selectionStart: number;
  readonly selectionEnd: number;
  setSelectionRange(from: number, to: number): void;
  replace(from: number, to: number, text: string): void;
}

/** Long fields by their elements. */
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

/** The key of the previous or next block; the system text counts as the first. */
export function neighbour(doc: Doc, key: string, by: number): string {
  const keys = [SYSTEM, ...doc.blocks.map((block) => block.key)];
  const at = Math.max(0, keys.indexOf(key));
  return keys[Math.min(keys.length - 1, Math.max(0, at + by))]!;
}

/** Types text on behalf of the person, so that the browser's undo (Ctrl Z) works. */
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
