// SPDX-License-Identifier: Apache-2.0
/** Objections that several verbs have. */
import {
  secretOf,
  type AuthorityStatus,
  type ManagedAuthority,
} from '../api/signer/cluster-signer.ts';
import { parseTime, formatTime } from '../api/object/time.ts';
import type { PreflightError } from './change-plan.ts';
import { authoritiesOf, servedSinceOf, type SignerState } from './signer-state.ts';

/** The `managed` member, or words for whoever keeps the CA's Secret himself. */
export function managedAuthorityOf({ signer }: SignerState): ManagedAuthority | string {
  const { managed } = signer.spec.authority;
  if (managed !== undefined) return managed;
  const { namespace, name } = secretOf(signer.spec);
  return `the CA of ${signer.metadata.name} is your own: Countersign only reads Secret ${namespace}/${name}; put another CA into it yourself`;
}

/** Nobody would carry it out, or what the status says is of yesterday. */
export function notObserved({ signer }: SignerState): readonly PreflightError[] {
  const { metadata, status } = signer;
  if (status?.observedGeneration === metadata.generation) return [];
  const message = `the authority component has not looked at generation ${metadata.generation ?? 0} of ${metadata.name} yet; is it running?`;
  return [{ message }];
}

/** Verifiers would meet a CA that nobody told them of. */
export function noBundle({ signer }: SignerState): readonly PreflightError[] {
  if (signer.spec.trustBundle !== undefined) return [];
  const message = `${signer.metadata.name} publishes no bundle (spec.trustBundle): whoever verifies its leaves must learn the next CA in another way first`;
  return [{ message }];
}

/** A rotation waits while so many old CAs are still trusted. */
export function tooManyRetiring(
  state: SignerState,
  { maxRetiring }: ManagedAuthority,
): readonly PreflightError[] {
  const old = authoritiesOf(state).filter(({ phase }) => phase === 'Retiring');
  if (old.length < maxRetiring) return [];
  const message = `${old.length} old CAs are still trusted (maxRetiring: ${maxRetiring}); the next one is made when one of them is gone, ${firstEnd(old)}`;
  return [{ message }];
}

/** Its anchor is not known to every kubelet yet. */
export function notPropagated(
  state: SignerState,
  next: AuthorityStatus,
): readonly PreflightError[] {
  const { signer, bundle, propagationSeconds, now } = state;
  if (signer.spec.trustBundle === undefined) return [];
  if (bundle === 'unread') {
    return [
      {
        message:
          'you may not read the bundle (get on clustertrustbundles.certificates.k8s.io), so nobody here knows whether it is served',
      },
    ];
  }
  const since = servedSinceOf(state, next);
  if (since === undefined) {
    const message = `${next.fingerprint} is not in the published bundle yet; is the attester running?`;
    return [{ message }];
  }
  const from = since + propagationSeconds * 1000;
  if (now >= from) return [];
  const message = `not every kubelet has ${next.fingerprint} yet: it is served since ${formatTime(since)}, and may sign from ${formatTime(from)}`;
  return [{ message }];
}

function firstEnd(old: readonly AuthorityStatus[]): string {
  const ends = old.flatMap(({ leavesExpireBy }) =>
    leavesExpireBy === undefined ? [] : [parseTime(leavesExpireBy)],
  );
  return ends.length === 0 ? 'later' : `after ${formatTime(Math.min(...ends))}`;
}
