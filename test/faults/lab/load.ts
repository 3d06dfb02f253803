// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isApproved, type CertificateRequest } from '#api/request/certificate-request.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { certificateRequestBody } from '../../support/cluster/requests/certificate-request.ts';
import { stubRequest } from '../../support/requests/stub-pkcs10.ts';
import {
  NAMESPACE,
  RESOURCES,
  SIGNER_NAMES,
  namespaceOf,
  pathOf,
  type Kind,
  type Wanted,
} from './wanted.ts';
import { requestPem } from '../../support/cluster/requests/csr.ts';

/** Makes requests, straight at the API server: what is tested is who answers them. */
export interface Load {
  /**
   * Resolves when it is stored (and what needs an approver approved), however long the API server
   * is away.
   */
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
    const client = kind === 'pcr' ? admin : requester;
    const path = RESOURCES[kind].collection(namespaceOf(kind));
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

  /** As an approver of cert-manager's. @returns whether it is approved, as far as was heard */
  async function approve(wanted: Wanted): Promise<boolean> {
    try {
      const request = await admin.request<CertificateRequest>({
        method: 'GET',
        path: pathOf(wanted),
      });
      if (isApproved(request)) return true;
      // Fenced by its resourceVersion: an approval that is stored and was not heard of is not lost
      // by another.
      const body = { ...request, status: { ...request.status, conditions: [APPROVED] } };
      await admin.request({ method: 'PUT', path: pathOf(wanted, 'status'), body });
      return true;
    } catch (error) {
      if (error instanceof KubeError && error.status !== 422) return false;
      throw error;
    }
  }

  async function insist<T>(name: string, attempts: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const done = await attempts();
      if (done !== undefined) return done;
      await sleep(AGAIN_MS);
      if (stopped) throw new Error(`${name} was given up`);
    }
  }

  return {
    create: async (kind, name) => {
      const body = await BODIES[kind](name);
      const uid = await insist(name, () => attempt(kind, name, body));
      const wanted = { kind, name, uid };
      if (kind === 'cr') await insist(name, async () => (await approve(wanted)) || undefined);
      return wanted;
    },
    stop: () => {
      stopped = true;
    },
  };
}

const APPROVED = { type: 'Approved', status: 'True', reason: 'Lab', message: 'by the lab' };

/** The object that is created. */
const BODIES: Readonly<Record<Kind, (name: string) => object | Promise<object>>> = {
  csr,
  pcr,
  cr: (name) => {
    const dnsNames = [`web.${NAMESPACE}.svc`];
    return certificateRequestBody({ namespace: NAMESPACE, name, dnsNames });
  },
};

function uidOf(object: unknown): string {
  return (object as { metadata: { uid: string } }).metadata.uid;
}

/**
 * Of jane for herself, which her rule allows; of anybody else for a name that no rule speaks of.
 */
export async function csr(name: string): Promise<object> {
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
