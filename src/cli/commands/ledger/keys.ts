// SPDX-License-Identifier: Apache-2.0
import type { LogObject } from '../../../controllers/ledger/api/logs.ts';
import { structuredText, type Output } from '../../../operations/report.ts';
import { printable } from '../../../quote.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { LOGS, readable } from '../../sources/ledger-records.ts';

/** Flags of `countersign ledger keys`. */
export interface KeysOptions extends UserOptions {
  readonly output: Output;
}

/**
 * Runs `countersign ledger keys`: prints the verifier key of each log, the one that is appended to last. Whoever verifies
 * should have it by another way than the proofs.
 *
 * @throws KubeError; SignerError LEDGER_UNAVAILABLE
 */
export async function runKeys(options: KeysOptions): Promise<void> {
  const { client } = await connectUser(options, 'ledger');
  try {
    const path = LOGS.collection(undefined);
    const asked = client.request<{ readonly items: readonly LogObject[] }>({ method: 'GET', path });
    const logs = (await readable(asked)).items;
    if (options.output !== 'text') {
      const keys = logs.map(({ metadata, origin, verifierKey, size, frozen }) => ({
        ...{ log: metadata.name, origin, verifierKey, size, frozen },
      }));
      printDocument(structuredText(keys, options.output));
    } else printText(logs.map(lineOf).join(''));
  } finally {
    await client.close();
  }
}

function lineOf({ metadata, verifierKey, size, frozen }: LogObject): string {
  const state = frozen ? `frozen at ${size}` : `open, ${size} entries`;
  return printable(`${verifierKey}  log ${metadata.name}, ${state}`) + '\n';
}
