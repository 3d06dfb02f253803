// SPDX-License-Identifier: Apache-2.0
import { persistentRecord, type PersistentProof } from '../../../acme-solving/dns01/persist.ts';
import {
  ACME_CLUSTER_SIGNERS,
  ACME_SIGNERS,
  readAcmeSigner,
  type AcmeSignerStatus,
} from '../../../api/acme/index.ts';
import type { KubeObject } from '../../../api/object/object.ts';
import { usageError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { quote } from '../../../quote.ts';
import { structuredText, type Output } from '../../../operations/report.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign persist-record`. */
export interface PersistRecordOptions extends UserOptions {
  /** Absent: an AcmeClusterSigner. */
  readonly namespace?: string;
  readonly output: Output;
}

/** Prints the record of dns-persist-01 for a name. @throws SignerError USAGE, or KubeError */
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
/** How the CA calls itself, in a record that the status shows. */
const ISSUER = / IN TXT "([^";]+);/;

/**
 * The record as a line of a zone file.
 *
 * @param name - a DNS name; with `*.` for everything below it as well
 */
export async function persistRecordOf(
  client: Pick<Client, 'request'>,
  signerName: string,
  name: string,
  { namespace }: Pick<PersistRecordOptions, 'namespace'>,
): Promise<string> {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  if (!NAME.test(wanted)) throw usageError(`${quote(name)} is no DNS name`);
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

/** What its records say, as the status shows one. */
function proofIn({ account, persistRecords }: AcmeSignerStatus): PersistentProof | undefined {
  const accountUrl = account?.url;
  const [shown] = persistRecords ?? [];
  if (accountUrl === undefined || shown === undefined) return undefined;
  const issuer = ISSUER.exec(shown)?.[1] ?? ' ';
  // Where the CA does not say how it calls itself, words stand there.
  return { accountUrl, issuers: issuer.includes(' ') ? [] : [issuer] };
}
