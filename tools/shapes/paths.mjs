// Lists every member, alternative and word that can be reached from a shape, nearest first. A path is a list of
// steps: a member's name in an object, ITEM of a list, OTHER for any other member of an object that allows them, the
// number of an alternative.
export const ITEM = Symbol('item');
export const OTHER = Symbol('other');

// `reach` limits how often one type is entered; a type is never entered inside itself.
export function listPaths(root, reach) {
  const found = [{ kind: 'whole', shape: root, steps: [], label: '', without: null }];
  const entered = new Map();
  const queue = [{ shape: root, steps: [], label: '', around: [], without: null }];
  const enter = (from, shape, step, label, more = {}) => {
    const next = { ...from, shape, steps: [...from.steps, step], label: from.label + label, ...more };
    queue.push(next);
    return next;
  };
  const visit = (at) => {
    const { shape } = at;
    if (shape.kind === 'list') found.push({ kind: 'item', ...enter(at, shape.of, ITEM, '[]') });
    if (shape.kind === 'union')
      shape.alternatives.forEach((it, i) => {
        const next = enter(at, it, i, `<${nameOf(it)}>`);
        found.push({ kind: it.kind === 'word' ? 'word' : 'alternative', ...next });
      });
    if (shape.kind !== 'object' || at.around.includes(shape)) return;
    const n = entered.get(shape) ?? 0;
    if (n >= reach) return;
    entered.set(shape, n + 1);
    const around = [...at.around, shape];
    for (const member of shape.members) {
      // The document without an optional member shows whether the member is read at all.
      const without = member.isOptional ? at.steps : at.without;
      const next = enter(at, member.shape, member.name, `.${member.name}`, { around, without });
      found.push({ kind: 'member', ...next });
    }
    if (shape.rest) enter(at, shape.rest, OTHER, '.*', { around });
  };
  for (let i = 0; i < queue.length; i++) visit(queue[i]);
  return found;
}

function nameOf(shape) {
  if (shape.kind === 'word') return JSON.stringify(shape.value);
  if (shape.kind === 'list') return `${nameOf(shape.of)}[]`;
  return shape.name || shape.kind;
}
