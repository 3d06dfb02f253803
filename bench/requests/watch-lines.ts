// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { decodeLines } from '#kube/watch/line-decoder.ts';

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
 * Resolves once a watch is open. Its lines stay text: to parse them would take more of the cores
 * that the contender needs. `onLine` answers true for the last one of interest. The API server cuts
 * off who reads too slowly on a busy machine: then the watch goes on from the last line.
 *
 * @returns `done` resolves when `onLine` answered true, and rejects when the watch broke before
 */
export async function watchLines(
  init: WatchInit,
  onLine: (line: string) => boolean,
): Promise<{ readonly done: Promise<void> }> {
  let version = init.resourceVersion;
  const open = (): Promise<AsyncIterable<Uint8Array>> =>
    init.client.stream({
      method: 'GET',
      path: init.path,
      query: { watch: true, fieldSelector: init.fieldSelector, resourceVersion: version },
      signal: init.signal,
    });
  const read = async (chunks: AsyncIterable<Uint8Array>): Promise<boolean> => {
    for await (const line of decodeLines(chunks)) {
      // What ends a watch from the server's side: a Status, such as 410.
      if (line.startsWith('{"type":"ERROR"')) throw new Error(`${init.fieldSelector}: ${line}`);
      version = textAfter(line, '"resourceVersion":"');
      if (onLine(line)) return true;
    }
    return false;
  };
  const first = await open();
  const readAll = async (): Promise<void> => {
    for (let chunks = first; !(await read(chunks)); chunks = await open());
  };
  const done = readAll();
  // Whoever awaits it hears of it; nobody may, when the contender does not even start.
  done.catch(() => undefined);
  return { done };
}

/** The name of the object of a watch line: its metadata come before anything of the user's. */
export function nameIn(line: string): string {
  return textAfter(line, '"name":"');
}

function textAfter(line: string, mark: string): string {
  const from = line.indexOf(mark) + mark.length;
  return line.slice(from, line.indexOf('"', from));
}
