// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { parseTime } from '#api/object/time.ts';
import { CA_BACKDATE_SECONDS } from '../issuance/ca-certificate.ts';

/** The rotations that annotations request, in milliseconds. Invalid times request nothing. */
export interface RequestedRotation {
  readonly rotateAt: number | undefined;
  readonly prepareAt: number | undefined;
  /** Annotations with an invalid time. */
  readonly unread: readonly string[];
}

/** Reads the rotations that the annotations of a ClusterSigner request. */
export function requestedRotationOf({ metadata }: ClusterSigner): RequestedRotation {
  const { annotations = {} } = metadata;
  const read = (name: string): number | undefined => {
    const time = parseTime(annotations[name] ?? '');
    return Number.isNaN(time) ? undefined : time;
  };
  const [rotateAt, prepareAt] = [read(ROTATE_AT), read(PREPARE_AT)];
  return {
    rotateAt,
    prepareAt,
    unread: [ROTATE_AT, PREPARE_AT].filter(
      (name) => annotations[name] !== undefined && read(name) === undefined,
    ),
  };
}

/**
 * Returns when a user requested the successor that is due and does not exist, in milliseconds.
 *
 * @param authorities - as in the status, or as it will be
 */
export function successorAwaitedSince(
  signer: ClusterSigner,
  authorities: readonly AuthorityStatus[],
  now: number,
): number | undefined {
  const { prepareAt } = requestedRotationOf(signer);
  if (prepareAt === undefined || prepareAt > now) return undefined;
  if (authorities.some(({ phase }) => phase === 'Prepared')) return undefined;
  const active = authorities.find(({ phase }) => phase === 'Active');
  const bornAt = parseTime(active?.notBefore ?? '') + CA_BACKDATE_SECONDS * 1000;
  return bornAt < prepareAt ? prepareAt : undefined;
}
