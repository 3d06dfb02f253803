// SPDX-License-Identifier: Apache-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { VERSION } from '#app/version.ts';
import { messageOf, usageError } from '#base/errors.ts';
import { installationFiles } from '#install/files.ts';
import definitions from '#install/operator/definitions.json' with { type: 'json' };
import { documentsOf } from '#install/documents.ts';
import type { Manifest } from '#install/roles.ts';
import { mergedValues } from '#install/values/defaults.ts';
import { checkedPlanOf } from '#install/values/plan.ts';
import { printProgress, printText } from '#cli/terminal.ts';

/** Flags of `countersign manifests`. */
export interface ManifestsOptions {
  readonly values: readonly string[];
  readonly output?: string;
}

const HEADER = `# SPDX-License-Identifier: Apache-2.0
# Printed by countersign manifests.
`;

/** File of the ClusterSigner, which kubectl can apply only after its definition. */
const SERVING_SIGNER = 'serving-signer.yaml';

/**
 * Prints the objects of an installation, or writes them to `<output>/<file>`.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for values that the chart rejects too
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
 * Reads the values of one file, or of stdin for `-`.
 *
 * @throws SignerError USAGE (`fail`)
 */
export async function readValues(file: string): Promise<unknown> {
  try {
    // Read stdin by its device, as other tools do.
    const values: unknown = parse(await readFile(file === '-' ? '/dev/stdin' : file, 'utf8'));
    return values;
  } catch (error) {
    throw usageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}
