// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { compileProfile, type Profile } from '#ca/issuance/profile.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { Kind } from './work.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

/** The ClusterSigner: people's names from CSRs, one SPIFFE ID a pod; the same usages for both. */
export function profileOf(kind: Kind): Profile {
  const pods = {
    allow: "pod.namespace.startsWith('team-')",
    uris: ["'spiffe://cluster.local/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
  };
  const spec = {
    signerName: 'example.com/bench',
    authority: { secret: { namespace: 'keys', name: 'ca' } },
    requests: { copy: ['commonName', 'organizations'] },
    ...(kind === 'pcr' ? { pods } : {}),
  };
  const object = { ...head('countersign.dev/v1alpha1', 'ClusterSigner', 'bench'), spec };
  return compileProfile(readClusterSigner(object).spec);
}

function head(apiVersion: string, kind: string, name: string): CertificateSigningRequest {
  const metadata = {
    name,
    uid: 'f6c0a1de-0000-4000-8000-000000000001',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-21T06:00:00Z',
  };
  return { apiVersion, kind, metadata } as unknown as CertificateSigningRequest;
}

export function csrObject(base64: string): CertificateSigningRequest {
  const pem = encodePem('CERTIFICATE REQUEST', Buffer.from(base64, 'base64'));
  return {
    ...head('certificates.k8s.io/v1', 'CertificateSigningRequest', 'jane'),
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'example.com/bench',
      usages: ['digital signature', 'client auth', 'server auth'],
      username: 'jane',
      groups: ['dev'],
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  };
}

export function podObject(stubPKCS10Request: string): PodCertificateRequest {
  const { metadata } = head('', '', 'req-web-0');
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { ...metadata, namespace: 'team-a' },
    spec: {
      signerName: 'example.com/bench',
      podName: 'web-0',
      podUID: 'f6c0a1de-0000-4000-8000-000000000002',
      serviceAccountName: 'web',
      serviceAccountUID: 'f6c0a1de-0000-4000-8000-000000000003',
      nodeName: 'node-1',
      nodeUID: 'f6c0a1de-0000-4000-8000-000000000004',
      maxExpirationSeconds: 86_400,
      stubPKCS10Request,
    },
  };
}
