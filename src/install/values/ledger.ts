// SPDX-License-Identifier: Apache-2.0
/** Checks of the value `ledger`, and the arguments of the ledger. */
import { usageError } from '#base/errors.ts';
import { checkpointArguments } from '../checkpoint-arguments.ts';
import { FRONT_PROXY } from '#ledger/ledger/objects.ts';
import { COMPONENTS } from '../component-list.ts';
import type { OptionalParts } from '../installation-plan.ts';
import { postgresArguments } from '../ledger-database.ts';
import { checkNamespace, isObjectName } from './check-names.ts';
import type { InstallationValues } from './schema.ts';

/**
 * Rejects invalid values. The chart has the same checks: build/chart/_checks-ledger.tpl.
 *
 * @param components - their namespace
 * @param notThere - namespaces of components, of keys, and of Kubernetes itself
 * @throws SignerError USAGE
 */
export function checkLedger(
  values: InstallationValues,
  components: string,
  notThere: readonly string[],
): void {
  const { postgres: database, monitoredSecrets } = values.ledger;
  checkFacts(values);
  checkAggregatedApi(values, components);
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

/**
 * Rejects reads without a ledger, or without complete records: leaves without records would be
 * missing in the counts.
 */
function checkFacts({ ledger: { facts, mode }, components }: InstallationValues): void {
  const { enabled = false } = components['ledger'] ?? {};
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

/**
 * Requires more than one pod: while no replica answers, the API server deletes no namespace of the
 * cluster. Rejects the namespace of the Role by which the ledger reads how the API server
 * authenticates itself: the chart's templates would have two Roles of one name there.
 */
function checkAggregatedApi(values: InstallationValues, namespace: string): void {
  const { aggregatedApi, postgres: database } = values.ledger;
  if (!aggregatedApi) return;
  const { enabled, wanted } = replicasOf(values);
  if (!enabled) {
    throw usageError(
      'ledger.aggregatedApi: there is no ledger that answers; set components.ledger.enabled=true as well',
    );
  }
  if (database.secret === '') {
    throw usageError(
      'ledger.aggregatedApi: while the ledger is away, no namespace of the cluster is deleted, and on a volume it is one pod; name a PostgreSQL in ledger.postgres',
    );
  }
  if (wanted < 2) {
    throw usageError(
      'ledger.aggregatedApi: while the ledger is away, no namespace of the cluster is deleted; write 2 into components.ledger.replicas',
    );
  }
  if (namespace === FRONT_PROXY.namespace) {
    throw usageError(
      'ledger.aggregatedApi: the components are in kube-system, where the ledger has another Role for it; write another namespace',
    );
  }
}

function replicasOf({ components, defaults }: InstallationValues): {
  readonly enabled: boolean;
  readonly wanted: number;
} {
  const { enabled = false, replicas } = components['ledger'] ?? {};
  return {
    enabled,
    wanted: replicas ?? defaults.replicas ?? COMPONENTS.get('ledger')?.replicas ?? 1,
  };
}

/** Rejects several replicas with one volume, which only one pod can mount. */
function checkReplicas(values: InstallationValues): void {
  const { enabled, wanted } = replicasOf(values);
  if (!enabled || values.ledger.postgres.secret !== '' || wanted < 2) return;
  throw usageError(
    `components.ledger.replicas: its volume is for one pod, and ${wanted} are wanted; write 1, or name a PostgreSQL in ledger.postgres`,
  );
}

/** Returns the parts of the plan that these values set. */
export function ledgerParts({
  ledger: {
    mode,
    aggregatedApi,
    storage,
    postgres: database,
    checkpoints: places,
    retention,
    omit,
    monitoredSecrets,
  },
}: InstallationValues): Pick<
  OptionalParts,
  'ledgerMode' | 'ledgerStorage' | 'ledgerArguments' | 'ledgerPostgres' | 'ledgerApiService'
> {
  const { size, className } = storage;
  return {
    ...(mode === 'off' ? {} : { ledgerMode: mode }),
    ...(database.secret === '' ? {} : { ledgerPostgres: database.secret }),
    ...(aggregatedApi ? { ledgerApiService: true } : {}),
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
