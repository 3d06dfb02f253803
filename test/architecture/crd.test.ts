// SPDX-License-Identifier: Apache-2.0
/** The CRD, the schema that we read with, and the reference say the same. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import * as z from 'zod';
import { acmeCrds } from '../../build/acme-crds/files.ts';
import { certManagerCrd } from '../../build/operator/cert-manager-crd.ts';
import { countersignCrd } from '../../build/operator/countersign-crd.ts';
import { acmeReference } from '../../build/acme-crds/reference.ts';
import { signerCrd } from '../../build/signer-crd.ts';
import { CLUSTER_SIGNER_SPEC, SIGNER_SPEC } from '#api/signer/cluster-signer-schema.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly [keyword: string]: unknown;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

const definition = parse(read('deploy/crds/clustersigners.yaml')) as Definition;
const root = definition.spec.versions[0]?.schema.openAPIV3Schema ?? {};
const inCrd = fieldsOf(root);
const inCode = fieldsOf({
  properties: { spec: z.toJSONSchema(CLUSTER_SIGNER_SPEC, { io: 'input' }) as Schema },
});

/** What bounds a field, and what it is when it is left out. */
const KEYWORDS = [
  'type',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'enum',
  'default',
  'required',
] as const;

test('every field of spec is in both, with the same bounds and the same default', () => {
  const ofSpec = [...inCrd].filter(([path]) => path.startsWith('spec'));
  assert.deepEqual(ofSpec.map(([path]) => path).sort(), [...inCode.keys()].sort());
  for (const [path, crd] of ofSpec) {
    const code = inCode.get(path) ?? {};
    for (const keyword of KEYWORDS) {
      assert.deepEqual(sorted(crd[keyword]), sorted(code[keyword]), `${path}: ${keyword}`);
    }
  }
});

// The API server takes RE2 of its own; the words of a name are one pattern there, a function here.
const ownPattern = ['spec.signerName'];

test('every text of spec has the same pattern in both', () => {
  for (const [path, code] of inCode) {
    if (ownPattern.includes(path)) continue;
    const pattern = (code['pattern'] as string | undefined)?.replaceAll('\\/', '/');
    assert.equal(inCrd.get(path)?.['pattern'], pattern, path);
  }
});

test('every field of the CRD is described', () => {
  const silent = [...inCrd].filter(
    ([path, { description = '' }]) => !/\[\]$|\{\}$|^metadata$/.test(path) && description === '',
  );
  assert.deepEqual(
    silent.map(([path]) => path),
    [],
  );
});

test('every text, list and map of the CRD has a bound', () => {
  for (const [path, schema] of inCrd) {
    if (['apiVersion', 'kind', 'metadata'].includes(path)) continue;
    const bounded =
      schema['enum'] !== undefined ||
      schema['format'] === 'date-time' ||
      schema['maxLength'] !== undefined;
    if (schema.type === 'string') assert.ok(bounded, `${path} has no maxLength`);
    if (schema.type === 'array') assert.ok(schema['maxItems'], `${path} has no maxItems`);
    if (typeof schema.additionalProperties === 'object')
      assert.ok(schema['maxProperties'], `${path} has no maxProperties`);
  }
});

test('every field of the CRD has its row in the reference, and no row has no field', () => {
  const rows = [
    ...read('docs/reference/cluster-signer.md').matchAll(/^\| `((?:spec|status)[^`]*)` /gm),
  ];
  const fields = [...inCrd.keys()].filter(
    (path) => /^(?:spec|status)\./.test(path) && !/\[\]$|\{\}$/.test(path),
  );
  assert.deepEqual(rows.map(([, path]) => path).sort(), fields.sort());
});

test('every reason of Ready is explained in the reference, and no other', () => {
  const source = read('src/trust/authority/decide/observe.ts');
  const union = /type ReadyReason =([^;]*);/.exec(source)?.[1] ?? '';
  const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason);
  const [, section = ''] = read('docs/reference/cluster-signer.md').split('## Reasons of Ready');
  const [ofReady = ''] = section.split('\n## ');
  const rows = [...ofReady.matchAll(/^\| `(\w+)` /gm)].map(([, reason]) => reason);
  assert.ok(reasons.length > 0);
  assert.deepEqual(rows.sort(), reasons.sort());
});

const ofSigner = parse(read('deploy/crds/signers.yaml')) as Definition;
const inSignerCrd = fieldsOf(ofSigner.spec.versions[0]?.schema.openAPIV3Schema ?? {});
const inSignerCode = fieldsOf({
  properties: { spec: z.toJSONSchema(SIGNER_SPEC, { io: 'input' }) as Schema },
});

test('the CRD of Signer is made of that of ClusterSigner (make crds)', () => {
  const made = signerCrd(read('deploy/crds/clustersigners.yaml'));
  assert.equal(read('deploy/crds/signers.yaml'), made);
});

test('every field of a Signer’s spec is in both, with the same bounds and default', () => {
  const ofSpec = [...inSignerCrd].filter(([path]) => path.startsWith('spec'));
  assert.deepEqual(ofSpec.map(([path]) => path).sort(), [...inSignerCode.keys()].sort());
  for (const [path, crd] of ofSpec) {
    const code = inSignerCode.get(path) ?? {};
    for (const keyword of [...KEYWORDS, 'pattern']) {
      const text = code[keyword];
      const wanted = typeof text === 'string' ? text.replaceAll('\\/', '/') : text;
      assert.deepEqual(sorted(crd[keyword]), sorted(wanted), `${path}: ${keyword}`);
    }
  }
});

test('the reference lists exactly how Signer and ClusterSigner differ', () => {
  const rows = [...read('docs/reference/signer.md').matchAll(/^\| `((?:spec|status)[^`]*)` /gm)];
  const own = [...inSignerCrd].filter(
    ([path, { description }]) =>
      /^(?:spec|status)\./.test(path) && inCrd.get(path)?.description !== description,
  );
  assert.deepEqual(rows.map(([, path]) => path).sort(), own.map(([path]) => path).sort());
});

test('no word in the CRD of Signer is of what only a ClusterSigner has', () => {
  const text = read('deploy/crds/signers.yaml').replace(/^#.*$/gm, '');
  assert.doesNotMatch(text, /ClusterSigner|managed|authority-verbs/);
});

/** Every field by its path: `spec.pods.uris`, `spec.pods.uris[]`, `spec.trustBundle.labels{}`. */
function fieldsOf(schema: Schema, path = ''): Map<string, Schema> {
  const found = new Map<string, Schema>(path === '' ? [] : [[path, schema]]);
  const children: [string, Schema][] = Object.entries(schema.properties ?? {}).map(
    ([name, child]) => [path === '' ? name : `${path}.${name}`, child],
  );
  if (schema.items !== undefined) children.push([`${path}[]`, schema.items]);
  if (typeof schema.additionalProperties === 'object')
    children.push([`${path}{}`, schema.additionalProperties]);
  for (const [childPath, child] of children)
    for (const [name, field] of fieldsOf(child, childPath)) found.set(name, field);
  return found;
}

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.toSorted() : value;
}

test('the CRDs of acme.countersign.dev are those of build/acme-crds (make crds)', () => {
  const made = acmeCrds(read('deploy/crds/clustersigners.yaml'));
  for (const [name, text] of made) assert.equal(read(`deploy/crds/acme/${name}`), text, name);
});

test('the definitions of installations are what make crds writes', () => {
  assert.equal(read('deploy/crds/operator/countersigns.yaml'), countersignCrd());
  assert.equal(read('deploy/crds/operator/certmanagerdeployments.yaml'), certManagerCrd());
});

test('every field of the kinds of ACME has its row in their reference (make crds)', async () => {
  const made = acmeCrds(read('deploy/crds/clustersigners.yaml'));
  const page = read('docs/reference/acme-kinds.md');
  assert.equal(page, await acmeReference([...made.values()]));
  for (const field of ['spec.acme.solvers[].webhook.groupName', 'status.renewal.renewAt'])
    assert.ok(page.includes(`\`${field}\``), field);
});
