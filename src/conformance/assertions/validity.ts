// SPDX-License-Identifier: Apache-2.0
/** Asserts the validity of a leaf. */
import { MIN_LIFETIME_SECONDS } from '#api/request/pod-certificate-request.ts';
import { skip, unless } from '../case.ts';
import { deliveredAt, type IssuedLeaf } from '../issued-leaf.ts';
import type { LeafAssertion } from '../snapshot.ts';

/** The backdating that upstream's own tests allow (test/e2e/auth/certificates.go). */
const BACKDATE_SECONDS = 300;

/** The tolerance between the clocks of the runner, the signer and the API server. */
export const SKEW_SECONDS = 60;

const NO_MAXIMUM = 'the profile names no maxDuration';

/** Returns the whole seconds from notBefore to notAfter. */
export function lifetimeOf({ leaf }: Pick<IssuedLeaf, 'leaf'>): number {
  return Math.round((leaf.notAfter - leaf.notBefore) / 1000);
}

/**
 * Passes when the leaf lives no longer than requested, plus five minutes of backdating. Skips
 * requests without a lifetime.
 */
export const isWithinRequestedLifetime: LeafAssertion = (issued) => {
  const requested = issued.request.requested.lifetimeSeconds;
  if (requested === undefined) return skip('the request has no lifetime');
  const lifetime = lifetimeOf(issued);
  return unless(
    lifetime <= requested + BACKDATE_SECONDS
      ? undefined
      : `${lifetime} s, but ${requested} s were requested`,
    `${lifetime} s of ${requested} s`,
  );
};

/**
 * Passes when the leaf lives no longer than `profile.maxDuration` seconds, plus five minutes of
 * backdating.
 */
export const isWithinProfileLifetime: LeafAssertion = (issued, { profile }) => {
  const most = profile.maxDuration;
  if (most === undefined) return skip(NO_MAXIMUM);
  const lifetime = lifetimeOf(issued);
  return unless(
    lifetime <= most + BACKDATE_SECONDS ? undefined : `${lifetime} s, but the most is ${most} s`,
    `${lifetime} s, at most ${most} s`,
  );
};

/**
 * Passes when the leaf of a pod lives exactly as long as requested, as upstream's tests of
 * projected volumes demand, or `profile.maxDuration` if that is shorter. The API lets a signer
 * issue a shorter leaf of an hour or more, so the case is skipped if the profile does not state the
 * maximum.
 */
export const hasExactLifetime: LeafAssertion = (issued, { profile }) => {
  const requested = issued.request.requested.lifetimeSeconds ?? 0;
  const wanted = Math.min(requested, profile.maxDuration ?? requested);
  const lifetime = lifetimeOf(issued);
  const isShorter = lifetime < wanted && lifetime >= MIN_LIFETIME_SECONDS;
  if (isShorter && profile.maxDuration === undefined) return skip(`${lifetime} s; ${NO_MAXIMUM}`);
  return unless(
    lifetime === wanted ? undefined : `${lifetime} s, not ${wanted} s`,
    `${lifetime} s`,
  );
};

/**
 * Passes when the leaf is valid by the API server's time when it was delivered, with a tolerance of
 * a minute before notBefore.
 */
export const isValidAtDelivery: LeafAssertion = (issued) => {
  const { leaf } = issued;
  const now = deliveredAt(issued);
  const early = Math.round((leaf.notBefore - now) / 1000);
  if (early > SKEW_SECONDS) return unless(`it is valid only in ${early} s`, '');
  return unless(
    leaf.notAfter > now ? undefined : 'it has expired already',
    `valid since ${-early} s`,
  );
};

/**
 * The limit of backdating. An hour more helps no clock, and makes a leaf older than the decision
 * about it.
 */
const MAX_TOLERATED_BACKDATE_SECONDS = 3600;

/**
 * Passes when notBefore is at most an hour before the delivery, by the API server's clock, with a
 * tolerance of a minute for the way from the signer.
 */
export const isBackdatedAtMostAnHour: LeafAssertion = (issued) => {
  const back = Math.round((deliveredAt(issued) - issued.leaf.notBefore) / 1000);
  return unless(
    back <= MAX_TOLERATED_BACKDATE_SECONDS + SKEW_SECONDS
      ? undefined
      : `notBefore lies ${back} s back`,
    `notBefore lies ${back} s back`,
  );
};
