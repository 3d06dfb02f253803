// SPDX-License-Identifier: Apache-2.0
/**
 * Renders the data of the operator: the definitions that it installs, and the flags of its
 * components.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { COMPONENTS } from '#install/component-list.ts';
import { FLAG_SCHEMAS, type FlagSchema } from '#install/operator/check-flags.ts';

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
