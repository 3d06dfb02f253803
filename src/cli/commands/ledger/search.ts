// SPDX-License-Identifier: Apache-2.0
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { EXIT_REFUSED } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printProgress, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { csvHead, csvOf, namesText, pemOf, tableText } from './formats.ts';
import { pagesOf, type Choice } from '#cli/sources/ledger-records.ts';

/** Flags of `countersign ledger search`. */
export interface SearchOptions extends UserOptions, Choice {
  readonly output: 'table' | 'wide' | 'name' | 'json' | 'yaml' | 'csv' | 'pem';
  readonly limit: number;
  readonly continue?: string;
}

/**
 * Runs `countersign ledger search`.
 *
 * @returns the exit code
 * @throws KubeError, or SignerError LEDGER_UNAVAILABLE
 */
export async function runSearch(options: SearchOptions): Promise<number> {
  const { client } = await connectUser(options, 'ledger');
  const { output, limit } = options;
  const items: RecordObject[] = [];
  let [count, next]: [number, string | undefined] = [0, undefined];
  const isWhole = output !== 'csv' && output !== 'pem';
  try {
    for await (const page of pagesOf(client, options, { limit, from: options.continue })) {
      if (isWhole) items.push(...page.items);
      else printRows(output, page.items, count === 0);
      count += page.items.length;
      next = page.metadata.continue;
    }
  } finally {
    await client.close();
  }
  if (isWhole) printWhole(output, items, next);
  if (count === 0) printProgress('no record is found');
  if (next !== undefined) printProgress(`there may be more: --continue ${next}`);
  return count === 0 ? EXIT_REFUSED : 0;
}

function printWhole(
  output: Exclude<SearchOptions['output'], 'csv' | 'pem'>,
  items: readonly RecordObject[],
  next: string | undefined,
): void {
  if (output === 'json' || output === 'yaml') {
    printDocument(structuredText(listOf(items, next), output));
  } else if (output === 'name') printText(namesText(items));
  else if (items.length > 0) printText(tableText(items, output === 'wide', terminalWidth()));
}

function printRows(output: 'csv' | 'pem', items: readonly RecordObject[], isFirst: boolean): void {
  const head = output === 'csv' && isFirst ? csvHead() : '';
  printText(head + items.map(output === 'csv' ? csvOf : pemOf).join(''));
}

function listOf(items: readonly RecordObject[], next: string | undefined): object {
  const metadata = next === undefined ? {} : { continue: next };
  return { apiVersion: 'v1', kind: 'List', metadata, items };
}
