// SPDX-License-Identifier: Apache-2.0
/** Recomputes a ceremony from its files, and names what differs from its transcript. */
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';
import { decodePem } from '#pki/der/pem.ts';
import { keyObjectOf } from '#pki/keys/public-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { isSignedBy } from '#pki/x509/issuers.ts';
import { readCeremony, type CeremonyFile } from './ceremony-file.ts';
import { certificateDifferences, listDifferences } from './differences.ts';
import {
  intermediateSlots,
  planCross,
  planIntermediates,
  planRoot,
  type CertificatePlan,
} from './plan-certificate.ts';
import { isListOf, planList, readList } from './plan-list.ts';
import { provenRequest } from './request.ts';
import {
  digestOf,
  type InputRole,
  type OutputRole,
  type Transcript,
  type TranscriptFile,
} from './transcript.ts';
import { warningsOf } from './warnings.ts';

/** One comparison. `skipped` is only for keys, which stay where they are kept. */
export interface CeremonyFinding {
  /** The compared object, such as `certificate root.crt`. */
  readonly what: string;
  readonly outcome: 'ok' | 'differs' | 'skipped';
  readonly message: string;
}

/** The files of a ceremony. */
export interface Evidence {
  readonly transcript: Transcript;
  /** The bytes of the transcript, and their signature. */
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  /** The contents by the path in the transcript. Undefined for a file that is not there. */
  readonly contentsOf: (path: string) => Uint8Array | undefined;
  /** Parses the text of the ceremony's file. */
  readonly parseYaml: (text: string, name: string) => unknown;
  /** The fingerprint of the CA that the verifier has from elsewhere. */
  readonly caFingerprint: string | undefined;
}

/**
 * Verifies a ceremony: the signature of the transcript by the CA's key, the hash of each file, and
 * each certificate and CRL, which it encodes again from the file of the ceremony.
 */
export function verifyCeremony(evidence: Evidence): readonly CeremonyFinding[] {
  const findings = fileFindings(evidence);
  const ca = attempt(() => caOf(evidence));
  if (ca instanceof SignerError) return [...findings, differs('ca certificate', ca.message)];
  return [
    ...caFindings(evidence, ca),
    ...findings,
    ...attempted('ceremony', () => ceremonyFindings(evidence, ca)),
  ];
}

function fileFindings({ transcript, contentsOf }: Evidence): readonly CeremonyFinding[] {
  return [...transcript.inputs, ...transcript.outputs].map((file): CeremonyFinding => {
    const what = `${file.role} ${file.path}`;
    const contents = contentsOf(file.path);
    if (contents === undefined) {
      return isKey(file)
        ? { what, outcome: 'skipped', message: 'the key is not here, and is not compared' }
        : differs(what, 'the file is not there');
    }
    const found = digestOf(contents);
    if (found === file.sha256) return ok(what, `SHA-256 ${found}`);
    return differs(what, `SHA-256 is ${found}, and the transcript has ${file.sha256}`);
  });
}

function isKey({ role }: TranscriptFile): boolean {
  return role === 'ca key' || role === 'key';
}

function caFindings(evidence: Evidence, ca: Certificate): readonly CeremonyFinding[] {
  const { transcript, bytes, signature, caFingerprint } = evidence;
  const algorithm = signatureAlgorithm(keyObjectOf(ca.publicKey)).der;
  const isSigned = verifySignature(ca.publicKey, algorithm, bytes, signature);
  const found = fingerprint(ca.raw);
  const expected = caFingerprint ?? transcript.ca.fingerprint;
  return [
    isSigned
      ? ok('transcript', 'the key of the CA signed it')
      : differs('transcript', 'the key of the CA did not sign these bytes'),
    found === expected
      ? ok('ca', `fingerprint ${found}`)
      : differs('ca', `fingerprint is ${found}, and ${expected} is expected`),
  ];
}

function ceremonyFindings(evidence: Evidence, ca: Certificate): readonly CeremonyFinding[] {
  const { transcript, parseYaml } = evidence;
  const [name] = pathsOf(transcript.inputs, 'ceremony');
  const text = Buffer.from(read(evidence, name)).toString('utf8');
  const file = readCeremony(parseYaml(text, name ?? ''), name ?? '');
  return [
    sameTexts('present', file.present, transcript.present),
    sameTexts('inputs', expectedInputs(file, transcript.verb, name), listed(transcript.inputs)),
    ...attempted('outputs', () => [
      sameTexts('outputs', expectedOutputs(file, transcript), listed(transcript.outputs)),
    ]),
    signedFinding(transcript),
    ...attempted('warnings', () => [
      sameTexts(
        'warnings',
        warningsOf(file, transcript.verb, transcript.allowUriConstraints),
        transcript.warnings,
      ),
    ]),
    ...(transcript.verb === 'crl'
      ? attempted('CRL', () => listFindings(evidence, file, ca))
      : certificateFindings(evidence, file, ca)),
  ];
}

function listed(files: readonly TranscriptFile[]): readonly string[] {
  return files.map(({ role, path }) => `${role} ${path}`);
}

/** Returns the files that a verb reads, by the file of the ceremony. */
function expectedInputs(
  file: CeremonyFile,
  verb: Transcript['verb'],
  name: string | undefined,
): readonly string[] {
  const source = `ceremony ${name ?? ''}`;
  if (verb === 'root') return [source];
  const { ca, intermediate, cross, crl } = file;
  const revoked = (crl?.revoked ?? []).flatMap(({ certificate }) => certificate ?? []);
  const own = {
    intermediate: [['request', intermediate?.csr] as const],
    cross: [['other certificate', cross?.of] as const],
    crl: [
      ['previous CRL', crl?.previous] as const,
      ...[...new Set(revoked)].map((path) => ['revoked certificate', path] as const),
    ],
  }[verb];
  return [
    source,
    `ca certificate ${ca.certificate}`,
    ...own.flatMap(([role, path]) => (path === undefined ? [] : [`${role} ${path}`])),
    `ca key ${ca.key.file}`,
  ];
}

/** Returns the files that a verb writes, by the file of the ceremony, in the order of writing. */
function expectedOutputs(file: CeremonyFile, { verb, outputs }: Transcript): readonly string[] {
  const { ca, cross, crl } = file;
  if (verb === 'root') return [`key ${ca.key.file}`, `certificate ${ca.certificate}`];
  if (verb === 'cross') return [`certificate ${cross?.certificate ?? ''}`];
  if (verb === 'crl') return [`CRL ${crl?.file ?? ''}`];
  // A transcript may claim any count. The number of its certificates is limited by its size.
  const slots = intermediateSlots(file, pathsOf(outputs, 'certificate').length);
  return [
    ...slots.flatMap(({ keyFile }) => (keyFile === undefined ? [] : [`key ${keyFile}`])),
    ...slots.map(({ certificate }) => `certificate ${certificate}`),
  ];
}

/** Compares how often the key signed with the outputs that need a signature. */
function signedFinding({ outputs, signed, count }: Transcript): CeremonyFinding {
  const needed = outputs.filter((each) => !isKey(each)).length;
  if (needed === count && signed.length === count) return ok('signatures', String(count));
  return differs(
    'signatures',
    `the outputs need ${needed}, ${signed.length} are listed, and the count is ${count}`,
  );
}

function certificateFindings(
  evidence: Evidence,
  file: CeremonyFile,
  ca: Certificate,
): readonly CeremonyFinding[] {
  const { transcript } = evidence;
  const paths = pathsOf(transcript.outputs, 'certificate');
  const plans = attempt(() => replan(evidence, file, ca, paths));
  return paths.flatMap((path, index) =>
    attempted(`certificate ${path}`, () => {
      const certificate = decodeCertificate(decodePem(textOf(evidence, path), 'CERTIFICATE'));
      if (plans instanceof SignerError) throw plans;
      const plan = plans[index];
      if (plan === undefined) {
        return [differs(`certificate ${path}`, 'the ceremony’s file does not plan it')];
      }
      const faults = [
        ...certificateDifferences(certificate, plan.tbs),
        ...(isSignedBy(certificate, ca) ? [] : ['the key of the CA did not sign it']),
        ...digestFault(transcript, index, certificate.tbs),
      ];
      return [
        verdict(`certificate ${path}`, faults, 'as the ceremony’s file plans it, and signed'),
      ];
    }),
  );
}

/** Plans the certificates again, with their serial numbers and keys. */
function replan(
  evidence: Evidence,
  file: CeremonyFile,
  ca: Certificate,
  paths: readonly string[],
): readonly CertificatePlan[] {
  const { verb } = evidence.transcript;
  const made = paths.map((path) =>
    decodeCertificate(decodePem(textOf(evidence, path), 'CERTIFICATE')),
  );
  const serials = made.map(({ serial }) => serial);
  const random = replay(serials);
  if (verb === 'root') {
    const algorithm = signatureAlgorithm(keyObjectOf(ca.publicKey)).der;
    return [planRoot(file, { spki: ca.publicKey.spki, algorithm }, random)];
  }
  if (verb === 'cross') {
    const of = decodeCertificate(decodePem(textOf(evidence, file.cross?.of), 'CERTIFICATE'));
    return [planCross(file, ca, of, random)];
  }
  const request = file.intermediate?.csr;
  const keys =
    request === undefined
      ? made.map(({ publicKey }) => publicKey.spki)
      : provenRequest(textOf(evidence, request));
  return planIntermediates(file, ca, keys, random);
}

/** Returns the serial numbers in their order. The encoder keeps one that it made itself. */
function replay(serials: readonly Uint8Array[]): Random {
  const left = serials.values();
  return (size) => {
    const { value } = left.next();
    return value?.length === size ? value : new Uint8Array(size);
  };
}

function listFindings(
  evidence: Evidence,
  file: CeremonyFile,
  ca: Certificate,
): readonly CeremonyFinding[] {
  const { transcript } = evidence;
  const [path] = pathsOf(transcript.outputs, 'CRL');
  const list = readList(read(evidence, path));
  const previous = file.crl?.previous;
  const plan = planList(file, {
    parent: ca,
    previous: previous === undefined ? undefined : readList(read(evidence, previous)),
    certificateOf: (each) => decodeCertificate(decodePem(textOf(evidence, each), 'CERTIFICATE')),
  });
  const faults = [
    ...listDifferences(list, plan.tbs),
    ...(isListOf(list, ca) ? [] : ['the key of the CA did not sign it']),
    ...digestFault(transcript, 0, list.tbs),
  ];
  const message = `number ${list.number}, as the ceremony’s file plans it, and signed`;
  return [verdict(`CRL ${path ?? ''}`, faults, message)];
}

function digestFault({ signed }: Transcript, index: number, tbs: Uint8Array): readonly string[] {
  const found = digestOf(tbs);
  return signed[index] === found
    ? []
    : [
        `SHA-256 of its to-be-signed part is ${found}, and the transcript has ${signed[index] ?? 'none'}`,
      ];
}

/** The certificate of the CA: an input, or what the verb `root` made. */
function caOf(evidence: Evidence): Certificate {
  const { verb, inputs, outputs } = evidence.transcript;
  const [path] =
    verb === 'root' ? pathsOf(outputs, 'certificate') : pathsOf(inputs, 'ca certificate');
  return decodeCertificate(decodePem(textOf(evidence, path), 'CERTIFICATE'));
}

function pathsOf(all: readonly TranscriptFile[], role: InputRole | OutputRole): readonly string[] {
  return all.filter((each) => each.role === role).map(({ path }) => path);
}

function textOf(evidence: Evidence, path: string | undefined): string {
  return Buffer.from(read(evidence, path)).toString('latin1');
}

function read({ contentsOf }: Evidence, path: string | undefined): Uint8Array {
  const contents = path === undefined ? undefined : contentsOf(path);
  if (contents !== undefined) return contents;
  const message = path === undefined ? 'the transcript lacks a file' : `${path} is not there`;
  throw new SignerError({ code: 'USAGE', disposition: 'fail', message });
}

/** Runs a comparison. Its error is a difference, because the ceremony could not have been so. */
function attempted(
  what: string,
  run: () => readonly CeremonyFinding[],
): readonly CeremonyFinding[] {
  const found = attempt(run);
  return found instanceof SignerError ? [differs(what, found.message)] : found;
}

function sameTexts(what: string, planned: unknown, recorded: unknown): CeremonyFinding {
  const [a, b] = [planned, recorded].map((each) => Buffer.from(JSON.stringify(each)));
  if (sameBytes(a, b)) return ok(what, 'as in the ceremony’s file');
  return differs(what, `the file has ${String(a)}, and the transcript has ${String(b)}`);
}

function verdict(what: string, faults: readonly string[], fine: string): CeremonyFinding {
  return faults.length === 0 ? ok(what, fine) : differs(what, faults.join('; '));
}

function ok(what: string, message: string): CeremonyFinding {
  return { what, outcome: 'ok', message };
}

function differs(what: string, message: string): CeremonyFinding {
  return { what, outcome: 'differs', message };
}
