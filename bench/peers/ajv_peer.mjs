// ajv: compiles the schema to JavaScript once, and validates an object from JSON.parse.
// Formats are only annotations, as in our figures.
import Ajv2020 from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { measure, print, request } from './measure.mjs';

const asked = request();
const schema = JSON.parse(readFileSync(asked.schema, 'utf8'));
const text = asked.bytes.toString('utf8');
const instance = JSON.parse(text);
const validate = new Ajv2020.default({ strict: false, validateFormats: false }).compile(schema);
let valid = false;
const figures = {
  'schema.check': () => { valid = validate(instance); },
  'schema.parse_check': () => { valid = validate(JSON.parse(text)); },
};
if (!figures[asked.name]) throw new Error(`there is no figure named ${asked.name}`);
const result = measure(asked.seconds, figures[asked.name]);
print(asked, 'ajv', result, { valid });
