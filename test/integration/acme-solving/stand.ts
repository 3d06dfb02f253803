// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster with acme-responder and acme-solver, each with its own role, and acme's part of a
 * Challenge.
 */
import { join } from 'node:path';
import { DEMO } from '../../../build/demo-installation.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { componentKubeconfig, SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { HTTP_ROUTE_CRD } from './http-route-crd.ts';

const root = join(import.meta.dirname, '../../..');
const BUNDLE = [process.execPath, join(root, 'dist/countersign.mjs')];
const apiVersion = 'acme.countersign.dev/v1alpha1';
export const KEYS = 'countersign-keys';
export const TEAM = 'team-a';
export const SOON = 60_000;

export const COMPONENTS = ['acme-responder', 'acme-solver'] as const;
const INSTALLATION = {
  ...DEMO,
  namespacedSigners: true,
  optionalComponents: COMPONENTS,
  solverSecrets: [{ namespace: KEYS, name: 'dns' }],
  routeMetadata: ['nginx.ingress.kubernetes.io/ssl-redirect=false', 'team=edge'],
};
export const roles = renderRbac(INSTALLATION);

export let cluster: Cluster;
export const running = new Map<string, ComponentProcess>();
let challengePort = 0;

export async function startStand(): Promise<void> {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  const crds = ['-f', join(root, 'deploy/crds/acme')];
  await cluster.kubectl(['apply', '-f', join(root, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '--server-side', ...crds]);
  await apply(HTTP_ROUTE_CRD);
  await established(cluster, ...crds);
  await established(cluster, 'crd/httproutes.gateway.networking.k8s.io');
  for (const component of COMPONENTS) {
    const input = roles.get(`${component}.yaml`) ?? '';
    await cluster.kubectl(['apply', '-f', '-'], { input });
  }
  const policies = renderAdmission(INSTALLATION).get('components.yaml') ?? '';
  await cluster.kubectl(['apply', '-f', '-'], { input: policies });
  await cluster.kubectl(['create', 'namespace', TEAM]);
  for (const name of ['dns', 'account']) {
    await cluster.kubectl([
      'create',
      'secret',
      'generic',
      name,
      '-n',
      KEYS,
      '--from-literal=tsig=YQ==',
    ]);
  }
  await apply(signer('AcmeClusterSigner', { name: 'public' }));
  await apply(signer('AcmeSigner', { name: 'own', namespace: TEAM }));
  await start('acme-responder', '--no-leases', '--listen-challenges=127.0.0.1:0', GRANT);
  await start('acme-solver', ...SOLVER_FLAGS);
  const port = running.get('acme-responder')?.log.find(({ msg }) => msg === 'answers validations');
  challengePort = Number(port?.['port']);
}

export async function stopStand(): Promise<void> {
  for (const component of running.values()) await component.stop();
  await cluster.stop();
}

export const GRANT = `--http01-zone=${TEAM}=a.example.com`;

/** Nobody answers at port 9 (discard). */
export const SOLVER_FLAGS = [
  '--namespaced-signers',
  '--resolver=127.0.0.1:9',
  `--credential-namespace=${KEYS}`,
  GRANT,
];

export async function start(
  name: (typeof COMPONENTS)[number],
  ...args: readonly string[]
): Promise<void> {
  const kubeconfig = await componentKubeconfig(cluster, name);
  const component = await startComponent({ name, kubeconfig, program: BUNDLE, args });
  running.set(name, component);
  await component.ready();
}

async function apply(object: object): Promise<void> {
  const input = JSON.stringify(object);
  await cluster.kubectl(['apply', '--server-side', '-f', '-'], { input });
}

/** What controllers are told on the Ingress, and a label of ours, which stays ours. */
const MARKED = {
  name: 'marked',
  http01: {
    ingress: {
      className: 'nginx',
      pathType: 'ImplementationSpecific',
      labels: { team: 'edge', 'app.kubernetes.io/component': 'theirs' },
      annotations: { 'nginx.ingress.kubernetes.io/ssl-redirect': 'false' },
    },
  },
};

function signer(kind: string, metadata: object): object {
  const solvers = [
    { name: 'plain', http01: {} },
    { name: 'ingress', http01: { ingress: { className: 'nginx' } } },
    ...(kind === 'AcmeClusterSigner' ? [MARKED] : []),
    {
      name: 'gateway',
      http01: { gateway: { name: 'web', namespace: 'infra', sectionName: 'http' } },
    },
    {
      name: 'dns',
      rfc2136: {
        server: '127.0.0.1:9',
        zone: 'example.com',
        tsig: { keyName: 'k', algorithm: 'HMAC-SHA256', secret: { name: 'dns' } },
      },
    },
  ];
  const acme = {
    server: 'https://acme.example/dir',
    accountKey: { secret: { name: 'account' } },
    solvers,
  };
  const named = kind === 'AcmeClusterSigner' ? { signerName: 'example.com/public' } : {};
  return { apiVersion, kind, metadata, spec: { ...named, acme } };
}

interface Made {
  readonly name: string;
  readonly namespace: string;
  readonly token: string;
  readonly key: string;
}

let made = 0;

/** A Challenge as acme makes it, with its finalizer where a solver is needed. */
export async function challenge(
  solver: string,
  more: { readonly dnsName?: string; readonly namespace?: string; readonly kind?: string } = {},
): Promise<Made> {
  made += 1;
  const { dnsName = 'a.example.com', namespace = TEAM, kind = 'AcmeClusterSigner' } = more;
  const token = `token-${made}`;
  const key = `${token}.thumbprint`;
  const name = `challenge-${made}`;
  await apply({
    apiVersion,
    kind: 'Challenge',
    metadata: { name, namespace },
    spec: {
      signerRef: { kind, name: kind === 'AcmeSigner' ? 'own' : 'public' },
      orderRef: { name: 'order', uid: 'u' },
      authorizationURL: 'https://acme.example/authz/1',
      url: 'https://acme.example/chall/1',
      type: solver === 'dns' ? 'dns-01' : 'http-01',
      token,
      key,
      dnsName,
      solver,
    },
  });
  return { name, namespace, token, key };
}

/** Acme's part: it writes everything of the status but `solver`. */
export async function say({ name, namespace }: Made, status: object): Promise<void> {
  const patch = JSON.stringify({ status });
  await cluster.kubectl([
    'patch',
    'challenges.acme.countersign.dev',
    name,
    '-n',
    namespace,
    '--subresource=status',
    '--type=merge',
    '-p',
    patch,
  ]);
}

export const RUNS = { processing: true, state: 'pending' };
export const ENDED = { processing: false, state: 'valid' };

export async function ask(
  token: string,
  host = 'a.example.com',
): Promise<{ status: number; body: string }> {
  const url = `http://127.0.0.1:${challengePort}/.well-known/acme-challenge/${token}`;
  const response = await fetch(url, { headers: { host } });
  return { status: response.status, body: await response.text() };
}

interface Reported {
  readonly presented?: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly at?: string;
  readonly nextAttemptAt?: string;
}

export async function reportOf({ name, namespace }: Made): Promise<Reported> {
  const { stdout } = await cluster.kubectl([
    'get',
    'challenges.acme.countersign.dev',
    name,
    '-n',
    namespace,
    '-o',
    'json',
  ]);
  return (JSON.parse(stdout) as { status?: { solver?: Reported } }).status?.solver ?? {};
}

interface Route {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: unknown;
}

export async function routes(kind: 'ingresses' | 'httproutes'): Promise<readonly Route[]> {
  const { stdout } = await cluster.kubectl(['get', kind, '-n', SYSTEM_NAMESPACE, '-o', 'json']);
  return (JSON.parse(stdout) as { items: readonly Route[] }).items;
}
