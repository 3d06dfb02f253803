// SPDX-License-Identifier: Apache-2.0
/**
 * `--import`ed before a component: its clock is what the file `clock` in FAULT_DIRECTORY says, an
 * offset in milliseconds and how fast it runs (`360000 1`). It is read at the start and at SIGUSR2,
 * and then written into the file `clock-read`.
 * Timers keep the true time, as they do when a clock is set.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env['FAULT_DIRECTORY'] ?? '', 'clock');
const trueNow = Date.now.bind(Date);
let since = trueNow();
let offset = 0;
let rate = 1;

function read(): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const [milliseconds = 0, speed = 1] = text?.split(' ').map(Number) ?? [];
  since = trueNow();
  offset = milliseconds;
  rate = speed;
  if (text !== undefined) writeFileSync(`${file}-read`, text);
}

const TrueDate = Date;
TrueDate.now = (): number => Math.floor(since + offset + (trueNow() - since) * rate);
globalThis.Date = new Proxy(TrueDate, {
  construct: (target, given, created) =>
    Reflect.construct(target, given.length === 0 ? [TrueDate.now()] : given, created) as object,
});
read();
process.on('SIGUSR2', read);
