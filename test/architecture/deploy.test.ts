// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { DEMO } from '../../build/demo-installation.ts';
import { deployFiles } from '../../build/deploy-files.ts';
import { COMPONENTS, type ComponentName } from '#install/component-list.ts';
import {
  definitionsJson,
  flagSchemasJson,
  knownFieldsJson,
} from '../../build/operator/definitions.ts';
import { OPT_IN, renderAdmission, renderRbac, type Files } from '#install/render.ts';
import { USER_ROLES_FILE } from '#install/user-roles.ts';
import { componentFolders } from './places.ts';

const root = join(import.meta.dirname, '../..');
const again = 'is not what src/install makes for the demo; write it anew with make deploy';

const files = deployFiles();

for (const [path, text] of files) {
  test(`${path} is what the one source makes of it`, () => {
    assert.ok(existsSync(join(root, path)), `${path} ${again}`);
    assert.equal(readFileSync(join(root, path), 'utf8'), text, `${path} ${again}`);
  });
}

const printed: [folder: string, texts: Files][] = [
  ['rbac', renderRbac(DEMO)],
  ['deploy/admission', renderAdmission(DEMO)],
];

for (const [folder, texts] of printed) {
  test(`${folder} is what countersign rbac prints, and nothing else`, () => {
    const found = readdirSync(join(root, folder)).filter((file) => file.endsWith('.yaml'));
    assert.deepEqual(found.sort(), [...texts.keys()].sort());
    for (const [file, text] of texts) assert.equal(files.get(`${folder}/${file}`), text);
  });
}

test('deploy/ has by hand only which signers there are, and what kinds', () => {
  const shipped = globSync(['deploy/*.yaml', 'deploy/!(chart)/**/*.yaml'], { cwd: root });
  assert.deepEqual(shipped.filter((path) => !files.has(path)).sort(), [
    ...['acmeclustersigners', 'acmesigners', 'challenges', 'orders'].map(
      (name) => `deploy/crds/acme/${name}.yaml`,
    ),
    'deploy/crds/clustersigners.yaml',
    'deploy/crds/externalclustersigners.yaml',
    'deploy/crds/operator/certmanagerdeployments.yaml',
    'deploy/crds/operator/countersigns.yaml',
    'deploy/crds/revocations.yaml',
    'deploy/crds/signers.yaml',
    'deploy/examples/key-holder/values.yaml',
    'deploy/examples/people.yaml',
    ...['kind', 'pods', 'signers', 'values'].map(
      (name) => `deploy/examples/pod-certificates/${name}.yaml`,
    ),
    'deploy/examples/pod.yaml',
    'deploy/examples/servers.yaml',
    'deploy/examples/workload.yaml',
    'deploy/krew/countersign.yaml',
    'deploy/kustomization.yaml',
  ]);
});

test('kubectl apply -k takes every admission policy but those that are opt-in', () => {
  const { resources } = parse(readFileSync(join(root, 'deploy/kustomization.yaml'), 'utf8')) as {
    readonly resources: readonly string[];
  };
  const listed = resources.filter((each) => each.startsWith('admission/'));
  const files = readdirSync(join(root, 'deploy/admission')).filter(
    (each) => ![OPT_IN, 'injection.yaml'].includes(each),
  );
  assert.deepEqual([...listed].sort(), files.map((each) => `admission/${each}`).sort());
});

test('kubectl apply -k takes every file of roles', () => {
  const { resources } = parse(readFileSync(join(root, 'kustomization.yaml'), 'utf8')) as {
    readonly resources: readonly string[];
  };
  const roles = readdirSync(join(root, 'rbac')).map((each) => `rbac/${each}`);
  assert.deepEqual(resources.filter((each) => each.startsWith('rbac/')).sort(), roles.sort());
});

test('what the operator carries with it is what deploy/ and --help say', async () => {
  const carried = (file: string): string =>
    readFileSync(join(root, 'src/install/operator', file), 'utf8');
  assert.equal(carried('definitions.json'), await definitionsJson(), `definitions.json ${again}`);
  assert.equal(carried('known-fields.json'), await knownFieldsJson(), `known-fields.json ${again}`);
  assert.equal(carried('flag-schemas.json'), await flagSchemasJson(), `flag-schemas.json ${again}`);
});

test('every controller has its line in the table of components, and its roles', () => {
  // Operators install, and are in no installation.
  const controllers = componentFolders()
    .map((folder) => basename(folder))
    .filter((each) => !each.endsWith('operator'));
  assert.deepEqual(controllers.sort(), [...COMPONENTS.keys()].sort());
  const optionalComponents = controllers.filter(
    (each) => COMPONENTS.get(each as ComponentName)?.optional !== undefined,
  );
  assert.deepEqual(
    [...controllers.map((each) => `${each}.yaml`), USER_ROLES_FILE].sort(),
    [...renderRbac({ ...DEMO, optionalComponents }).keys()].sort(),
  );
});
