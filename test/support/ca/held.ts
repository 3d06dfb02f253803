// SPDX-License-Identifier: Apache-2.0
/** The configuration of a key holder as a person writes it, whose parts tests replace. */

type Fields = Readonly<Record<string, unknown>>;

/** Limits of leaves that `leafInput` keeps. */
export const LEAF_LIMITS: Fields = {
  maxDuration: '1h',
  names: { uris: ['spiffe://cluster[.]local/ns/[a-z-]+/sa/[a-z-]+'] },
};

/** A holder with the key `workload`, and one socket. */
export function holderFile(
  directory: string,
  signerName = 'example.com/workload',
  use: Fields = { leaf: LEAF_LIMITS },
): Fields {
  return {
    apiVersion: 'key-holder.countersign.dev/v1alpha1',
    kind: 'KeyHolder',
    keys: [
      {
        name: 'workload',
        file: `${directory}/ca.key`,
        certificate: `${directory}/ca.crt`,
        signerNames: [signerName],
      },
    ],
    sockets: [{ path: `${directory}/sockets/issuer.sock`, uses: [{ key: 'workload', ...use }] }],
  };
}
