// @NAME@: a tool for Parley.
import { Extension } from './parley_ext.mjs';

const ext = new Extension();
const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

ext.tool('@TOOL@', 'Counts the words of a text.', parameters, (call, input) =>
  `${input.text.split(/\s+/).filter(Boolean).length} words`);

ext.run();
