// SPDX-License-Identifier: Apache-2.0
/**
 * Volumes that inject themselves, on the real API server: pods as charts write them, before and
 * after. What a pod becomes is compared with the same pod of a namespace that did not opt in, so
 * nothing else may have changed.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { renderAdmission } from '#install/render.ts';
import { mutation } from '#install/admission/injection/mutation.ts';
import { profileOf } from '#install/admission/injection/profiles.ts';
import { refusals } from '#install/admission/injection/refusals.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { openCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { BY_SUB_PATH, REFUSED } from './injection/refused-pods.ts';
import { STOCK_PODS, type PodSpec } from './injection/stock-pods.ts';
import { withInjected } from './injection/with-injected.ts';

const IN = 'injection-in';
const OUT = 'injection-out';
const INJECT = 'countersign.dev/inject';
const PATH = '/var/run/secrets/countersign.dev/workload';
const ONE: PodSpec = { containers: [{ name: 'a', image: 'x' }] };
/** The API server compiles a new policy within seconds. */
const POLICIES_MS = 60_000;
const PROFILES = [
  profileOf({ name: 'workload', signerName: 'example.com/workload' }),
  profileOf({
    name: 'db',
    signerName: 'example.com/db',
    keyType: 'ED25519',
    mountPath: '/db',
    trustBundle: false,
    env: [{ name: 'PGSSLKEY', file: 'key.pem' }],
  }),
];

const PODS = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };

let cluster: Cluster;

before(async () => {
  cluster = await openCluster();
  const namespace = (name: string, labels: object): object => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  await apply(cluster, namespace(IN, { [INJECT]: 'enabled' }), namespace(OUT, {}));
  // The shipped file first: whatever is printed can be applied.
  await applyText(cluster, renderAdmission(DEMO).get('injection.yaml') ?? '');
  await apply(cluster, ...mutation(PROFILES), ...refusals(PROFILES));
  await until('the policies are in force', POLICIES_MS, async () => {
    const made = await created(ONE, { namespace: IN, inject: 'workload,db' });
    const refused = await created(ONE, { namespace: IN, inject: 'nobody' });
    const warned = await created(ONE, { namespace: OUT, inject: 'workload' });
    const bySubPath = await created(BY_SUB_PATH, { namespace: IN });
    return (
      made.spec !== undefined &&
      volumesOf(made.spec).includes('countersign-db') &&
      refused.says.includes('names no profile') &&
      warned.says.includes('does nothing in namespace') &&
      bySubPath.says.includes('never renewed')
    );
  });
});

after(async () => {
  await cluster.kubectl(['delete', 'namespace', IN, OUT, '--wait=false']);
  const names = [...mutation(PROFILES), ...refusals(PROFILES)].map((each) => {
    const { kind, metadata } = each as { kind: string; metadata: { name: string } };
    return `${kind.toLowerCase()}/${metadata.name}`;
  });
  await cluster.kubectl(['delete', ...names, '--ignore-not-found']);
  await cluster.stop();
});

for (const [what, spec] of Object.entries(STOCK_PODS)) {
  test(`a stock pod gets its identity, and nothing else of it changes: ${what}`, async () => {
    const before = await created(spec, { namespace: OUT });
    const after = await created(spec, { namespace: IN, inject: 'workload' });
    assert.ok(before.spec !== undefined && after.spec !== undefined, after.says + before.says);
    assert.deepEqual(comparable(after.spec), comparable(withInjected(before.spec)));
  });
}

test('two profiles of one annotation are both there, each with what it says', async () => {
  const { spec } = await created(ONE, { namespace: IN, inject: 'workload, db' });
  assert.ok(spec !== undefined);
  const db = spec.volumes?.find((each) => each.name === 'countersign-db');
  assert.deepEqual(db?.['projected'], {
    defaultMode: 420,
    sources: [
      {
        podCertificate: {
          signerName: 'example.com/db',
          keyType: 'ED25519',
          maxExpirationSeconds: 86_400,
          credentialBundlePath: 'credentials.pem',
          keyPath: 'key.pem',
          certificateChainPath: 'chain.pem',
        },
      },
    ],
  });
  const [first] = spec.containers;
  const paths = first?.volumeMounts?.map((each) => each.mountPath) ?? [];
  assert.ok(paths.includes('/db') && paths.includes(PATH));
  const names = first?.env?.map((each) => each.name).sort();
  assert.deepEqual(names, [
    'COUNTERSIGN_DB_CREDENTIALS',
    'COUNTERSIGN_WORKLOAD_CREDENTIALS',
    'COUNTERSIGN_WORKLOAD_TRUST_BUNDLE',
    'PGSSLKEY',
  ]);
});

test('what was injected is left as it is when it is seen again', async () => {
  const wanted = {
    containers: [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'y' },
    ],
    initContainers: [{ name: 'i', image: 'x' }],
  };
  const once = await created(wanted, { namespace: IN, inject: 'workload,db' });
  assert.ok(once.spec !== undefined, once.says);
  const twice = await created(once.spec, { namespace: IN, inject: 'workload,db' });
  assert.deepEqual(twice.spec, once.spec, twice.says);
});

test('a container that another policy adds after ours is injected too', async () => {
  const metadata = { name: 'injection-sidecar' };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await apply(
    cluster,
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: {
          resourceRules: [{ ...PODS, operations: ['CREATE'] }],
        },
        matchConditions: [
          { name: 'wanted', expression: "'sidecar' in object.metadata.?annotations.orValue({})" },
        ],
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression:
                "object.spec.containers.exists(c, c.name == 'sidecar') ? [] : [JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: 'sidecar', image: 'x'}}]",
            },
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name },
    },
  );
  try {
    await until('both policies are in force', POLICIES_MS, async () => {
      const asked = { namespace: IN, inject: 'workload', annotations: { sidecar: '' } };
      const { spec, says } = await created(ONE, asked);
      if (spec?.containers.length !== 2) return false;
      for (const each of spec.containers)
        assert.ok(each.volumeMounts?.some(({ mountPath }) => mountPath === PATH) ?? false, says);
      return true;
    });
  } finally {
    const kinds = 'mutatingadmissionpolicy,mutatingadmissionpolicybinding';
    await cluster.kubectl(['delete', kinds, metadata.name]);
  }
});

for (const [what, [spec, says, inject = 'workload']] of Object.entries(REFUSED)) {
  test(`a collision is refused with a message: ${what}`, async () => {
    const made = await created(spec, { namespace: IN, inject });
    assert.equal(made.spec, undefined);
    assert.match(made.says, says);
  });
}

test('without the namespace’s opt-in the annotation adds nothing and warns its author', async () => {
  const made = await created(ONE, { namespace: OUT, inject: 'workload' });
  assert.ok(made.spec !== undefined);
  assert.ok(!volumesOf(made.spec).some((each) => each.startsWith('countersign-')));
  assert.match(made.says, /label the namespace countersign\.dev\/inject=enabled/);
});

test('a pod without annotations is unchanged, with a warning if it never renews', async () => {
  const made = await created(BY_SUB_PATH, { namespace: IN });
  assert.ok(made.spec !== undefined);
  assert.deepEqual(volumesOf(made.spec), ['own']);
  assert.match(made.says, /Warning: .*container a mounts certificates by subPath/);
});

test('injection gives a pod’s author only what they could have written by hand', async () => {
  const author = ['create', 'role', 'author', '-n'];
  const named = await created(ONE, { namespace: OUT });
  assert.ok(named.spec !== undefined);
  for (const namespace of [IN, OUT]) {
    await cluster.kubectl([...author, namespace, '--verb=create', '--resource=pods']);
    const binding = ['create', 'rolebinding', 'author', '-n', namespace, '--role=author'];
    await cluster.kubectl([...binding, `--serviceaccount=${IN}:default`]);
  }
  const kubeconfig = await cluster.serviceAccountKubeconfig(IN, 'default');
  const byHand = await created(withInjected(named.spec), { namespace: OUT, kubeconfig });
  const injected = await created(ONE, { namespace: IN, inject: 'workload', kubeconfig });
  assert.ok(byHand.spec !== undefined && injected.spec !== undefined, byHand.says + injected.says);
  assert.deepEqual(comparable(injected.spec), comparable(byHand.spec));
});

test('an ephemeral container of an injected pod is admitted as it is', async () => {
  const metadata = { name: 'debugged', namespace: IN, annotations: { [INJECT]: 'workload' } };
  await apply(cluster, { apiVersion: 'v1', kind: 'Pod', metadata, spec: ONE });
  const ephemeralContainers = [{ name: 'debug', image: 'x', command: ['sh'] }];
  const patch = ['patch', 'pod', 'debugged', '-n', IN, '--subresource=ephemeralcontainers'];
  const { stdout } = await cluster.kubectl([
    ...patch,
    '-o',
    'json',
    '-p',
    JSON.stringify({ spec: { ephemeralContainers } }),
  ]);
  const { spec } = JSON.parse(stdout) as { spec: PodSpec };
  assert.ok(volumesOf(spec).includes('countersign-workload'));
  const [debug] = spec['ephemeralContainers'] as readonly object[];
  assert.deepEqual(debug && { ...debug, ...ephemeralContainers[0] }, debug);
  assert.ok(debug !== undefined && !('volumeMounts' in debug) && !('env' in debug));
});

test('the picture of a static pod stays what it is', async () => {
  const annotations = { 'kubernetes.io/config.mirror': 'abc' };
  const wanted = {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    containers: [{ name: 'a', image: 'x' }],
  };
  const made = await created(wanted, { namespace: IN, inject: 'workload', annotations });
  assert.ok(made.spec !== undefined, made.says);
  assert.ok(!volumesOf(made.spec).includes('countersign-workload'));
});

test('an annotated pod is rejected if the mutation did not add its volume', async () => {
  const kinds = 'mutatingadmissionpolicy,mutatingadmissionpolicybinding';
  await cluster.kubectl(['delete', kinds, 'countersign-injection']);
  await until('the mutation is gone', POLICIES_MS, async () => {
    const made = await created(ONE, { namespace: IN, inject: 'workload' });
    return /volume countersign-workload was not added: MutatingAdmissionPolicy countersign-injection is not in force/.test(
      made.says,
    );
  });
});

interface Asked {
  readonly namespace: string;
  readonly inject?: string;
  /** Another identity than the administrator's. */
  readonly kubeconfig?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Made {
  /** Undefined: it was refused. */
  readonly spec: PodSpec | undefined;
  /** Warnings and errors. */
  readonly says: string;
}

/** The pod as the API server would store it. */
async function created(
  spec: PodSpec,
  { namespace, inject, kubeconfig, annotations = {} }: Asked,
): Promise<Made> {
  const asked = inject === undefined ? {} : { [INJECT]: inject };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'stock', namespace, annotations: { ...annotations, ...asked } },
    spec: { automountServiceAccountToken: false, ...spec },
  };
  const args = ['create', '-f', '-', '--dry-run=server', '-o', 'json'];
  const { code, stdout, stderr } = await cluster.kubectl(args, {
    input: JSON.stringify(pod),
    allowFailure: true,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
  if (code !== 0) return { spec: undefined, says: stderr };
  return { spec: (JSON.parse(stdout) as { spec: PodSpec }).spec, says: stderr };
}

function volumesOf({ volumes = [] }: PodSpec): readonly string[] {
  return volumes.map((each) => each.name);
}

/**
 * Without the order of variables, mounts and volumes among each other, and without random names.
 */
function comparable(spec: PodSpec): unknown {
  const text = JSON.stringify(spec, (key: string, value: unknown) =>
    ['volumes', 'volumeMounts', 'env'].includes(key) && Array.isArray(value)
      ? (value as readonly { readonly name: string }[]).toSorted((a, b) =>
          a.name.localeCompare(b.name),
        )
      : value,
  );
  return JSON.parse(text.replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access'));
}
