// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { CertManagerDeployment } from '../../../api/operator/cert-manager-deployment.ts';
import { COUNTERSIGNS, type Countersign } from '../../../api/operator/countersign.ts';
import { messageOf, usageError } from '../../../errors.ts';
import { shapeFault } from '../../../manifests/operator/spec-shape.ts';
import { isRecord } from '../../../reconciling/objects/managed-object.ts';

/**
 * Reads a Countersign from a file, as a user writes it.
 *
 * @throws SignerError USAGE (`fail`) for a file that cannot be read, or with anything else in it
 */
export async function readCountersign(file: string): Promise<Countersign> {
  return (await installationIn(file, 'Countersign')) as unknown as Countersign;
}

/**
 * Reads a CertManagerDeployment from a file, as a user writes it.
 *
 * @throws SignerError USAGE (`fail`) for a file that cannot be read, or with anything else in it
 */
export async function readCertManagerDeployment(file: string): Promise<CertManagerDeployment> {
  return (await installationIn(file, 'CertManagerDeployment')) as unknown as CertManagerDeployment;
}

async function installationIn(
  file: string,
  wanted: 'Countersign' | 'CertManagerDeployment',
): Promise<Readonly<Record<string, unknown>>> {
  const object = await parsed(file);
  // Both kinds are of one version.
  const { group, version } = COUNTERSIGNS;
  const { apiVersion, kind, spec } = object;
  if (apiVersion !== `${group}/${version}` || kind !== wanted)
    throw usageError(
      `${file} has no ${wanted}: write apiVersion: ${group}/${version} and kind: ${wanted}`,
    );
  if (!isRecord(spec) || typeof spec['version'] !== 'string')
    throw usageError(`${file} has no spec.version; write one such as 0.1.0`);
  const fault = shapeFault(spec);
  if (fault !== undefined) throw usageError(`${file} ${fault}`);
  return object;
}

async function parsed(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const object: unknown = parse(await readFile(file, 'utf8'));
    if (isRecord(object)) return object;
  } catch (error) {
    throw usageError(`${file} cannot be read: ${messageOf(error)}`);
  }
  throw usageError(`${file} has no object`);
}
