// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';

/** When the current certificates of pods are due for renewal, as far as the watch has shown it. */
export interface Renewals {
  /** Records an answered request: its pod has the issued certificate from now on. */
  readonly note: (request: PodCertificateRequest) => void;
  /** The notAfter of the certificate to replace, if its renewal should have happened by now. */
  readonly overdue: (request: PodCertificateRequest, now: number) => number | undefined;
}

/** The kubelet calls a renewal overdue this long after beginRefreshAt (podcertificatemanager.go). */
const RENEWAL_OVERDUE_MS = 10 * 60_000;
/**
 * Some 150 bytes each. Above this number the oldest is dropped: its pod then waits its turn like the others.
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
      // A list has no order: an older request of the pod may follow its newer one.
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

/** A pod may have several volumes of one signer: the key distinguishes them as far as a request can. */
function keyOf({ spec }: PodCertificateRequest): string {
  return `${spec.podUID} ${spec.signerName} ${spec.maxExpirationSeconds ?? ''}`;
}
