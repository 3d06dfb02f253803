// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { formatProof, inclusionPath } from '../../../ledger/index.ts';
import { quote } from '../../../quote.ts';
import { printProgress, printText } from '../../terminal.ts';
import { connectUser } from '../../user-client.ts';
import { checkpointOf, entryAt, tilesOf } from './api-source.ts';
import { recordNamed } from '../../sources/ledger-records.ts';
import type { ShowRecordOptions } from './show.ts';

/**
 * Runs `countersign ledger prove`. Of a record that was removed it proves the entry, without what the entry is the hash of.
 *
 * @throws KubeError; SignerError LEDGER_UNAVAILABLE, also while no checkpoint covers the record
 */
export async function runProve(name: string, options: ShowRecordOptions): Promise<void> {
  const { client } = await connectUser(options, 'ledger');
  try {
    // Base64, numbers and the origin of the log.
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

/** The API knows the name: it is a log and an index. */
async function proofOfEntry(client: Client, name: string): Promise<string> {
  const [log = 0, index = 0] = name.split('-').map(Number);
  const checkpoint = await checkpointOf(client, log);
  const size = Number(checkpoint.split('\n')[1]);
  if (index >= size) throw uncovered(name);
  const read = tilesOf(client, { number: log, size });
  const entry = await entryAt(read, index);
  printProgress(
    `the proof is of the entry ${Buffer.from(entry).toString('base64')}: the SHA-256 of the salt and the record, for whoever kept them`,
  );
  return formatProof({ index, path: await inclusionPath(read, index, size), checkpoint });
}

function uncovered(name: string): SignerError {
  const message = `no checkpoint covers ${quote(name)} yet: one is signed every few seconds; try again`;
  return new SignerError({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
}
