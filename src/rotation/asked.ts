// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../api/cluster-signer.ts';
import { PREPARE_AT, ROTATE_AT } from '../api/rotation-annotations.ts';
import { parseTime } from '../api/time.ts';

/** What people ask for by annotations, in milliseconds. What is no time asks for nothing. */
export interface Asked {
  readonly rotateAt: number | undefined;
  readonly prepareAt: number | undefined;
  /** Annotations that hold something, but no time. */
  readonly unread: readonly string[];
}

export function askedOf({ metadata }: ClusterSigner): Asked {
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
