// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import type { TimelineEntry } from './explanation.ts';

const EVENTS = resource({ group: '', version: 'v1', plural: 'events' });

/** Namespace of Events about objects without a namespace. */
const OF_CLUSTER = 'default';

interface Event extends StoredObject {
  readonly reason?: string;
  readonly message?: string;
  readonly type?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string; readonly count?: number };
  /** Count of an old client. Events of events.k8s.io have it in `series`. */
  readonly count?: number;
  readonly reportingComponent?: string;
  readonly source?: { readonly component?: string };
}

/** A warning Event of a Countersign component. */
export interface LatestWarning {
  /** RFC 3339. */
  readonly at: string;
  readonly component: string;
  readonly reason: string;
  readonly message: string;
}

/** The Events that regard an object. */
export interface ReadEvents {
  readonly moments: readonly TimelineEntry[];
  /** Latest warning of a Countersign component. */
  readonly latestWarning: LatestWarning | undefined;
  /** Message of the latest warning of any component. */
  readonly warning: string | undefined;
}

/** An object whose Events are read. */
export interface EventSubject {
  readonly uid: string;
  readonly namespace?: string | undefined;
}

/**
 * Reads the Events that regard an object, which the API server keeps for an hour.
 *
 * @returns nothing where the user may not list Events
 * @throws KubeError of the API server
 */
export type EventReader = (regarded: EventSubject) => Promise<ReadEvents>;

/**
 * Returns a reader that reads the Events of each object once. An explanation may need them again,
 * as for each request of a pod.
 */
export function eventReader(client: Client): EventReader {
  const known = new Map<string, Promise<ReadEvents>>();
  return (regarded) => {
    const reading = known.get(regarded.uid) ?? readEvents(client, regarded);
    known.set(regarded.uid, reading);
    return reading;
  };
}

async function readEvents(
  client: Client,
  { uid, namespace = OF_CLUSTER }: EventSubject,
): Promise<ReadEvents> {
  const fieldSelector = `involvedObject.uid=${uid}`;
  const found = await listReadable<Event>(client, EVENTS, { namespace, fieldSelector });
  const [latestWarning] = found.flatMap(warningsIn).toSorted((a, b) => b.at.localeCompare(a.at));
  const byTime = found.toSorted((a, b) => (timeOf(a) ?? '').localeCompare(timeOf(b) ?? ''));
  const newest = byTime.findLast(({ type }) => type === 'Warning');
  return { moments: momentsOf(byTime), latestWarning, warning: newest?.message };
}

const REPORTERS = 'countersign.dev/';

function warningsIn(event: Event): readonly LatestWarning[] {
  const { reason = '', message = '', type } = event;
  const at = timeOf(event);
  const reporter = reporterOf(event);
  if (type !== 'Warning' || at === undefined || !reporter.startsWith(REPORTERS)) return [];
  return [{ at, component: reporter.slice(REPORTERS.length), reason, message }];
}

/**
 * Returns an entry for each Event that differs from the others. Each replica of a component reports
 * an Event of its own, and so does each process after a rollout: equal ones are one entry, at the
 * latest time.
 *
 * @param events - oldest first
 */
function momentsOf(events: readonly Event[]): readonly TimelineEntry[] {
  const merged = new Map<string, { readonly latest: Event; readonly count: number }>();
  for (const latest of events) {
    const { type, reason, message } = latest;
    const key = JSON.stringify([type, reason, message, reporterOf(latest)]);
    const before = merged.get(key)?.count ?? 0;
    merged.set(key, { latest, count: before + countOf(latest) });
  }
  return [...merged.values()].map(({ latest, count }) => momentOf(latest, count));
}

/** Returns how often an Event occurred. The API server omits a count of 0. */
function countOf({ series, count = 1 }: Event): number {
  return series?.count ?? count;
}

function momentOf(event: Event, count: number): TimelineEntry {
  const { reason = '', message = '', type = 'Normal' } = event;
  const times = count === 1 ? '' : ` (${count} times)`;
  const what = `Event ${type} ${reason}${times} by ${reporterOf(event)}: ${message}`;
  const at = timeOf(event);
  return at === undefined ? { what } : { at, what };
}

/**
 * Returns the time of an Event in seconds, like all other times. Events of events.k8s.io have no
 * lastTimestamp, and Events of old clients have no eventTime.
 */
function timeOf({ series, lastTimestamp, eventTime }: Event): string | undefined {
  const at = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? undefined;
  return at?.replace(/\.\d+/, '');
}

function reporterOf({ reportingComponent, source }: Event): string {
  if (reportingComponent !== undefined && reportingComponent !== '') return reportingComponent;
  return source?.component ?? 'an unknown component';
}
