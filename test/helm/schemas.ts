// SPDX-License-Identifier: Apache-2.0
/** Schemas for kubeconform, made of what an API server says of itself (`/openapi/v3`). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';

type Schema = Readonly<Record<string, unknown>>;

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

interface KindOf {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Writes a file for each kind, named by kind and version; returns kubeconform's schema location.
 */
export async function writeSchemas(cluster: Cluster, directory: string): Promise<string> {
  mkdirSync(directory, { recursive: true });
  const raw = async (path: string): Promise<unknown> =>
    JSON.parse((await cluster.kubectl(['get', '--raw', path])).stdout);
  const { paths } = (await raw('/openapi/v3')) as Index;
  const groups = Object.entries(paths).filter(([path]) => /^apis?\/.*v\d/.test(path));
  for (const [, { serverRelativeURL }] of groups) {
    const { components } = (await raw(serverRelativeURL)) as OpenApi;
    const schemas = components?.schemas ?? {};
    for (const schema of Object.values(schemas)) writeKinds(directory, schema, schemas);
  }
  return join(directory, '{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json');
}

function writeKinds(
  directory: string,
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
): void {
  const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly KindOf[];
  // Options of calls have a name in each group.
  if (kinds.length !== 1) return;
  for (const { group, version, kind } of kinds) {
    const text = JSON.stringify({ ...strict(schema), components: { schemas: strictAll(schemas) } });
    // kubeconform takes the version for the group where apiVersion has none.
    const name = `${(group === '' ? version : group).toLowerCase()}-${version}-${kind.toLowerCase()}.json`;
    writeFileSync(join(directory, name), text);
  }
}

function strictAll(schemas: Readonly<Record<string, Schema>>): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, strict(each)]));
}

/** An object with fields has no others: OpenAPI leaves that open, an API server warns of them. */
function strict(schema: Schema): Schema {
  return Object.fromEntries([
    ...Object.entries(schema).map(([key, value]) => [key, strictValue(value)] as const),
    ...(isClosed(schema) ? [['additionalProperties', false] as const] : []),
  ]);
}

function isClosed(schema: Schema): boolean {
  return (
    typeof schema['properties'] === 'object' &&
    schema['additionalProperties'] === undefined &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  );
}

function strictValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strictValue);
  return typeof value === 'object' && value !== null ? strict(value as Schema) : value;
}
