// SPDX-License-Identifier: Apache-2.0
import {
  certificateRequest,
  type CertificateRequestWanted,
} from '../support/requests/certificate-request.ts';
import { NOW } from '../support/pki/chain.ts';
import type { MemoryApi, Thing } from '../support/kube/memory-api.ts';
import { ISSUER, issuerObject, startReady, type World } from './world.ts';

export const CERTIFICATE_REQUEST =
  '/apis/cert-manager.io/v1/namespaces/team-a/certificaterequests/web-1';

/** An author who serves every kind. */
export const KINDS = {
  requests: ['CertificateSigningRequest', 'PodCertificateRequest', 'CertificateRequest'],
} as const;

/** A CertificateRequest for the issuer, approved and created now. */
export function certificateRequestObject(wanted: CertificateRequestWanted = {}, now = NOW): Thing {
  const request = certificateRequest(wanted);
  const creationTimestamp = new Date(now).toISOString().replace('.000Z', 'Z');
  return {
    ...request,
    metadata: { ...request.metadata, uid: 'web-1-uid', creationTimestamp },
    spec: {
      ...request.spec,
      issuerRef: { group: 'example.com', kind: 'TestIssuer', name: 'one' },
    },
  };
}

/** cert-manager's CustomResourceDefinition is there: discovery says so. */
export function installCertManager(api: MemoryApi): void {
  const resources = [{ name: 'certificaterequests' }];
  const metadata = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
  const list = { apiVersion: 'v1', kind: 'APIResourceList', metadata, resources };
  api.put('/apis/cert-manager.io/v1', list);
}

/** What a team may have of the issuer by CertificateRequests. */
const certificateRequests = {
  rules: [
    {
      name: 'services',
      when: 'true',
      allow: {
        dnsNames: "self.endsWith('.svc')",
        usages: ['digital signature', 'server auth'],
      },
    },
  ],
} as const;

export const SPEC = { certificateRequests };

/** A ready issuer that takes CertificateRequests, where cert-manager is installed. */
export async function startWithCertManager(): Promise<World> {
  const it = await startReady(KINDS);
  it.api.put(ISSUER, { ...issuerObject(SPEC), status: it.api.get(ISSUER)?.status });
  installCertManager(it.api);
  await it.time.advance(5_000);
  return it;
}

/** Creates one, or puts another in its place. */
export async function put(it: World, wanted: CertificateRequestWanted = {}): Promise<void> {
  it.api.put(CERTIFICATE_REQUEST, certificateRequestObject(wanted, it.time.clock()));
  await it.settle();
}
