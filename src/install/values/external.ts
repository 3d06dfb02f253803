// SPDX-License-Identifier: Apache-2.0
/** Values of `external-signer`. Its checks are also in build/chart/_checks-external.tpl. */
import { usageError } from '#base/errors.ts';
import { COMPONENTS } from '../component-list.ts';
import type { ExternalNames } from '../installation.ts';
import type { VaultParts } from '../installation-plan.ts';
import { vaultParts } from '../vault-parts.ts';
import { namedAcmeSigner } from './check-acme.ts';
import { checkServedName } from './check-names.ts';
import type { InstallationValues } from './schema.ts';

/** Reports whether the component is enabled. */
function isEnabled({ components }: InstallationValues): boolean {
  const { optional } = COMPONENTS.get('external-signer') ?? {};
  const { enabled = optional?.enabled } = components['external-signer'] ?? {};
  return enabled === true;
}

/** Reports whether the values have ExternalClusterSigners to serve. */
export function servesExternal(values: InstallationValues): boolean {
  return isEnabled(values) && values.external.signers.length > 0;
}

/** Returns the names for roles and policies if the component is enabled. */
export function externalNames(values: InstallationValues): { readonly external?: ExternalNames } {
  return isEnabled(values) ? { external: { signers: values.external.signers } } : {};
}

/** Returns the parts of the Deployment for servers of Vault. */
export function externalVault({ external }: InstallationValues): {
  readonly externalVault?: VaultParts;
} {
  const parts = vaultParts(external.vaults, '--vault');
  return parts === undefined ? {} : { externalVault: parts };
}

/**
 * Rejects signer names that another kind serves: two components would answer one request.
 *
 * @param others - names of the ClusterSigners
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function checkExternal(
  { external: { signers }, acme }: InstallationValues,
  others: readonly string[],
): void {
  const ofAcme = acme.signers.map((each) => namedAcmeSigner(each).name);
  for (const [index, name] of signers.entries()) {
    const at = `external.signers[${index}]`;
    checkServedName(at, name);
    const list = others.includes(name) ? 'signers' : 'acme.signers';
    if ([...others, ...ofAcme].includes(name)) {
      throw usageError(`${at}: "${name}" is also in ${list}; leave one of them out`);
    }
    if (signers.indexOf(name) < index) {
      throw usageError(`${at}: "${name}" is named twice; leave one of them out`);
    }
  }
}
