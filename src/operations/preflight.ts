// SPDX-License-Identifier: Apache-2.0
/** Preflight errors that several verbs share. */
import {
  secretOf,
  type AuthorityStatus,
  type ManagedAuthority,
} from '#api/signer/cluster-signer.ts';
import { parseTime, formatTime } from '#api/object/time.ts';
import type { PreflightError } from './change-plan.ts';
import { authoritiesOf, servedSinceOf, type SignerState } from './signer-state.ts';

/**
 * Returns `spec.authority.managed`, or the reason why the verb does not apply: the user manages the
 * CA's Secret.
 */
export function managedAuthorityOf({ signer }: SignerState): ManagedAuthority | string {
  const { managed } = signer.spec.authority;
  if (managed !== undefined) return managed;
  if (signer.spec.authority.keyHolder !== undefined) {
    return `the CA of ${signer.metadata.name} is not managed: its key is in a key holder; to replace the CA, change spec.authority.keyHolder and the key`;
  }
  const { namespace, name } = secretOf(signer.spec);
  return `the CA of ${signer.metadata.name} is not managed: Countersign only reads Secret ${namespace}/${name}; to replace the CA, update that Secret`;
}

/**
 * Returns an error if the authority component has not observed the current generation. The status
 * may then be stale.
 */
export function notObserved({ signer }: SignerState): readonly PreflightError[] {
  const { metadata, status } = signer;
  if (status?.observedGeneration === metadata.generation) return [];
  const message = `the authority component has not observed generation ${metadata.generation ?? 0} of ${metadata.name} yet; check that it is running`;
  return [{ message }];
}

/** Returns an error if no bundle distributes the next CA. Verifiers would reject its leaves. */
export function noBundle({ signer }: SignerState): readonly PreflightError[] {
  if (signer.spec.trustBundle !== undefined) return [];
  const message = `${signer.metadata.name} publishes no bundle (spec.trustBundle): give the next CA to all verifiers before it signs`;
  return [{ message }];
}

/** Returns an error if the rotation would wait, because `maxRetiring` old CAs are still trusted. */
export function tooManyRetiring(
  state: SignerState,
  { maxRetiring }: ManagedAuthority,
): readonly PreflightError[] {
  const old = authoritiesOf(state).filter(({ phase }) => phase === 'Retiring');
  if (old.length < maxRetiring) return [];
  const message = `${old.length} old CAs are still trusted (maxRetiring: ${maxRetiring}); the next CA is created when one of them leaves the bundle, ${firstEnd(old)}`;
  return [{ message }];
}

/**
 * Returns an error if the anchor of the prepared CA has not been published for the propagation
 * time.
 */
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
          'you may not read the bundle, so it is unknown whether the prepared CA is published; you need get on clustertrustbundles.certificates.k8s.io',
      },
    ];
  }
  const since = servedSinceOf(state, next);
  if (since === undefined) {
    const message = `${next.fingerprint} is not in the published bundle yet; check that the attester is running`;
    return [{ message }];
  }
  const from = since + propagationSeconds * 1000;
  if (now >= from) return [];
  const message = `not every kubelet has ${next.fingerprint} yet: it has been published since ${formatTime(since)} and may sign from ${formatTime(from)}`;
  return [{ message }];
}

function firstEnd(old: readonly AuthorityStatus[]): string {
  const ends = old.flatMap(({ leavesExpireBy }) =>
    leavesExpireBy === undefined ? [] : [parseTime(leavesExpireBy)],
  );
  return ends.length === 0 ? 'later' : `after ${formatTime(Math.min(...ends))}`;
}
