// SPDX-License-Identifier: Apache-2.0
/** The CRDs of acme.countersign.dev and the schemas that we read them with say the same. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import * as z from 'zod';
import { ACME_CLUSTER_SIGNER_SPEC, ACME_SIGNER_SPEC } from '#api/acme/acme-signer-schema.ts';
import { CHALLENGE_SPEC, CHALLENGE_STATUS } from '#api/acme/challenge.ts';
import { ORDER_SPEC, ORDER_STATUS } from '#api/acme/order.ts';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly [keyword: string]: unknown;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

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
  'pattern',
];

// A signer name is one pattern there, a function here.
const OWN_PATTERN = 'spec.signerName';

const SIGNED: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  acmeclustersigners: { spec: ACME_CLUSTER_SIGNER_SPEC },
  acmesigners: { spec: ACME_SIGNER_SPEC },
  orders: { spec: ORDER_SPEC, status: ORDER_STATUS },
  challenges: { spec: CHALLENGE_SPEC, status: CHALLENGE_STATUS },
};

for (const [plural, parts] of Object.entries(SIGNED)) {
  const crd = crdOf(plural);
  for (const [part, schema] of Object.entries(parts)) {
    const ofCode = fieldsOf(z.toJSONSchema(schema, { io: 'input' }) as Schema, part);
    const ofCrd = new Map([...crd].filter(([path]) => path.startsWith(part)));

    test(`every field of ${plural} ${part} is in both, with the same bounds and default`, () => {
      assert.deepEqual([...ofCode.keys()].sort(), [...ofCrd.keys()].sort());
      for (const [path, field] of ofCrd)
        for (const keyword of KEYWORDS) {
          if (keyword === 'pattern' && path === OWN_PATTERN) continue;
          assert.deepEqual(
            bound(ofCode.get(path) ?? {}, keyword),
            bound(field, keyword),
            `${path}: ${keyword}`,
          );
        }
    });
  }

  test(`every field of ${plural} is described, and every text, list and map is bounded`, () => {
    for (const [path, schema] of crd) {
      const { type, description = '' } = schema;
      if (['apiVersion', 'kind', 'metadata'].includes(path)) continue;
      const isNamed = !/\[\]$|\{\}$/.test(path);
      if (isNamed) assert.notEqual(description, '', `${path} is not described`);
      const isBounded = schema['enum'] ?? schema['maxLength'] ?? schema.format === 'date-time';
      if (type === 'string') assert.ok(isBounded, `${path} has no maxLength`);
      if (type === 'array') assert.ok(schema['maxItems'], `${path} has no maxItems`);
      if (typeof schema.additionalProperties === 'object')
        assert.ok(schema['maxProperties'], `${path} has no maxProperties`);
    }
  });
}

function crdOf(plural: string): ReadonlyMap<string, Schema> {
  const path = join(import.meta.dirname, '../../deploy/crds/acme', `${plural}.yaml`);
  const { spec } = parse(readFileSync(path, 'utf8')) as Definition;
  return fieldsOf(spec.versions[0]?.schema.openAPIV3Schema ?? {});
}

/** One keyword, in one order and one spelling. */
function bound(schema: Schema, keyword: string): unknown {
  const value = schema[keyword];
  // zod writes date-time as a pattern, too.
  if (keyword === 'pattern' && schema.format === 'date-time') return undefined;
  if (keyword === 'pattern')
    return typeof value === 'string' ? value.replaceAll('\\/', '/') : value;
  return Array.isArray(value) ? value.toSorted() : value;
}

/** Every field by its path: `spec.acme.contact`, `spec.acme.contact[]`, `…matchLabels{}`. */
function fieldsOf(schema: Schema, path = ''): Map<string, Schema> {
  const found = new Map<string, Schema>(path === '' ? [] : [[path, schema]]);
  const children: [string, Schema][] = Object.entries(schema.properties ?? {}).map(
    ([name, child]) => [path === '' ? name : `${path}.${name}`, child],
  );
  if (schema.items !== undefined) children.push([`${path}[]`, schema.items]);
  // Whatever a webhook's provider is configured with is its own.
  if (typeof schema.additionalProperties === 'object' && !path.endsWith('.config'))
    children.push([`${path}{}`, schema.additionalProperties]);
  for (const [childPath, child] of children)
    for (const [name, field] of fieldsOf(child, childPath)) found.set(name, field);
  return found;
}
