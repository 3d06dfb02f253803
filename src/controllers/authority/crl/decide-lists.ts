// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '../../../api/object/duration.ts';
import type { Secret } from '../../../api/object/object.ts';
import { parseTime } from '../../../api/object/time.ts';
import type { ClusterSigner, CrlSpec } from '../../../api/signer/cluster-signer.ts';
import type { Revocation } from '../../../api/revocation/revocation.ts';
import type { Authority, OpenAuthority } from '../../../authorities/contract.ts';
import { SignerError, attempt } from '../../../errors.ts';
import type { CertificateList } from '../../../pki/x509/certificate-list.ts';
import { nextList, type NextList, type RevocationEntry } from '../../../revocation/next-list.ts';
import { publishedEnds, publishedList, type CrlConfigMap } from '../../../revocation/published.ts';
import { distrustedCas } from '../../../rotation/distrusted-cas.ts';
import { heldAuthorities } from './held-authorities.ts';

/** All that the CRLs of one ClusterSigner depend on. */
export interface CrlSnapshot {
  readonly signer: ClusterSigner;
  readonly crl: CrlSpec;
  readonly secret: Secret;
  /** Undefined: there is none yet. */
  readonly configMap: CrlConfigMap | undefined;
  /** Of this signer name. */
  readonly revocations: readonly Revocation[];
  readonly open: OpenAuthority;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** The CRL of one CA: what is published, and what is to be signed. */
export interface ListPlan {
  readonly authority: Authority;
  readonly published: CertificateList | undefined;
  readonly next: NextList;
}

export interface CrlPlan {
  readonly lists: readonly ListPlan[];
  /** CAs of the ConfigMap that no leaf needs any more: fingerprints. */
  readonly gone: readonly string[];
  /** Why the CRL of a CA cannot be signed. */
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
    gone: listed.filter((each) => !needed.has(each)),
    faults: [
      ...opened.flatMap(({ fingerprint, authority }) =>
        // Its last leaf has expired with it.
        authority instanceof SignerError && authority.code !== 'AUTHORITY_EXPIRED'
          ? [`the CRL of ${fingerprint} cannot be signed: ${authority.message}`]
          : [],
      ),
      ...alive
        .filter(({ phase, fingerprint }) => phase === 'Retiring' && !held.has(fingerprint))
        .map(({ fingerprint, leavesExpireBy = '' }) => withoutKey(fingerprint, leavesExpireBy)),
    ],
  };
}

/** A CA that retired before profile.crl was set, one whose Secret was lost, or an earlier one of the owner's own. */
function withoutKey(fingerprint: string, until: string): string {
  return `the CRL of ${fingerprint}, which retires, cannot be signed: its key is gone; verifiers that check CRLs refuse its leaves until they are renewed, by ${until} at the latest`;
}

function planOf(snapshot: CrlSnapshot, authority: Authority): ListPlan {
  const { signer, crl, configMap, revocations, now } = snapshot;
  const { fingerprint, certificate } = authority.facts;
  const published = publishedList(configMap, fingerprint, certificate);
  const next = nextList({
    previous: published,
    ends: publishedEnds(configMap, fingerprint),
    entries: revocations.flatMap((each) => entriesFor(each, fingerprint)),
    knownNumber: Math.max(0, ...revocations.map(({ status }) => status?.crlNumber ?? 0)),
    issuer: authority.facts,
    validitySeconds: parseDuration(crl.validity),
    backdateSeconds: parseDuration(signer.spec.profile.backdate),
    now,
  });
  return { authority, published, next };
}

function entriesFor({ metadata, spec }: Revocation, ca: string): readonly RevocationEntry[] {
  const revokedAt = parseTime(spec.revokedAt ?? metadata.creationTimestamp);
  return spec.certificates
    .filter(({ authority }) => authority === undefined || authority === ca)
    .map(({ serial, notAfter }) => ({
      serial,
      revokedAt: Number.isNaN(revokedAt) ? 0 : revokedAt,
      reason: spec.reason,
      notAfter: notAfter === undefined ? undefined : parseTime(notAfter),
    }));
}
