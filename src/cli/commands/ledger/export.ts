// SPDX-License-Identifier: Apache-2.0
import { open, type FileHandle } from 'node:fs/promises';
import type { RecordObject } from '../../../controllers/ledger/api/object.ts';
import { SignerError } from '../../../errors.ts';
import { printableJson, quote } from '../../../quote.ts';
import { printDocument, printProgress } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { pagesOf, type Choice } from '../../sources/ledger-records.ts';

/** Flags of `countersign ledger export`. */
export interface ExportOptions extends UserOptions, Choice {
  readonly file?: string;
}

/** A record as a line ends with it; nobody but its owner reads the file. */
const MODE = 0o600;
const LINE_FEED = 0x0a;
/** Longer than any line: a record, in base64 and with its names. */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * Runs `countersign ledger export`: JSON Lines, the oldest record first. A file that is there is continued after its last
 * whole line.
 *
 * @throws KubeError; SignerError LEDGER_UNAVAILABLE; SignerError LEDGER_MALFORMED for a file of something else
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
    printProgress(`${count} records${more}`);
  } finally {
    await handle?.close();
    await client.close();
  }
}

/** The name of the last record; what is behind the last whole line is cut off. */
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
    const { metadata } = JSON.parse(line) as Partial<RecordObject>;
    return /^[1-9]\d*-\d+$/.test(metadata?.name ?? '') ? metadata?.name : undefined;
  } catch {
    return undefined;
  }
}
