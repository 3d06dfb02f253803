// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../src/kube/client.ts';
import { lines } from '../../src/kube/lines.ts';

export interface WatchInit {
  readonly client: Client;
  /** The collection's. */
  readonly path: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * Resolves once a watch is open. Its lines stay text: to parse them would take more of the cores that
 * the contender needs. `onLine` answers true for the last one of interest.
 *
 * @returns `done` resolves when `onLine` answered true, and rejects when the watch ended before
 */
export async function watchLines(
  { client, path, fieldSelector, resourceVersion, signal }: WatchInit,
  onLine: (line: string) => boolean,
): Promise<{ readonly done: Promise<void> }> {
  const chunks = await client.stream({
    method: 'GET',
    path,
    query: { watch: true, fieldSelector, resourceVersion },
    signal,
  });
  const read = async (): Promise<void> => {
    for await (const line of lines(chunks)) if (onLine(line)) return;
    throw new Error(`the watch of ${fieldSelector} ended before all was seen`);
  };
  const done = read();
  // Whoever awaits it hears of it; nobody may, when the contender does not even start.
  done.catch(() => undefined);
  return { done };
}

/** The name of the object of a watch line: its metadata come before anything of the user's. */
export function nameIn(line: string): string {
  const from = line.indexOf('"name":"') + 8;
  return line.slice(from, line.indexOf('"', from));
}
