// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import { admissionOf } from './admission/policy-list.ts';
import { COMPONENTS, type ComponentName } from './component-list.ts';
import { documentsOf } from './documents.ts';
import { checkInstallation, type Installation } from './installation.ts';
import { permissionNamesOf } from './names.ts';
import { roleManifests, type Manifest } from './roles.ts';
import { USER_ROLES_FILE, userRoles } from './user-roles.ts';

export { OPT_IN } from './admission/policy-list.ts';

/** File name → YAML. */
export type Files = ReadonlyMap<string, string>;

const HEADER =
  '# SPDX-License-Identifier: Apache-2.0\n# Printed by countersign rbac. Names are spelled out: print it again for other names.\n';

/**
 * Returns one file for each component: its ServiceAccount, roles and bindings. It does not check
 * the names.
 *
 * @param components - the enabled ones
 */
export function rolesOf(
  installation: Installation,
  components: readonly ComponentName[],
): ReadonlyMap<string, readonly Manifest[]> {
  return new Map(
    components.map((component) => {
      const description = COMPONENTS.get(component);
      if (description === undefined) throw new TypeError(`no description of ${component}`);
      const rules = description.permissions(permissionNamesOf(description, installation));
      return [`${component}.yaml`, roleManifests(component, installation.namespace, rules)];
    }),
  );
}

/**
 * Renders the same as YAML, with the roles of users.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export function renderRbac(installation: Installation): Files {
  const checked = checkInstallation(installation);
  const roles = rolesOf(checked, componentsOf(checked));
  return textsOf(new Map([...roles, [USER_ROLES_FILE, userRoles()]]));
}

/**
 * Returns the components of an installation.
 *
 * @throws SignerError USAGE for a name that is not an optional component
 */
function componentsOf({ optionalComponents = [] }: Installation): readonly ComponentName[] {
  const all = [...COMPONENTS];
  const optional = all.flatMap(([name, each]) => (each.optional === undefined ? [] : [name]));
  const unknown = optionalComponents.find((each) => !optional.some((name) => name === each));
  if (unknown !== undefined) {
    const message = `${JSON.stringify(unknown.slice(0, 80))} is not an optional component; write one of ${optional.join(', ')}`;
    throw usageError(message);
  }
  return all
    .filter(
      ([name, { optional: own }]) => own?.enabled !== false || optionalComponents.includes(name),
    )
    .map(([name]) => name);
}

/**
 * Renders the admission policies. who-may-request.yaml is opt-in.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export function renderAdmission(installation: Installation): Files {
  return textsOf(admissionOf(checkInstallation(installation)));
}

function textsOf(files: ReadonlyMap<string, readonly Manifest[]>): Files {
  return new Map([...files].map(([name, manifests]) => [name, HEADER + documentsOf(manifests)]));
}

/** Renders manifests as `countersign rbac` prints them. */
export function renderManifests(manifests: readonly Manifest[]): string {
  return HEADER + documentsOf(manifests);
}
