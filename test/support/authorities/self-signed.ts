// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { createManagedAuthorities } from '../../../src/authorities/managed.ts';

/** A CA of somebody's own, as PEM. */
export interface NewCa {
  readonly certificate: string;
  readonly key: string;
}

/** A self-signed P-256 CA, good for longer than any leaf of a test. */
export function newCa(commonName: string): Promise<NewCa> {
  return createManagedAuthorities((size) => randomBytes(size))({
    ...{ keyType: 'ECDSAP256', commonName, durationSeconds: 7 * 86_400 },
    now: Date.now(),
  });
}
