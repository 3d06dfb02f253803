// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';

/** When the certificates that pods now have are to be renewed, as far as it was heard. */
export interface Renewals {
  /** A request that was answered: what it was issued is what its pod has from now on. */
  readonly note: (request: PodCertificateRequest) => void;
  /** The end of the certificate that is to be replaced, where that should have been by now. */
  readonly overdue: (request: PodCertificateRequest, now: number) => number | undefined;
}

/** The kubelet calls a renewal overdue so long after beginRefreshAt (podcertificatemanager.go). */
const RENEWAL_OVERDUE_MS = 10 * 60_000;
/**
 * Some 150 bytes each. Beyond, the oldest is forgotten: then its pod waits its turn as others do.
 */
const MAX_NOTED = 50_000;

interface Noted {
  readonly beginRefreshAt: number;
  readonly notAfter: number;
}

export function createRenewals(): Renewals {
  const noted = new BoundedMap<string, Noted>(MAX_NOTED);

  return {
    note: (request) => {
      const { beginRefreshAt, notAfter } = request.status ?? {};
      if (beginRefreshAt === undefined || notAfter === undefined) return;
      const key = keyOf(request);
      const renewal = {
        beginRefreshAt: Date.parse(beginRefreshAt),
        notAfter: Date.parse(notAfter),
      };
      const known = noted.get(key);
      // A list is in no order: an older request of the pod may come behind its newer one.
      if (known !== undefined && known.beginRefreshAt > renewal.beginRefreshAt) return;
      noted.set(key, renewal);
    },
    overdue: (request, now) => {
      const before = noted.get(keyOf(request));
      return before !== undefined && now - before.beginRefreshAt >= RENEWAL_OVERDUE_MS
        ? before.notAfter
        : undefined;
    },
  };
}

/** A pod may have several volumes of one signer: they are told apart as far as a request can. */
function keyOf({ spec }: PodCertificateRequest): string {
  return `${spec.podUID} ${spec.signerName} ${spec.maxExpirationSeconds ?? ''}`;
}
