// SPDX-License-Identifier: Apache-2.0
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { KeyType, KeyUsage, RequestField } from '#base/vocabulary.ts';

/**
 * The reason why this signer can never issue a certificate for a request, whatever its policy and
 * its approvers decide.
 */
export interface Violation {
  /** The CamelCase reason of the condition that reports it. Reasons are API. */
  readonly reason: string;
  /** The text for the condition and the Event: the fault of the request, and what to change. */
  readonly message: string;
}

/** The result for a request with violations: the content of a condition. */
export interface RequestRefusal extends Violation {
  readonly kind: 'fail';
  /** The texts that `message` joins, one for each violation and for what else to correct. */
  readonly faults: readonly string[];
}

/**
 * Returns the refusal for violations, the most severe first.
 *
 * @param more - texts for the same correction
 */
export function refusalOf(
  found: readonly [Violation, ...(readonly Violation[])],
  more: readonly string[] = [],
): RequestRefusal {
  const [{ reason }] = found;
  const faults = [...found.map(({ message }) => message), ...more];
  return { kind: 'fail', reason, message: faults.join('; '), faults };
}

/**
 * The parts of a signer's `spec.profile` and `spec.requests` that the rules compare a request with.
 */
export interface RequestProfile {
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  /** `spec.requests.copy`: the fields of a request that a leaf gets. */
  readonly copy: readonly RequestField[];
  /**
   * True if a leaf must have everything that the request contains, as cert-manager requires. It
   * compares the two, and requests again without end.
   */
  readonly isWhole?: boolean;
}

/** The input of a rule. */
export interface ViolationInput {
  readonly csr: ReviewableRequest;
  /** `csr.spec.request`, decoded. */
  readonly request: CertificationRequest;
  readonly profile: RequestProfile;
  /** Prefixes that this installation reserves in addition to `system:` and `kubeadm:`. */
  readonly reservedPrefixes: readonly string[];
}

/** One rule that no spec can turn off. It is pure and never throws for a decoded request. */
export type ViolationRule = (input: ViolationInput) => Violation | undefined;
