// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../../api/object/object.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { readClusterSigner } from '../../../api/signer/read-signer.ts';
import type { RecordObject } from '../../../controllers/ledger/api/object.ts';
import { SignerError, attempt } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { listPages } from '../../../kube/watch/list-pages.ts';
import {
  issuedRow,
  issuedTable,
  wantedRows,
  type IssuedCertificateRow,
} from '../../../operations/issued.ts';
import { EXIT_REFUSED, structuredText } from '../../../operations/report.ts';
import {
  liveRequests,
  type FoundCertificate,
} from '../../../operations/revoking/find-certificates.ts';
import { publishedAnchors } from '../../../pki/x509/trust-bundle.ts';
import { CLUSTER_SIGNERS } from '../../../runtime/signers/cluster-signers.ts';
import { listBundles } from '../../sources/cluster-objects.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { certificateOf } from '../ledger/formats.ts';
import { pagesOf } from '../ledger/read.ts';

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
  readonly source: 'auto' | 'ledger' | 'live';
  readonly output: 'table' | 'wide' | 'json' | 'yaml' | 'name';
}

interface Read {
  readonly rows: readonly IssuedCertificateRow[];
  /** Where they were looked for. */
  readonly places: readonly string[];
}

const NO_LEDGER =
  'no ledger answers, so that only live objects are listed: pods’ requests are gone after 15 minutes, those of people after hours';

/**
 * Runs `countersign issued`.
 *
 * @returns the exit code: 3 where nothing is found
 * @throws KubeError; SignerError
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

async function read(client: Client, options: IssuedOptions): Promise<Read> {
  if (options.source === 'live') return fromObjects(client);
  try {
    return await fromLedger(client, options);
  } catch (error) {
    if (options.source === 'ledger' || !isAbsent(error)) throw error;
    const live = await fromObjects(client);
    return { ...live, places: [...live.places, NO_LEDGER] };
  }
}

/** There is no ledger, or this user may not read it. */
function isAbsent(error: unknown): boolean {
  if (error instanceof SignerError) return error.code === 'LEDGER_UNAVAILABLE';
  return error instanceof KubeError && error.status === 403;
}

async function fromLedger(
  client: Client,
  { namespace, signer, serial }: IssuedOptions,
): Promise<Read> {
  const rows: IssuedCertificateRow[] = [];
  const choice = {
    kind: 'issued',
    ...(namespace === undefined ? {} : { namespace }),
    ...(signer === undefined ? {} : { signer }),
    ...(serial === undefined ? {} : { serial }),
  };
  for await (const page of pagesOf(client, choice, { limit: 0 })) {
    for (const object of page.items) {
      const certificate = certificateOf(object);
      const { record, metadata } = object;
      if (certificate === undefined || !('signer' in record)) continue;
      const holding = {
        signerName: record.signer.name,
        holder: holderOf(record),
        namespace: metadata.namespace,
        source: `record ${metadata.name}`,
      };
      rows.push(issuedRow(certificate, holding));
    }
  }
  return { rows, places: [`the ledger: ${rows.length} certificates`] };
}

function holderOf(record: RecordObject['record']): string | undefined {
  if (!('requester' in record)) return undefined;
  const { pod, serviceAccount, user } = record.requester;
  if (pod !== undefined) return `pod ${pod.namespace}/${pod.name}`;
  if (user !== undefined) return `user ${user.username}`;
  return serviceAccount && `serviceaccount ${serviceAccount.namespace}/${serviceAccount.name}`;
}

async function fromObjects(client: Client): Promise<Read> {
  const { found, places } = await liveRequests(client)(await clusterSigners(client));
  return { rows: found.map(rowOf), places };
}

function rowOf({ signerName, chain, source, user, pod }: FoundCertificate): IssuedCertificateRow {
  const holder = pod === undefined ? user && `user ${user}` : `pod ${pod.namespace}/${pod.name}`;
  return issuedRow(chain[0], { signerName, holder, namespace: pod?.namespace, source });
}

/** None where the kind is not installed: CSRs of other signers are listed all the same. */
async function clusterSigners(client: Client): Promise<readonly ClusterSigner[]> {
  const all: ClusterSigner[] = [];
  try {
    await listPages({ client, path: CLUSTER_SIGNERS.collection() }, (object) => {
      const signer = attempt(() => readClusterSigner(object as unknown as KubeObject));
      if (!(signer instanceof SignerError)) all.push(signer);
    });
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
  }
  return all;
}

/** Key identifiers of the published CAs whose fingerprint begins so. */
async function keyIdsOf(client: Client, authority: string): Promise<readonly string[]> {
  const wanted = authority.startsWith('sha256:') ? authority : `sha256:${authority}`;
  const bundles = (await listBundles(client)) ?? [];
  const anchors = bundles.flatMap(({ pem }) => [...publishedAnchors(pem)]);
  const ids = anchors.flatMap(([print, anchor]) => {
    const id = print.startsWith(wanted) ? anchor?.subjectKeyIdentifier : undefined;
    return id === undefined ? [] : [Buffer.from(id).toString('hex')];
  });
  if (ids.length > 0) return [...new Set(ids)];
  throw new SignerError({
    code: 'USAGE',
    disposition: 'fail',
    message: `no ClusterTrustBundle has a CA ${wanted}; countersign authority show lists them`,
  });
}

function print(rows: readonly IssuedCertificateRow[], output: IssuedOptions['output']): void {
  if (output === 'json' || output === 'yaml') printDocument(structuredText(rows, output));
  else if (output === 'name') printText(rows.map(({ source }) => `${source}\n`).join(''));
  else if (rows.length > 0) printText(issuedTable(rows, output === 'wide'));
}
