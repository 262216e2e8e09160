// The token figures of a peer. The input is already a string, so decoding UTF-8 is not included. The
// vocabulary is loaded before the clock starts, as ours is.
import { measure, print, request } from './measure.mjs';

export function run(impl, { count, encode }) {
  const asked = request();
  const text = asked.bytes.toString('utf8');
  let n = 0;
  const figures = {
    'tokens.count': () => { n = count(text); },
    'tokens.encode': () => { n = encode(text).length; },
  };
  if (!figures[asked.name]) throw new Error(`there is no figure named ${asked.name}`);
  print(asked, impl, measure(asked.seconds, figures[asked.name]), { tokens: n });
}
