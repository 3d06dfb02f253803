// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_COMPONENTS,
  type CertManagerSpec,
} from '#api/operator/cert-manager-deployment.ts';
import type { DesiredInstallation, Refusal } from '../reconcile/desired.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { DEPLOYMENTS, withOverrides } from './overrides.ts';
import {
  isOldest,
  minKubernetesMinorOf,
  sumsOf,
  unknownArguments,
  type CertManagerSettings,
} from './preflight.ts';
import { refuseRelease, unpackRelease } from './release.ts';
import { RELEASES } from './releases.ts';
import { releaseRules } from './rules.ts';

/**
 * Returns the objects of an accepted release, or the reason of the refusal.
 *
 * @param file - content of the ConfigMap
 */
export async function acceptedRelease(
  version: string,
  file: Uint8Array,
  settings: CertManagerSettings,
): Promise<readonly ManagedObject[] | Refusal> {
  const objects = await unpackRelease(file);
  if ('reason' in objects) return objects;
  const known = { sums: sumsOf(settings), rows: RELEASES.rows };
  return refuseRelease(version, objects, known) ?? objects;
}

/**
 * Returns the objects to install from a release for a spec. It has no side effects.
 *
 * @param spec - one that `refuseSpec` accepts
 * @param release - the release of its version
 */
export function certManagerOf(
  spec: CertManagerSpec,
  release: readonly ManagedObject[],
): DesiredInstallation {
  const overridden = new Map(
    CERT_MANAGER_COMPONENTS.map((component) => {
      const given = spec.components?.[component] ?? {};
      const dangerous = spec.dangerZone?.extraArgs?.[component] ?? [];
      const extraArgs = [...(given.extraArgs ?? []), ...dangerous];
      return [DEPLOYMENTS[component], { ...given, extraArgs }] as const;
    }),
  );
  const objects = release.map((object) => {
    const given = object.kind === 'Deployment' ? overridden.get(object.metadata.name) : undefined;
    return given === undefined ? object : withOverrides(object, given);
  });
  return {
    objects,
    removable: new Set([...release, ...RELEASES.objects].map(titleOf)),
    watched: objects,
    rules: releaseRules(objects),
    minKubernetesMinor: minKubernetesMinorOf(spec.version),
    oldest: isOldest(spec.version),
    unknownArguments: unknownArguments(spec),
  };
}
