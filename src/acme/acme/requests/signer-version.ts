// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';

/** Returns a text that changes with the spec of a signer. */
export function signerVersionOf({ metadata: { uid, generation = 0 } }: AcmeSigner): string {
  return `${uid}.${generation}`;
}
