// SPDX-License-Identifier: Apache-2.0
/** The value `keyHolder`: the sidecar that it makes, and that no component reaches the key. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readHolderConfiguration } from '#ca/key-holder/configuration.ts';
import type { ComponentName } from '#install/component-list.ts';
import { installationFiles } from '#install/files.ts';
import type { Manifest } from '#install/roles.ts';
import { checkedPlanOf } from '#install/values/plan.ts';
import { deployment } from '#install/workloads/deployment.ts';
import { CONTAINER_CONFINEMENT } from '#install/pod-confinement.ts';
import { GOOD_KEY_HOLDER } from '../helm/key-holder-values.ts';

const KEY = {
  name: 'workload',
  secret: 'workload-key',
  encrypted: true,
  signerNames: ['example.com/workload'],
  leaf: { maxDuration: '24h', names: { uris: ['spiffe://cluster[.]local/.+'] } },
};
const VALUES = {
  signers: [
    { name: 'example.com/workload', keyHolder: true, serves: ['pods'] },
    { name: 'example.com/people' },
  ],
  components: { 'pcr-issuer': { keyHolder: { keys: [KEY] } } },
};
const plan = checkedPlanOf(VALUES, { namespace: 'default', version: '0.1.0' });

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly restartPolicy?: string;
  readonly securityContext: object;
  readonly startupProbe: { readonly exec?: { readonly command: readonly string[] } };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

interface PodSpec {
  readonly securityContext: { readonly fsGroup?: number; readonly runAsUser: number };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly (Manifest & { readonly name: string })[];
}

function podOf(component: ComponentName, of = plan): PodSpec {
  const made = deployment(component, of) as {
    readonly spec: { readonly template: { readonly spec: PodSpec } };
  };
  return made.spec.template.spec;
}

const pod = podOf('pcr-issuer');
const sidecar = pod.initContainers?.[0] ?? assert.fail();
const component = pod.containers[0] ?? assert.fail();
const configuration = (): unknown => {
  const [, text = ''] = sidecar.args;
  return JSON.parse(text.replace('--configuration=', ''));
};

test('the holder reads its argument, and each file and socket of it is mounted', () => {
  assert.equal(sidecar.args[0], 'key-holder');
  const { keys, sockets } = readHolderConfiguration(configuration(), 'the argument');
  const mounted = (path: string): boolean =>
    sidecar.volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`));
  const paths = [
    ...keys.flatMap(({ file = '', certificate, passphraseFile = '' }) => [
      file,
      certificate,
      passphraseFile,
    ]),
    ...sockets.map(({ path }) => path),
  ];
  assert.deepEqual(
    paths.filter((path) => !mounted(path)),
    [],
  );
  assert.deepEqual(component.args.slice(-1), [`--key-holder=${sockets[0]?.path ?? ''}`]);
  assert.deepEqual(sidecar.startupProbe.exec?.command.at(-1), `--probe=${sockets[0]?.path ?? ''}`);
});

test('the sidecar alone mounts the Secret of the key, and it has no token', () => {
  const secrets = pod.volumes.filter((each) => JSON.stringify(each).includes('workload-key'));
  assert.deepEqual(
    secrets.map(({ name }) => name),
    ['key-holder-keys'],
  );
  const mountsOf = ({ volumeMounts }: Container): readonly string[] =>
    volumeMounts.map(({ name }) => name);
  assert.ok(mountsOf(sidecar).includes('key-holder-keys'));
  assert.ok(!mountsOf(component).includes('key-holder-keys'));
  assert.ok(!mountsOf(sidecar).some((name) => ['serving', 'ledger'].includes(name)));
  const hidden = sidecar.volumeMounts.find(({ mountPath }) => mountPath.includes('serviceaccount'));
  assert.equal(hidden?.name, 'key-holder-no-token');
});

test('the pod’s group may read the key, and no other user', () => {
  const keys = pod.volumes.find(({ name }) => name === 'key-holder-keys');
  const { defaultMode } = keys?.['projected'] as { readonly defaultMode: number };
  assert.equal(defaultMode, 0o440);
  assert.equal(pod.securityContext.fsGroup, 65_532);
  assert.equal(podOf('signer').securityContext.fsGroup, undefined);
});

test('the component may use its socket, which is in memory, and not replace it', () => {
  const sockets = pod.volumes.find(({ name }) => name === 'key-holder-sockets');
  assert.deepEqual(sockets?.['emptyDir'], { medium: 'Memory', sizeLimit: '1Mi' });
  const mount = component.volumeMounts.find(({ name }) => name === 'key-holder-sockets');
  assert.equal(mount?.readOnly, true);
});

test('the sidecar is confined as every container, and restarts by itself', () => {
  assert.deepEqual(sidecar.securityContext, CONTAINER_CONFINEMENT);
  assert.equal(sidecar.restartPolicy, 'Always');
  assert.deepEqual(podOf('signer').initContainers, undefined);
});

/** Names of Secrets that the roles of each component let it read or change. */
function secretsInRoles(values: object): ReadonlyMap<string, readonly string[]> {
  const files = installationFiles(
    checkedPlanOf(values, { namespace: 'default', version: '0.1.0' }),
  );
  const roles = [...files].filter(([file]) => file.startsWith('rbac/'));
  return new Map(
    roles.map(([file, objects]) => [
      file,
      objects.flatMap(({ rules = [] }) =>
        (rules as { resources: string[]; verbs: string[]; resourceNames?: string[] }[])
          .filter(({ resources }) => resources.includes('secrets'))
          .filter(({ verbs }) => verbs.some((verb) => verb !== 'create'))
          .flatMap(({ resourceNames = ['*'] }) => resourceNames),
      ),
    ]),
  );
}

test('PIN, files and image of a PKCS#11 module are those of the sidecar alone', () => {
  const { encrypted: _encrypted, ...key } = KEY;
  const keyHolder = {
    keys: [{ ...key, pkcs11: { token: 'ca', label: 'ca' } }],
    pkcs11: { image: 'registry.example/hsm:1', module: '/p11.so', files: 'hsm-client' },
  };
  const values = { ...VALUES, components: { 'pcr-issuer': { keyHolder } } };
  const made = podOf(
    'pcr-issuer',
    checkedPlanOf(values, { namespace: 'default', version: '0.1.0' }),
  );
  const [holder] = made.initContainers ?? [];
  const [component] = made.containers;
  assert.ok(holder && component);
  assert.equal(holder.image, 'registry.example/hsm:1');
  assert.notEqual(component.image, holder.image);
  const volumesOf = (container: Container): readonly string[] =>
    container.volumeMounts.map(({ name }) => name);
  for (const volume of ['key-holder-keys', 'key-holder-module']) {
    assert.ok(volumesOf(holder).includes(volume));
    assert.ok(!volumesOf(component).includes(volume));
  }
  const keys = made.volumes.find(({ name }) => name === 'key-holder-keys');
  assert.match(JSON.stringify(keys), /"key":"pin","path":"workload\/pin"/);
  assert.doesNotMatch(JSON.stringify(keys), /ca\.key/);
  assert.doesNotMatch(JSON.stringify(made.containers), /hsm/);
});

test('no role names the Secret of a CA whose key is held, or all Secrets', () => {
  const roles = secretsInRoles(VALUES);
  assert.deepEqual(roles.get('rbac/signer.yaml'), ['people-ca']);
  for (const [file, names] of roles) {
    for (const name of ['workload-ca', 'workload-key', '*'])
      assert.ok(!names.includes(name), `${file}: ${name}`);
  }
  const onlyHeld = { ...VALUES, signers: VALUES.signers.slice(0, 1) };
  assert.deepEqual(secretsInRoles(onlyHeld).get('rbac/pcr-issuer.yaml'), []);
});

test('roles are in the namespace of the values where every key is held', () => {
  const values = { ...VALUES, signers: VALUES.signers.slice(0, 1), keysNamespace: 'pki-keys' };
  const made = checkedPlanOf(values, { namespace: 'default', version: '0.1.0' });
  const text = JSON.stringify([...installationFiles(made)]);
  assert.doesNotMatch(text, /countersign-keys/);
});

test('a limit of another shape is refused with its field', () => {
  const leaf = { maxDuration: '' };
  const components = { 'pcr-issuer': { keyHolder: { keys: [{ ...KEY, leaf }] } } };
  assert.throws(
    () => checkedPlanOf({ ...VALUES, components }, { namespace: 'default', version: '0.1.0' }),
    /components\.pcr-issuer\.keyHolder\.keys\.0\.leaf\.maxDuration/,
  );
});

test('the example is a key holder of one component, for a signer that it serves', () => {
  const path = join(import.meta.dirname, '../../deploy/examples/key-holder/values.yaml');
  const values: unknown = parse(readFileSync(path, 'utf8'));
  const { components } = checkedPlanOf(values, { namespace: 'default', version: '0.1.0' });
  const held = [...components].filter(([, { keyHolder }]) => keyHolder !== undefined);
  assert.deepEqual(
    held.map(([name]) => name),
    ['pcr-issuer'],
  );
});

test('a holder reads what each good value of the chart becomes', () => {
  for (const [values] of Object.values(GOOD_KEY_HOLDER)) {
    const made = checkedPlanOf(values, { namespace: 'default', version: '0.1.0' });
    const holders = [...made.components.values()].flatMap(({ keyHolder }) => keyHolder ?? []);
    assert.ok(holders.length > 0);
    for (const { args } of holders) {
      const text = args[0]?.replace('--configuration=', '') ?? '';
      readHolderConfiguration(JSON.parse(text), 'the argument');
    }
  }
});
