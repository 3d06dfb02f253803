// SPDX-License-Identifier: Apache-2.0
/** What upstream's tests of API resources look for in the discovery documents. */
import type { Kit } from './kit.ts';
import { check, type Step } from './steps.ts';

const GROUP = 'certificates.k8s.io';

interface Group {
  readonly name?: string;
  readonly versions?: readonly { readonly version?: string }[];
}

export function discoverGroups(kit: Kit): Step {
  return async () => {
    const list = await kit.client.request<{ groups?: readonly Group[] }>({
      method: 'GET',
      path: '/apis',
    });
    const group = list.groups?.find(({ name }) => name === GROUP);
    check(hasV1(group), `/apis has no ${GROUP}/v1`);
    return `/apis lists ${GROUP}/v1`;
  };
}

export function discoverGroup(kit: Kit): Step {
  return async () => {
    const group = await kit.client.request<Group>({ method: 'GET', path: `/apis/${GROUP}` });
    check(hasV1(group), `/apis/${GROUP} has no v1`);
    return `/apis/${GROUP} lists v1`;
  };
}

/** @param names - resources and subresources, as `pods/status` */
export function discoverResources(kit: Kit, names: readonly string[]): Step {
  return async () => {
    const path = `/apis/${GROUP}/v1`;
    const list = await kit.client.request<{ resources?: readonly { name?: string }[] }>({
      method: 'GET',
      path,
    });
    const missing = names.filter((name) => !list.resources?.some((each) => each.name === name));
    check(missing.length === 0, `${path} has no ${missing.join(', ')}`);
    return `${path} has ${names.join(', ')}`;
  };
}

function hasV1(group: Group | undefined): boolean {
  return group?.versions?.some(({ version }) => version === 'v1') === true;
}
