// SPDX-License-Identifier: Apache-2.0
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';

const WAIT_MS = 120_000;
const NAMESPACE = 'team-a';

/** cert-manager's Certificate, as far as tests look at it. */
export interface Certificate extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly revision?: number };
}

export interface CertificateWanted {
  readonly name: string;
  readonly issuer?: string;
  readonly spec?: object;
}

/** A Certificate of team-a as a user writes it; the Secret has its name. */
export async function applyCertificate(
  cluster: Cluster,
  { name, issuer = 'workload', spec = {} }: CertificateWanted,
): Promise<void> {
  const certificate = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { namespace: NAMESPACE, name },
    spec: {
      secretName: name,
      issuerRef: { group: 'countersign.dev', kind: 'ClusterSigner', name: issuer },
      dnsNames: [`${name}.team-a.svc`],
      usages: ['digital signature', 'server auth'],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      ...spec,
    },
  };
  await apply(cluster, certificate);
}

/** The Certificate once it is Ready with that revision or a later one. */
export function waitForRevision(
  cluster: Cluster,
  name: string,
  revision: number,
): Promise<Certificate> {
  return until(`Certificate ${name} has revision ${revision}`, WAIT_MS, async () => {
    const certificate = await get<Certificate>(cluster, 'certificates.cert-manager.io', name);
    const ready = conditionOf(certificate, 'Ready')?.status === 'True';
    if (ready && (certificate.status?.revision ?? 0) >= revision) return certificate;
    throw new Error(JSON.stringify(certificate.status ?? {}));
  });
}

/** A condition of a Certificate once it is False. */
export function waitForFailure(cluster: Cluster, name: string): Promise<Condition> {
  return until(`Certificate ${name} has failed`, WAIT_MS, async () => {
    const certificate = await get<Certificate>(cluster, 'certificates.cert-manager.io', name);
    const issuing = conditionOf(certificate, 'Issuing');
    return issuing?.status === 'False' ? issuing : undefined;
  });
}

export function conditionOf({ status }: Certificate, type: string): Condition | undefined {
  return findCondition(status?.conditions, type);
}

export function getSecret(cluster: Cluster, name: string): Promise<Secret> {
  return get<Secret>(cluster, 'secrets', name);
}

/** All CertificateRequests that cert-manager made for a Certificate, the first one first. */
export async function requestsOf(
  cluster: Cluster,
  name: string,
): Promise<readonly CertificateRequest[]> {
  const { stdout } = await cluster.kubectl([
    'get',
    'certificaterequests.cert-manager.io',
    '-n',
    NAMESPACE,
    '-o',
    'json',
  ]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly CertificateRequest[] };
  return items
    .filter((each) => each.metadata.annotations?.['cert-manager.io/certificate-name'] === name)
    .toSorted((a, b) => revisionOf(a) - revisionOf(b));
}

function revisionOf({ metadata }: CertificateRequest): number {
  return Number(metadata.annotations?.['cert-manager.io/certificate-revision']);
}

async function get<T>(cluster: Cluster, kind: string, name: string): Promise<T> {
  const { stdout } = await cluster.kubectl(['get', kind, name, '-n', NAMESPACE, '-o', 'json']);
  return JSON.parse(stdout) as T;
}
