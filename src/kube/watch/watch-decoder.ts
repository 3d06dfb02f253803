// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF } from '../protobuf/envelope.ts';
import type { Body } from '../client/client.ts';
import { decodeFrames } from './frame-decoder.ts';
import { decodeLines } from './line-decoder.ts';
import { readWatchEvent, type WatchEvent } from './watch-event.ts';
import { readWatchMessage, type ReadMessage } from './watch-message.ts';
import type { StoredObject } from '../resource/object.ts';

/** Returns the Accept header of a watch: protobuf if `read` decodes its objects, else JSON. */
export function watchMediaTypes(read: ReadMessage<unknown> | undefined): string {
  return read === undefined ? 'application/json' : `${PROTOBUF},application/json`;
}

/**
 * Decodes the events of a watch by the content type of its response, and passes each to `take`,
 * until it ends.
 *
 * @throws WatchError as `decodeLines`, SyntaxError and KubeError as `readWatchEvent`, and what
 *   `take` throws
 */
export async function decodeWatch<T extends StoredObject>(
  body: Body,
  read: ReadMessage<T> | undefined,
  take: (event: WatchEvent<T>) => void,
): Promise<void> {
  if (read !== undefined && body.contentType.startsWith(PROTOBUF)) {
    await decodeFrames(body, (frame) => {
      take(readWatchMessage(frame, read));
    });
  } else {
    for await (const line of decodeLines(body)) take(readWatchEvent<T>(line));
  }
}
