// SPDX-License-Identifier: Apache-2.0
import type { LogObject } from '#ledger/ledger/api/logs.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printable } from '#base/quote.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { LOGS, readable } from '#cli/sources/ledger-records.ts';

/** Flags of `countersign ledger keys`. */
export interface KeysOptions extends UserOptions {
  readonly output: Output;
}

/**
 * Runs `countersign ledger keys`: prints the verifier key of each log, the current log last.
 * Verifiers should get it from another source than the proofs.
 *
 * @throws KubeError, or SignerError LEDGER_UNAVAILABLE
 */
export async function runKeys(options: KeysOptions): Promise<void> {
  const { client } = await connectUser(options, 'ledger');
  try {
    const path = LOGS.collection(undefined);
    const asked = client.request<{ readonly items: readonly LogObject[] }>({ method: 'GET', path });
    const logs = (await readable(asked)).items;
    if (options.output !== 'text') {
      const keys = logs.map(({ metadata, origin, verifierKey, size, frozen }) => ({
        log: metadata.name,
        origin,
        verifierKey,
        size,
        frozen,
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
