// SPDX-License-Identifier: Apache-2.0
import {
  DEFAULT_MAX_EXPIRATION_SECONDS,
  MIN_LIFETIME_SECONDS,
  isTerminal,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { SignerError } from '#base/errors.ts';
import { usableUsages } from '#ca/policy/usable-usages.ts';
import { podSubject, podVariables } from '#ca/issuance/pod-subject.ts';
import type { Profile } from '#ca/issuance/profile.ts';
import { leafValidity, refreshTime, type Validity } from '#ca/issuance/validity.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import type { Random } from '#base/ports.ts';
import { checkAnnotations } from './annotations.ts';
import type { PodEvidence, Proof } from './evidence/evidence.ts';
import { judgeEvidence } from './evidence/judge-evidence.ts';
import type { PodPlan } from './plan.ts';
import { requestedKey } from './requested-key.ts';
import type { PodProfile } from '#ca/issuance/pod-profile.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import * as messages from './messages.ts';

/** Inputs of a decision, taken at one moment. */
export interface PodDecisionInput {
  readonly request: PodCertificateRequest;
  readonly profile: Profile;
  /** The pod and Services as read, if the profile requires them. */
  readonly evidence?: PodEvidence | undefined;
  /** The CA's own validity, or the error if no CA can sign now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
  readonly random: Random;
}

/** Decides one PodCertificateRequest. Synchronous, total and deterministic. */
export function decide(snapshot: PodDecisionInput): PodPlan {
  const { request, profile } = snapshot;
  if (isTerminal(request) || profile.pods === undefined) return { kind: 'ignore' };
  const key = usableKey(request, profile);
  if (key.kind !== 'key') return key;
  try {
    return judge(snapshot, profile.pods, key.publicKey);
  } catch (error) {
    if (error instanceof SignerError) return { kind: 'wait', error };
    throw error;
  }
}

/** Returns the public key of a request, or the plan if the profile admits no such key. */
export function usableKey(
  request: PodCertificateRequest,
  profile: Profile,
): ReturnType<typeof requestedKey> {
  const key = requestedKey(request, profile.keyTypes);
  if (key.kind !== 'key') return key;
  return uselessKey(key.publicKey, profile) ?? key;
}

/**
 * Denies a key that can have none of the profile's usages. Its leaf would have neither keyUsage nor
 * extendedKeyUsage, and would thus be valid for everything (RFC 5280 §4.2.1.3, §4.2.1.12). The user
 * of a pod chooses the key type.
 */
function uselessKey({ algorithm }: PublicKeyInfo, { usages }: Profile): PodPlan | undefined {
  if (usableUsages(usages, algorithm).length > 0) return undefined;
  const message = messages.uselessKey(algorithm, usages);
  return { kind: 'deny', reason: 'UnsupportedKeyType', message };
}

function judge(snapshot: PodDecisionInput, pods: PodProfile, publicKey: PublicKeyInfo): PodPlan {
  const { request, profile, authority } = snapshot;
  const evaluated = pods.together(() => evaluatePod(snapshot, pods));
  if ('kind' in evaluated) return evaluated;
  const { subject, proof } = evaluated;
  if (authority instanceof SignerError) return { kind: 'wait', error: authority };
  const validity = leafValidity({
    now: snapshot.now,
    lifetimeSeconds: Math.min(
      request.spec.maxExpirationSeconds ?? DEFAULT_MAX_EXPIRATION_SECONDS,
      profile.maxDurationSeconds,
      ...(subject.ipAddresses.length > 0 ? [MAX_ADDRESS_SECONDS] : []),
    ),
    backdateSeconds: profile.backdateSeconds,
    minimumSeconds: MIN_LIFETIME_SECONDS,
    issuer: authority,
  });
  const beginRefreshAt = refreshTime(validity, pods.refreshAfterPercent, snapshot.random);
  const { usages } = profile;
  return { kind: 'issue', subject, publicKey, usages, validity, beginRefreshAt, proof };
}

/**
 * Lifetime of a leaf with a pod address, which another pod may get later. This is the API server's
 * minimum.
 */
const MAX_ADDRESS_SECONDS = MIN_LIFETIME_SECONDS;

/** The subject of a leaf, and its proof. */
interface EvaluatedPod {
  readonly subject: LeafSubject;
  /** Undefined if the pod was not read. */
  readonly proof: Proof | undefined;
}

/**
 * Evaluates all expressions and patterns of the spec. Returns the subject of a leaf, or the plan if
 * there is none.
 *
 * @throws SignerError (`wait`) of an expression
 */
export function evaluatePod(
  {
    request,
    profile,
    reservedPrefixes,
    evidence,
  }: Pick<PodDecisionInput, 'request' | 'profile' | 'reservedPrefixes' | 'evidence'>,
  pods: PodProfile,
): PodPlan | EvaluatedPod {
  const refusal = checkAnnotations(request, pods);
  if (refusal !== undefined) return refusal;
  const judged = pods.readsPod ? judgeEvidence(pods, request, evidence) : undefined;
  if (judged !== undefined && 'kind' in judged) return judged;
  const named = judged?.named;
  const variables = podVariables(request, pods, named);
  if (!pods.allow.evaluate(variables)) {
    return {
      kind: 'deny',
      reason: 'NotAllowed',
      message: messages.podNotAllowed(
        profile.signerName,
        request.metadata.namespace,
        request.spec.podName,
        request.spec.serviceAccountName,
      ),
    };
  }
  const subject = podSubject(pods, variables, reservedPrefixes, named);
  return { subject, proof: judged?.proof };
}
