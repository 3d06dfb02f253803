// SPDX-License-Identifier: Apache-2.0
import { stringify } from 'yaml';
import { usageError } from '../errors.ts';
import { admissionOf } from './admission/installed.ts';
import { COMPONENTS, type ComponentName } from './components.ts';
import { checkInstallation, type Installation } from './installation.ts';
import { permissionNamesOf } from './names.ts';
import { roleManifests, type Manifest } from './roles.ts';

export { OPT_IN } from './admission/installed.ts';

/** File name → YAML. */
export type Files = ReadonlyMap<string, string>;

const HEADER =
  '# SPDX-License-Identifier: Apache-2.0\n# Printed by countersign rbac. Names are spelled out: print it again for other names.\n';

/**
 * One file for each component: its ServiceAccount, roles and bindings. The names are taken as they are.
 *
 * @param components - those that are there
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
 * The same as YAML.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export function renderRbac(installation: Installation): Files {
  const checked = checkInstallation(installation);
  return textsOf(rolesOf(checked, componentsOf(checked)));
}

/** @throws SignerError USAGE for a name that is none of a component that can be left out */
function componentsOf({ optionalComponents = [] }: Installation): readonly ComponentName[] {
  const all = [...COMPONENTS];
  const optional = all.flatMap(([name, each]) => (each.optional === undefined ? [] : [name]));
  const unknown = optionalComponents.find((each) => !optional.some((name) => name === each));
  if (unknown !== undefined) {
    const message = `${JSON.stringify(unknown.slice(0, 80))} is no component that can be left out; write one of ${optional.join(', ')}`;
    throw usageError(message);
  }
  return all
    .filter(
      ([name, { optional: own }]) => own?.enabled !== false || optionalComponents.includes(name),
    )
    .map(([name]) => name);
}

/**
 * The admission policies; who-may-request.yaml is opt-in.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export function renderAdmission(installation: Installation): Files {
  return textsOf(admissionOf(checkInstallation(installation)));
}

function textsOf(files: ReadonlyMap<string, readonly Manifest[]>): Files {
  return new Map([...files].map(([name, manifests]) => [name, HEADER + documentsOf(manifests)]));
}

/** Manifests as `countersign rbac` prints them. */
export function renderManifests(manifests: readonly Manifest[]): string {
  return HEADER + documentsOf(manifests);
}

/** Several YAML documents, formatted as Prettier would: unfolded lines, single quotes. */
export function documentsOf(manifests: readonly Manifest[]): string {
  const documents = manifests.map((manifest) =>
    stringify(manifest, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false }),
  );
  return documents.join('---\n');
}
