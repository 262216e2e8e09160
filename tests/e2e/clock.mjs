// A wall clock of a test's own for a server: libfaketime shifts what the machine says by what stands
// in a file. The clock that only goes forward stays as it is, so nothing times out by a jump.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { file } from './harness.mjs';

const libraries = existsSync('/usr/lib') ? readdirSync('/usr/lib')
  .map((name) => join('/usr/lib', name, 'faketime/libfaketimeMT.so.1')).filter((path) => existsSync(path)) : [];

export const noClock = libraries.length === 0 && 'libfaketime is not installed (apt install faketime)';

let n = 0;
export class Clock {
  // Begins at an instant, as Date reads it.
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
