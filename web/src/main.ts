import '$/styles/tokens.css';
import '$/styles/base.css';
import '$/styles/parts.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { loadWords } from '$/state/words.svelte';
import { prefs } from '$/state/prefs.svelte';

/** Loads the icons from the file that the document names; without them the page still has its text. */
async function loadDrawings(): Promise<void> {
  const href = document.querySelector<HTMLLinkElement>('#drawings')?.href;
  if (!href) return;
  try {
    document.body.prepend(new DOMParser().parseFromString(await (await fetch(href)).text(), 'image/svg+xml').documentElement);
  } catch { /* no connection */ }
}

/** Without words a page shows no text, so this retries until they arrive. Leaving the page ends it. */
async function awaitWords(): Promise<void> {
  for (let pause = 250; ; pause = Math.min(2 * pause, 4000)) {
    try {
      return await loadWords(prefs.lang);
    } catch {
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }
}

await Promise.all([awaitWords(), loadDrawings()]);
mount(App, { target: document.getElementById('app')! });
