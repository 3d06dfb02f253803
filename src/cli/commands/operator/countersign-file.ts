// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { CertManagerDeployment } from '#api/operator/cert-manager-deployment.ts';
import { COUNTERSIGNS, type Countersign } from '#api/operator/countersign.ts';
import { messageOf, usageError } from '#base/errors.ts';
import { shapeFault } from '#install/operator/spec-shape.ts';
import { unknownFields } from '#install/operator/unknown-fields.ts';
import { quoteList } from '#base/quote.ts';
import { isRecord } from '#base/record.ts';

/**
 * Reads a Countersign from a user's file.
 *
 * @throws SignerError USAGE (`fail`) for a file that cannot be read, or with other content
 */
export async function readCountersign(file: string): Promise<Countersign> {
  return installationIn<Countersign>(file, 'Countersign');
}

/**
 * Reads a CertManagerDeployment from a user's file.
 *
 * @throws SignerError USAGE (`fail`) for a file that cannot be read, or with other content
 */
export async function readCertManagerDeployment(file: string): Promise<CertManagerDeployment> {
  return installationIn<CertManagerDeployment>(file, 'CertManagerDeployment');
}

async function installationIn<T extends Countersign | CertManagerDeployment>(
  file: string,
  wanted: 'Countersign' | 'CertManagerDeployment',
): Promise<T> {
  const object = await parsed(file);
  // Both kinds have the same version.
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
  const unknown = unknownFields(object) ?? [];
  if (unknown.length > 0)
    throw usageError(
      `${file} has unknown fields: ${quoteList(unknown)}. The API server drops them: correct or remove them`,
    );
  // The shape of its spec is checked above.
  return object as unknown as T;
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
