// SPDX-License-Identifier: Apache-2.0
import { isKeyOf } from '#base/object-keys.ts';
import { CERT_MANAGER_GROUP, type IssuerReference } from '../request/certificate-request.ts';
import { GROUP } from '../signer/cluster-signer.ts';
import { ACME_GROUP } from './names.ts';

/** API group of each kind of signer. */
const SIGNER_GROUPS = {
  ClusterSigner: GROUP,
  Signer: GROUP,
  ExternalClusterSigner: GROUP,
  AcmeClusterSigner: ACME_GROUP,
  AcmeSigner: ACME_GROUP,
} as const;

/** A kind of signer of Countersign. */
export type SignerKind = keyof typeof SIGNER_GROUPS;

/** The issuer that a CertificateRequest names. */
export interface NamedIssuer extends Required<IssuerReference> {
  /** Kind of the signer of Countersign. Undefined for an issuer of another project. */
  readonly signerKind: SignerKind | undefined;
  /** True for an API group of Countersign, whose kind may not exist. */
  readonly isOfCountersign: boolean;
}

/** Returns the issuer of an issuerRef, with the defaults of cert-manager. */
export function namedIssuer({
  group = CERT_MANAGER_GROUP,
  kind = 'Issuer',
  name,
}: IssuerReference): NamedIssuer {
  const isSigner = isKeyOf(SIGNER_GROUPS, kind) && SIGNER_GROUPS[kind] === group;
  return {
    group,
    kind,
    name,
    signerKind: isSigner ? kind : undefined,
    isOfCountersign: group === GROUP || group === ACME_GROUP,
  };
}
