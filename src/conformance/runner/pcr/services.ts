// SPDX-License-Identifier: Apache-2.0
/** Creates Services for pods of the runner, if the profile states that leaves name them. */
import type { RequestedLeaf } from '#conformance/observed-request.ts';
import { coreRule } from '../permissions.ts';
import { podName } from '../pods.ts';
import type { Run } from '../run.ts';
import { SERVICES } from '#kube/resource/core-v1.ts';

/** The Services of the run, or why there are none. */
export interface RunServices {
  /** The labels of pods that the Services select. */
  readonly labels: Readonly<Record<string, string>>;
  readonly names?: NonNullable<RequestedLeaf['services']>;
  readonly skipped?: string;
}

/** Creates Services that select the runner's pods, and some that do not. @throws KubeError */
export async function makeServices(run: Run): Promise<RunServices> {
  const { namespace, profile } = run;
  const labels = { 'conformance.countersign.dev/served': run.id };
  if (profile.serviceNames !== true)
    return { labels: {}, skipped: 'the profile does not state that its leaves name Services' };
  const missing = await run.permissions.missing(
    coreRule(['create', 'delete'], 'services', namespace),
  );
  if (missing !== undefined) return { labels: {}, skipped: missing };
  const served = podName(run, 'served');
  const headless = podName(run, 'headless');
  const other = podName(run, 'other');
  const alias = podName(run, 'alias');
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
