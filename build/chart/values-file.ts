// SPDX-License-Identifier: Apache-2.0
/**
 * Renders the schema of the values as values.schema.json, as values.yaml with comments, and as the
 * reference page.
 */
import { stringify } from 'yaml';
import * as z from 'zod';
import { COMPONENTS } from '#install/component-list.ts';
import { DEFAULT_VALUES } from '#install/values/defaults.ts';
import { installationValues } from '#install/values/schema.ts';
import { isObject } from './vary.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Returns the JSON schema of the values. */
export function valuesSchema(): Schema {
  const schema = z.toJSONSchema(installationValues, {
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => {
      // Helm fills a list with nulls if --set names a later item. _checks.tpl prints the remedy.
      if (zodSchema === installationValues.shape.signers.element)
        jsonSchema.type = ['object', 'null'] as unknown as 'object';
    },
  });
  return { title: 'Values of the chart countersign', ...schema } as Schema;
}

const COMMENT_WIDTH = 100;

/** Writes YAML on one line. */
const FLOW = { collectionStyle: 'flow', lineWidth: 0 } as const;

const EXAMPLE = `  # - name: example.com/workload
  #   bundle: primary
  #   secret: workload-ca
  #   serves: [pods]
`;

/** Writes values.yaml: every value with its default and a comment. */
export function valuesYaml(): string {
  const header = `# SPDX-License-Identifier: Apache-2.0
# Made from src/install/values by make chart. docs/reference/chart-values.md lists the same.
`;
  const text = Object.entries(DEFAULT_VALUES)
    .map(([key, value]) => {
      const schema = valuesSchema().properties?.[key] ?? {};
      return key === 'components' ? commentedComponents(schema) : commented(key, value, schema, '');
    })
    .join('\n');
  return `${header}\n${text.replace('signers: []\n', `signers: []\n${EXAMPLE}`)}`;
}

function commented(key: string, value: unknown, schema: Schema, indent: string): string {
  const { description = '', properties } = schema;
  const comment = wrapped(description.replaceAll('`', ''), `${indent}# `);
  if (isObject(value) && properties !== undefined && Object.keys(value).length > 0) {
    const entries = Object.entries(value).map(([name, child]) =>
      commented(name, child, properties[name] ?? {}, `${indent}  `),
    );
    return `${comment}${indent}${key}:\n${entries.join('')}`;
  }
  const lines = stringify({ [key]: value }, { lineWidth: 0, singleQuote: true }).trimEnd();
  const fields = key === 'defaults' ? settingsComment(properties ?? {}) : '';
  return `${comment}${lines.replace(/^/gm, indent)}\n${fields}`;
}

/** Writes each component with the defaults of its values. */
function commentedComponents({ description = '', properties = {} }: Schema): string {
  const comment = wrapped(`${description} Their defaults are in the comments.`, '# ');
  const entries = [...COMPONENTS].map(([name, { replicas, resources, optional }]) => {
    const defaults = { ...optional, replicas, resources };
    const lines = Object.entries(defaults).map(
      ([key, value]) => `    # ${key}: ${stringify(value, FLOW)}`,
    );
    return commented(name, {}, properties[name] ?? {}, '  ') + lines.join('');
  });
  return `${comment}components:\n${entries.join('')}`;
}

function settingsComment(properties: Readonly<Record<string, Schema>>): string {
  const lines = Object.entries(properties).map(([name, { description = '' }]) =>
    wrapped(`${name}: ${description}`, '  # '),
  );
  return lines.join('');
}

function wrapped(text: string, prefix: string): string {
  if (text === '') return '';
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && prefix.length + line.length + word.length >= COMMENT_WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => `${prefix}${line}\n`).join('');
}

const HEAD = '| value | type | default | what it is |\n| --- | --- | --- | --- |';

/** Returns the rows of the value `keyHolder`, which several components take. */
export function keyHolderTable(): string {
  const { properties = {} } = valuesSchema().properties?.['components'] ?? {};
  const [name = '', { properties: settings = {} } = {}] =
    Object.entries(properties).find(([, each]) => each.properties?.['keyHolder']) ?? [];
  const rows = rowsOf(`components.${name}.keyHolder`, settings['keyHolder'] ?? {}, undefined);
  return [HEAD, ...rows].join('\n');
}

/** Returns the rows of the reference page. */
export function valuesTable(): string {
  const { properties = {} } = valuesSchema();
  const rows = Object.entries(properties)
    .filter(([key]) => key !== 'components' && key !== 'global')
    .flatMap(([key, schema]) =>
      rowsOf(key, schema, DEFAULT_VALUES[key as keyof typeof DEFAULT_VALUES]),
    );
  return [HEAD, ...rows].join('\n');
}

function rowsOf(path: string, schema: Schema, value: unknown): readonly string[] {
  const { properties, items, description } = schema;
  const own = description === undefined ? [] : [row(path, schema, value)];
  const fields = properties ?? items?.properties ?? {};
  const below = properties === undefined ? `${path}[].` : `${path}.`;
  return [
    ...own,
    ...Object.entries(fields).flatMap(([key, child]) =>
      rowsOf(`${below}${key}`, child, isObject(value) ? value[key] : undefined),
    ),
  ];
}

function row(path: string, schema: Schema, value: unknown): string {
  const type =
    schema.enum === undefined
      ? (schema.type ?? 'any')
      : 'one of ' + schema.enum.map((each) => JSON.stringify(each)).join(' ');
  const shown =
    value === undefined || (isObject(value) && schema.properties !== undefined)
      ? ''
      : `\`${JSON.stringify(value)}\``;
  return `| \`${path}\` | ${type} | ${shown} | ${schema.description ?? ''} |`;
}

/** Returns the default replicas and resources of a component. */
export function componentTable(): string {
  const rows = [...COMPONENTS].map(([name, { replicas, resources }]) => {
    const { requests = {}, limits = {} } = resources;
    const of = (each: Readonly<Record<string, string | number>>, key: string): string =>
      String(each[key] ?? '');
    return `| \`components.${name}\` | ${replicas} | ${of(requests, 'cpu')} | ${of(requests, 'memory')} | ${of(limits, 'memory')} |`;
  });
  const head =
    '| value | replicas | CPU requested | memory requested | memory limit |\n| --- | --- | --- | --- | --- |';
  return [head, ...rows].join('\n');
}
