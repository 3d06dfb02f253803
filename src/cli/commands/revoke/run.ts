// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { quantity } from '#base/quantity.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError, usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { EXIT_REFUSED, type CERTIFICATE_SOURCES, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import {
  liveOrders,
  liveRequests,
  type CertificateSource,
  type FoundCertificate,
} from '#operations/revoking/find-certificates.ts';
import {
  MAX_REVOCABLE,
  isSerial,
  planRevocation,
  type RevocationPlan,
  type Selection,
} from '#operations/revoking/plan.ts';
import { printable } from '#base/quote.ts';
import { canonicalSerial, serialText } from '#ca/revocation/serial.ts';
import { REVOCATION_REASONS, type CrlReason } from '#base/vocabulary.ts';
import {
  clusterSignersOf,
  recordedCertificates,
  recordedIfInstalled,
} from '#cli/sources/issued-certificates.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { present } from '#base/object-keys.ts';
import { revocableObject, selectionOfObject, type RevocableObject } from './named-object.ts';

/** Flags of `countersign revoke`. */
export interface RevokeCertificatesOptions extends UserOptions {
  readonly serial: readonly string[];
  readonly pod?: string;
  readonly user?: string;
  readonly ca?: string;
  readonly san?: string;
  readonly signer?: string;
  readonly source: (typeof CERTIFICATE_SOURCES)[number];
  readonly reason: string;
  readonly allowRenewal: boolean;
  readonly withoutCrl: boolean;
  readonly dryRun: boolean;
  readonly output: Output | 'name';
  readonly namespace?: string;
  readonly force: boolean;
  /** The certificate of the named object, in place of a flag that selects. */
  readonly certificate?: FoundCertificate;
  /** The ClusterSigners, if they were read to find the certificate. */
  readonly signers?: readonly ClusterSigner[];
}

/** The result that `-o json` and `-o yaml` print. */
export interface RevokeReport {
  readonly outcome: 'written' | 'refused';
  readonly dryRun: boolean;
  readonly searched: readonly string[];
  readonly certificates: RevocationPlan['certificates'];
  readonly revocations: RevocationPlan['revocations'];
  readonly notes: readonly string[];
  readonly refusals: readonly string[];
}

const PATHS = resource(REVOCATIONS);

/**
 * Runs `countersign revoke`.
 *
 * @param object - `kind/name` of an object with a certificate, or the name of an Order
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runRevokeCommand(
  object: string | undefined,
  options: RevokeCertificatesOptions,
): Promise<number> {
  const subject = object === undefined ? undefined : revocableObject(object, options.namespace);
  if (subject !== undefined && selectionOf(options) !== undefined)
    throw usageError('name either an object or a flag that selects certificates, not both');
  if (subject?.kind === 'order') {
    const { runRevoke } = await import('../acme/revoke.ts');
    return runRevoke(subject.name, { ...options, namespace: subject.namespace });
  }
  if (!isReason(options.reason)) throw unknownReason(options.reason);
  const { client } = await connectUser(options, 'revoke', options.dryRun);
  try {
    const now = Date.now() - client.clockOffset();
    const selected = await withObject(client, subject, options);
    const sources = sourcesOf(client, selected, now);
    const report = await revokeCertificates(client, sources, selected, now);
    print(report, options.output);
    return report.outcome === 'refused' ? EXIT_REFUSED : 0;
  } finally {
    await client.close();
  }
}

/** Prints the report. With `-o name`, refusals go to stderr: stdout has names alone. */
function print(report: RevokeReport, output: RevokeCertificatesOptions['output']): void {
  if (output === 'text') printText(textOf(report));
  else if (output === 'name') {
    printText(report.revocations.map(nameLine).join(''));
    for (const each of report.refusals) printProgress(`refused: ${each}`);
  } else printDocument(structuredText(report, output));
}

/**
 * Returns the flags with those that select the certificates of an object.
 *
 * @throws KubeError, or SignerError USAGE
 */
export async function withObject<T extends Pick<RevokeCertificatesOptions, 'signer'>>(
  client: Client,
  subject: RevocableObject | undefined,
  options: T,
): Promise<T> {
  if (subject === undefined) return options;
  const selection = await selectionOfObject(client, subject);
  const own = 'certificate' in selection ? selection.certificate.signerName : undefined;
  const { signer = own } = options;
  if (own !== undefined && signer !== own)
    throw usageError(
      `--signer ${signer} does not match: ${subject.kind}/${subject.name} is of ${own}`,
    );
  return { ...options, ...selection, ...present('signer', signer) };
}

/**
 * Does the same with any client and any sources.
 *
 * @param sources - sources of the certificates
 * @param now - milliseconds
 * @throws KubeError, or SignerError USAGE, or LEDGER_UNAVAILABLE before anything is written
 */
export async function revokeCertificates(
  client: Client,
  sources: readonly CertificateSource[],
  options: Omit<RevokeCertificatesOptions, keyof UserOptions>,
  now: number,
): Promise<RevokeReport> {
  const selection = selectionOf(options);
  if (selection === undefined) {
    throw usageError('name what to revoke by one of --serial, --pod, --user, --ca and --san');
  }
  const { reason, allowRenewal, withoutCrl, dryRun, signer: signerName, certificate } = options;
  if (!isReason(reason)) throw unknownReason(reason);
  const signers = options.signers ?? (await clusterSignersOf(client));
  const searched = await Promise.all(sources.map((source) => source(signers)));
  // A user who may get the object, and not list its kind, finds nothing else.
  const named = certificate === undefined ? [] : [certificate];
  const found = [...named, ...searched.flatMap((each) => each.found)];
  const plan = planRevocation({
    selection,
    signerName,
    reason,
    allowRenewal,
    withoutCrl,
    signers,
    found,
    isUnread: searched.some((each) => each.isUnread === true),
    cutAt: searched.find((each) => each.cutAt !== undefined)?.cutAt,
    now,
  });
  const revocations = await writeAll(client, plan.revocations, dryRun);
  return {
    outcome: plan.refusals.length > 0 ? 'refused' : 'written',
    dryRun,
    searched: searched.flatMap(({ places }) => places),
    ...plan,
    revocations,
  };
}

/**
 * Returns the sources of certificates for these flags.
 *
 * @param now - milliseconds. Queries omit expired certificates.
 */
export function sourcesOf(
  client: Client,
  options: Pick<
    RevokeCertificatesOptions,
    'serial' | 'pod' | 'user' | 'ca' | 'san' | 'signer' | 'source' | 'certificate'
  >,
  now: number,
): readonly CertificateSource[] {
  const { pod, user, ca, san, signer, source, certificate } = options;
  const serial =
    certificate === undefined ? options.serial : [serialText(certificate.chain[0].serial)];
  const query = {
    pod,
    user,
    ca,
    san,
    signer,
    livingAt: now,
    limit: MAX_REVOCABLE + 1,
    // A user with permission in the pod's namespace only can still query it.
    namespace: pod?.split('/')[0],
    serials: serial.length === 0 ? undefined : serial.map(canonicalSerial).filter(isSerial),
  };
  if (source === 'ledger') return [recordedCertificates(client, query)];
  const live = [liveRequests(client), liveOrders(client)];
  if (source === 'live') return [...live, () => Promise.resolve(NOT_ASKED)];
  return [...live, recordedIfInstalled(client, query)];
}

const NOT_ASKED = {
  found: [],
  places: [
    'no ledger, by --source live: certificates whose requests are gone are not among these; name them by --serial and --signer',
  ],
};

function unknownReason(text: string): SignerError {
  const reasons = Object.keys(REVOCATION_REASONS).join(', ');
  return usageError(
    `--reason ${printable(text)} is not a reason of a CRL; write one of ${reasons}`,
  );
}

function isReason(text: string): text is CrlReason {
  return Object.hasOwn(REVOCATION_REASONS, text);
}

/** Returns undefined unless the flags give exactly one kind of selection. */
function selectionOf({
  serial,
  pod,
  user,
  ca,
  san,
  certificate,
}: Pick<RevokeCertificatesOptions, 'serial' | 'pod' | 'user' | 'ca' | 'san' | 'certificate'>):
  Selection | undefined {
  const all = { serial: serial.length === 0 ? undefined : serial, pod, user, ca, san, certificate };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  if (given.length > 1) throw usageError('write one of --serial, --pod, --user, --ca and --san');
  return given.length === 0 ? undefined : all;
}

/**
 * Writes the Revocations, one after another.
 *
 * @returns the Revocations with their names
 * @throws KubeError, or SignerError that names the Revocations written before
 */
async function writeAll(
  client: Client,
  bodies: readonly RevocationBody[],
  dryRun: boolean,
): Promise<readonly RevocationBody[]> {
  const written: RevocationBody[] = [];
  for (const body of bodies) {
    try {
      written.push(await write(client, body, dryRun));
    } catch (error) {
      if (dryRun || written.length === 0 || !(error instanceof SignerError)) throw error;
      throw new SignerError({
        code: error.code,
        disposition: error.disposition,
        message: `${written.length} of ${bodies.length} Revocations are written: ${written.map(({ metadata }) => metadata.name).join(', ')}; the next one failed: ${error.message}; run the command again for those that are missing`,
        cause: error,
      });
    }
  }
  return written;
}

/**
 * Writes a Revocation, unless the same one exists: a repeated revocation changes nothing. The name
 * follows from the contents, so a user who may revoke for another signer can take it first. Then
 * the Revocation gets a random name.
 *
 * @returns the Revocation with its name
 * @throws KubeError
 */
async function write(
  client: Client,
  body: RevocationBody,
  dryRun: boolean,
): Promise<RevocationBody> {
  try {
    await create(client, body, dryRun);
    return body;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
    if (await exists(client, body)) return body;
    const name = `${body.metadata.name}-${randomBytes(4).toString('hex')}`;
    const other = { ...body, metadata: { ...body.metadata, name } };
    await create(client, other, dryRun);
    return other;
  }
}

type RevocationBody = RevocationPlan['revocations'][number];

async function create(client: Client, body: RevocationBody, dryRun: boolean): Promise<void> {
  const query = dryRun ? { dryRun: 'All' } : {};
  await client.request<Revocation>({ method: 'POST', path: PATHS.collection(), query, body });
}

/** Reports whether the Revocation of this name revokes the same, and stays. */
async function exists(
  client: Client,
  { metadata: { name }, spec }: RevocationBody,
): Promise<boolean> {
  try {
    const path = PATHS.object({ name });
    const found = await client.request<Revocation>({ method: 'GET', path });
    const isSame = isDeepStrictEqual(found.spec, JSON.parse(JSON.stringify(spec)));
    return isSame && found.metadata.deletionTimestamp === undefined;
  } catch (error) {
    // It is gone, or this user may only create Revocations.
    if (error instanceof KubeError && [403, 404].includes(error.status)) return false;
    throw error;
  }
}

function nameLine({ metadata }: RevocationPlan['revocations'][number]): string {
  return `revocation.countersign.dev/${metadata.name}\n`;
}

function textOf(report: RevokeReport): string {
  const { searched, certificates, revocations, notes, refusals, dryRun } = report;
  const lines = [
    ...searched.map((each) => `searched: ${each}`),
    ...certificates.map(({ signerName, serial, notAfter = 'unknown', sources }) => {
      const from = sources.length === 0 ? 'nothing has it' : sources.join(', ');
      return `  ${signerName}  serial ${serial}  until ${notAfter}  (${from})`;
    }),
    ...revocations.flatMap(({ metadata, spec }) => [
      `revocation.countersign.dev/${metadata.name} ${dryRun ? 'would be written (dry run)' : 'written'}: ${quantity(spec.certificates.length, 'certificate')}, ${spec.reason}`,
      ...(spec.holders ?? []).map(
        (each) => `  refuses new certificates to ${JSON.stringify(each)}`,
      ),
    ]),
    ...notes.map((each) => `note: ${each}`),
    ...refusals.map((each) => `refused: ${each}`),
  ];
  return lines.map((each) => `${printable(each)}\n`).join('');
}
