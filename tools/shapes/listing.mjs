// Prints a vendor's types as text, one line per member with all its alternatives and words. The listing is committed,
// so that a new version of a client shows as a readable difference.
//
//   ChatCompletionToolMessageParam
//     content: string | ChatCompletionContentPartText[]
//     role: "tool"
//
// A type without a name is named after the member that has it.
export function* listVendors(roots) {
  for (const vendor of new Set(roots.map((root) => root.vendor)))
    yield [vendor, listTypes(roots.filter((root) => root.vendor === vendor))];
}

function listTypes(roots) {
  const names = new Map(); // of shapes
  const taken = new Set();
  const lines = [];
  const queue = [];
  const nameOf = (shape, where) => {
    if (!names.has(shape)) {
      let name = shape.name || where;
      for (let n = 2; taken.has(name); n++) name = `${shape.name || where} (${n})`;
      taken.add(name);
      names.set(shape, name);
      queue.push(shape);
    }
    return names.get(shape);
  };
  const say = (shape, where) => {
    switch (shape.kind) {
      case 'object': return shape.members.length || !shape.rest ? nameOf(shape, where) : `{${say(shape.rest, `${where}{}`)}}`;
      case 'list': return shape.of.kind === 'union' ? `(${say(shape.of, where)})[]` : `${say(shape.of, where)}[]`;
      case 'union': return shape.alternatives.map((it) => say(it, where)).join(' | ');
      case 'word': return JSON.stringify(shape.value);
      default: return shape.kind;
    }
  };
  const describe = (shape) => {
    const name = names.get(shape);
    lines.push('', name);
    for (const member of shape.members)
      lines.push(`  ${member.name}${member.isOptional ? '?' : ''}: ${say(member.shape, `${name}.${member.name}`)}`);
    if (shape.rest) lines.push(`  {}: ${say(shape.rest, `${name}{}`)}`);
  };
  for (const root of roots)
    lines.push(`${root.format} ${root.kind}: ${say(root.shape, root.type)}`);
  while (queue.length) describe(queue.shift());
  return `${lines.join('\n')}\n`;
}
