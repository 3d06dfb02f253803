// SPDX-License-Identifier: Apache-2.0
import { parseJson } from '../resource/json.ts';
import { KubeError, type Status } from '../client/kube-error.ts';
import type { StoredObject } from '../resource/object.ts';

/** One event of a watch. ADDED and MODIFIED are both `put`: caches treat them alike. */
export type WatchEvent<T> =
  | { readonly type: 'put'; readonly object: T }
  | { readonly type: 'remove'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string; readonly initialEnd: boolean };

interface Line {
  readonly type?: string;
  readonly object?: unknown;
}

/**
 * The annotation of the bookmark that ends the initial list of a watch with sendInitialEvents
 * (KEP-3157).
 */
const INITIAL_END = 'k8s.io/initial-events-end';

/**
 * Reads a watch event in JSON.
 *
 * @throws SyntaxError for an invalid watch event. KubeError for an ERROR event (410 and others).
 */
export function readWatchEvent<T extends StoredObject>(line: string): WatchEvent<T> {
  // The members that are read of a line are checked below.
  const { type, object } = (parseJson(line) ?? {}) as Line;
  return toWatchEvent<T>(type, object);
}

/** Builds an event from its type and its object. @throws as {@link readWatchEvent} */
export function toWatchEvent<T extends StoredObject>(
  type: string | undefined,
  object: unknown,
): WatchEvent<T> {
  if (type === 'ERROR') throw watchError(statusOf(object));
  if (!hasVersion(object)) throw new SyntaxError('a watch event without metadata.resourceVersion');
  if (type === 'BOOKMARK') return readBookmark(object);
  // The path of the watch determines the kind of its objects.
  const stored = object as T;
  if (type === 'ADDED' || type === 'MODIFIED') return { type: 'put', object: stored };
  if (type === 'DELETED') return { type: 'remove', object: stored };
  throw new SyntaxError(`a watch event of an unknown type: ${String(type)}`);
}

function watchError(body: Status): KubeError {
  return new KubeError({ status: body.code ?? 500, what: 'watch', body });
}

/**
 * The required part of every event except errors. For the rest, this client trusts the API server.
 */
interface VersionedObject {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

function hasVersion(object: unknown): object is VersionedObject {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return false;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null) return false;
  return 'resourceVersion' in metadata && typeof metadata.resourceVersion === 'string';
}

function readBookmark({ metadata }: VersionedObject): WatchEvent<never> {
  const { resourceVersion, annotations } = metadata;
  return { type: 'bookmark', resourceVersion, initialEnd: annotations?.[INITIAL_END] === 'true' };
}

function statusOf(object: unknown): Status {
  return typeof object === 'object' && object !== null ? object : {};
}
