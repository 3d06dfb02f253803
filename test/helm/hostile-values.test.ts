// SPDX-License-Identifier: Apache-2.0
/**
 * Every string of the values is hostile in turn, and the real helm renders it: the chart refuses it
 * by its schema or by a check of its own, or the objects are those of harmless values with the text
 * as one scalar.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { FULL } from './full-values.ts';
import { CHART, startHelm, type Helm } from './helm.ts';

/**
 * Texts that end what they are written into, or begin something else, in YAML, CEL, Go templates,
 * printf and a shell.
 */
const HOSTILE = [
  'a"b',
  "a' || true || 'a",
  "a'] || true || ['",
  'a\\',
  '\\"a',
  'a\nb: c',
  '"\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: evil\n#',
  'a\n',
  '\n  - verbs: ["*"]\n    apiGroups: ["*"]\n    resources: ["*"]',
  '{{ .Values.signers }}',
  '"}}{{ fail "run" }}',
  'a: b #c',
  '*alias',
  '&anchor a',
  '!!binary YQ==',
  '- a',
  '| a',
  '%s%!d',
  '`a`',
  ' a ',
  'a\tb',
  '../../a',
  '/',
  // Longer keys end helm's own parser of YAML, which is no finding of ours; an empty text leaves a
  // value out.
  'a'.repeat(500),
];

/** Texts that YAML reads as something else, and that names may be. */
const WORDS = ['true', 'null', '1e3', '2001-01-01'];

/** A string in the values, or a key of a map of them. */
interface Leaf {
  readonly path: readonly (string | number)[];
  readonly isKey: boolean;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
}

const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;

/** Maps whose keys are the user's. */
const MAPS = ['labels', 'annotations', 'nodeSelector', 'matchLabels'];

function leavesOf(value: unknown, path: Leaf['path'] = []): readonly Leaf[] {
  if (typeof value === 'string') {
    const isKeyed = MAPS.includes(String(path.at(-2)));
    return [{ path, isKey: false }, ...(isKeyed ? [{ path, isKey: true }] : [])];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    leavesOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

const LEAVES = leavesOf(FULL);

/** `signers[].name`, as the schema has it. */
function patternOf(path: Leaf['path']): string {
  return path.map((each) => (typeof each === 'number' ? '[]' : `.${each}`)).join('');
}

/** Each string of the schema: `.signers[].name`; `.*` for the keys of a map. */
function stringsOf(node: Schema, path = ''): readonly string[] {
  const { type, properties = {}, items, additionalProperties: more } = node;
  return [
    ...([type].flat().includes('string') ? [path] : []),
    ...Object.entries(properties).flatMap(([key, each]) => stringsOf(each, `${path}.${key}`)),
    ...(items === undefined ? [] : stringsOf(items, `${path}[]`)),
    ...(typeof more === 'object' ? stringsOf(more, `${path}.*`) : []),
  ];
}

/** The values with this text in these places. */
function withText(leaves: readonly Leaf[], text: string): object {
  const values = structuredClone(FULL) as object;
  // The values first: a key that is renamed is no longer where its path says.
  for (const { path, isKey } of leaves.toSorted((a, b) => Number(a.isKey) - Number(b.isKey))) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>(
        (at, key) => (at as Readonly<Record<string, unknown>>)[key],
        values,
      ) as Record<string, unknown>;
    const key = String(path.at(-1));
    if (!isKey) parent[key] = text;
    else {
      parent[text] = parent[key];
      Reflect.deleteProperty(parent, key);
    }
  }
  return values;
}

let helm: Helm;
let harmless: readonly unknown[];
before(async () => {
  helm = await startHelm();
  const rendered = await render(FULL);
  assert.ok(typeof rendered !== 'string', String(rendered));
  harmless = rendered;
});
after(() => {
  helm.close();
});

const KNOWN = [
  '--kube-version',
  '1.37.1',
  '--api-versions',
  'countersign.dev/v1alpha1/ClusterSigner',
];

/** The objects, or why the chart refused. */
async function render(values: object): Promise<readonly unknown[] | string> {
  const { code, stdout, stderr } = await helm.tried(
    ['template', 'countersign', CHART, ...KNOWN],
    values,
  );
  if (code !== 0) return stderr;
  return parseAllDocuments(stdout).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    const object = document.toJS() as unknown;
    return object === null ? [] : [object];
  });
}

/**
 * By the schema, or by `fail` of a check: an error of a parser means that the text got out of its
 * scalar.
 */
const REFUSED =
  /don't meet the specifications of the schema|error calling fail: |execution error at/;

/**
 * The leaves that a refusal names: the schema names all of them by pointers, a check names one as
 * people write it.
 */
function named(leaves: readonly Leaf[], said: string): ReadonlySet<Leaf> {
  const pointers = new Set([...said.matchAll(/at '([^']*)'/g)].map(([, pointer]) => pointer));
  const isNamed = ({ path, isKey }: Leaf): boolean =>
    !isKey &&
    (pointers.has(path.map((each) => `/${each}`).join('')) ||
      said.includes(`: ${peoplesPath(path)}:`));
  return new Set(leaves.filter(isNamed));
}

/** `acme.routeMetadata[0]` */
function peoplesPath(path: Leaf['path']): string {
  const parts = path.map((each) => (typeof each === 'number' ? `[${each}]` : `.${each}`));
  return parts.join('').slice(1);
}

/**
 * Tries all at once, then less and less until each is refused by itself or taken. @returns what is
 * taken
 */
async function tried(leaves: readonly Leaf[], text: string): Promise<readonly Leaf[]> {
  if (leaves.length === 0) return [];
  const outcome = await render(withText(leaves, text));
  if (typeof outcome !== 'string') {
    holds(outcome, text, leaves);
    return leaves;
  }
  assert.match(outcome, REFUSED, `${JSON.stringify(text.slice(0, 80))} in ${titles(leaves)}`);
  const refused = named(leaves, outcome);
  const left = leaves.filter((each) => !refused.has(each));
  if (refused.size > 0) return tried(left, text);
  if (leaves.length === 1) return [];
  const half = Math.ceil(leaves.length / 2);
  return [
    ...(await tried(leaves.slice(0, half), text)),
    ...(await tried(leaves.slice(half), text)),
  ];
}

function titles(leaves: readonly Leaf[]): string {
  return leaves.map(({ path, isKey }) => `${path.join('.')}${isKey ? ' (key)' : ''}`).join(', ');
}

/** What an object is, for people and for comparing. */
function titleOf(object: unknown): string {
  const { kind, metadata } = object as {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
  };
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The objects are those of harmless values, with the text as one scalar. */
function holds(objects: readonly unknown[], text: string, leaves: readonly Leaf[]): void {
  const where = `${JSON.stringify(text.slice(0, 80))} in ${titles(leaves)}`;
  const isWord = WORDS.includes(text);
  if (!isWord) assert.deepEqual(objects.map(titleOf), harmless.map(titleOf), where);
  else assert.equal(objects.length, harmless.length, where);
  const keys = leaves.some(({ isKey }) => isKey);
  for (const [index, object] of objects.entries()) {
    const isPolicy = /^(?:Validating|Mutating)AdmissionPolicy /.test(titleOf(object));
    compare(object, harmless[index], {
      text,
      keys,
      at: titleOf(harmless[index]),
      where,
      // Most of a policy is CEL, where a quote would end a string.
      taken: !(isPolicy && /['"\\\n]/.test(text)),
    });
  }
}

interface Comparison {
  readonly text: string;
  readonly keys: boolean;
  readonly at: string;
  readonly where: string;
  /** Whether the text may be there at all. */
  readonly taken: boolean;
}

function compare(found: unknown, wanted: unknown, by: Comparison): void {
  const { text, keys, at, where, taken } = by;
  if (typeof wanted === 'object' && wanted !== null) {
    assert.ok(typeof found === 'object' && found !== null, `${at}: ${where}`);
    const names = Object.keys(wanted);
    const others = Object.keys(found).filter((each) => !names.includes(each));
    const missing = names.filter((each) => !(each in found));
    assert.deepEqual(others, keys && others.length > 0 ? [text] : [], `${at}: ${where}`);
    // A key that is renamed leaves the one that a component has by itself.
    assert.ok(keys || missing.length === 0, `${at} lacks ${missing.join()}: ${where}`);
    for (const name of names) {
      if (name in found)
        compare(
          (found as Readonly<Record<string, unknown>>)[name],
          (wanted as Readonly<Record<string, unknown>>)[name],
          { ...by, at: `${at}/${name}` },
        );
    }
    return;
  }
  if (found === wanted) return;
  assert.ok(typeof found === 'string' && typeof wanted === 'string', `${at}: ${where}`);
  const [before = '', ...rest] = found.split(text);
  assert.ok(taken && rest.length > 0, `${at} is ${JSON.stringify(found.slice(0, 200))}: ${where}`);
  assert.ok(wanted.startsWith(before) && wanted.endsWith(rest.at(-1) ?? ''), `${at}: ${where}`);
}

test('the values that are tried have every string of the schema', () => {
  const there = new Set(LEAVES.map(({ path }) => patternOf(path)));
  const isThere = (pattern: string): boolean => {
    const parts = pattern.split('.*');
    return [...there].some((each) =>
      parts.length === 1
        ? each === pattern
        : each.startsWith(parts[0] ?? '') && each.endsWith(parts.at(-1) ?? ''),
    );
  };
  // The settings of every component are written by the same lines as those of this one.
  const strings = stringsOf(schema).filter((each) => !/^\.components\.(?!pcr-issuer)/.test(each));
  assert.ok(strings.length > 60);
  assert.deepEqual(
    strings.filter((each) => !isThere(each)),
    [],
  );
});

for (const text of [...HOSTILE, ...WORDS]) {
  const shown = JSON.stringify(text.slice(0, 40));
  test(`a hostile text is refused, or is one scalar: ${shown}`, async (t) => {
    const taken = await tried(LEAVES, text);
    t.diagnostic(`${taken.length} of ${LEAVES.length} places take it`);
  });
}

test('long lists give no other objects', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => `n${index}`);
  const values = {
    ...FULL,
    signers: [
      ...FULL.signers,
      ...many.slice(0, 50).map((each) => ({ name: `example.com/${each}` })),
    ],
    caBundles: { ...FULL.caBundles, apiServices: many.map((each) => `v1.${each}`) },
    image: { ...FULL.image, pullSecrets: many.map((name) => ({ name })) },
  };
  const objects = await render(values);
  assert.ok(typeof objects !== 'string', String(objects).slice(0, 500));
  assert.deepEqual(objects.map(titleOf), harmless.map(titleOf));
});
