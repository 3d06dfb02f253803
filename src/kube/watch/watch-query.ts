// SPDX-License-Identifier: Apache-2.0
import type { Random } from '#base/ports.ts';
import type { Query } from '../client/client.ts';

/** The objects of a collection to watch. */
export interface WatchSelection {
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly random: Random;
}

/**
 * The server ends a watch after this time plus a random part, so that not all watches reconnect at
 * once.
 */
const WATCH_SECONDS = 290;
const WATCH_SPREAD_SECONDS = 60;

/**
 * Returns the query of one watch.
 *
 * @param resourceVersion - the version from which it resumes. Without one it begins with a list
 *   (KEP-3157).
 */
export function watchQuery(
  { fieldSelector, labelSelector, random }: WatchSelection,
  resourceVersion: string | undefined,
): Query {
  const spread = (Buffer.from(random(1)).readUInt8() / 256) * WATCH_SPREAD_SECONDS;
  return {
    watch: true,
    allowWatchBookmarks: true,
    timeoutSeconds: WATCH_SECONDS + Math.floor(spread),
    fieldSelector,
    labelSelector,
    ...(resourceVersion === undefined
      ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion }),
  };
}
