// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import { SignerError, attempt } from '#base/errors.ts';
import {
  intermediateValidity,
  longestIntermediate,
  trustDomainUri,
} from '#ca/issuance/intermediate.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import { judgeIntermediate, type IntermediatePolicy } from '#ca/policy/intermediates.ts';
import { shorter } from '#ca/policy/omission-messages.ts';
import { validateIntermediate } from '#ca/policy/validate-intermediate.ts';
import type { SigningPlan } from './decide.ts';

export interface IntermediateSigningInput {
  readonly csr: CertificateSigningRequest;
  readonly policy: IntermediatePolicy;
  /** The CA's own validity, or the error if no CA can sign now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
}

/**
 * Decides one request for the CA of another cluster. An approval is not enough: a rule must allow
 * the request again, because the names of the CA come from the rule.
 */
export function decideIntermediate(snapshot: IntermediateSigningInput): SigningPlan {
  const { csr, policy, authority, reservedPrefixes, now } = snapshot;
  if (!isApproved(csr) || isFinished(csr)) return { kind: 'ignore' };
  const { keyTypes, maxDurationSeconds: maxSeconds } = policy;
  const validated = validateIntermediate({ csr, keyTypes, reservedPrefixes });
  if (validated.kind === 'fail') return validated;
  const { asked } = validated;
  const verdict = judgeIntermediate(policy, csr, asked);
  if (verdict.outcome === 'unknown') return { kind: 'wait', error: verdict.error };
  if (verdict.outcome === 'deny') {
    return { kind: 'fail', reason: 'NotAllowedByRule', message: verdict.message };
  }
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  const { expirationSeconds: requestedSeconds } = csr.spec;
  const validity = attempt(() =>
    intermediateValidity({ now, requestedSeconds, maxSeconds, issuer: authority }),
  );
  if (validity instanceof SignerError) return { kind: 'wait', error: validity };
  const { cluster, commonName, usages, request } = asked;
  const { names } = verdict;
  const longest = longestIntermediate(maxSeconds, authority);
  return {
    kind: 'issue',
    subject: {
      ...EMPTY_SUBJECT,
      commonName,
      organizations: [cluster],
      uris: [trustDomainUri(names.trustDomain)],
    },
    publicKey: request.publicKey,
    usages,
    validity,
    intermediate: { ...names, cluster, commonName },
    omitted: shortened(longest, requestedSeconds),
  };
}

/** Returns a text if the CA lives for less than requested. */
function shortened(longest: number, requestedSeconds = 0): string | undefined {
  return requestedSeconds <= longest ? undefined : shorter(longest, requestedSeconds);
}
