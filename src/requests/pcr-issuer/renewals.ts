// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Expiries, KnownCertificate } from '../issuing/expiries.ts';

/** Renewal times of the pods' current certificates, as far as the watch has shown them. */
export interface Renewals {
  /** Records a completed request: its pod has the issued certificate, or keeps the previous one. */
  readonly note: (request: PodCertificateRequest) => void;
  /** Returns the notAfter of the certificate to replace, if its renewal is overdue. */
  readonly overdue: (request: PodCertificateRequest, now: number) => number | undefined;
  /** Returns the notAfter of the certificate to replace, while it is valid. */
  readonly replaces: (request: PodCertificateRequest, now: number) => number | undefined;
}

/**
 * The kubelet calls a renewal overdue this long after beginRefreshAt (podcertificatemanager.go).
 */
const RENEWAL_OVERDUE_MS = 10 * 60_000;

export function createRenewals(expiries: Expiries): Renewals {
  const before = (request: PodCertificateRequest): KnownCertificate | undefined =>
    expiries.get(keyOf(request));

  return {
    note: (request) => {
      const { metadata, spec, status = {} } = request;
      const askedAt = Date.parse(metadata.creationTimestamp);
      const { beginRefreshAt, notAfter, conditions } = status;
      if (findCondition(conditions, 'Issued') === undefined) {
        expiries.refused(keyOf(request), askedAt);
      } else if (beginRefreshAt !== undefined && notAfter !== undefined) {
        const { signerName: signer, serviceAccountName: owner } = spec;
        expiries.issued(
          keyOf(request),
          { signer, namespace: metadata.namespace ?? '', owner },
          {
            askedAt,
            notAfter: Date.parse(notAfter),
            beginRefreshAt: Date.parse(beginRefreshAt),
          },
        );
      }
    },
    overdue: (request, now) => {
      const { beginRefreshAt = Infinity, notAfter } = before(request) ?? {};
      return now - beginRefreshAt >= RENEWAL_OVERDUE_MS ? notAfter : undefined;
    },
    replaces: (request, now) => {
      const { notAfter = 0 } = before(request) ?? {};
      return notAfter > now ? notAfter : undefined;
    },
  };
}

/** Returns a key that distinguishes the volumes of one signer in a pod as far as a request can. */
function keyOf({ spec }: PodCertificateRequest): string {
  return `${spec.podUID} ${spec.signerName} ${spec.maxExpirationSeconds ?? ''}`;
}
