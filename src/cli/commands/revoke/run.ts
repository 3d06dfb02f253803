// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../../api/object/object.ts';
import { REVOCATIONS, type Revocation } from '../../../api/revocation/revocation.ts';
import { readClusterSigner } from '../../../api/signer/read-signer.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { SignerError, attempt } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { listPages } from '../../../kube/watch/list-pages.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
import {
  liveRequests,
  type CertificateSource,
} from '../../../operations/revoking/find-certificates.ts';
import {
  planRevocation,
  type RevocationPlan,
  type Selection,
} from '../../../operations/revoking/plan.ts';
import { printable } from '../../../quote.ts';
import { CLUSTER_SIGNERS } from '../../../runtime/signers/cluster-signers.ts';
import { REVOCATION_REASONS, type CrlReason } from '../../../vocabulary.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign revoke`. */
export interface RevokeCertificatesOptions extends UserOptions {
  readonly serial: readonly string[];
  readonly pod?: string;
  readonly user?: string;
  readonly ca?: string;
  readonly san?: string;
  readonly signer?: string;
  readonly reason: string;
  readonly allowRenewal: boolean;
  readonly dryRun: boolean;
  readonly output: Output;
  readonly namespace?: string;
  readonly force: boolean;
}

/** What `-o json` and `-o yaml` print. */
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

/** Said where no ledger answered: requests do not live for long. */
const WITHOUT_LEDGER =
  'no ledger was searched: certificates whose requests are gone are not among these; name them by --serial and --signer';

/**
 * Runs `countersign revoke`.
 *
 * @param order - `order/NAME`, for a certificate of an ACME server
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runRevokeCommand(
  order: string | undefined,
  options: RevokeCertificatesOptions,
): Promise<number> {
  if (order !== undefined) {
    const { namespace } = options;
    if (namespace === undefined) throw usage('an Order has a namespace: write -n NAME');
    if (selectionOf(options) !== undefined) throw usage('write an Order, or a flag that selects');
    const { runRevoke } = await import('../acme/revoke.ts');
    return runRevoke(order, { ...options, namespace });
  }
  if (!isReason(options.reason)) throw usage(`--reason ${options.reason} is none of a CRL`);
  const { client } = await connectUser(options, 'revoke');
  try {
    const report = await revokeCertificates(client, [liveRequests(client)], options, Date.now());
    if (options.output === 'text') printText(textOf(report));
    else printDocument(structuredText(report, options.output));
    return report.outcome === 'refused' ? EXIT_REFUSED : 0;
  } finally {
    await client.close();
  }
}

/**
 * The same with any client and any sources.
 *
 * @param sources - where certificates are looked up; a ledger is one more
 * @param now - milliseconds
 */
export async function revokeCertificates(
  client: Client,
  sources: readonly CertificateSource[],
  options: Omit<RevokeCertificatesOptions, keyof UserOptions>,
  now: number,
): Promise<RevokeReport> {
  const selection = selectionOf(options);
  if (selection === undefined) {
    throw usage('name what to revoke by one of --serial, --pod, --user, --ca and --san');
  }
  const { reason, allowRenewal, dryRun, signer: signerName } = options;
  if (!isReason(reason)) throw usage(`--reason ${reason} is none of a CRL`);
  const signers = await clusterSigners(client);
  const searched = await Promise.all(sources.map((source) => source(signers)));
  const found = searched.flatMap((each) => each.found);
  const plan = planRevocation({
    ...{ selection, signerName, reason, allowRenewal, signers, found, now },
  });
  for (const revocation of plan.revocations) await write(client, revocation, dryRun);
  return {
    outcome: plan.refusals.length > 0 ? 'refused' : 'written',
    dryRun,
    searched: [...searched.flatMap(({ places }) => places), WITHOUT_LEDGER],
    ...plan,
  };
}

function isReason(text: string): text is CrlReason {
  return Object.hasOwn(REVOCATION_REASONS, text);
}

/** Undefined unless exactly one kind of them is given. */
function selectionOf({
  serial,
  pod,
  user,
  ca,
  san,
}: Pick<RevokeCertificatesOptions, 'serial' | 'pod' | 'user' | 'ca' | 'san'>):
  Selection | undefined {
  const all = { serial: serial.length === 0 ? undefined : serial, pod, user, ca, san };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  if (given.length > 1) throw usage('write one of --serial, --pod, --user, --ca and --san');
  return given.length === 0 ? undefined : all;
}

async function clusterSigners(client: Client): Promise<readonly ClusterSigner[]> {
  const all: ClusterSigner[] = [];
  await listPages({ client, path: CLUSTER_SIGNERS.collection() }, (object) => {
    const signer = attempt(() => readClusterSigner(object as unknown as KubeObject));
    if (!(signer instanceof SignerError)) all.push(signer);
  });
  return all;
}

/** Whoever revokes the same again finds it written. */
async function write(
  client: Client,
  body: RevocationPlan['revocations'][number],
  dryRun: boolean,
): Promise<void> {
  const query = dryRun ? { dryRun: 'All' } : {};
  try {
    await client.request<Revocation>({ method: 'POST', path: PATHS.collection(), query, body });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
  }
}

function textOf(report: RevokeReport): string {
  const { searched, certificates, revocations, notes, refusals, dryRun } = report;
  const lines = [
    ...searched.map((each) => `searched: ${each}`),
    ...certificates.map(({ signerName, serial, notAfter = 'unknown', source = 'no object' }) => {
      return `  ${signerName}  serial ${serial}  until ${notAfter}  (${source})`;
    }),
    ...revocations.flatMap(({ metadata, spec }) => [
      `revocation.countersign.dev/${metadata.name} ${dryRun ? 'would be written (dry run)' : 'written'}: ${spec.certificates.length} certificates, ${spec.reason}`,
      ...(spec.holders ?? []).map(
        (each) => `  refuses new certificates to ${JSON.stringify(each)}`,
      ),
    ]),
    ...notes.map((each) => `note: ${each}`),
    ...refusals.map((each) => `refused: ${each}`),
  ];
  return lines.map((each) => `${printable(each)}\n`).join('');
}

function usage(message: string): SignerError {
  return new SignerError({ code: 'USAGE', disposition: 'fail', message });
}
