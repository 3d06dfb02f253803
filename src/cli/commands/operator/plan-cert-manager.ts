// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { CertManagerOperatorFlags } from '#install/cert-manager-operator/flags.ts';
import {
  CERT_MANAGER_DEPLOYMENTS,
  type CertManagerDeployment,
} from '#api/operator/cert-manager-deployment.ts';
import { createReleaseReader } from '#install/cert-manager-operator/read-release-map.ts';
import { messageOf, usageError } from '#base/errors.ts';
import { isRefusal, type Refusal } from '#install/reconcile/desired.ts';
import { resource } from '#kube/resource/resource.ts';
import { acceptedRelease, certManagerOf } from '#install/cert-manager-operator/desired.ts';
import { refuseSpec } from '#install/cert-manager-operator/preflight.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { readCertManagerDeployment } from './countersign-file.ts';
import { printPlan, type PlanOptions } from './plan.ts';

/** Flags of `countersign cert-manager-operator plan`. */
export interface CertManagerPlanOptions extends UserOptions, CertManagerOperatorFlags {
  readonly file?: string;
  /** File with the compressed release of the ConfigMap. */
  readonly release?: string;
  /** Namespace of the ConfigMaps with releases. */
  readonly namespace: string;
  readonly output: PlanOptions['output'];
}

type ManifestReader = (version: string) => Promise<readonly ManagedObject[] | Refusal>;

/**
 * Prints the changes that the operator of cert-manager would make, without making them.
 *
 * @returns the exit code: 0, or 3 if the operator would reject the spec or the release
 * @throws SignerError USAGE (`fail`) without a CertManagerDeployment, or for a file that cannot be
 * read
 */
export async function runCertManagerPlan(options: CertManagerPlanOptions): Promise<number> {
  const { client } = await connectUser(options, 'operator');
  const settings = { moreReleases: options.allowRelease, dangerZone: options.allowDangerZone };
  const accept = (version: string, file: Uint8Array): ReturnType<ManifestReader> =>
    acceptedRelease(version, file, settings);
  const { namespace, release: given } = options;
  const read: ManifestReader =
    given === undefined
      ? createReleaseReader({ client, namespace, accept })
      : async (version) => accept(version, await contentsOf(given));
  try {
    return await printPlan<CertManagerDeployment>(client, options, {
      kind: 'CertManagerDeployment',
      resource: resource(CERT_MANAGER_DEPLOYMENTS),
      label: 'cert-manager',
      readFile: readCertManagerDeployment,
      desiredOf: async ({ spec }) => {
        const refusal = refuseSpec(spec, settings);
        if (refusal !== undefined) return refusal;
        const release = await read(spec.version);
        return isRefusal(release) ? release : certManagerOf(spec, release);
      },
    });
  } finally {
    await client.close();
  }
}

/** @throws SignerError USAGE (`fail`) */
async function contentsOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const message = `${file} cannot be read: ${messageOf(error)}`;
    throw usageError(message);
  }
}
