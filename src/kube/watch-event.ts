// SPDX-License-Identifier: Apache-2.0
import { KubeError, type Status } from './kube-error.ts';
import type { Stored } from './store.ts';

/** One line of a watch, taken apart. */
export type WatchEvent<T> =
  | { readonly type: 'put'; readonly object: T }
  | { readonly type: 'remove'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string; readonly initialEnd: boolean };

interface Line {
  readonly type?: string;
  readonly object?: Status & {
    readonly metadata?: { resourceVersion?: string; annotations?: Record<string, string> };
  };
}

/** Marks the end of the initial list in a watch with sendInitialEvents (KEP-3157). */
const INITIAL_END = 'k8s.io/initial-events-end';

/**
 * Reads a watch line.
 *
 * @throws SyntaxError for what is not JSON; KubeError for an ERROR event (410 and others)
 */
export function readWatchEvent<T extends Stored>(line: string): WatchEvent<T> {
  const { type, object } = JSON.parse(line) as Line;
  if (type === 'ERROR' || object === undefined) {
    throw new KubeError({ status: object?.code ?? 500, what: 'watch', body: object });
  }
  if (type === 'BOOKMARK') {
    return {
      type: 'bookmark',
      resourceVersion: object.metadata?.resourceVersion ?? '',
      initialEnd: object.metadata?.annotations?.[INITIAL_END] === 'true',
    };
  }
  return { type: type === 'DELETED' ? 'remove' : 'put', object: object as unknown as T };
}
