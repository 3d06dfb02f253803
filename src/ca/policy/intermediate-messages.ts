// SPDX-License-Identifier: Apache-2.0
/** Texts of denials of requests for the CAs of other clusters, for a condition and an Event. */
import { quote, quoteList } from '#base/quote.ts';

// Conditions: violations, for which no rule allows a CA

export const SUBJECT_SHAPE =
  'the subject must have exactly one organization, the name of the cluster, and one common name';

export function notAClusterName(name: string): string {
  return `the organization ${quote(name)} is not the name of a cluster; use lower-case letters, digits and inner hyphens, 63 at most`;
}

export function commonNameTooLong(length: number, max: number): string {
  return `the common name has ${length} characters; use ${max} at most`;
}

export const ALTERNATIVE_NAMES =
  'the request has subject alternative names; omit them, the rule of the signer names the trust domain';

export const NOT_A_CA =
  'this signer signs only CAs with path length 0; request basicConstraints with cA TRUE and pathLenConstraint 0';

export function otherParts(oids: readonly string[]): string {
  return `the request has ${quoteList(oids)}; request keyUsage and basicConstraints only`;
}

export function usagesNotOfCa(usages: readonly string[], allowed: readonly string[]): string {
  const found = usages.length === 0 ? 'is empty' : `has ${quoteList(usages)}`;
  return `spec.usages ${found}; request ${allowed.join(', ')}, the first of them at least`;
}

export function keyUsagesDiffer(bits: readonly string[]): string {
  return `the keyUsage extension of the request has ${bits.join(', ')}, which spec.usages does not have`;
}

// Conditions and Events: rules

export const ALLOWS = 'allows this CA';
export const NOT_APPLIED = 'does not apply: when is false';

export function usagesNotAllowed(usages: readonly string[]): string {
  return `usages does not contain ${quoteList(usages)}`;
}

export function notATrustDomain(where: string, found: string, cluster: string): string {
  return `${where}: returned ${quote(found)} for cluster ${quote(cluster)}; return cluster, or a DNS name that begins with cluster and a dot`;
}

export function notADomain(where: string, found: string): string {
  return `${where}: returned ${quote(found)}, which is not a DNS name in lower case`;
}
