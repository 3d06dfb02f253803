// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../../../api/signer/cluster-signer.ts';
import { secretOf } from '../../../api/signer/cluster-signer.ts';
import type { Condition } from '../../../api/request/conditions.ts';
import { parseDuration } from '../../../api/object/duration.ts';
import { CLUSTER_SIGNER_UID } from '../../../api/signer/grant.ts';
import { formatTime, parseTime } from '../../../api/object/time.ts';
import {
  requestedRotationOf,
  successorAwaitedSince,
} from '../../../rotation/requested-rotation.ts';
import type { Observation } from './observe.ts';
import type { ManagedRotation } from './managed-rotation.ts';
import { ownCaReplacementTime } from './own-ca.ts';
import type { SignerSnapshot } from './snapshot.ts';

/** What the conditions besides Ready depend on. */
export interface ConditionInput {
  readonly snapshot: SignerSnapshot;
  readonly finding: Observation;
  readonly managed: ManagedRotation | undefined;
  readonly authorities: readonly AuthorityStatus[];
}

/** A condition without its time. */
export type ConditionContent = Required<Pick<Condition, 'type' | 'status' | 'reason' | 'message'>>;

/**
 * Whether the CA is due for replacement, and why. The text follows only the CA, not the bundle: each change
 * of a phase is one write.
 */
export function rotationDue(input: ConditionInput): ConditionContent {
  const type = 'RotationDue';
  const { managed } = input;
  if (managed === undefined) return ownRotationDue(input);
  const { due, waitsFor, deadline } = managed;
  if (due === undefined)
    return withPendingSuccessor(input, notDue(deadline, 'its successor is due'));
  const isPrepared = input.authorities.some(({ phase }) => phase === 'Prepared');
  const waits = waitsFor === undefined || isPrepared ? '' : `; it waits: ${waitsFor}`;
  return { type, status: 'True', reason: due.reason, message: due.message + waits };
}

/** Adds what a successor that `prepare-at` requested waits for. */
function withPendingSuccessor(
  { snapshot, authorities, managed }: ConditionInput,
  content: ConditionContent,
): ConditionContent {
  const waitsFor = managed?.waitsFor;
  const since = successorAwaitedSince(snapshot.signer, authorities, snapshot.now);
  if (waitsFor === undefined || since === undefined) return content;
  const message = `${content.message}; a successor was requested for ${formatTime(since)} and waits: ${waitsFor}`;
  return { ...content, message };
}

function notDue(at: number | undefined, what: string): ConditionContent {
  const message = at === undefined ? '' : `${what} at ${formatTime(at)}`;
  return { type: 'RotationDue', status: 'False', reason: 'NotDue', message };
}

/** A CA that the user manages: only its owner can replace it. */
function ownRotationDue({ snapshot, authorities }: ConditionInput): ConditionContent {
  const { signer, now } = snapshot;
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined) return notDue(undefined, '');
  const { at, reason } = ownCaReplacementTime(active, snapshot.propagationSeconds);
  if (now < at) return notDue(at, 'put its successor into its Secret: due');
  const { namespace, name } = secretOf(signer.spec);
  const message = `the CA ends at ${active.notAfter}; put its successor into Secret ${namespace}/${name}`;
  return { type: 'RotationDue', status: 'True', reason, message };
}

/** Whether a CA is published that does not sign yet, and what it waits for. */
export function rotating({ authorities, managed, finding }: ConditionInput): ConditionContent {
  const type = 'Rotating';
  const prepared = authorities.filter(({ phase }) => phase === 'Prepared');
  const [first] = prepared;
  if (first === undefined) {
    return { type, status: 'False', reason: 'Idle', message: 'no CA is prepared' };
  }
  const { fingerprint } = first;
  if (fingerprint === finding.next?.fingerprint && managed?.due === undefined) {
    const message = `${fingerprint} is prepared and does not sign until a rotation is due`;
    return { type, status: 'False', reason: 'Held', message };
  }
  const message = `${fingerprint} signs once its anchor has been published for the propagation time`;
  return { type, status: 'True', reason: 'Publishing', message };
}

/** A fault that needs attention although requests are answered. */
export function degraded(input: ConditionInput): ConditionContent {
  const type = 'Degraded';
  const [reason, message] = faultOf(input) ?? [];
  return reason === undefined || message === undefined
    ? { type, status: 'False', reason: 'AsExpected', message: '' }
    : { type, status: 'True', reason, message };
}

function faultOf({ snapshot, finding, managed, authorities }: ConditionInput): Fault | undefined {
  const { signer, now } = snapshot;
  if (managed?.isImmutable === true) {
    return [
      'SecretImmutable',
      'the Secret is immutable, so its CA cannot be replaced; recreate it without immutable, with the same data and annotations',
    ];
  }
  if (finding.fault !== undefined) return ['SecretUnusable', finding.fault.message];
  if (managed?.isOurs === false) {
    return [
      'SecretNotOwned',
      `the Secret was not created for this ClusterSigner, so its CA is never replaced; to have it replaced, set the Secret's annotation ${CLUSTER_SIGNER_UID}: ${signer.metadata.uid}`,
    ];
  }
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active !== undefined && now >= fullLeavesUntil(active)) {
    return [
      'LeavesCutShort',
      `leaves are shorter than the profile allows, because their CA expires at ${active.notAfter}`,
    ];
  }
  return attentionOf(snapshot);
}

/** A fault that is not the CA's. */
function attentionOf({ signer, serving }: SignerSnapshot): Fault | undefined {
  const { attention } = serving ?? {};
  if (attention !== undefined) return [attention.reason, attention.message];
  const { unread } = requestedRotationOf(signer);
  if (unread.length === 0) return undefined;
  return [
    'AnnotationUnread',
    `${unread.join(' and ')}: not an RFC 3339 time; write it as 2026-11-21T09:00:00Z`,
  ];
}

type Fault = readonly [reason: string, message: string];

/** Until then a leaf may be as long as the profile allows; milliseconds. */
export function fullLeavesUntil({ notAfter, longestLeaf }: AuthorityStatus): number {
  return parseTime(notAfter) - parseDuration(longestLeaf) * 1000;
}
