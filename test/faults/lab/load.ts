// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../src/kube/client.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import { requestPem } from '../../support/requests.ts';
import { stubRequest } from '../../support/stub-request.ts';
import { NAMESPACE, RESOURCES, SIGNER_NAMES, pathOf, type Kind, type Wanted } from './wanted.ts';

/** Makes requests, straight at the API server: what is tested is who answers them. */
export interface Load {
  /** Resolves when it is stored, however long the API server is away. */
  create(kind: Kind, name: string): Promise<Wanted>;
  /** What is not stored yet is given up, by rejection. */
  stop(): void;
}

const AGAIN_MS = 200;

/**
 * @param requester - jane, of group dev
 * @param admin - may request on behalf of nodes
 */
export function createLoad(requester: Client, admin: Client): Load {
  let stopped = false;

  async function attempt(kind: Kind, name: string, body: unknown): Promise<string | undefined> {
    const client = kind === 'csr' ? requester : admin;
    const path = RESOURCES[kind].collection(kind === 'csr' ? undefined : NAMESPACE);
    try {
      return uidOf(await client.request({ method: 'POST', path, body }));
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // Stored by an earlier attempt, whose answer did not come.
      if (error.status === 409) {
        const stored = client.request({ method: 'GET', path: pathOf({ kind, name }) });
        return stored.then(uidOf, () => undefined);
      }
      // For a moment after its start an API server knows no roles yet.
      if (error.status === 400 || error.status === 422) throw error;
      return undefined;
    }
  }

  return {
    create: async (kind, name) => {
      const body = kind === 'csr' ? await csr(name) : pcr(name);
      for (;;) {
        const uid = await attempt(kind, name, body);
        if (uid !== undefined) return { kind, name, uid };
        await sleep(AGAIN_MS);
        if (stopped) throw new Error(`${name} was given up`);
      }
    },
    stop: () => {
      stopped = true;
    },
  };
}

function uidOf(object: unknown): string {
  return (object as { metadata: { uid: string } }).metadata.uid;
}

async function csr(name: string): Promise<object> {
  return {
    apiVersion: RESOURCES.csr.apiVersion,
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(await requestPem({})).toString('base64'),
      signerName: SIGNER_NAMES.csr,
      usages: ['digital signature', 'client auth'],
    },
  };
}

function pcr(name: string): object {
  return {
    apiVersion: RESOURCES.pcr.apiVersion,
    kind: 'PodCertificateRequest',
    metadata: { namespace: NAMESPACE, name },
    spec: {
      signerName: SIGNER_NAMES.pcr,
      podName: name,
      podUID: randomUUID(),
      serviceAccountName: 'web',
      serviceAccountUID: randomUUID(),
      nodeName: 'node-1',
      nodeUID: randomUUID(),
      maxExpirationSeconds: 86_400,
      stubPKCS10Request: stubRequest(),
    },
  };
}
