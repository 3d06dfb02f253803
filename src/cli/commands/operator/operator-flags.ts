// SPDX-License-Identifier: Apache-2.0
import { Command, CommanderError } from 'commander';
import { addImageOptions, type OperatorFlags } from '../../../app/component-options.ts';
import { DEFAULT_SECRET_NAMESPACE } from '../../../api/signer/own-tls.ts';
import { WORKLOAD_RESOURCES } from '../../../api/workload/workload.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';

/** The flags of an operator that decide what it makes of a spec. */
export interface InstalledFlags extends OperatorFlags {
  readonly secretNamespace: string;
}

const DEPLOYMENTS = resource(WORKLOAD_RESOURCES.Deployment);
/** As `countersign rbac --operator` names it. */
const NAME = 'countersign-operator';

/** A Deployment, as far as its flags are read. */
interface RawDeployment {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] };
    };
  };
}

/**
 * The flags of the operator that runs in a namespace.
 *
 * @returns undefined where there is none, or its flags are those of another version
 * @throws KubeError where its Deployment cannot be read
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
  const command = addImageOptions(new Command())
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
