// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { KEY_LOST } from '#api/serving/report.ts';
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { CA_BACKDATE_SECONDS } from '#ca/issuance/ca-certificate.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { servedBy } from '#requests/ca/anchor-gate.ts';
import type { SignerSnapshot } from './snapshot.ts';

/** Error of the estimated clock of the API server, whose Date header has whole seconds. */
const CLOCK_GRAIN_MS = 2_000;

/**
 * Returns the Active CA that `current` replaces and whose key no component has. Components keep the
 * CA that they signed with while the Secret exists, whatever it holds, and drop it with the Secret.
 *
 * @param current - the CA in `tls.*`, which does not sign yet
 * @returns undefined if components may still hold the key
 */
export function lostAuthority(
  { signer, secret, bundle }: SignerSnapshot,
  current: AuthorityFacts,
  authorities: readonly AuthorityStatus[],
): AuthorityStatus | undefined {
  const replaced = authorities.find(({ phase }) => phase === 'Active');
  if (replaced === undefined || secret.kind !== 'found') return undefined;
  const reason = readyReason(signer);
  if (reason === KEY_LOST) return replaced;
  const isLost = isMadeByAuthority(signer)
    ? isMadeWith(secret.secret, current)
    : reason === 'SecretNotFound' ||
      (CONTENT_WAS_MISSING.has(reason) && isMadeAfter(secret.secret, replaced, bundle));
  return isLost ? replaced : undefined;
}

function readyReason({ status }: SignerSnapshot['signer']): string {
  return findCondition(status?.conditions, 'Ready')?.reason ?? '';
}

/** Reasons for a Secret without a CA or consent. Its owner may have completed the same Secret. */
const CONTENT_WAS_MISSING: ReadonlySet<string> = new Set([
  'AwaitingCertificate',
  'SecretNotGranted',
]);

/** Reports whether `authority` makes the whole CA, not only its key. */
function isMadeByAuthority({ spec: { authority } }: SignerSnapshot['signer']): boolean {
  return authority.managed !== undefined && authority.managed.upstream === undefined;
}

/** Reports whether the Secret was created with this CA in it, as after its deletion. */
function isMadeWith({ metadata }: Secret, { notBefore }: AuthorityFacts): boolean {
  const bornAt = notBefore + CA_BACKDATE_SECONDS * 1000;
  return parseTime(metadata.creationTimestamp) + CLOCK_GRAIN_MS >= bornAt;
}

/** Reports whether the anchors of the CA were published before the Secret was created. */
function isMadeAfter(
  { metadata }: Secret,
  { anchors = '' }: AuthorityStatus,
  bundle: SignerSnapshot['bundle'],
): boolean {
  const { servedSince } = servedBy(bundle);
  const times = [...anchorFingerprints(anchors)].flatMap((each) => servedSince.get(each) ?? []);
  return times.some((since) => since < parseTime(metadata.creationTimestamp));
}
