// Gives a server a wall clock that the test controls: libfaketime adds the offset in a file. The
// monotonic clock is unchanged, so a jump causes no timeouts.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { file } from './harness.mjs';

const libraries = existsSync('/usr/lib') ? readdirSync('/usr/lib')
  .map((name) => join('/usr/lib', name, 'faketime/libfaketimeMT.so.1')).filter((path) => existsSync(path)) : [];

export const noClock = libraries.length === 0 && 'libfaketime is not installed (apt install faketime)';

let n = 0;
export class Clock {
  // Starts at an instant that Date can parse.
  constructor(instant) {
    this.path = file(`clock-${n++}`);
    this.set(instant);
  }

  set(instant) {
    this.shift = new Date(instant).getTime() - Date.now();
    this.write();
  }

  put(ms) {
    this.shift += ms;
    this.write();
  }

  write() {
    const seconds = this.shift / 1000;
    writeFileSync(this.path, `${seconds < 0 ? '' : '+'}${seconds.toFixed(3)}\n`);
  }

  get now() { return new Date(Date.now() + this.shift); }

  get env() {
    return {
      LD_PRELOAD: libraries[0], FAKETIME_TIMESTAMP_FILE: this.path, FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_RESET: '1',
    };
  }
}
