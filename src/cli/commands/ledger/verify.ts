// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite, parseVerifierKey, storeOf } from '#ledger/index.ts';
import { verifyLedger, type VerifyReport } from '#ledger/index.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printable } from '#base/quote.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import type { DatabaseFlags } from '#ledger/database-flags.ts';
import { openNamedPostgres } from '#ledger/open-postgres.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { apiSource } from './api-source.ts';

/** Flags of `countersign ledger verify`. */
export interface VerifyOptions extends UserOptions, DatabaseFlags {
  readonly key: readonly string[];
  readonly checkpoint: readonly string[];
  readonly data?: string;
  readonly output: Output;
}

/**
 * Runs `countersign ledger verify` over the API, where this program computes every hash itself, or
 * over the database.
 *
 * @returns the exit code
 * @throws KubeError, SignerError LEDGER_UNAVAILABLE, or SignerError LEDGER_MALFORMED for an invalid
 * key
 */
export async function runVerify(options: VerifyOptions): Promise<number> {
  const outside = await Promise.all(options.checkpoint.map((file) => readFile(file, 'utf8')));
  const report = await reportOf(options, outside);
  if (options.output === 'text') printText(textOf(report));
  else printDocument(structuredText(report, options.output));
  return report.found === 0 ? 0 : EXIT_REFUSED;
}

async function reportOf(options: VerifyOptions, outside: readonly string[]): Promise<VerifyReport> {
  const keys = options.key.map(parseVerifierKey);
  const { data } = options;
  const postgres = await openNamedPostgres(options);
  if (data === undefined && postgres === undefined) {
    const { client } = await connectUser(options, 'ledger');
    try {
      return await verifyLedger(await apiSource(client), { outside, keys });
    } finally {
      await client.close();
    }
  }
  const store = storeOf(postgres ?? openSqlite(join(data ?? '', 'ledger.db')));
  try {
    return await store.verify(outside, keys);
  } finally {
    await store.close();
  }
}

function textOf({ findings, found, ...counts }: VerifyReport): string {
  const { logs, entries, records, erased, checkpoints } = counts;
  const lines = [
    `${logs} logs, ${entries} entries, ${records} records, ${checkpoints} checkpoints; removed with a record of it: ${erased.retention} by retention, ${erased.person} by erasure`,
    ...findings.map(({ what, log, message }) => printable(`${what} ${log}: ${message}`)),
    ...(found > findings.length ? [`and ${found - findings.length} more`] : []),
    found === 0 ? 'the ledger is verified' : `${found} findings`,
  ];
  return `${lines.join('\n')}\n`;
}
