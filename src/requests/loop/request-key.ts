// SPDX-License-Identifier: Apache-2.0
const SEPARATOR = ' ';

/** Parts of a queue key. */
export interface KeyParts {
  readonly signerName: string;
  /** `namespace/name` of the request. */
  readonly storeKey: string;
}

/** Returns the queue key of a request, from its signer name and its store key `namespace/name`. */
export function requestKey(signerName: string, storeKey: string): string {
  return signerName + SEPARATOR + storeKey;
}

/** Returns the parts of a queue key. */
export function partsOf(key: string): KeyParts {
  const at = key.indexOf(SEPARATOR);
  return { signerName: key.slice(0, at), storeKey: key.slice(at + 1) };
}
