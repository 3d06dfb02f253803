// SPDX-License-Identifier: Apache-2.0
/** Certificates that were issued, whoever still knows of them: records of the ledger, and live objects. */
import type { KubeObject } from '../../api/object/object.ts';
import { formatTime } from '../../api/object/time.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { readClusterSigner } from '../../api/signer/read-signer.ts';
import type { RecordObject } from '../../controllers/ledger/api/object.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { listPages } from '../../kube/watch/list-pages.ts';
import type {
  CertificateSource,
  FoundCertificate,
  Searched,
} from '../../operations/revoking/find-certificates.ts';
import { CLUSTER_SIGNERS } from '../../runtime/signers/cluster-signers.ts';
import { certificateOf, ledgerFault, pagesOf, type Choice } from './ledger-records.ts';

/** Which certificates the ledger is asked for; who asks may choose among them further. */
export interface CertificateQuery {
  readonly namespace?: string | undefined;
  readonly signer?: string | undefined;
  /** Any of them: hexadecimal digits, in any case, with colons or without. */
  readonly serials?: readonly string[] | undefined;
  /** `namespace/name` */
  readonly pod?: string | undefined;
  readonly user?: string | undefined;
  /** A common name, DNS name, address, URI or email address, whole. */
  readonly san?: string | undefined;
  /** `sha256:<64 hexadecimal digits>` */
  readonly ca?: string | undefined;
  /** Only what has not expired at this time, in milliseconds. */
  readonly livingAt?: number | undefined;
  /** Most that are read; 0: all. */
  readonly limit: number;
}

/** Said where no ledger answers: requests do not live for long. */
const NO_LEDGER =
  'no ledger is installed: pods’ requests are gone after 15 minutes, those of people after hours, and with them what is known of their certificates';

/**
 * The records of certificates.
 *
 * @throws (the source) KubeError; SignerError LEDGER_UNAVAILABLE
 */
export function recordedCertificates(client: Client, query: CertificateQuery): CertificateSource {
  return async () => {
    const found = new Map<string, FoundCertificate>();
    for (const choice of choicesOf(query)) {
      for await (const { items } of pagesOf(client, choice, { limit: query.limit })) {
        for (const one of items.flatMap((each) => foundIn(each) ?? [])) found.set(one.source, one);
      }
    }
    return { found: [...found.values()], places: [`the ledger: ${found.size} certificates`] };
  };
}

/**
 * The same, and nothing where no ledger is installed.
 *
 * @throws (the source) SignerError LEDGER_UNAVAILABLE where one is installed and cannot be asked
 */
export function recordedIfInstalled(client: Client, query: CertificateQuery): CertificateSource {
  return async (signers) => {
    try {
      return await recordedCertificates(client, query)(signers);
    } catch (error) {
      const fault = ledgerFault(error);
      if (fault === undefined) throw error;
      if (fault === 'absent') return { found: [], places: [NO_LEDGER] };
      throw new SignerError({
        ...{ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', cause: error },
        message: `${CANNOT_ASK[fault]}, and it may know of certificates that no object has any more. Nothing was written. To go by live objects alone, add --source live`,
      });
    }
  };
}

const CANNOT_ASK = {
  forbidden:
    'you may not read the records of the ledger (get and list on records.ledger.countersign.dev; ClusterRole countersign-ledger-reader has both)',
  unreachable:
    'the ledger is installed and does not answer (kubectl get apiservice v1alpha1.ledger.countersign.dev says why)',
} as const;

/** The first source, or the other one where there is no ledger that this user can ask. */
export async function recordedOrElse(
  recorded: CertificateSource,
  other: CertificateSource,
  signers: readonly ClusterSigner[],
): Promise<Searched> {
  try {
    return await recorded(signers);
  } catch (error) {
    const fault = ledgerFault(error);
    if (fault === undefined) throw error;
    const { found, places } = await other(signers);
    return { found, places: [...places, fault === 'absent' ? NO_LEDGER : CANNOT_ASK[fault]] };
  }
}

/** All ClusterSigners that can be read. @throws KubeError */
export async function clusterSignersOf(client: Client): Promise<readonly ClusterSigner[]> {
  const all: ClusterSigner[] = [];
  await listPages({ client, path: CLUSTER_SIGNERS.collection() }, (object) => {
    const signer = attempt(() => readClusterSigner(object as unknown as KubeObject));
    if (!(signer instanceof SignerError)) all.push(signer);
  });
  return all;
}

/** One search for each: what is found by any of them is meant. */
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
  // Those of the components' own ports have no request, so neither a pod nor a user.
  const kinds = pod === undefined && user === undefined ? ['issued', 'authority'] : ['issued'];
  return kinds.flatMap((kind) =>
    named.flatMap((name) => numbered.map((number) => ({ ...all, ...name, ...number, kind }))),
  );
}

function present<K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, T>);
}

type PodOfRecord = NonNullable<
  Extract<RecordObject['record'], { readonly kind: 'issued' }>['requester']['pod']
>;

/** @returns nothing for a CA: whoever has its certificate is not revoked by a CRL of leaves */
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
  // cert-manager asks for everybody.
  if (record.request.kind === 'CertificateRequest') return of;
  const { user, pod, serviceAccount } = record.requester;
  return { ...of, user: user?.username, pod: pod && withUid(pod), serviceAccount };
}

function withUid({ namespace, name, uid }: PodOfRecord): NonNullable<FoundCertificate['pod']> {
  return { namespace, name, ...present('uid', uid) };
}
