// SPDX-License-Identifier: Apache-2.0
/** Ledger records of CAs and of our own ports. No caller waits for the ledger. */
import type { ClusterSigner, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import { CROSS_CERTIFICATE } from '#api/signer/rotation-annotations.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { signerOf } from '#requests/recording/request-record.ts';
import type { RecordingComponent } from '#requests/recording/recorder.ts';
import { slotMaterial } from './decide/inspect.ts';

/** Records the CAs and certificates that `authority` makes, and the CAs that it finds. */
export interface AuthorityRecords {
  /**
   * Records the CAs in a Secret that the status lists, and the cross-certificate beside them, each
   * once.
   */
  cas(signer: ClusterSigner, secret: Secret, status: ClusterSignerStatus): void;
  /**
   * Records a certificate of one of our own ports, before it is written.
   *
   * @param chain - PEM, the leaf first
   */
  serving(signer: ClusterSigner, chain: string, ca: Certificate): void;
}

/** Maximum number of remembered CAs and cross-certificates. A forgotten one is recorded again. */
const MAX_RECORDED = 4_096;

/** Returns undefined without a ledger. */
export function createAuthorityRecords({
  recorder,
}: Pick<RecordingComponent, 'recorder'>): AuthorityRecords | undefined {
  if (recorder === undefined) return undefined;
  const recorded = new BoundedMap<string, true>(MAX_RECORDED);
  const once = (
    purpose: 'ca' | 'cross',
    signer: ClusterSigner,
    [certificate, ca]: readonly [Uint8Array, string],
  ): void => {
    const key = `${keyOf(signer.metadata)} ${fingerprint(certificate)}`;
    if (recorded.get(key) === true) return;
    recorded.set(key, true);
    recorder.authority(purpose, signerOf(signer), { certificate, ca });
  };
  return {
    cas: (signer, secret, { authorities = [] }) => {
      const listed = new Set(authorities.map(({ fingerprint }) => fingerprint));
      for (const slot of ['tls', 'next'] as const) {
        const [ca] = certificatesIn(slotMaterial(secret, slot).certificate);
        const print = ca === undefined ? '' : fingerprint(ca);
        if (ca !== undefined && listed.has(print)) once('ca', signer, [ca, print]);
      }
      const [cross, issuer] = crossIn(secret);
      if (cross === undefined || issuer === undefined || !listed.has(fingerprint(issuer))) return;
      once('cross', signer, [cross, fingerprint(issuer)]);
    },
    serving: (signer, chain, ca) => {
      const [certificate] = certificatesIn(chain);
      if (certificate === undefined) return;
      recorder.authority('serving', signerOf(signer), { certificate, ca: fingerprint(ca.raw) });
    },
  };
}

/** Returns the cross-certificate, then the CA that signed it. */
function crossIn({ data = {} }: Secret): readonly Uint8Array[] {
  return certificatesIn(Buffer.from(data[CROSS_CERTIFICATE] ?? '', 'base64').toString('latin1'));
}

/** Returns the certificates that the ledger can read as well, or none if the text is not PEM. */
function certificatesIn(pem: string): readonly Uint8Array[] {
  const found = attempt(() => {
    const certificates = decodePemAll(pem, 'CERTIFICATE');
    for (const der of certificates) decodeCertificate(der);
    return certificates;
  });
  return found instanceof SignerError ? [] : found;
}
