// SPDX-License-Identifier: Apache-2.0
/** What the chart makes of values is what the one source makes of them, object for object. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { FILLED_BY } from '#api/signer/own-tls.ts';
import { installationFiles } from '#install/files.ts';
import { DEFAULT_VALUES } from '#install/values/defaults.ts';
import { planOf } from '#install/values/plan.ts';
import { CHART, byName, objectsIn, startHelm, type Helm, type Printed } from './helm.ts';
import { FULL } from './full-values.ts';
import { BAD, GOOD } from './values.ts';

const { version } = packageJson;
/** As in a cluster where our definitions are. */
const KNOWN = [
  '--kube-version',
  '1.37.1',
  '--api-versions',
  'countersign.dev/v1alpha1/ClusterSigner',
];
const KEEP = 'helm.sh/resource-policy';
/** Of Argo CD, which leaves out Helm's annotation when an object is no longer rendered. */
const PRUNE = 'argocd.argoproj.io/sync-options';

let helm: Helm;
before(async () => (helm = await startHelm()));
after(() => {
  helm.close();
});

function template(values: object, namespace = 'default'): Promise<ReadonlyMap<string, Printed>> {
  const args = ['template', 'countersign', CHART, '--namespace', namespace, ...KNOWN];
  return helm(args, values).then(({ stdout }) => objectsIn(stdout));
}

/** The objects of the source for the same values. */
function source(values: object, namespace = 'default'): ReadonlyMap<string, Printed> {
  const plan = planOf(values, { namespace, version });
  const objects = [...installationFiles(plan).values()].flat();
  return byName(JSON.parse(JSON.stringify(objects)) as Printed[]);
}

/** Without what only Helm reads. */
function withoutKeep(object: Printed): Printed {
  const { annotations: all = {}, ...metadata } = object.metadata;
  const { [KEEP]: _, [PRUNE]: __, ...annotations } = all;
  const rest = Object.keys(annotations).length === 0 ? {} : { annotations };
  return { ...object, metadata: { ...metadata, ...rest } };
}

for (const [what, [values, namespace]] of Object.entries(GOOD)) {
  test(`the chart makes what the one source makes: ${what}`, async () => {
    const made = await template(values, namespace);
    const objects = [...made].filter(([key]) => !key.startsWith('CustomResourceDefinition'));
    const wanted = source(values, namespace);
    assert.deepEqual(objects.map(([key]) => key).sort(), [...wanted.keys()].sort());
    for (const [key, object] of objects)
      assert.deepEqual(withoutKeep(object), wanted.get(key), key);
  });

  test(`helm lint --strict accepts it: ${what}`, async () => {
    const { stdout } = await helm(['lint', '--strict', CHART], values);
    assert.match(stdout, /0 chart\(s\) failed/);
  });
}

/** The values with null for each member in turn, by its path: of objects at every depth. */
function nulled(values: object, path = ''): readonly (readonly [path: string, values: object])[] {
  return Object.entries(values).flatMap(([key, value]: [string, unknown]) => {
    const at = `${path}.${key}`;
    const under =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? nulled(value, at) : [];
    return [
      [at, { ...values, [key]: null }] as const,
      ...under.map(([each, changed]) => [each, { ...values, [key]: changed }] as const),
    ];
  });
}

// Helm removes a default by null. Null elsewhere stays, and its schema refuses it.
for (const [what, values] of [
  ['the defaults', { ...DEFAULT_VALUES, signers: FULL.signers }],
  ['every value', FULL],
] as const)
  test(`the chart takes null for a member as the one source takes it: ${what}`, async () => {
    const cases = nulled(values);
    assert.ok(cases.length > 50);
    for (const [path, given] of cases) {
      const args = ['template', 'countersign', CHART, ...KNOWN];
      const { code, stdout } = await helm.tried(args, given);
      if (code !== 0) {
        assert.throws(() => source(given), path);
        continue;
      }
      const made = objectsIn(stdout);
      for (const [key, object] of source(given))
        assert.deepEqual(withoutKeep(made.get(key) as Printed), object, `${path}: ${key}`);
    }
  });

// Two seconds. Minutes, if each template makes its names again or compares signers in pairs.
test('a thousand signers are rendered as the one source has them', async () => {
  const values = {
    signers: Array.from({ length: 1000 }, (_, n) => ({ name: `example.com/s${n}` })),
  };
  const args = ['template', 'countersign', CHART, ...KNOWN];
  const { stdout } = await helm(args, values);
  const made = objectsIn(stdout);
  for (const [key, object] of source(values))
    assert.deepEqual(withoutKeep(made.get(key) as Printed), object, key);
});

test('without a cluster each rendering has the same bytes, as Argo CD compares them', async () => {
  for (const known of [[], KNOWN.slice(2)]) {
    const args = ['template', 'countersign', CHART, '--kube-version', '1.37.1', ...known];
    const [first, second] = await Promise.all([helm(args, FULL), helm(args, FULL)]);
    assert.equal(first.stdout, second.stdout);
  }
});

test('what Helm keeps Argo CD keeps, too', async () => {
  for (const [key, { metadata }] of await template(FULL))
    assert.equal(
      metadata.annotations?.[PRUNE],
      metadata.annotations?.[KEEP] === undefined ? undefined : 'Prune=false',
      key,
    );
});

test('the definitions are those of deploy/crds, and say which version they are of', async () => {
  const made = await template({ signers: [{ name: 'example.com/a' }] });
  for (const file of ['clustersigners', 'signers']) {
    const path = join(import.meta.dirname, `../../deploy/crds//${file}.yaml`);
    const shipped = parse(readFileSync(path, 'utf8')) as Printed;
    const found = made.get(`CustomResourceDefinition /${file}.countersign.dev`);
    assert.ok(found !== undefined);
    const labels = { ...shipped.metadata.labels, 'app.kubernetes.io/version': version };
    assert.deepEqual(withoutKeep(found), { ...shipped, metadata: { ...shipped.metadata, labels } });
  }
});

for (const [what, [values, namespace]] of Object.entries(GOOD)) {
  test(`uninstalling loses nothing that a component cannot make again: ${what}`, async () => {
    const made = [...(await template(values, namespace))];
    const isKept = ({ metadata }: Printed): boolean => metadata.annotations?.[KEEP] === 'keep';
    const goes = made.filter(([, each]) => !isKept(each));
    // Made empty, a component fills it in; `authority` fills in again what it has marked as its
    // own.
    const isFilledIn = (each: Printed): boolean =>
      ['Secret', 'ConfigMap'].includes(each.kind) &&
      each['data'] === undefined &&
      each['stringData'] === undefined &&
      each.metadata.annotations?.[FILLED_BY] === undefined;
    const lost = goes.filter(
      ([, each]) =>
        isFilledIn(each) ||
        ['PersistentVolumeClaim', 'ClusterSigner', 'Namespace'].includes(each.kind),
    );
    assert.deepEqual(
      lost.map(([key]) => key),
      [],
    );
    // What is kept in a namespace that goes, goes with it.
    const gone = new Set(
      goes.flatMap(([, { kind, metadata }]) => (kind === 'Namespace' ? [metadata.name] : [])),
    );
    const buried = made.filter(
      ([, each]) => isKept(each) && gone.has(each.metadata.namespace ?? ''),
    );
    assert.deepEqual(
      buried.map(([key]) => key),
      [],
    );
  });
}

test('uninstalling the chart keeps definitions, our own signer and both namespaces', async () => {
  const one = { signers: [{ name: 'example.com/a' }] };
  const kept = async (values: object): Promise<readonly string[]> =>
    [...(await template(values))]
      .filter(([, { metadata }]) => metadata.annotations?.[KEEP] === 'keep')
      .map(([key]) => key)
      .sort();
  const definitions = [
    ...['acmeclustersigners', 'acmesigners', 'challenges'].map((each) => `${each}.acme`),
    'clustersigners',
    'externalclustersigners',
    'orders.acme',
    'revocations',
    'signers',
  ].map((each) => `CustomResourceDefinition /${each}.countersign.dev`);
  const own = ['ClusterSigner /serving'];
  const keys = ['Namespace /countersign-keys', 'Namespace /countersign-system'];
  assert.deepEqual(await kept(one), [...own, ...definitions, ...keys]);
  assert.deepEqual(await kept({ ...one, crds: { keep: false } }), [...own, ...keys]);
  assert.deepEqual(await kept({ ...one, crds: { install: false } }), [...own, ...keys]);
});

for (const [what, [values, says]] of Object.entries(BAD)) {
  test(`refused by the chart and by the source: ${what}`, async () => {
    const { code, stderr } = await helm.tried(['template', 'countersign', CHART], values);
    assert.equal(code, 1);
    assert.match(stderr.replaceAll('\n', ' '), says);
    const namespace = 'default';
    assert.throws(
      () => planOf(values, { namespace, version }),
      (error: Error & { code?: string }) =>
        // The words of a schema are Helm's; those of a check are ours, and the same in both.
        error.code !== 'USAGE' || stderr.includes(error.message),
    );
  });
}

test('without the schema a name that would widen a role is refused all the same', async () => {
  for (const name of ['example.com/*', "example.com/a'", 'example.com/a\\', 'EXAMPLE.com/a', '*']) {
    const args = ['template', 'countersign', CHART, '--skip-schema-validation'];
    const { code, stderr } = await helm.tried(args, { signers: [{ name }] });
    assert.equal(code, 1);
    assert.match(stderr, /signers\[0\]\.name: .* is no signer name; write/);
  }
});
