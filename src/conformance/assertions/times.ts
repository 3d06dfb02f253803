// SPDX-License-Identifier: Apache-2.0
/** Asserts the three times of a PodCertificateRequest's status. */
import { parseTime } from '#api/object/time.ts';
import {
  MIN_LIFETIME_SECONDS,
  REFRESH_MARGIN_SECONDS,
} from '#api/request/pod-certificate-request.ts';
import { skip, unless } from '../case.ts';
import { deliveredAt } from '../issued-leaf.ts';
import type { LeafAssertion } from '../snapshot.ts';
import { SKEW_SECONDS, lifetimeOf } from './validity.ts';

/**
 * Passes when `status.notBefore` and `notAfter` equal the leaf's. The API server rejects a status
 * with other times (ValidatePodCertificateRequestStatusUpdate).
 */
export const statusTimesMatchLeaf: LeafAssertion = ({ leaf, version }) => {
  const { notBefore = '', notAfter = '' } = version.times ?? {};
  const same = parseTime(notBefore) === leaf.notBefore && parseTime(notAfter) === leaf.notAfter;
  return unless(
    same
      ? undefined
      : `the leaf has ${iso(leaf.notBefore)} to ${iso(leaf.notAfter)}, the status ${notBefore} to ${notAfter}`,
    `${notBefore} to ${notAfter}`,
  );
};

/** The limit of ValidatePodCertificateRequestStatusUpdate: five minutes, exclusive. */
const NEAR_SECONDS = 300;

/**
 * Passes when notBefore is within five minutes of the API server's clock
 * (ValidatePodCertificateRequestStatusUpdate). The runner sees the certificate after the API server
 * checked it, so there is a tolerance of a minute.
 */
export const startsNearIssuance: LeafAssertion = (issued) => {
  const back = Math.round((deliveredAt(issued) - issued.leaf.notBefore) / 1000);
  return unless(
    back > -NEAR_SECONDS && back < NEAR_SECONDS + SKEW_SECONDS
      ? undefined
      : `notBefore lies ${back} s back`,
    `notBefore lies ${back} s back`,
  );
};

/**
 * Passes when the leaf lives an hour or more, and at most `spec.maxExpirationSeconds`
 * (PodCertificateRequestSpec).
 */
export const hasLifetimeWithinBounds: LeafAssertion = (issued) => {
  const lifetime = lifetimeOf(issued);
  const most = issued.request.requested.lifetimeSeconds ?? Infinity;
  const right = lifetime >= MIN_LIFETIME_SECONDS && lifetime <= most;
  return unless(
    right ? undefined : `${lifetime} s is not from ${MIN_LIFETIME_SECONDS} s to ${most} s`,
    `${lifetime} s of at most ${most} s`,
  );
};

/**
 * Passes when beginRefreshAt is ten minutes or more after notBefore and before notAfter
 * (ValidatePodCertificateRequestStatusUpdate).
 */
export const hasRefreshMargins: LeafAssertion = ({ leaf, version }) => {
  const at = parseTime(version.times?.beginRefreshAt ?? '');
  if (Number.isNaN(at)) return unless('beginRefreshAt is not set', '');
  const [after, before] = [at - leaf.notBefore, leaf.notAfter - at].map((each) => each / 1000);
  const inside = Math.min(after ?? 0, before ?? 0) >= REFRESH_MARGIN_SECONDS;
  const text = `${after ?? 0} s after notBefore, ${before ?? 0} s before notAfter`;
  return unless(inside ? undefined : text, text);
};

/**
 * The least share of the lifetime after the refresh. The kubelet adds up to five minutes of jitter
 * and checks every minute or two, and a signer may be away. KEP-4317's example refreshes at half of
 * the lifetime. Less than a tenth outlives no outage.
 */
const MIN_PART_LEFT = 0.1;

/** Passes when a tenth of the lifetime or more remains after beginRefreshAt. */
export const leavesTimeToRefresh: LeafAssertion = ({ leaf, version }) => {
  const at = parseTime(version.times?.beginRefreshAt ?? '');
  if (Number.isNaN(at)) return skip('beginRefreshAt is not set');
  const left = (leaf.notAfter - at) / (leaf.notAfter - leaf.notBefore);
  const text = `${Math.round(left * 100)} % of the lifetime is left for the refresh`;
  return unless(left >= MIN_PART_LEFT ? undefined : text, text);
};

/**
 * The longest lifetime of kubernetes.io signers: a day (KEP-4317). The API's own maximum limits
 * others.
 */
const DAY_SECONDS = 86_400;

/**
 * Passes when a leaf of a `kubernetes.io` signer lives at most 24 hours
 * (PodCertificateRequestSpec.maxExpirationSeconds). Skips other signers.
 */
export const respectsKubernetesMaximum: LeafAssertion = (issued, { signerName }) => {
  if (!/^(?:[^/]*\.)?kubernetes\.io\//.test(signerName))
    return skip(`${signerName} is not Kubernetes' own`);
  const lifetime = lifetimeOf(issued);
  return unless(lifetime <= DAY_SECONDS ? undefined : `${lifetime} s`, `${lifetime} s`);
};

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
