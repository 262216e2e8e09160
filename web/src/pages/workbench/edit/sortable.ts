/**
 * Moves items by their grip, with a mouse or a finger. The listeners are on the document: a pointer capture would be lost when
 * the node moves. Esc and a second finger cancel; near the edge the list scrolls. Buttons and keys can move the items too.
 */
export interface Box { top: number; bottom: number }

/** The gap nearest to a pointer: 0 is before the first item, n after the last. */
export function gapAt(boxes: readonly Box[], y: number): number {
  let gap = 0;
  for (const box of boxes) {
    if (y < (box.top + box.bottom) / 2) break;
    gap++;
  }
  return gap;
}

/** Converts a gap among all items to the new index of `count` items starting at `from`, counted without these items. */
export const placeAt = (gap: number, from: number, count: number): number =>
  (gap <= from ? gap : gap >= from + count ? gap - count : from);

/** The scroll speed in pixels per frame; 0 away from the edges. */
export function edgeSpeed(y: number, top: number, bottom: number, margin = 48): number {
  if (y < top + margin) return -Math.ceil((top + margin - y) / 4);
  if (y > bottom - margin) return Math.ceil((y - bottom + margin) / 4);
  return 0;
}

export interface SortOptions {
  /** The items in their current order. */
  items: () => HTMLElement[];
  scroller: () => HTMLElement | null;
  /** The index of the first moved item, and how many move together. */
  from: number;
  count: number;
  onGap: (gap: number | null) => void;
  onDrop: (to: number) => void;
  onCancel: () => void;
}

/** Follows one pointer from its press on the grip to its release. */
export function follow(event: PointerEvent, options: SortOptions): void {
  if (event.button !== 0) return;
  event.preventDefault();
  const id = event.pointerId;
  const startY = event.clientY;
  let y = startY;
  let hasMoved = false;
  let frame = 0;
  const place = (): number => gapAt(options.items().map((node) => node.getBoundingClientRect()), y);
  const tick = (): void => {
    const scroller = options.scroller();
    if (scroller && hasMoved) {
      const box = scroller.getBoundingClientRect();
      const speed = edgeSpeed(y, box.top, box.bottom);
      if (speed) { scroller.scrollTop += speed; options.onGap(place()); }
    }
    frame = requestAnimationFrame(tick);
  };
  const onMove = (moved: PointerEvent): void => {
    if (moved.pointerId !== id) return;
    y = moved.clientY;
    if (!hasMoved && Math.abs(y - startY) < 4) return;
    hasMoved = true;
    options.onGap(place());
  };
  const stop = (): void => {
    cancelAnimationFrame(frame);
    document.removeEventListener('pointermove', onMove);
    document.removeEventListener('pointerup', onUp);
    document.removeEventListener('pointercancel', onCancel);
    document.removeEventListener('pointerdown', onSecond, true);
    document.removeEventListener('keydown', onKey, true);
    document.documentElement.classList.remove('dragging');
    options.onGap(null);
  };
  const onUp = (lifted: PointerEvent): void => {
    if (lifted.pointerId !== id) return;
    y = lifted.clientY;
    const to = hasMoved ? placeAt(place(), options.from, options.count) : options.from;
    stop();
    if (to === options.from) options.onCancel(); else options.onDrop(to);
  };
  const onCancel = (cancelled: PointerEvent): void => {
    if (cancelled.pointerId !== id) return;
    stop();
    options.onCancel();
  };
  const onSecond = (pressed: PointerEvent): void => {
    if (pressed.pointerId === id) return;
    stop();
    options.onCancel();
  };
  const onKey = (pressed: KeyboardEvent): void => {
    if (pressed.key !== 'Escape') return;
    pressed.preventDefault();
    pressed.stopPropagation();
    stop();
    options.onCancel();
  };
  document.addEventListener('pointermove', onMove);
  document.addEventListener('pointerup', onUp);
  document.addEventListener('pointercancel', onCancel);
  document.addEventListener('pointerdown', onSecond, true);
  document.addEventListener('keydown', onKey, true);
  document.documentElement.classList.add('dragging');
  frame = requestAnimationFrame(tick);
}
