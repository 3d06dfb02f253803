// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/kube-error.ts';
import type { StoredObject } from '../kube/resource/object.ts';
import { resource } from '../kube/resource/resource.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import type { TimelineEntry } from './explanation.ts';

const EVENTS = resource({ group: '', version: 'v1', plural: 'events' });

/** Where the API server keeps the Events of objects without a namespace. */
const OF_CLUSTER = 'default';

interface Event extends StoredObject {
  readonly reason?: string;
  readonly message?: string;
  readonly type?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string; readonly count?: number };
  readonly reportingComponent?: string;
  readonly source?: { readonly component?: string };
}

/** What a component of ours said of an object. */
export interface Said {
  /** RFC 3339. */
  readonly at: string;
  readonly component: string;
  readonly reason: string;
  readonly message: string;
}

/** The Events that regard an object. */
export interface ReadEvents {
  readonly moments: readonly TimelineEntry[];
  /** The newest warning of a component of ours. */
  readonly said: Said | undefined;
}

/** An object whose Events are read. */
export interface Regarded {
  readonly uid: string;
  readonly namespace?: string | undefined;
}

/**
 * Reads the Events that regard an object, which the API server keeps for an hour.
 *
 * @returns nothing where the user may not list Events
 * @throws KubeError of the API server
 */
export type EventReader = (regarded: Regarded) => Promise<ReadEvents>;

/** Reads the Events of each object once: an explanation may ask for them again, as for each request of a pod. */
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
  { uid, namespace = OF_CLUSTER }: Regarded,
): Promise<ReadEvents> {
  const found: Event[] = [];
  const fieldSelector = `involvedObject.uid=${uid}`;
  try {
    await listPages({ client, path: EVENTS.collection(namespace), fieldSelector }, (object) => {
      found.push(object);
    });
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
  }
  const [said] = found.flatMap(saidIn).toSorted((a, b) => b.at.localeCompare(a.at));
  return { moments: found.map(momentOf), said };
}

const OURS = 'countersign.dev/';

function saidIn(event: Event): readonly Said[] {
  const { reason = '', message = '', type } = event;
  const at = timeOf(event);
  const reporter = reporterOf(event);
  if (type !== 'Warning' || at === undefined || !reporter.startsWith(OURS)) return [];
  return [{ at, component: reporter.slice(OURS.length), reason, message }];
}

function momentOf(event: Event): TimelineEntry {
  const { reason = '', message = '', type = 'Normal', series } = event;
  const times = series?.count === undefined ? '' : ` (${series.count} times)`;
  const what = `Event ${type} ${reason}${times} by ${reporterOf(event)}: ${message}`;
  const at = timeOf(event);
  return at === undefined ? { what } : { at, what };
}

/** Events of events.k8s.io have no lastTimestamp, those of old clients no eventTime. To the second, as all other times are. */
function timeOf({ series, lastTimestamp, eventTime }: Event): string | undefined {
  const at = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? undefined;
  return at?.replace(/\.\d+/, '');
}

function reporterOf({ reportingComponent, source }: Event): string {
  if (reportingComponent !== undefined && reportingComponent !== '') return reportingComponent;
  return source?.component ?? 'somebody';
}
