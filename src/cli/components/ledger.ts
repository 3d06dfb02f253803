// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  openCrlPort,
  openLedgerPort,
  type CrlPort,
  type LedgerPort,
} from '../../app/ledger/open-port.ts';
import { certificatesResourceIfServed } from '../../app/certificates-resources.ts';
import { runComponent } from '../../app/component.ts';
import { grantsOf } from '../../controllers/ledger/grants.ts';
import { createLedger } from '../../controllers/ledger/index.ts';
import { type SignerError, usageError } from '../../errors.ts';
import {
  openStore,
  openWorkerStore,
  parseWitnessKey,
  type LedgerStore,
} from '../../ledger/index.ts';
import { openDestinations } from '../../controllers/ledger/publishing/open.ts';
import { clock } from '../../app/process.ts';
import { VERSION } from '../../app/version.ts';
import type { Log } from '../../ports.ts';
import type { CheckpointOptions } from '../checkpoint-options.ts';
import { namesPostgres } from '../database-options.ts';
import { openNamedPostgres } from '../open-postgres.ts';
import type { LedgerComponentOptions } from '../ledger-options.ts';

const ONE_VOLUME =
  'the records are in SQLite on one volume: while its node is lost, components with --ledger-mode=required issue nothing';

/** Runs the component that keeps the ledger, until it is stopped. */
export async function run(options: LedgerComponentOptions): Promise<void> {
  await runComponent('ledger', options, async (component, log) => {
    const namespace = component.leases?.namespace;
    if (namespace === undefined) throw withoutNamespace();
    const podCertificateRequests = await certificatesResourceIfServed(
      component.client,
      'podcertificaterequests',
    );
    const store = await storeOf(options);
    const outside = await openPlaces(options, store);
    const ledger = createLedger({
      ...{ component, store, namespace, prefix: options.origin, outside },
      shared: namesPostgres(options),
      monitor: {
        ...{ podCertificateRequests, secrets: options.monitoredSecret },
        patienceSeconds: options.monitorPatience,
      },
      ...{ omitted: new Set(options.omit), retentionSeconds: options.retention },
      grants: grantsOf(options.appender, component.namespacedSigners),
    });
    const { port, crls } = await openPorts(options, ledger, log).catch(async (error: unknown) => {
      await outside.close();
      await store.close();
      throw error;
    });
    if (!namesPostgres(options)) log.info({ data: options.data }, ONE_VOLUME);
    log.info({ port: port.port }, 'components can append');
    log.info({ port: crls.port }, 'serves CRLs');
    return { ...ledger, ...together(ledger, port, crls, outside) };
  });
}

/**
 * Opens both ports, or none.
 *
 * @throws SignerError USAGE, which names the flag of the one that cannot be opened
 */
async function openPorts(
  options: LedgerComponentOptions,
  ledger: ReturnType<typeof createLedger>,
  log: Log,
): Promise<{ readonly port: LedgerPort; readonly crls: CrlPort }> {
  const crls = await openCrlPort(options.listenCrl, ledger.lists);
  try {
    return { crls, port: await openLedgerPort(options, { ...ledger, log }) };
  } catch (error) {
    await crls.close();
    throw error;
  }
}

/** The port is closed first: what it has taken is on disk. */
function together(
  ledger: ReturnType<typeof createLedger>,
  port: LedgerPort,
  crls: CrlPort,
  outside: { readonly close: () => Promise<void> },
): Pick<ReturnType<typeof createLedger>, 'run' | 'warnings'> {
  return {
    warnings: () => [...(ledger.warnings?.() ?? []), ...port.warnings()],
    run: async (signal) => {
      const ended = new AbortController();
      const keeping = ledger.run(ended.signal);
      await port.run(signal);
      await crls.close();
      ended.abort();
      await keeping;
      await outside.close();
    },
  };
}

/**
 * The places of these flags.
 *
 * @throws SignerError LEDGER_MALFORMED if the key of a witness is none; Error if the CAs cannot be read
 */
async function openPlaces(
  options: CheckpointOptions,
  store: LedgerStore,
): Promise<
  ReturnType<typeof openDestinations> & {
    readonly intervalSeconds: CheckpointOptions['checkpointInterval'];
  }
> {
  const { checkpointWebhookSecret: secret, checkpointObject: object, checkpointCa } = options;
  const ca = checkpointCa === undefined ? undefined : await readFile(checkpointCa, 'utf8');
  const places = openDestinations({
    ...{ webhook: options.checkpointWebhook, ca, store, clock },
    witnesses: options.witness.map(({ key, url }) => ({ key: parseWitnessKey(key), url })),
    userAgent: `countersign/${VERSION}`,
    readWebhookSecret: secret === undefined ? undefined : () => readFile(secret, 'utf8'),
    readObjectPlace: object === undefined ? undefined : () => readFile(object, 'utf8'),
  });
  return { ...places, intervalSeconds: options.checkpointInterval };
}

async function storeOf(options: LedgerComponentOptions): Promise<LedgerStore> {
  const postgres = await openNamedPostgres(options);
  if (postgres !== undefined) return openStore(postgres);
  // The program itself: as a worker it runs the store (main.ts).
  return openWorkerStore(join(options.data, 'ledger.db'), pathToFileURL(process.argv[1] ?? ''));
}

function withoutNamespace(): SignerError {
  const message =
    'the ledger needs the namespace of the components, whose tokens it takes: write --lease-namespace, and leave --no-leases out';
  return usageError(message);
}
