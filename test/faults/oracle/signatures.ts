// SPDX-License-Identifier: Apache-2.0
import type { LogLine } from '../../support/cluster/component-process.ts';

/** UID of a request → the serial numbers that were signed for it, in lower-case hex. */
export type Signatures = ReadonlyMap<string, readonly string[]>;

/** Reads the line that a component logs after each signature, before it sends anything. */
export function signaturesIn(log: readonly LogLine[]): Signatures {
  const signed = new Map<string, string[]>();
  for (const { msg, uid, serial } of log) {
    if (msg !== 'signed' || typeof uid !== 'string' || typeof serial !== 'string') continue;
    const known = signed.get(uid) ?? [];
    known.push(serial);
    signed.set(uid, known);
  }
  return signed;
}
