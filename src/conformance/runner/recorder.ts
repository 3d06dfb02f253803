// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { messageOf } from '#base/errors.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { WatchEvent } from '#kube/watch/watch-event.ts';
import { decodeWatch } from '#kube/watch/watch-decoder.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import type { Run } from './run.ts';

/** One version of an object, and the time of its observation in milliseconds of the local clock. */
export interface SeenVersion<T> {
  readonly object: T;
  readonly at: number;
}

/** Records every version of the objects of a collection. */
export interface Recorder<T> {
  /** Returns the versions in the order of their arrival. */
  versionsOf(uid: string): readonly SeenVersion<T>[];
  /** Returns the last version of every object. */
  objects(): readonly T[];
  /** Adds a version from the response to a call of the runner. */
  add(object: T): void;
  /** False as soon as the runner may have missed a version. */
  readonly isComplete: boolean;
  stop(): Promise<void>;
}

/** The collection to record. */
export interface RecorderInit {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Whether the user may watch. If not, the recorder polls each object. */
  readonly mayWatch: boolean;
}

/** The interval at which the runner reads objects that it may not watch. */
const OBJECT_POLL_MS = 300;
const WATCH_RETRY_MS = 500;

/** A version, and its characters as JSON. */
interface RecordedVersion<T> extends SeenVersion<T> {
  readonly size: number;
}

/** The inputs of a recorder, and its records. */
interface Recording<T> {
  readonly run: Run;
  readonly resource: Resource;
  readonly path: string;
  readonly selectors: { readonly labelSelector?: string; readonly fieldSelector?: string };
  readonly signal: AbortSignal;
  /** Versions by UID, in the order of resource versions. */
  readonly seen: Map<string, RecordedVersion<T>[]>;
  /** The sum of the sizes of all versions. */
  size: number;
  /** The resourceVersion from which the watch continues. */
  version: string;
  isComplete: boolean;
}

/**
 * Starts to record. Resolves when the collection is listed. @throws KubeError when the list fails
 */
export async function startRecorder<T extends KubeObject>(
  run: Run,
  { resource, namespace, labelSelector, fieldSelector, mayWatch }: RecorderInit,
): Promise<Recorder<T>> {
  const ended = new AbortController();
  const recording: Recording<T> = {
    run,
    resource,
    path: resource.collection(namespace),
    selectors: {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    },
    signal: AbortSignal.any([run.signal, ended.signal]),
    seen: new Map(),
    size: 0,
    version: '',
    isComplete: mayWatch,
  };
  if (mayWatch) recording.version = await list(recording);
  const running = mayWatch ? watch(recording) : poll(recording);
  return {
    versionsOf: (uid) => recording.seen.get(uid) ?? [],
    objects: () =>
      [...recording.seen.values()].flatMap((versions) => versions.at(-1)?.object ?? []),
    add: (object) => add(recording, object),
    get isComplete() {
      return recording.isComplete;
    },
    stop: async () => {
      ended.abort(new Error('the recorder was stopped'));
      await running;
    },
  };
}

/**
 * The limit of recorded versions. A few writes answer a request. A signer that writes without end
 * must not exhaust the runner's memory.
 */
const MAX_VERSIONS = 100;
/**
 * The limit of all recorded versions, in characters as JSON. A signer can write 1.5 megabytes
 * into each version of each request. Beyond it a request keeps its first version and its newest.
 */
const MAX_RECORDED_TEXT = 32 * 1024 * 1024;

function add<T extends KubeObject>(recording: Recording<T>, object: T): void {
  const { run, seen } = recording;
  const versions = seen.get(object.metadata.uid) ?? [];
  seen.set(object.metadata.uid, versions);
  const { resourceVersion } = object.metadata;
  if (versions.some((each) => each.object.metadata.resourceVersion === resourceVersion)) return;
  const size = JSON.stringify(object).length;
  const isFull = recording.size + size > MAX_RECORDED_TEXT && versions.length > 1;
  if (isFull || versions.length >= MAX_VERSIONS) {
    // The newest version replaces the last one.
    recording.size -= versions.pop()?.size ?? 0;
    recording.isComplete = false;
  }
  recording.size += size;
  versions.push({ object, at: run.clock(), size });
  // The response to a write may arrive before the watch event.
  versions.sort(
    (a, b) => Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion),
  );
}

function list<T extends KubeObject>(recording: Recording<T>): Promise<string> {
  const { run, path, selectors, signal } = recording;
  const take = (object: T): void => add(recording, object);
  return listPages({ client: run.client, path, ...selectors }, take, signal);
}

async function follow<T extends KubeObject>(recording: Recording<T>): Promise<void> {
  const { run, path, selectors, signal, version: resourceVersion } = recording;
  const query = { watch: true, resourceVersion, allowWatchBookmarks: true, ...selectors };
  const body = await run.client.stream({ method: 'GET', path, query, signal });
  await decodeWatch<T & StoredObject>(body, undefined, (event) => {
    if (event.type === 'put') add(recording, event.object);
    recording.version = versionOf(event);
  });
}

async function watch<T extends KubeObject>(recording: Recording<T>): Promise<void> {
  const { run, signal } = recording;
  while (!signal.aborted) {
    await follow(recording).catch(async (error: unknown) => {
      if (signal.aborted) return;
      recording.isComplete = false;
      run.progress(`watch closed, reconnecting: ${messageOf(error)}`);
      await run.delay(WATCH_RETRY_MS, signal).catch(() => undefined);
      recording.version = await list(recording).catch(() => recording.version);
    });
  }
}

async function poll<T extends KubeObject>(recording: Recording<T>): Promise<void> {
  const { run, resource, signal, seen } = recording;
  while (!signal.aborted) {
    for (const versions of seen.values()) {
      const metadata = versions.at(-1)?.object.metadata;
      if (metadata === undefined) continue;
      const object = { method: 'GET', path: resource.object(metadata), signal } as const;
      await run.client.request<T>(object).then(
        (found) => add(recording, found),
        () => undefined,
      );
    }
    await run.delay(OBJECT_POLL_MS, signal).catch(() => undefined);
  }
}

function versionOf(event: WatchEvent<StoredObject>): string {
  return event.type === 'bookmark' ? event.resourceVersion : event.object.metadata.resourceVersion;
}
