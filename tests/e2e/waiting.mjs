// Waits for conditions. Tests wait for events and conditions and never measure how long that takes; the limit
// here is a safety net for conditions that never hold.
export const SAFETY_MS = 300_000;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Waits until `look` returns something true, and returns that.
export async function until(look, what = String(look), ms = SAFETY_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`waited ${ms / 1000} s in vain: ${typeof what === 'function' ? what() : what}`);
    await sleep(5);
  }
}
