/** Copies text. Over plain http from another machine there is no clipboard API; a hidden field is used instead. */
import { shownName } from '$/lib/names';
import { frame } from './frame.svelte';
import { t } from './words.svelte';

function byField(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'vh';
  document.body.append(field);
  field.select();
  const did = document.execCommand('copy');
  field.remove();
  return did;
}

export async function copyText(text: string, said?: string): Promise<boolean> {
  let did = false;
  const back = document.activeElement as HTMLElement | null;
  try {
    await navigator.clipboard.writeText(text);
    did = true;
  } catch {
    did = byField(text);
    back?.focus?.();
  }
  const words = did ? (said ?? t('a.copied')) : t('a.copyfailed');
  frame.toast(words, did ? {} : { kind: 'bad' });
  frame.say(words);
  return did;
}

export function download(name: string, data: BlobPart, type = 'application/json'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = shownName(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
