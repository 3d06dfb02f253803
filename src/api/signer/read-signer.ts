// SPDX-License-Identifier: Apache-2.0
import { faultsOfSpec } from './cluster-signer-checks.ts';
import type { ClusterSigner, ClusterSignerStatus } from './cluster-signer.ts';
import { invalidShape, invalidSpec } from './invalid-spec.ts';
import type { KubeObject } from '../object/object.ts';
import { SIGNER_SPEC } from './signer-schema.ts';
import { derivedName } from './signer.ts';

/**
 * Reads an object as a Signer, into the shape of a ClusterSigner: its signer name is derived, its
 * Secret is of its own namespace, and it publishes nothing. Its kind and its namespace say what it is.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each field at fault and what to do
 */
export function readSigner(object: KubeObject): ClusterSigner {
  const { spec: given, status } = object as KubeObject & {
    readonly spec?: unknown;
    readonly status?: ClusterSignerStatus;
  };
  const shape = SIGNER_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, 'signer');
  const { authority, ...rest } = shape.data;
  const { namespace = '' } = object.metadata;
  const spec = {
    ...rest,
    signerName: derivedName(object.metadata),
    authority: { secret: { namespace, name: authority.secret.name } },
  };
  const faults = faultsOfSpec(spec);
  if (faults.length > 0) throw invalidSpec(object, faults);
  const read = { ...object, spec };
  return status === undefined ? read : { ...read, status };
}
