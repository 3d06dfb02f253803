// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF } from '../protobuf/envelope.ts';
import type { Body } from './client.ts';
import { frames } from './frames.ts';
import { lines } from './lines.ts';
import type { Stored } from './store.ts';
import { readWatchEvent, type WatchEvent } from './watch-event.ts';
import { readWatchFrame, type ReadMessage } from './watch-frame.ts';

/** What a watch asks for: protobuf where we can read its objects, and JSON where the server has none. */
export function acceptedBy(read: ReadMessage<unknown> | undefined): string {
  return read === undefined ? 'application/json' : `${PROTOBUF},application/json`;
}

/** The events of a watch, in the form that it came in. @throws as `lines` and `readWatchEvent` */
export async function* watchEvents<T extends Stored>(
  body: Body,
  read: ReadMessage<T> | undefined,
): AsyncGenerator<WatchEvent<T>> {
  if (read !== undefined && body.contentType.startsWith(PROTOBUF)) {
    for await (const frame of frames(body)) yield readWatchFrame(frame, read);
  } else {
    for await (const line of lines(body)) yield readWatchEvent<T>(line);
  }
}
