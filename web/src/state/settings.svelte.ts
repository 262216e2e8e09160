/**
 * Decides where a person's preferences are kept, for the whole page: on the server, so that all of the person's browsers have
 * them; in this browser too, so that the first paint has them; only in this browser, if the server or the key cannot keep them.
 * Preferences of a screen (widths, folding, the last place) never leave the browser.
 */
import { untrack } from 'svelte';
import { ProblemError } from '@parley/client';
import { frame } from './frame.svelte';
import { keep, prefs, type Prefs } from './prefs.svelte';
import { problemOf, server } from './server.svelte';
import { setLang } from './words.svelte';

/** The valid values of each. Other members in the answer belong to other programs and stay unchanged on the server. */
const may = {
  lang: ['en', 'zh-CN'], theme: ['auto', 'light', 'dark'], density: ['comfortable', 'compact'],
  sendKey: ['enter', 'ctrl-enter'], singleKeys: [true, false], model: null,
} as const;
type Name = keyof typeof may;
/** Their names on the server. */
const there: Record<Name, string> = { lang: 'language', theme: 'theme', density: 'density', sendKey: 'send_key', singleKeys: 'single_keys', model: 'model' };
type Choices = Pick<Prefs, Name>;
const names = Object.keys(may) as Name[];

const isFit = (name: Name, value: unknown): boolean =>
  (may[name] === null ? typeof value === 'string' && value.length < 200 : (may[name] as readonly unknown[]).includes(value));
const now = (): Choices => Object.fromEntries(names.map((name) => [name, prefs[name]])) as Choices;

let revision = 0;
let stored: Record<string, unknown> = {};
/** The last values known to be equal here and on the server. Stored, so that the next visit sends a choice made just before leaving. */
let agreed: Choices = now();
function agree(to: Choices): void {
  agreed = to;
  keep.set('settings.agreed', to);
}
let isKeptThere = false;
let timer: ReturnType<typeof setTimeout> | undefined;

const changed = (): Name[] => names.filter((name) => prefs[name] !== agreed[name]);

async function take(name: Name, value: unknown): Promise<void> {
  if (name === 'lang') await setLang(value as Prefs['lang']);
  else Object.assign(prefs, { [name]: value });
}

async function read(): Promise<void> {
  try {
    const answer = await server.get<{ revision: number; settings: Record<string, unknown> }>('/api/settings');
    isKeptThere = server.scope === 'all';
    ({ revision, settings: stored } = answer);
  } catch (error) {
    /* an older server, or a key without access to them: this browser keeps them */
    isKeptThere = false;
    if (!(error instanceof ProblemError)) throw error;
    return;
  }
  const mine = changed();
  for (const name of names) {
    const value = stored[there[name]];
    if (!mine.includes(name) && isFit(name, value) && prefs[name] !== value) await take(name, value);
  }
  agree({ ...now(), ...Object.fromEntries(mine.map((name) => [name, agreed[name]])) });
  if (changed().length) later();
}

/** Merges the local changes into the settings stored on the server; if another client was faster, reads its settings first. */
async function write(isAgain = false): Promise<void> {
  const mine = changed();
  if (!isKeptThere || !mine.length) return;
  const chosen = Object.fromEntries(mine.map((name) => [name, prefs[name]])) as Partial<Choices>;
  const made = { ...stored, ...Object.fromEntries(mine.map((name) => [there[name], chosen[name]])) };
  try {
    const answer = await server.json<{ revision: number; settings: Record<string, unknown> }>('PUT', '/api/settings', { settings: made }, { 'if-match': `"${revision}"` });
    ({ revision, settings: stored } = answer);
    agree({ ...agreed, ...chosen });
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 412 && !isAgain) {
      await read();
      return write(true);
    }
    /* a read-only key: the choice lasts in this browser */
    if (problem.status === 403) isKeptThere = false;
    else frame.toast(problem.detail ?? problem.title, { kind: 'bad' });
  }
}

function later(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void write(), 250);
}

let isFollowing = false;
/** Called by the frame with the preferences at the page's start; only the first call counts. */
export function followSettings(began: Prefs): void {
  if (isFollowing) return;
  isFollowing = true;
  agree(keep.get<Choices | null>('settings.agreed', null) ?? Object.fromEntries(names.map((name) => [name, began[name]])) as Choices);
  $effect.root(follow);
}

function follow(): void {
  $effect(() => {
    if (server.signedIn !== true) return;
    untrack(() => void read().catch(() => undefined));
    return server.on(['settings:updated', 'reconnected'], () => void read().catch(() => undefined));
  });
  $effect(() => {
    now();
    if (untrack(() => isKeptThere && changed().length)) later();
  });
}
