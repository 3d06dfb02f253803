// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../../../src/api/request/csr.ts';
import { findCondition, type Condition } from '../../../../src/api/request/conditions.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { until } from '../../../cluster/until.ts';

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
