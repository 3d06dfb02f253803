// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';
import { resource } from '../resource/resource.ts';
import { microTime } from '../resource/json.ts';

/** Events (events.k8s.io/v1). */
export const EVENTS = resource({ group: 'events.k8s.io', version: 'v1', plural: 'events' });

/** The object that an Event is about: `core/v1` ObjectReference. */
export interface EventObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Absent for cluster-scoped objects, whose Events go to the namespace `default`. */
  readonly namespace?: string;
  readonly uid?: string;
}

/** The content of an Event about an object (events.k8s.io/v1). */
export interface EventDetails {
  readonly regarding: EventObject;
  readonly related?: EventObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase. */
  readonly reason: string;
  /** The action of the controller: a CamelCase verb. */
  readonly action: string;
  readonly note: string;
  /**
   * The flow distinguisher whose budget pays. Default: the namespace of `regarding`. Not written.
   */
  readonly flow?: string | undefined;
}

/** events.k8s.io/v1 rejects a longer note or instance name. */
const MAX_NOTE = 1_024;
const MAX_INSTANCE = 128;

/** Returns the Event to create. Shortens note and instance to what the API server accepts. */
export function eventBody(
  note: EventDetails,
  from: {
    readonly name: string;
    readonly namespace: string;
    readonly controller: string;
    readonly instance: string;
    readonly now: number;
  },
): object {
  return {
    apiVersion: EVENTS.apiVersion,
    kind: 'Event',
    metadata: { name: from.name, namespace: from.namespace },
    eventTime: microTime(from.now),
    reportingController: from.controller,
    reportingInstance: from.instance.slice(0, MAX_INSTANCE),
    action: note.action,
    reason: note.reason,
    type: note.type,
    note: cut(printable(note.note)),
    regarding: note.regarding,
    ...(note.related === undefined ? {} : { related: note.related }),
  };
}

/** Shortens a text to the limit, which counts bytes. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_NOTE) return text;
  return `${bytes
    .subarray(0, MAX_NOTE - 6)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}
