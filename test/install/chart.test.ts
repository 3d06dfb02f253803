// SPDX-License-Identifier: Apache-2.0
/** What the chart makes of values is what the one source makes of them, object for object. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { installationFiles } from '../../src/manifests/files.ts';
import { planOf } from '../../src/manifests/values/plan.ts';
import { CHART, byName, objectsIn, startHelm, type Helm, type Printed } from './helm.ts';
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
  const { annotations: { [KEEP]: _, ...annotations } = {}, ...metadata } = object.metadata;
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

test('the definitions are those of deploy/crds, and say which version they are of', async () => {
  const made = await template({ signers: [{ name: 'example.com/a' }] });
  for (const file of ['clustersigners', 'signers']) {
    const path = join(import.meta.dirname, `../../deploy/crds/${file}.yaml`);
    const shipped = parse(readFileSync(path, 'utf8')) as Printed;
    const found = made.get(`CustomResourceDefinition /${file}.countersign.dev`);
    assert.ok(found !== undefined);
    const labels = { ...shipped.metadata.labels, 'app.kubernetes.io/version': version };
    assert.deepEqual(withoutKeep(found), { ...shipped, metadata: { ...shipped.metadata, labels } });
  }
});

test('what stays when the chart is uninstalled: the definitions, our own signer, the namespace of the keys', async () => {
  const one = { signers: [{ name: 'example.com/a' }] };
  const kept = async (values: object): Promise<readonly string[]> =>
    [...(await template(values))]
      .filter(([, { metadata }]) => metadata.annotations?.[KEEP] === 'keep')
      .map(([key]) => key)
      .sort();
  const definitions = [
    ...['acmeclustersigners', 'acmesigners', 'challenges'].map((each) => `${each}.acme`),
    ...['clustersigners', 'orders.acme', 'revocations', 'signers'],
  ].map((each) => `CustomResourceDefinition /${each}.countersign.dev`);
  const own = ['ClusterSigner /serving'];
  const keys = ['Namespace /countersign-keys'];
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
