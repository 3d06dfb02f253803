// SPDX-License-Identifier: Apache-2.0
/** The value `ledger`: its schema, what it must not say, and what the ledger is told of it. */
import { z } from 'zod';
import { OMITTABLE_FIELDS } from '../../vocabulary.ts';
import { checkpointArguments } from '../checkpoint-arguments.ts';
import { COMPONENTS } from '../components.ts';
import type { OptionalParts } from '../installation-plan.ts';
import { postgresArguments } from '../workloads/ledger-database.ts';
import { checkNamespace, isObjectName, usage } from './check-names.ts';
import { checkpoints } from './checkpoints.ts';
import type { InstallationValues } from './schema.ts';

const SAFE = /^[a-z0-9./-]*$/;
const objectName = z.string().max(253).regex(SAFE);
/** No password, no blank, no quote and no brace: it is an argument that everybody reads. */
const DATABASE =
  /^(postgres(ql)?:\/\/[A-Za-z0-9._~%-]+@[A-Za-z0-9.:[\]-]+\/[A-Za-z0-9._~%-]+(\?[A-Za-z0-9=&_-]*)?)?$/;

const postgres = z
  .strictObject({
    secret: objectName.describe(
      'Name of a Secret in the namespace of the components, which you make: key `url`, the whole URL, or `password`. If empty, SQLite.',
    ),
    url: z
      .string()
      .max(2000)
      .regex(DATABASE)
      .describe(
        'URL without a password: `postgresql://countersign@db.example.com:5432/countersign`. If empty, the key `url` says it.',
      ),
    ownCa: z
      .boolean()
      .describe('Trust only the CAs in the key `ca.crt` of that Secret, not those of Node.js.'),
  })
  .describe('A PostgreSQL in place of the volume: then the ledger may have several replicas.');

const monitoredSecret = z.strictObject({
  namespace: objectName.describe('The namespace of the Secret.'),
  name: objectName.describe('Name of the Secret.'),
});

/** `ledger` of the values. */
export const ledger = z
  .strictObject({
    mode: z
      .enum(['off', 'required', 'best-effort'])
      .describe(
        'How components record in it: `required` answers no request before it has its record, `best-effort` never waits and counts what is lost, `off` records nothing.',
      ),
    storage: z
      .strictObject({
        size: z.string().min(1).describe('Of the volume of its data.'),
        className: objectName.describe('StorageClass; if empty, the default of the cluster.'),
      })
      .describe('A ReadWriteOnce volume, which stays when the chart is uninstalled.'),
    postgres,
    checkpoints,
    monitoredSecrets: z
      .array(monitoredSecret)
      .readonly()
      .describe(
        'Secrets whose certificates it compares with the records, and may then read: those of workloads, never of CAs.',
      ),
    retention: z
      .string()
      .regex(/^([0-9]+[smhd])?$/)
      .describe(
        'How long records are kept, at least as long as certificates live: `400d`. If empty, for ever.',
      ),
    omit: z
      .array(z.enum(OMITTABLE_FIELDS))
      .readonly()
      .describe('Members of records that are not kept.'),
  })
  .describe('The ledger, where `components.ledger.enabled` is set: docs/explanation/ledger.md.');

/** What holds where nothing is said. */
export const DEFAULT_LEDGER: z.infer<typeof ledger> = {
  mode: 'best-effort',
  storage: { size: '10Gi', className: '' },
  postgres: { secret: '', url: '', ownCa: false },
  checkpoints: {
    ...{ webhook: '', signWebhook: false, objectStore: false, witnesses: [], ownCa: false },
    interval: '1m',
  },
  monitoredSecrets: [],
  retention: '',
  omit: [],
};

/**
 * Refuses what the ledger cannot be told. The chart says the same: build/chart/_checks-ledger.tpl.
 *
 * @param notThere - namespaces of components, of keys, and of Kubernetes itself
 * @throws SignerError USAGE
 */
export function checkLedger(values: InstallationValues, notThere: readonly string[]): void {
  const { postgres: database, monitoredSecrets } = values.ledger;
  if (database.secret === '' && (database.url !== '' || database.ownCa)) {
    throw usage(
      'ledger.postgres.secret: it is empty; name the Secret with the password, or leave url and ownCa out',
    );
  }
  if (database.secret !== '' && !isObjectName(database.secret)) {
    throw usage(
      `ledger.postgres.secret: "${database.secret}" is not a valid name of a Secret; write one such as ledger-database`,
    );
  }
  for (const [index, { namespace, name }] of monitoredSecrets.entries()) {
    const at = `ledger.monitoredSecrets[${index}]`;
    checkNamespace(`${at}.namespace`, namespace);
    if (notThere.includes(namespace)) {
      throw usage(
        `${at}.namespace: "${namespace}" is for the components, the keys of CAs, or Kubernetes itself; write the namespace of a workload`,
      );
    }
    const isCa = values.namespacedSigners.secrets.some(
      (each) => each.namespace === namespace && each.name === name,
    );
    if (isCa) {
      throw usage(`${at}: ${namespace}/${name} is the Secret of a CA; name one of a workload`);
    }
    if (!isObjectName(name)) {
      throw usage(
        `${at}.name: "${name}" is not a valid name of a Secret; write one such as web-tls`,
      );
    }
  }
  checkReplicas(values);
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
  throw usage(
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
