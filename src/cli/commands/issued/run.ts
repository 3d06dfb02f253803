// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { usageError } from '#base/errors.ts';
import { fingerprintDigits } from '#base/hex-digits.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import {
  issuedRow,
  issuedTable,
  wantedRows,
  type IssuedCertificateRow,
} from '#operations/issued.ts';
import { EXIT_REFUSED, type CERTIFICATE_SOURCES } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import {
  holderOf,
  liveRequests,
  type CertificateSearchResult,
} from '#operations/revoking/find-certificates.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { listBundles } from '#cli/sources/cluster-objects.ts';
import {
  clusterSignersOf,
  recordedCertificates,
  recordedOrElse,
} from '#cli/sources/issued-certificates.ts';
import { printDocument, printProgress, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign issued`. */
export interface IssuedOptions extends UserOptions {
  readonly namespace?: string;
  readonly signer?: string;
  readonly pod?: string;
  readonly user?: string;
  readonly san?: string;
  readonly serial?: string;
  readonly authority?: string;
  /** Seconds. */
  readonly expiresIn?: number;
  readonly expired: boolean;
  readonly source: (typeof CERTIFICATE_SOURCES)[number];
  readonly output: 'table' | 'wide' | 'json' | 'yaml' | 'name';
}

interface IssuedList {
  readonly rows: readonly IssuedCertificateRow[];
  /** Searched places. */
  readonly places: readonly string[];
}

/**
 * Runs `countersign issued`.
 *
 * @returns the exit code: 3 if nothing is found
 * @throws KubeError or SignerError
 */
export async function issued(options: IssuedOptions): Promise<number> {
  const { client } = await connectUser(options, 'issued');
  try {
    const { rows, places } = await read(client, options);
    const now = Date.now() - client.clockOffset();
    const { namespace, signer, pod, user, san, serial, expiresIn, expired, authority } = options;
    const ids = authority === undefined ? undefined : await keyIdsOf(client, authority);
    const holder = pod === undefined ? user && `user ${user}` : `pod ${pod}`;
    const filter = { namespace, signer, holder, san, serial, expiresIn, expired };
    const wanted = wantedRows(rows, { ...filter, authorityKeyIdentifiers: ids }, now);
    for (const each of places) printProgress(`searched: ${each}`);
    print(wanted, options.output);
    if (wanted.length > 0) return 0;
    printProgress('no certificate is found');
    return EXIT_REFUSED;
  } finally {
    await client.close();
  }
}

async function read(client: Client, options: IssuedOptions): Promise<IssuedList> {
  const { source, namespace, signer, pod, user, san, serial } = options;
  const recorded = recordedCertificates(client, {
    namespace,
    signer,
    pod,
    user,
    limit: 0,
    serials: serial === undefined ? undefined : [serial],
    // The ledger has no suffix search, so filter here.
    san: san?.startsWith('*') === true ? undefined : san,
  });
  const live = liveRequests(client);
  if (source === 'ledger') return readFrom(await recorded([]));
  const signers = await clusterSignersIfAny(client);
  if (source === 'live') return readFrom(await live(signers));
  return readFrom(await recordedOrElse(recorded, live, signers));
}

function readFrom({ found, places }: CertificateSearchResult): IssuedList {
  const rows = found.map((each) => {
    const { chain, signerName, namespace, source } = each;
    return issuedRow(chain[0], { signerName, holder: holderOf(each), namespace, source });
  });
  return { rows, places };
}

/** Returns none if the kind is not installed. The command still lists CSRs of other signers. */
async function clusterSignersIfAny(client: Client): Promise<readonly ClusterSigner[]> {
  try {
    return await clusterSignersOf(client);
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    return [];
  }
}

/** Returns the key identifiers of the published CAs whose fingerprint begins with `authority`. */
async function keyIdsOf(client: Client, authority: string): Promise<readonly string[]> {
  const wanted = `sha256:${fingerprintDigits(authority)}`;
  const bundles = await listBundles(client);
  const anchors = (bundles ?? []).flatMap(({ pem }) => [...publishedAnchors(pem)]);
  const ids = anchors.flatMap(([print, anchor]) => {
    const id = print.startsWith(wanted) ? anchor?.subjectKeyIdentifier : undefined;
    return id === undefined ? [] : [Buffer.from(id).toString('hex')];
  });
  if (ids.length > 0) return [...new Set(ids)];
  const message =
    bundles === undefined
      ? '--authority: this API server lists no ClusterTrustBundles to you'
      : `no ClusterTrustBundle has a CA ${wanted}; countersign authority show lists them`;
  throw usageError(message);
}

function print(rows: readonly IssuedCertificateRow[], output: IssuedOptions['output']): void {
  if (output === 'json' || output === 'yaml') printDocument(structuredText(rows, output));
  else if (output === 'name') printText(rows.map(({ source }) => `${source}\n`).join(''));
  else if (rows.length > 0) printText(issuedTable(rows, output === 'wide', terminalWidth()));
}
