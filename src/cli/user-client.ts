// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { createClient, type Client } from '../kube/client/client.ts';
import type { Connection } from '../kube/client/connection.ts';
import { loadConnection } from '../kube/client/kubeconfig.ts';
import { gather } from '../app/flag-values.ts';
import { VERSION } from '../app/version.ts';
import { kubeconfigFromEnvironment } from '../app/component-options.ts';
import { monotonic } from '../app/process.ts';

/** The flags of commands that people run, with their own rights. */
export interface UserOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly as?: string;
  readonly asGroup: readonly string[];
}

/** Adds the flags of {@link UserOptions} to a subcommand. */
export function addUserOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--as <user>', 'ask as this user (impersonation)')
    .option('--as-group <name>', 'ask as a member of this group (repeatable)', gather, []);
}

/**
 * Connects as the user of the kubeconfig.
 *
 * @param command - the subcommand, for the audit log
 * @throws SignerError KUBE_CONFIG (`wait`) when there is no API server to talk to
 */
export async function connectUser(
  options: UserOptions,
  command: string,
): Promise<{ readonly connection: Connection; readonly client: Client }> {
  const connection = await loadConnection({
    ...options,
    kubeconfig: options.kubeconfig ?? kubeconfigFromEnvironment(process.env),
    clock: Date.now,
  });
  const impersonate =
    options.as === undefined ? undefined : { user: options.as, groups: options.asGroup };
  const userAgent = `countersign-${command}/${VERSION}`;
  return {
    connection,
    client: createClient({ connection, clock: Date.now, monotonic, userAgent, impersonate }),
  };
}
