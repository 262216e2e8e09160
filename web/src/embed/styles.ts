/** The page's styles for a shadow root: rules for the document's root apply to the element instead. */
import base from '$/styles/base.css?inline';
import kinds from '$/styles/kinds.css?inline';
import parts from '$/styles/parts.css?inline';
import session from '$/styles/session.css?inline';
import tokens from '$/styles/tokens.css?inline';

const own = `
:host { display: block; background: var(--canvas); color: var(--ink); font: var(--fw) var(--fs-13)/var(--lh-13) var(--font); container-type: inline-size; }
.embed { display: flex; flex-direction: column; height: 100%; min-height: 0; background: var(--surface); }
.embed > .body { flex: 1 1 0; }
`;

export function sheet(): CSSStyleSheet {
  const css = [tokens, base, parts, kinds, session].join('\n')
    .replace(/:root(\[[^\]]+\])/g, ':host($1)').replace(/:root/g, ':host').replace(/(^|[\s,}])(html|body)(?=\s*[{,])/g, '$1:host');
  const made = new CSSStyleSheet();
  made.replaceSync(css + own);
  return made;
}
