// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';
import { MAIN } from '../../support/cluster/countersign.ts';

const VALUES = {
  components: { acme: { enabled: true }, ledger: { enabled: true } },
  acme: { signers: [{ name: 'example.com/public' }] },
};

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'manifests-'));
  writeFileSync(join(directory, 'values.yaml'), stringify(VALUES));
});
after(() => {
  rmSync(directory, { recursive: true });
});

function manifests(...args: readonly string[]): ReturnType<typeof spawnSync> {
  return spawnSync(process.execPath, [MAIN, 'manifests', ...args], { encoding: 'utf8' });
}

type Printed = { readonly kind: string; readonly metadata: { readonly name: string } };

test('prints every chart object and definition without Helm, but no derived kinds', () => {
  const { stdout, stderr, status } = manifests('--values', join(directory, 'values.yaml'));
  assert.equal(status, 0);
  const printed = parseAllDocuments(String(stdout)).map((each) => each.toJS() as Printed);
  const plan = planOf(VALUES, { namespace: 'default', version: packageJson.version });
  const wanted = [...installationFiles(plan).values()].flat() as unknown as readonly Printed[];
  const isPrinted = ({ kind }: Printed): boolean => kind !== 'ClusterSigner';
  const others = printed.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  assert.deepEqual(others, JSON.parse(JSON.stringify(wanted.filter(isPrinted))));
  assert.ok(printed.some(({ metadata }) => metadata.name === 'orders.acme.countersign.dev'));
  assert.match(String(stderr), /left out: the ClusterSigner.*serving-signer\.yaml/);
});

test('values override one another as with Helm; each file of --output has its part', () => {
  const over = join(directory, 'over.yaml');
  writeFileSync(over, stringify({ components: { ledger: { enabled: false } } }));
  const output = join(directory, 'out');
  const values = ['--values', join(directory, 'values.yaml'), '--values', over];
  assert.equal(manifests(...values, '--output', output).status, 0);
  const deployments = readFileSync(join(output, 'deployments.yaml'), 'utf8');
  assert.match(deployments, /name: countersign-acme\n/);
  assert.doesNotMatch(deployments, /countersign-ledger/);
  assert.match(readFileSync(join(output, 'serving-signer.yaml'), 'utf8'), /kind: ClusterSigner/);
});

test('values that the chart refuses are refused, with the value', () => {
  const wrong = join(directory, 'wrong.yaml');
  for (const [values, says] of [
    [{ signer: [] }, /values: Unrecognized key: "signer"/],
    [{}, /signers: it is empty; name at least one/],
  ] as const) {
    writeFileSync(wrong, stringify(values));
    const { stderr, status } = manifests('--values', wrong);
    assert.equal(status, 2);
    assert.match(String(stderr), says);
  }
});
