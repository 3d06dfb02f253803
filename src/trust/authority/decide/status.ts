// SPDX-License-Identifier: Apache-2.0
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
  UpstreamStatus,
} from '#api/signer/cluster-signer.ts';
import type { TrustMemory } from '#ca/rotation/trust-memory.ts';
import { formatDuration } from '#api/object/duration.ts';
import type { KubeObject } from '#api/object/object.ts';
import { KEY_LOST } from '#api/serving/report.ts';
import { derivedName, isNamespaced } from '#api/signer/signer.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import {
  awaitingCertificate,
  degraded,
  fullLeavesUntil,
  installWindow,
  rotating,
  rotationDue,
  type ConditionContent,
  type ConditionInput,
} from './conditions.ts';
import { readyIfServed, served, servingNow, unrecorded, withContents } from './served.ts';
import { isPreviousKeyLost, lossCause } from './lost-key.ts';
import { ownCaReplacementTime } from './own-ca.ts';
import * as messages from '../messages.ts';

/**
 * Returns the whole status. The authority component writes it. After an uninstallation,
 * `cli/commands/install/unserved.ts` writes its conditions.
 */
export function statusOf(input: ConditionInput): ClusterSignerStatus {
  const { snapshot, finding, managed, authorities } = input;
  const { signer } = snapshot;
  const generation = signer.metadata.generation ?? 0;
  const before = signer.status;
  const serving = servingNow(snapshot);
  const contents = [readyIfServed(ready(input), serving)];
  if (serving !== undefined) contents.push(served(serving), ...unrecorded(serving));
  // Without an inspection, nothing new is known of the CA.
  if (finding.inspected) contents.push(rotationDue(input), rotating(input), degraded(input));
  const conditions = conditionsWithAwaited(input, contents);
  const next = finding.inspected ? managed?.deadline : undefined;
  const nextRotation = next === undefined ? before?.nextRotation : formatTime(next);
  return {
    observedGeneration: generation,
    ...derivedStatus(signer),
    conditions,
    authorities,
    ...memoryOf(before),
    ...(nextRotation === undefined ? {} : { nextRotation }),
    ...upstreamStatus(input),
  };
}

/** Adds the condition of an upstream CA to the contents, or drops it without one. */
function conditionsWithAwaited(
  input: ConditionInput,
  contents: readonly ConditionContent[],
): ClusterSignerStatus['conditions'] & {} {
  const { snapshot, finding } = input;
  const { signer, now } = snapshot;
  if (!finding.inspected) return withContents(signer, contents, now);
  const awaiting = awaitingCertificate(input);
  return awaiting === undefined
    ? withContents(withoutAwaiting(signer), contents, now)
    : withContents(signer, [...contents, awaiting], now);
}

/** Drops the condition of an upstream CA that the spec no longer has. */
function withoutAwaiting(signer: ClusterSigner): ClusterSigner {
  const { conditions = [], ...rest } = signer.status ?? {};
  const kept = conditions.filter(({ type }) => type !== 'AwaitingCertificate');
  return { ...signer, status: { ...rest, conditions: kept } };
}

/** Returns the request that waits for its certificate. */
function upstreamStatus(input: ConditionInput): Pick<ClusterSignerStatus, 'upstream'> {
  const { upstream: before } = input.snapshot.signer.status ?? {};
  if (!input.finding.inspected) return before === undefined ? {} : { upstream: before };
  const pending = input.managed?.upstream?.pending;
  if (pending === undefined) return {};
  const until = installWindow(input)?.until;
  const upstream = {
    request: pending.pem,
    requestedAt: pending.requestedAt,
    ...(until === undefined ? {} : { installBy: formatTime(until) }),
    ...answerStatus(input),
  };
  return { upstream };
}

/** Returns the request of an upstream CA that `authority` calls by itself. */
function answerStatus({
  managed,
}: ConditionInput): Pick<UpstreamStatus, 'certificateRequest' | 'retryAt'> {
  const { answer, retryAt } = managed?.upstream ?? {};
  const { certificateRequest } = answer ?? {};
  return {
    ...(certificateRequest === undefined ? {} : { certificateRequest }),
    ...(retryAt === undefined ? {} : { retryAt: formatTime(retryAt) }),
  };
}

/** Returns the memory of trust that decide() put into the snapshot. */
function memoryOf(
  status: ClusterSignerStatus | undefined,
): TrustMemory & Pick<ClusterSignerStatus, 'retainedAnchors'> {
  const { crossCertificates, distrusted, retainedAnchors } = status ?? {};
  return {
    ...(retainedAnchors === undefined ? {} : { retainedAnchors }),
    ...(crossCertificates === undefined ? {} : { crossCertificates }),
    ...(distrusted === undefined ? {} : { distrusted }),
  };
}

/** Returns the derived signer name of a Signer, which users write into a pod. */
export function derivedStatus(signer: KubeObject): Pick<ClusterSignerStatus, 'signerName'> {
  return isNamespaced(signer) ? { signerName: derivedName(signer.metadata) } : {};
}

function ready({ snapshot, finding, authorities, begins }: ConditionInput): ConditionContent {
  const type = 'Ready';
  const { reason, message, isReady, active } = finding;
  const waits = authorities.some(
    ({ phase, fingerprint }) => phase === 'Prepared' && fingerprint === active?.fingerprint,
  );
  if (active === undefined || !waits) {
    return { type, status: isReady ? 'True' : 'False', reason, message };
  }
  const span = formatDuration(snapshot.propagationSeconds);
  const { fingerprint } = active;
  const previous = authorities.find(({ phase }) => phase === 'Active');
  if (previous !== undefined && isPreviousKeyLost(snapshot.secret, previous)) {
    const until =
      begins === undefined
        ? messages.anchorPublished(fingerprint, span)
        : messages.anchorLoaded(fingerprint, begins);
    const text = messages.keyLost(previous.fingerprint, lossCause(snapshot.signer), until);
    return { type, status: 'False', reason: KEY_LOST, message: text };
  }
  return {
    type,
    status: 'True',
    reason: 'Propagating',
    message: messages.propagating(fingerprint, span, meanwhile(previous, span, snapshot.now)),
  };
}

/** Returns who signs until the CA in `tls.*` does: components that hold the previous CA. */
function meanwhile(previous: AuthorityStatus | undefined, span: string, now: number): string {
  // A Signer has no room for all anchors.
  if (previous?.anchors === undefined) return messages.SIGNED_FROM_MEMORY;
  const { fingerprint, signsFrom } = previous;
  if (signsFrom === undefined) {
    return messages.noneSigns(messages.previousPublished(fingerprint, span));
  }
  const from = parseTime(signsFrom);
  if (from <= now) return messages.SIGNED_FROM_MEMORY;
  return messages.noneSigns(messages.previousLoaded(fingerprint, from));
}

/** Returns the times in milliseconds at which a condition changes by time alone. */
export function conditionsChangeAt(input: ConditionInput): readonly number[] {
  const { snapshot, managed, authorities } = input;
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined) return [];
  const begins = active.signsFrom === undefined ? [] : [parseTime(active.signsFrom)];
  const late = installWindow(input)?.lateFrom;
  const cutShort = fullLeavesUntil(active);
  return managed === undefined
    ? [...begins, cutShort, ownCaReplacementTime(active, snapshot.propagationSeconds).at]
    : [...begins, cutShort, ...(late === undefined ? [] : [late])];
}
