// Node's own JSON. The input is already a string, so the figure does not include decoding UTF-8.
import { measure, print, request } from './measure.mjs';

const asked = request();
const text = asked.bytes.toString('utf8');
let kept;
const figures = {
  'json.parse': () => { kept = JSON.parse(text); },
  'json.roundtrip': () => { kept = JSON.stringify(JSON.parse(text)); },
};
if (!figures[asked.name]) throw new Error(`there is no figure named ${asked.name}`);
print(asked, 'node', measure(asked.seconds, figures[asked.name]));
if (kept === undefined) process.exit(1);
