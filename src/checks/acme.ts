// SPDX-License-Identifier: Apache-2.0
/** Checks of ACME signers and their Orders. Pure: facts in, outcomes out. */
import { needsSolver, type AcmeSigner } from '../api/acme/index.ts';
import { keyOf } from '../api/object/object.ts';
import { findCondition } from '../api/request/conditions.ts';
import { shellWord } from '../quote.ts';
import type { AcmeFacts, InstallationFacts, NewestOrder } from './facts.ts';
import { allWell, error, ok, warning, whereSeen, type Outcome } from './finding.ts';

/** Longer than a look at a name takes, and than most CAs need. */
const SLOW_MS = 10 * 60_000;

/** An attempt that is so much overdue is nobody's any more. */
const OVERDUE_MS = 120_000;

/** Orders that are named one by one; the others are counted. */
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
      // Components that run elsewhere are known by their Leases: see components-running.
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
              `helm upgrade … --set components.${name}.enabled=true, or countersign manifests with this value`,
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
  const todo = `countersign explain ${kind.toLowerCase()}/${metadata.name}${where}`;
  return [error(`${ready.reason ?? 'Unknown'}: ${ready.message ?? ''}`, todo, subject)];
}

/** `acme-orders-progress` */
export function checkAcmeOrders(facts: InstallationFacts): readonly Outcome[] {
  return judged(facts, ({ orders }) =>
    whereSeen(orders, (all) => {
      const bad = all.filter(({ isIssued }) => !isIssued).flatMap((each) => stuck(each, facts.now));
      const named = bad.slice(0, SHOWN_ORDERS);
      const [first] = named;
      const rest = bad.length - named.length;
      const more =
        first === undefined || rest <= 0
          ? []
          : [{ ...first, subject: `${rest} more`, why: 'they wait or ended as well' }];
      return allWell([...named, ...more], 'the newest Order of every request goes on');
    }),
  );
}

function stuck(order: NewestOrder, now: number): readonly Outcome[] {
  const { name, namespace, state, since, nextAttemptAt, why = 'no reason is given' } = order;
  const subject = `order/${name}`;
  const todo = `countersign explain ${shellWord(subject)} -n ${namespace}`;
  if (state === 'failed') return [error(`it failed, and no other is made: ${why}`, todo, subject)];
  if (state === 'invalid')
    return [warning(`it ended without a certificate: ${why}; another follows`, todo, subject)];
  if (nextAttemptAt !== undefined && now - nextAttemptAt > OVERDUE_MS) {
    const seconds = Math.round((now - nextAttemptAt) / 1000);
    return [error(`its next attempt is overdue by ${seconds} s: does acme run?`, todo, subject)];
  }
  if (now - since <= SLOW_MS) return [];
  const minutes = Math.round((now - since) / 60_000);
  return [warning(`it waits for ${minutes} minutes: ${why}`, todo, subject)];
}
