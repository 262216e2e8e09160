import '$/styles/tokens.css';
import '$/styles/base.css';
import '$/styles/parts.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { loadWords } from '$/state/words.svelte';
import { prefs } from '$/state/prefs.svelte';

/** The icons, of a file of this program that the document names; without them the page has its words. */
async function loadDrawings(): Promise<void> {
  const href = document.querySelector<HTMLLinkElement>('#drawings')?.href;
  if (!href) return;
  try {
    document.body.prepend(new DOMParser().parseFromString(await (await fetch(href)).text(), 'image/svg+xml').documentElement);
  } catch { /* no connection */ }
}

/** Without words a page says nothing, so they are asked for until they come. Who leaves the page ends that too. */
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
