// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';
import type { Query } from '../client/client.ts';

/** Which objects of a collection to watch. */
export interface WatchSelection {
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly random: Random;
}

/** The server ends a watch after this time; it is spread so that not all watches reconnect at once. */
const WATCH_SECONDS = 290;
const WATCH_SPREAD_SECONDS = 60;

/**
 * The query of one watch.
 *
 * @param resourceVersion - where it resumes; without one it begins with a list (KEP-3157)
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
