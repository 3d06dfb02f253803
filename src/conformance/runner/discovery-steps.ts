// SPDX-License-Identifier: Apache-2.0
/** Checks the discovery documents as upstream's tests of API resources do. */
import type { Discovery, Operation } from '../snapshot.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Run } from './run.ts';
import { check, runStep } from './steps.ts';

const GROUP = 'certificates.k8s.io';

interface Group {
  readonly name?: string;
  readonly versions?: readonly { readonly version?: string }[];
}

/** Makes all checks. @param subresources - the subresources that the kind must have in v1 */
export async function discover(
  run: Run,
  resource: Resource,
  subresources: readonly string[],
): Promise<Readonly<Record<Discovery, Operation>>> {
  const [discoveryGroups, discoveryGroup, discoveryResources] = await Promise.all([
    runStep(() => findGroup(run)),
    runStep(() => readGroup(run)),
    discoverResources(run, resource, subresources),
  ]);
  return { discoveryGroups, discoveryGroup, discoveryResources };
}

async function findGroup(run: Run): Promise<string> {
  const list = await read<{ groups?: readonly Group[] }>(run, '/apis');
  check(hasV1(list.groups?.find(({ name }) => name === GROUP)), `/apis has no ${GROUP}/v1`);
  return `/apis lists ${GROUP}/v1`;
}

async function readGroup(run: Run): Promise<string> {
  check(hasV1(await read<Group>(run, `/apis/${GROUP}`)), `/apis/${GROUP} has no v1`);
  return `/apis/${GROUP} lists v1`;
}

/** Checks the kind and its subresources in v1. Skips an API server without the kind in v1. */
export async function discoverResources(
  run: Run,
  { plural, version }: Resource,
  subresources: readonly string[] = [],
): Promise<Operation> {
  if (version !== 'v1') return { skipped: `this API server has ${plural} in ${version} only` };
  const names = [plural, ...subresources.map((name) => `${plural}/${name}`)];
  const path = `/apis/${GROUP}/v1`;
  return runStep(async () => {
    const list = await read<{ resources?: readonly { name?: string }[] }>(run, path);
    const missing = names.filter((name) => !list.resources?.some((each) => each.name === name));
    check(missing.length === 0, `${path} has no ${missing.join(', ')}`);
    return `${path} has ${names.join(', ')}`;
  });
}

function read<T>({ client, signal }: Run, path: string): Promise<T> {
  return client.request<T>({ method: 'GET', path, signal });
}

function hasV1(group: Group | undefined): boolean {
  return group?.versions?.some(({ version }) => version === 'v1') === true;
}
