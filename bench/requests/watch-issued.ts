// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../src/kube/client.ts';
import { lines } from '../../src/kube/lines.ts';
import { REQUESTS } from './backlog.ts';
import { NAMESPACE } from '../cluster/start.ts';

export interface IssuedInit {
  readonly client: Client;
  readonly signerName: string;
  readonly resourceVersion: string;
  readonly size: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** An open watch that counts certificates. */
export interface Issued {
  /** Resolves when it has seen one. */
  readonly first: Promise<void>;
  /** Resolves when it has seen `size`. */
  readonly all: Promise<void>;
  readonly seen: () => number;
}

/**
 * Resolves once the watch is open.
 *
 * Lines are searched as text: to parse them would take more of the cores that the contender needs.
 * What the text promises is checked when the clock stands (verify-issued.ts).
 */
export async function watchIssued(init: IssuedInit): Promise<Issued> {
  const { client, signerName, resourceVersion, signal } = init;
  const fieldSelector = `spec.signerName=${signerName}`;
  const chunks = await client.stream({
    method: 'GET',
    path: REQUESTS.collection(NAMESPACE),
    query: { watch: true, fieldSelector, resourceVersion },
    signal,
  });
  const first = Promise.withResolvers<undefined>();
  let seen = 0;
  const count = async (): Promise<void> => {
    for await (const line of lines(chunks)) {
      if (!line.startsWith('{"type":"MODIFIED"') || !line.includes('"type":"Issued"')) continue;
      seen++;
      if (seen === 1) first.resolve(undefined);
      if (seen === init.size) return;
    }
    throw new Error(`the watch of ${signerName} ended after ${seen} certificates`);
  };
  const all = count();
  // Whoever awaits it hears of it; nobody may, when the contender does not even start.
  all.catch(() => undefined);
  return { first: first.promise, all, seen: () => seen };
}
