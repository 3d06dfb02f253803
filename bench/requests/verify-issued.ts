// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { hasTrueCondition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Backlog } from './backlog.ts';
import type { Contender } from '../cluster/contender.ts';

const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});

/** A figure for wrong certificates would be worth nothing: so many of each backlog are verified. */
const SAMPLES = 50;

/** @throws Error when one request is not Issued, or a sampled leaf is not what was asked for */
export async function verifyIssued(
  client: Client,
  contender: Contender,
  backlog: Backlog,
): Promise<void> {
  const { items } = await backlog.list();
  const issued = items.filter(({ status }) => hasTrueCondition(status?.conditions, 'Issued'));
  if (issued.length !== backlog.size) {
    throw new Error(`${contender.name}: ${issued.length} of ${backlog.size} are Issued`);
  }
  const anchor = await anchorOf(client, contender);
  const step = Math.max(1, Math.floor(issued.length / SAMPLES));
  for (let index = 0; index < issued.length; index += step) {
    const fault = faultOf(issued[index] as PodCertificateRequest, anchor);
    if (fault !== undefined) throw new Error(`${contender.name}: request ${index}: ${fault}`);
  }
}

async function anchorOf(
  client: Client,
  { bundle }: Contender,
): Promise<X509Certificate | undefined> {
  if (bundle === undefined) return undefined;
  const path = BUNDLES.object({ name: bundle });
  const { spec } = await client.request<ClusterTrustBundle>({ method: 'GET', path });
  return new X509Certificate(spec.trustBundle);
}

function faultOf(
  { spec, status }: PodCertificateRequest,
  anchor: X509Certificate | undefined,
): string | undefined {
  const leaf = new X509Certificate(status?.certificateChain ?? '');
  const key = leaf.publicKey.export({ type: 'spki', format: 'der' });
  const stub = Buffer.from(spec.stubPKCS10Request ?? '', 'base64');
  if (!stub.includes(key)) return 'the leaf has another key than its request';
  if (leaf.ca) return 'the leaf is a CA';
  if (Date.parse(leaf.validTo) !== Date.parse(status?.notAfter ?? '')) return 'another notAfter';
  if (anchor !== undefined && !leaf.verify(anchor.publicKey)) {
    return 'the leaf does not verify with the published anchor';
  }
  return undefined;
}
