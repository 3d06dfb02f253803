// SPDX-License-Identifier: Apache-2.0
/** Checks of CRLs and Revocations. Pure: facts in, outcomes out. */
import { parseTime } from '#api/object/time.ts';
import { findCondition } from '#api/request/conditions.ts';
import { LISTED } from '#api/revocation/names.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { CRL_NOT_SIGNED } from '#api/serving/report.ts';
import { shellWord } from '#base/quote.ts';
import { revocationsInForce } from '#operations/pods/leaf-trust.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, error, whereSeen, type Outcome } from './finding.ts';
import { reportedFaults } from './installation.ts';

/** Age from which a Revocation that no CRL lists is overdue. */
const OVERDUE_MS = 120_000;

/** `crls-signed` */
export function checkCrls({ leases, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(leases, (all) => {
    const outcomes = reportedFaults(all, now)
      .filter(({ fault }) => fault.reason === CRL_NOT_SIGNED)
      .flatMap(({ fault: { message, signers = [] } }) =>
        signers.map((name) =>
          error(message, `countersign authority show ${shellWord(name)}`, `clustersigner/${name}`),
        ),
      );
    // Replicas report the same fault.
    const unique = new Map(outcomes.map((each) => [JSON.stringify(each), each]));
    return allWell([...unique.values()], 'no component reports a CRL that cannot be signed');
  });
}

/** `revocations-listed` */
export function checkRevocations({
  pods,
  signers,
  ...facts
}: InstallationFacts): readonly Outcome[] {
  return whereSeen(pods, ({ revocations }) =>
    whereSeen(signers, ({ states }) => {
      const listed = states.filter(({ signer }) => signer.spec.profile.crl !== undefined);
      return allWell(
        listed.flatMap((state) =>
          revocationsInForce(revocations, state).flatMap((each) => unlisted(each, facts)),
        ),
        'every Revocation of a signer with profile.crl is on a CRL',
      );
    }),
  );
}

function unlisted(
  { metadata, status }: Revocation,
  { now, namespace }: Pick<InstallationFacts, 'now' | 'namespace'>,
): readonly Outcome[] {
  const found = findCondition(status?.conditions, LISTED);
  const age = now - parseTime(metadata.creationTimestamp);
  if (found?.status === 'True' || (found === undefined && age <= OVERDUE_MS)) return [];
  const cause = found?.message ?? 'authority has not listed them yet';
  const subject = `revocation/${metadata.name}`;
  const remediation =
    found === undefined
      ? `kubectl -n ${shellWord(namespace)} logs deployment/countersign-authority`
      : 'countersign check --explain revocations-listed';
  const why = `CRLs do not list all of its certificates, and verifiers accept the missing ones: ${cause}`;
  return [error(why, remediation, subject)];
}
