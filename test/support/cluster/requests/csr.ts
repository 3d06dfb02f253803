// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { until } from '../../../cluster/until.ts';
import type { KeyType } from '#base/vocabulary.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { encodePem } from '#pki/der/pem.ts';
import { userRoles } from '#install/user-roles.ts';
import { randomBytes } from 'node:crypto';
import { apply } from '../apply.ts';

const WAIT_MS = 120_000;

export async function getCsr(cluster: Cluster, name: string): Promise<CertificateSigningRequest> {
  const { stdout } = await cluster.kubectl(['get', 'csr', name, '-o', 'json']);
  return JSON.parse(stdout) as CertificateSigningRequest;
}

export async function conditionOf(
  cluster: Cluster,
  name: string,
  type: string,
): Promise<Condition | undefined> {
  return findCondition((await getCsr(cluster, name)).status?.conditions, type);
}

/** The condition once it is there. */
export function waitForCondition(
  cluster: Cluster,
  name: string,
  type: string,
): Promise<Condition & { readonly reason: string; readonly message: string }> {
  return until(`csr ${name} is ${type}`, WAIT_MS, async () => {
    const { reason = '', message = '', ...rest } = (await conditionOf(cluster, name, type)) ?? {};
    return 'type' in rest ? { ...(rest as Condition), reason, message } : undefined;
  });
}

/** The PEM of its certificate once it is there. */
export function waitForCertificate(cluster: Cluster, name: string): Promise<string> {
  return until(`csr ${name} has its certificate`, WAIT_MS, async () => {
    const { status } = await getCsr(cluster, name);
    const certificate = status?.certificate ?? '';
    return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString();
  });
}

export interface CsrWanted {
  readonly signerName?: string;
  readonly name?: string;
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly keyType?: KeyType;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
  /** The requester; default: jane of group dev, by impersonation. */
  readonly as?: { readonly user: string; readonly groups: readonly string[] };
  /** Instead of a request of our own making: PEM. */
  readonly pem?: string;
}

/** The PEM of a PKCS#10 request with a fresh key. */
export async function requestPem(wanted: CsrWanted): Promise<string> {
  const { key } = await generatePrivateKey(wanted.keyType ?? 'ECDSAP256');
  const der = encodeRequest({
    subject: {
      commonName: wanted.commonName ?? 'jane',
      organizations: wanted.organizations ?? ['dev'],
      organizationalUnits: [],
    },
    sans: {
      dnsNames: wanted.dnsNames ?? [],
      uris: [],
      emails: [],
      ipAddresses: wanted.ipAddresses ?? [],
    },
    key,
  });
  return encodePem('CERTIFICATE REQUEST', der);
}

/** Creates a CertificateSigningRequest as its requester. @returns its name */
export async function createCsr(cluster: Cluster, wanted: CsrWanted = {}): Promise<string> {
  const name = wanted.name ?? `test-${randomBytes(5).toString('hex')}`;
  const pem = wanted.pem ?? (await requestPem(wanted));
  const csr = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: wanted.signerName ?? 'example.com/people',
      usages: wanted.usages ?? ['digital signature', 'client auth'],
      ...(wanted.expirationSeconds === undefined
        ? {}
        : { expirationSeconds: wanted.expirationSeconds }),
    },
  };
  const { user, groups } = wanted.as ?? { user: 'jane', groups: ['dev'] };
  const as = ['--as', user, ...groups.flatMap((group) => ['--as-group', group])];
  await cluster.kubectl(['create', '-f', '-', ...as], { input: JSON.stringify(csr) });
  return name;
}

/** Binds the shipped ClusterRole of requesters to group dev. */
export async function allowRequesters(cluster: Cluster): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const binding = {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'dev-csr' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'countersign-csr-requester' },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'dev' }],
  };
  const list = { apiVersion: 'v1', kind: 'List', items: [...userRoles(), binding] };
  await apply(cluster, list);
}
