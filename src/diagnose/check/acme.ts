// SPDX-License-Identifier: Apache-2.0
/** Checks of ACME signers and their Orders. Pure: facts in, outcomes out. */
import { needsSolver, type AcmeSigner } from '#api/acme/acme-signer.ts';
import { CA_UNUSABLE, WRONG_CERTIFICATE } from '#api/acme/order.ts';
import { formatDuration } from '#api/object/duration.ts';
import { keyOf } from '#api/object/object.ts';
import { findCondition } from '#api/request/conditions.ts';
import { shellWord } from '#base/quote.ts';
import type { AcmeFacts, InstallationFacts, NewestOrder } from './facts.ts';
import { allWell, error, finalError, ok, warning, whereSeen, type Outcome } from './finding.ts';
import { enableComponent } from './installer.ts';

/** Age from which a pending Order gets a warning. Checks of a name and most CAs take less time. */
const SLOW_MS = 10 * 60_000;

/** Delay after `nextAttemptAt` from which the check reports that acme does not run. */
const OVERDUE_MS = 120_000;

/** Maximum number of Orders that are named. The others are counted. */
const SHOWN_ORDERS = 5;

const NONE = 'there is no ACME signer';

function judged(
  { acme }: InstallationFacts,
  judge: (facts: AcmeFacts) => readonly Outcome[],
): readonly Outcome[] {
  return whereSeen(acme, (facts) =>
    facts.signers.length + facts.invalid.length === 0 ? [ok(NONE)] : judge(facts),
  );
}

const subjectOf = ({ kind, metadata }: AcmeSigner): string =>
  `${kind.toLowerCase()}/${keyOf(metadata)}`;

/** `acme-components-there` */
export function checkAcmeComponents(facts: InstallationFacts): readonly Outcome[] {
  return judged(facts, ({ signers }) =>
    whereSeen(facts.deployments, (deployments) => {
      // Components that run elsewhere have Leases: see components-running.
      if (deployments.length === 0)
        return [ok('no component runs as a Deployment in this namespace')];
      const solvers = signers.flatMap(({ spec }) => spec.acme.solvers);
      const wanted: readonly (readonly [string, string])[] = [
        ['acme', 'Orders are made by it, and nothing is issued without it'],
        ...(solvers.some(needsSolver)
          ? ([['acme-solver', 'solvers with routes or DNS records need it']] as const)
          : []),
        ...(solvers.some(({ http01 }) => http01 !== undefined)
          ? ([['acme-responder', 'solvers of http01 need it']] as const)
          : []),
      ];
      return allWell(
        wanted
          .filter(([name]) => !deployments.some(({ component }) => component === name))
          .map(([name, why]) =>
            error(
              `there is none, and ${why}`,
              enableComponent(facts.installer, name),
              `deployment/countersign-${name}`,
            ),
          ),
        `${wanted.map(([name]) => name).join(', ')} are there for the solvers of the ACME signers`,
      );
    }),
  );
}

/** `acme-signers-ready` */
export function checkAcmeSigners(facts: InstallationFacts): readonly Outcome[] {
  return judged(facts, ({ signers, invalid }) =>
    allWell(
      [
        ...invalid.map(({ name, why }) => error(why, 'correct the field that is named', name)),
        ...signers.flatMap(notReady),
      ],
      `all ${signers.length} ACME signers are Ready`,
    ),
  );
}

function notReady(signer: AcmeSigner): readonly Outcome[] {
  const { kind, metadata, status } = signer;
  const subject = subjectOf(signer);
  const ready = findCondition(status.conditions, 'Ready');
  if (ready === undefined || status.observedGeneration !== metadata.generation) {
    return [error('acme has not looked at its spec yet', 'check that acme runs', subject)];
  }
  if (ready.status === 'True') return [];
  const where = metadata.namespace === undefined ? '' : ` -n ${metadata.namespace}`;
  const remediation = `countersign explain ${kind.toLowerCase()}/${metadata.name}${where}`;
  return [error(`${ready.reason ?? 'Unknown'}: ${ready.message ?? ''}`, remediation, subject)];
}

/** `acme-orders-progress` */
export function checkAcmeOrders(facts: InstallationFacts): readonly Outcome[] {
  return judged(facts, ({ orders }) =>
    whereSeen(orders, (all) => {
      const bad = all.filter(({ isIssued }) => !isIssued).flatMap((each) => stuck(each, facts.now));
      return allWell(withCounted(bad), 'the latest Order of every request is progressing');
    }),
  );
}

/** Returns the first outcomes, and one that counts the others. It is final if all of them are. */
function withCounted(bad: readonly Outcome[]): readonly Outcome[] {
  const [named, others] = [bad.slice(0, SHOWN_ORDERS), bad.slice(SHOWN_ORDERS)];
  const [first] = named;
  if (first === undefined || others.length === 0) return named;
  const { isFinal: _ofFirst, ...like } = first;
  const counted = { ...like, subject: `${others.length} more`, why: 'they wait or ended as well' };
  const isFinal = others.every((each) => each.isFinal === true);
  return [...named, isFinal ? { ...counted, isFinal } : counted];
}

/** Returns when another Order follows one that is invalid. */
function nextOrder(reason: string | undefined): string {
  if (reason === WRONG_CERTIFICATE) return 'no other follows until its signer changes';
  return reason === CA_UNUSABLE
    ? 'the signer tries the CA again after 1 to 24 hours, or when it changes'
    : 'another follows';
}

function stuck(order: NewestOrder, now: number): readonly Outcome[] {
  const { name, namespace, state, since, nextAttemptAt, reason } = order;
  const { why = 'no reason is given' } = order;
  const subject = `order/${name}`;
  const remediation = `countersign explain ${shellWord(subject)} -n ${namespace}`;
  if (state === 'failed')
    return [finalError(`it failed, and no other is made: ${why}`, remediation, subject)];
  if (state === 'invalid')
    return [
      warning(`it ended without a certificate: ${why}; ${nextOrder(reason)}`, remediation, subject),
    ];
  if (nextAttemptAt !== undefined && now - nextAttemptAt > OVERDUE_MS) {
    const seconds = Math.round((now - nextAttemptAt) / 1000);
    return [
      error(`its next attempt is overdue by ${seconds} s: does acme run?`, remediation, subject),
    ];
  }
  if (now - since <= SLOW_MS) return [];
  const waited = formatDuration(Math.round((now - since) / 60_000) * 60);
  return [warning(`it has waited for ${waited}: ${why}`, remediation, subject)];
}
