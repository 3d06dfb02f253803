// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import type {
  ComponentName,
  OptionalComponentName,
} from '../../test/support/cluster/component-process.ts';
import { podFlags } from '../../test/support/cluster/entrypoint-flags.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import type { Program } from './contender.ts';
import { BUNDLE } from './start.ts';

/** Longer than any bench: nobody renews these tokens. */
export const TOKEN_DURATION = '24h';

/** The signer name and bundle of deploy/examples/workload.yaml. */
export const WORKLOAD = {
  signerName: 'example.com/workload',
  bundle: 'example.com:workload:primary',
} as const;

/** A component as the image starts it in a pod, with the roles that are shipped. */
export async function countersign(
  cluster: Cluster,
  component: ComponentName | OptionalComponentName,
  args: readonly string[] = [],
  bundle = BUNDLE,
): Promise<Program> {
  const account = `countersign-${component}`;
  const options = { duration: TOKEN_DURATION };
  const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, account, options);
  const fixed = [component, '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0'];
  const node = [process.execPath, ...podFlags()] as const;
  return { name: component, command: [...node, bundle, ...fixed, ...args] };
}
