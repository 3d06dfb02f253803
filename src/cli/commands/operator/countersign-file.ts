// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { COUNTERSIGNS, type Countersign } from '../../../api/operator/countersign.ts';
import { SignerError, messageOf } from '../../../errors.ts';
import { isRecord } from '../../../reconciling/objects/managed-object.ts';

/**
 * Reads a Countersign from a file, as a user writes it.
 *
 * @throws SignerError USAGE (`fail`) for a file that cannot be read, or with anything else in it
 */
export async function readCountersign(file: string): Promise<Countersign> {
  const object = await parsed(file);
  const { group, version } = COUNTERSIGNS;
  const { apiVersion, kind, spec } = object;
  if (apiVersion !== `${group}/${version}` || kind !== 'Countersign')
    throw usage(
      file,
      `has no Countersign: write apiVersion: ${group}/${version} and kind: Countersign`,
    );
  if (!isRecord(spec) || typeof spec['version'] !== 'string')
    throw usage(file, 'has no spec.version; write one such as 0.1.0');
  return object as unknown as Countersign;
}

async function parsed(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const object: unknown = parse(await readFile(file, 'utf8'));
    if (isRecord(object)) return object;
  } catch (error) {
    throw usage(file, `cannot be read: ${messageOf(error)}`);
  }
  throw usage(file, 'has no object');
}

function usage(file: string, message: string): SignerError {
  return new SignerError({ code: 'USAGE', disposition: 'fail', message: `${file} ${message}` });
}
