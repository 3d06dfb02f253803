// SPDX-License-Identifier: Apache-2.0
/** CAs whose keys are in a key holder, in the form of the Secret of another CA. */
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';

/** One Secret for each version of a signer. Cached objects are replaced, never changed. */
const made = new WeakMap<ClusterSigner, Secret>();

/**
 * Returns the public half of the CA in a spec as a Secret without a key, so that every check of a
 * CA in a Secret holds for it, too. Undefined if the CA is in a Secret.
 */
export function publicSecretOf(signer: ClusterSigner): Secret | undefined {
  const { keyHolder } = signer.spec.authority;
  if (keyHolder === undefined) return undefined;
  const before = made.get(signer);
  if (before !== undefined) return before;
  const { metadata, spec } = signer;
  const encode = (pem: string): string => Buffer.from(pem, 'latin1').toString('base64');
  const { namespace, chain, anchors } = keyHolder;
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name: publicSecretName(metadata.name),
      uid: metadata.uid,
      resourceVersion: String(metadata.generation ?? 0),
      creationTimestamp: metadata.creationTimestamp,
      annotations: { [SIGNER_NAME]: spec.signerName },
    },
    data: {
      'tls.crt': encode(chain),
      'tls.key': '',
      ...(anchors === undefined ? {} : { 'ca.crt': encode(anchors) }),
    },
  };
  made.set(signer, secret);
  return secret;
}

/** Returns a name that no Secret of the API server can have. */
function publicSecretName(signer: string): string {
  return `key-holder:${signer}`;
}
