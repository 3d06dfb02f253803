// SPDX-License-Identifier: Apache-2.0
/** From when and until when. */
import { skip, unless } from '../case.ts';
import type { Issued } from '../issued-leaf.ts';
import type { LeafLaw } from '../snapshot.ts';

/** Upstream's own tests allow so much for backdating (test/e2e/auth/certificates.go). */
const BACKDATE_SECONDS = 300;

/** Clocks of the kit, the signer and the API server may differ by this. */
const SKEW_SECONDS = 60;

/** Between notBefore and notAfter. */
export function lifetimeOf({ leaf }: Pick<Issued, 'leaf'>): number {
  return Math.round((leaf.notAfter - leaf.notBefore) / 1000);
}

export const livesNoLongerThanAsked: LeafLaw = (issued) => {
  const asked = issued.trial.asked.lifetimeSeconds;
  if (asked === undefined) return skip('the request asks for no lifetime');
  const lifetime = lifetimeOf(issued);
  return unless(
    lifetime <= asked + BACKDATE_SECONDS
      ? undefined
      : `${lifetime} s, but ${asked} s were asked for`,
    `${lifetime} s of ${asked} s`,
  );
};

export const livesNoLongerThanProfile: LeafLaw = (issued, { profile }) => {
  const most = profile.maxDuration;
  if (most === undefined) return skip('the profile names no maxDuration');
  const lifetime = lifetimeOf(issued);
  return unless(
    lifetime <= most + BACKDATE_SECONDS ? undefined : `${lifetime} s, but the most is ${most} s`,
    `${lifetime} s, at most ${most} s`,
  );
};

/** Exactly, as upstream's tests of projected volumes ask; less where the profile allows less. */
export const livesAsLongAsAsked: LeafLaw = (issued, { profile }) => {
  const asked = issued.trial.asked.lifetimeSeconds ?? 0;
  const wanted = Math.min(asked, profile.maxDuration ?? asked);
  const lifetime = lifetimeOf(issued);
  return unless(
    lifetime === wanted ? undefined : `${lifetime} s, not ${wanted} s`,
    `${lifetime} s`,
  );
};

export const isValidAtDelivery: LeafLaw = ({ leaf, trial }) => {
  const early = Math.round((leaf.notBefore - trial.endedAt) / 1000);
  if (early > SKEW_SECONDS) return unless(`it is valid only in ${early} s`, '');
  return unless(
    leaf.notAfter > trial.endedAt ? undefined : 'it has expired already',
    `valid since ${-early} s`,
  );
};

/** An hour of backdating helps no clock, and makes a leaf older than the decision about it. */
const MOST_BACKDATE_SECONDS = 3600;

export const isBackdatedLittle: LeafLaw = ({ leaf, trial }) => {
  const back = Math.round((trial.endedAt - leaf.notBefore) / 1000);
  return unless(
    back <= MOST_BACKDATE_SECONDS ? undefined : `notBefore lies ${back} s back`,
    `notBefore lies ${back} s back`,
  );
};
