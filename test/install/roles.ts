// SPDX-License-Identifier: Apache-2.0
import { parseAllDocuments } from 'yaml';
import { DEMO } from '../../build/demo-installation.ts';
import { COMPONENTS } from '#install/component-list.ts';
import type { Installation } from '#install/installation.ts';
import { renderRbac } from '#install/render.ts';
import { USER_ROLES_FILE } from '#install/user-roles.ts';

/** An object that `countersign rbac` prints. */
export interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

const optionalComponents = [...COMPONENTS].flatMap(([name, { optional }]) =>
  optional === undefined ? [] : [name],
);
const EVERY = { ...DEMO, optionalComponents };

export function rolesOf(component: string, installation: Installation = DEMO): readonly Role[] {
  const text = renderRbac({ ...installation, optionalComponents }).get(`${component}.yaml`) ?? '';
  return parseAllDocuments(text).map((document) => document.toJS() as Role);
}

export const components = [...renderRbac(EVERY).keys()]
  .filter((file) => file !== USER_ROLES_FILE)
  .map((file) => file.replace('.yaml', ''));

/** `get,list certificates.k8s.io/x [names] @namespace`, one line a rule. */
export function linesOf(component: string, installation: Installation = DEMO): readonly string[] {
  return rolesOf(component, installation).flatMap(({ metadata, rules = [] }) =>
    rules.map(({ apiGroups, resources, verbs, resourceNames }) => {
      const names = resourceNames === undefined ? '' : ` [${resourceNames.join(' ')}]`;
      const where = metadata.namespace === undefined ? '' : ` @${metadata.namespace}`;
      return `${verbs.join()} ${apiGroups.join()}/${resources.join()}${names}${where}`;
    }),
  );
}
