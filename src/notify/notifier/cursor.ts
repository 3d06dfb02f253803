// SPDX-License-Identifier: Apache-2.0
/** The progress of each target, with which the next process continues (ADR 0065). */
import { isRecord, membersOf } from '#base/record.ts';
import type { ConfigMap } from '#api/object/object.ts';
import type { EventObject } from '#kube/events/body.ts';
import type { Component } from '#component/contract.ts';
import type { OutgoingEvent } from './delivery/outbox.ts';
import { isRequestPlural } from './events/seen-request.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { CURSORS } from './objects.ts';

const PREFIX = 'target.';

/** The progress of one target. */
export interface Cursor {
  /** Plural → resourceVersion up to which events about objects were delivered. */
  readonly versions: Readonly<Record<string, string>>;
  /** Time up to which events about due certificates were delivered, in milliseconds since 1970. */
  readonly due: number;
  /** Threshold that made these certificates due. */
  readonly expiring: number;
  /** Short names of the delivered events about CAs that still apply. */
  readonly told: readonly string[];
}

/**
 * Reads the cursors of all targets, by name, and the UID of the object that has them. @throws
 * KubeError
 */
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

/** Returns the ConfigMap as the regarding object of Events. It represents all targets. */
export function cursorsObject(namespace: string, uid: string | undefined): EventObject {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: CURSORS };
  return uid === undefined ? object : { ...object, uid };
}

/**
 * Writes the cursors of targets, and removes those of targets that are no longer configured.
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

function isVersion(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,20}$/.test(text);
}

/**
 * Parses a cursor, which another client may have written. Treats an invalid cursor as absent, and
 * omits invalid parts.
 */
function cursorIn(text: string): Cursor | undefined {
  try {
    const { versions, due, expiring, told } = membersOf(JSON.parse(text));
    if (!isRecord(versions) || !Object.values(versions).every(isVersion)) return undefined;
    if (typeof due !== 'number' || typeof expiring !== 'number' || !Array.isArray(told))
      return undefined;
    const known = Object.entries(versions).flatMap(([plural, version]) =>
      isRequestPlural(plural) && isVersion(version) ? [[plural, version] as const] : [],
    );
    const texts = told.filter((each: unknown) => typeof each === 'string');
    return { versions: Object.fromEntries(known), due, expiring, told: texts };
  } catch {
    return undefined;
  }
}

/** Progress of a session, before subtracting pending events. */
export interface Progress {
  /** Plural → version that the cache has reached. */
  readonly reached: ReadonlyMap<string, string>;
  /** Time up to which due certificates were examined. */
  readonly lookedAt: number;
  readonly expiring: number;
  /** Short names of events about CAs that were pushed to the target. */
  readonly told: ReadonlySet<string>;
}

/** Returns the cursor of a target, just before its first pending event. */
export function cursorOf(progress: Progress, pending: Iterable<OutgoingEvent>): Cursor {
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
    due,
    expiring: progress.expiring,
    told: [...told],
  };
}
