// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import { type SignerError, usageError } from '#base/errors.ts';
import type { Log } from '#base/ports.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import { namesPostgres } from '../database-flags.ts';
import { openStore, openWorkerStore, parseWitnessKey, type LedgerStore } from '../index.ts';
import { openNamedPostgres } from '../open-postgres.ts';
import type { LedgerFlags } from './flags.ts';
import { grantsOf } from './grants.ts';
import { createLedger } from './index.ts';
import { openCrlPort, openLedgerPort, type CrlPort, type LedgerPort } from './open-ports.ts';
import { openDestinations } from './publishing/open.ts';
import * as messages from './messages.ts';

type LedgerHost = Host<LedgerFlags>;

/** Runs the ledger, until it is stopped. */
export async function run(host: LedgerHost): Promise<void> {
  const { flags } = host;
  const proxy = host.egressProxy();
  await host.run(async (component, log) => {
    const namespace = component.leases?.namespace;
    if (namespace === undefined) throw withoutNamespace();
    const podCertificateRequests = await certificatesResourceIfServed(
      component.client,
      'podcertificaterequests',
    );
    const store = await storeOf(host);
    const outside = await openPlaces(host, { store, proxy });
    const ledger = createLedger({
      component,
      store,
      namespace,
      prefix: flags.origin,
      outside,
      shared: namesPostgres(flags),
      monitor: {
        podCertificateRequests,
        secrets: flags.monitoredSecret,
        unrecordedGraceSeconds: flags.unrecordedGracePeriod,
      },
      omitted: new Set(flags.omit),
      retentionSeconds: flags.retention,
      aggregated: flags.aggregatedApi,
      grants: grantsOf(flags.appender, component.namespacedSigners),
    });
    const { port, crls } = await openPorts(host, ledger, log).catch(async (error: unknown) => {
      await outside.close();
      await store.close();
      throw error;
    });
    if (!namesPostgres(flags)) log.info({ data: flags.data }, messages.ONE_VOLUME);
    log.info({ port: port.port }, messages.CAN_APPEND);
    log.info({ port: crls.port }, messages.SERVES_CRLS);
    return { ...ledger, ...together(ledger, port, crls, outside) };
  });
}

/**
 * Opens both ports, or none.
 *
 * @throws SignerError USAGE, which names the flag of the port that cannot be opened
 */
async function openPorts(
  host: LedgerHost,
  ledger: ReturnType<typeof createLedger>,
  log: Log,
): Promise<{ readonly port: LedgerPort; readonly crls: CrlPort }> {
  const crls = await openCrlPort(host, ledger.lists);
  try {
    return { crls, port: await openLedgerPort(host, { ...ledger, log }) };
  } catch (error) {
    await crls.close();
    throw error;
  }
}

/** Closes the port first, so that all accepted records are on disk. */
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
 * Opens the places of these flags.
 *
 * @throws SignerError LEDGER_MALFORMED for an invalid key of a witness, or Error if the CAs cannot
 * be read
 */
async function openPlaces(
  { flags, clock, userAgent }: LedgerHost,
  { store, proxy }: { readonly store: LedgerStore; readonly proxy: EgressProxy | undefined },
): Promise<
  ReturnType<typeof openDestinations> & {
    readonly intervalSeconds: LedgerFlags['checkpointInterval'];
  }
> {
  const { checkpointWebhookSecret: secret, checkpointObject: object, checkpointCa } = flags;
  const ca = checkpointCa === undefined ? undefined : await readFile(checkpointCa, 'utf8');
  const places = openDestinations({
    webhook: flags.checkpointWebhook,
    ca,
    store,
    clock,
    witnesses: flags.witness.map(({ key, url }) => ({ key: parseWitnessKey(key), url })),
    userAgent,
    proxy,
    readWebhookSecret: secret === undefined ? undefined : () => readFile(secret, 'utf8'),
    readObjectPlace: object === undefined ? undefined : () => readFile(object, 'utf8'),
  });
  return { ...places, intervalSeconds: flags.checkpointInterval };
}

async function storeOf({ flags, program }: LedgerHost): Promise<LedgerStore> {
  const postgres = await openNamedPostgres(flags);
  if (postgres !== undefined) return openStore(postgres);
  // Start this program as a worker, which runs the store (main.ts).
  return openWorkerStore(join(flags.data, 'ledger.db'), pathToFileURL(program));
}

function withoutNamespace(): SignerError {
  const message = messages.NAMESPACE_NEEDED;
  return usageError(message);
}
