// SPDX-License-Identifier: Apache-2.0
import { requestPem } from '../../test/support/cluster/requests/csr.ts';
import { inParallel } from '../requests/in-parallel.ts';
import { USAGES, type AcmeContender } from './baselines.ts';
import { ZONE, type Stage } from './stage.ts';

const NAMES = 3;
const WORKERS = 16;
const COLLECTION = '/apis/cert-manager.io/v1/namespaces/{namespace}/certificaterequests';

/** A PKCS#10 request and its names. */
export interface Wanted {
  readonly pem: string;
  readonly dnsNames: readonly string[];
}

/** PKCS#10 requests of three names each, which nobody asked for before. */
export function newRequests(size: number, label: string): Promise<readonly Wanted[]> {
  const namesOf = (request: number): readonly string[] =>
    Array.from({ length: NAMES }, (_, index) => `n${index}.r${request}.${label}.${ZONE}`);
  return Promise.all(
    Array.from({ length: size }, async (_, request) => {
      const dnsNames = namesOf(request);
      const commonName = '';
      return { dnsNames, pem: await requestPem({ dnsNames, commonName, organizations: [] }) };
    }),
  );
}

export function requestsIn(namespace: string): string {
  return COLLECTION.replace('{namespace}', namespace);
}

/** What our policy, as cert-manager's webhook, wants to be true of who creates a request. */
export async function makerOf({ cluster }: Stage): Promise<object> {
  const { stdout } = await cluster.kubectl(['auth', 'whoami', '-o', 'json']);
  return (JSON.parse(stdout) as { readonly status: { readonly userInfo: object } }).status.userInfo;
}

export interface RequestsWanted {
  readonly namespace: string;
  readonly wanted: readonly Wanted[];
  /** Who creates them: userInfo. */
  readonly maker: object;
}

/** Creates and approves them: two writes each, which are the bench's own. */
export async function createRequests(
  { client }: Stage,
  { issuerRef }: Pick<AcmeContender, 'issuerRef'>,
  { namespace, wanted, maker }: RequestsWanted,
): Promise<void> {
  const path = requestsIn(namespace);
  const condition = { type: 'Approved', status: 'True', reason: 'Bench', message: 'by the bench' };
  await inParallel(wanted, WORKERS, async ({ pem }, index) => {
    const name = `request-${index}`;
    const request = Buffer.from(pem).toString('base64');
    const body = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: { name },
      spec: { issuerRef, usages: USAGES, request, ...maker },
    };
    await client.request({ method: 'POST', path, body });
    await client.request({
      method: 'PATCH',
      path: `${path}/${name}/status`,
      body: { status: { conditions: [condition] } },
      contentType: 'application/merge-patch+json',
    });
  });
}
