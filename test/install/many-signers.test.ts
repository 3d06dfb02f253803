// SPDX-License-Identifier: Apache-2.0
/** What a large installation prints must be taken by the API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installationFiles } from '#install/files.ts';
import { planOf } from '#install/values/plan.ts';

/**
 * cel-go, parser/options.go: `expressionSizeCodePointLimit`, which the API server leaves as it is.
 */
const EXPRESSION_CODE_POINTS = 100_000;
/** The request's limit of the API server, etcd's `--max-request-bytes`: 1.5 MiB. */
const OBJECT_BYTES = 1_572_864;

const signers = Array.from({ length: 1_000 }, (_, index) => ({
  name: `example.com/bench-${index}`,
  bundle: 'primary',
}));
const plan = planOf({ signers }, { namespace: 'countersign-system', version: '0.0.0' });
const objects = [...installationFiles(plan)].flatMap(([, all]) => all);

function expressionsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    /expression$/i.test(key) && typeof each === 'string' ? [each] : expressionsIn(each),
  );
}

test('every policy expression for a thousand signers with bundles fits CEL’s limit', () => {
  const all = objects.flatMap(expressionsIn);
  assert.ok(all.some((each) => each.includes("'example.com:bench-999:primary'")));
  assert.ok(all.some((each) => each.includes("'example.com.bench-999.primary'")));
  const long = all.filter((each) => each.length > EXPRESSION_CODE_POINTS);
  assert.deepEqual(
    long.map((each) => `${each.length}: ${each.slice(0, 60)}`),
    [],
  );
});

test('every object of an installation of a thousand signers is small enough for etcd', () => {
  const large = objects.filter((each) => JSON.stringify(each).length > OBJECT_BYTES);
  assert.deepEqual(
    large.map(({ kind }) => kind),
    [],
  );
});
