// SPDX-License-Identifier: Apache-2.0
import { persistentRecord, type PersistentProof } from '#acme/solving/dns01/persist.ts';
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { quote } from '#base/quote.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign persist-record`. */
export interface PersistRecordOptions extends UserOptions {
  /** Namespace of an AcmeSigner. Absent for an AcmeClusterSigner. */
  readonly namespace?: string;
  readonly output: Output;
}

/**
 * Prints the record of dns-persist-01 for a name.
 *
 * @throws SignerError USAGE, or KubeError
 */
export async function runPersistRecord(
  [signer, name]: readonly [signer: string, name: string],
  options: PersistRecordOptions,
): Promise<void> {
  const { client } = await connectUser(options, 'persist-record');
  try {
    const record = await persistRecordOf(client, signer, name, options);
    if (options.output === 'text') printText(`${record}\n`);
    else printDocument(structuredText({ signer, record }, options.output));
  } finally {
    await client.close();
  }
}

const NAME =
  /^(?:\*\.)?(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
/** Name of the CA in a record that the status shows. */
const ISSUER = / IN TXT "([^";]+);/;

/**
 * Returns the record as a line of a zone file.
 *
 * @param name - a DNS name, with `*.` to include everything below it
 */
export async function persistRecordOf(
  client: Pick<Client, 'request'>,
  signerName: string,
  name: string,
  { namespace }: Pick<PersistRecordOptions, 'namespace'>,
): Promise<string> {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  if (!NAME.test(wanted)) throw usageError(`${quote(name)} is not a DNS name`);
  const kind = resource(namespace === undefined ? ACME_CLUSTER_SIGNERS : ACME_SIGNERS);
  const path = kind.object({ namespace, name: signerName });
  const { status, spec } = readAcmeSigner(
    await client.request<KubeObject>({ method: 'GET', path }),
  );
  if (!spec.acme.solvers.some(({ persist }) => persist !== undefined))
    throw usageError(`${signerName} has no solver with persist; add one to spec.acme.solvers`);
  const proof = proofIn(status);
  if (proof === undefined)
    throw usageError(`${signerName} has no account yet; see its condition Ready`);
  const isWildcard = wanted.startsWith('*.');
  return persistentRecord(wanted.replace(/^\*\./, ''), isWildcard, proof);
}

/** Reads the content of the signer's records from the one that the status shows. */
function proofIn({ account, persistRecords }: AcmeSignerStatus): PersistentProof | undefined {
  const accountUrl = account?.url;
  const [shown] = persistRecords ?? [];
  if (accountUrl === undefined || shown === undefined) return undefined;
  const issuer = ISSUER.exec(shown)?.[1] ?? ' ';
  // If the CA does not publish its name, the status has words there.
  return { accountUrl, issuers: issuer.includes(' ') ? [] : [issuer] };
}
