// SPDX-License-Identifier: Apache-2.0
/** What the value `ledger` must not say, and what the ledger is told of it. */
import { usageError } from '../../errors.ts';
import { checkpointArguments } from '../checkpoint-arguments.ts';
import { COMPONENTS } from '../components.ts';
import type { OptionalParts } from '../installation-plan.ts';
import { postgresArguments } from '../ledger-database.ts';
import { checkNamespace, isObjectName } from './check-names.ts';
import type { InstallationValues } from './schema.ts';

/**
 * Refuses what the ledger cannot be told. The chart says the same: build/chart/_checks-ledger.tpl.
 *
 * @param notThere - namespaces of components, of keys, and of Kubernetes itself
 * @throws SignerError USAGE
 */
export function checkLedger(values: InstallationValues, notThere: readonly string[]): void {
  const { postgres: database, monitoredSecrets } = values.ledger;
  checkFacts(values);
  if (database.secret === '' && (database.url !== '' || database.ownCa)) {
    throw usageError(
      'ledger.postgres.secret: it is empty; name the Secret with the password, or leave url and ownCa out',
    );
  }
  if (database.secret !== '' && !isObjectName(database.secret)) {
    throw usageError(
      `ledger.postgres.secret: "${database.secret}" is not a valid name of a Secret; write one such as ledger-database`,
    );
  }
  for (const [index, { namespace, name }] of monitoredSecrets.entries()) {
    const at = `ledger.monitoredSecrets[${index}]`;
    checkNamespace(`${at}.namespace`, namespace);
    if (notThere.includes(namespace)) {
      throw usageError(
        `${at}.namespace: "${namespace}" is for the components, the keys of CAs, or Kubernetes itself; write the namespace of a workload`,
      );
    }
    const isCa = values.namespacedSigners.secrets.some(
      (each) => each.namespace === namespace && each.name === name,
    );
    if (isCa) {
      throw usageError(`${at}: ${namespace}/${name} is the Secret of a CA; name one of a workload`);
    }
    if (!isObjectName(name)) {
      throw usageError(
        `${at}.name: "${name}" is not a valid name of a Secret; write one such as web-tls`,
      );
    }
  }
  checkReplicas(values);
}

/** What is read must be there, and must go on: leaves without records would be missing in what is counted. */
function checkFacts({ ledger: { facts, mode }, components }: InstallationValues): void {
  const { enabled = false } = (components['ledger'] ?? {}) as { readonly enabled?: boolean };
  if (!facts) return;
  if (!enabled) {
    throw usageError(
      'ledger.facts: there is no ledger to read from; set components.ledger.enabled=true as well',
    );
  }
  if (mode === 'off') {
    throw usageError(
      'ledger.facts: with ledger.mode off nothing is recorded that could be read; write best-effort or required into ledger.mode',
    );
  }
}

/** A volume is for one pod. */
function checkReplicas({
  ledger: { postgres: database },
  components,
  defaults,
}: InstallationValues): void {
  const { enabled = false, replicas } = (components['ledger'] ?? {}) as {
    readonly enabled?: boolean;
    readonly replicas?: number;
  };
  const wanted = replicas ?? defaults.replicas ?? COMPONENTS.get('ledger')?.replicas ?? 1;
  if (!enabled || database.secret !== '' || wanted < 2) return;
  throw usageError(
    `components.ledger.replicas: its volume is for one pod, and ${wanted} are wanted; write 1, or name a PostgreSQL in ledger.postgres`,
  );
}

/** What the plan has of these values. */
export function ledgerParts({
  ledger: {
    mode,
    storage,
    postgres: database,
    checkpoints: places,
    retention,
    omit,
    monitoredSecrets,
  },
}: InstallationValues): Pick<
  OptionalParts,
  'ledgerMode' | 'ledgerStorage' | 'ledgerArguments' | 'ledgerPostgres'
> {
  const { size, className } = storage;
  return {
    ...(mode === 'off' ? {} : { ledgerMode: mode }),
    ...(database.secret === '' ? {} : { ledgerPostgres: database.secret }),
    ledgerArguments: [
      ...(database.secret === '' ? [] : postgresArguments(database)),
      ...checkpointArguments(places),
      ...(retention === '' ? [] : [`--retention=${retention}`]),
      ...omit.map((each) => `--omit=${each}`),
      ...monitoredSecrets.map(({ namespace, name }) => `--monitored-secret=${namespace}/${name}`),
    ],
    ledgerStorage: { size, ...(className === '' ? {} : { className }) },
  };
}
