// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { hasTrueCondition } from '#api/request/conditions.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { parseDuration } from '#api/object/duration.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { LATE_SIGNING_MS } from '#ca/rotation/authorities.ts';
import { tooManyRetiring, managedAuthorityOf, notObserved, noBundle } from '../preflight.ts';
import {
  impossible,
  type ChangePlan,
  annotationTime,
  replacedScheduleNotes,
} from '../change-plan.ts';
import { authoritiesOf, successorDelayNotes, type SignerState } from '../signer-state.ts';
import { resolveFingerprint } from '../resolve-fingerprint.ts';
import { sharedAnchorErrors, successorRootNotes } from '../shared-anchors.ts';

/**
 * Plans `taint`, which replaces a CA that you no longer trust. The CA stops signing as soon as its
 * successor may sign. It stays in the bundle, so that its leaves can be replaced without an outage.
 * `revoke` ends the trust.
 * @param text - the CA's fingerprint or a prefix
 */
export function taint(state: SignerState, text: string): ChangePlan {
  const found = resolveFingerprint(state, text);
  if ('problem' in found) return impossible(found.problem);
  const { fingerprint } = found;
  const target = authoritiesOf(state).find((each) => each.fingerprint === fingerprint);
  if (target === undefined) {
    return impossible(
      `${fingerprint} is not a CA of this ClusterSigner; to remove its anchor from the bundle, use countersign authority revoke`,
    );
  }
  if (target.phase === 'Prepared') {
    return impossible(
      `${fingerprint} has not signed anything yet; use countersign authority revoke, and another CA is created`,
    );
  }
  const notes = [leafExpiryText(state, target), ...successorRootNotes(state, fingerprint)];
  if (target.phase !== 'Active') {
    const done = { Retiring: 'no longer signs', Distrusted: 'is already distrusted' }[target.phase];
    return {
      target: fingerprint,
      preflightErrors: [],
      notes: [`${fingerprint} ${done}`, ...notes],
    };
  }
  const order = replaceActive(state, target);
  return { ...order, target: fingerprint, notes: [...order.notes, ...notes] };
}

/**
 * Returns the time until which a leaf of the CA can be valid. While the CA signs, this is an
 * estimate, bounded by the CA's notAfter, which no leaf outlives.
 */
function leafExpiryText(state: SignerState, authority: AuthorityStatus): string {
  const { fingerprint, phase, leavesExpireBy, notAfter } = authority;
  if (leavesExpireBy !== undefined)
    return `no leaf of ${fingerprint} is valid after ${leavesExpireBy}`;
  if (phase === 'Prepared') return `no leaf of ${fingerprint} exists`;
  const { now, propagationSeconds } = state;
  const stops = now + propagationSeconds * 1000 + LATE_SIGNING_MS;
  const last = stops + parseDuration(authority.longestLeaf) * 1000;
  const estimate = formatTime(Math.min(last, parseTime(notAfter)));
  return `leaves of ${fingerprint} may be valid until about ${estimate}, and never after ${notAfter}; the exact time is known once the CA has stopped signing`;
}

function replaceActive(state: SignerState, { fingerprint }: AuthorityStatus): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const { now } = state;
  if (isRotationRequested(state)) {
    return { preflightErrors: [], notes: [`${fingerprint} is already being replaced`] };
  }
  const beside = authoritiesOf(state)
    .filter(({ phase }) => phase === 'Prepared')
    .map((each) => each.fingerprint);
  return {
    change: {
      annotations: { [ROTATE_AT]: annotationTime(now) },
      ...(beside.length === 0 ? {} : { distrust: beside }),
    },
    preflightErrors: [
      ...notObserved(state),
      ...noBundle(state),
      ...tooManyRetiring(state, managed),
      ...beside.flatMap((each) => sharedAnchorErrors(state, each)),
    ],
    notes: [
      ...replacedScheduleNotes(state, ROTATE_AT),
      ...beside.map(
        (each) =>
          `${each}, prepared in the same Secret, is distrusted too: a client that can read one key can read both`,
      ),
      `a successor is created and published; ${fingerprint} signs until every kubelet has the successor's anchor (to stop it at once: countersign authority revoke --force)`,
      ...(beside.length === 0 ? successorDelayNotes(state) : []),
    ],
  };
}

/** Reports whether a requested rotation is in progress. */
function isRotationRequested({ signer, now }: SignerState): boolean {
  const { metadata, status } = signer;
  const requestedAt = parseTime(metadata.annotations?.[ROTATE_AT] ?? '');
  return requestedAt <= now && hasTrueCondition(status?.conditions, 'RotationDue');
}
