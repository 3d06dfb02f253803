// SPDX-License-Identifier: Apache-2.0
import { quantity } from '#base/quantity.ts';
import type { ErasureObject } from '#ledger/ledger/api/erasures.ts';
import { API_VERSION } from '#ledger/ledger/api/discovery.ts';
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { LEDGER_API } from '#api/signer/own-tls.ts';
import { type SignerError, usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printProgress, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { namesText, tableText } from './formats.ts';
import {
  isSelective,
  pagesOf,
  readable,
  recordNamed,
  type Choice,
} from '#cli/sources/ledger-records.ts';

/** Flags of `countersign ledger erase`. */
export interface EraseOptions extends UserOptions, Choice {
  readonly includeValid?: boolean;
  readonly yes?: boolean;
  readonly output?: Output | 'name';
}

const ERASURES = resource({ ...LEDGER_API, plural: 'erasures' });
/** Names in one erasure, at most. */
const TOGETHER = 500;
/** Kinds without a person: records of the ledger and its components about themselves. */
const KEPT: readonly string[] = ['erased', 'gap', 'authority'];

/**
 * Runs `countersign ledger erase`: prints the records to remove, and removes them with `--yes`.
 *
 * @param names - records. Flags of a search add those that it finds.
 * @returns the exit code
 * @throws KubeError, or SignerError LEDGER_UNAVAILABLE, USAGE
 */
export async function runErase(names: readonly string[], options: EraseOptions): Promise<number> {
  if (names.length === 0 && !isSelective(options)) throw usage();
  const { client } = await connectUser(options, 'ledger');
  try {
    const found = await recordsOf(client, names, options);
    if (found.length === 0) {
      printProgress('no record is found');
      return EXIT_REFUSED;
    }
    const { output = 'text' } = options;
    if (output === 'text') printText(tableText(found, false, terminalWidth()));
    if (output === 'name') printText(namesText(found));
    if (options.yes !== true) {
      printStructured(output, found, []);
      printProgress(
        `${quantity(found.length, 'record')}, and what became of their certificates, would be removed for good; their entries stay in the log. Repeat it with --yes`,
      );
      return 0;
    }
    const erasures: ErasureObject[] = [];
    for (let at = 0; at < found.length; at += TOGETHER) {
      const done = await erase(client, found.slice(at, at + TOGETHER), options);
      erasures.push(done);
      if (output === 'text') printText(saidOf(done));
    }
    printStructured(output, found, erasures);
    return 0;
  } finally {
    await client.close();
  }
}

/** Prints the names of the removed records, or those to remove, and the answer of the ledger. */
function printStructured(
  output: NonNullable<EraseOptions['output']>,
  found: readonly RecordObject[],
  erasures: readonly ErasureObject[],
): void {
  if (output !== 'json' && output !== 'yaml') return;
  const records = found.map(({ metadata }) => metadata.name);
  printDocument(structuredText({ records, erasures }, output));
}

async function recordsOf(
  client: Client,
  names: readonly string[],
  options: EraseOptions,
): Promise<readonly RecordObject[]> {
  const found = new Map<string, RecordObject>();
  for (const name of names) {
    found.set(name, await recordNamed(client, name, options.namespace));
  }
  if (!isSelective(options)) return [...found.values()];
  for await (const page of pagesOf(client, options, { limit: 0 })) {
    for (const each of page.items) {
      if (!KEPT.includes(each.record.kind)) found.set(each.metadata.name, each);
    }
  }
  return [...found.values()];
}

async function erase(
  client: Client,
  records: readonly RecordObject[],
  { namespace, includeValid }: EraseOptions,
): Promise<ErasureObject> {
  const spec: ErasureObject['spec'] = {
    records: records.map(({ metadata }) => metadata.name),
    ...(includeValid === true ? { living: true } : {}),
  };
  const body: ErasureObject = { apiVersion: API_VERSION, kind: 'Erasure', metadata: {}, spec };
  const path = ERASURES.collection(namespace);
  return readable(client.request<ErasureObject>({ method: 'POST', path, body }));
}

function saidOf({ status }: ErasureObject): string {
  if (status?.record === undefined) return 'all of these were removed before\n';
  return `${quantity(status.removed, 'record')} removed; record ${status.record} documents it\n`;
}

function usage(): SignerError {
  const message =
    'name the records, such as 1-42, or what they have in common, such as --user jane@example.com';
  return usageError(message);
}
