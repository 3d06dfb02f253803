// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { until } from '../../../cluster/until.ts';
import { requestPem, type CsrWanted } from './csr.ts';
import { apply } from '../apply.ts';

const WAIT_MS = 120_000;

export interface CertificateRequestWanted extends Pick<
  CsrWanted,
  'dnsNames' | 'keyType' | 'usages' | 'pem'
> {
  readonly namespace?: string;
  readonly name?: string;
  readonly commonName?: string;
  readonly duration?: string;
  readonly isCA?: boolean;
  readonly issuerRef?: { readonly group?: string; readonly kind?: string; readonly name?: string };
  /** What the object says of its maker, where that is not so. */
  readonly username?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Who asks: of group dev, which may create CertificateRequests but approve none. */
export const REQUESTER = 'jane';
const GROUPS = ['dev', 'system:authenticated'];

/** Members of group dev may create and edit CertificateRequests, their status included. */
export async function allowCertificateRequesters(cluster: Cluster): Promise<void> {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  const metadata = { name: 'certificate-requesters' };
  const resources = ['certificaterequests', 'certificaterequests/status'];
  const verbs = ['create', 'get', 'list', 'update', 'patch'];
  const rules = [{ apiGroups: ['cert-manager.io'], resources, verbs }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', ...metadata };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'dev' }];
  const items = [
    { ...rbac, kind: 'ClusterRole', metadata, rules },
    { ...rbac, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ];
  await apply(cluster, ...items);
}

/** As cert-manager writes it for a Certificate, with what its webhook adds of the maker. */
export async function certificateRequestBody(
  wanted: CertificateRequestWanted = {},
): Promise<{ readonly metadata: { readonly namespace: string; readonly name: string } }> {
  const { namespace = 'team-a', duration, isCA, annotations, labels } = wanted;
  const pem =
    wanted.pem ??
    (await requestPem({
      commonName: wanted.commonName ?? '',
      organizations: [],
      dnsNames: wanted.dnsNames ?? ['web.team-a.svc'],
      keyType: wanted.keyType ?? 'ECDSAP256',
    }));
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: {
      namespace,
      name: wanted.name ?? `test-${randomBytes(5).toString('hex')}`,
      ...(annotations === undefined ? {} : { annotations }),
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      issuerRef: {
        group: 'countersign.dev',
        kind: 'ClusterSigner',
        name: 'workload',
        ...wanted.issuerRef,
      },
      request: Buffer.from(pem).toString('base64'),
      usages: wanted.usages ?? ['digital signature', 'server auth'],
      username: wanted.username ?? REQUESTER,
      groups: GROUPS,
      ...(duration === undefined ? {} : { duration }),
      ...(isCA === undefined ? {} : { isCA }),
    },
  } as object as Awaited<ReturnType<typeof certificateRequestBody>>;
}

/** Creates one as its maker. @returns `namespace/name` */
export async function createCertificateRequest(
  cluster: Cluster,
  wanted: CertificateRequestWanted = {},
): Promise<string> {
  const body = await certificateRequestBody(wanted);
  await cluster.kubectl(['create', '-f', '-', ...asRequester()], { input: JSON.stringify(body) });
  return `${body.metadata.namespace}/${body.metadata.name}`;
}

export function asRequester(): readonly string[] {
  return ['--as', REQUESTER, '--as-group', 'dev'];
}

/** Says what an approver says, as an administrator or as `as`. */
export async function decideOn(
  cluster: Cluster,
  key: string,
  type: 'Approved' | 'Denied',
  as: readonly string[] = [],
): Promise<void> {
  const condition = { type, status: 'True', reason: 'Test', message: 'by a test' };
  const patch = { status: { conditions: [condition] } };
  await cluster.kubectl([
    'patch',
    ...named(key),
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify(patch),
    ...as,
  ]);
}

/** Created and approved. */
export async function approvedRequest(
  cluster: Cluster,
  wanted: CertificateRequestWanted = {},
): Promise<string> {
  const key = await createCertificateRequest(cluster, wanted);
  await decideOn(cluster, key, 'Approved');
  return key;
}

export async function getCertificateRequest(
  cluster: Cluster,
  key: string,
): Promise<CertificateRequest> {
  const { stdout } = await cluster.kubectl(['get', ...named(key), '-o', 'json']);
  return JSON.parse(stdout) as CertificateRequest;
}

/** The request once `Ready` has that reason. */
export function waitForReadyReason(
  cluster: Cluster,
  key: string,
  reason: string,
): Promise<CertificateRequest> {
  return until(`CertificateRequest ${key} is ${reason}`, WAIT_MS, async () => {
    const request = await getCertificateRequest(cluster, key);
    const ready = readyOf(request);
    if (ready?.reason === reason) return request;
    throw new Error(`it is ${JSON.stringify(request.status ?? {})}`);
  });
}

export function readyOf({ status }: CertificateRequest): Condition | undefined {
  return findCondition(status?.conditions, 'Ready');
}

function named(key: string): readonly string[] {
  const [namespace = '', name = ''] = key.split('/');
  return ['certificaterequest.cert-manager.io', name, '-n', namespace];
}
