// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { KEY_LOST } from '#api/serving/report.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';

/** Reports whether the key of the Active CA is lost. Until its successor signs, no CA does. */
export function isKeyLost({ status }: Pick<ClusterSigner, 'status'>): boolean {
  return findCondition(status?.conditions, 'Ready')?.reason === KEY_LOST;
}

/** The command that prints what to do about a lost key. */
export const LOST_KEY_REMEDY =
  'countersign check --explain ca-usable   # no action is needed: the new CA signs after the wait. Prints how to sign sooner';
