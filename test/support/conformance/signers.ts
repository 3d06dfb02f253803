// SPDX-License-Identifier: Apache-2.0
/** The signers that CI holds to the kit, on a cluster where all of them are at work. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ContenderProcess } from '../../../bench/cluster/contender-process.ts';
import { startContender } from '../../../bench/cluster/contender-process.ts';
import { createPeer } from '../../../bench/cluster/peer.ts';
import type { Kind } from '../../../src/conformance/case.ts';
import type { Report } from '../../../src/conformance/report/report.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { countersign } from '../countersign.ts';
import { createTeam } from '../pods.ts';

export const NAMESPACE = 'team-conformance';

/** Who is looked at: a column of docs/reference/conformance.md. */
export const SIGNERS = ['countersign', 'upstream', 'kube-controller-manager'] as const;
export type SignerName = (typeof SIGNERS)[number];

export interface Run {
  readonly of: SignerName;
  readonly kind: Kind;
  readonly signer: string;
  /** As a profile file has it. */
  readonly profile: Readonly<Record<string, unknown>>;
  /** Its CA is published nowhere: the cluster's client CA. */
  readonly clientCa?: true;
  /** For the page, and not again in every CI run: the same API server and kubelets as in another. */
  readonly onlyForThePage?: true;
}

const UPSTREAM = 'upstream.example.com/signer';
const POD_ID = 'spiffe://cluster.local/ns/{namespace}/sa/{serviceAccount}';

/** Other tests run beside: how fast it is, is for benches. */
const latency = '120s';

/** What is written down of each in deploy/examples, upstream's source and Kubernetes' documentation. */
export const RUNS: readonly Run[] = [
  {
    of: 'countersign',
    kind: 'csr',
    signer: 'example.com/people',
    clientCa: true,
    profile: {
      keyTypes: ['ECDSAP256', 'ED25519'],
      usages: ['digital signature', 'client auth'],
      maxDuration: '12h',
      clientAuthentication: true,
      latency,
    },
  },
  {
    of: 'countersign',
    kind: 'pcr',
    signer: 'example.com/workload',
    profile: {
      keyTypes: ['ECDSAP256', 'ED25519'],
      maxDuration: '24h',
      uris: [POD_ID],
      annotations: { 'example.com/role': 'reader' },
      annotatedUris: [POD_ID],
      latency,
    },
  },
  { of: 'countersign', kind: 'ctb', signer: 'example.com/workload', profile: { latency } },
  {
    of: 'upstream',
    kind: 'pcr',
    signer: UPSTREAM,
    profile: {
      maxDuration: '24h',
      uris: [POD_ID],
      annotations: { 'spiffe/path-overriding': '/custom-workload' },
      annotatedUris: ['spiffe://cluster.local/custom-workload'],
      latency,
    },
  },
  {
    of: 'upstream',
    kind: 'ctb',
    signer: UPSTREAM,
    profile: { latency },
    onlyForThePage: true,
  },
  {
    of: 'kube-controller-manager',
    kind: 'csr',
    signer: 'kubernetes.io/kube-apiserver-client',
    clientCa: true,
    // --cluster-signing-duration's default is a year.
    profile: { maxDuration: '8760h', latency },
  },
  {
    of: 'kube-controller-manager',
    kind: 'ctb',
    signer: 'kubernetes.io/kube-apiserver-serving',
    profile: { latency },
    onlyForThePage: true,
  },
  {
    of: 'countersign',
    kind: 'certificaterequest',
    signer: 'ClusterSigner.countersign.dev/workload',
    profile: { latency },
  },
];

/** Starts upstream's signer beside what the fixture has. */
export async function startUpstream(cluster: Cluster): Promise<ContenderProcess> {
  await createTeam(cluster, NAMESPACE, ['web']);
  const kubeconfig = await createPeer(cluster, { name: 'upstream', signerName: UPSTREAM });
  const [program, ...args] = cluster.tool('podcertificatesigner');
  const flags = ['--kubeconfig', kubeconfig, '--signer-name', UPSTREAM, '--qps', '-1'];
  return startContender(
    { name: 'upstream', command: [program, ...args, ...flags] },
    cluster.directory,
  );
}

/** The command line of a run, with its profile in a file of the cluster's directory. */
export function argumentsOf(
  cluster: Cluster,
  { kind, signer, profile, clientCa, of }: Run,
): readonly string[] {
  const file = join(cluster.directory, `conformance-${of}-${kind}.yaml`);
  writeFileSync(file, stringify(profile));
  return [
    ...['conformance', '--signer', signer, '--kind', kind, '--profile', file, '--output', 'json'],
    ...['--namespace', NAMESPACE, '--service-account', 'web', '--timeout', '60s'],
    ...['--kubeconfig', cluster.kubeconfig],
    ...(clientCa === true ? ['--anchors', cluster.clientCa.certFile] : []),
  ];
}

/** Runs the kit, as a user does. */
export async function conformanceOf(cluster: Cluster, run: Run): Promise<Report> {
  const { stdout, stderr, code } = await countersign(argumentsOf(cluster, run));
  if (stdout === '')
    throw new Error(`${run.of} ${run.kind}: exit code ${code ?? 'none'}: ${stderr}`);
  return JSON.parse(stdout) as Report;
}
