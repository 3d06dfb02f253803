// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertManagerSpec } from '../../../src/api/operator/cert-manager-deployment.ts';
import { certManagerOf } from '../../../src/manifests/cert-manager/desired.ts';
import { refuseSpec, sumsOf } from '../../../src/manifests/cert-manager/preflight.ts';
import { CERT_MANAGER_MOULDS, RELEASES } from '../../../src/manifests/cert-manager/releases.ts';
import type { ManagedObject } from '../../../src/reconciling/objects/managed-object.ts';

const SETTINGS = { moreReleases: {}, dangerZone: false };
const SPEC: CertManagerSpec = { version: '1.21.2' };

function refused(more: object, settings = SETTINGS): string {
  const refusal = refuseSpec({ ...SPEC, ...more }, settings);
  return refusal === undefined ? 'accepted' : `${refusal.reason}: ${refusal.message}`;
}

const args = (component: string, ...extraArgs: string[]): object => ({
  components: { [component]: { extraArgs } },
});

test('the releases of two minor versions are installed, and others that an administrator lists', () => {
  const versions = Object.keys(RELEASES.sums);
  assert.deepEqual(
    [...new Set(versions.map((each) => each.slice(0, 4)))],
    Object.keys(CERT_MANAGER_MOULDS),
  );
  for (const version of versions) assert.equal(refused({ version }), 'accepted', version);
  for (const version of ['1.19.5', '1.22.0', '1.21', 'v1.21.2', 'latest', '1.21.2-rc.1'])
    assert.match(
      refused({ version }),
      /^UnsupportedVersion: .*1\.20\.0, .*1\.21\.2, and not/,
      version,
    );
  assert.match(refused({ version: '1.21.99' }), /^UnsupportedVersion: .*--allow-release/);
  const more = { ...SETTINGS, moreReleases: { '1.21.99': '0'.repeat(64) } };
  assert.equal(refused({ version: '1.21.99' }, more), 'accepted');
  // A name of every object is no version.
  assert.match(refused({ version: 'constructor' }), /^UnsupportedVersion/);
});

test('an administrator’s sum does not replace one of this build', () => {
  const moreReleases = { '1.21.2': 'f'.repeat(64), '1.21.3': 'e'.repeat(64) };
  assert.deepEqual(sumsOf({ ...SETTINGS, moreReleases }), {
    ...RELEASES.sums,
    '1.21.3': 'e'.repeat(64),
  });
});

test('a flag that the version does not know is refused; the next version may know it', () => {
  for (const [component, flag] of [
    ['controller', '--gateway-api-extra-protocols=x'],
    ['cainjector', '--ignore-namespaces=x'],
  ] as const) {
    assert.equal(refused(args(component, flag)), 'accepted');
    assert.match(
      refused({ version: '1.20.3', ...args(component, flag) }),
      /^UnknownArgument: .*cert-manager 1\.20\.3 does not know/,
    );
  }
  assert.equal(
    refused(args('controller', '--v=4', '--enable-gateway-api', '--enable-profiling=false')),
    'accepted',
  );
  assert.match(refused(args('webhook', '--max-concurrent-challenges=1')), /^UnknownArgument/);
});

test('what leads a component away, chooses an image or stands alone is refused, in the danger zone as well', () => {
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

test('what lends cert-manager’s credentials or labels to others is for the danger zone alone', () => {
  const dangerous = { ...SETTINGS, dangerZone: true };
  for (const [flag, version] of [
    ['--issuer-ambient-credentials', '1.20.3'],
    ['--acme-http01-solver-run-as-non-root=false', '1.21.2'],
    ['--acme-http01-solver-extra-labels=app=payments', '1.21.2'],
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
  ])
    assert.match(
      refused({ components: { webhook: { extraEnv: [{ name, value: 'x' }] } } }),
      /^ForbiddenEnvironment/,
      name,
    );
  for (const name of ['HTTPS_PROXY', 'AWS_REGION'])
    assert.equal(
      refused({ components: { controller: { extraEnv: [{ name, value: 'x' }] } } }),
      'accepted',
      name,
    );
});

test('the webhook has a pod at least: the API server refuses every Certificate without one', () => {
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
    ...{ replicas: 2, priorityClassName: 'high', resources: { requests: { cpu: '1' } } },
    ...{ labels: { app: 'other', team: 'a' }, extraArgs: ['--v=4'] },
    ...{ extraEnv: [{ name: 'A', value: 'b' }], tolerations: [{ operator: 'Exists' }] },
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

test('the objects of every known release have the namespaces that an administrator makes', () => {
  const namespaces = new Set(RELEASES.objects.map(({ metadata }) => metadata.namespace));
  assert.deepEqual([...namespaces].sort(), ['cert-manager', 'kube-system', undefined]);
});
