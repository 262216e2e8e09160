// @NAME@: a tool for Parley. `parley ext add` and `parley ext test` bundle it with esbuild.
import { Extension, type Call } from './parley_ext.mjs';

const ext = new Extension();
const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

ext.tool('@TOOL@', 'Counts the words of a text.', parameters, (call: Call, input) =>
  `${(input.text as string).split(/\s+/).filter(Boolean).length} words`);

ext.run();
