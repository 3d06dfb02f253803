// SPDX-License-Identifier: Apache-2.0
import { stubRequest } from '../../support/requests/stub-pkcs10.ts';
import { SIGNER_NAMES } from '../lab/wanted.ts';

/** So many tenants and nodes have a share of the flood each. */
const NAMESPACES = 200;
const NODES = 1_000;
const GROUP_VERSION = 'certificates.k8s.io/v1';
/** The requests are made beforehand; their number is not in their bytes. */
const STUBS = 64;

/** PodCertificateRequests by their number, as an API server has them. */
export interface Flood {
  readonly size: number;
  /** @param version - its resourceVersion by now */
  object(number: number, version: number, issued: boolean): object;
  /** The number in a path; undefined where it is none of ours. */
  numberIn(path: string): number | undefined;
}

export function createFlood(size: number): Flood {
  const stubs = Array.from({ length: STUBS }, () => stubRequest());
  const creationTimestamp = new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString();
  return {
    size,
    object: (number, version, issued) => ({
      apiVersion: GROUP_VERSION,
      kind: 'PodCertificateRequest',
      metadata: {
        name: `flood-${number}`,
        namespace: `team-${number % NAMESPACES}`,
        uid: uuidOf(number, 1),
        resourceVersion: String(version),
        creationTimestamp: creationTimestamp.replace('.000', ''),
        managedFields: [],
      },
      spec: {
        signerName: SIGNER_NAMES.pcr,
        podName: `pod-${number}`,
        podUID: uuidOf(number, 2),
        serviceAccountName: 'web',
        serviceAccountUID: uuidOf(number % NAMESPACES, 3),
        nodeName: `node-${number % NODES}`,
        nodeUID: uuidOf(number % NODES, 4),
        maxExpirationSeconds: 86_400,
        stubPKCS10Request: stubs[number % STUBS],
      },
      status: issued ? { conditions: [{ type: 'Issued', status: 'True' }] } : {},
    }),
    numberIn: (path) => {
      const found = /\/podcertificaterequests\/flood-(\d+)(\/status)?$/.exec(path)?.[1];
      return found === undefined ? undefined : Number(found);
    },
  };
}

function uuidOf(number: number, kind: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-4000-8000-${String(kind).padStart(12, '0')}`;
}
