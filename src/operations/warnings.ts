// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../api/signer/cluster-signer.ts';
import { findCondition } from '../api/request/conditions.ts';
import { formatTime, parseTime } from '../api/object/time.ts';
import { askedOf, awaitedSince } from '../rotation/asked.ts';
import { unheard } from './objections.ts';
import { settlesAt } from './settled.ts';
import {
  authoritiesOf,
  otherAnchors,
  published,
  servedSinceOf,
  type Situation,
} from './situation.ts';

/** What somebody should know of a ClusterSigner's CAs, or do about them. */
export function warningsOf(situation: Situation): readonly string[] {
  return [
    ...unheard(situation).map(({ message }) => message),
    ...notReady(situation),
    ...rotating(situation),
    ...asked(situation),
    ...awaited(situation),
    ...ofBundle(situation),
    ...ofDistrust(situation),
    ...authoritiesOf(situation).flatMap((each) => ofAuthority(situation, each)),
  ];
}

function notReady({ signer }: Situation): readonly string[] {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready === undefined) return ['it has no condition Ready: no authority component serves it'];
  return ready.status === 'True'
    ? []
    : [`not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`];
}

function rotating({ signer }: Situation): readonly string[] {
  return ['RotationDue', 'Rotating', 'Degraded'].flatMap((type) => {
    const found = findCondition(signer.status?.conditions, type);
    return found?.status === 'True'
      ? [`${type}: ${found.reason ?? ''}: ${found.message ?? ''}`]
      : [];
  });
}

function asked({ signer, now }: Situation): readonly string[] {
  const { rotateAt, prepareAt, unread } = askedOf(signer);
  const plans: [string, number | undefined][] = [
    ['a rotation', rotateAt],
    ['a successor', prepareAt],
  ];
  return [
    ...unread.map((name) => `the annotation ${name} is no RFC 3339 time, and does nothing`),
    ...plans.flatMap(([what, at]) =>
      at !== undefined && at > now ? [`${what} is asked for at ${formatTime(at)}`] : [],
    ),
  ];
}

/** An order that is not carried out yet is no fault, but nobody is to wonder. */
function awaited(situation: Situation): readonly string[] {
  const { signer, now } = situation;
  const since = awaitedSince(signer, authoritiesOf(situation), now);
  if (since === undefined) return [];
  const from = settlesAt(situation);
  const why =
    from === undefined
      ? `the condition RotationDue says why, if it is not there soon: kubectl describe clustersigner ${signer.metadata.name}`
      : `it is made from ${from} on, when the CA that signs now has been published long enough`;
  return [`a successor was asked for at ${formatTime(since)}, and is not there yet; ${why}`];
}

function ofBundle(situation: Situation): readonly string[] {
  const { signer, bundle } = situation;
  if (signer.spec.trustBundle === undefined) return [];
  if (bundle === 'unread')
    return [
      'you may not read the bundle (get on clustertrustbundles.certificates.k8s.io): since when it is served is not known',
    ];
  if (bundle === undefined) return ['its bundle is not published; is the attester running?'];
  return otherAnchors(situation).map(
    (each) => `the bundle holds ${each}, of an earlier ClusterSigner or a stranger`,
  );
}

function ofDistrust(situation: Situation): readonly string[] {
  const served = published(situation);
  const { distrusted = [] } = situation.signer.spec.authority.managed ?? {};
  return distrusted
    .filter((each) => served.has(each))
    .map((each) => `${each} is distrusted and still in the bundle; is the attester running?`);
}

function ofAuthority(situation: Situation, authority: AuthorityStatus): readonly string[] {
  const { fingerprint, phase, notAfter } = authority;
  const { signer, bundle, now } = situation;
  if (phase === 'Distrusted') return [];
  const warnings: string[] = [];
  if (parseTime(notAfter) <= now) warnings.push(`${fingerprint} has expired`);
  const isWatched = signer.spec.trustBundle !== undefined && typeof bundle === 'object';
  if (isWatched && servedSinceOf(situation, authority) === undefined) {
    warnings.push(`${fingerprint} (${phase}) is not in the published bundle`);
  }
  return warnings;
}
