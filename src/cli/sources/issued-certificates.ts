// SPDX-License-Identifier: Apache-2.0
/** Issued certificates in every source: records of the ledger, and live objects. */
import { quantity } from '#base/quantity.ts';
import type { KubeObject } from '#api/object/object.ts';
import { formatTime } from '#api/object/time.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import type {
  CertificateSource,
  FoundCertificate,
  CertificateSearchResult,
} from '#operations/revoking/find-certificates.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import {
  LEDGER_UNREAD,
  certificateOf,
  ledgerFault,
  pagesOf,
  type Choice,
} from './ledger-records.ts';
import { present } from '#base/object-keys.ts';

/** Query of certificates in the ledger. Callers may filter further. */
export interface CertificateQuery {
  readonly namespace?: string | undefined;
  readonly signer?: string | undefined;
  /**
   * Serial numbers, of which any matches: hexadecimal digits, in any case, with or without colons.
   */
  readonly serials?: readonly string[] | undefined;
  /** Pod, as `namespace/name` */
  readonly pod?: string | undefined;
  readonly user?: string | undefined;
  /** A whole common name, DNS name, address, URI or email address. */
  readonly san?: string | undefined;
  /** Fingerprint of the CA, as `sha256:<64 hexadecimal digits>` */
  readonly ca?: string | undefined;
  /** Time in milliseconds. The query omits certificates that expired before it. */
  readonly livingAt?: number | undefined;
  /** Limit of records, where 0 means all. */
  readonly limit: number;
}

/** Note without a ledger, because requests exist only for a short time. */
const NO_LEDGER =
  'no ledger is installed: pods’ requests are gone after 15 minutes, those of people after hours, and with them what is known of their certificates';

/**
 * Returns a source of the records of certificates.
 *
 * @throws (the source) KubeError, or SignerError LEDGER_UNAVAILABLE
 */
export function recordedCertificates(client: Client, query: CertificateQuery): CertificateSource {
  return async () => {
    const found = new Map<string, FoundCertificate>();
    let isCut = false;
    for (const choice of choicesOf(query)) {
      let rest: string | undefined;
      for await (const { items, metadata } of pagesOf(client, choice, { limit: query.limit })) {
        for (const one of items.flatMap((each) => foundIn(each) ?? [])) found.set(one.source, one);
        rest = metadata.continue;
      }
      isCut ||= rest !== undefined;
    }
    return {
      found: [...found.values()],
      places: [`the ledger: ${quantity(found.size, 'certificate')}`],
      ...(isCut ? { cutAt: query.limit } : {}),
    };
  };
}

/**
 * Returns the same source, which is empty if no ledger is installed.
 *
 * @throws (the source) SignerError LEDGER_UNAVAILABLE if an installed one cannot be queried
 */
export function recordedIfInstalled(client: Client, query: CertificateQuery): CertificateSource {
  return async (signers) => {
    try {
      return await recordedCertificates(client, query)(signers);
    } catch (error) {
      const fault = ledgerFault(error);
      if (fault === undefined) throw error;
      if (fault === 'absent') return { found: [], places: [NO_LEDGER] };
      if (fault === 'unread') return { found: [], places: [CANNOT_ASK.unread], isUnread: true };
      throw new SignerError({
        code: 'LEDGER_UNAVAILABLE',
        disposition: 'retry',
        cause: error,
        message: `${CANNOT_ASK[fault]}, and it may know of certificates that no object has any more. Nothing was written. To go by live objects alone, add --source live`,
      });
    }
  };
}

const CANNOT_ASK = {
  forbidden:
    'you may not read the records of the ledger (get and list on records.ledger.countersign.dev; ClusterRole countersign-ledger-reader has both)',
  unread: `${LEDGER_UNREAD}. The same command without --dry-run may find more certificates; countersign issued lists them`,
  unreachable: 'the ledger is installed and does not answer (countersign check shows the cause)',
} as const;

/** Returns the first source, or the other one if this user can query no ledger. */
export async function recordedOrElse(
  recorded: CertificateSource,
  other: CertificateSource,
  signers: readonly ClusterSigner[],
): Promise<CertificateSearchResult> {
  try {
    return await recorded(signers);
  } catch (error) {
    const fault = ledgerFault(error);
    if (fault === undefined) throw error;
    const { found, places } = await other(signers);
    return { found, places: [...places, fault === 'absent' ? NO_LEDGER : CANNOT_ASK[fault]] };
  }
}

/**
 * Returns all ClusterSigners that can be read.
 *
 * @throws KubeError
 */
export async function clusterSignersOf(client: Client): Promise<readonly ClusterSigner[]> {
  const objects = await listObjects<KubeObject>(client, CLUSTER_SIGNERS);
  return objects.flatMap((object) => {
    const signer = attempt(() => readClusterSigner(object));
    return signer instanceof SignerError ? [] : [signer];
  });
}

/** Returns one search for each alternative. The result is their union. */
function choicesOf(query: CertificateQuery): readonly Choice[] {
  const { namespace, signer, serials, pod, user, san, ca, livingAt } = query;
  const all = {
    ...present('namespace', namespace),
    ...present('signer', signer),
    ...present('pod', pod),
    ...present('user', user),
    ...present('ca', ca),
    ...present('expiresAfter', livingAt === undefined ? undefined : formatTime(livingAt)),
  };
  const named: readonly Choice[] = san === undefined ? [{}] : [{ san }, { subject: san }];
  const numbered: readonly Choice[] = serials?.map((serial) => ({ serial })) ?? [{}];
  // Certificates of the components' own ports have no request, so neither a pod nor a user.
  const kinds = pod === undefined && user === undefined ? ['issued', 'authority'] : ['issued'];
  return kinds.flatMap((kind) =>
    named.flatMap((name) => numbered.map((number) => ({ ...all, ...name, ...number, kind }))),
  );
}

type PodOfRecord = NonNullable<
  Extract<RecordObject['record'], { readonly kind: 'issued' }>['requester']['pod']
>;

/** @returns nothing for a CA: a CRL of leaves does not revoke a holder of its certificate */
function foundIn(object: RecordObject): FoundCertificate | undefined {
  const leaf = certificateOf(object);
  const { record, metadata } = object;
  if (leaf === undefined || (record.kind !== 'issued' && record.kind !== 'authority')) {
    return undefined;
  }
  const of = {
    signerName: record.signer.name,
    chain: [leaf] as const,
    source: `record ${metadata.name}`,
    namespace: metadata.namespace,
    authority: record.ca,
  };
  if (record.kind === 'authority') return record.purpose === 'serving' ? of : undefined;
  // cert-manager is the requester of all its requests.
  if (record.request.kind === 'CertificateRequest') return of;
  const { user, pod, serviceAccount } = record.requester;
  return { ...of, user: user?.username, pod: pod && withUid(pod), serviceAccount };
}

function withUid({ namespace, name, uid }: PodOfRecord): NonNullable<FoundCertificate['pod']> {
  return { namespace, name, ...present('uid', uid) };
}
