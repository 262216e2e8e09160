// Applies the person's theme, density and language before the first paint, so that nothing flashes.
try {
  const kept = JSON.parse(localStorage.getItem('parley.prefs') || '{}');
  const root = document.documentElement;
  if (kept.theme) root.dataset.theme = kept.theme;
  if (kept.density) root.dataset.density = kept.density;
  if (kept.lang) root.lang = kept.lang;
} catch { /* private windows without storage show the defaults */ }
