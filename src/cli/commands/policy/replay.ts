// SPDX-License-Identifier: Apache-2.0
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { SignerError } from '#base/errors.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printable, quote } from '#base/quote.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { pagesOf } from '#cli/sources/ledger-records.ts';
import { replayJudge } from './replay-judge.ts';
import { Replay, type ReplayReport, type ReplayedRequest } from './replay-report.ts';
import { parseSignerFile } from './signer-file.ts';

/** Flags of `countersign policy replay`. */
export interface ReplayOptions extends UserOptions {
  readonly signerFile: string;
  readonly since: string;
  readonly until?: string;
  readonly namespace?: string;
  /** File with an export of the ledger, in place of the cluster. */
  readonly records?: string;
  readonly reservedPrefix: readonly string[];
  readonly output: Output;
}

const EXIT_DIFFERENT = 3;
const EXIT_UNKNOWN = 4;

/**
 * Runs `countersign policy replay`: prints the recorded requests that another version of the rules
 * would decide differently.
 *
 * @returns the exit code
 * @throws SignerError for a file that cannot be read, or KubeError
 */
export async function runReplay(options: ReplayOptions): Promise<number> {
  const signer = parseSignerFile(await readFile(options.signerFile, 'utf8'), options.signerFile);
  const { signerName } = signer.spec;
  const replay = new Replay(replayJudge(signer, options.reservedPrefix));
  for await (const record of recordsOf(options, signerName)) replay.add(record);
  const report = replay.report();
  if (options.output === 'text') printText(textOf(signerName, options, report));
  else printDocument(structuredText({ signer: signerName, ...report }, options.output));
  if (report.different.length > 0) return EXIT_DIFFERENT;
  return report.unknown.length > 0 ? EXIT_UNKNOWN : 0;
}

/** Yields the records, the oldest first. */
async function* recordsOf(options: ReplayOptions, signer: string): AsyncGenerator<RecordObject> {
  if (options.records !== undefined) {
    yield* exported(options.records, signer);
    return;
  }
  const { since, until, namespace } = options;
  const { client } = await connectUser(options, 'policy');
  const choice = {
    signer,
    since,
    ...(until === undefined ? {} : { until }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  try {
    const reading = { limit: 0, oldestFirst: true };
    for await (const { items } of pagesOf(client, choice, reading)) yield* items;
  } finally {
    await client.close();
  }
}

/**
 * Reads the output of `countersign ledger export`.
 *
 * @throws SignerError LEDGER_MALFORMED
 */
async function* exported(file: string, signer: string): AsyncGenerator<RecordObject> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    number += 1;
    const object = parsed(line);
    if (object === undefined) {
      const message = `line ${number} of ${quote(file)} is not a record of countersign ledger export`;
      throw new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
    }
    if ('signer' in object.record && object.record.signer.name === signer) yield object;
  }
}

function parsed(line: string): RecordObject | undefined {
  try {
    // The ledger wrote the line, and replay only reads.
    const object = JSON.parse(line) as RecordObject | { readonly record?: undefined };
    return object.record === undefined ? undefined : object;
  } catch {
    return undefined;
  }
}

/** Limit of requests in the text output. The JSON has all. */
const SHOWN = 50;

function textOf(signer: string, { since, records }: ReplayOptions, report: ReplayReport): string {
  const { requests, same, different, unknown } = report;
  const where = records === undefined ? `since ${since}` : `in ${records}`;
  const why = Map.groupBy(unknown, ({ now }) => now.message);
  const lines = [
    ...different.slice(0, SHOWN).flatMap(differenceLines),
    ...(different.length > SHOWN ? [`… and ${different.length - SHOWN} more: -o json`] : []),
    ...[...why].map(([message, found]) => `${found.length} cannot be replayed: ${message}`),
    `${requests} requests to ${signer} ${where}: ${same} as before, ${different.length} differently, ${unknown.length} cannot be replayed`,
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function differenceLines({ request, requester, record, before, now }: ReplayedRequest): string[] {
  const { kind, namespace, name } = request;
  const path = namespace === undefined ? name : `${namespace}/${name}`;
  const by = before.rule === undefined ? '' : ` (${before.rule})`;
  const reasons = now.message.split('; ').map((line) => `  ${line}`);
  return [
    `${before.word}${by} → ${now.word}  ${kind} ${path} of ${requester}, record ${record}`,
    ...(now.word === 'APPROVE' && before.word === 'APPROVE' ? [] : reasons),
    ...(now.names === undefined || before.names === undefined || before.word !== now.word
      ? []
      : [`  names: ${before.names.join(', ')} → ${now.names.join(', ')}`]),
  ];
}
