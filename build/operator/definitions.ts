// SPDX-License-Identifier: Apache-2.0
/**
 * Renders the data of the operator: the definitions that it installs, the fields of its own kinds,
 * and the flags of its components.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { COMPONENTS } from '#install/component-list.ts';
import { FLAG_SCHEMAS, type FlagSchema } from '#install/operator/check-flags.ts';
import { ANY_FIELD, type KnownFields } from '#install/operator/unknown-fields.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/cli/main.ts');
const run = promisify(execFile);

/**
 * Renders src/install/operator/definitions.json: the CustomResourceDefinitions that
 * deploy/kustomization.yaml lists.
 */
export async function definitionsJson(): Promise<string> {
  const text = await readFile(join(ROOT, 'deploy/kustomization.yaml'), 'utf8');
  const { resources } = parse(text) as { readonly resources: readonly string[] };
  const files = resources.filter((each) => each.startsWith('crds/'));
  const definitions = await Promise.all(
    files.map(async (file) => parse(await readFile(join(ROOT, 'deploy', file), 'utf8')) as unknown),
  );
  return `${JSON.stringify(definitions)}\n`;
}

/** A structural schema, as the API server prunes by it. */
interface Pruned {
  readonly properties?: Readonly<Record<string, Pruned>>;
  readonly additionalProperties?: Pruned;
  readonly items?: Pruned;
}

/**
 * Renders src/install/operator/known-fields.json: the fields that the API server keeps of each kind
 * in deploy/crds/operator.
 */
export async function knownFieldsJson(): Promise<string> {
  const folder = join(ROOT, 'deploy/crds/operator');
  const kinds = (await readdir(folder)).sort().map(async (file) => {
    const { spec } = parse(await readFile(join(folder, file), 'utf8')) as {
      readonly spec: {
        readonly names: { readonly kind: string };
        readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Pruned } }[];
      };
    };
    const [version] = spec.versions;
    return [spec.names.kind, fieldsOf(version?.schema.openAPIV3Schema ?? {})] as const;
  });
  return `${JSON.stringify(Object.fromEntries(await Promise.all(kinds)))}\n`;
}

function fieldsOf({ properties, additionalProperties, items }: Pruned): KnownFields {
  if (items !== undefined) return fieldsOf(items);
  if (additionalProperties !== undefined) return { [ANY_FIELD]: fieldsOf(additionalProperties) };
  const known = Object.entries(properties ?? {});
  return Object.fromEntries(known.map(([name, each]) => [name, fieldsOf(each)]));
}

/**
 * Renders src/install/operator/flag-schemas.json. Replaces this minor version, and keeps the
 * previous one.
 */
export async function flagSchemasJson(): Promise<string> {
  const [major = 0, minor = 0] = packageJson.version.split('.').map(Number);
  const own = await Promise.all(
    [...COMPONENTS.keys()].map(async (name) => [name, await flagsOf(name)] as const),
  );
  const before = FLAG_SCHEMAS[`${major}.${minor - 1}`];
  const flagSchemas: Record<string, FlagSchema> = {
    ...(before === undefined ? {} : { [`${major}.${minor - 1}`]: before }),
    [`${major}.${minor}`]: Object.fromEntries(own),
  };
  return `${JSON.stringify(flagSchemas, null, 2)}\n`;
}

async function flagsOf(component: string): Promise<FlagSchema[string]> {
  const { stdout } = await run(process.execPath, [MAIN, component, '--help']);
  const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z][a-z0-9-]*)( <[^>]+>)?/gm)];
  return Object.fromEntries(
    flags.map(([, name = '', value]) => [name, value === undefined ? 'switch' : 'value'] as const),
  );
}
