// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createExchange } from '../../../acme/exchange.ts';
import { connectGuard } from '../../../egress/connect-guard.ts';
import { certificatesResourceIfServed } from '../../../app/certificates-resources.ts';
import { runComponent } from '../../../app/component.ts';
import { clock } from '../../../app/process.ts';
import { VERSION } from '../../../app/version.ts';
import { endpoint, TARGET_LIMITS } from '../../../controllers/notifier/delivery/endpoint.ts';
import type { TargetInit } from '../../../controllers/notifier/delivery/target.ts';
import { createNotifier } from '../../../controllers/notifier/index.ts';
import { type SignerError, usageError } from '../../../errors.ts';
import type { NotifierOptions } from '../../notifier-options.ts';
import { EVENT_NAMES } from '../../../api/object/event-names.ts';

/** Runs the component that tells others what happens to certificates and CAs, until it is stopped. */
export async function run(options: NotifierOptions): Promise<void> {
  const targets = await openTargets(options);
  await runComponent('notifier', options, async (component) => {
    const namespace = component.leases?.namespace;
    if (namespace === undefined) throw withoutNamespace();
    const podCertificateRequests = await certificatesResourceIfServed(
      component.client,
      'podcertificaterequests',
    );
    return createNotifier({
      ...{ component, namespace, podCertificateRequests, targets: targets.all },
      source: options.source ?? `/countersign/${options.secretNamespace}`,
      expiringSeconds: options.expiring,
      pods: options.lookAtPods === true,
    });
  });
  await targets.close();
}

/**
 * The targets of these flags. Each has connections of its own.
 *
 * @throws SignerError USAGE for settings of a target that is not named; Error if the CAs cannot be read
 */
async function openTargets(
  options: NotifierOptions,
): Promise<{ readonly all: readonly TargetInit[]; readonly close: () => Promise<void> }> {
  const { target, targetEvents, handshake, targetSecrets, targetCa } = options;
  for (const name of [...targetEvents.keys(), ...handshake.keys()])
    if (!target.has(name)) throw usageError(`target ${name} is named by no --target`);
  const ca = targetCa === undefined ? undefined : await readFile(targetCa, 'utf8');
  const words = { called: 'targets of notifications', flag: '--target-network' };
  const guard = connectGuard(options.targetNetwork, words);
  const exchanges = [...target].map(([name, url]) => {
    const userAgent = `countersign/${VERSION}`;
    const exchange = createExchange({ ca, userAgent, limits: TARGET_LIMITS, guard });
    return { name, url, exchange };
  });
  return {
    all: exchanges.map(({ name, url, exchange }) => ({
      name,
      endpoint: endpoint({
        ...{ url, exchange, clock, origin: handshake.get(name) },
        readSecret: () => readFile(join(targetSecrets, name), 'utf8'),
      }),
      events: targetEvents.get(name) ?? new Set(EVENT_NAMES),
      perSecond: options.targetRate,
      giveUpMs: options.giveUpAfter * 1000,
    })),
    close: async () => {
      await Promise.all(exchanges.map((each) => each.exchange.close()));
    },
  };
}

function withoutNamespace(): SignerError {
  return usageError(
    'notifier keeps how far it has got in the namespace of the components: write --lease-namespace, and leave --no-leases out',
  );
}
