/** The current place: the address bar, parsed into a page, an id and a query. Back works because no other state exists. */
export const pageNames = ['first', 'workbench', 'sessions', 'session', 'viewer', 'runs', 'memory', 'tasks', 'extensions',
  'settings', 'audit', 'share'] as const;
export type PageName = typeof pageNames[number];

export interface Route { page: PageName; id: string; path: string; query: URLSearchParams; hash: string }

/** The first segment of the path gives the page: without an id after it, and with one. */
const table: Record<string, [PageName, PageName]> = {
  '': ['first', 'first'],
  p: ['workbench', 'workbench'],
  s: ['sessions', 'session'],
  v: ['viewer', 'viewer'],
  r: ['runs', 'runs'],
  m: ['memory', 'memory'],
  t: ['tasks', 'tasks'],
  x: ['extensions', 'extensions'],
  settings: ['settings', 'settings'],
  audit: ['audit', 'audit'],
  share: ['share', 'share'],
};

export function parse(url: URL): Route {
  const [first = '', id = ''] = url.pathname.split('/').slice(1);
  const pages = table[first] ?? table['']!;
  return { page: id ? pages[1] : pages[0], id: safeDecode(id), path: url.pathname, query: url.searchParams, hash: url.hash.slice(1) };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let current: Route = $state.raw(parse(new URL(location.href)));
/* Derived, so that a change of the query does not notify readers of the page or the id. */
const page = $derived(current.page);
const id = $derived(current.id);

export const route = {
  get page(): PageName { return page; },
  get id(): string { return id; },
  get path(): string { return current.path; },
  get query(): URLSearchParams { return current.query; },
  get hash(): string { return current.hash; },
  get href(): string { return current.path + (current.query.size ? `?${current.query}` : '') + (current.hash ? `#${current.hash}` : ''); },
};

const read = (): void => { current = parse(new URL(location.href)); };
addEventListener('popstate', read);
addEventListener('hashchange', read);

export function go(href: string, options: { replace?: boolean } = {}): void {
  const url = new URL(href, location.href);
  if (url.origin !== location.origin) return;
  history[options.replace ? 'replaceState' : 'pushState'](null, '', url);
  read();
}

/** Changes single members of the query; null removes one. Replaces the history entry by default: typing adds none. */
export function setQuery(change: Record<string, string | null>, options: { push?: boolean } = {}): void {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  go(current.path + (query.size ? `?${query}` : '') + (current.hash ? `#${current.hash}` : ''), { replace: !options.push });
}

/** Links of the page are plain `<a href>`; this handles clicks on links that stay in the page. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.composedPath()[0] as Element | null)?.closest?.('a');
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (/^\/(api|cards|v1)\b|^\/openapi/.test(link.pathname)) return;
  event.preventDefault();
  if (link.href !== location.href) go(link.href);
}
