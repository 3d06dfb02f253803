// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import { quantity } from '#base/quantity.ts';
import { open, type FileHandle } from 'node:fs/promises';
import { SignerError } from '#base/errors.ts';
import { printableJson, quote } from '#base/quote.ts';
import { printDocument, printProgress } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { pagesOf, type Choice } from '#cli/sources/ledger-records.ts';

/** Flags of `countersign ledger export`. */
export interface ExportOptions extends UserOptions, Choice {
  readonly file?: string;
}

/** File mode: only the owner reads it. */
const MODE = 0o600;
const LINE_FEED = 0x0a;
/** Limit of a line: a record in base64, with its names. */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * Runs `countersign ledger export`: writes JSON Lines, the oldest record first. It continues an
 * existing file after its last whole line.
 *
 * @throws KubeError, SignerError LEDGER_UNAVAILABLE, or SignerError LEDGER_MALFORMED for another
 * file
 */
export async function runExport(options: ExportOptions): Promise<void> {
  const { client } = await connectUser(options, 'ledger');
  const { file } = options;
  const handle = file === undefined ? undefined : await open(file, 'a+', MODE);
  try {
    const last = handle === undefined ? undefined : await lastNameIn(handle, file ?? '');
    let count = 0;
    const reading = { limit: 0, oldestFirst: true, after: last };
    for await (const { items } of pagesOf(client, { kind: 'any', ...options }, reading)) {
      const lines = printableJson(items.map((each) => `${JSON.stringify(each)}\n`).join(''));
      if (handle === undefined) printDocument(lines);
      else await handle.appendFile(lines);
      count += items.length;
    }
    await handle?.sync();
    const more = last === undefined ? '' : `, after ${last}`;
    printProgress(`${quantity(count, 'record')}${more}`);
  } finally {
    await handle?.close();
    await client.close();
  }
}

/** Returns the name of the last record, and truncates the file after its last whole line. */
async function lastNameIn(handle: FileHandle, file: string): Promise<string | undefined> {
  const { size } = await handle.stat();
  const from = Math.max(0, size - LONGEST_LINE);
  const { buffer } = await handle.read({ buffer: Buffer.alloc(size - from), position: from });
  const end = buffer.lastIndexOf(LINE_FEED);
  await handle.truncate(from + end + 1);
  if (end < 0) return undefined;
  const begin = buffer.lastIndexOf(LINE_FEED, end - 1) + 1;
  const name = nameIn(buffer.subarray(begin, end).toString('utf8'));
  if (name !== undefined) return name;
  const message = `${quote(file)} does not end with a record of the ledger: write another file`;
  throw new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}

function nameIn(line: string): string | undefined {
  try {
    const { name } = membersOf(membersOf(JSON.parse(line))['metadata']);
    return typeof name === 'string' && /^[1-9]\d*-\d+$/.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
