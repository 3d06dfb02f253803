// SPDX-License-Identifier: Apache-2.0
/**
 * Every value has another type in turn. The real helm refuses it by the chart's schema or by a
 * check of the chart, and `countersign manifests` refuses the same values.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEFAULT_VALUES, mergedValues } from '#install/values/defaults.ts';
import { planOf } from '#install/values/plan.ts';
import { FULL } from './full-values.ts';
import { CHART, startHelm, type Helm } from './helm.ts';

type Path = readonly string[];

/** Values that the defaults and FULL lack, by their paths. */
const MORE: Readonly<Record<string, unknown>> = {
  'injection.profiles.0.maxExpirationSeconds': 3600,
  'injection.profiles.0.trustBundle': true,
  'defaults.replicas': 2,
  'defaults.tolerations.0.tolerationSeconds': 60,
  'defaults.podSecurityContext.runAsGroup': 1000,
  'components.pcr-issuer.replicas': 2,
  'components.pcr-issuer.tolerations.0.tolerationSeconds': 60,
  'components.pcr-issuer.podSecurityContext.runAsGroup': 1000,
};

/** A value for each property of the schema. */
const VALUES = structuredClone(mergedValues(DEFAULT_VALUES, FULL));

const OTHERS: readonly unknown[] = [7, true, 'text', ['text'], { text: 'text' }];

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}

/** Paths of all values, lists and maps included. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  const below =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))
      : [];
  return path.length === 0 ? below : [path, ...below];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at, key) => (at as Readonly<Record<string, unknown>>)[key], value);
}

function put(values: unknown, path: Path, value: unknown): void {
  const parent = valueAt(values, path.slice(0, -1)) as Record<string, unknown>;
  parent[path.at(-1) ?? ''] = value;
}

for (const [path, value] of Object.entries(MORE)) put(VALUES, path.split('.'), value);

/** The values with this one in these places, none of which is inside another. */
function withOther(paths: readonly Path[], other: unknown): object {
  const values = structuredClone(VALUES) as object;
  for (const path of paths) put(values, path, other);
  return values;
}

let helm: Helm;
before(async () => {
  helm = await startHelm();
  assert.equal(await refusal(withOther([], undefined)), undefined);
});
after(() => {
  helm.close();
});

/** Why the chart refused, or undefined. */
async function refusal(values: object): Promise<string | undefined> {
  const { code, stderr } = await helm.tried(
    ['template', 'countersign', CHART, '--kube-version', '1.37.1'],
    values,
  );
  return code === 0 ? undefined : stderr;
}

/** An error of a parser or of a template means that the value got past the schema. */
const REFUSED =
  /don't meet the specifications of the schema|error calling fail: |execution error at/;

/** Reports whether a refusal names this value, what is inside it, or what it is inside. */
function isNamed(path: Path, said: string): boolean {
  const own = path.map((each) => `/${each}`).join('');
  return [...said.matchAll(/at '([^']*)'/g)].some(
    ([, pointer = '']) => pointer === own || pointer.startsWith(`${own}/`),
  );
}

/** Fields of Kubernetes' own types. Their API judges what is in them. */
const OF_KUBERNETES =
  /(?:^|\.)(?:affinity|egress|from|topologySpreadConstraints)\.|\.resources\.requests\.|\.fsGroup$/;

/** Returns the places in which helm accepts the value. Each is refused by itself, or accepted. */
async function acceptedByHelm(paths: readonly Path[], other: unknown): Promise<readonly Path[]> {
  if (paths.length === 0) return [];
  const said = await refusal(withOther(paths, other));
  if (said === undefined) return paths;
  const places = paths.map((each) => each.join('.')).join(', ');
  assert.match(said, REFUSED, `${JSON.stringify(other)} in ${places}`);
  const left = paths.filter((each) => !isNamed(each, said));
  if (left.length < paths.length) return acceptedByHelm(left, other);
  if (paths.length === 1) return [];
  const half = Math.ceil(paths.length / 2);
  return [
    ...(await acceptedByHelm(paths.slice(0, half), other)),
    ...(await acceptedByHelm(paths.slice(half), other)),
  ];
}

const RELEASE = { namespace: 'countersign-system', version: '0.1.0' };

function isAcceptedByUs(path: Path, other: unknown): boolean {
  try {
    planOf(withOther([path], other), RELEASE);
    return true;
  } catch {
    return false;
  }
}

const PATHS = pathsOf(VALUES);
const DEPTHS = [...new Set(PATHS.map(({ length }) => length))].toSorted((a, b) => a - b);

interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** `signers.[].name`, as the schema has it. */
function propertiesOf({ type, properties = {}, items }: Schema, path = ''): readonly string[] {
  return [
    ...(type === undefined ? [] : [path]),
    ...Object.entries(properties).flatMap(([key, each]) => propertiesOf(each, `${path}.${key}`)),
    ...(items === undefined ? [] : propertiesOf(items, `${path}.[]`)),
  ];
}

test('the values that are tried have every property of the schema', () => {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
  const patterns = PATHS.map((path) =>
    path.map((each) => `.${/^\d+$/.test(each) ? '[]' : each}`).join(''),
  );
  const there = new Set(['', ...patterns]);
  // The settings of every component are written by the same lines as those of this one, and each
  // signer with a key holder needs its components in another way. A parent chart has global.
  const others = /^\.components\.(?!pcr-issuer)|^\.signers\.\[\]\.keyHolder$|^\.global$/;
  assert.deepEqual(
    propertiesOf(schema).filter((each) => !there.has(each) && !others.test(each)),
    [],
  );
});

for (const other of OTHERS)
  test(`helm and countersign refuse the same values: ${JSON.stringify(other)}`, async (t) => {
    const accepted: Path[] = [];
    for (const depth of DEPTHS) {
      const places = PATHS.filter(
        (each) => each.length === depth && typeOf(valueAt(VALUES, each)) !== typeOf(other),
      );
      const byHelm = await acceptedByHelm(places, other);
      accepted.push(...byHelm);
      assert.deepEqual(
        places.filter((each) => isAcceptedByUs(each, other)),
        places.filter((each) => byHelm.includes(each)),
      );
    }
    const names = accepted.map((each) => each.join('.'));
    t.diagnostic(`${accepted.length} of ${PATHS.length} places take it`);
    assert.deepEqual(
      names.filter((each) => !OF_KUBERNETES.test(each)),
      [],
    );
  });
