// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import { resource } from '#kube/resource/resource.ts';
import { stubRequest } from '../../test/support/requests/stub-pkcs10.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { removeAll } from './remove-all.ts';
import { inParallel } from './in-parallel.ts';
import type { StoredObject } from '#kube/resource/object.ts';

export const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'podcertificaterequests',
});

/** Pending requests of one signer name that nobody serves yet. */
export interface Backlog {
  readonly signerName: string;
  readonly size: number;
  /** All of them as they are now; a watch from `resourceVersion` on tells what becomes of them. */
  list(): Promise<Listing>;
  /** Resolves when none is left. */
  remove(): Promise<void>;
}

export interface Listing {
  readonly items: readonly PodCertificateRequest[];
  readonly resourceVersion: string;
}

/** Below the API server's own limit of mutating requests in flight (200). */
const CREATIONS_IN_FLIGHT = 32;

/** So many empty PKCS#10 requests, each with a P-256 key of its own. */
export function newStubs(size: number): readonly string[] {
  return Array.from({ length: size }, stubRequest);
}

/** So many of them, over and over: for requests that nobody is to answer again. */
export function repeated(stubs: readonly string[], size: number): readonly string[] {
  return Array.from({ length: size }, (_, index) => stubs[index % stubs.length] ?? '');
}

/**
 * Every contender gets the same keys; creation is not part of what is measured.
 *
 * @param podUids - of pods that are there; default: of none
 */
export async function createBacklog(
  { client }: BenchCluster,
  signerName: string,
  stubs: readonly string[],
  podUids: readonly string[] = [],
): Promise<Backlog> {
  const path = REQUESTS.collection(NAMESPACE);
  // Several backlogs may lie beside each other.
  const prefix = signerName.slice(signerName.indexOf('/') + 1);
  await inParallel(stubs, CREATIONS_IN_FLIGHT, async (stub, index) => {
    const made = podRequest({ signerName, name: `${prefix}-${index}`, stub });
    const podUID = podUids[index] ?? made.spec.podUID;
    const body = { ...made, spec: { ...made.spec, podUID } };
    await client.request({ method: 'POST', path, body });
  });
  const fieldSelector = `spec.signerName=${signerName}`;
  const list = async (): Promise<Listing> => {
    const items: PodCertificateRequest[] = [];
    const take = (object: StoredObject): unknown => items.push(object as PodCertificateRequest);
    return { resourceVersion: await listPages({ client, path, fieldSelector }, take), items };
  };
  return {
    signerName,
    size: stubs.length,
    list,
    remove: () => removeAll(client, path, { fieldSelector }),
  };
}

export interface PodWanted {
  readonly signerName: string;
  readonly name: string;
  /** As `newStubs` makes them. */
  readonly stub: string;
}

/** A request as a kubelet writes it. */
export function podRequest({ signerName, name, stub }: PodWanted): PodCertificateRequest {
  return {
    apiVersion: REQUESTS.apiVersion,
    kind: 'PodCertificateRequest',
    metadata: { namespace: NAMESPACE, name } as PodCertificateRequest['metadata'],
    spec: {
      signerName,
      podName: `web-${name}`,
      podUID: randomUUID(),
      serviceAccountName: 'web',
      serviceAccountUID: randomUUID(),
      nodeName: 'node-1',
      nodeUID: randomUUID(),
      maxExpirationSeconds: 86_400,
      stubPKCS10Request: stub,
    },
  };
}
