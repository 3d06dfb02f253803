// SPDX-License-Identifier: Apache-2.0
/** How far each target has got, so that the next process goes on there (ADR 0065). */
import type { ConfigMap } from '../../api/object/object.ts';
import type { EventObject } from '../../kube/events/body.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { Outgoing } from './delivery/outbox.ts';
import { isRequestPlural } from './events/seen-request.ts';
import { CONFIG_MAPS } from '../../kube/resource/core-v1.ts';

/** The ConfigMap's name, in the namespace of the components; the manifests make it empty. */
export const CURSORS = 'countersign-notifier';

const PREFIX = 'target.';

/** How far one target has got. */
export interface Cursor {
  /** Plural → resourceVersion: every object that has not changed since then was told of. */
  readonly versions: Readonly<Record<string, string>>;
  /** Certificates that were due until then were told of: milliseconds since 1970. */
  readonly due: number;
  /** By which threshold these were due. */
  readonly expiring: number;
  /** Short names of what was told of CAs and can still be told of. */
  readonly told: readonly string[];
}

/** Reads the cursors of all targets, by name, and the UID of the object that has them. @throws KubeError */
export async function readCursors(
  { client }: Pick<Component, 'client'>,
  namespace: string,
): Promise<{ readonly cursors: ReadonlyMap<string, Cursor>; readonly uid: string }> {
  const path = CONFIG_MAPS.object({ namespace, name: CURSORS });
  const { data = {}, metadata } = await client.request<ConfigMap>({ method: 'GET', path });
  const cursors = Object.entries(data).flatMap(([key, text]) => {
    const cursor = key.startsWith(PREFIX) ? cursorIn(text) : undefined;
    return cursor === undefined ? [] : [[key.slice(PREFIX.length), cursor] as const];
  });
  return { cursors: new Map(cursors), uid: metadata.uid };
}

/** The ConfigMap as Events name it: it has the name of every target. */
export function cursorsObject(namespace: string, uid: string | undefined): EventObject {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: CURSORS };
  return uid === undefined ? object : { ...object, uid };
}

/**
 * Writes the cursors of targets, and removes those of targets that are named no more.
 *
 * @throws KubeError
 */
export async function writeCursors(
  { client }: Pick<Component, 'client'>,
  namespace: string,
  cursors: ReadonlyMap<string, Cursor | undefined>,
): Promise<void> {
  const data = Object.fromEntries(
    [...cursors].map(([name, cursor]) => [
      `${PREFIX}${name}`,
      cursor === undefined ? null : JSON.stringify(cursor),
    ]),
  );
  const path = CONFIG_MAPS.object({ namespace, name: CURSORS });
  const contentType = 'application/merge-patch+json';
  await client.request({ method: 'PATCH', path, body: { data }, contentType });
}

const isVersion = (text: unknown): boolean => typeof text === 'string' && /^\d{1,20}$/.test(text);

/** Somebody else may have written it: what is no cursor is as if there was none, and what is no part of one is left out. */
function cursorIn(text: string): Cursor | undefined {
  try {
    const { versions, due, expiring, told } = JSON.parse(text) as Partial<Cursor>;
    const isCursor =
      typeof versions === 'object' &&
      Object.values(versions).every(isVersion) &&
      typeof due === 'number' &&
      typeof expiring === 'number' &&
      Array.isArray(told);
    if (!isCursor) return undefined;
    const known = Object.entries(versions).filter(([plural]) => isRequestPlural(plural));
    const texts = (told as readonly unknown[]).filter((each) => typeof each === 'string');
    return { versions: Object.fromEntries(known), due, expiring, told: texts };
  } catch {
    return undefined;
  }
}

/** What the next process may begin behind, by what still waits. */
export interface Progress {
  /** Plural → the version that the cache has reached. */
  readonly reached: ReadonlyMap<string, string>;
  /** Until when it was looked for certificates that are due. */
  readonly lookedAt: number;
  readonly expiring: number;
  /** What was handed to the target of CAs. */
  readonly told: ReadonlySet<string>;
}

/** The cursor of a target: just before the first that it has not taken. */
export function cursorOf(progress: Progress, pending: Iterable<Outgoing>): Cursor {
  const versions = new Map([...progress.reached].map(([plural, at]) => [plural, BigInt(at)]));
  const told = new Set(progress.told);
  let due = progress.lookedAt;
  for (const { mark } of pending) {
    if (mark.kind === 'due') due = Math.min(due, mark.at - 1);
    else if (mark.kind === 'state') told.delete(mark.key);
    else {
      const { resource: plural, version } = mark;
      const reached = versions.get(plural);
      if (reached === undefined || version - 1n < reached) versions.set(plural, version - 1n);
    }
  }
  return {
    versions: Object.fromEntries([...versions].map(([plural, at]) => [plural, String(at)])),
    ...{ due, expiring: progress.expiring, told: [...told] },
  };
}
