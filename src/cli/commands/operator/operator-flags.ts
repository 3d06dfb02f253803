// SPDX-License-Identifier: Apache-2.0
import { Command, CommanderError } from 'commander';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { WORKLOAD_RESOURCES } from '#api/workload/workload.ts';
import { addFlags } from '#cli/component-flags.ts';
import { OPERATOR_FLAGS, type OperatorFlags } from '#install/operator/flags.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';

/** The flags of an operator that affect its objects. */
export interface InstalledFlags extends OperatorFlags {
  readonly secretNamespace: string;
}

const DEPLOYMENTS = resource(WORKLOAD_RESOURCES.Deployment);
/** Name of the Deployment of `countersign rbac --operator`. */
const NAME = 'countersign-operator';

/** The fields of a Deployment that contain flags. */
interface RawDeployment {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] };
    };
  };
}

/**
 * Returns the flags of the operator that runs in a namespace.
 *
 * @returns undefined without one, or if it has flags of another version
 * @throws KubeError if its Deployment cannot be read
 */
export async function installedFlags(
  client: Client,
  namespace: string,
): Promise<InstalledFlags | undefined> {
  const found = await client
    .request<RawDeployment>({ method: 'GET', path: DEPLOYMENTS.object({ namespace, name: NAME }) })
    .catch(ignoreNotFound);
  const args = found?.spec.template.spec.containers[0]?.args;
  return args === undefined ? undefined : flagsOf(args);
}

/** Reads the arguments of an operator's container. The first one is the subcommand. */
function flagsOf(args: readonly string[]): InstalledFlags | undefined {
  const command = addFlags(new Command(), OPERATOR_FLAGS)
    .option('--secret-namespace <name>', '', DEFAULT_SECRET_NAMESPACE)
    .allowUnknownOption()
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    return command.parse([...args], { from: 'user' }).opts<InstalledFlags>();
  } catch (error) {
    if (error instanceof CommanderError) return undefined;
    throw error;
  }
}
