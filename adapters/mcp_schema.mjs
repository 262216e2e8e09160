// The part of JSON Schema that output schemas and forms use. The result says which part of a value does not fit, or is
// undefined. Other keywords are not checked; the host validates inputs with all of JSON Schema.
const typeOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
const isOf = (type, value) => (type === 'integer' ? Number.isInteger(value) : type === typeOf(value));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function limits(schema, value, at) {
  const sizes = typeof value === 'string' ? ['minLength', 'maxLength', [...value].length] : Array.isArray(value) ? ['minItems', 'maxItems', value.length] : ['minimum', 'maximum', value];
  const [low, high, n] = sizes;
  if (typeof n !== 'number') return undefined;
  if (schema[low] !== undefined && n < schema[low]) return `${at || '/'} is less than ${low} ${schema[low]}`;
  if (schema[high] !== undefined && n > schema[high]) return `${at || '/'} is more than ${high} ${schema[high]}`;
  if (typeof value === 'string' && schema.pattern && !new RegExp(schema.pattern, 'u').test(value)) return `${at || '/'} does not match ${schema.pattern}`;
  return undefined;
}

export function fits(schema, value, at = '', root = schema) {
  if (schema === true || schema === undefined) return undefined;
  if (schema === false) return `${at || '/'} may not be there`;
  if (schema.$ref?.startsWith('#/')) {
    const target = schema.$ref.slice(2).split('/').reduce((node, word) => node?.[word.replaceAll('~1', '/').replaceAll('~0', '~')], root);
    return fits(target, value, at, root);
  }
  if (schema.type && ![schema.type].flat().some((type) => isOf(type, value))) return `${at || '/'} is ${typeOf(value)}, not ${[schema.type].flat().join(' or ')}`;
  if (schema.const !== undefined && !same(schema.const, value)) return `${at || '/'} is not ${JSON.stringify(schema.const)}`;
  if (schema.enum && !schema.enum.some((one) => same(one, value))) return `${at || '/'} is none of ${JSON.stringify(schema.enum)}`;
  for (const [word, least, most] of [['anyOf', 1, Infinity], ['oneOf', 1, 1], ['allOf', schema.allOf?.length, Infinity]]) {
    if (!schema[word]) continue;
    const n = schema[word].filter((one) => !fits(one, value, at, root)).length;
    if (n < least || n > most) return `${at || '/'} does not fit ${word}`;
  }
  if (typeOf(value) === 'object') {
    const missing = (schema.required ?? []).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return `${at}/${missing} is missing`;
    for (const [name, one] of Object.entries(value)) {
      const known = schema.properties && Object.hasOwn(schema.properties, name);
      const wrong = fits(known ? schema.properties[name] : schema.additionalProperties, one, `${at}/${name}`, root);
      if (wrong) return wrong;
    }
  }
  if (Array.isArray(value)) {
    for (const [i, one] of value.entries()) {
      const wrong = fits(schema.prefixItems?.[i] ?? schema.items, one, `${at}/${i}`, root);
      if (wrong) return wrong;
    }
  }
  return limits(schema, value, at);
}
