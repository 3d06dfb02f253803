// SPDX-License-Identifier: Apache-2.0
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { HUB_KEYS, hubSecretName } from '#api/signer/upstream-hub.ts';
import { LABELS } from '../names.ts';
import type { Manifest } from '../roles.ts';

export interface MemberCredential {
  /** `https://<host>[:<port>]` of the hub's API server. */
  readonly server: string;
  /** PEM: the CA of the hub's API server. */
  readonly ca: string;
  readonly token: string;
}

/** The signer of the member whose CA the hub signs. */
export interface MemberSigner {
  readonly signerName: string;
  /** The CA Secret of the signer. */
  readonly secret: { readonly namespace: string; readonly name: string };
}

/** Returns the Secret to apply on the member. It has nothing else of a kubeconfig. */
export function memberSecret(
  { signerName, secret: { namespace, name } }: MemberSigner,
  { server, ca, token }: MemberCredential,
): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      namespace,
      name: hubSecretName(name),
      labels: LABELS,
      annotations: { [SIGNER_NAME]: signerName },
    },
    stringData: { [HUB_KEYS.server]: server, [HUB_KEYS.ca]: ca, [HUB_KEYS.token]: token },
  };
}
