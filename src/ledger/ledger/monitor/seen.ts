// SPDX-License-Identifier: Apache-2.0
/** Extracts certificates from the objects that contain them. */
import type { ConfigMap, KubeObject, Secret } from '#api/object/object.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';

/** An object reduced to its name and its certificates in PEM. */
export interface SeenObject extends KubeObject {
  readonly pem: string;
}

/** Watched kinds, as a finding names them. */
export type SeenKind =
  | 'CertificateSigningRequest'
  | 'PodCertificateRequest'
  | 'CertificateRequest'
  | 'Secret'
  | 'ConfigMap';

/** Reduces an object to its certificates, and drops a private key beside them. */
export function reduced(kind: SeenKind, object: KubeObject & Partial<SeenObject>): SeenObject {
  // The cache passes an object that is already reduced.
  const { pem } = object;
  if (pem !== undefined) return { ...object, pem };
  const { apiVersion, metadata } = withoutManagedFields(object);
  // The watch of a kind delivers its objects.
  return { apiVersion, kind, metadata, pem: PEM_OF[kind](object as never) };
}

/** The certificates of each kind: a function for its objects. */
const PEM_OF: Readonly<Record<SeenKind, (object: never) => string>> = {
  CertificateSigningRequest: ({ status }: CertificateSigningRequest) =>
    decoded(status?.certificate),
  PodCertificateRequest: ({ status }: PodCertificateRequest) => status?.certificateChain ?? '',
  CertificateRequest: ({ status }: CertificateRequest) => decoded(status?.certificate),
  Secret: ({ data = {} }: Secret) =>
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

/** Returns the DER of each certificate. */
export function certificatesOf({ pem }: SeenObject): readonly Uint8Array[] {
  return certificateBlocks(pem);
}

/** Formats the place of an object: `CertificateSigningRequest x`, `Secret team-a/y`. */
export function placeOf({ kind, metadata: { namespace, name } }: SeenObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
