// SPDX-License-Identifier: Apache-2.0
/** What is told, and how it is written: CloudEvents 1.0.2 in the structured mode, as JSON. */
import { printable } from '../../../quote.ts';
import type { EventName } from '../../../api/object/event-names.ts';

const TYPE_PREFIX = 'dev.countersign.';

/** Something that happened. */
export interface Occurrence {
  readonly name: EventName;
  /** Of the thing and of what happened to it: the same however often it is told. Without a full stop, for signatures. */
  readonly id: string;
  /** `podcertificaterequests/team-a/web-x7f2`. */
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly data: EventData;
}

/** Texts, and objects of texts; undefined members are left out. */
export interface EventData {
  readonly [member: string]: string | undefined | EventData;
}

/** UTF-16 units of a text before it is cut. A hidden character becomes up to ten. */
const MOST_TEXT = 512;

/**
 * An event as it is sent. Others choose names and messages: each text is cut, and its control and invisible characters are
 * written as `\u{…}`, since receivers put them into chats and terminals.
 *
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

/** A text of somebody else's as events have it. */
function boundedText(text: string): string {
  return printable(text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text);
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
