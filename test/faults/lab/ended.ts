// SPDX-License-Identifier: Apache-2.0
import { isFinished as isAnswered } from '#api/request/certificate-request.ts';
import { isFinished } from '#api/request/csr.ts';
import { isTerminal } from '#api/request/pod-certificate-request.ts';
import type { Client } from '#kube/client/client.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import type { AnyRequest, Kind, Wanted } from './wanted.ts';
import { RESOURCES } from './wanted.ts';

const ENDED = {
  csr: isFinished,
  pcr: isTerminal,
  cr: isAnswered,
} as const satisfies Readonly<Record<Kind, unknown>>;

export function isEnded(kind: Kind, request: AnyRequest): boolean {
  return ENDED[kind](request as never);
}

/** UID → the request as the API server has it now. */
export async function listRequests(client: Client): Promise<ReadonlyMap<string, AnyRequest>> {
  const found = new Map<string, AnyRequest>();
  for (const each of Object.values(RESOURCES)) {
    await listPages({ client, path: each.collection() }, (object) => {
      found.set(object.metadata.uid, object as AnyRequest);
    });
  }
  return found;
}

/** Those of `wanted` that have not ended. */
export async function unended(
  client: Client,
  wanted: readonly Wanted[],
): Promise<readonly Wanted[]> {
  const now = await listRequests(client);
  return wanted.filter(({ kind, uid }) => {
    const request = now.get(uid);
    return request === undefined || !isEnded(kind, request);
  });
}
