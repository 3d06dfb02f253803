// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EVENT_NAMES } from '#api/object/event-names.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { createExchange } from '#base/egress/exchange.ts';
import { type SignerError, usageError } from '#base/errors.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import { endpoint, TARGET_LIMITS } from './delivery/endpoint.ts';
import type { TargetInit } from './delivery/target.ts';
import type { NotifierFlags } from './flags.ts';
import { createNotifier } from './index.ts';
import * as messages from './messages.ts';

/** Runs the component that sends events about certificates and CAs, until it is stopped. */
export async function run(host: Host<NotifierFlags>): Promise<void> {
  const { flags } = host;
  const targets = await openTargets(host);
  await host.run(async (component) => {
    const namespace = component.leases?.namespace;
    if (namespace === undefined) throw withoutNamespace();
    const podCertificateRequests = await certificatesResourceIfServed(
      component.client,
      'podcertificaterequests',
    );
    return createNotifier({
      component,
      namespace,
      podCertificateRequests,
      targets: targets.all,
      source: flags.source ?? `/countersign/${component.secretNamespace}`,
      expiringSeconds: flags.expiring,
      pods: flags.readPods === true,
    });
  });
  await targets.close();
}

/**
 * Opens the targets of these flags. Each has its own connections.
 *
 * @throws SignerError USAGE for settings of an unknown target, or Error if the CAs cannot be read
 */
async function openTargets({ flags, userAgent, clock, egressProxy }: Host<NotifierFlags>): Promise<{
  readonly all: readonly TargetInit[];
  readonly close: () => Promise<void>;
}> {
  const { target, targetEvents, handshake, targetSecrets, targetCa } = flags;
  for (const name of [...targetEvents.keys(), ...handshake.keys()])
    if (!target.has(name)) throw usageError(messages.unknownTarget(name));
  const ca = targetCa === undefined ? undefined : await readFile(targetCa, 'utf8');
  const words = { called: messages.TARGETS, flag: 'notifications.networks, --target-network' };
  const guard = connectGuard(flags.targetNetwork, words);
  const proxy = egressProxy();
  const exchanges = [...target].map(([name, url]) => {
    const exchange = createExchange({ ca, userAgent, limits: TARGET_LIMITS, guard, proxy });
    return { name, url, exchange };
  });
  return {
    all: exchanges.map(({ name, url, exchange }) => ({
      name,
      endpoint: endpoint({
        url,
        exchange,
        clock,
        origin: handshake.get(name),
        readSecret: () => readFile(join(targetSecrets, name), 'utf8'),
      }),
      events: targetEvents.get(name) ?? new Set(EVENT_NAMES),
      perSecond: flags.targetRate,
      deliveryTimeoutMs: flags.deliveryTimeout * 1000,
    })),
    close: async () => {
      await Promise.all(exchanges.map((each) => each.exchange.close()));
    },
  };
}

function withoutNamespace(): SignerError {
  return usageError(messages.NAMESPACE_NEEDED);
}
