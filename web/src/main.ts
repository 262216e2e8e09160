import '$/styles/tokens.css';
import '$/styles/base.css';
import '$/styles/parts.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { loadWords } from '$/state/words.svelte';
import { prefs } from '$/state/prefs.svelte';

await loadWords(prefs.lang);
mount(App, { target: document.getElementById('app')! });
