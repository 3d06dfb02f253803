// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { createManagedAuthorities } from '#ca/custody/managed.ts';

/** The namespace in which `deploy/` keeps the keys of CAs. */
export const KEYS_NAMESPACE = 'countersign-keys';

/** A CA that a user brings, as PEM. */
export interface CaPem {
  readonly certificate: string;
  readonly key: string;
}

/**
 * The Secret in which a user brings a CA, as they write it; JSON for `kubectl create` or `apply`.
 */
export function caSecretManifest(
  name: string,
  { certificate, key }: CaPem,
  /**
   * The annotation `countersign.dev/signer-name`: the only signer that may use the CA. Absent: none
   * may.
   */
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

/** A self-signed P-256 CA, valid for seven days, longer than any leaf of a test. */
export function selfSignedCa(commonName: string): Promise<CaPem> {
  return createManagedAuthorities((size) => randomBytes(size))({
    keyType: 'ECDSAP256',
    commonName,
    durationSeconds: 7 * 86_400,
    now: Date.now(),
  });
}
