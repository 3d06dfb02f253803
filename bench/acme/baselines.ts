// SPDX-License-Identifier: Apache-2.0
import { buildCertManager } from '../../test/certmanager/build.ts';
import { applyCrds } from '../../test/certmanager/crds.ts';
import { applyIdentities, NAMESPACE as CERT_MANAGER } from '../../test/certmanager/manifests.ts';
import { until } from '../../test/cluster/until.ts';
import { installAcme } from '../../test/support/acme/installation.ts';
import { accountSecret, acmeClusterSigner } from '../../test/support/acme/signer.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import type { Program } from '../cluster/contender.ts';
import { countersign, TOKEN_DURATION } from '../cluster/ours.ts';
import { KEY, type Stage } from './stage.ts';

export type AcmeContenderName = 'countersign' | 'cert-manager' | 'cert-manager-default';

/** Who gets certificates from the ACME server for CertificateRequests. */
export interface AcmeContender {
  readonly name: AcmeContenderName;
  readonly programs: readonly Program[];
  readonly issuerRef: { readonly group: string; readonly kind: string; readonly name: string };
  /**
   * Paths of collections in a namespace that are empty once all is cleaned up: `{namespace}` stands
   * for it.
   */
  readonly challenges: string;
  readonly orders: string;
  /** Resolves when its issuer is Ready. */
  readonly ready: () => Promise<void>;
}

const READY_MS = 60_000;
const DNS_NAMESPACE = 'countersign-dns';

/** Installs both. The issuers of cert-manager differ in how they wait for records only. */
export async function acmeContenders(stage: Stage): Promise<readonly AcmeContender[]> {
  const { cluster } = stage;
  await applyCrds(cluster);
  const program = await buildCertManager((line) => console.log(line));
  await applyIdentities(cluster);
  const account = { duration: TOKEN_DURATION };
  const kubeconfig = await cluster.serviceAccountKubeconfig(CERT_MANAGER, 'cert-manager', account);
  const controllers: Program = {
    name: 'cert-manager',
    command: [
      ...([program, 'controllers', '--acme', `--kubeconfig=${kubeconfig}`] as const),
      `--nameserver=${stage.bind.at}`,
    ],
  };
  await apply(cluster, tsigSecret(CERT_MANAGER));
  const theirs = (name: AcmeContenderName): AcmeContender => ({
    name,
    programs: [controllers],
    issuerRef: { group: 'cert-manager.io', kind: 'ClusterIssuer', name },
    challenges: '/apis/acme.cert-manager.io/v1/namespaces/{namespace}/challenges',
    orders: '/apis/acme.cert-manager.io/v1/namespaces/{namespace}/orders',
    ready: () => untilReady(stage, 'clusterissuer', name),
  });
  await apply(
    cluster,
    clusterIssuer(stage, 'cert-manager', { waitInsteadOfSelfCheck: '0s' }),
    clusterIssuer(stage, 'cert-manager-default', {}),
  );
  return [await ours(stage), theirs('cert-manager'), theirs('cert-manager-default')];
}

/** With its self-check, as it is shipped. */
async function ours(stage: Stage): Promise<AcmeContender> {
  const { cluster, bind, pebble } = stage;
  const solverSecrets = [{ namespace: DNS_NAMESPACE, name: 'tsig' }];
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: DNS_NAMESPACE } };
  await apply(cluster, namespace);
  await installAcme(cluster, { components: ['acme', 'acme-solver'], solverSecrets });
  await apply(cluster, tsigSecret(DNS_NAMESPACE), await accountSecret());
  const { name: keyName, algorithm } = KEY;
  const rfc2136 = { server: bind.at, tsig: { keyName, algorithm, secret: { name: 'tsig' } } };
  // It does not listen on port 53.
  const solvers = [{ name: 'dns', selfCheck: { nameservers: [bind.at] }, rfc2136 }];
  const allow = { dnsNames: "self.endsWith('.example')", usages: USAGES };
  const spec = {
    profile: { usages: USAGES },
    certificateRequests: { rules: [{ name: 'bench', when: 'true', allow }] },
  };
  await apply(cluster, acmeClusterSigner({ server: pebble, solvers, spec }));
  const resolver = [`--resolver=${bind.at}`];
  return {
    name: 'countersign',
    programs: [
      await countersign(cluster, 'acme', resolver),
      await countersign(cluster, 'acme-solver', resolver),
    ],
    issuerRef: { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'public' },
    challenges: '/apis/acme.countersign.dev/v1alpha1/namespaces/{namespace}/challenges',
    orders: '/apis/acme.countersign.dev/v1alpha1/namespaces/{namespace}/orders',
    ready: () => untilReady(stage, 'acmeclustersigner', 'public'),
  };
}

/** Of every request of the bench. */
export const USAGES = ['digital signature', 'server auth'];

function tsigSecret(namespace: string): object {
  const metadata = { name: 'tsig', namespace };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { tsig: KEY.secret } };
}

function clusterIssuer({ pebble, bind }: Stage, name: AcmeContenderName, solver: object): object {
  const rfc2136 = {
    nameserver: bind.at,
    tsigKeyName: KEY.name,
    tsigAlgorithm: 'HMACSHA256',
    tsigSecretSecretRef: { name: 'tsig', key: 'tsig' },
  };
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'ClusterIssuer',
    metadata: { name },
    spec: {
      acme: {
        server: pebble.directory,
        caBundle: Buffer.from(pebble.ca).toString('base64'),
        privateKeySecretRef: { name },
        solvers: [{ ...solver, dns01: { rfc2136 } }],
      },
    },
  };
}

async function untilReady({ cluster }: Stage, kind: string, name: string): Promise<void> {
  await until(`${kind} ${name} is Ready`, READY_MS, async () => {
    const args = ['wait', '--for=condition=Ready', '--timeout=5s', `${kind}/${name}`];
    return (await cluster.kubectl(args, { allowFailure: true })).code === 0;
  });
}
