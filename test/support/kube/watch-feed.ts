// SPDX-License-Identifier: Apache-2.0
import type { Body } from '#kube/client/client.ts';

/** The body of a watch, and what puts lines into it; it ends when `signal` is aborted. */
export function watchFeed(signal: AbortSignal | undefined): {
  readonly send: (line: object) => void;
  readonly chunks: Body;
} {
  const waiting: object[] = [];
  let wake = (): void => undefined;
  signal?.addEventListener('abort', () => wake());
  async function* chunks(): AsyncGenerator<Uint8Array> {
    while (signal?.aborted !== true) {
      const line = waiting.shift();
      if (line !== undefined) yield Buffer.from(`${JSON.stringify(line)}\n`);
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const body = chunks();
  return {
    send: (line) => {
      waiting.push(line);
      wake();
    },
    chunks: { contentType: 'application/json', [Symbol.asyncIterator]: () => body },
  };
}
