// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { conditionMessage, findCondition, setCondition } from '#api/request/conditions.ts';
import type { Condition } from '#api/request/conditions.ts';
import {
  AWAITING_COMPONENTS,
  KEY_LOST,
  NOT_SERVED,
  UNRECORDED_CERTIFICATE,
  isCaReady,
} from '#api/serving/report.ts';
import { formatTime } from '#api/object/time.ts';
import { OBSERVATION_PENDING, type ServingFinding } from '../serving/serving-of.ts';
import type { ConditionContent } from './conditions.ts';
import type { SignerSnapshot } from './snapshot.ts';
import * as messages from '../messages.ts';

/**
 * Reports whether the components that the signer needs serve it, or undefined if that cannot be
 * known. Keeps the previous finding while one of them has not observed the signer yet.
 */
export function servingNow({ signer, serving }: SignerSnapshot): ServingFinding | undefined {
  if (serving?.reason !== OBSERVATION_PENDING) return serving;
  const before = findCondition(signer.status?.conditions, 'Served');
  if (before === undefined || before.status === 'Unknown') return serving;
  const { status, reason = '', message = '' } = before;
  return { ...serving, status, reason, message };
}

/** Returns the condition UnrecordedCertificate if there is a ledger. */
export function unrecorded(serving: ServingFinding | undefined): readonly ConditionContent[] {
  const { unrecorded: found } = serving ?? {};
  return found === undefined ? [] : [{ type: UNRECORDED_CERTIFICATE, ...found }];
}

/** Returns the condition Served. */
export function served({ status, reason, message }: ServingFinding): ConditionContent {
  return { type: 'Served', status, reason, message };
}

/**
 * Returns Ready of a signer with a checked CA. It is false if the signer's requests are not
 * answered.
 */
export function readyIfServed(
  ready: ConditionContent,
  serving: ServingFinding | undefined,
): ConditionContent {
  if (ready.status !== 'True' || serving === undefined) return ready;
  const { message } = serving;
  if (serving.status === 'False') {
    return { ...ready, status: 'False', reason: NOT_SERVED, message };
  }
  if (serving.reason !== OBSERVATION_PENDING) return ready;
  return { ...ready, status: 'False', reason: AWAITING_COMPONENTS, message };
}

/**
 * Returns the status of a signer whose Secret cannot be read now but whose CA was checked before,
 * since a failed read does not contradict that. Returns undefined if it was not checked in this
 * generation.
 */
export function statusWhileUnread(snapshot: SignerSnapshot): ClusterSignerStatus | undefined {
  const { signer, now } = snapshot;
  if (!wasChecked(signer) || signer.status === undefined) return undefined;
  const serving = servingNow(snapshot);
  const before = findCondition(signer.status.conditions, 'Ready');
  const checked = {
    type: 'Ready',
    status: 'True',
    reason: 'Checked',
    message: messages.SIGNING_EARLIER_READ,
  } as const;
  const isKept = before?.status === 'True' || before?.reason === KEY_LOST;
  const { status, reason = '', message = '' } = isKept ? before : checked;
  const ready = readyIfServed({ ...checked, status, reason, message }, serving);
  const known = serving === undefined ? [] : [served(serving)];
  const contents = [ready, ...known, ...unrecorded(serving)];
  return { ...signer.status, conditions: withContents(signer, contents, now) };
}

/**
 * Returns the conditions with these contents, each message on one line. Removes Served if nothing
 * is known of it.
 */
export function withContents(
  { status, metadata }: ClusterSigner,
  contents: readonly ConditionContent[],
  now: number,
): readonly Condition[] {
  const isKnown = contents.some(({ type }) => type === 'Served');
  const before = (status?.conditions ?? []).filter(({ type }) => isKnown || type !== 'Served');
  const conditions = contents.reduce<readonly Condition[]>(
    (all, each) =>
      setCondition(all, {
        ...each,
        message: conditionMessage(each.message),
        observedGeneration: metadata.generation ?? 0,
        lastTransitionTime: formatTime(now),
      }),
    before,
  );
  return inOrder(conditions);
}

/** Puts Ready first, where users and `kubectl wait` look. */
function inOrder(conditions: readonly Condition[]): readonly Condition[] {
  return conditions.toSorted((a, b) => Number(b.type === 'Ready') - Number(a.type === 'Ready'));
}

function wasChecked({ status, metadata }: ClusterSigner): boolean {
  return status?.observedGeneration === metadata.generation && isCaReady(status?.conditions);
}
