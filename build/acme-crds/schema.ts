// SPDX-License-Identifier: Apache-2.0
/**
 * Parts of CustomResourceDefinition schemas. Every text and list has a bound, because the cost of
 * CEL rules depends on it.
 */

/** Node of an OpenAPI v3 schema of apiextensions.k8s.io/v1. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly [more: string]: unknown;
}

/** CEL rule. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** Column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'date' | 'boolean' | 'integer';
  readonly description?: string;
  readonly jsonPath: string;
  /** 1 for `-o wide` only. */
  readonly priority?: 1;
}

export const DNS_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
export const DNS_SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

/** Returns the schema of a text of at most `most` characters. `more` may allow an empty one. */
export function text(most: number, description: string, more: Schema = {}): Schema {
  return { type: 'string', description, minLength: 1, maxLength: most, ...more };
}

/** Metadata.name of an object. */
export function objectName(description: string): Schema {
  return text(253, description, { pattern: DNS_SUBDOMAIN });
}

export function flag(description: string, fallback?: boolean): Schema {
  const given = fallback === undefined ? {} : { default: fallback };
  return { type: 'boolean', description, ...given };
}

/** RFC 3339. */
export function instant(description: string): Schema {
  return { type: 'string', format: 'date-time', description };
}

/** @param bounds - least, most, and an optional default */
export function integer(
  bounds: readonly [least: number, most: number, fallback?: number],
  description: string,
): Schema {
  const [minimum, maximum, fallback] = bounds;
  const given = fallback === undefined ? {} : { default: fallback };
  return { type: 'integer', format: 'int32', description, minimum, maximum, ...given };
}

export function oneOf(values: readonly string[], description: string): Schema {
  return { type: 'string', description, enum: values };
}

/**
 * Returns the schema of an object with these members. The first argument lists the required ones.
 * Without members it has no `properties`: the API server stores none, and `spec.versions` would
 * conflict with the version that a second field manager applies.
 */
export function object(
  required: readonly string[],
  description: string,
  properties: Readonly<Record<string, Schema>>,
  rules: readonly Rule[] = [],
): Schema {
  return {
    type: 'object',
    description,
    ...(required.length === 0 ? {} : { required }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

/** Returns the schema of a list that writers replace whole. */
export function list(most: number, description: string, items: Schema, more: Schema = {}): Schema {
  return {
    type: 'array',
    description,
    maxItems: most,
    'x-kubernetes-list-type': 'atomic',
    items,
    ...more,
  };
}

/** Schema of conditions as metav1.Condition. */
export function conditions(description: string): Schema {
  return {
    type: 'array',
    description,
    maxItems: 8,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: object(['type', 'status', 'reason', 'lastTransitionTime'], 'One condition.', {
      type: text(64, 'What the condition is about.'),
      status: oneOf(['True', 'False', 'Unknown'], 'Whether it holds.'),
      reason: text(64, 'Why, for programs.'),
      message: text(4096, 'Why, for people.', { minLength: 0 }),
      lastTransitionTime: instant('Since when it has this status.'),
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        description: 'Generation of the spec that the status describes.',
      },
    }),
  };
}

/** Parts of a CustomResourceDefinition of the group. */
export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly shortNames?: readonly string[];
  readonly description: string;
  readonly spec: Schema;
  readonly status: Schema;
  readonly columns: readonly Column[];
  readonly selectable?: readonly string[];
  /** Default: acme.countersign.dev. */
  readonly group?: string;
  /** CEL rules of the whole object. */
  readonly rules?: readonly Rule[];
}

const GROUP = 'acme.countersign.dev';

/** Returns the CustomResourceDefinition of a kind. */
export function definitionOf(kind: Kind): Readonly<Record<string, unknown>> {
  const { plural, scope, shortNames = [], selectable = [], group = GROUP } = kind;
  const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      labels: { 'app.kubernetes.io/name': 'countersign' },
    },
    spec: {
      group,
      scope,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular: kind.kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames }),
        categories: ['countersign'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          ...(selectable.length === 0
            ? {}
            : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
          additionalPrinterColumns: [...kind.columns, age],
          schema: { openAPIV3Schema: rootOf(kind) },
        },
      ],
    },
  };
}

function rootOf({ kind, description, spec, status, group = GROUP, rules = [] }: Kind): Schema {
  const properties = {
    apiVersion: { type: 'string', description: `The version of this schema, ${group}/v1alpha1.` },
    kind: { type: 'string', description: `${kind}.` },
    metadata: { type: 'object' },
    spec,
    status,
  };
  return object(['spec'], description, properties, rules);
}
