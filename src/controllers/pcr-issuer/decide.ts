// SPDX-License-Identifier: Apache-2.0
import {
  DEFAULT_MAX_EXPIRATION_SECONDS,
  MIN_LIFETIME_SECONDS,
  isTerminal,
  type PodCertificateRequest,
} from '../../api/request/pod-certificate-request.ts';
import { SignerError } from '../../errors.ts';
import { podSubject, podVariables } from '../../issuance/pod-subject.ts';
import type { Profile } from '../../issuance/profile.ts';
import { leafValidity, refreshTime, type Validity } from '../../issuance/validity.ts';
import type { PublicKeyInfo } from '../../pki/keys/public-key.ts';
import type { Random } from '../../ports.ts';
import { checkAnnotations } from './annotations.ts';
import type { PodEvidence, Proof } from './evidence/evidence.ts';
import { judgeEvidence } from './evidence/judge-evidence.ts';
import type { PodPlan } from './plan.ts';
import { requestedKey } from './requested-key.ts';
import type { PodProfile } from '../../issuance/pod-profile.ts';
import type { LeafSubject } from '../../vocabulary.ts';

/** Everything that a decision depends on, taken at one moment. */
export interface PodDecisionInput {
  readonly request: PodCertificateRequest;
  readonly profile: Profile;
  /** What was read of the pod, where the profile asks for it. */
  readonly evidence?: PodEvidence | undefined;
  /** The CA's own validity, or why no CA can sign now. */
  readonly authority: Validity | SignerError;
  readonly reservedPrefixes: readonly string[];
  readonly now: number;
  readonly random: Random;
}

/** Decides one PodCertificateRequest. Synchronous, total, and the same for the same snapshot. */
export function decide(snapshot: PodDecisionInput): PodPlan {
  const { request, profile } = snapshot;
  if (isTerminal(request) || profile.pods === undefined) return { kind: 'ignore' };
  const key = requestedKey(request, profile.keyTypes);
  if (key.kind !== 'key') return key;
  try {
    return judge(snapshot, profile.pods, key.publicKey);
  } catch (error) {
    if (error instanceof SignerError) return { kind: 'wait', error };
    throw error;
  }
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

/** The address of a pod is another pod's after it: the shortest leaf that the API server takes. */
const MAX_ADDRESS_SECONDS = MIN_LIFETIME_SECONDS;

/** Whom a leaf names, and what proves it. */
interface EvaluatedPod {
  readonly subject: LeafSubject;
  /** Undefined: nothing was read of the pod. */
  readonly proof: Proof | undefined;
}

/**
 * All that runs expressions and patterns of the spec: whom a leaf would name, or why there is none.
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
      message: `spec.pods.allow of signer ${profile.signerName} does not allow pod ${request.metadata.namespace ?? ''}/${request.spec.podName} (ServiceAccount ${request.spec.serviceAccountName})`,
    };
  }
  const subject = podSubject(pods, variables, reservedPrefixes, named);
  return { subject, proof: judged?.proof };
}
