// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { formatProof, inclusionPath } from '#ledger/index.ts';
import { quote } from '#base/quote.ts';
import { printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import { checkpointOf, entryAt, tilesOf } from './api-source.ts';
import { recordNamed } from '#cli/sources/ledger-records.ts';
import type { ShowRecordOptions } from './show.ts';

/**
 * Runs `countersign ledger prove`. For a removed record, it proves the entry without the hashed
 * content.
 *
 * @throws KubeError, or SignerError LEDGER_UNAVAILABLE, also while no checkpoint covers the record
 */
export async function runProve(name: string, options: ShowRecordOptions): Promise<void> {
  const { client } = await connectUser(options, 'ledger');
  try {
    // The proof has only base64, numbers and the origin of the log.
    printText(await proofOf(client, name, options.namespace));
  } finally {
    await client.close();
  }
}

async function proofOf(
  client: Client,
  name: string,
  namespace: string | undefined,
): Promise<string> {
  try {
    const { proof } = await recordNamed(client, name, namespace);
    if (proof === undefined) throw uncovered(name);
    return proof;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== GONE) throw error;
    printProgress(error.message);
    return proofOfEntry(client, name);
  }
}

const GONE = 410;

/** The API has validated the name, which is a log and an index. */
async function proofOfEntry(client: Client, name: string): Promise<string> {
  const [log = 0, index = 0] = name.split('-').map(Number);
  const checkpoint = await checkpointOf(client, log);
  const size = Number(checkpoint.split('\n')[1]);
  if (index >= size) throw uncovered(name);
  const read = tilesOf(client, { number: log, size });
  const entry = await entryAt(read, index);
  printProgress(
    `the proof is of the entry ${Buffer.from(entry).toString('base64')}: the SHA-256 of the salt and the record, for verifiers who kept them`,
  );
  return formatProof({ index, path: await inclusionPath(read, index, size), checkpoint });
}

function uncovered(name: string): SignerError {
  const message = `no checkpoint covers ${quote(name)} yet: one is signed every few seconds; try again`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
}
