// SPDX-License-Identifier: Apache-2.0
/**
 * A component is one folder, and one line in the list: command line, roles, chart and documents
 * have it by that.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { parse } from 'yaml';
import { leaderLease } from '#component/leases.ts';
import { program } from '#cli/program.ts';
import { COMPONENTS, PROCESSES } from '#install/component-list.ts';
import { parseGrant } from '#ledger/ledger/grants.ts';
import { houseFile, readHouse, type HouseFile } from './house.ts';
import { componentFolders } from './places.ts';
import { wordsOf } from './syntax.ts';

const ROOT = join(import.meta.dirname, '../..');
const SRC = join(ROOT, 'src');

const described = globSync('*/*/component.ts', { cwd: SRC }).map(dirname);
const listed = PROCESSES.map(({ name }) => name);

/** Names of components in one literal that make it a list of components. */
const MANY = 3;

/** Other lists of components, each with the decision that is not one of the components' own. */
const LISTS: Readonly<Record<string, string>> = {
  'cli/commands/rbac/cluster-names.ts': 'the roles that are compared for lost signer names',
  'cli/program.ts': 'commands for users below those of components',
  'diagnose/check/access/listed-signers.ts': 'the roles that name signers of an installation',
  'install/admission/components.ts': 'the users that may write approvals',
  'install/values/defaults.ts': 'values of the chart that are named as components',
  'install/values/schema.ts': 'values of the chart that are named as components',
  'install/workloads/deployment.ts': 'one value of the chart for the three components of ACME',
  'ledger/ledger/grants.ts': 'the records that the ledger takes from each',
};

test('a component is named in its folder and in one list, with these exceptions', () => {
  const found = readHouse().filter(({ path }) => !path.endsWith('/component.ts'));
  assert.deepEqual(
    found.filter(listsComponents).map(({ path }) => path),
    Object.keys(LISTS),
  );
});

test('found: a second list of components, in a list, as keys and in a type', () => {
  for (const text of [
    "export const ALL = ['approver', 'signer', 'ledger'];",
    "export const ALL = { approver: 1, 'pcr-issuer': 2, acme: 3 };",
    "export type All = 'approver' | 'signer' | 'ledger';",
  ])
    assert.ok(listsComponents(houseFile('x.ts', text)), text);
});

function listsComponents({ tree }: HouseFile): boolean {
  const isList = (node: ts.Node): boolean =>
    wordsOf(node).filter((word) => listed.some((name) => name === word)).length >= MANY ||
    ts.forEachChild(node, (child) => isList(child) || undefined) === true;
  return isList(tree);
}

test('each folder with a descriptor is listed, by the name of the folder', () => {
  assert.deepEqual(described.map((folder) => basename(folder)).sort(), listed.toSorted());
});

test('each folder with rights of its own has a descriptor', () => {
  assert.deepEqual(described.toSorted(), componentFolders());
});

test('each is a command, with its summary and all its flags', () => {
  const root = program('countersign', (code) => assert.fail(`it exits with ${code}`));
  for (const { name, summary, flags = [] } of PROCESSES) {
    const command = root.commands.find((each) => each.name() === name);
    assert.ok(command, name);
    assert.equal(command.description(), summary);
    const known = command.options.map((each) => each.flags);
    assert.deepEqual(
      flags.map(({ flag }) => flag).filter((flag) => !known.includes(flag)),
      [],
      name,
    );
  }
});

test('the chart has values for each component of an installation, and for no other', () => {
  const text = readFileSync(join(ROOT, 'deploy/chart/values.yaml'), 'utf8');
  const { components } = parse(text) as { readonly components: object };
  assert.deepEqual(Object.keys(components).sort(), [...COMPONENTS.keys()].sort());
});

test('the page of src names the components of each room', () => {
  const page = readFileSync(join(SRC, 'README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z]+)` +\|[^|]+\| *([^|]*?) *\|$/gm)];
  const named = rows.flatMap(([, room = '', names = '']) =>
    [...names.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => `${room}/${name}`),
  );
  assert.deepEqual(named.sort(), described.toSorted());
});

test('a component that leads may write one Lease, others those of their replicas', () => {
  const leases = { namespace: 'ns', secretNamespaces: ['keys'] };
  for (const { name, leads = false, leases: has, permissions } of COMPONENTS.values()) {
    const rules = permissions({ signerNames: [], bundles: [], secrets: [], leases });
    const named = rules
      .filter(({ resources }) => resources.includes('leases'))
      .flatMap(({ resourceNames = [] }) => resourceNames);
    assert.deepEqual(named, leads ? [leaderLease(name, 'keys')] : [], name);
    assert.ok(has !== false || !leads, name);
  }
});

test('the ledger accepts records of exactly the components that record', () => {
  for (const { name, records } of PROCESSES) {
    const grant = (): unknown => parseGrant(`${name}=example.com/workload`);
    if (records === true) assert.doesNotThrow(grant);
    else assert.throws(grant, /names no component that appends/, name);
  }
});

test('components serve where the flags say: Deployment ports are flag defaults', () => {
  for (const { name, flags = [], publicPorts = [] } of COMPONENTS.values()) {
    const listens = flags.flatMap((each) => (each.listens === undefined ? [] : [each.listens]));
    const ports = publicPorts.map(({ containerPort }) => containerPort);
    assert.deepEqual(ports.sort(), listens.sort(), name);
  }
});

test('what is mounted is where a flag looks for it', () => {
  for (const { name, flags = [], secretVolumes = [], storage } of COMPONENTS.values()) {
    const mounted = secretVolumes.map(({ mountPath }) => mountPath);
    const paths = storage === undefined ? mounted : [...mounted, storage.mountPath];
    const defaults = flags.map((each) => each.default);
    assert.deepEqual(
      paths.filter((path) => !defaults.includes(path)),
      [],
      name,
    );
  }
});
