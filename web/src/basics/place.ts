/** Places a popover at its button: below if there is room, else above; never outside the window. */
export function place(popover: HTMLElement, anchor: Element, side: 'start' | 'end' = 'start'): void {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popover;
  const below = at.bottom + 6;
  const top = below + height > innerHeight - 8 && at.top - 6 - height > 8 ? at.top - 6 - height : Math.min(below, Math.max(8, innerHeight - height - 8));
  const left = side === 'end' ? at.right - width : at.left;
  popover.style.top = `${top}px`;
  popover.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
}
