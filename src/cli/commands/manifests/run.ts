// SPDX-License-Identifier: Apache-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { VERSION } from '../../../app/version.ts';
import { messageOf, usageError } from '../../../errors.ts';
import { installationFiles } from '../../../manifests/files.ts';
import definitions from '../../../manifests/operator/definitions.json' with { type: 'json' };
import { documentsOf } from '../../../manifests/render.ts';
import type { Manifest } from '../../../manifests/roles.ts';
import { mergedValues } from '../../../manifests/values/defaults.ts';
import { checkedPlanOf } from '../../../manifests/values/plan.ts';
import { printProgress, printText } from '../../terminal.ts';

/** Flags of `countersign manifests`. */
export interface ManifestsOptions {
  readonly values: readonly string[];
  readonly output?: string;
}

const HEADER = `# SPDX-License-Identifier: Apache-2.0
# Printed by countersign manifests.
`;

/** Its kind is one of the definitions: kubectl knows it once those are there. */
const SERVING_SIGNER = 'serving-signer.yaml';

/**
 * Prints the objects of an installation, or writes them to `<output>/<file>`.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for values that the chart refuses as well
 */
export async function writeManifests({ values, output }: ManifestsOptions): Promise<void> {
  const given = await Promise.all(values.map(readValues));
  const files = filesOf(given.reduce<unknown>(mergedValues, {}));
  if (output !== undefined) {
    for (const [file, manifests] of files) {
      const path = join(output, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, HEADER + documentsOf(manifests));
    }
    return;
  }
  const printed = [...files].filter(([file]) => file !== SERVING_SIGNER);
  printText(HEADER + documentsOf(printed.flatMap(([, manifests]) => manifests)));
  if (printed.length === files.size) return;
  printProgress(
    `left out: the ClusterSigner behind the components' own ports, whose kind comes with the rest; once that is applied, write it with --output and apply ${SERVING_SIGNER}`,
  );
}

/** @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) */
function filesOf(values: unknown): ReadonlyMap<string, readonly Manifest[]> {
  const plan = checkedPlanOf(values, { namespace: 'default', version: VERSION });
  return new Map([['definitions.yaml', definitions], ...installationFiles(plan)]);
}

/**
 * Values of one file; `-` is stdin.
 *
 * @throws SignerError USAGE (`fail`)
 */
export async function readValues(file: string): Promise<unknown> {
  try {
    // Its descriptor, as other tools take it.
    return parse(await readFile(file === '-' ? '/dev/stdin' : file, 'utf8')) as unknown;
  } catch (error) {
    throw usageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}
