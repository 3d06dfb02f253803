// SPDX-License-Identifier: Apache-2.0
/** Holds a ceremony: reads, prints, lints, confirms, signs, writes. */
import { resolve } from 'node:path';
import { formatTime } from '#api/object/time.ts';
import { VERSION } from '#app/version.ts';
import { SignerError } from '#base/errors.ts';
import { quantity } from '#base/quantity.ts';
import type { SigningVerb } from '#ca/ceremony/ceremony-file.ts';
import { requireKeyOf } from '#ca/ceremony/issuing-ca.ts';
import { digestOf, encodeTranscript, entryOf } from '#ca/ceremony/transcript.ts';
import { warningsOf } from '#ca/ceremony/warnings.ts';
import { askLine, printProgress, printText } from '#cli/terminal.ts';
import { EXIT_REFUSED } from '#operations/report.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import {
  KEY_MODE,
  PUBLIC_MODE,
  openCeremony,
  requireAbsent,
  writeNew,
  type OpenCeremony,
} from './files.ts';
import type { CeremonyOptions } from './options.ts';
import { transcriptPaths } from './transcript-paths.ts';
import { planWork, type SignedFile, type Work } from './work.ts';

/** Characters of the digest that a person types: as many as a person compares. */
const TYPED = 8;

/**
 * Runs `countersign ceremony root | intermediate | cross | crl`.
 *
 * @returns the exit code: 3 if the user did not confirm
 * @throws SignerError USAGE (`fail`) for a wrong file, LINT_FAILED (`wait`), AUTHORITY_INVALID
 *   (`authority`), or an error of a file
 */
export async function hold(
  verb: SigningVerb,
  path: string,
  options: CeremonyOptions,
): Promise<number> {
  const ceremony = await openCeremony(path);
  const warnings = warningsOf(ceremony.file, verb, options.allowUriConstraints);
  const work = await planWork(verb, ceremony, options);
  const records = transcriptPaths(ceremony.file, verb);
  await requireAbsent(ceremony.directory, [
    ...work.items.map((each) => each.path),
    ...work.keys.map((each) => each.path),
    ...Object.values(records),
  ]);
  const digest = show(work, warnings);
  if (options.dryRun) {
    printText('dry run: nothing was signed or written\n');
    return 0;
  }
  if (!options.yes && !(await isConfirmed(digest))) {
    printProgress('not confirmed: nothing was signed or written');
    return EXIT_REFUSED;
  }
  const key = await work.openKey();
  if (work.parent !== undefined) requireKeyOf(work.parent, key);
  const signed: SignedFile[] = [];
  for (const each of work.items) signed.push(await each.sign(key));
  const transcript = encodeTranscript({
    verb,
    count: verb === 'intermediate' ? work.items.length : 1,
    allowUriConstraints: options.allowUriConstraints,
    version: VERSION,
    signedAt: formatTime(Date.now()),
    confirmed: options.yes ? 'flag' : 'typed',
    present: ceremony.file.present,
    warnings: [...warnings],
    ca: { fingerprint: fingerprintOf(work.parent, signed), algorithm: key.algorithm.name },
    inputs: work.inputs.map(entryOf),
    signed: work.items.map(({ tbs }) => digestOf(tbs)),
    outputs: [...work.keys, ...signed].map(entryOf),
  });
  await write(ceremony, [
    // Keys first: a certificate without its key is of no use.
    ...work.keys.map((each) => ({ ...each, mode: KEY_MODE })),
    ...signed.map((each) => ({ ...each, mode: PUBLIC_MODE })),
    { path: records.transcript, contents: transcript, mode: PUBLIC_MODE },
    { path: records.signature, contents: await key.sign(transcript), mode: PUBLIC_MODE },
  ]);
  printText(`next: countersign ceremony verify ${path} ${verb}\n`);
  return 0;
}

/** Prints what will be signed. Returns the digest that a person confirms. */
function show(work: Work, warnings: readonly string[]): string {
  for (const { shown } of work.items) printText(`${shown.text}\n`);
  for (const each of warnings) printText(`warning: ${each}\n`);
  const errors = work.items.flatMap(({ shown }) => shown.errors);
  if (errors.length > 0) {
    throw new SignerError({
      code: 'LINT_FAILED',
      disposition: 'wait',
      message: `not signed, because the lint found ${quantity(errors.length, 'error')}: ${errors.map(({ message }) => message).join('; ')}`,
    });
  }
  const digests = work.items.map(({ tbs }) => digestOf(tbs));
  const [only = ''] = digests;
  if (digests.length === 1) return only;
  const all = digestOf(Buffer.from(digests.join('')));
  printText(`SHA-256 of the ${digests.length} digests together: ${all}\n`);
  return all;
}

async function isConfirmed(digest: string): Promise<boolean> {
  const question = `Type the first ${TYPED} characters of the SHA-256 to sign these bytes: `;
  const otherwise = 'in a script, --yes signs without a confirmation';
  return (await askLine(question, otherwise)).trim() === digest.slice(0, TYPED);
}

function fingerprintOf(parent: Certificate | undefined, signed: readonly SignedFile[]): string {
  return fingerprint(parent?.raw ?? signed[0]?.der ?? new Uint8Array());
}

interface Output {
  readonly path: string;
  readonly contents: Uint8Array;
  readonly mode: number;
}

/** Writes the outputs in order. After a failure it names those that are there. */
async function write({ directory }: OpenCeremony, outputs: readonly Output[]): Promise<void> {
  const written: string[] = [];
  for (const { path, contents, mode } of outputs) {
    try {
      await writeNew(resolve(directory, path), contents, mode);
    } catch (error) {
      const before = written.length === 0 ? 'nothing' : written.join(', ');
      printProgress(`written before the error: ${before}; the ceremony has no whole transcript`);
      throw error;
    }
    written.push(path);
    printText(`wrote ${path}\n`);
  }
}
