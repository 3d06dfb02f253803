// SPDX-License-Identifier: Apache-2.0
/** The CRD of Revocation, what we read, and the page about it say the same. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import {
  readRevocation,
  type Revocation,
  type RevocationSpec,
  type RevokedHolder,
} from '#api/revocation/revocation.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
const crd = parse(read('deploy/crds/revocations.yaml')) as {
  readonly spec: {
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
};
const ofSpec = crd.spec.versions[0].schema.openAPIV3Schema.properties?.['spec'] ?? {};

const FINGERPRINT = `sha256:${'0a'.repeat(32)}`;
const TIME = '2026-11-23T10:00:00Z';
/** Every kind of holder that the code knows: the compiler asks for each field. */
const HOLDERS: Required<RevokedHolder> = {
  user: 'alice',
  serviceAccount: { namespace: 'team-a', name: 'web' },
  pod: { namespace: 'team-a', name: 'web-0', uid: 'uid' },
  name: 'a.example',
  key: FINGERPRINT,
};
const SPEC: Required<RevocationSpec> = {
  signerName: 'example.com/workload',
  reason: 'keyCompromise',
  certificates: [{ serial: 'a1', authority: FINGERPRINT, notAfter: TIME }],
  holders: Object.entries(HOLDERS).map(([kind, value]) => ({ [kind]: value })),
  revokedAt: TIME,
};

function isRead(spec: unknown): boolean {
  const metadata = { name: 'x', uid: 'x', creationTimestamp: TIME };
  const kind = { apiVersion: 'countersign.dev/v1alpha1', kind: 'Revocation', metadata };
  try {
    readRevocation({ ...kind, spec } as unknown as Revocation);
    return true;
  } catch {
    return false;
  }
}

/** What the API server says of a value, by the keywords that the CRD has. */
function isAdmitted(schema: Schema, value: unknown): boolean {
  if (typeof value === 'string') return isText(schema, value);
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Infinity, items = {} } = schema;
    const fits = value.length >= minItems && value.length <= maxItems;
    return schema.type === 'array' && fits && value.every((each) => isAdmitted(items, each));
  }
  return typeof value === 'object' && value !== null && isObject(schema, value);
}

function isText(schema: Schema, text: string): boolean {
  const { type, minLength = 0, maxLength = Infinity, pattern, enum: names } = schema;
  const fits = text.length >= minLength && text.length <= maxLength;
  const matches = pattern === undefined || new RegExp(pattern).test(text);
  return type === 'string' && fits && matches && names?.includes(text) !== false;
}

function isObject(schema: Schema, value: object): boolean {
  const { properties = {}, required = [], minProperties = 0, maxProperties = Infinity } = schema;
  const entries = Object.entries(value);
  return (
    required.every((key) => key in value) &&
    entries.length >= minProperties &&
    entries.length <= maxProperties &&
    entries.every(([key, each]) => key in properties && isAdmitted(properties[key] ?? {}, each))
  );
}

/**
 * The same value with each of its parts removed, emptied, lengthened to its bound, and beyond it.
 */
function* changesOf(schema: Schema, value: unknown): Generator {
  if (typeof value === 'string') {
    const { maxLength = value.length } = schema;
    yield* ['', 'Z', `${value}\n`, value.padEnd(maxLength, '0'), value.padEnd(maxLength + 1, '0')];
  } else if (Array.isArray(value)) {
    const [first] = value as readonly unknown[];
    const { maxItems = 1, items = {} } = schema;
    yield* [[], Array(maxItems).fill(first), Array(maxItems + 1).fill(first)];
    for (const [at, each] of value.entries())
      for (const changed of changesOf(items, each)) yield value.with(at, changed);
  } else {
    const object = value as Readonly<Record<string, unknown>>;
    yield { ...object, unknown: 'x' };
    for (const [key, each] of Object.entries(object)) {
      const { [key]: _, ...rest } = object;
      yield rest;
      for (const changed of changesOf(schema.properties?.[key] ?? {}, each))
        yield { ...object, [key]: changed };
    }
  }
}

test('every field that we read is in the CRD, and every field of the CRD is read', () => {
  assert.ok(isAdmitted(ofSpec, SPEC) && isRead(SPEC));
  const { properties = {} } = ofSpec;
  assert.deepEqual(Object.keys(properties).sort(), Object.keys(SPEC).sort());
  const holder = properties['holders']?.items?.properties ?? {};
  assert.deepEqual(Object.keys(holder).sort(), Object.keys(HOLDERS).sort());
  for (const kind of ['pod', 'serviceAccount'] as const)
    assert.deepEqual(
      Object.keys(holder[kind]?.properties ?? {}).sort(),
      Object.keys(HOLDERS[kind]).sort(),
    );
  const certificate = properties['certificates']?.items?.properties ?? {};
  assert.deepEqual(Object.keys(certificate).sort(), Object.keys(SPEC.certificates[0] ?? {}).sort());
});

test('we read exactly what the API server admits: at each bound, and beyond it', () => {
  // Unknown fields are pruned there; times are checked by their format.
  let count = 0;
  for (const spec of changesOf(ofSpec, SPEC)) {
    const text = JSON.stringify(spec);
    if (/"unknown"|"(?:notAfter|revokedAt)":"(?!2026-11-23T10:00:00Z")/.test(text)) continue;
    count += 1;
    assert.equal(isRead(spec), isAdmitted(ofSpec, spec), text.slice(0, 2000));
  }
  assert.ok(count > 60, `${count} changes`);
});

test('every field has its row in the how-to', () => {
  const page = read('docs/how-to/revoke.md');
  for (const field of ['signerName', 'reason', 'certificates[].serial', 'certificates[].authority'])
    assert.ok(page.includes(`\n| \`${field}\``), field);
  for (const field of ['certificates[].notAfter', 'holders[]', 'revokedAt'])
    assert.ok(page.includes(`\n| \`${field}\``), field);
  for (const kind of Object.keys(HOLDERS)) assert.ok(page.includes(`\`${kind}\``), kind);
});
