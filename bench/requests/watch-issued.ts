// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { watchLines } from './watch-lines.ts';

export interface IssuedInit {
  readonly client: Client;
  /** The collection's. */
  readonly path: string;
  readonly signerName: string;
  readonly resourceVersion: string;
  readonly size: number;
  /** Only a line with a certificate holds this text. */
  readonly mark: string;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** What a line of a watch of PodCertificateRequests holds once there is a certificate. */
export const POD_ISSUED = '"type":"Issued"';
/** The same of CertificateSigningRequests: an empty certificate is left out. */
export const CSR_ISSUED = '"certificate":"';

/** An open watch that counts certificates. */
export interface Issued {
  /** Resolves when it has seen one. */
  readonly first: Promise<void>;
  /** Resolves when it has seen `size`. */
  readonly all: Promise<void>;
  readonly seen: () => number;
}

/**
 * Resolves once the watch is open. What the text promises is checked when the clock stands
 * (verify-issued.ts).
 */
export async function watchIssued(init: IssuedInit): Promise<Issued> {
  const first = Promise.withResolvers<undefined>();
  let seen = 0;
  const fieldSelector = `spec.signerName=${init.signerName}`;
  const { done } = await watchLines({ ...init, fieldSelector }, (line) => {
    if (!line.startsWith('{"type":"MODIFIED"') || !line.includes(init.mark)) return false;
    seen++;
    if (seen === 1) first.resolve(undefined);
    return seen === init.size;
  });
  return { first: first.promise, all: done, seen: () => seen };
}
