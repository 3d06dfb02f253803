// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import type { Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import type { AuthorityStatus, ClusterSigner, CrlSpec } from '#api/signer/cluster-signer.ts';
import { revokedSince, type Revocation } from '#api/revocation/revocation.ts';
import type { Authority, OpenAuthority } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificateList, type CertificateList } from '#pki/x509/certificate-list.ts';
import { nextList, type NextList, type RevocationEntry } from '#ca/revocation/next-list.ts';
import {
  listKey,
  publishedEnds,
  publishedList,
  type CrlConfigMap,
} from '#ca/revocation/published.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { heldAuthorities } from './held-authorities.ts';
import * as messages from '../messages.ts';

/** Inputs of the decision on the CRLs of one ClusterSigner. */
export interface CrlSnapshot {
  readonly signer: ClusterSigner;
  readonly crl: CrlSpec;
  readonly secret: Secret;
  /** Undefined if it does not exist yet. */
  readonly configMap: CrlConfigMap | undefined;
  /** Revocations of this signer name. */
  readonly revocations: readonly Revocation[];
  readonly open: OpenAuthority;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** The CRL of one CA: the published one and the next one. */
export interface ListPlan {
  readonly authority: Authority;
  readonly published: CertificateList | undefined;
  readonly next: NextList;
}

export interface CrlPlan {
  readonly lists: readonly ListPlan[];
  /** Fingerprints of the CAs whose key the Secret has, whether they can sign or not. */
  readonly held: ReadonlySet<string>;
  /** Fingerprints of CAs in the ConfigMap that no leaf needs any more. */
  readonly gone: readonly string[];
  /** Reasons why CRLs cannot be signed. */
  readonly faults: readonly string[];
}

const KEY_OF_LIST = /^([0-9a-f]{64})\.crl$/;

/** Decides which CRLs of a ClusterSigner are due. Synchronous and total. */
export function decideLists(snapshot: CrlSnapshot): CrlPlan {
  const { signer, secret, open, now } = snapshot;
  const isDistrusted = distrustedCas(signer);
  const opened = heldAuthorities(secret)
    .filter(({ fingerprint }) => !isDistrusted(fingerprint))
    .map((held) => ({ ...held, authority: attempt(() => open(held.material, now)) }));
  const lists = opened.flatMap(({ authority }) =>
    authority instanceof SignerError ? [] : [planOf(snapshot, authority)],
  );
  const held = new Set(opened.map(({ fingerprint }) => fingerprint));
  const alive = (signer.status?.authorities ?? []).filter(
    ({ phase, fingerprint }) => phase !== 'Distrusted' && !isDistrusted(fingerprint),
  );
  const needed = new Set([...held, ...alive.map(({ fingerprint }) => fingerprint)]);
  const listed = Object.keys(snapshot.configMap?.binaryData ?? {}).flatMap((key) => {
    const hex = KEY_OF_LIST.exec(key)?.[1];
    return hex === undefined ? [] : [`sha256:${hex}`];
  });
  return {
    lists,
    held,
    gone: listed.filter((each) => !needed.has(each)),
    faults: [
      ...opened.flatMap(({ fingerprint, authority }) =>
        // The last leaf of an expired CA has expired with it.
        authority instanceof SignerError && authority.code !== 'AUTHORITY_EXPIRED'
          ? [messages.crlNotSigned(fingerprint, authority.message)]
          : [],
      ),
      ...alive
        .filter(({ phase, fingerprint }) => phase !== 'Prepared' && !held.has(fingerprint))
        .map((each) => withoutKey(each, snapshot.configMap)),
    ],
  };
}

/**
 * Returns the fault of a CA without a key: it retired before profile.crl was set, its Secret was
 * lost, or it is an earlier CA of the owner.
 */
function withoutKey(
  { fingerprint, leavesExpireBy }: AuthorityStatus,
  configMap: CrlConfigMap | undefined,
): string {
  const base64 = configMap?.binaryData?.[listKey(fingerprint)];
  const list = attempt(() => decodeCertificateList(Buffer.from(base64 ?? '', 'base64')));
  const nextUpdate = list instanceof SignerError ? undefined : list.nextUpdate;
  return messages.crlKeyGone(fingerprint, nextUpdate, leavesExpireBy);
}

function planOf(snapshot: CrlSnapshot, authority: Authority): ListPlan {
  const { signer, crl, configMap, revocations, now } = snapshot;
  const { fingerprint, certificate } = authority.facts;
  const published = publishedList(configMap, fingerprint, certificate);
  const next = nextList({
    previous: published,
    ends: publishedEnds(configMap, fingerprint),
    entries: revocations.flatMap((each) => entriesFor(each, fingerprint)),
    knownNumber: revocations.reduce(
      (most, { status }) => Math.max(most, status?.crlNumber ?? 0),
      0,
    ),
    issuer: authority.facts,
    validitySeconds: parseDuration(crl.validity),
    backdateSeconds: parseDuration(signer.spec.profile.backdate),
    now,
  });
  return { authority, published, next };
}

function entriesFor(revocation: Revocation, ca: string): readonly RevocationEntry[] {
  const revokedAt = parseTime(revokedSince(revocation));
  const { spec } = revocation;
  return spec.certificates
    .filter(({ authority }) => authority === undefined || authority === ca)
    .map(({ serial, notAfter }) => ({
      serial,
      revokedAt: Number.isNaN(revokedAt) ? 0 : revokedAt,
      reason: spec.reason,
      notAfter: notAfter === undefined ? undefined : parseTime(notAfter),
    }));
}
