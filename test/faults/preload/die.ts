// SPDX-License-Identifier: Apache-2.0
/**
 * `--import`ed before a component: kills it, as SIGKILL does, just before or just after its nth
 * signature from now on. Nothing of this is in the bundle: Node's own `sign` is replaced.
 *
 * The file `die` in FAULT_DIRECTORY says when, `before 3` or `after 1`, and is gone when it was
 * done.
 */
import crypto from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const file = join(process.env['FAULT_DIRECTORY'] ?? '', 'die');
const signFor = crypto.sign as (...given: readonly unknown[]) => unknown;

/** Whether this is the signature to die at; counts it. */
function isDue(moment: string): boolean {
  if (!existsSync(file)) return false;
  const [wanted, count] = readFileSync(file, 'utf8').split(' ');
  if (wanted !== moment) return false;
  if (Number(count) > 1) {
    writeFileSync(file, `${moment} ${Number(count) - 1}`);
    return false;
  }
  rmSync(file);
  return true;
}

function dieAt(moment: string): void {
  // To oneself SIGKILL comes at once: not one more instruction runs.
  if (isDue(moment)) process.kill(process.pid, 'SIGKILL');
}

Object.assign(crypto, {
  sign: (...given: readonly unknown[]): unknown => {
    dieAt('before');
    const signature = signFor(...given);
    dieAt('after');
    return signature;
  },
});
syncBuiltinESMExports();
