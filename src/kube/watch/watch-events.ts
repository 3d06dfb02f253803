// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF } from '../../protobuf/envelope.ts';
import type { Body } from '../client/client.ts';
import { eachFrame } from './frames.ts';
import { lines } from './lines.ts';
import type { Stored } from '../resource/store.ts';
import { readWatchEvent, type WatchEvent } from './watch-event.ts';
import { readWatchFrame, type ReadMessage } from './watch-frame.ts';

/** What a watch asks for: protobuf where we can read its objects, and JSON where the server has none. */
export function acceptedBy(read: ReadMessage<unknown> | undefined): string {
  return read === undefined ? 'application/json' : `${PROTOBUF},application/json`;
}

/**
 * Hands over the events of a watch, in the form that it came in, until it ends.
 *
 * @throws as `lines` and `readWatchEvent`, and what `take` throws
 */
export async function readWatch<T extends Stored>(
  body: Body,
  read: ReadMessage<T> | undefined,
  take: (event: WatchEvent<T>) => void,
): Promise<void> {
  if (read !== undefined && body.contentType.startsWith(PROTOBUF)) {
    await eachFrame(body, (frame) => {
      take(readWatchFrame(frame, read));
    });
  } else {
    for await (const line of lines(body)) take(readWatchEvent<T>(line));
  }
}
