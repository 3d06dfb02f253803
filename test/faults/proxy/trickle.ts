// SPDX-License-Identifier: Apache-2.0
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const BYTE_MS = 1_000;

/** Writes a byte a second, for as long as somebody is there. */
export async function trickle(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  response.flushHeaders();
  for (const byte of bytes) {
    if (response.destroyed) return;
    response.write(Uint8Array.of(byte));
    await sleep(BYTE_MS);
  }
}
