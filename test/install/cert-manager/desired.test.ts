// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertManagerSpec } from '#api/operator/cert-manager-deployment.ts';
import { certManagerOf } from '#install/cert-manager-operator/desired.ts';
import {
  minKubernetesMinorOf,
  refuseSpec,
  sumsOf,
} from '#install/cert-manager-operator/preflight.ts';
import { CERT_MANAGER_FLAG_SCHEMAS, RELEASES } from '#install/cert-manager-operator/releases.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

const SETTINGS = { moreReleases: {}, dangerZone: false };
const SPEC: CertManagerSpec = { version: '1.21.2' };

function refused(more: object, settings = SETTINGS): string {
  const refusal = refuseSpec({ ...SPEC, ...more }, settings);
  return refusal === undefined ? 'accepted' : `${refusal.reason}: ${refusal.message}`;
}

const args = (component: string, ...extraArgs: string[]): object => ({
  components: { [component]: { extraArgs } },
});

test('installs releases of two minor versions, and others that an administrator lists', () => {
  const versions = Object.keys(RELEASES.rows);
  assert.deepEqual(
    [...new Set(versions.map((each) => each.slice(0, 4)))],
    Object.keys(CERT_MANAGER_FLAG_SCHEMAS),
  );
  for (const version of Object.keys(sumsOf(SETTINGS)))
    assert.equal(refused({ version }), 'accepted', version);
  for (const version of ['1.19.5', '1.22.0', '1.21', 'v1.21.2', 'latest', '1.21.2-rc.1'])
    assert.match(
      refused({ version }),
      /^UnsupportedVersion: .*1\.20\.2, .*1\.21\.2, and not/,
      version,
    );
  assert.match(refused({ version: '1.21.99' }), /^UnsupportedVersion: .*--allow-release/);
  const more = { ...SETTINGS, moreReleases: { '1.21.99': '0'.repeat(64) } };
  assert.equal(refused({ version: '1.21.99' }, more), 'accepted');
  // A name of every object is no version.
  assert.match(refused({ version: 'constructor' }), /^UnsupportedVersion/);
});

test('an unconfirmed release is refused until the user gives its sum', () => {
  const unconfirmed = Object.entries(RELEASES.rows).filter(
    ([, { state }]) => state !== 'confirmed',
  );
  assert.ok(unconfirmed.length > 0);
  for (const [version, { sum, sources }] of unconfirmed) {
    assert.match(
      refused({ version }),
      new RegExp(
        `^ReleaseUnconfirmed: .*${version} is unconfirmed: ${sources.length} .*--allow-rel`,
      ),
    );
    assert.equal(sumsOf(SETTINGS)[version], undefined);
    const moreReleases = { [version]: sum };
    assert.equal(refused({ version }, { ...SETTINGS, moreReleases }), 'accepted', version);
  }
});

test('each release accepts the Kubernetes versions of cert-manager, and not ours', () => {
  const oldest = new Map(
    Object.keys(RELEASES.rows).map((version) => [version, minKubernetesMinorOf(version)]),
  );
  for (const [version, minor] of oldest)
    assert.equal(minor, version.startsWith('1.20.') ? 32 : 33, version);
  assert.equal(certManagerOf(SPEC, []).minKubernetesMinor, 33);
  assert.equal(certManagerOf({ version: '1.20.3' }, []).minKubernetesMinor, 32);
});

test('an administrator’s sum does not replace a confirmed one of this build', () => {
  const own = sumsOf(SETTINGS);
  const listed = { '1.20.3': 'd'.repeat(64), '1.21.3': 'e'.repeat(64) };
  const moreReleases = { ...listed, '1.21.2': 'f'.repeat(64) };
  assert.ok(own['1.21.2'] !== undefined);
  assert.deepEqual(sumsOf({ ...SETTINGS, moreReleases }), { ...own, ...listed });
});

test('a flag that the version does not know is refused; the next version may know it', () => {
  for (const [component, flag] of [
    ['controller', '--gateway-api-extra-protocols=x'],
    ['cainjector', '--ignore-namespaces=x'],
  ] as const) {
    assert.equal(refused(args(component, flag)), 'accepted');
    assert.match(
      refused({ version: '1.20.2', ...args(component, flag) }),
      /^UnknownArgument: .*cert-manager 1\.20\.2 does not know/,
    );
  }
  assert.equal(
    refused(args('controller', '--v=4', '--enable-gateway-api', '--enable-certificate-owner-ref')),
    'accepted',
  );
  assert.match(refused(args('webhook', '--max-concurrent-challenges=1')), /^UnknownArgument/);
});

test('refuses redirection, images and standalone arguments, even in the danger zone', () => {
  const dangerous = { ...SETTINGS, dangerZone: true };
  for (const flag of [
    '--kubeconfig=/x',
    '--master=https://x',
    '--config=/x',
    '--acme-http01-solver-image=evil',
    'word',
    '--v',
    '--v=8',
    '--v=$(LEVEL)',
    '--vmodule=request=10',
    '--metrics-dynamic-serving-ca-secret-name=workload-ca',
    '--metrics-dynamic-serving-ca-secret-namespace=countersign-keys',
  ]) {
    assert.match(refused(args('controller', flag)), /^InvalidArgument/, flag);
    const dangerZone = { extraArgs: { controller: [flag] } };
    assert.match(refused({ dangerZone }, dangerous), /^InvalidArgument/, flag);
  }
  const dangerZone = { extraArgs: { controller: ['--future=1'] } };
  assert.match(refused({ dangerZone }), /^DangerZoneNotAllowed/);
  assert.equal(refused({ dangerZone }, dangerous), 'accepted');
  assert.deepEqual(certManagerOf({ ...SPEC, dangerZone }, []).unknownArguments, [
    'controller --future',
  ]);
});

test('only the danger zone lends cert-manager’s credentials or labels to others', () => {
  const dangerous = { ...SETTINGS, dangerZone: true };
  for (const [flag, version] of [
    ['--issuer-ambient-credentials', '1.20.2'],
    ['--acme-http01-solver-run-as-non-root=false', '1.21.2'],
    ['--acme-http01-solver-extra-labels=app=payments', '1.21.2'],
    ['--dns01-recursive-nameservers=evil.example:53', '1.21.2'],
    ['--profiler-address=0.0.0.0:6060', '1.21.2'],
  ] as const) {
    const message = refused({ version, ...args('controller', flag) }, dangerous);
    assert.match(message, /^InvalidArgument: .* may be in spec\.dangerZone\.extraArgs only/, flag);
    const dangerZone = { extraArgs: { controller: [flag] } };
    assert.equal(refused({ version, dangerZone }, dangerous), 'accepted', flag);
  }
});

test('labels, annotations and priorities are refused as those of a Countersign are', () => {
  const controller = { annotations: { 'deployment.kubernetes.io/revision': '1' } };
  assert.match(
    refused({ components: { controller } }),
    /^ReservedKey: spec\.components\.controller\.annotations: /,
  );
  const webhook = { priorityClassName: 'system-cluster-critical' };
  assert.match(refused({ components: { webhook } }), /^PriorityNotAllowed: /);
  const dangerous = { ...SETTINGS, dangerZone: true };
  assert.equal(refused({ components: { webhook } }, dangerous), 'accepted');
});

test('an environment that loads code or changes whom a component trusts is refused', () => {
  for (const name of [
    'LD_PRELOAD',
    'SSL_CERT_FILE',
    'KUBERNETES_SERVICE_HOST',
    'GODEBUG',
    'POD_NAMESPACE',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'AWS_ENDPOINT_URL_STS',
    'AZURE_FEDERATED_TOKEN_FILE',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'HOSTALIASES',
    'LOCALDOMAIN',
    'HOME',
    'GLIBC_TUNABLES',
    'SSLKEYLOGFILE',
    'X',
    'LEGO_CA_CERTIFICATES',
    'DIGITALOCEAN_API_URL',
    'KUBECACHEDIR',
    'AWS_PROFILE',
  ])
    assert.match(
      refused({ components: { webhook: { extraEnv: [{ name, value: 'x' }] } } }),
      /^ForbiddenEnvironment/,
      name,
    );
  for (const name of ['TZ', 'GOMEMLIMIT', 'AWS_REGION'])
    assert.equal(
      refused({ components: { controller: { extraEnv: [{ name, value: 'x' }] } } }),
      'accepted',
      name,
    );
});

test('a proxy, which is called in the place of every server, takes the danger zone', () => {
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy']) {
    const given = { components: { controller: { extraEnv: [{ name, value: 'x' }] } } };
    assert.match(refused(given), /^ForbiddenEnvironment: .*--allow-danger-zone/, name);
    assert.equal(refused(given, { ...SETTINGS, dangerZone: true }), 'accepted', name);
  }
});

test('the webhook has at least one pod: without it every Certificate is refused', () => {
  assert.match(refused({ components: { webhook: { replicas: 0 } } }), /^InvalidSpec: .*webhook/);
  for (const component of ['controller', 'cainjector'])
    assert.equal(refused({ components: { [component]: { replicas: 0 } } }), 'accepted');
});

const DEPLOYMENT: ManagedObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'cert-manager', namespace: 'cert-manager', labels: { app: 'cert-manager' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'cert-manager' } },
    template: {
      metadata: { labels: { app: 'cert-manager' } },
      spec: {
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        containers: [
          {
            name: 'cert-manager-controller',
            args: ['--v=2', '--dns=a', '--dns=b'],
            env: [{ name: 'POD_NAMESPACE' }],
          },
        ],
      },
    },
  },
};

test('overrides reach the Deployment of their component, and no other', () => {
  const controller = {
    replicas: 2,
    priorityClassName: 'high',
    resources: { requests: { cpu: '1' } },
    labels: { app: 'other', team: 'a' },
    extraArgs: ['--v=4'],
    extraEnv: [{ name: 'A', value: 'b' }],
    tolerations: [{ operator: 'Exists' }],
  };
  const webhook: ManagedObject = {
    ...DEPLOYMENT,
    metadata: { ...DEPLOYMENT.metadata, name: 'cert-manager-webhook' },
  };
  const spec = { ...SPEC, components: { controller } };
  const [made, other] = certManagerOf(spec, [DEPLOYMENT, webhook]).objects;
  assert.deepEqual(other, webhook);
  assert.deepEqual(made, {
    ...DEPLOYMENT,
    // The release's own labels stay: its selectors are made of them.
    metadata: { ...DEPLOYMENT.metadata, labels: { app: 'cert-manager', team: 'a' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'cert-manager' } },
      template: {
        metadata: { labels: { app: 'cert-manager', team: 'a' } },
        spec: {
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          priorityClassName: 'high',
          tolerations: [{ operator: 'Exists' }],
          containers: [
            {
              name: 'cert-manager-controller',
              args: ['--dns=a', '--dns=b', '--v=4'],
              env: [{ name: 'POD_NAMESPACE' }, { name: 'A', value: 'b' }],
              resources: { requests: { cpu: '1' } },
            },
          ],
        },
      },
    },
  });
});

test('objects of every known release are in namespaces that an administrator makes', () => {
  const namespaces = new Set(RELEASES.objects.map(({ metadata }) => metadata.namespace));
  assert.deepEqual([...namespaces].sort(), ['cert-manager', 'kube-system', undefined]);
});

// core/v1 ResourceRequirements: the API server would refuse the Deployment alone, after the others.
test('refuses a request above its limit and a text that is not a quantity', () => {
  const of = (resources: object): object => ({ components: { webhook: { resources } } });
  assert.equal(refused(of({ requests: { cpu: '500m' }, limits: { cpu: 1 } })), 'accepted');
  assert.match(
    refused(of({ requests: { cpu: 2 }, limits: { cpu: 1 } })),
    /^InvalidSpec: spec\.components\.webhook\.resources: the request of cpu, 2, is greater/,
  );
  assert.match(
    refused(of({ limits: { memory: '256 Mi' } })),
    /^InvalidSpec: spec\.components\.webhook\.resources\.limits\.memory: "256 Mi" is not a quantity/,
  );
});
