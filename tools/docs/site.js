// The theme, the menu, the search and the language switch of the documents. The theme is set before the first paint.
'use strict';
(() => {
  const root = document.documentElement;
  const kept = () => { try { return localStorage.getItem('parley-docs-theme'); } catch { return null; } };
  if (['light', 'dark'].includes(kept())) root.dataset.theme = kept();

  function turnTheme() {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    try { localStorage.setItem('parley-docs-theme', root.dataset.theme); } catch { /* not kept */ }
  }

  // The index is loaded at the first search: that of the language, and the English one for pages without a translation.
  let index = null, loading = null;
  const loadFile = (name) => new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = root.dataset.up + name;
    script.onload = resolve;
    document.head.append(script);
  });
  const load = () => loading ??= Promise.all(root.dataset.search.split(' ').map(loadFile)).then(() => {
    const folder = root.lang === 'en' ? '' : `${root.lang}/`, pageOf = ([place]) => place.split('#')[0];
    const own = new Set(globalThis.parleyIndex.map(pageOf).filter((page) => page.startsWith(folder)));
    index = globalThis.parleyIndex.filter((row) => own.has(pageOf(row)) || !own.has(folder + pageOf(row))).map(([place, title, heading, text]) => ({
      place, title, heading, text, low: `${title}\n${heading}\n${text}`.toLowerCase(),
    }));
  });

  // Chinese does not separate words with spaces.
  const HAN = /\p{Script=Han}/u;
  const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter('zh', { granularity: 'word' });
  function wordsOf(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return words.flatMap((word) => segmenter && HAN.test(word) ? [...segmenter.segment(word)].filter((part) => part.isWordLike).map((part) => part.segment) : [word]);
  }

  // Every word must match; a match in a heading counts most.
  function find(query) {
    const words = wordsOf(query);
    if (!words.length) return [];
    return index.filter(({ low }) => words.every((word) => low.includes(word)))
      .map((row) => {
        const heading = row.heading.toLowerCase(), title = row.title.toLowerCase();
        const score = words.reduce((sum, word) => sum + (heading === word ? 12 : heading.includes(word) ? 6 : 0)
          + (title.includes(word) ? 3 : 0) + (row.text.toLowerCase().includes(word) ? 1 : 0), row.place.includes('changelog') ? -4 : 0);
        return { row, score };
      }).sort((a, b) => b.score - a.score).slice(0, 12).map(({ row }) => row);
  }

  function around(text, query) {
    const at = Math.max(0, text.toLowerCase().indexOf(wordsOf(query)[0]) - 40);
    return `${at ? '…' : ''}${text.slice(at, at + 130)}${text.length > at + 130 ? '…' : ''}`;
  }

  function start() {
    const input = document.getElementById('docs-search'), list = document.getElementById('docs-found');
    const menu = document.getElementById('docs-menu'), pages = document.getElementById('docs-pages');
    let chosen = -1;

    const show = (isShown) => {
      list.hidden = !isShown;
      input.setAttribute('aria-expanded', String(isShown));
      if (!isShown) input.removeAttribute('aria-activedescendant');
    };
    const choose = (n) => {
      const links = [...list.querySelectorAll('a')];
      if (!links.length) return;
      chosen = (n + links.length) % links.length;
      links.forEach((link, i) => link.setAttribute('aria-selected', String(i === chosen)));
      links[chosen].scrollIntoView({ block: 'nearest' });
      input.setAttribute('aria-activedescendant', links[chosen].id);
    };
    const search = async () => {
      await load();
      const query = input.value.trim(), rows = find(query);
      list.replaceChildren(...rows.map((row, i) => {
        const item = document.createElement('li'), link = document.createElement('a');
        const name = document.createElement('strong'), text = document.createElement('span');
        item.setAttribute('role', 'presentation');
        link.id = `docs-found-${i}`;
        link.setAttribute('role', 'option');
        link.href = root.dataset.up + row.place;
        name.textContent = row.heading && row.heading !== row.title ? `${row.title} › ${row.heading}` : row.title;
        text.textContent = around(row.text, query);
        link.append(name, text);
        item.append(link);
        return item;
      }));
      if (query && !rows.length) {
        const item = document.createElement('li');
        item.setAttribute('role', 'option');
        item.textContent = list.dataset.none;
        list.append(item);
      }
      chosen = -1;
      show(Boolean(query));
      if (rows.length) choose(0);
    };

    input.addEventListener('focus', load, { once: true });
    input.addEventListener('input', search);
    input.addEventListener('keydown', (event) => {
      if (event.isComposing) return; // the keys belong to the input method
      if (event.key === 'Escape') show(false);
      else if (event.key === 'ArrowDown') choose(chosen + 1);
      else if (event.key === 'ArrowUp') choose(chosen - 1);
      else if (event.key === 'Enter') list.querySelectorAll('a')[chosen]?.click();
      else return;
      event.preventDefault();
    });
    list.addEventListener('click', () => show(false));
    document.addEventListener('click', (event) => { if (!event.target.closest('.search')) show(false); });
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target.closest('input')) return;
      event.preventDefault();
      input.focus();
    });
    document.querySelector('.language')?.addEventListener('click', (event) => {
      const headings = [...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)')];
      const at = headings.findIndex(({ id }) => id === decodeURIComponent(location.hash.slice(1)));
      const anchor = event.currentTarget.dataset.anchors?.split(' ')[at];
      if (anchor) event.currentTarget.hash = anchor;
    });
    document.getElementById('docs-theme').addEventListener('click', turnTheme);
    menu.addEventListener('click', () => menu.setAttribute('aria-expanded', String(pages.classList.toggle('open'))));
    pages.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
