// SPDX-License-Identifier: Apache-2.0
/** Where `deploy/` has the keys of CAs. */
export const KEYS_NAMESPACE = 'countersign-keys';

/** A CA of somebody's own, PEM. */
export interface OwnCa {
  readonly certificate: string;
  readonly key: string;
}

/** The Secret that brings a CA of one's own, as users write it; JSON for `kubectl create` or `apply`. */
export function ownCaSecret(
  name: string,
  { certificate, key }: OwnCa,
  /** The signer that its owner gives it to; nobody where absent. */
  signerName?: string,
): string {
  const annotations = signerName === undefined ? {} : { 'countersign.dev/signer-name': signerName };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { namespace: KEYS_NAMESPACE, name, annotations },
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  });
}
