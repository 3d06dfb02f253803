// SPDX-License-Identifier: Apache-2.0
import { smallInteger } from '../der/der-values.ts';
import { malformed } from '../der/input-error.ts';

/** The limit of an encoded version. Every standard has fewer than ten. */
const MAX_VERSION = 254;

/** The version that a value must have. */
export interface RequiredVersion {
  /** The name of the value in messages, as in `the PKCS#10 request`. */
  readonly what: string;
  /** The version as people count it, from 1. It is encoded as one less. */
  readonly version: number;
  /** The reason and the remedy, as the end of a sentence. */
  readonly help?: string;
}

/**
 * Checks the contents of a version INTEGER.
 *
 * @throws SignerError DER_MALFORMED with the version that was found
 */
export function requireVersion(
  contents: Uint8Array,
  { what, version, help = '' }: RequiredVersion,
): void {
  const found = smallInteger(contents, `the version of ${what}`, MAX_VERSION) + 1;
  if (found === version) return;
  throw malformed(`${what} is of version ${found}, and must be of version ${version}${help}`);
}
