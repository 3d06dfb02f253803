// SPDX-License-Identifier: Apache-2.0
/** The format of events: CloudEvents 1.0.2 in the structured mode, as JSON. */
import { printable } from '#base/quote.ts';
import type { EventName } from '#api/object/event-names.ts';

const TYPE_PREFIX = 'dev.countersign.';

/** An event before formatting. */
export interface Occurrence {
  readonly name: EventName;
  /**
   * Identifies the object and the event, so that each delivery has the same id. Without a full
   * stop, for signatures.
   */
  readonly id: string;
  /** `podcertificaterequests/team-a/web-x7f2`. */
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly data: EventData;
}

/** Texts, and objects of texts. Undefined members are omitted. */
export interface EventData {
  readonly [member: string]: string | undefined | EventData;
}

/**
 * Longest text before it is truncated, in UTF-16 units. An invisible character becomes up to ten.
 */
const MAX_EVENT_TEXT = 512;

/**
 * Formats an event. Users choose names and messages, and receivers put them into chats and
 * terminals. Therefore each text is truncated, and control and invisible characters become `\u{…}`.
 * @param source - a URI reference that names the installation
 */
export function cloudEvent(source: string, { name, id, subject, at, data }: Occurrence): string {
  return JSON.stringify({
    specversion: '1.0',
    id,
    source,
    type: `${TYPE_PREFIX}${name}`,
    subject: boundedText(subject),
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data: bounded(data),
  });
}

/** Truncates and escapes an untrusted text. */
function boundedText(text: string): string {
  return printable(text.length > MAX_EVENT_TEXT ? `${text.slice(0, MAX_EVENT_TEXT)}…` : text);
}

function bounded(data: EventData): EventData {
  return Object.fromEntries(
    Object.entries(data).map(([member, value]) => [
      member,
      typeof value === 'string'
        ? boundedText(value)
        : typeof value === 'object'
          ? bounded(value)
          : undefined,
    ]),
  );
}
