/**
 * For lists that are drawn by a key: of things with the same key the first one stays. A list of the server may have one
 * thing twice (it moved while the pages were read), and an `{#each}` whose keys repeat breaks the whole page. The arrow
 * is the key of the `{#each}`; tests/page/lists.test.mjs compares them.
 */
export function once<T>(list: readonly T[], key: (thing: T) => unknown): readonly T[] {
  const seen = new Set<unknown>();
  const first = list.filter((thing) => seen.size < seen.add(key(thing)).size);
  return first.length === list.length ? list : first;
}
