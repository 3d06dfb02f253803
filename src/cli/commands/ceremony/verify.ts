// SPDX-License-Identifier: Apache-2.0
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { VERSION } from '#app/version.ts';
import { quantity } from '#base/quantity.ts';
import { SIGNING_VERBS, type SigningVerb } from '#ca/ceremony/ceremony-file.ts';
import { decodeTranscript } from '#ca/ceremony/transcript.ts';
import { verifyCeremony, type CeremonyFinding } from '#ca/ceremony/verify.ts';
import { printDocument, printMarked } from '#cli/terminal.ts';
import { MARKS } from '#diagnose/check/finding.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { parseYaml } from '#cli/yaml-document.ts';
import { MAX_BYTES, openCeremony, type OpenCeremony } from './files.ts';
import { transcriptPaths } from './transcript-paths.ts';

/** Flags of `countersign ceremony verify`. */
export interface VerifyCeremonyOptions {
  readonly caFingerprint?: string;
  readonly output: Output;
}

/** The result for one verb. */
interface VerifiedCeremony {
  readonly verb: SigningVerb;
  readonly transcript: string;
  readonly notes: readonly string[];
  readonly findings: readonly CeremonyFinding[];
}

/**
 * Runs `countersign ceremony verify`.
 *
 * @param verbs - the verbs whose ceremonies were held, or none for every section of the file
 * @returns the exit code: 3 if something differs
 * @throws SignerError USAGE (`fail`) for a file that is not a ceremony
 */
export async function verify(
  path: string,
  verbs: readonly SigningVerb[],
  { caFingerprint, output }: VerifyCeremonyOptions,
): Promise<number> {
  const ceremony = await openCeremony(path);
  const held = verbs.length > 0 ? verbs : SIGNING_VERBS.filter((verb) => verb in ceremony.file);
  const results = held.map((verb) => verifyVerb(ceremony, verb, caFingerprint));
  const differing = results.flatMap(({ findings }) =>
    findings.filter(({ outcome }) => outcome === 'differs'),
  );
  if (output === 'text') printMarked(textOf(results, differing.length));
  else printDocument(structuredText(results, output));
  return differing.length > 0 || results.length === 0 ? EXIT_REFUSED : 0;
}

function verifyVerb(
  { file, directory }: OpenCeremony,
  verb: SigningVerb,
  caFingerprint: string | undefined,
): VerifiedCeremony {
  const { transcript: path, signature: signaturePath } = transcriptPaths(file, verb);
  const contentsOf = (each: string): Uint8Array | undefined => readIfThere(directory, each);
  const [bytes, signature] = [contentsOf(path), contentsOf(signaturePath)];
  if (bytes === undefined || signature === undefined) {
    const lacking = bytes === undefined ? path : signaturePath;
    const message = `${lacking} is not there`;
    const findings = [{ what: 'transcript', outcome: 'differs' as const, message }];
    return { verb, transcript: path, notes: [], findings };
  }
  const transcript = decodeTranscript(bytes, path);
  const evidence = { transcript, bytes, signature, contentsOf, parseYaml, caFingerprint };
  const isOther = transcript.verb !== verb;
  const findings = isOther
    ? [
        {
          what: 'transcript',
          outcome: 'differs' as const,
          message: `it is one of ${transcript.verb}`,
        },
      ]
    : verifyCeremony(evidence);
  return { verb, transcript: path, findings, notes: notesOf(transcript, caFingerprint) };
}

function notesOf(
  { confirmed, version, signedAt, present }: ReturnType<typeof decodeTranscript>,
  caFingerprint: string | undefined,
): readonly string[] {
  const who = present.map(({ name, role }) => `${name} (${role})`).join(', ');
  return [
    `signed at ${signedAt} by the machine’s clock, with Countersign ${version}${version === VERSION ? '' : `; this is ${VERSION}`}`,
    `present, as the file says: ${who}`,
    ...(confirmed === 'flag' ? ['--yes confirmed it: perhaps no person has read the bytes'] : []),
    ...(caFingerprint === undefined
      ? [
          'compare the fingerprint of the CA with one that you have from elsewhere (--ca-fingerprint)',
        ]
      : []),
  ];
}

/** A transcript names the paths, so a device or a huge file is not read. */
function readIfThere(directory: string, path: string): Uint8Array | undefined {
  try {
    const file = resolve(directory, path);
    const found = statSync(file);
    return found.isFile() && found.size <= MAX_BYTES ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

const MARK_OF = { ok: MARKS.ok, differs: MARKS.error, skipped: MARKS.unseen } as const;

function textOf(results: readonly VerifiedCeremony[], differing: number): string {
  const lines = results.flatMap(({ verb, transcript, notes, findings }) => [
    `${verb} ${transcript}`,
    ...findings.map(({ what, outcome, message }) => `  ${MARK_OF[outcome]} ${what}: ${message}`),
    ...notes.map((each) => `  note: ${each}`),
  ]);
  const verdict =
    results.length === 0
      ? 'the file has no section to verify'
      : differing === 0
        ? 'verified: everything is as recorded'
        : `not verified: ${quantity(differing, 'difference')}`;
  return [...lines, verdict, ''].join('\n');
}
