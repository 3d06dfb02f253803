// SPDX-License-Identifier: Apache-2.0
import { parse } from 'yaml';
import { format } from 'prettier';
import type { Schema } from './schema.ts';

/** Text above the tables. */
const HEAD = `# The kinds of ACME

<!-- Made from build/acme-crds by make crds: do not edit. -->

\`acme.countersign.dev/v1alpha1\`. You write AcmeClusterSigners and AcmeSigners; Countersign makes Orders and Challenges.
[How to get public certificates](../how-to/public-certificates.md) uses them,
[the life of an Order](../explanation/acme-order.md) explains them. \`kubectl explain\` prints the same fields.

Durations are hours, minutes and seconds such as \`24h\` or \`90s\`. \`profile\`, \`requests\` and \`certificateRequests\` are those of a
[ClusterSigner](cluster-signer.md), but for what stands here.
`;

interface Definition {
  readonly spec: {
    readonly scope: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
}

/** Fields of both signers that a ClusterSigner has as well, below these. */
const SHARED = /^spec\.(requests|certificateRequests)\./;

/**
 * Renders docs/reference/acme-kinds.md: a row for each field.
 *
 * @param definitions - the texts of deploy/crds/acme
 */
export function acmeReference(definitions: readonly string[]): Promise<string> {
  const sections = definitions.map((text) => {
    const { spec } = parse(text) as Definition;
    const { openAPIV3Schema: schema } = spec.versions[0].schema;
    const scope = spec.scope === 'Cluster' ? 'Cluster-scoped.' : 'Of a namespace.';
    const rows = ['spec', 'status'].flatMap((name) => {
      const part = schema.properties?.[name];
      return part === undefined ? [] : rowsOf(part, name);
    });
    const table = ['| field | what it holds | what it means |', '| --- | --- | --- |', ...rows];
    return `## ${spec.names.kind}\n\n${scope} ${schema.description ?? ''}\n\n${table.join('\n')}\n`;
  });
  return format([HEAD, ...sections].join('\n'), { parser: 'markdown', printWidth: 125 });
}

function rowsOf(schema: Schema, path: string): readonly string[] {
  if (SHARED.test(`${path}.`) && path.split('.').length > 2) return [];
  const own =
    path === 'spec' || path === 'status'
      ? []
      : [`| \`${path}\` | ${holds(schema)} | ${escaped(schema.description ?? '')} |`];
  const items = schema['items'] as Schema | undefined;
  const children = [
    ...childrenOf(schema, path),
    ...(items === undefined ? [] : childrenOf(items, `${path}[]`)),
  ];
  return [...own, ...children.flatMap(([name, each]) => rowsOf(each, name))];
}

function childrenOf(
  { properties = {}, required = [] }: Schema,
  path: string,
): readonly (readonly [string, Schema])[] {
  return Object.entries(properties).map(([name, each]) => [
    `${path}.${name}`,
    required.includes(name) ? { ...each, isRequired: true } : each,
  ]);
}

/** Returns type, bounds, and whether the field is required. */
function holds(schema: Schema): string {
  const fallback = schema['default'];
  const parts = [
    typeOf(schema),
    ...(schema['isRequired'] === true ? ['required'] : []),
    ...(fallback === undefined ? [] : [`default \`${JSON.stringify(fallback)}\``]),
  ];
  return escaped(parts.join(', '));
}

function typeOf(schema: Schema): string {
  const { type, enum: values, maxLength, maxItems, minimum, maximum, format: form } = schema;
  if (Array.isArray(values)) return values.map((each) => `\`${String(each)}\``).join(', ');
  if (type === 'array') return `list of at most ${String(maxItems)}`;
  if (type === 'integer') return numberText(numberOf(minimum), numberOf(maximum));
  if (type === 'boolean') return 'true or false';
  if (type !== 'string') return 'object';
  if (form === 'date-time') return 'time (RFC 3339)';
  return typeof maxLength === 'number' ? `text of at most ${maxLength} characters` : 'text';
}

function numberOf(bound: unknown): number | undefined {
  return typeof bound === 'number' ? bound : undefined;
}

function numberText(least: number | undefined, most: number | undefined): string {
  if (least === undefined && most === undefined) return 'number';
  if (most === undefined) return `number of at least ${String(least)}`;
  return least === undefined
    ? `number of at most ${String(most)}`
    : `number from ${String(least)} to ${String(most)}`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
