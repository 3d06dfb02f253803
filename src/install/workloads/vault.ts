// SPDX-License-Identifier: Apache-2.0
/** The tokens of components for servers of Vault, in their Deployments. */
import type { InstallationPlan, VaultParts } from '../installation-plan.ts';
import type { Manifest } from '../roles.ts';

export function vaultArguments(component: string, plan: InstallationPlan): readonly string[] {
  return partsFor(component, plan)?.arguments ?? [];
}

export function vaultVolumes(component: string, plan: InstallationPlan): readonly Manifest[] {
  return partsFor(component, plan)?.volumes ?? [];
}

export function vaultMounts(component: string, plan: InstallationPlan): readonly Manifest[] {
  return partsFor(component, plan)?.mounts ?? [];
}

function partsFor(component: string, { parts }: InstallationPlan): VaultParts | undefined {
  if (component === 'authority') return parts.vault;
  return component === 'external-signer' ? parts.externalVault : undefined;
}
