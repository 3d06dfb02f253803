// SPDX-License-Identifier: Apache-2.0
/** The signers that CI holds to the run, on a cluster where all of them are at work. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ContenderProcess } from '../../../bench/cluster/contender-process.ts';
import { startContender } from '../../../bench/cluster/contender-process.ts';
import { createPeer } from '../../../bench/cluster/peer.ts';
import type { Kind } from '#conformance/case.ts';
import { UNKNOWN_EXTENSION } from '#conformance/crafted-pkcs10.ts';
import type { Report } from '#conformance/report/report.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { applyCrds } from '../../certmanager/crds.ts';
import { EVERY_COMPONENT } from '../cluster/component-process.ts';
import { BUNDLE, countersign } from '../cluster/countersign.ts';
import {
  applySigner,
  example,
  startFixture,
  waitForReady,
  type Fixture,
} from '../cluster/fixture.ts';
import { createTeam } from '../cluster/pods.ts';

export const NAMESPACE = 'team-conformance';

/** Who is looked at: a column of docs/reference/conformance.md. */
export const SIGNERS = ['countersign', 'upstream', 'kube-controller-manager'] as const;
export type SignerName = (typeof SIGNERS)[number];

export interface ConformanceRun {
  readonly of: SignerName;
  readonly kind: Kind;
  readonly signer: string;
  /** As a profile file has it. */
  readonly profile: Readonly<Record<string, unknown>>;
  /** Where its CA is found; absent: the runner finds it among the signer's ClusterTrustBundles. */
  readonly anchors?: 'clientCa' | typeof WORKLOAD_BUNDLE;
  /**
   * For the page, and not again in every CI run: the same API server and kubelets as in another.
   */
  readonly onlyForThePage?: true;
}

/** An issuer of cert-manager's has no signer name by which the runner could find it. */
const WORKLOAD_BUNDLE = 'example.com:workload:primary';

const UPSTREAM = 'upstream.example.com/signer';
const POD_ID = 'spiffe://cluster.local/ns/{namespace}/sa/{serviceAccount}';

/** Other tests run beside: how fast it is, is for benches. */
const latency = '120s';

/**
 * What is written down of each in deploy/examples, upstream's source and Kubernetes' documentation.
 */
export const RUNS: readonly ConformanceRun[] = [
  {
    of: 'countersign',
    kind: 'csr',
    signer: 'example.com/people',
    anchors: 'clientCa',
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
    anchors: 'clientCa',
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
    anchors: WORKLOAD_BUNDLE,
    profile: {
      keyTypes: ['ECDSAP256', 'ED25519'],
      usages: ['digital signature', 'server auth'],
      maxDuration: '24h',
      latency,
    },
  },
];

/** The first run of a signer for a kind. */
export function runOf(of: SignerName, kind: Kind): ConformanceRun {
  const found = RUNS.find((each) => each.of === of && each.kind === kind);
  if (found === undefined) throw new Error(`there is no run of ${of} for ${kind}`);
  return found;
}

/**
 * All of them at work on a cluster of their own, with cert-manager's CRDs and nothing else of it.
 */
export async function startSigners(): Promise<Fixture> {
  const program = [process.execPath, BUNDLE];
  const fixture = await startFixture({ only: EVERY_COMPONENT, program });
  const { cluster } = fixture;
  let upstream: ContenderProcess | undefined;
  const stop = async (): Promise<void> => {
    await upstream?.stop();
    await fixture.stop();
  };
  try {
    await createTeam(cluster, NAMESPACE, ['web']);
    [upstream] = await Promise.all([startUpstream(cluster), allowTheKit(cluster)]);
    return { ...fixture, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** CertificateRequests are there, and a rule allows the names that the runner asks for. */
async function allowTheKit(cluster: Cluster): Promise<void> {
  await applyCrds(cluster);
  const signer = example('workload');
  const { rules = [], ...more } = signer.spec.certificateRequests ?? {};
  const rule = {
    name: 'conformance',
    when: `request.namespace == '${NAMESPACE}'`,
    allow: {
      commonName: "self == 'conformance.example.com'",
      dnsNames: "self == 'conformance.example.com'",
      ipAddresses: "self == '192.0.2.1'",
      uris: "self == 'https://conformance.example.com/a'",
      // Both purposes, for the case without usages: its leaf is valid for every purpose.
      usages: ['digital signature', 'server auth', 'client auth'],
      // The runner asks for it, and looks whether the leaf has it.
      extensions: [UNKNOWN_EXTENSION],
    },
  };
  const certificateRequests = { ...more, rules: [...rules, rule] };
  await applySigner(cluster, { ...signer, spec: { ...signer.spec, certificateRequests } });
  await waitForReady(cluster, 'workload', 'Checked');
}

async function startUpstream(cluster: Cluster): Promise<ContenderProcess> {
  const kubeconfig = await createPeer(cluster, { name: 'upstream', signerName: UPSTREAM });
  const [program, ...args] = cluster.tool('podcertificatesigner');
  const flags = ['--kubeconfig', kubeconfig, '--signer-name', UPSTREAM, '--qps', '-1'];
  return startContender(
    { name: 'upstream', command: [program, ...args, ...flags] },
    cluster.directory,
  );
}

/** The command line of a run, with its profile in a file of the cluster's directory. */
export async function argumentsOf(
  cluster: Cluster,
  { kind, signer, profile, anchors, of }: ConformanceRun,
): Promise<readonly string[]> {
  const unique = randomBytes(3).toString('hex');
  const file = join(cluster.directory, `conformance-${of}-${kind}-${unique}.yaml`);
  writeFileSync(file, stringify(profile));
  return [
    'conformance',
    '--signer',
    signer,
    '--kind',
    kind,
    '--profile',
    file,
    '--output',
    'json',
    '--namespace',
    NAMESPACE,
    '--service-account',
    'web',
    '--timeout',
    '60s',
    '--kubeconfig',
    cluster.kubeconfig,
    ...(anchors === undefined ? [] : ['--anchors', await anchorsFile(cluster, anchors)]),
  ];
}

async function anchorsFile(
  cluster: Cluster,
  anchors: NonNullable<ConformanceRun['anchors']>,
): Promise<string> {
  if (anchors === 'clientCa') return cluster.clientCa.certFile;
  const path = ['-o', 'jsonpath={.spec.trustBundle}'];
  const { stdout } = await cluster.kubectl(['get', 'clustertrustbundle', anchors, ...path]);
  const file = join(cluster.directory, 'conformance-anchors.pem');
  writeFileSync(file, stdout);
  return file;
}

/** Runs the run, as a user does. @param more - flags that count before those of the run */
export async function conformanceOf(
  cluster: Cluster,
  run: ConformanceRun,
  more: readonly string[] = [],
): Promise<Report> {
  const args = [...(await argumentsOf(cluster, run)), ...more];
  const { stdout, stderr, code } = await countersign(args, undefined, BUNDLE);
  if (stdout === '')
    throw new Error(`${run.of} ${run.kind}: exit code ${code ?? 'none'}: ${stderr}`);
  return JSON.parse(stdout) as Report;
}
