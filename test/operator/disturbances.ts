// SPDX-License-Identifier: Apache-2.0
/**
 * Every change of an object that another writer could make, from the object and from the schema
 * that the API server has.
 */
import type { Client } from '#kube/client/client.ts';
import { isRecord } from '#base/record.ts';
import { type ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** One operation of a JSON patch (RFC 6902), and what it does. */
export interface Disturbance {
  readonly what: 'changed' | 'removed' | 'added';
  readonly op: 'replace' | 'remove' | 'add';
  readonly path: string;
  readonly value?: unknown;
}

/** A schema of OpenAPI v3, as far as it is read. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[];
}

type Schemas = Readonly<Record<string, Schema>>;

/** All changes of one of an object's fields, such as `spec`. */
export async function disturbancesOf(
  client: Client,
  object: ManagedObject,
  field: string,
): Promise<readonly Disturbance[]> {
  const { apiVersion, kind } = object;
  const root = apiVersion.includes('/') ? `/openapi/v3/apis/${apiVersion}` : '/openapi/v3/api/v1';
  const { components } = await client.request<{ components: { schemas: Schemas } }>({
    method: 'GET',
    path: root,
  });
  const { schemas } = components;
  const own = Object.values(schemas).find(
    (each) =>
      each['x-kubernetes-group-version-kind']?.some((gvk) => gvk.kind === kind) === true &&
      each.properties?.[field] !== undefined,
  );
  const walk = new Walk(schemas);
  walk.visit(object[field], own?.properties?.[field], `/${field}`);
  return walk.found;
}

class Walk {
  readonly found: Disturbance[] = [];
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  visit(value: unknown, schema: Schema | undefined, path: string): void {
    if (Array.isArray(value)) this.#list(value, schema, path);
    else if (isRecord(value)) this.#fields(value, schema, path);
    else this.#leaf(value, path);
  }

  #list(value: readonly unknown[], schema: Schema | undefined, path: string): void {
    const items = this.#resolved(schema)?.items;
    this.found.push({ what: 'removed', op: 'replace', path, value: [] });
    const [first] = value;
    if (first !== undefined) {
      this.found.push({ what: 'removed', op: 'remove', path: `${path}/0` });
      this.found.push({ what: 'added', op: 'add', path: `${path}/-`, value: renamed(first) });
    }
    value.forEach((each, index) => {
      this.visit(each, items, `${path}/${index}`);
    });
  }

  #fields(
    value: Readonly<Record<string, unknown>>,
    schema: Schema | undefined,
    path: string,
  ): void {
    const { properties = {}, additionalProperties } = this.#resolved(schema) ?? {};
    const below = (key: string): string =>
      `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    for (const [key, each] of Object.entries(value)) {
      this.found.push({ what: 'removed', op: 'remove', path: below(key) });
      this.visit(each, properties[key] ?? additionalProperties, below(key));
    }
    for (const [key, each] of Object.entries(properties)) {
      if (key in value) continue;
      for (const added of this.#valuesOf(each))
        this.found.push({ what: 'added', op: 'add', path: below(key), value: added });
    }
  }

  #leaf(value: unknown, path: string): void {
    for (const changed of otherThan(value))
      this.found.push({ what: 'changed', op: 'replace', path, value: changed });
  }

  #resolved(schema: Schema | undefined): Schema | undefined {
    const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
    return reference === undefined ? schema : this.#schemas[reference.split('/').at(-1) ?? ''];
  }

  /** Values that a field of this type may have; the API server judges whether this one may. */
  #valuesOf(schema: Schema): readonly unknown[] {
    const { type, format, enum: choices, items } = this.#resolved(schema) ?? {};
    if (choices !== undefined) return choices;
    if (format === 'int-or-string') return [1];
    if (type === 'boolean') return [true, false];
    if (type === 'integer' || type === 'number') return [1];
    if (type === 'string') return ['x', 'Always', '10.0.0.9'];
    if (type === 'array') return [this.#valuesOf(items ?? {}).slice(0, 1)];
    return [{}, { x: 'x' }];
  }
}

/** Other values of the same type. */
function otherThan(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, 0];
  if (typeof value === 'string') return [`${value}x`, 'None', 'x'];
  return [];
}

/** An item beside the others: with the same name, or number, the API server would refuse it. */
function renamed(item: unknown): unknown {
  if (typeof item === 'string') return `${item}x`;
  if (!isRecord(item)) return item;
  const entries = Object.entries(item).map(([key, value]) => {
    if (key === 'name' && typeof value === 'string') return [key, `${value}x`];
    return [key, /port/i.test(key) && typeof value === 'number' ? value + 1 : value];
  });
  return Object.fromEntries(entries) as unknown;
}
