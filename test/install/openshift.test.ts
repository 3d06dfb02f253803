// SPDX-License-Identifier: Apache-2.0
/**
 * Pods under OpenShift's SecurityContextConstraints restricted-v2, as its documentation has them:
 * "Managing security context constraints",
 * https://docs.redhat.com/en/documentation/openshift_container_platform
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorDeployment } from '#install/operator/deployment.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { planOf } from '#install/values/plan.ts';
import { deployment } from '#install/workloads/deployment.ts';

interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number;
  readonly seLinuxOptions?: object;
  readonly seccompProfile?: { readonly type: string };
  readonly allowPrivilegeEscalation?: boolean;
  readonly privileged?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

interface Container {
  readonly name: string;
  readonly securityContext: SecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
}

interface PodSpec {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext: SecurityContext;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}

/** The annotation openshift.io/sa.scc.uid-range of a namespace: 1000650000/10000. */
const RANGE = { first: 1_000_650_000, last: 1_000_659_999 };

/** The volumes of restricted-v2. */
const VOLUMES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

const isOutside = (id: number | undefined): boolean =>
  id !== undefined && (id < RANGE.first || id > RANGE.last);

/** Returns why restricted-v2 does not admit a pod. */
function refusalsOf(pod: PodSpec): readonly string[] {
  const faults: (string | false)[] = [
    (pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC ?? false) && 'a namespace of the host',
    isOutside(pod.securityContext.runAsUser) && 'runAsUser of the pod',
    isOutside(pod.securityContext.fsGroup) && 'fsGroup',
    pod.securityContext.seLinuxOptions !== undefined && 'seLinuxOptions',
  ];
  for (const { name, ...volume } of pod.volumes ?? []) {
    const [type = ''] = Object.keys(volume);
    faults.push(!VOLUMES.has(type) && `volume ${String(name)}`);
  }
  for (const { name, securityContext, ports = [] } of containersOf(pod)) {
    const { runAsUser, privileged, allowPrivilegeEscalation, capabilities = {} } = securityContext;
    const { add = [], drop = [] } = capabilities;
    faults.push(
      isOutside(runAsUser) && `runAsUser of ${name}`,
      privileged === true && `${name} is privileged`,
      allowPrivilegeEscalation !== false && `${name} may escalate`,
      add.some((each) => each !== 'NET_BIND_SERVICE') && `capabilities of ${name}`,
      !drop.includes('ALL') && `${name} keeps capabilities`,
      ports.some(({ hostPort }) => hostPort !== undefined) && `hostPort of ${name}`,
    );
  }
  return faults.filter((each) => each !== false);
}

const containersOf = (pod: PodSpec): readonly Container[] => [
  ...(pod.initContainers ?? []),
  ...pod.containers,
];

const podOf = (made: unknown): PodSpec =>
  (made as { readonly spec: { readonly template: { readonly spec: PodSpec } } }).spec.template.spec;

const KEY_HOLDER = {
  keys: [
    {
      name: 'workload',
      secret: 'workload-key',
      signerNames: ['example.com/workload'],
      leaf: { maxDuration: '24h', names: { uris: ['spiffe://cluster[.]local/.+'] } },
    },
  ],
};

/** Pods of every component, and of both operators, for the settings of all components. */
function pods(defaults: object, keyHolder = false): ReadonlyMap<string, PodSpec> {
  const components = Object.fromEntries(
    [...COMPONENTS].map(([name, { optional, signsByKeyHolder }]) => [
      name,
      {
        ...(optional === undefined ? {} : { enabled: true }),
        ...(keyHolder && signsByKeyHolder === true ? { keyHolder: KEY_HOLDER } : {}),
      },
    ]),
  );
  const plan = planOf(
    { signers: [{ name: 'example.com/workload', keyHolder }], defaults, components },
    { namespace: 'default', version: '0.1.0' },
  );
  const operator = { component: 'operator', namespace: 'x', image: 'x', args: [], description: '' };
  return new Map([
    ...[...COMPONENTS.keys()].map((name) => [name, podOf(deployment(name, plan))] as const),
    ['operator', podOf(operatorDeployment(operator))],
  ]);
}

test('restricted-v2 admits every pod as it is installed, which names no user', () => {
  for (const [component, pod] of pods({})) {
    assert.deepEqual(refusalsOf(pod), [], component);
    assert.deepEqual(
      [pod.securityContext.runAsUser, pod.securityContext.fsGroup],
      [undefined, undefined],
      component,
    );
    // The kubelet then checks that the image's user, a number, is not root.
    assert.equal(pod.securityContext.runAsNonRoot, true, component);
    assert.deepEqual(pod.securityContext.seccompProfile, { type: 'RuntimeDefault' }, component);
  }
});

test('with key holders restricted-v2 admits every pod if fsGroup is none', () => {
  for (const [component, pod] of pods({ podSecurityContext: { fsGroup: 'none' } }, true))
    assert.deepEqual(refusalsOf(pod), [], component);
});

test('ids of the values are those of the pod, and fsGroup follows them', () => {
  const idsOf = (podSecurityContext: object, keyHolder = false): unknown => {
    const { runAsUser, runAsGroup, fsGroup } =
      pods({ podSecurityContext }, keyHolder).get('pcr-issuer')?.securityContext ?? {};
    return [runAsUser, runAsGroup, fsGroup];
  };
  assert.deepEqual(idsOf({ runAsUser: 5 }), [5, undefined, 5]);
  assert.deepEqual(idsOf({ runAsUser: 5, runAsGroup: 6 }), [5, 6, 6]);
  assert.deepEqual(idsOf({ runAsUser: 5, runAsGroup: 6, fsGroup: 7 }), [5, 6, 7]);
  assert.deepEqual(idsOf({ runAsUser: 5, fsGroup: 'none' }), [5, undefined, undefined]);
  assert.deepEqual(idsOf({ fsGroup: 7 }), [undefined, undefined, 7]);
  assert.deepEqual(idsOf({}, true), [undefined, undefined, 65_532]);
  assert.deepEqual(idsOf({ fsGroup: 7 }, true), [undefined, undefined, 7]);
});

test('a component wins over all components, and root is refused', () => {
  const of = (podSecurityContext: object): PodSpec['securityContext'] => {
    const values = {
      signers: [{ name: 'example.com/workload' }],
      defaults: { podSecurityContext: { runAsUser: 5, fsGroup: 7 } },
      components: { ledger: { enabled: true, podSecurityContext } },
    };
    return podOf(deployment('ledger', planOf(values, { namespace: 'default', version: '0.1.0' })))
      .securityContext;
  };
  assert.deepEqual([of({ fsGroup: 8 }).runAsUser, of({ fsGroup: 8 }).fsGroup], [5, 8]);
  for (const faulty of [
    { runAsUser: 0 },
    { fsGroup: 0 },
    { runAsNonRoot: false },
    { fsGroup: 'x' },
  ])
    assert.throws(() => of(faulty), { name: 'ZodError' });
});

test('every pod asks for a node with Linux, beside the labels of the values', () => {
  const nodeSelector = { zone: 'a', 'kubernetes.io/os': 'windows' };
  for (const [component, pod] of pods({ nodeSelector })) {
    const more = component === 'operator' ? {} : { zone: 'a' };
    assert.deepEqual(pod.nodeSelector, { ...more, 'kubernetes.io/os': 'linux' }, component);
  }
});
