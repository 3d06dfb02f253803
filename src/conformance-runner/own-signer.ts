// SPDX-License-Identifier: Apache-2.0
import type { Kit } from './run.ts';

/** `conformance-<run>.example.com/<path>`: a signer name that nobody else has. */
export function ownSigner({ run }: Kit, path: string): string {
  return `conformance-${run}.example.com/${path}`;
}
