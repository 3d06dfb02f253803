// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';

/**
 * - `lost`: it is stored, and the answer never comes (performance-and-reliability T31);
 * - `unreachable`: nothing is stored and no answer comes.
 */
export type Trouble = 'lost' | 'unreachable';

/**
 * An API server that holds one object, for a recorded client: it fences writes as the real one
 * does.
 */
export interface OneObject<T> {
  readonly answer: (request: RequestInit) => T;
  /** What it holds now; a test may change it as somebody else would. */
  stored: T | undefined;
  /** What befalls the next writes, in order. */
  readonly troubles: Trouble[];
  /** Called when it is asked anything, before it answers. */
  asked: () => void;
}

/** @param read - of a write's body, where it is not the object itself */
export function oneObject<T extends KubeObject>(
  first: T,
  read: (body: unknown) => T = (body) => body as T,
): OneObject<T> {
  const server: OneObject<T> = {
    stored: first,
    troubles: [],
    asked: () => undefined,
    answer: (request) => {
      server.asked();
      const what = `${request.method} ${request.path}`;
      const { stored } = server;
      if (stored === undefined) throw new KubeError({ status: 404, what });
      return request.method === 'GET' ? stored : write(server, stored, read(request.body), what);
    },
  };
  return server;
}

function write<T extends KubeObject>(server: OneObject<T>, stored: T, body: T, what: string): T {
  const trouble = server.troubles.shift();
  const { resourceVersion } = stored.metadata;
  if (trouble === 'unreachable') throw new KubeError({ status: 0, what, cause: 'no route' });
  if (body.metadata.resourceVersion !== resourceVersion) {
    throw new KubeError({ status: 409, what, body: { reason: 'Conflict' } });
  }
  const metadata = { ...stored.metadata, resourceVersion: String(Number(resourceVersion) + 1) };
  // What a write of the status leaves out stays as it is.
  server.stored = { ...stored, ...body, metadata };
  if (trouble === 'lost') throw new KubeError({ status: 0, what, cause: 'cut' });
  return server.stored;
}
