// SPDX-License-Identifier: Apache-2.0
/** The status of an ExternalClusterSigner: the condition Ready, and the hold across restarts. */
import type { ExternalSigner, ExternalSignerStatus } from '#api/external/external-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { conditionMessage, findCondition, setCondition } from '#api/request/conditions.ts';
import { ANCHOR_REJECTED } from '#api/serving/report.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { rejectedAnchor } from '#pki/x509/verifier-rules.ts';
import { LONGEST_HOLD_MS, type Hold } from './holds.ts';
import * as messages from './messages.ts';

/** Limit on a message, by the CRD. */
const MAX_MESSAGE_BYTES = 4_096;

/** The condition Ready. */
export interface Ready {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Returns the condition of a CA that can be called, with the verifiers that reject its anchors. */
export function readiness(
  anchors: readonly Certificate[],
  denial: string | undefined,
  now: number,
): Ready {
  if (denial !== undefined) return unready('RequestDenied', denial);
  const rejected = rejectedAnchor(anchors, now);
  return rejected === undefined
    ? { status: 'True', reason: 'Checked', message: messages.READY }
    : { status: 'True', reason: ANCHOR_REJECTED, message: messages.anchorRejected(rejected) };
}

export function unready(reason: string, message: string): Ready {
  return { status: 'False', reason, message };
}

/**
 * Returns the hold that an earlier process wrote. Without it, each restart would order another
 * certificate that is refused. One by a clock that was ahead ends after the longest delay.
 */
export function holdOf({ metadata, status }: ExternalSigner, now: number): Hold | undefined {
  const { retryAt = '', refusedAnswers = 1, observedGeneration, conditions } = status;
  const until = parseTime(retryAt);
  if (observedGeneration !== metadata.generation || !(until > now)) return undefined;
  const problem = findCondition(conditions, 'Ready')?.message ?? '';
  return { until: Math.min(until, now + LONGEST_HOLD_MS), count: refusedAnswers, problem };
}

export function withStatus<T extends KubeObject & { readonly status: ExternalSignerStatus }>(
  signer: T,
  ready: Ready,
  hold: Hold | undefined,
  now: number,
): T {
  const { metadata, status } = signer;
  const { generation } = metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const before = findCondition(status.conditions, 'Ready');
  const message = conditionMessage(ready.message, MAX_MESSAGE_BYTES);
  const isSame =
    before?.status === ready.status &&
    before.reason === ready.reason &&
    before.message === message &&
    before.observedGeneration === generation;
  const condition = {
    type: 'Ready',
    ...ready,
    message,
    lastTransitionTime: formatTime(now),
    ...observed,
  };
  const shown = isSame ? status.conditions : setCondition(status.conditions, condition);
  return {
    ...signer,
    status: {
      ...observed,
      ...(shown === undefined ? {} : { conditions: shown }),
      ...(hold === undefined
        ? {}
        : { retryAt: formatTime(hold.until), refusedAnswers: hold.count }),
    },
  };
}
