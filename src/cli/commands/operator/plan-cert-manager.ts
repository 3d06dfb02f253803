// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { CertManagerOperatorFlags } from '../../../app/component-options.ts';
import {
  CERT_MANAGER_DEPLOYMENTS,
  type CertManagerDeployment,
} from '../../../api/operator/cert-manager-deployment.ts';
import { createReleaseReader } from '../../../controllers/cert-manager-operator/release-map.ts';
import { messageOf, usageError } from '../../../errors.ts';
import { isRefusal, type Refusal } from '../../../installing/desired.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { acceptedRelease, certManagerOf } from '../../../manifests/cert-manager/desired.ts';
import { refuseSpec } from '../../../manifests/cert-manager/preflight.ts';
import type { ManagedObject } from '../../../reconciling/objects/managed-object.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { readCertManagerDeployment } from './countersign-file.ts';
import { printPlan, type PlanOptions } from './plan.ts';

/** Flags of `countersign cert-manager-operator plan`. */
export interface CertManagerPlanOptions extends UserOptions, CertManagerOperatorFlags {
  readonly file?: string;
  /** The release as it is in its ConfigMap: compressed. */
  readonly release?: string;
  /** Of the ConfigMaps with releases. */
  readonly namespace: string;
  readonly output: PlanOptions['output'];
}

type Read = (version: string) => Promise<readonly ManagedObject[] | Refusal>;

/**
 * Prints what the operator of cert-manager would change. Changes nothing.
 *
 * @returns the exit code: 0; 3 where the operator would refuse the spec or the release
 * @throws SignerError USAGE (`fail`) where there is no CertManagerDeployment, or a file cannot be read
 */
export async function runCertManagerPlan(options: CertManagerPlanOptions): Promise<number> {
  const { client } = await connectUser(options, 'operator');
  const settings = { moreReleases: options.allowRelease, dangerZone: options.allowDangerZone };
  const accept = (version: string, file: Uint8Array): ReturnType<Read> =>
    acceptedRelease(version, file, settings);
  const { namespace, release: given } = options;
  const read: Read =
    given === undefined
      ? createReleaseReader({ client, namespace, accept })
      : async (version) => accept(version, await contentsOf(given));
  try {
    return await printPlan<CertManagerDeployment>(client, options, {
      ...{ kind: 'CertManagerDeployment', resource: resource(CERT_MANAGER_DEPLOYMENTS) },
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
