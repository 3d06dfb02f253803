// SPDX-License-Identifier: Apache-2.0
import { createClient, type Client } from '#kube/client/client.ts';
import type { Connection } from '#kube/client/connection.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { withLedger } from './ledger-routes.ts';
import { DEFAULT_NAMESPACE, type UserOptions } from './user-options.ts';
import { VERSION } from '#app/version.ts';
import { kubeconfigFromEnvironment } from '#app/component-options.ts';
import { monotonic } from '#app/process.ts';

/**
 * Connects as the user of the kubeconfig.
 *
 * @param command - the subcommand, for the audit log
 * @param isDryRun - true if the command must write nothing, not even the CertificateSigningRequest
 *   by which it reads the ledger
 * @throws SignerError KUBE_CONFIG (`wait`) without an API server in the kubeconfig
 */
export async function connectUser(
  options: UserOptions,
  command: string,
  isDryRun = false,
): Promise<{ readonly connection: Connection; readonly client: Client }> {
  const connection = await loadConnection({
    ...options,
    kubeconfig: options.kubeconfig ?? kubeconfigFromEnvironment(process.env),
    clock: Date.now,
    environment: process.env,
  });
  const impersonate =
    options.as === undefined ? undefined : { user: options.as, groups: options.asGroup };
  const userAgent = `countersign-${command}/${VERSION}`;
  const client = createClient({ connection, clock: Date.now, monotonic, userAgent, impersonate });
  const { ledgerNamespace: namespace = DEFAULT_NAMESPACE, ledgerUrl: url } = options;
  return { connection, client: withLedger(client, { namespace, url, userAgent, isDryRun }) };
}
