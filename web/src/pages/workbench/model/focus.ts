/** Fields of blocks, found by their keys. */
import { tick } from 'svelte';
import { SYSTEM, type Doc } from './prompt';

export const fieldOf = (key: string): HTMLTextAreaElement | null =>
  document.querySelector(`[data-key="${CSS.escape(key)}"] textarea`);

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
export function typeInto(field: HTMLTextAreaElement, from: number, to: number, text: string): void {
  field.focus();
  field.setSelectionRange(from, to);
  if (!document.execCommand('insertText', false, text)) {
    field.setRangeText(text, from, to, 'end');
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }
}
