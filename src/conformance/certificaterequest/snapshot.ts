// SPDX-License-Identifier: Apache-2.0
import type { KeyType } from '#base/vocabulary.ts';
import type { Anchors, RequestSnapshot } from '../snapshot.ts';
import type { SkippedScenario } from '../observed-request.ts';

/** One key type of each algorithm in cert-manager's Certificates, and the default. */
export const CR_KEY_TYPES = [
  'RSA2048',
  'ECDSAP256',
  'ECDSAP384',
  'ED25519',
] as const satisfies readonly KeyType[];

/** The CertificateRequests that the runner creates, by the special property of each. */
export const CR_SCENARIOS = [
  'plain',
  'again',
  'annotated',
  'unapproved',
  'denied',
  // Requests of an issuer that does not exist, and of the same name in another API group.
  'foreign',
  'otherGroup',
  'tenYears',
  'noDuration',
  'defaultUsages',
  'isCa',
  'certSign',
  'alternativeNames',
  'masters',
  'systemUser',
  'authorityExtension',
  'unknownExtension',
  'RSA1024',
  ...CR_KEY_TYPES,
] as const;

/** One of {@link CR_SCENARIOS}. */
export type CrScenario = (typeof CR_SCENARIOS)[number];

/** The observations of one run of an issuer of CertificateRequests. */
export interface CrSnapshot extends RequestSnapshot<CrScenario> {
  /** `status.ca` of the ordinary request. */
  readonly statusCa: Anchors | SkippedScenario;
}

/** The issuer of a CertificateRequest: `spec.issuerRef`. */
export interface IssuerRef {
  readonly kind: string;
  readonly group: string;
  readonly name: string;
}

/** Reads `ClusterSigner.countersign.dev/workload`. Returns undefined for other text. */
export function readIssuerRef(text: string): IssuerRef | undefined {
  const [, kind, group, name] = /^([A-Za-z]+)\.([a-z0-9.-]+)\/([a-z0-9.-]+)$/.exec(text) ?? [];
  return kind === undefined || group === undefined || name === undefined
    ? undefined
    : { kind, group, name };
}
