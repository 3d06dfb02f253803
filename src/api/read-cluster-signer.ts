// SPDX-License-Identifier: Apache-2.0
import type { z } from 'zod';
import { SignerError } from '../errors.ts';
import { conditionMessage } from './conditions.ts';
import { faultsOfSpec, type SpecFault } from './cluster-signer-checks.ts';
import { CLUSTER_SIGNER_SPEC } from './cluster-signer-schema.ts';
import type { ClusterSigner, ClusterSignerStatus } from './cluster-signer.ts';
import type { KubeObject } from './object.ts';

/** A message names so many faults; whoever has more mends these first. */
const MAX_FAULTS = 10;
/** One fault quotes what a user wrote, which may be long. */
const MAX_FAULT = 300;

/**
 * Reads an object as a ClusterSigner: defaults filled in, every field within its bounds, fields that
 * must fit each other fit. `status` is taken as it is: the CRD's schema holds it, and `authority`
 * alone may write it.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming each field at fault and what to do
 */
export function readClusterSigner(object: KubeObject): ClusterSigner {
  const { spec: given, status } = object as KubeObject & {
    readonly spec?: unknown;
    readonly status?: ClusterSignerStatus;
  };
  const shape = CLUSTER_SIGNER_SPEC.safeParse(given);
  if (!shape.success) throw invalid(object, shape.error.issues.map(faultOfShape));
  const faults = faultsOfSpec(shape.data);
  if (faults.length > 0) throw invalid(object, faults);
  const read = { ...object, spec: shape.data };
  return status === undefined ? read : { ...read, status };
}

function faultOfShape(issue: z.core.$ZodIssue): SpecFault {
  const path = issue.path.map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
  );
  const field = issue.path.filter((part) => typeof part === 'string').join('.');
  const advice =
    issue.code === 'custom' ? '' : `; kubectl explain ${explained(field)} describes it`;
  return { path: `spec${path.join('')}`, message: `${issue.message}${advice}` };
}

function explained(field: string): string {
  return field === '' ? 'clustersigner.spec' : `clustersigner.spec.${field}`;
}

function invalid(object: KubeObject, faults: readonly SpecFault[]): SignerError {
  const named = faults
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => conditionMessage(`${path}: ${message}`, MAX_FAULT));
  const more = faults.length > MAX_FAULTS ? `, and ${faults.length - MAX_FAULTS} more` : '';
  return new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: `ClusterSigner "${object.metadata.name}": ${named.join(', ')}${more}`,
    cause: faults[0]?.cause,
  });
}
