// SPDX-License-Identifier: Apache-2.0
/** A cluster with one signer and its certificates, and what `countersign revoke` writes there. */
import { createHash, randomBytes } from 'node:crypto';
import { readRevocation, type Revocation } from '#api/revocation/revocation.ts';
import { READER_SIGNER } from '#api/signer/own-tls.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { serialText } from '#ca/revocation/serial.ts';
import {
  revokeCertificates,
  sourcesOf,
  type RevokeCertificatesOptions,
} from '#cli/commands/revoke/run.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { NOW, leafInput, openAuthority } from '../ca/issuing.ts';
import { recordedClient, type RecordedClient } from '../kube/recorded-client.ts';
import { statusOf } from '../signers/authority-status.ts';
import { changed, clusterSigner, workloadSpec } from '../signers/cluster-signer.ts';

export const SIGNER = 'example.com/workload';
export const ca = await openAuthority();

export async function leafOf(name: string, by: Authority = ca): Promise<Certificate> {
  const subject = { ...EMPTY_SUBJECT, dnsNames: [name] };
  const prepared = prepare(leafInput(by, { subject, random: (size) => randomBytes(size) }));
  return decodeCertificate(await by.sign(prepared, new AbortController().signal));
}

export const [pods, alices, managers] = [
  await leafOf('web-0.example'),
  await leafOf('alice.example'),
  await leafOf('cm.example'),
];
/** A client certificate as the API server reads it: CN is the user, O are the groups. */
export async function clientOf(
  commonName: string,
  ...organizations: string[]
): Promise<Certificate> {
  const subject = { ...EMPTY_SUBJECT, commonName, organizations };
  const prepared = prepare(leafInput(ca, { subject, random: (size) => randomBytes(size) }));
  return decodeCertificate(await ca.sign(prepared, new AbortController().signal));
}

export const pem = (leaf: Certificate): string => encodePem('CERTIFICATE', leaf.raw);
export const base64 = (leaf: Certificate): string => Buffer.from(pem(leaf)).toString('base64');

export const LISTS: Readonly<Record<string, readonly object[]>> = {
  clustersigners: [
    {
      ...clusterSigner(changed(workloadSpec(), 'profile.crl', { validity: '24h' })),
      status: statusOf(ca),
    },
  ],
  certificatesigningrequests: [
    { spec: { signerName: SIGNER, username: 'alice' }, status: { certificate: base64(alices) } },
    {
      spec: { signerName: 'kubernetes.io/kubelet-serving', username: 'alice' },
      status: { certificate: base64(pods) },
    },
    { spec: { signerName: SIGNER, username: 'alice' }, status: { certificate: 'bm90aGluZw==' } },
    // The pass of a ledger's reader, which gets no certificate and is not counted.
    { spec: { signerName: READER_SIGNER, username: 'alice' } },
  ],
  podcertificaterequests: [
    {
      spec: { signerName: SIGNER, podName: 'web-0', podUID: 'pod-1' },
      status: { certificateChain: pem(pods) },
    },
  ],
  certificaterequests: [
    {
      spec: {
        issuerRef: { group: 'countersign.dev', kind: 'ClusterSigner', name: 'workload' },
        username: 'alice',
      },
      status: { certificate: base64(managers) },
    },
  ],
};

export function cluster(
  hidden: Readonly<Record<string, number>> = {},
  lists: typeof LISTS = LISTS,
  version = 'v1',
): RecordedClient {
  const client = recordedClient();
  client.answer(({ method, path, body }) => {
    if (method === 'POST') return body;
    const [served = '', plural = ''] = path.split('/').slice(-2);
    const status = hidden[plural];
    if (status !== undefined) throw new KubeError({ status, what: path });
    if (served === 'certificates.k8s.io')
      return { resources: plural === version ? [{ name: 'podcertificaterequests' }] : [] };
    if (plural === 'podcertificaterequests' && served !== version)
      throw new KubeError({ status: 404, what: path });
    const items = (lists[plural] ?? []).map((each, index) => ({
      metadata: { namespace: 'team-a', name: `${plural}-${index}` },
      ...each,
    }));
    return { apiVersion: 'v1', kind: 'List', metadata: {}, items };
  });
  return client;
}

export const OPTIONS: RevokeCertificatesOptions = {
  asGroup: [],
  serial: [],
  reason: 'keyCompromise',
  allowRenewal: false,
  withoutCrl: false,
  dryRun: false,
  source: 'live',
  output: 'text',
  force: false,
};

export async function revoked(
  options: Partial<RevokeCertificatesOptions>,
  client = cluster(),
  now = NOW,
): Promise<{
  readonly report: Awaited<ReturnType<typeof revokeCertificates>>;
  readonly written: readonly Revocation[];
  readonly dryRuns: readonly unknown[];
}> {
  const all = { ...OPTIONS, ...options };
  const report = await revokeCertificates(client, sourcesOf(client, all, now), all, now);
  const posts = client.requests.filter(({ method }) => method === 'POST');
  return {
    report,
    written: posts.map(({ body }) => readRevocation(body as Revocation)),
    dryRuns: posts.map(({ query }) => query?.['dryRun']),
  };
}

export const entry = (leaf: Certificate): object => ({
  serial: serialText(leaf.serial),
  authority: fingerprint(ca.facts.certificate.raw),
  notAfter: new Date(leaf.notAfter).toISOString().replace('.000', ''),
});
export const keyOf = ({ publicKey }: Certificate): string =>
  `sha256:${createHash('sha256').update(publicKey.spki).digest('hex')}`;
