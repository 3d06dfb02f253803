// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodTemplate } from '#api/workload/workload.ts';
import { usedCredentials } from '#workloads/refresh/credentials/used-credentials.ts';

type Spec = NonNullable<PodTemplate['spec']>;

const secretsOf = (spec: Spec): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    [...usedCredentials({ spec }).secrets].map(([name, use]) => [name, use.untilPodEnds]),
  );

const volume = { name: 'tls', secret: { secretName: 'web-tls' } };
const projected = { name: 'tls', projected: { sources: [{ secret: { name: 'web-tls' } }] } };
const mount = { volumeMounts: [{ name: 'tls' }] };

const uses: readonly (readonly [way: string, spec: Spec, untilPodEnds: boolean])[] = [
  ['a volume', { volumes: [volume], containers: [mount] }, false],
  ['a projected volume', { volumes: [projected], containers: [mount] }, false],
  ['env', { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'web-tls' } } }] }] }, false],
  ['envFrom', { containers: [{ envFrom: [{ secretRef: { name: 'web-tls' } }] }] }, false],
  ['a volume of an init container', { volumes: [volume], initContainers: [mount] }, true],
  [
    'env of an init container',
    { initContainers: [{ envFrom: [{ secretRef: { name: 'web-tls' } }] }] },
    true,
  ],
  [
    'a sidecar',
    { volumes: [volume], initContainers: [{ ...mount, restartPolicy: 'Always' }] },
    false,
  ],
  [
    'a subPath, which the kubelet never rewrites',
    { volumes: [volume], containers: [{ volumeMounts: [{ name: 'tls', subPath: 'tls.crt' }] }] },
    true,
  ],
  [
    'a container and an init container',
    { volumes: [volume], containers: [mount], initContainers: [mount] },
    true,
  ],
];

for (const [way, spec, untilPodEnds] of uses) {
  test(`a Secret is used by ${way}`, () => {
    assert.deepEqual(secretsOf(spec), { 'web-tls': untilPodEnds });
  });
}

test('a volume that no container mounts is not used', () => {
  assert.deepEqual(secretsOf({ volumes: [volume], containers: [{}] }), {});
});

test('a mount of a volume that does not exist uses nothing', () => {
  assert.deepEqual(secretsOf({ containers: [mount] }), {});
  assert.deepEqual(usedCredentials({}).secrets.size, 0);
});

test('uses podCertificate and clusterTrustBundle projections where they are mounted', () => {
  const sources = [
    { podCertificate: { signerName: 'example.com/workload' } },
    { clusterTrustBundle: { name: 'example.com:workload:primary' } },
  ];
  const spec = { volumes: [{ name: 'tls', projected: { sources } }], containers: [mount] };
  const used = usedCredentials({ spec });
  assert.deepEqual([...used.podCertificates.keys()], ['example.com/workload']);
  assert.deepEqual(used.bundles, [{ name: 'example.com:workload:primary' }]);
  assert.deepEqual(usedCredentials({ spec: { ...spec, containers: [] } }).bundles, []);
});
