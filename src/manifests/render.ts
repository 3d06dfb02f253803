// SPDX-License-Identifier: Apache-2.0
import { stringify } from 'yaml';
import { admissionOf } from './admission/installed.ts';
import { COMPONENTS } from './components.ts';
import { checkInstallation, type Installation } from './installation.ts';
import { permissionNamesOf } from './names.ts';
import { roleManifests, type Manifest } from './roles.ts';

export { OPT_IN } from './admission/installed.ts';

/** File name → YAML. */
export type Files = ReadonlyMap<string, string>;

const HEADER =
  '# SPDX-License-Identifier: Apache-2.0\n# Printed by countersign rbac. Names are spelled out: print it again for other names.\n';

/** One file for each component: its ServiceAccount, roles and bindings. The names are taken as they are. */
export function rolesOf(installation: Installation): ReadonlyMap<string, readonly Manifest[]> {
  return new Map(
    [...COMPONENTS].map(([component, description]) => {
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
  return textsOf(rolesOf(checkInstallation(installation)));
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

/** Several YAML documents, formatted as Prettier would: unfolded lines, single quotes. */
export function documentsOf(manifests: readonly Manifest[]): string {
  const documents = manifests.map((manifest) =>
    stringify(manifest, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false }),
  );
  return documents.join('---\n');
}
