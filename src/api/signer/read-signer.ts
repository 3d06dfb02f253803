// SPDX-License-Identifier: Apache-2.0
import { validateClusterSigner, validateSpec } from './cluster-signer-checks.ts';
import type { ClusterSigner, ClusterSignerStatus } from './cluster-signer.ts';
import { invalidShape, invalidSpec } from './invalid-spec.ts';
import type { KubeObject } from '../object/object.ts';
import { derivedName } from './signer.ts';
import { CLUSTER_SIGNER_SPEC, SIGNER_SPEC } from './cluster-signer-schema.ts';

/** A signer of either kind, whose spec no reader has checked. */
export type StatusedSigner = KubeObject & { readonly status?: ClusterSignerStatus };

/**
 * Reads an object as a Signer, into the shape of a ClusterSigner. It has its derived signer name,
 * its Secret in its own namespace, and no bundle. `kind` and `metadata.namespace` distinguish it
 * from a ClusterSigner.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each invalid field and its fix
 */
export function readSigner(object: StatusedSigner): ClusterSigner {
  const { spec: given, status } = object;
  const shape = SIGNER_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, 'signer');
  const { authority, ...rest } = shape.data;
  const { namespace = '' } = object.metadata;
  const spec = {
    ...rest,
    signerName: derivedName(object.metadata),
    authority: { secret: { namespace, name: authority.secret.name } },
  };
  const faults = validateSpec(spec);
  if (faults.length > 0) throw invalidSpec(object, faults);
  const read = { ...object, spec };
  return status === undefined ? read : { ...read, status };
}

/**
 * Reads an object as a ClusterSigner. Fills in the defaults, and checks each field and the
 * relations between fields. The CRD's schema checks `status`, which only `authority` writes.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each invalid field and its fix
 */
export function readClusterSigner(object: StatusedSigner): ClusterSigner {
  const { spec: given, status } = object;
  const shape = CLUSTER_SIGNER_SPEC.safeParse(given);
  if (!shape.success) throw invalidShape(object, shape.error, 'clustersigner');
  const faults = validateClusterSigner(shape.data);
  if (faults.length > 0) throw invalidSpec(object, faults);
  const read = { ...object, spec: shape.data };
  return status === undefined ? read : { ...read, status };
}
