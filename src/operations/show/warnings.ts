// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { requestedRotationOf, successorAwaitedSince } from '#ca/rotation/requested-rotation.ts';
import { isKeyLost } from '../lost-key.ts';
import { pausedSigning } from '../paused-signing.ts';
import { notObserved } from '../preflight.ts';
import {
  authoritiesOf,
  unexpectedAnchors,
  unexpectedAnchorText,
  servedSinceOf,
  successorNotBefore,
  type SignerState,
} from '../signer-state.ts';

/** Returns the warnings about a ClusterSigner's CAs. */
export function warningsOf(state: SignerState): readonly string[] {
  return [
    ...notObserved(state).map(({ message }) => message),
    ...notReady(state),
    ...rotating(state),
    ...awaiting(state),
    ...requestedRotations(state),
    ...pendingSuccessor(state),
    ...ofBundle(state),
    ...authoritiesOf(state).flatMap((each) => ofAuthority(state, each)),
  ];
}

function notReady({ signer }: SignerState): readonly string[] {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready === undefined)
    return ['it has no condition Ready: no authority component reconciles it'];
  return ready.status === 'True'
    ? []
    : [`not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`];
}

function rotating({ signer }: SignerState): readonly string[] {
  return ['RotationDue', 'Rotating', 'Degraded'].flatMap((type) => {
    const found = findCondition(signer.status?.conditions, type);
    return found?.status === 'True'
      ? [`${type}: ${found.reason ?? ''}: ${found.message ?? ''}`]
      : [];
  });
}

function requestedRotations({ signer, now }: SignerState): readonly string[] {
  const { rotateAt, prepareAt, unread } = requestedRotationOf(signer);
  const plans: [string, number | undefined][] = [
    ['a rotation', rotateAt],
    ['a successor', prepareAt],
  ];
  return [
    ...unread.map((name) => `the annotation ${name} is ignored: its value is not an RFC 3339 time`),
    ...plans.flatMap(([what, at]) =>
      at !== undefined && at > now ? [`${what} is scheduled for ${formatTime(at)}`] : [],
    ),
  ];
}

/**
 * Returns a note about a requested successor that does not exist yet. This is not a fault, but the
 * user should know the reason.
 */
function pendingSuccessor(state: SignerState): readonly string[] {
  const { signer, now } = state;
  const since = successorAwaitedSince(signer, authoritiesOf(state), now);
  if (since === undefined) return [];
  const from = successorNotBefore(state);
  const why =
    from === undefined
      ? `if it does not appear soon, the condition RotationDue has the reason: kubectl describe clustersigner ${signer.metadata.name}`
      : `it is created at ${from} at the earliest, when the active CA has been published for the propagation time`;
  return [`a successor was requested at ${formatTime(since)} and does not exist yet; ${why}`];
}

function ofBundle(state: SignerState): readonly string[] {
  const { signer, bundle } = state;
  if (signer.spec.trustBundle === undefined) return [];
  if (bundle === 'unread')
    return [
      'you may not read the bundle, so it is unknown since when each CA is published; you need get on clustertrustbundles.certificates.k8s.io',
    ];
  if (bundle === undefined)
    return ['its bundle is not published; check that the attester is running'];
  const held = isKeyLost(signer) ? undefined : pausedSigning(state);
  return [
    // If it is not published, the CA's own warning below covers it. Ready has a lost key.
    ...(held?.until === undefined ? [] : [held.message]),
    ...unexpectedAnchors(state).map(unexpectedAnchorText),
  ];
}

function ofAuthority(state: SignerState, authority: AuthorityStatus): readonly string[] {
  const { fingerprint, phase, notAfter } = authority;
  const { signer, bundle, now } = state;
  if (phase === 'Distrusted') return [];
  const warnings: string[] = [];
  if (parseTime(notAfter) <= now) warnings.push(`${fingerprint} has expired`);
  const isWatched = signer.spec.trustBundle !== undefined && typeof bundle === 'object';
  if (isWatched && servedSinceOf(state, authority) === undefined) {
    warnings.push(`${fingerprint} (${phase}) is not in the published bundle`);
  }
  return warnings;
}

/** Returns a warning while the upstream CA must sign a certificate, or its chain is refused. */
function awaiting({ signer }: SignerState): readonly string[] {
  const found = findCondition(signer.status?.conditions, 'AwaitingCertificate');
  return found?.status === 'True' ? [`${found.reason ?? ''}: ${found.message ?? ''}`] : [];
}
