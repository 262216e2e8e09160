/**
 * For lists drawn with a key: keeps the first of the items with the same key. A list of the server may contain an item twice
 * (it moved between two pages), and an `{#each}` with repeated keys breaks the whole page. The arrow function is the key of the
 * `{#each}`; tests/page/lists.test.mjs compares them.
 */
export function once<T>(list: readonly T[], key: (thing: T) => unknown): readonly T[] {
  const seen = new Set<unknown>();
  const first = list.filter((thing) => seen.size < seen.add(key(thing)).size);
  return first.length === list.length ? list : first;
}
