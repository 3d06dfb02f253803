// SPDX-License-Identifier: Apache-2.0
/** Services for pods of the runner, where the profile says that leaves name them. */
import type { RequestedLeaf } from '../../conformance/observed-request.ts';
import { coreRule } from '../permissions.ts';
import { podName } from '../pods.ts';
import type { Run } from '../run.ts';
import { SERVICES } from '../../kube/resource/core-v1.ts';

/** Services of the run, or why there are none. */
export interface RunServices {
  /** Of pods that they are to select. */
  readonly labels: Readonly<Record<string, string>>;
  readonly names?: NonNullable<RequestedLeaf['services']>;
  readonly skipped?: string;
}

/** Makes Services that select the runner's pods, and some that do not. @throws KubeError */
export async function makeServices(run: Run): Promise<RunServices> {
  const { namespace, profile } = run;
  const labels = { 'conformance.countersign.dev/served': run.id };
  if (profile.serviceNames !== true)
    return { labels: {}, skipped: 'the profile does not say that its leaves name Services' };
  const missing = await run.permissions.missing(
    coreRule(['create', 'delete'], 'services', namespace),
  );
  if (missing !== undefined) return { labels: {}, skipped: missing };
  const [served, headless, other, alias] = ['served', 'headless', 'other', 'alias'].map((name) =>
    podName(run, name),
  ) as [string, string, string, string];
  const ports = [{ port: 443 }];
  const create = (name: string, spec: object): Promise<unknown> =>
    run.created.create(SERVICES, { kind: 'Service', metadata: { name, namespace }, spec });
  await Promise.all([
    create(served, { selector: labels, ports }),
    create(headless, { selector: labels, ports, clusterIP: 'None' }),
    create(other, { selector: { 'conformance.countersign.dev/served': 'nobody' }, ports }),
    create(alias, { selector: labels, type: 'ExternalName', externalName: 'www.example.com' }),
  ]);
  return { labels, names: { namespace, selecting: [served, headless], others: [other, alias] } };
}
