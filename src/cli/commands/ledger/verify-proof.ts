// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { SignerError } from '#base/errors.ts';
import { parseProof, parseVerifierKey, SALT_BYTES, verifyProof } from '#ledger/index.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printable } from '#base/quote.ts';
import { printDocument, printText } from '#cli/terminal.ts';

/** Flags of `countersign ledger verify-proof`. */
export interface VerifyProofOptions {
  readonly key: string;
  /** File with salt and record. */
  readonly record?: string;
  readonly output: Output;
}

/** Result of a valid proof. */
interface ProvedRecord {
  readonly log: string;
  readonly index: number;
  /** Entries in the signed log. */
  readonly size: number;
  readonly record: unknown;
}

/**
 * Runs `countersign ledger verify-proof` with only the file and the key, without a cluster.
 *
 * @returns the exit code
 * @throws SignerError LEDGER_MALFORMED for an invalid proof or key
 */
export async function runVerifyProof(file: string, options: VerifyProofOptions): Promise<number> {
  const keys = [parseVerifierKey(options.key)];
  const proof = parseProof(await readFile(file, 'utf8'));
  const kept = options.record === undefined ? proof.extra : await readFile(options.record);
  try {
    const { origin, size } = verifyProof(proof, keys, kept);
    const record = recordIn(kept ?? new Uint8Array());
    print({ log: origin, index: proof.index, size, record }, options.output);
    return 0;
  } catch (error) {
    if (!(error instanceof SignerError) || error.code !== 'LEDGER_INCONSISTENT') throw error;
    printText(`not proved: ${printable(error.message)}\n`);
    return EXIT_REFUSED;
  }
}

/** Returns the record after the salt, in the ledger's encoding. */
function recordIn(extra: Uint8Array): unknown {
  return JSON.parse(Buffer.from(extra.subarray(SALT_BYTES)).toString());
}

function print(proved: ProvedRecord, output: Output): void {
  if (output !== 'text') {
    printDocument(structuredText(proved, output));
    return;
  }
  const { log, index, size, record } = proved;
  printText(
    `proved: entry ${index} of ${size} of the log ${printable(log)} is this record\n${printable(JSON.stringify(record))}\n`,
  );
}
