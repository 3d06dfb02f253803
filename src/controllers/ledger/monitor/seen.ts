// SPDX-License-Identifier: Apache-2.0
/** Where certificates show up, and which of them are there. */
import type { ConfigMap, KubeObject, Secret } from '../../../api/object/object.ts';
import type { CertificateRequest } from '../../../api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '../../../api/request/csr.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import { withoutManagedFields } from '../../../kube/resource/object.ts';
import { certificateBlocks } from '../../../pki/x509/trust-bundle.ts';

/** An object with nothing left but what it is called and its certificates in PEM. */
export interface SeenObject extends KubeObject {
  readonly pem: string;
}

/** Kinds that are looked at, as a finding names them. */
export type SeenKind =
  | 'CertificateSigningRequest'
  | 'PodCertificateRequest'
  | 'CertificateRequest'
  | 'Secret'
  | 'ConfigMap';

/** Keeps the certificates of an object; a private key beside them is dropped. */
export function reduced(kind: SeenKind, object: KubeObject & Partial<SeenObject>): SeenObject {
  // The cache gives what it keeps already.
  const { pem } = object;
  if (pem !== undefined) return { ...object, pem };
  const { apiVersion, metadata } = withoutManagedFields(object);
  return { apiVersion, kind, metadata, pem: PEM_OF[kind](object) };
}

const PEM_OF: Readonly<Record<SeenKind, (object: KubeObject) => string>> = {
  CertificateSigningRequest: (object) =>
    decoded((object as CertificateSigningRequest).status?.certificate),
  PodCertificateRequest: (object) =>
    (object as PodCertificateRequest).status?.certificateChain ?? '',
  CertificateRequest: (object) => {
    const { certificate } = (object as CertificateRequest).status ?? {};
    return decoded(certificate);
  },
  Secret: ({ data = {} }: KubeObject & Pick<Secret, 'data'>) =>
    [...Object.entries(data)]
      .filter(([name]) => !name.endsWith('.key'))
      .map(([, value]) => decoded(value))
      .join('\n'),
  ConfigMap: ({ data = {} }: KubeObject & Pick<ConfigMap, 'data'>) =>
    Object.values(data).join('\n'),
};

function decoded(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}

/** The DER of each certificate. */
export function certificatesOf({ pem }: SeenObject): readonly Uint8Array[] {
  return certificateBlocks(pem);
}

/** `CertificateSigningRequest x`, `Secret team-a/y`. */
export function placeOf({ kind, metadata: { namespace, name } }: SeenObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
