// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';
import { OMITTABLE_FIELDS } from '#base/vocabulary.ts';
import { checkpoints } from './checkpoints.ts';

const SAFE = /^[a-z0-9./-]*$/;
const objectName = z.string().max(253).regex(SAFE);
/**
 * A URL without password, blank, quote and brace, because it becomes an argument that all users can
 * read.
 */
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
        'URL without a password: `postgresql://countersign@db.example.com:5432/countersign`. If empty, the key `url` has it.',
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

/** Value `ledger`. */
export const ledger = z
  .strictObject({
    mode: z
      .enum(['off', 'required', 'best-effort'])
      .describe(
        'How components record in it: `required` answers no request before it has its record, `best-effort` never waits and counts what is lost, `off` records nothing.',
      ),
    facts: z
      .boolean()
      .describe(
        'Let `pcr-issuer` and `pod-refresher` read from it what happened before their start: they may then read every record.',
      ),
    aggregatedApi: z
      .boolean()
      .describe(
        'Let the API server serve its records, so that `kubectl get records` works. The price: while the ledger is away, the API server deletes no namespace of the cluster. It takes two replicas and a PostgreSQL.',
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
        'How long records are kept, at least as long as certificates live: `400d`. If empty, indefinitely.',
      ),
    omit: z
      .array(z.enum(OMITTABLE_FIELDS))
      .readonly()
      .describe('Members of records that are not kept.'),
  })
  .describe('The ledger, where `components.ledger.enabled` is set: docs/explanation/ledger.md.');

/** Default values. */
export const DEFAULT_LEDGER: z.infer<typeof ledger> = {
  mode: 'best-effort',
  facts: false,
  aggregatedApi: false,
  storage: { size: '10Gi', className: '' },
  postgres: { secret: '', url: '', ownCa: false },
  checkpoints: {
    webhook: '',
    signWebhook: false,
    objectStore: false,
    witnesses: [],
    ownCa: false,
    interval: '1m',
  },
  monitoredSecrets: [],
  retention: '',
  omit: [],
};
